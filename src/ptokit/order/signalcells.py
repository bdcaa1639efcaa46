"""The layout of the counters of signals in the memory that compiled programs share.

For each kind of core: who has signalled all of that kind; for each core: its counters, and how
often it has taken part in what several cores do together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.memory import Index
from ptokit.order.signalboard import late, signal_of
from ptokit.values.scalars import Integer

NUMBERS = 32  # of the signals of a core
BARRIER_KINDS = ((CUBE,), (VECTOR,), (CUBE, VECTOR))  # that `syncall` may wait for
SIGNALS_MEMORY = "signals"


class SignalPart(IntEnum):
    """What a core has for each number: its counter, and as one of several who signal together."""

    UP = 0
    OF_KIND = 1  # it has signalled so often, and not yet all others
    OF_BLOCK = 2
    ACROSS = 3
    BLOCK_HAS = 4  # at the first vector core of a block: how many of the block have
    ACROSS_HAS = 5


ARRIVALS = len(SignalPart) * NUMBERS  # behind them: how often it came to each barrier of cores
STRIDE = ARRIVALS + len(BARRIER_KINDS)
ARRIVED = 2 * NUMBERS  # at the beginning, behind who of each kind has signalled: who came
CORES = ARRIVED + len(BARRIER_KINDS)


@dataclass(frozen=True)
class SignalCells:
    """The cells of the cores that run at once: `cubes` and `lanes` in each of the blocks."""

    cubes: int
    lanes: int

    def size(self, blocks: int) -> int:
        """How many cells there are."""
        return CORES + STRIDE * blocks * (self.cubes + self.lanes)

    def core(self, kind: KernelKind, blocks: Integer, block: Integer, lane: Integer = 0) -> Integer:
        """Where the cells of a core begin: cubes stand first."""
        number = block if kind is CUBE else blocks * self.cubes + block * self.lanes + lane
        return number * STRIDE + CORES

    def of(self, kind: KernelKind) -> int:
        """How many cores of a kind a block has."""
        return self.cubes if kind is CUBE else self.lanes

    @staticmethod
    def have(kind: KernelKind, number: Integer) -> Integer:
        """How many cores of a kind have signalled all of it."""
        return number + (0 if kind is CUBE else NUMBERS)

    def awaited(self, cell: int, counters: Index, cores: Sequence[CorePlace]) -> str:
        """What one of the cores waits for that waits for a cell."""
        if cell >= CORES:
            return signal_of((cell - CORES) % STRIDE)
        barrier, blocks = cell - ARRIVED, 1 + max(core.block for core in cores)
        wanted = [core for core in cores if core.kind in BARRIER_KINDS[barrier]]
        places = [self.core(c.kind, blocks, c.block, c.lane) + ARRIVALS + barrier for c in wanted]
        arrivals: list[int] = counters[places].tolist()
        missing = (c for c, n in zip(wanted, arrivals, strict=True) if n < max(arrivals))
        return f"all cores, and {late(list(missing))}"
