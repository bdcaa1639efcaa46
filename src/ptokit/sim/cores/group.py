"""The cores of a block: one cube and its vector cores, or one core, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from ptokit.analysis.fifos import Exchanges
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Func, Op
from ptokit.isa.lang.traits import SIGNALS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.numerics.fixpipe import FixPipe
from ptokit.sim.arguments import Bound
from ptokit.sim.cores.channel import COUNTERS, SLOTS
from ptokit.sim.cores.schedule import Schedule
from ptokit.sim.cores.signalboard import CorePlace, CoreSignals, SignalBoard
from ptokit.sim.execute import Core
from ptokit.sim.memory import Memory

T = TypeVar("T")


class GroupedCore(Core):
    """A core that runs at once with others: its ends of queues, its signals, whose turn it is."""

    def __init__(
        self,
        target: Target,
        fixpipe: FixPipe,
        place: CorePlace,
        blocks: int,
        lanes: int,
        exchanges: Exchanges,
        schedule: Schedule,
        board: SignalBoard,
    ) -> None:
        super().__init__(target, fixpipe, place.block, blocks)
        self.kind, self.subblock_idx, self.lanes = place.kind, place.lane, lanes
        self.place, self.clock = place, board.clock(place)
        self.ends, self.schedule = exchanges.ends[place.kind], schedule
        self.signals = CoreSignals(board, place, target.separate)
        self.opened: dict[str, object] = {}


@dataclass(frozen=True)
class Grid:
    """The places of a launch: of both kinds, or of one, with so many vector cores in a block.

    `rank`: whose launch it is, where a job has several.
    """

    kinds: Sequence[KernelKind]
    lanes: int
    blocks: int
    rank: int | None = None

    def of_block(self, block: int) -> Iterator[CorePlace]:
        for kind in self.kinds:
            lanes = self.lanes if kind is VECTOR else 1
            yield from (CorePlace(block, kind, lane, self.rank) for lane in range(lanes))

    def __iter__(self) -> Iterator[CorePlace]:
        for block in range(self.blocks):
            yield from self.of_block(block)


def kinds_of(bounds: Mapping[KernelKind, Bound]) -> tuple[KernelKind, ...]:
    """In the order in which their cores begin."""
    return tuple(kind for kind in (CUBE, VECTOR) if kind in bounds)


def shared_memories(exchanges: Exchanges) -> dict[str, Memory]:
    """What the cores of a block share: counters at 0, and slots."""
    sizes = {COUNTERS: 8 * max(exchanges.counters, 1), SLOTS: max(exchanges.nbytes, 1)}
    return {
        name: Memory(name, np.zeros(size, np.uint8), written=True) for name, size in sizes.items()
    }


Program: TypeAlias = "Callable[[], T]"


def launch_cores(
    grid: Grid, schedule: Schedule, programs: Callable[[int], Sequence[Program[T]]], together: bool
) -> Iterator[list[T]]:
    """What the cores' programs of each block give: block after block, or of all at once."""
    blocks = range(grid.blocks)
    if together:
        yield schedule.run([one for block in blocks for one in _of_block(grid, block, programs)])
        return
    for block in blocks:
        yield schedule.run(_of_block(grid, block, programs))


def launch_ranks(
    launches: Iterable[tuple[Grid, Callable[[int], Sequence[Program[T]]]]], schedule: Schedule
) -> list[T]:
    """What the programs of all cores of all ranks give, which run at once."""
    every = [
        one
        for grid, programs in launches
        for block in range(grid.blocks)
        for one in _of_block(grid, block, programs)
    ]
    return schedule.run(every)


def _of_block(
    grid: Grid, block: int, programs: Callable[[int], Sequence[Program[T]]]
) -> list[tuple[str, Program[T]]]:
    """The programs of a block with the names of its cores."""
    places = zip(grid.of_block(block), programs(block), strict=True)
    return [(str(place), _noted(grid, place, one)) for place, one in places]


def _noted(grid: Grid, place: CorePlace, program: Program[T]) -> Program[T]:
    """The program, whose errors say on which core they happened."""

    def run() -> T:
        try:
            return program()
        except PtoError as problem:
            alone = grid.blocks == 1 and len(grid.kinds) == 1 and grid.rank is None
            raise (problem if alone else problem.noted(f"on {place}")) from None

    return run


def reaches(func: Func) -> bool:
    """Whether cores of several blocks wait for one another."""
    ops = (op for op in func.body.walk() if isinstance(op, Op) and SIGNALS in op.page.uses)
    return any(op.page.grid_wide(op.attrs) for op in ops)
