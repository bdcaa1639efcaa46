"""FIFOs between cores in the reference engine."""

from __future__ import annotations

import numpy as np

from ptokit.analysis.fifos import LANES, Fifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.machine.memory import Index, Memory
from ptokit.machine.tile import Pointer
from ptokit.order.fifoend import (
    COUNTERS,
    HEADERS,
    SLOTS,
    EngineFifoEnd,
    FifoChannel,
    LaunchedFifo,
    reason,
)
from ptokit.order.group import GroupedCore
from ptokit.order.schedule import Wait
from ptokit.values.dtypes import DType


class InterpretedFifoEnd(EngineFifoEnd):
    """One end of a FIFO."""

    def __init__(self, fifo: Fifo, core: GroupedCore) -> None:
        super().__init__(fifo, core)
        self.core = core
        self.counters: Index = core.shared[COUNTERS].data.view(np.int64)

    def count(self, cell: int) -> int:
        return int(self.counters[cell])

    def wait(self, cell: int, least: int) -> None:
        self.core.schedule.wait(self.wait_for(cell, least))
        self.tell_awaited(cell, least)

    def wait_for(self, cell: int, least: int) -> Wait:
        """Return the wait for a counter to be at least `least`."""
        counters = self.counters
        return Wait(lambda: bool(counters[cell] >= least), reason(self.fifo, cell))

    def set(self, cell: int, value: int) -> None:
        if value > self.counters[cell]:
            self.tell_set(cell)
        self.counters[cell] = value
        self.core.schedule.pause()

    def tell_awaited(self, cell: int, least: int) -> None:
        """Tell the clock that the core has awaited a counter."""
        if least > 0:
            self.core.clock.acquire(self._key(cell), least)

    def tell_set(self, cell: int) -> None:
        """Tell the clock that the core signals by incrementing a counter."""
        if cell < self.fifo.cell + HEADERS:
            self.core.clock.release(self._key(cell))

    def _key(self, cell: int) -> FifoChannel:
        place, fifo = self.core.place, self.fifo
        what, lane = divmod(cell - fifo.cell, LANES)
        shape = fifo.slots, fifo.slot_size, fifo.flags
        launched = LaunchedFifo(place.rank, place.block, fifo.cell, fifo.name, *shape)
        return FifoChannel(launched, what * LANES, lane)

    def slots(self) -> Memory:
        return self.core.shared[SLOTS]

    @property
    def opened(self) -> dict[str, Pointer]:
        return self.core.opened

    def pointer(self, dtype: DType, memory: Memory, offset: int) -> Pointer:
        return Pointer(dtype, memory, offset)

    def require(self, holds: bool, problem: PtoError) -> None:
        if not holds:
            raise problem
