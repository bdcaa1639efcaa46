"""Kernels in C++ for `check`: a file is compiled for each target, and a launch of it checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ptokit.diagnostics.diagnostic import CallError, PtoError
from ptokit.tools.cli.cxx_commands import launch_arguments
from ptokit.tools.cli.failures import call_errors, usage
from ptokit.tools.cli.options import is_cpp

if TYPE_CHECKING:
    from ptokit.analysis.legality import Verdict
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.ir.module import Module
    from ptokit.tools.verdicts import KernelVerdicts

OPEN = "its rules are checked in a launch: give --launch 'NAME<...>' and --args"
OPTIONS = (
    click.option("-I", "include", multiple=True, metavar="DIR", help="Of C++: a header folder."),
    click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="Of C++: a macro."),
    click.option("--launch", metavar="NAME<...>", help="Of C++: the kernel to check as it runs."),
)


@dataclass(frozen=True)
class CppCheck:
    """A check of files in C++: the launch, if there is one, and the options of the compiler."""

    include: tuple[str, ...]
    define: tuple[str, ...]
    launch: str | None

    def require_cpp(self, kernels: Sequence[Path]) -> None:
        """A usage error where options of C++ are given for other files, or a launch for several."""
        files = [kernel for kernel in kernels if is_cpp(kernel)]
        if not files and self != CppCheck((), (), None):
            usage("-I, -D and --launch are about kernels in C++")
        if len(files) > 1 and self.launch is not None:
            usage("--launch is about one file in C++: check the others without it")

    def verdicts(
        self, file: Path, words: Sequence[str], targets: Sequence[str], *, races: bool
    ) -> KernelVerdicts:
        """Return the verdicts on a file: compiled alone it is undecided, a launch decides."""
        from ptokit.ir.module import Module
        from ptokit.tools.verdicts import KernelVerdicts

        if words and self.launch is None:
            usage("--args of a kernel in C++ needs --launch 'NAME<...>'")
        module, found = Module([]), list["Verdict"]()
        for name in targets:
            try:
                ran, diagnostics = self._found(file, words, name, races=races)
            except CallError as problem:
                return KernelVerdicts(str(file), None, unread=problem)
            except PtoError as problem:
                ran, diagnostics = None, problem.diagnostics
            module = module if ran is None else ran
            found.append(self._verdict(name, [replace(d, targets=(name,)) for d in diagnostics]))
        return KernelVerdicts(str(file), module, found)

    def _found(
        self, file: Path, words: Sequence[str], target: str, *, races: bool
    ) -> tuple[Module | None, Sequence[Diagnostic]]:
        """Compile the file, and launch it if that is asked for; PtoError where either fails."""
        from ptokit.api.cxx.compiler import library
        from ptokit.api.cxx.cxxkernel import CxxKernel
        from ptokit.api.cxx.parameternames import parameter_names

        how: dict[str, Any] = {"include": self.include, "define": self.define}  # Any: `CxxKernel`
        with call_errors():
            kernel = CxxKernel(file, target=target, **how)
        if self.launch is None:
            library([file], kernel.build())
            return None, ()
        given = tuple(_zeros(word) for word in words)
        arguments = launch_arguments(given, parameter_names([file], self.launch), 0)
        ran = kernel.launch(self.launch, *arguments)
        hazards = ran.races(target) if races and not kernel.target.in_order else []
        return ran.program.module, [*ran.warnings, *ran.check(target), *hazards]

    def _verdict(self, target: str, found: Sequence[Diagnostic]) -> Verdict:
        from ptokit.analysis.legality import Outcome, Verdict
        from ptokit.diagnostics.printable import counted

        errors = sum(one.is_error for one in found)
        if errors:
            word, reason = Outcome.REFUSED, counted(errors, "error")
        elif self.launch is None:
            word, reason = Outcome.UNDECIDED, OPEN
        else:
            word, reason = Outcome.LEGAL, ""
        return Verdict(target, word, reason, tuple(found), ())


def _zeros(word: str) -> str:
    """The argument x=f32:4x8 as an array that `cxx run` makes."""
    from ptokit.values.dtypes import dtype_named

    name, _, text = word.partition("=")
    typed = dtype_named(text.partition(":")[0]) is not None
    return f"{name}=zeros:{text}" if typed else word
