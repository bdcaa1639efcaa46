"""FIFOs of a core with queues: slots are numbered when an instruction is issued.

Waits for the other end and signals to it execute when the queue comes to them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ptokit.analysis.fifos import Fifo
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.engines.reference.interpreter import InterpretedMachine
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.pages.slots import idle_lane, others
from ptokit.machine.memory import Elements, Memory
from ptokit.machine.tile import Matrix, Tile
from ptokit.order.fifoend import FREED, HEADERS, POPPED, PUSHED
from ptokit.order.group import GroupedCore

Act = Callable[[], None]


class QueuedFifoEnd(InterpretedFifoEnd):
    """One FIFO end; `issued` has its counters as if all issued entries were complete."""

    def __init__(self, fifo: Fifo, core: GroupedCore, issued: dict[int, int]) -> None:
        super().__init__(fifo, core)
        self.issued = issued
        self.later: deque[Act] | None = None  # operations left to the queue; None: execute at once
        self.waits_now = False  # the scalar unit waits before it issues
        self.of_issue = core.clock.of_issue  # the clock records issues, not executions

    def announce(self, role: FifoRole | None, split: int, *, waits: bool) -> None:
        """Count an issued push, pop or free of a tile; `waits`: S waits for the other end."""
        end: Any = self  # bodies use a narrower type of FIFO end
        if not idle_lane(end, split):
            if role is FifoRole.PUSHES:
                least = self._goes_up(PUSHED) - self.fifo.slots
                self._await(FREED, others(end, split), least, waits=waits)
                self._announced(PUSHED)
            elif role is FifoRole.POPS:
                self._await(PUSHED, others(end, split), self._goes_up(POPPED), waits=waits)
                self._announced(POPPED)
            frees = role is FifoRole.FREES or (role is FifoRole.POPS and self.releases)
            if frees and self._issued(FREED) < self._issued(POPPED):
                self._goes_up(FREED)
                self._announced(FREED)

    def _await(self, what: int, lanes: Iterable[int], least: int, *, waits: bool) -> None:
        for cell in (self._of(what, lane) for lane in lanes):
            if waits:
                self.core.schedule.wait(self.wait_for(cell, least))
            if self.of_issue:
                super().tell_awaited(cell, least)

    def _announced(self, what: int) -> None:
        if self.of_issue:
            super().tell_set(self._cell(what))

    def _issued(self, what: int) -> int:
        """Return a counter of this core as if all issued entries were complete."""
        cell = self._cell(what)
        return max(super().count(cell), self.issued.get(cell, 0))

    def _goes_up(self, what: int) -> int:
        """Increment an issued counter and return the new value."""
        self.issued[self._cell(what)] = number = self._issued(what) + 1
        return number

    def count(self, cell: int) -> int:
        now = super().count(cell)
        return now if self.later is None else max(now, self.issued.get(cell, 0))

    def wait(self, cell: int, least: int) -> None:
        if self.later is None or self.waits_now:
            super().wait(cell, least)
        else:
            self.later.append(partial(super().wait, cell, least))
        if self.later is not None and self.of_issue:
            super().tell_awaited(cell, least)

    def set(self, cell: int, value: int) -> None:
        if self.later is None:
            super().set(cell, value)
            return
        if cell < self.fifo.cell + HEADERS:
            self.issued[cell] = value
        self.later.append(partial(super().set, cell, value))
        if self.of_issue:
            super().tell_set(cell)

    def tell_awaited(self, cell: int, least: int) -> None:
        if not self.of_issue:
            super().tell_awaited(cell, least)

    def tell_set(self, cell: int) -> None:
        if not self.of_issue:
            super().tell_set(cell)


class ReceivingMachine(InterpretedMachine):
    """A machine that makes the tile of a pop when the pop is issued."""

    def __init__(self, of: InterpretedMachine) -> None:
        super().__init__(of.core, of.planned, of.value)
        self.promised = deque[Matrix]()

    def promise(self, kind: TileType | ConvTileType) -> Matrix:
        """Return a handle on the planned bytes of the tile, whose content is unchanged."""
        assert self.value is not None
        self.promised.append(self._handle(kind, self.planned.addresses[self.value]))
        return self.promised[-1]

    def new(self, kind: TileType | ConvTileType) -> Matrix:
        """Return the first promised tile, with undefined content."""
        found = self.promised[0]
        if self.value not in self.planned.over and isinstance(found, Tile):
            found.shadow()[:] = 0
        return found


def in_another_slot(handle: Matrix) -> None:
    """Move a tile to new bytes, so that the entry popped before is kept."""
    if isinstance(handle, Tile):
        here = handle.elements
        memory = Memory.blank(handle.memory.name, handle.address + handle.type.nbytes)
        handle.elements = Elements(memory, here.address, here.dtype, here.map, here.origin)
