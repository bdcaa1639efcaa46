"""Flags, FIFOs and signals in compiled code: bytes and counters in memory, for which cores wait."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import cast

from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.native.frame import BLOCK, BLOCKS
from ptokit.engines.native.mainfunction import MOST_COUNTED, MainFunction
from ptokit.ir.module import Op
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.isa.pages.grid import LARGEST_GRID
from ptokit.machine.record.code import Condition, Int, NotNative, Num, Truth, every, text
from ptokit.machine.record.trace import Space, TracedPointer
from ptokit.machine.state import FLAG_MEMORY, Queue, flag_number
from ptokit.machine.tile import Pointer
from ptokit.order.fifoend import COUNTERS, SLOTS, EngineFifoEnd
from ptokit.order.group import GroupedCore
from ptokit.order.signalcounters import (
    ARRIVALS,
    ARRIVED,
    BARRIER_KINDS,
    NUMBERS,
    OF_SECOND,
    SIGNALS_MEMORY,
    STRIDE,
    SignalPart,
)
from ptokit.values.dtypes import DType

MOST_CORES = LARGEST_GRID * 3


def lowered(main: MainFunction) -> str:
    """Return code that lowers all flags at the start of a block."""
    space = next((s for s in main.spaces if s.name == FLAG_MEMORY), None)
    if space is None:
        return ""
    return (
        f"  %flags.at = getelementptr i64, ptr %memories, i64 {3 * space.number}\n"
        "  %flags = load ptr, ptr %flags.at\n"
        f"  call void @llvm.memset.p0.i64(ptr %flags, i8 0, i64 {space.size}, i1 false)\n"
    )


class CompiledFlags:
    """The operations of `machine.state.Flags`; faults are left to the reference."""

    def __init__(self, main: MainFunction) -> None:
        self.main = main

    def set(self, source: Queue, target: Queue, event: Num) -> None:
        """Raise a flag that is down."""
        self._move(source, target, event, up=True)

    def wait(self, source: Queue, target: Queue, event: Num) -> None:
        """Lower a flag that is up."""
        self._move(source, target, event, up=False)

    @staticmethod
    def join(event: object) -> None:
        """Do nothing: in program order all events have happened."""

    @staticmethod
    def barrier(pipe: Queue) -> None:
        """Do nothing: in program order all earlier instructions are complete."""

    @staticmethod
    def acquire(pipe: Queue, buffer: Num, mode: int) -> None:
        """Do nothing: in program order a buffer is always free."""

    release = acquire

    def _move(self, source: Queue, target: Queue, event: Num, *, up: bool) -> None:
        number = flag_number(source, target, event)
        if number is None:
            raise NotNative("a flag of an operation that no page has")
        if source is target:
            return
        main = self.main
        base = main.memory(main.flag_space().number, 0)
        place = main.code.let(f"getelementptr i8, ptr {base}, i64 {text(number)}")
        byte = main.code.let(f"load i8, ptr {place}")
        now = Int(main.code, main.code.let(f"zext i8 {byte} to i64"), limits=(0, 1))
        ready: Truth = now == (0 if up else 1)
        main.recording.guards.append(ready)
        main.recording.after.append(partial(main.code.do, f"store i8 {int(up)}, ptr {place}"))


class CompiledFifoEnd(EngineFifoEnd):
    """One end of a FIFO; a core suspends only if it must wait."""

    def __init__(self, fifo: Fifo, main: MainFunction, op: Op) -> None:
        super().__init__(fifo, main.core)
        self.main, self.op = main, op

    def _place(self, cell: Num) -> str:
        base = self.main.memory(self.main.shared_space(COUNTERS).number, 0)
        return self.main.code.let(f"getelementptr i64, ptr {base}, i64 {text(cell)}")

    def count(self, cell: Num) -> Int:
        return self.main.load(self._place(cell), (0, MOST_COUNTED))

    def wait(self, cell: Num, least: Num) -> None:
        self.main.wait(self.op, self._place(cell), least)

    def set(self, cell: Num, value: Num) -> None:
        self.main.recording.after.append(partial(self._store, cell, value))

    def _store(self, cell: Num, value: Num) -> None:
        self.main.store(self._place(cell), value)

    def place_of(self, what: int, lane: int) -> str:
        """Return the address of a counter of the other end."""
        return self._place(self._of(what, lane))

    def finish(self, cell: Num, number: Num, *, waits: bool) -> None:
        """Execute an operation that an entry of a view left to its queue: a wait, or a set."""
        (self.wait if waits else self._store)(cell, number)

    def common(self, tile: Num, entry: Num) -> Num:
        """Return the lines of a tile; if whole entries are assumed, give up where it has more."""
        fits = entry >= tile
        if not (self.main.whole_entries and isinstance(fits, Truth)):
            return super().common(tile, entry)
        self.main.leave_unless(fits)
        return tile

    def slots(self) -> Space:
        return self.main.shared_space(SLOTS)

    @property
    def opened(self) -> dict[str, Pointer]:
        return self.main.opened

    def pointer(self, dtype: DType, memory: Space, offset: Num) -> TracedPointer:
        return TracedPointer(dtype, memory, offset)  # type: ignore[arg-type]  # a Space stands for a memory

    def require(self, holds: bool | Truth, problem: PtoError) -> None:
        if isinstance(holds, Truth):
            self.main.recording.guards.append(holds)
        elif not holds:
            raise problem


class CompiledSignals:
    """The operations of `CoreSignals`; an invalid number hands the run to the reference.

    A core suspends only if it must wait.
    """

    def __init__(self, main: MainFunction, core: GroupedCore, op: Op) -> None:
        self.main, self.op = main, op
        self.cells, self.here, self.lane = core.grid.cells, core.place.kind, core.place.lane
        self.separate, self.together = core.grid.separate, core.grid.together
        self.most = core.target.most_signals
        self.blocks: Num = main.load(main.place(BLOCKS), (1, LARGEST_GRID)) if self.together else 1
        self.block: Num = main.load(main.place(BLOCK), (0, LARGEST_GRID)) if self.together else 0

    # operations for bodies

    def of_kind(self, number: Num) -> None:
        """Signal all cores of this kind in the launch."""
        number, kind = self._number(number), self.here
        count = self.blocks * self.cells.of(kind)
        first = self.cells.core(kind, self.blocks, 0)
        have = self.cells.have(kind, number)
        self._together(have, SignalPart.OF_KIND, number, first, count, first, count)

    def of_block(self, number: Num) -> None:
        """Signal the vector cores of the block."""
        number = self._number(number)
        if self.here is VECTOR:
            first, count = self._first(VECTOR), self.cells.lanes
            have = self._cell(first, SignalPart.BLOCK_HAS, number)
            self._together(have, SignalPart.OF_BLOCK, number, first, count, first, count)

    def across(self, number: Num, *, every_lane: bool) -> None:
        """Signal from the cube to its vector cores, or from a vector core to the cube."""
        if self.separate and self.here is VECTOR:
            self.direct(number)
            return
        number = self._number(number)
        vectors, lanes = self._first(VECTOR), self.cells.lanes
        if self.here is CUBE:
            self._up(vectors, number, lanes if every_lane or not self.separate else min(lanes, 1))
            return
        have = self._cell(vectors, SignalPart.ACROSS_HAS, number)
        receivers = self._first(CUBE), self.cells.cubes
        self._together(have, SignalPart.ACROSS, number, vectors, lanes, *receivers)

    def direct(self, number: Num) -> None:
        """Signal one core of the block. At the cube, numbers from 16 select vector core 1."""
        if not self.separate:
            self.across(number, every_lane=True)
            return
        number = self._number(number)
        low = number % OF_SECOND
        if self.here is VECTOR:
            self._up(self._first(CUBE), low + OF_SECOND * self.lane, self.cells.cubes)
            return
        which = number // OF_SECOND
        for lane in range(self.cells.lanes):
            if (met := which == lane) is not False:
                with self.main.code.when(met):
                    self._up(self.cells.core(VECTOR, self.blocks, self.block, lane), low, 1)

    def wait(self, number: Num) -> None:
        """Wait until a number of this core is up, and decrement its counter."""
        number = self._number(number)
        if self.here is VECTOR and self.separate:
            number = number % OF_SECOND
        cell = self._cell(self._mine(), SignalPart.UP, number)
        self.main.wait(self.op, self._place(cell), 1)
        self._add(cell, -1)

    def sync_all(self, kinds: tuple[KernelKind, ...], used: object, place: object) -> None:
        """Wait until all cores of these kinds have arrived as often as this core."""
        if not isinstance(used, int) or used or not any(map(self.cells.of, kinds)):
            raise NotNative("not all cores meet, or none")
        barrier = BARRIER_KINDS.index(kinds)
        arrivals = self._add(self._mine() + (ARRIVALS + barrier), 1)
        if self.here in kinds:
            self._add(ARRIVED + barrier, 1)
            count = self.blocks * sum(map(self.cells.of, kinds))
            self.main.wait(self.op, self._place(ARRIVED + barrier), arrivals * count)

    def pause(self) -> None:
        """Do nothing, since the fixed order has no random switches."""

    def changed(self, numbers: object) -> None:
        """Do nothing, since no core waits for numbers in memory, see `Grid.polls`."""

    def until(self, *_: object) -> None:
        """Raise NotNative, see `changed`."""
        raise NotNative("it waits for numbers in memory")

    test = until

    # cells

    def _number(self, number: Num) -> Num:
        """Return the number after a check that a signal has it."""
        if isinstance(number, int):
            if not 0 <= number < NUMBERS:
                raise NotNative("a signal of a number that no core has")
            return number
        inside: Condition = every((number >= 0, number < NUMBERS))
        if isinstance(inside, Truth):
            self.main.leave_unless(inside)
        return Int(self.main.code, number.text, limits=(0, NUMBERS - 1))

    def _mine(self) -> Num:
        return self.cells.core(self.here, self.blocks, self.block, self.lane)

    def _first(self, kind: KernelKind) -> Num:
        """Return the first core of a kind in this block."""
        return self.cells.core(kind, self.blocks, self.block)

    @staticmethod
    def _cell(core: Num, part: SignalPart, number: Num) -> Num:
        return core + (number + int(part) * NUMBERS)

    def _place(self, cell: Num) -> str:
        base = self.main.memory(self.main.shared_space(SIGNALS_MEMORY).number, 0)
        return self.main.code.let(f"getelementptr i64, ptr {base}, i64 {text(cell)}")

    def _add(self, cell: Num, number: int) -> Int:
        place = self._place(cell)
        total = cast(Int, self.main.load(place, (0, MOST_COUNTED)) + number)
        self.main.store(place, total)
        return total

    def _up(self, first: Num, number: Num, count: Num) -> None:
        """Increment a number of several cores."""
        if not isinstance(count, int) or count:
            with self._each(first, count) as core:
                total = self._add(self._cell(core, SignalPart.UP, number), 1)
                if self.most:  # the reference reports an overflow
                    self.main.leave_unless(total <= self.most)

    @contextmanager
    def _each(self, first: Num, count: Num) -> Generator[Num]:
        """Loop over `count` cores; the body gets the first cell of each."""
        code = self.main.code
        many = count if isinstance(count, int) else Int(code, count.text, limits=(0, MOST_CORES))
        with code.loop(many, "cores") as index:
            yield first + Int(code, index.text, limits=(0, MOST_CORES)) * STRIDE

    def _together(
        self,
        have: Num,
        part: SignalPart,
        number: Num,
        first: Num,
        senders: Num,
        to: Num,
        receivers: Num,
    ) -> None:
        """Signal a number; receivers see it when all senders have signalled."""
        code = self.main.code
        begins = self._add(self._cell(self._mine(), part, number), 1) == 1
        with code.when(begins):
            self._add(have, 1)
        all_have = self.main.load(self._place(have), (0, MOST_COUNTED)) == senders
        with code.when(all_have):
            with self._each(first, senders) as sender:
                left = self._add(self._cell(sender, part, number), -1) == 0
                with code.when(left):
                    self._add(have, -1)
            self._up(to, number, receivers)
