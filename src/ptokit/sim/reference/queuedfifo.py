"""FIFOs at a core whose queues wait: slots are numbered when an instruction is issued.

What waits for the other end, and what tells it, is done when the queue comes to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from ptokit.analysis.fifos import Fifo
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.sim.cores.fifoend import HEADERS
from ptokit.sim.cores.group import GroupedCore
from ptokit.sim.memory import Elements, Memory
from ptokit.sim.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.sim.reference.interpreter import InterpretedMachine
from ptokit.sim.tile import Matrix, Tile

Act = Callable[[], None]


class QueuedFifoEnd(InterpretedFifoEnd):
    """One end; `issued` are its counters as they are when all that was issued is done."""

    def __init__(self, fifo: Fifo, core: GroupedCore, issued: dict[int, int]) -> None:
        super().__init__(fifo, core)
        self.issued = issued
        self.later: list[Act] | None = None  # what is left to the queue; None: it is done at once

    def count(self, cell: int) -> int:
        now = super().count(cell)
        return now if self.later is None else max(now, self.issued.get(cell, 0))

    def wait(self, cell: int, least: int) -> None:
        if self.later is None:
            super().wait(cell, least)
        else:
            self.later.append(partial(super().wait, cell, least))

    def set(self, cell: int, value: int) -> None:
        if self.later is None:
            super().set(cell, value)
            return
        if cell < self.fifo.cell + HEADERS:
            self.issued[cell] = value
        self.later.append(partial(super().set, cell, value))


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
        found = self.promised.popleft()
        if self.value not in self.planned.over and isinstance(found, Tile):
            found.shadow()[:] = 0
        return found


def in_another_slot(handle: Matrix) -> None:
    """A tile comes to lie in bytes of its own: what was popped into it before stays."""
    if isinstance(handle, Tile):
        here = handle.elements
        memory = Memory.blank(handle.memory.name, handle.address + handle.type.nbytes)
        handle.elements = Elements(memory, here.address, here.dtype, here.map, here.origin)
