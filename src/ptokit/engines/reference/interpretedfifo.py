"""FIFOs between cores in the reference engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ptokit.analysis.fifos import LANES, Fifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.pages.slots import idle_lane, others
from ptokit.machine.memory import Index, Memory
from ptokit.machine.tile import Pointer
from ptokit.order.fifoend import (
    COUNTERS,
    FREED,
    HEADERS,
    POPPED,
    PUSHED,
    SLOTS,
    EngineFifoEnd,
    reason,
)
from ptokit.order.group import GroupedCore
from ptokit.order.schedule import Wait
from ptokit.order.waiting import FifoChannel, LaunchedFifo
from ptokit.values.dtypes import DType


class InterpretedFifoEnd(EngineFifoEnd):
    """One end of a FIFO, whose operations execute at once unless a queue holds them back.

    At a core with queues, `issued` has the counters as if all issued entries were complete. An
    instruction that is issued gets its slot at once, and leaves the rest to its queue in `later`.
    """

    later: deque[Callable[[], None]] | None = None  # None: operations execute at once
    waits_now = False  # the scalar unit waits before it issues
    at_issue = False  # the clock records issues, not executions

    def __init__(self, fifo: Fifo, core: GroupedCore, issued: dict[int, int] | None = None) -> None:
        super().__init__(fifo, core)
        self.core, self.issued = core, {} if issued is None else issued
        self.at_issue = issued is not None and core.clock.of_issue
        self.counters: Index = core.shared[COUNTERS].data.view(np.int64)

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
            if self.at_issue:
                self.tell_awaited(cell, least)

    def _announced(self, what: int) -> None:
        if self.at_issue:
            self.tell_set(self._cell(what))

    def _issued(self, what: int) -> int:
        """Return a counter of this core as if all issued entries were complete."""
        cell = self._cell(what)
        return max(int(self.counters[cell]), self.issued.get(cell, 0))

    def _goes_up(self, what: int) -> int:
        """Increment an issued counter and return the new value."""
        self.issued[self._cell(what)] = number = self._issued(what) + 1
        return number

    def count(self, cell: int) -> int:
        now = int(self.counters[cell])
        return now if self.later is None else max(now, self.issued.get(cell, 0))

    def wait(self, cell: int, least: int) -> None:
        if self.later is None or self.waits_now:
            self._wait(cell, least)
        else:
            self.later.append(partial(self._wait, cell, least))
        if self.later is not None and self.at_issue:
            self.tell_awaited(cell, least)

    def _wait(self, cell: int, least: int) -> None:
        self.core.schedule.wait(self.wait_for(cell, least))
        if not self.at_issue:
            self.tell_awaited(cell, least)

    def wait_for(self, cell: int, least: int) -> Wait:
        """Return the wait for a counter to be at least `least`."""
        counters = self.counters
        return Wait(lambda: bool(counters[cell] >= least), reason(self.fifo, cell))

    def set(self, cell: int, value: int) -> None:
        if self.later is None:
            self._set(cell, value)
            return
        if cell < self.fifo.cell + HEADERS:
            self.issued[cell] = value
        self.later.append(partial(self._set, cell, value))
        if self.at_issue:
            self.tell_set(cell)

    def _set(self, cell: int, value: int) -> None:
        if value > self.counters[cell] and not self.at_issue:
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
