"""A run as values: what was read and given, and what came of it. Commands make and show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptokit.api.program import Program
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.ir.module import Func
    from ptokit.launch.executable import Run
    from ptokit.machine.launchoptions import Options


@dataclass(frozen=True)
class PreparedRun:
    """A program that was read, and its arguments by name."""

    program: Program
    func: Func
    given: Mapping[str, object]
    options: Options


@dataclass(frozen=True)
class CompletedRun:
    """The result of a run; `warnings` have not been shown yet."""

    ready: PreparedRun
    result: Run
    warnings: Sequence[Diagnostic]
    seconds: float
