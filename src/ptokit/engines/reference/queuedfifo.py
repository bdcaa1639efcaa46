"""FIFOs at a core whose queues wait: slots are numbered when an instruction is issued.

What waits for the other end, and what tells it, is done when the queue comes to it.
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
    """One end; `issued` are its counters as they are when all that was issued is done."""

    def __init__(self, fifo: Fifo, core: GroupedCore, issued: dict[int, int]) -> None:
        super().__init__(fifo, core)
        self.issued = issued
        self.later: deque[Act] | None = None  # what is left to the queue; None: it is done at once
        self.waits_now = False  # the scalar unit waits before it leaves anything to a queue
        self.of_issue = core.clock.of_issue  # who follows the cores is told when it is issued

    def announce(self, role: FifoRole | None, split: int, *, waits: bool) -> None:
        """A push, a pop or a release of a tile is issued; `waits`: the scalar unit waits for it."""
        end: Any = self  # what bodies take for one: a page's words on views say less
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
        """A counter of this core when all that was issued is done."""
        cell = self._cell(what)
        return max(super().count(cell), self.issued.get(cell, 0))

    def _goes_up(self, what: int) -> int:
        """The same after one more is issued."""
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
    """Makes the tile of a pop when it is issued; the body, in its queue, gets that one."""

    def __init__(self, of: InterpretedMachine) -> None:
        super().__init__(of.core, of.planned, of.value)
        self.promised = deque[Matrix]()

    def promise(self, kind: TileType | ConvTileType) -> Matrix:
        """A handle on the planned bytes of the tile, which still hold what they held."""
        assert self.value is not None
        self.promised.append(self._handle(kind, self.planned.addresses[self.value]))
        return self.promised[-1]

    def new(self, kind: TileType | ConvTileType) -> Matrix:
        """The tile that was promised first: its content is undefined."""
        found = self.promised[0]
        if self.value not in self.planned.over and isinstance(found, Tile):
            found.shadow()[:] = 0
        return found


def in_another_slot(handle: Matrix) -> None:
    """A tile comes to lie in bytes of its own: what was popped into it before stays."""
    if isinstance(handle, Tile):
        here = handle.elements
        memory = Memory.blank(handle.memory.name, handle.address + handle.type.nbytes)
        handle.elements = Elements(memory, here.address, here.dtype, here.map, here.origin)
