"""Files of kernels on the command line, in assembly, Python or C++, and the programs in them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import DEFAULT_TARGET
from ptokit.tools.cli.failures import usage
from ptokit.tools.cli.options import CppOptions, is_cpp

if TYPE_CHECKING:
    from ptokit.api.program import Program


def read_program(
    kernel: Path,
    words: tuple[str, ...] = (),
    cpp: CppOptions | None = None,
    target: str = DEFAULT_TARGET.name,
) -> Program:
    """Return the only program of a file; `words` are arguments of a kernel in Python or C++.

    A kernel in C++ is launched on the target, and what ran is the program.
    """
    cpp = cpp or CppOptions()
    cpp.require_cpp([kernel])
    if is_cpp(kernel) and cpp.launch is not None:
        from ptokit.tools.cli.cpplaunch import CppLaunch

        return CppLaunch(kernel, cpp, words).on(target).ran.program
    found = read_programs(kernel, words)
    if len(found) > 1:
        usage(f"{kernel} has several programs: choose one of {', '.join(found)}")
    (program,) = found.values()
    if isinstance(program, PtoError):
        raise program
    return program


def read_programs(kernel: Path, words: tuple[str, ...] = ()) -> Mapping[str, Program | PtoError]:
    """Return the programs of a file by name, a file in Python may have several; or why one is none.

    PtoError if the file cannot be read.
    """
    from ptokit.api.kernel.loading import decoded, load, loads

    if is_python(kernel):
        from ptokit.tools.cli.pythonkernels import python_programs

        return python_programs(kernel, words)
    if words:
        usage(f"--args is about kernels in Python or C++, and {kernel} is none")
    if str(kernel) == "-":
        return {"<stdin>": loads(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")}
    return {str(kernel): load(kernel)}


def is_python(kernel: Path) -> bool:
    """Return whether the path is FILE.py or FILE.py:NAME."""
    return kernel.suffix.partition(":")[0] == ".py"


def is_kernel(word: Path) -> bool:
    """True of what a kernel's file is called."""
    return is_python(word) or is_cpp(word) or word.suffix == ".pto"


def kernels_of(words: tuple[str, ...]) -> tuple[list[Path], tuple[str, ...]]:
    """The kernels, which are the first word and others that end as kernels do; the arguments."""
    from ptokit.tools.cli.values import split

    by_position, _ = split(words[1:])
    others = [word for word in by_position if is_kernel(Path(word))]
    return [*map(Path, (words[0], *others))], tuple(
        word for word in words[1:] if word not in others
    )
