"""What the cores of a program issue: of one run on arrays, or of samples where none are given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ptokit.api.executable import Executable, Options
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Func, Module, Op, Value
from ptokit.isa.lang.traits import FLOW
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.passes.percore import launched_cores, whole_kernel
from ptokit.sim.arguments import Bound
from ptokit.sim.pipes.dryrun import UNKNOWN_NUMBER, TurnChoice, depends, dry_run
from ptokit.sim.pipes.issuing import Issue

TURNS = (0, 1, 2, 3, 5)  # of loops whose extent is not known


class OfFunctions(Protocol):
    """A program: its functions, and which of them a name means."""

    module: Module

    def entry_named(self, name: str | None) -> Func: ...


def issued(
    program: OfFunctions,
    target: Target,
    func: str | None = None,
    arrays: Mapping[str, Any] | None = None,  # Any: arrays and numbers
    blocks: int = 1,
) -> Iterator[Issue]:
    """What the cores of a function issue on a target.

    With `arrays` of one run on them. Without, of runs on samples: unknown numbers are 1024, loops
    over them take 0, 1, 2, 3 and 5 turns, branches go either way; a run that breaks a rule is left
    out. PtoError where the program is not legal, or the run on arrays fails.
    """
    entry = program.entry_named(func)
    cores = launched_cores(program.module, entry)
    options = Options(target, "reference", CPU_READING, blocks)
    executable = Executable(whole_kernel(program.module, entry), options, cores)
    if arrays is None:
        yield from _sampled(executable, target, blocks)
        return
    bound = executable.bound(arrays)
    if isinstance(bound, Bound) and not _decides(bound.func, depends(bound.func, frozenset())):
        yield dry_run(bound, target, blocks)
        return
    issue = Issue(target)
    executable.execute(arrays, observers=(issue,))
    yield issue


def _sampled(executable: Executable, target: Target, blocks: int) -> Iterator[Issue]:
    args = {arg.name: arg for arg in executable.every_argument()}
    arrays = {name: _sample(arg) for name, arg in args.items()}
    bound = executable.bound(arrays)
    if not isinstance(bound, Bound):
        issue = Issue(target)
        executable.execute(arrays, observers=(issue,))
        yield issue
        return
    scalars = {arg for arg in bound.func.args if isinstance(arg.type, ScalarType)}
    unknown = depends(bound.func, frozenset(scalars))
    for choice in _choices(_decides(bound.func, unknown)):
        try:
            yield dry_run(bound, target, blocks, choice, unknown)
        except PtoError:
            continue  # no run that is legal takes these turns and ways


def _choices(open: bool) -> list[TurnChoice]:
    if not open:
        return [TurnChoice()]
    return [TurnChoice(turns, way) for turns in TURNS for way in (True, False)]


def _decides(func: Func, values: frozenset[Value]) -> bool:
    """Whether a loop or a branch depends on one of these."""
    flows = (op for op in func.body.walk() if isinstance(op, Op) and FLOW in op.page.uses)
    return any(value in values for op in flows for _, value in op.values())


def _sample(arg: Value) -> Any:  # Any: an array or a number
    """Something to bind an argument to that nobody has given."""
    kind = arg.type
    if isinstance(kind, ScalarType):
        return 1.0 if kind.is_float else UNKNOWN_NUMBER
    return np.zeros(1, f"V{kind.dtype.size}") if isinstance(kind, PtrType) else None
