"""Kernels in C++ for `check`: a file is compiled for each target, and a launch of it checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptokit.diagnostics.diagnostic import CallError, PtoError
from ptokit.launch.settings import target_named
from ptokit.tools.cli.cpplaunch import CppLaunch
from ptokit.tools.cli.failures import usage
from ptokit.tools.cli.options import CppOptions

if TYPE_CHECKING:
    from ptokit.analysis.legality import Verdict
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.ir.module import Module
    from ptokit.tools.verdicts import KernelVerdicts

OPEN = "its rules are checked in a launch: give --launch 'NAME<...>' and --args"


@dataclass(frozen=True)
class CppCheck:
    """A check of files in C++: compiled, and launched if that is asked for."""

    options: CppOptions

    @property
    def launch(self) -> str | None:
        return self.options.launch

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
        launch = CppLaunch(file, self.options, tuple(words))
        if self.launch is None:
            from ptokit.api.cxx.compiler import library

            library([file], launch.kernel(target).build())
            return None, ()
        ran = launch.on(target).ran
        hazards = ran.races(target) if races and not target_named(target).in_order else []
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
