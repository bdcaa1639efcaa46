"""Stored runs, as `storedrun` describes them, from runs that ended well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from ptokit.engines.native.compile import CompiledFunction
from ptokit.engines.native.compiledkernel import CompiledKernel
from ptokit.engines.native.frame import Purpose
from ptokit.engines.native.session import Worker
from ptokit.engines.native.storedrun import StoredCore, StoredMemory, StoredOutput, StoredRun
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import PtrType
from ptokit.machine.arguments import Bound, Launch
from ptokit.machine.execute import LOG, QUEUES
from ptokit.machine.memory import Memory, address_of
from ptokit.machine.slotnumber import SlotNumber
from ptokit.order.fifoend import COUNTERS
from ptokit.values.dtypes import dtype_named
from ptokit.values.host import AnyArray


def stored_run(
    function: object, launch: Launch, outputs: Mapping[str, AnyArray]
) -> StoredRun | None:
    """Return the last run of a function, as data; None if only the program can repeat the run."""
    if launch.names or not all(map(_holds_arrays, launch.every)):
        return None
    if isinstance(function, CompiledFunction):
        return _of_function(function, launch, outputs)
    return _of_kernel(function, launch, outputs) if isinstance(function, CompiledKernel) else None


def _of_function(
    function: CompiledFunction, launch: Launch, outputs: Mapping[str, AnyArray]
) -> StoredRun | None:
    session = function.last
    if session is None or not all(map(_repeats, session.crew)):
        return None
    if not function.repeats and any(m.shape is not None for m in session.arrays.values()):
        return None
    made = _Memories(launch, session.crew[:1])
    serial = session.plan.serial or function.prints
    return made.run(outputs, function.how.blocks, serial=serial, once=session.plan.repeatable)


def _of_kernel(
    kernel: CompiledKernel, launch: Launch, outputs: Mapping[str, AnyArray]
) -> StoredRun | None:
    last = kernel.last
    if last is None or last.scheduled is None:
        return None
    workers, zeroed, _, kept = last.scheduled
    launches = last.on_threads
    if not all(map(_repeats, chain.from_iterable(one.every_worker for one in launches))):
        return None
    made = _Memories(launch, workers)
    run = made.run(outputs, kernel.how.blocks, serial=not last.independent)
    if run is None:
        return None
    every = [(one.earlier, *one.shared.values()) for one in launches]
    rows = [memories[COUNTERS].data.view(np.int64) for one in every for memories in one]
    return run._replace(
        waits=True,
        together=kernel.first.grid.together,
        zeroed=[made.number(memory) for memory in zeroed],
        kept=[(made.number(a), made.number(b)) for a, b in kept],
        counters=[made.number(memories[COUNTERS]) for memories in every[0]],
        ended=np.sum(rows, axis=0).tolist(),
    )


def _repeats(worker: Worker) -> bool:
    """Return whether the code of a worker asks nothing again, and has a file in the cache."""
    asked = worker.problem is not None or worker.needed
    apart = {LOG, QUEUES}.isdisjoint(worker.session.plan.spaces)
    return not asked and apart and bool(worker.session.code.name)


def _holds_arrays(bound: Bound) -> bool:
    """Return whether arguments are numbers, and arrays whose bytes memory holds as they are."""
    for arg in bound.func.args:
        given, kind = bound.arrays.get(arg.name), arg.type
        if isinstance(kind, PtrType | GlobalType):
            plain = not (kind.dtype.packed or kind.dtype.pairs)
            if not plain or dtype_named(kind.dtype.name) is not kind.dtype:
                return False
            if isinstance(given, np.ndarray) and given.itemsize != kind.dtype.size:
                return False
            if not isinstance(given, np.ndarray | None):
                return False
        elif not isinstance(given, int | float | np.generic | np.ndarray | None):
            return False
    return not bound.tiles and {*bound.candidate_outputs} <= {*bound.func.args}


class _Memories:
    """The memories of the workers, numbered by the bytes that they hold."""

    def __init__(self, launch: Launch, workers: Sequence[Worker]) -> None:
        self.launch, self.workers = launch, workers
        self.numbers: dict[tuple[int, int], int] = {}
        self.found: list[StoredMemory] = []
        self.written = {arg.name for arg in launch.written}
        reads = (worker.session.plan.reads for worker in workers)
        self.read = frozenset[str]().union(*reads)
        self.cores = [*map(self._core, workers)]

    def number(self, memory: Memory, array: str = "") -> int:
        """Return the number of a memory."""
        key = address_of(memory.data), memory.size
        if key not in self.numbers:
            self.numbers[key] = len(self.found)
            about = array, array in self.written, f"%{array}" in self.read
            self.found.append(StoredMemory(memory.size, memory.given, *about))
        return self.numbers[key]

    def _core(self, worker: Worker) -> StoredCore:
        session, plan = worker.session, worker.session.plan
        names = {id(memory): name.removeprefix("%") for name, memory in session.arrays.items()}
        numbers = [self.number(memory, names.get(id(memory), "")) for memory in worker.memories]
        slots = [arg.name for arg, n in session.real.items() if isinstance(n, SlotNumber)]
        looks = [n for n, r in enumerate(plan.requests) if r.purpose is Purpose.LOOK]
        shadowed = [bool(one) for one in worker.shadowed]
        counts = [(slot, dict(counted)) for slot, counted in plan.counts]
        about = int(worker.first), slots, looks, counts
        return StoredCore(session.code.name, plan.slots, plan.scratch, numbers, shadowed, *about)

    def run(
        self,
        outputs: Mapping[str, AnyArray],
        blocks: int,
        *,
        serial: bool = False,
        once: bool = False,
    ) -> StoredRun | None:
        """Return the run of one core; None if some output is in no memory."""
        places = {memory.array: n for n, memory in enumerate(self.found) if memory.array}
        if not outputs.keys() <= places.keys():
            return None
        given, dtypes = self.launch.arrays, self.launch.dtypes
        results = [
            StoredOutput(
                n, places[n], dtypes[n].name, None if given.get(n) is not None else a.shape
            )
            for n, a in outputs.items()
        ]
        return StoredRun(self.found, self.cores, results, int(blocks), serial, once)
