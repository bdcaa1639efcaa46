"""Races of a program: hazards between the pipes of its cores, and between its cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptokit.api.issued import OfFunctions, issued
from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.ir.module import Func, Op
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.targets import Target
from ptokit.passes.inline import entries
from ptokit.passes.percore import peer_of
from ptokit.sim.pipes.racereports import races


def races_of(
    program: OfFunctions,
    target: Target,
    func: str | None,
    arrays: Mapping[str, Any] | None,  # Any: arrays and numbers
    blocks: int,
) -> list[Diagnostic]:
    """What is wrong with the order of the pipes; nothing where a compiler has yet to see to it."""
    if target.in_order:
        return []
    if not synchronised(program):
        return [_unsynchronised(program.entry_named(func), target)]
    return races(issued(program, target, func, arrays, blocks), target)


def kernels(program: OfFunctions) -> list[str]:
    """The functions that a launch may run: of a pair that is one kernel the first."""
    found: list[Func] = []
    for func in entries(program.module):
        peer = None if func.declared else peer_of(program.module, func)
        if not func.declared and peer not in found:
            found.append(func)
    return [func.name for func in found]


def synchronised(program: OfFunctions) -> bool:
    """Whether the program orders its pipes itself: somewhere in it is a flag, or a barrier."""
    ops = (op for func in program.module.funcs for op in func.walk())
    return any(isinstance(op, Op) and FLAGS in op.page.uses for op in ops)


def _unsynchronised(func: Func, target: Target) -> Diagnostic:
    return Diagnostic(
        "not-synchronised",
        f"@{func.name}: nothing orders its pipes",
        None,
        severity=Severity.WARNING,
        seen="the program has no flags, events or barriers",
        help="`ptokit opt --passes synchronise` puts them in, or a compiler does",
        targets=(target.name,),
    )
