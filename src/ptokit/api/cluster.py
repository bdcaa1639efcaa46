"""Launches on a Dask cluster: ranges of blocks run separately, then their writes are merged.

One worker runs the whole program if blocks must run in order, wait for each other or read what
others wrote, or if the program prints or needs the reference engine. So bytes, counts and
diagnostics equal those of one process.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ptokit.api.workers import Attended, Client, Workers, attended, require_workers, threads
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.ir.module import Value
from ptokit.launch.bind import named_arguments
from ptokit.launch.executable import AnyArray, Executable, Recent, Run
from ptokit.launch.settings import DEFAULT_ENGINE, PreparedFunction
from ptokit.machine.arguments import Launch, Outcome
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.memory import WRITTEN
from ptokit.machine.observer import Observer, RunNotes
from ptokit.machine.patches import Patch
from ptokit.machine.undefinedstore import require_defined

if TYPE_CHECKING:
    from ptokit.engines.native.blockrange import RangeResult, Sizes
    from ptokit.order.executed import SharedArrays

RANGES = 4  # per thread of the cluster: a slow or lost range costs little
_executables = Recent[Executable]()  # a worker's
_printing = Lock()  # of a worker: prints are captured from its standard output

# blocks, sizes of outputs after the first block, arrays that blocks read and write
Task: TypeAlias = "tuple[range, Sizes | None, frozenset[str]]"


def launched(
    cluster: object,
    made: Executable,
    given: Sequence[object],
    arrays: Mapping[str, object],
    options: Options,
    observers: Sequence[Observer] = (),
) -> Run:
    """Run `Executable.execute` on the workers of a cluster, a `dask.distributed.Client`."""
    limits = RunLimits(options.max_instructions, options.timeout)
    if options.engine not in (None, DEFAULT_ENGINE):
        raise ValueError(
            f"a cluster runs the engine {DEFAULT_ENGINE}, not {options.engine}: "
            "remove the engine or the cluster"
        )
    if options.ranks > 1:
        raise ValueError("a cluster runs one rank: remove the ranks or the cluster")
    if options.schedule is not None:
        raise ValueError("a cluster has no random schedule: remove the schedule or the cluster")
    if any(o.stepwise or o.logs for o in observers):
        raise ValueError("a cluster cannot be observed: remove the observer")
    client = require_workers(cluster)
    bound, function = made.prepared(named_arguments(made.func, given, arrays), limits)
    launch = ClusterLaunch(client, made, bound, limits, observers)
    with attended(client):
        outputs, count = launch.run(function)
    if options.strict:
        require_defined(launch.warnings.found)
    return Run(outputs, dict(count), bound.dtypes, launch.warnings.found, launch.whole)


class Blank(NamedTuple):
    """An array of which only the extents and the type matter."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]


class Work:
    """The data that every worker gets once: the function, its arguments, its limits."""

    def __init__(
        self, made: bytes, arrays: Mapping[str, object], most: int | None, ends: Ending
    ) -> None:
        self.made, self.arrays, self.most, self.ends = made, arrays, most, ends

    def __reduce__(self) -> tuple[object, ...]:
        return Work, (self.made, self.arrays, self.most, self.ends)

    @cached_property
    def ready(self) -> tuple[Launch, Any]:  # Any: a function that the native engine prepared
        """Return the prepared function, made once for each worker and kind of arguments."""
        made: Executable = _executables.get(self.made, lambda: pickle.loads(self.made))
        arrays = self.arrays.items()
        return made.prepared({n: np.zeros(*a) if isinstance(a, Blank) else a for n, a in arrays})

    def limits(self) -> RunLimits:
        """Return the limits of the launch; a run also ends when its task is cancelled."""
        limits = Attended(self.most, self.ends.seconds)
        if self.ends.time is not None:
            limits.deadline = time.monotonic() + self.ends.time - time.time()
        return limits


class Ending(NamedTuple):
    """The time that a launch may take, and the time of day at which it is over."""

    seconds: float | None
    time: float | None


@dataclass(frozen=True)
class WholeRun:
    """The result of a run of all blocks: changes of given arrays, and other outputs as a whole."""

    printed: str
    outputs: Mapping[str, Patch | AnyArray] | PtoError
    count: Counter[str]
    warnings: Sequence[Diagnostic] = ()


class ClusterLaunch:
    """One launch: `done` blocks have ended; `whole`: one worker ran all of them."""

    def __init__(
        self,
        client: Client,
        made: Executable,
        bound: Launch,
        limits: RunLimits,
        observers: Sequence[Observer],
    ) -> None:
        self.client, self.made, self.bound, self.limits = client, made, bound, limits
        self.blocks, self.done, self.whole = made.options.blocks, 0, False
        self.warnings = RunNotes()
        for observer in observers:
            observer.begins(lambda: self.done)

    def run(self, function: PreparedFunction) -> Outcome:
        """Return outputs and counts."""
        from ptokit.engines.native.blockrange import divided

        bound, found = self.bound, None
        shared = divided(function, bound, self.limits)
        if shared is not None:
            found = self._by_ranges(bound, shared)
        return self._whole() if found is None else found

    def _by_ranges(self, bound: Launch, shared: frozenset[str]) -> Outcome | None:
        """Run ranges of blocks separately; None if they have to run together.

        `shared`: arrays that blocks read and write. If ranges conflict in one of them, their
        results and errors may differ from those of a run in order.
        """
        growing = any(memory.growable for memory in bound.targets(bound.inputs).values())
        parts: list[RangeOutcome] = []
        sizes: Sizes | None = None
        blank = [arg for arg in bound.written if arg.name not in shared]
        with Workers(self.client, self._work(blank)) as workers:
            for first, last in pairwise((0, 1, self.blocks) if growing else (0, self.blocks)):
                tasks = [(span, sizes, shared) for span in self._ranges(first, last)]
                found = workers.call(_run_range, tasks, self._counted, _is_problem)
                problem = found[-1]
                if problem is None or (isinstance(problem, PtoError) and (first or shared)):
                    return None
                if isinstance(problem, PtoError):
                    raise problem from None
                parts += [part for part in found if isinstance(part, RangeOutcome)]
                sizes = problem.done.grown
        return self._together(bound, parts, shared)

    def _ranges(self, first: int, last: int) -> list[range]:
        count = min(last - first, RANGES * threads(self.client))
        edges = [first + (last - first) * n // count for n in range(count + 1)]
        return [range(*edge) for edge in pairwise(edges)]

    def _counted(self, task: Task) -> None:
        self.done += len(task[0])

    def _together(
        self, bound: Launch, parts: Sequence[RangeOutcome], shared: frozenset[str]
    ) -> Outcome | None:
        """Return the arrays with the writes in ascending block order; None if ranges conflict."""
        from ptokit.order.executed import blocks_meet

        count, memories = Counter[str](), bound.targets(bound.inputs)
        sizes = {name: memories[name].size for name in shared}
        if blocks_meet([part.shared for part in parts], sizes):
            return None
        for done, others in parts:
            count.update(done.count)
            self.warnings.warned(done.warnings)
            for name, memory in memories.items():
                if name in done.grown:
                    memory.grow(*done.grown[name])
                written = others[name].writes if name in shared else done.written[name]
                written.onto(memory.data)
        return bound.outputs(bound.inputs), count

    def _whole(self) -> Outcome:
        """Run all blocks on one worker."""
        self.done, self.whole = 0, True
        with Workers(self.client, self._work()) as workers:
            [found] = workers.call(_run_whole, [None])
        print(found.printed, end="")
        if isinstance(found.outputs, PtoError):
            raise found.outputs from None
        self.warnings.warned(found.warnings)
        outputs = self.bound.outputs(self.bound.shared())
        for name, made in found.outputs.items():
            if isinstance(made, Patch):
                made.onto(outputs[name].reshape(-1).view(np.uint8))
            else:
                outputs[name] = made
        return outputs, found.count

    def _work(self, blank: Sequence[Value] = ()) -> Work:
        """Return the work for the workers; `blank`: arguments whose content no worker needs."""
        arrays = dict(self.bound.arrays)
        for arg in blank:
            if arrays.get(arg.name) is not None:
                array: AnyArray = np.asarray(arrays[arg.name])
                arrays[arg.name] = Blank(array.shape, array.dtype)
        left = self.limits.deadline
        ends = None if left is None else time.time() + left - time.monotonic()
        how = self.limits.most, Ending(self.limits.seconds, ends)
        return Work(pickle.dumps(self.made), arrays, *how)


def _is_problem(found: object) -> bool:
    return found is None or isinstance(found, PtoError)


class RangeOutcome(NamedTuple):
    """The result of a range of blocks; `shared`: its accesses to shared arrays."""

    done: RangeResult
    shared: SharedArrays


def _run_range(work: Work, task: Task) -> RangeOutcome | PtoError | None:
    """Run these blocks on a worker; return an error, or None if blocks must run together."""
    from ptokit.machine.record.code import NotNative
    from ptokit.order.executed import shared_bytes

    try:
        bound, function = work.ready
        done = function.run_range(bound, work.limits(), *task)
    except NotNative:
        return None
    except PtoError as problem:
        return problem
    shared = shared_bytes(done.logs, done.kept)
    return None if shared is None else RangeOutcome(replace(done, logs=(), kept={}), shared)


def _run_whole(work: Work, _: None) -> WholeRun:
    """Run all blocks on a worker."""
    bound, function = work.ready
    with _printing, redirect_stdout(StringIO()) as printed:
        try:
            after, count = function.run(bound, work.limits(), [warnings := RunNotes()])
        except PtoError as problem:
            return WholeRun(printed.getvalue(), problem, Counter())
    before = bound.outputs(bound.shared())
    changes = {name: _change(before.get(name), array) for name, array in after.items()}
    return WholeRun(printed.getvalue(), changes, count, warnings.found)


def _change(before: AnyArray | None, after: AnyArray) -> Patch | AnyArray:
    if before is None or (before.shape, before.dtype) != (after.shape, after.dtype):
        return after
    old, new = (np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (before, after))
    return Patch.of(new, (old != new) * np.uint8(WRITTEN))
