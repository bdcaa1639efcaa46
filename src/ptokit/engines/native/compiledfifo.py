"""FIFOs between cores in compiled code: the counters are numbers in shared memory."""

from __future__ import annotations

from functools import partial

from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.native.mainfunction import MOST_COUNTED, MainFunction
from ptokit.ir.module import Op
from ptokit.machine.record.code import Int, Num, Truth, text
from ptokit.machine.record.trace import Space, TracedPointer
from ptokit.machine.tile import Pointer
from ptokit.order.fifoend import COUNTERS, SLOTS, EngineFifoEnd
from ptokit.values.dtypes import DType


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
