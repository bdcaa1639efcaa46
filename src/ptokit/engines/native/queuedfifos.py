"""FIFOs and signals of a core with queues, in compiled code.

On targets whose pops move nothing, a popped tile stays in its slot. Each such tile has an address
range for all slots of its FIFO, behind the memory of the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

from ptokit.analysis.fifoentries import entry_of
from ptokit.analysis.fifos import Fifo
from ptokit.analysis.known import Facts
from ptokit.engines.native.compiledwaits import CompiledFifoEnd
from ptokit.engines.native.machine import CompiledMachine
from ptokit.engines.native.mainfunction import MOST_COUNTED, MainFunction
from ptokit.engines.native.queuecode import ISSUED, MOST_FIFOS
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.words import Pipe
from ptokit.isa.pages.slots import idle_lane, others
from ptokit.machine.execute import Core
from ptokit.machine.record.code import Int, NotNative, Num, text
from ptokit.machine.record.trace import Recorded, TracedTile, space_of
from ptokit.order.fifoend import FREED, POPPED, PUSHED
from ptokit.order.group import GroupedCore

LINE = 512  # bytes, the alignment of the slots of a tile
Rings = dict[tuple[Value, Fifo], int]  # the start of the slots of a tile


def is_view(entry: Value | None) -> bool:
    """Return whether an entry lies in global memory."""
    return entry is not None and isinstance(entry.type, GlobalType)


def slots_behind(
    func: Func, core: Core, known: Facts, behind: Mapping[str, int]
) -> tuple[Rings, dict[str, int]]:
    """Return the start of the slots of popped tiles, and the new ends of the memories."""
    rings, ends = Rings(), dict(behind)
    if not isinstance(core, GroupedCore) or core.target.releases:
        return rings, ends
    for op in func.ops:
        fifo = core.ends.get(op) if isinstance(op, Op) else None
        if fifo is None or not isinstance(op, Op) or op.page.fifo_role is not FifoRole.POPS:
            continue
        value = entry_of(op)
        kind = None if value is None else known.type_of(value)
        if value is None or not isinstance(kind, TileType) or (value, fifo) in rings:
            continue
        space = SPACES[kind.loc]
        start = max(ends.get(space, 0), core.target.capacity[space])
        rings[value, fifo] = start = -(-start // LINE) * LINE
        ends[space] = start + fifo.slots * kind.nbytes
    return rings, ends


class DeferredFifoOp(NamedTuple):
    """An operation left to the queue by an entry of a view: a wait for a counter, or a set."""

    waits: bool
    cell: Num
    number: Num


class NumberedCompiledEnd(CompiledFifoEnd):
    """A FIFO end that gives a view its slot at once and leaves the rest to the queue."""

    def __init__(self, fifo: Fifo, main: MainFunction, op: Op, issued: IssuedFifos) -> None:
        super().__init__(fifo, main, op)
        self.issued, self.deferred = issued, list[DeferredFifoOp]()
        self.own = {self._cell(what): what for what in (PUSHED, POPPED)}

    def count(self, cell: Num) -> Int:
        """Return the number in a counter; its own counters include issued entries."""
        if isinstance(cell, int) and cell in self.own:
            return self.main.load(self._issued(cell), (0, MOST_COUNTED))
        return super().count(cell)

    def wait(self, cell: Num, least: Num) -> None:
        """Wait now if the scalar unit waits; else leave the wait to the queue."""
        if self.issued.scalar_waits:
            super().wait(cell, least)
        else:
            self.deferred.append(DeferredFifoOp(waits=True, cell=cell, number=least))

    def set(self, cell: Num, value: Num) -> None:
        self.deferred.append(DeferredFifoOp(waits=False, cell=cell, number=value))
        if isinstance(cell, int) and cell in self.own:
            self.main.recording.after.append(partial(self._note, cell, value))

    def _note(self, cell: int, value: Num) -> None:
        self.main.store(self._issued(cell), value)

    def _issued(self, cell: int) -> str:
        return self.issued.place(self.fifo, self.own[cell])


@dataclass
class ReceivingCompiledMachine(CompiledMachine):
    """A machine that returns the tile made when the pop was issued.

    The content of the tile is undefined.
    """

    promised: TracedTile | None = None

    def new(self, kind: TileType | ConvTileType) -> Recorded:
        assert self.promised is not None
        space = space_of(self.promised)
        base = self.main.memory(space.number, 1)
        address = text(self.promised.elements.address)
        where = self.main.code.let(f"getelementptr i8, ptr {base}, i64 {address}")
        arguments = f"ptr {where}, i8 0, i64 {kind.nbytes}, i1 false"
        self.main.code.do(f"call void @llvm.memset.p0.i64({arguments})")
        return self.promised


class IssuedFifos:
    """The FIFO operations that a core has issued."""

    def __init__(self, main: MainFunction, func: Func) -> None:
        core = main.core
        self.main, self.words = main, dict[tuple[int, int], int]()
        self.ends: Mapping[Op, Fifo] = core.ends if isinstance(core, GroupedCore) else {}
        self.pops = dict[Fifo, set[Pipe | None]]()
        self.received = set[Value]()  # declared tiles that pops place in slots
        self.scalar_waits = core.target.chip and not core.target.separate
        for op, fifo in self.ends.items():
            entry = entry_of(op)
            if op.page.fifo_role is FifoRole.OPENS or op.page.fifo_role is FifoRole.FREES:
                continue
            if entry is None or isinstance(entry.type, ConvTileType):
                raise NotNative("entries of a convolution, at a core whose queues wait")
            if op.page.fifo_role is FifoRole.POPS:
                self.pops.setdefault(fifo, set()).add(self.pipe(op))
                if not (op.results or core.target.releases or is_view(entry)):
                    self.received.add(entry)

    def pipe(self, op: Op) -> Pipe | None:
        return op.page.pipe_of(self.main.facts.environment(op))

    def queue_of(self, op: Op) -> Pipe:
        """Return the queue of an op: its pipe, or for a free the pipe that popped."""
        found = self.pipe(op)
        if op.page.fifo_role is FifoRole.FREES:
            pipes = self.pops.get(self.ends[op], {found})
            if len(pipes) > 1:
                raise NotNative("several pipes pop from one FIFO")
            (found,) = pipes
        if found is None or (found is Pipe.S and op.page.fifo_role is not FifoRole.ALLOCATES):
            raise NotNative("the scalar unit pushes or pops")
        return found

    def announce(self, op: Op) -> Int | None:
        """Count an issued push or pop, and wait for it if the scalar unit does.

        Return the number of the popped entry, which selects its slot.
        """
        role, fifo = op.page.fifo_role, self.ends[op]
        end: Any = CompiledFifoEnd(fifo, self.main, op)  # Any: bodies use a narrower type
        split = cast(int, op.attrs["split"])
        if role is FifoRole.FREES or (idle_lane(end, split) and self.scalar_waits):
            return None
        pushes = role is FifoRole.PUSHES
        number = self._count(fifo, PUSHED if pushes else POPPED)
        if self.scalar_waits:
            for lane in others(end, split):
                place = end.place_of(FREED if pushes else PUSHED, lane)
                least = number + (1 - fifo.slots if pushes else 1)
                self.main.wait(op, place, least)
        return number

    def _count(self, fifo: Fifo, what: int) -> Int:
        """Return the number of earlier issues, and increment it."""
        place = self.place(fifo, what)
        before = self.main.load(place, (0, MOST_COUNTED))
        after = before + 1
        self.main.store(place, after)
        return before

    def place(self, fifo: Fifo, what: int) -> str:
        """Return the address of the issue count of a FIFO operation."""
        word = self.words.setdefault((fifo.cell, what), len(self.words))
        if word >= MOST_FIFOS:
            raise NotNative("more FIFOs than queues keep count of")
        base = self.main.memory(self.main.queue_space().number, 0)
        return self.main.code.let(f"getelementptr i64, ptr {base}, i64 {ISSUED + word}")
