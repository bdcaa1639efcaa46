"""The layout of signal counters in the memory that compiled programs share.

The memory holds the arrivals of each kind of core, then for each core its counters and its arrivals
at group signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.memory import Index
from ptokit.order.signalboard import late, signal_of
from ptokit.records import dataclass
from ptokit.values.scalars import Integer

NUMBERS = 32  # signals per core
BARRIER_KINDS = (
    (CUBE,),
    (VECTOR,),
    (CUBE, VECTOR),
)  # sets of kinds that a barrier of cores may wait for
SIGNALS_MEMORY = "signals"


class SignalPart(IntEnum):
    """The cells of a core for each signal number."""

    UP = 0
    OF_KIND = 1  # its signals that not all others have matched
    OF_BLOCK = 2
    ACROSS = 3
    BLOCK_HAS = 4  # at the first vector core: the cores of the block that signalled
    ACROSS_HAS = 5


ARRIVALS = len(SignalPart) * NUMBERS  # then: its arrivals at each barrier of cores
STRIDE = ARRIVALS + len(BARRIER_KINDS)
ARRIVED = 2 * NUMBERS  # at the start, after the signals of each kind: arrivals at barriers
CORES = ARRIVED + len(BARRIER_KINDS)


@dataclass(frozen=True)
class SignalCells:
    """The cells of the concurrent cores: `cubes` and `lanes` per block."""

    cubes: int
    lanes: int

    def size(self, blocks: int) -> int:
        """Return the number of cells."""
        return CORES + STRIDE * blocks * (self.cubes + self.lanes)

    def core(self, kind: KernelKind, blocks: Integer, block: Integer, lane: Integer = 0) -> Integer:
        """Return the first cell of a core; cube cores come first."""
        number = block if kind is CUBE else blocks * self.cubes + block * self.lanes + lane
        return number * STRIDE + CORES

    def of(self, kind: KernelKind) -> int:
        """Return the number of cores of a kind per block."""
        return self.cubes if kind is CUBE else self.lanes

    @staticmethod
    def have(kind: KernelKind, number: Integer) -> Integer:
        """Return the cell that counts the cores of a kind that have signalled `number`."""
        return number + (0 if kind is CUBE else NUMBERS)

    def awaited(self, cell: int, counters: Index, cores: Sequence[CorePlace]) -> str:
        """Return what one of the cores waits for, given the cell that it waits for."""
        if cell >= CORES:
            return signal_of((cell - CORES) % STRIDE)
        barrier, blocks = cell - ARRIVED, 1 + max(core.block for core in cores)
        wanted = [core for core in cores if core.kind in BARRIER_KINDS[barrier]]
        places = [self.core(c.kind, blocks, c.block, c.lane) + ARRIVALS + barrier for c in wanted]
        arrivals: list[int] = counters[places].tolist()
        missing = (c for c, n in zip(wanted, arrivals, strict=True) if n < max(arrivals))
        return f"all cores, and {late(list(missing))}"
