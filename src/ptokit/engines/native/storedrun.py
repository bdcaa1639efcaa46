"""Runs that ended well, as data on disk: machine code, and the layout of its memories.

A later process repeats such a run on other arrays without the program: nothing is read, checked or
placed. The code may call back only to look for an interrupt. Whatever else it asks gives the run
up, as do other entries in FIFOs than those of the stored run: the caller then runs the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ptokit.engines.native import ticks
from ptokit.engines.native.drive import SwitchedCore, switched
from ptokit.engines.native.frame import BLOCKS, FIRST_SLOT, TICK, CoreRoom
from ptokit.engines.native.hostthreads import at_once, dealt
from ptokit.machine import cache
from ptokit.machine.memory import Memory
from ptokit.values.dtypes import DType, dtype_named
from ptokit.values.host import AnyArray, values_of

Given: TypeAlias = "Mapping[str, Any]"  # Any: arrays and numbers, as in `Bound`


def element_type(name: str) -> DType:
    """Return the element type that a stored run names."""
    found = dtype_named(name)
    assert found is not None
    return found


class StoredMemory(NamedTuple):
    """A memory of the code: `array` is the argument that it holds, `written` at the start."""

    size: int
    written: bool
    array: str = ""
    output: bool = False  # the code writes the argument
    read: bool = True  # the code reads the argument


class StoredCore(NamedTuple):
    """The machine code of a core, its frame, and its memories by number."""

    code: str  # the name under which the cache has it
    slots: int
    scratch: int
    memories: Sequence[int]
    shadowed: Sequence[bool]
    first: int  # block
    numbers: Sequence[str]  # arguments in slots of the frame
    looks: Sequence[int]  # requests that look for an interrupt
    counts: Sequence[tuple[int, Mapping[str, int]]]


class StoredOutput(NamedTuple):
    """An output: the memory that holds it, its element type, and its extents if not given."""

    name: str
    memory: int
    dtype: str
    shape: Sequence[int] | None


class StoredRun(NamedTuple):
    """A run of one core, or of the cores of a block that wait for one another.

    Ranges of blocks run on several threads unless they are `serial`. With `together`, all blocks
    are one: `cores` has those of each.
    """

    memories: Sequence[StoredMemory]
    cores: Sequence[StoredCore]
    outputs: Sequence[StoredOutput]
    blocks: int
    serial: bool
    once: bool  # later runs of the same numbers need less careful code
    waits: bool = False
    together: bool = False
    zeroed: Sequence[int] = ()  # when a block starts
    kept: Sequence[tuple[int, int]] = ()  # see `drive.switched`
    counters: Sequence[int] = ()  # the memories of the counters of FIFOs
    ended: Sequence[int] = ()  # their sum at the end

    @classmethod
    def of(cls, fields: Sequence[list[list[object]]]) -> StoredRun:
        """Return the run that JSON has as lists."""
        memories, cores, outputs, *rest = fields
        return cls(
            [StoredMemory(*one) for one in memories],  # type: ignore[arg-type]  # from JSON
            [StoredCore(*one) for one in cores],  # type: ignore[arg-type]  # from JSON
            [StoredOutput(*one) for one in outputs],  # type: ignore[arg-type]  # from JSON
            *rest,  # type: ignore[arg-type]  # from JSON
        )


class GivenUp(Exception):
    """Raised if a run asks for what only the program knows; arrays are unchanged."""


class RepeatedRun:
    """A stored run with its machine code, which repeats on other arrays of the same kinds."""

    def __init__(self, stored: StoredRun) -> None:
        """Load the machine code; LookupError if the cache no longer has it."""
        self.stored = stored
        self.codes = [_code(core.code) for core in stored.cores]
        self.idle: list[_Machine] = []  # of runs that ended

    def run(self, given: Given, direct: frozenset[str]) -> tuple[dict[str, AnyArray], Counter[str]]:
        """Return outputs and counts of instructions; GivenUp if only the program can run.

        Outputs named in `direct` are written in place.
        """
        machine: _Machine | None = None
        with suppress(IndexError):  # several threads ask
            machine = self.idle.pop()
        machine = machine or _Machine(self)
        machine.hold(given, direct)
        try:
            machine.run(given)
        except BaseException:
            machine.restore()
            raise
        found = machine.outputs(given), machine.counts()
        machine.release()
        self.idle.append(machine)
        return found


def _code(name: str) -> cache.MachineCode:
    found = cache.stored(name, cache.this_processor())
    if found is None:
        raise LookupError(name)
    return found


class _Machine:
    """The memories and the threads of a run."""

    def __init__(self, run: RepeatedRun) -> None:
        self.stored = stored = run.stored
        every = enumerate(stored.memories)
        self.arrays = {n: _memory(about) for n, about in every if about.array}
        stopped: list[RunningCore] = []  # those with a problem
        blocks = range(stored.blocks)
        spans = [blocks] if stored.serial else dealt(blocks)
        self.threads = [_Blocks(run, self.arrays, span, stopped) for span in spans]
        self.stopped = stopped

    def hold(self, given: Given, direct: frozenset[str]) -> None:
        """Put these arrays into the memories."""
        for number, memory in self.arrays.items():
            about = self.stored.memories[number]
            array = given.get(about.array)
            if array is not None:
                in_place = about.output and about.array in direct
                copied = about.output and not (in_place and not about.read)
                memory.hold(array, written=copied, direct=in_place)
            else:
                memory.forget(about.size)

    def release(self) -> None:
        """Keep no array of the caller."""
        for memory in self.arrays.values():
            memory.release()

    def restore(self) -> None:
        """Undo what was written in place."""
        for memory in self.arrays.values():
            memory.restore()

    def run(self, given: Given) -> None:
        """Run all blocks; GivenUp, or an interrupt."""
        self.stopped.clear()
        for thread in self.threads:
            thread.begin(given)
        works = [thread.run for thread in self.threads]
        at_once(works, lambda: self.stopped.extend(self.threads[0].cores))
        numbers = self.stored.counters
        rows = [t.memories[n].data.view(np.int64) for t in self.threads for n in numbers]
        if rows and np.sum(rows, axis=0).tolist() != [*self.stored.ended]:
            raise GivenUp

    def outputs(self, given: Given) -> dict[str, AnyArray]:
        """Return the arrays that the run wrote, by name."""
        found: dict[str, AnyArray] = {}
        for name, number, kind, shape in self.stored.outputs:
            dtype, memory = element_type(kind), self.arrays[number]
            values = values_of(memory.data.view(dtype.storage), dtype)
            found[name] = values.reshape(np.asarray(given[name]).shape if shape is None else shape)
        return found

    def counts(self) -> Counter[str]:
        """Return how many instructions of each name ran."""
        found = Counter[str]()
        for core in (core for thread in self.threads for core in thread.cores):
            for slot, counted in core.stored.counts:
                if times := int(core.frame[slot]):
                    found.update({name: times * n for name, n in counted.items()})
        return found


def _memory(about: StoredMemory) -> Memory:
    memory = Memory.blank("", about.size, host=bool(about.array))
    memory.given = about.written
    return memory


class _Blocks:
    """A range of blocks that one thread runs: its cores, and their memories."""

    def __init__(
        self,
        run: RepeatedRun,
        arrays: Mapping[int, Memory],
        span: range,
        stopped: list[RunningCore],
    ) -> None:
        self.stored, self.span = run.stored, span
        every = enumerate(run.stored.memories)
        self.memories = [arrays.get(n) or _memory(about) for n, about in every]
        self.cores: list[RunningCore] = []
        for core, code in zip(run.stored.cores, run.codes, strict=True):
            first = core.first if run.stored.together else span.start
            memories = [self.memories[n] for n in core.memories]
            self.cores.append(RunningCore(core, code, memories, range(first, span.stop), stopped))

    def begin(self, given: Given) -> None:
        """Prepare the cores and their memories for a run."""
        for memory in self.memories:
            if not memory.host:
                _clear(memory)
        for core in self.cores:
            core.begin(given, self.stored.blocks)

    def run(self) -> None:
        """Run the blocks; GivenUp, or an interrupt."""
        stored, cores = self.stored, self.cores
        rounds = 1 if stored.together else len(self.span)
        zeroed = [self.memories[n] for n in stored.zeroed]
        kept = [(self.memories[a], self.memories[b]) for a, b in stored.kept]
        try:
            if stored.waits:
                rows = [core.row() for core in cores]
                stuck = switched(rows, zeroed, rounds, kept)
            else:
                stuck = cores[0].run()
        finally:
            for core in cores:
                core.stop()
        for core in cores:
            if core.problem is not None:
                raise core.problem
        if stuck:
            raise GivenUp


class RunningCore:
    """A core that runs a range of blocks: its frame, and the table of its memories."""

    def __init__(
        self,
        stored: StoredCore,
        code: cache.MachineCode,
        memories: Sequence[Memory],
        blocks: range,
        stopped: list[RunningCore],
    ) -> None:
        self.stored, self.code, self.memories, self.stopped = stored, code, memories, stopped
        self.blocks = blocks
        self.room = CoreRoom(stored.slots, len(memories), stored.scratch)
        self.frame, self.places = self.room.frame, self.room.places
        self.problem: BaseException | None = None
        self.callback: Any = None  # Any: a ctypes function

    def begin(self, given: Given, blocks: int) -> None:
        """Prepare the frame and the memories for a run."""
        self.problem = None
        self.frame.fill(0)
        self.frame[BLOCKS] = blocks
        for n, name in enumerate(self.stored.numbers, FIRST_SLOT):
            self.frame[n] = given[name]
        pairs = zip(self.memories, self.stored.shadowed, strict=True)
        for number, (memory, shadowed) in enumerate(pairs):
            self.room.point(number, memory, shadowed)

    def row(self) -> SwitchedCore:
        """Return what the scheduler needs of this core; it may call back until `stop`."""
        begin = self.code.address("begin")
        return SwitchedCore(begin, *self.places, self._start(), self.blocks.start)

    def run(self) -> None:
        """Run the blocks; keep what ends the run in `problem`."""
        self.code.launch(*self.places, self._start(), self.blocks.start, self.blocks.stop)

    def _start(self) -> int:
        answers = self._answers()
        next(answers)
        self.callback = cache.CALLBACK(answers.send)
        ticks.start(self.frame)
        return cache.pointer_of(self.callback)

    def stop(self) -> None:
        """Let the program call back no more."""
        ticks.end(self.frame)

    def _answers(self) -> Generator[int, int, None]:
        """Answer the call backs: 0, or 1 to end the run; see `session.Worker`."""
        try:
            while (yield 0) in self.stored.looks and not self.stopped:
                self.frame[TICK] = 0
            raise GivenUp
        except GeneratorExit:
            return
        except BaseException as problem:  # an interrupt, too
            self.problem = problem
            self.stopped.append(self)
        yield 1


def _clear(memory: Memory) -> None:
    """Set a memory of a core to what it is at the start."""
    if memory.given:
        memory.data.fill(0)
    elif "shadow" in memory.__dict__:
        memory.shadow.fill(0)
