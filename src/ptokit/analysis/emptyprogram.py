"""A program without any instruction: nobody meant to write one."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.ir.module import Module


def without_instructions(module: Module) -> Iterator[Diagnostic]:
    """Nothing but comments, or nothing at all: some other tool may have written no program."""
    if not any(not func.flat or func.body.ops or func.blocks for func in module.funcs):
        help = "check the tool that wrote the file, or give another file"
        title = CATALOGUE["empty-program"].title
        yield Diagnostic("empty-program", title, None, Severity.WARNING, help=help)
