"""The cores of a block, a cube core and its vector cores or a single core, and their memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from ptokit.analysis.facts import facts_of
from ptokit.analysis.fifos import KernelFifos, kernel_fifos
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.ir.module import Func, Op
from ptokit.isa.lang.traits import ALLOCATES, MADE, SIGNALLING, SIGNALS
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.machine.arguments import Bound, Launch
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options
from ptokit.machine.memory import Memory
from ptokit.machine.tile import Pointer
from ptokit.order.fifoend import COUNTERS, SLOTS
from ptokit.order.schedule import Schedule
from ptokit.order.signalcounters import SIGNALS_MEMORY, CoreSignals, SignalBoard, SignalCells
from ptokit.values.enumerations import BUFFERS, MAT, VEC
from ptokit.values.fixpipe import FixPipe

T = TypeVar("T")


class GroupedCore(Core):
    """A core that runs concurrently with others: its FIFO ends, signals and schedule."""

    def __init__(
        self,
        target: Target,
        fixpipe: FixPipe,
        place: CorePlace,
        grid: Grid,
        board: SignalBoard,
    ) -> None:
        super().__init__(target, fixpipe, place.block, grid.blocks)
        self.kind, self.subblock_idx, self.lanes = place.kind, place.lane, grid.fifos.lanes
        self.place, self.clock, self.grid, self.board = place, board.clock(place), grid, board
        self.ends, self.schedule = grid.fifos.ends[place.kind], board.schedule
        self.opened: dict[str, Pointer] = {}

    @property
    def signals(self) -> CoreSignals:
        """Return the signals between cores for the reference engine."""
        return CoreSignals(self.board, self.place, self.grid.separate, self.target.most_signals)

    def enter(self, block: int) -> None:
        """Start another block on this core."""
        if block != self.place.block:
            self.place = self.place._replace(block=block)
        self.block_idx = block
        self.opened.clear()


SHARED = frozenset(SPACES[loc] for loc in (*BUFFERS, MAT))


def share_buffers(cores: Sequence[GroupedCore]) -> None:
    """Let the cube core of a block access the buffers of its vector cores, and those L1."""
    cubes, vectors = ([c for c in cores if c.kind is kind] for kind in (CUBE, VECTOR))
    if cubes and vectors and cubes[0].grid.shares:
        for loc, core in zip(BUFFERS, vectors, strict=False):
            cubes[0].shared[SPACES[loc]] = core.space(VEC).named(SPACES[loc])
            core.shared[SPACES[MAT]] = cubes[0].space(MAT)


@dataclass(frozen=True)
class Grid:
    """The cores of a launch, of one kind or both, and the FIFOs between the cores of a block.

    `together`: cores of several blocks or ranks wait for each other. `rank`: the rank of the launch
    in a job with several. `signals`: cores use signals besides FIFOs. `polls`: cores wait for
    numbers in memory. `separate`: each vector core has its own signals at the cube.
    `shares`: the cube accesses the buffers of its vector cores, or these access L1.
    """

    kinds: Sequence[KernelKind]
    fifos: KernelFifos
    blocks: int
    rank: int | None
    together: bool
    signals: bool
    polls: bool
    separate: bool
    shares: bool

    @classmethod
    def of(cls, launch: Launch, how: Options, rank: int = 0) -> Grid:
        """Return the cores of a rank, by kind, in the order in which they start."""
        bound, target = launch.ranks[rank], how.target
        funcs = {kind: one.func for kind, one in bound.items()}
        kinds = tuple(kind for kind in (CUBE, VECTOR) if kind in funcs)
        signals = [op for func in funcs.values() for op in _signals(func)]
        number = rank if launch.names else None
        together = number is not None or any(op.page.grid_wide(op.attrs) for op in signals)
        polls = any(SIGNALLING in op.page.traits and not op.page.outs() for op in signals)
        separate = target.separate or _names_second(bound, target)
        given = bool(signals), polls, separate, any(_reaches_out(*one) for one in funcs.items())
        return cls(kinds, kernel_fifos(funcs), how.blocks, number, together, *given)

    @property
    def alone(self) -> bool:
        """Return whether the launch has a single core, so that errors need not name the core."""
        return self.blocks == 1 and len(self.kinds) == 1 and self.rank is None

    @cached_property
    def cells(self) -> SignalCells:
        """Return the layout of the signal counters in compiled programs."""
        return SignalCells(*(self._cores_of(kind) for kind in (CUBE, VECTOR)))

    def _cores_of(self, kind: KernelKind) -> int:
        """Return the number of cores of a kind per block."""
        return (self.fifos.lanes if kind is VECTOR else 1) if kind in self.kinds else 0

    def of_block(self, block: int) -> Iterator[CorePlace]:
        for kind in self.kinds:
            lanes = range(self._cores_of(kind))
            yield from (CorePlace(block, kind, lane, self.rank) for lane in lanes)

    def __iter__(self) -> Iterator[CorePlace]:
        for block in range(self.blocks):
            yield from self.of_block(block)

    def shared_memories(self) -> dict[str, Memory]:
        """Return the zeroed counters and the slots that the cores of a block share."""
        found = self.fifos
        sizes = {COUNTERS: 8 * max(found.counters, 1), SLOTS: max(found.nbytes, 1)}
        try:
            made = {n: np.zeros(size, np.uint8) for n, size in sizes.items()}
        except (MemoryError, ValueError):  # or more than any array has
            seen = f"the slots of all FIFOs need {found.nbytes} bytes"
            help = "use fewer or smaller slots"
            raise error("out-of-memory", "out of memory for FIFOs", seen=seen, help=help) from None
        return {n: Memory(n, array, written=True) for n, array in made.items()}

    def signal_memory(self) -> Memory:
        """Return zeroed signal counters for all blocks if these run concurrently, else for one."""
        size = self.cells.size(self.blocks if self.together else 1) if self.signals else 1
        return Memory(SIGNALS_MEMORY, np.zeros(8 * size, np.uint8), written=True)


Program: TypeAlias = "Callable[[], T]"


def launch_cores(
    launches: Sequence[tuple[Grid, Callable[[int], Sequence[Program[T]]]]], schedule: Schedule
) -> Iterator[list[T]]:
    """Yield the results of the core programs: block after block, or all blocks at once.

    The programs of several ranks run concurrently.
    """
    first, _ = launches[0]
    blocks = range(first.blocks)
    for some in [blocks] if first.together else [range(n, n + 1) for n in blocks]:
        every = ((*one, block) for one in launches for block in some)
        yield schedule.run([p for grid, of, block in every for p in _of_block(grid, block, of)])


def _of_block(
    grid: Grid, block: int, programs: Callable[[int], Sequence[Program[T]]]
) -> list[tuple[str, Program[T]]]:
    """Return the programs of a block with the names of its cores."""
    places = zip(grid.of_block(block), programs(block), strict=True)
    return [(str(place), _noted(grid, place, one)) for place, one in places]


def problem_on(grid: Grid, place: CorePlace, problem: PtoError) -> PtoError:
    """Return the error with the name of the core, if the launch has several."""
    return problem if grid.alone else problem.noted(f"on {place}")


def _noted(grid: Grid, place: CorePlace, program: Program[T]) -> Program[T]:
    """Return a program whose errors name the core."""

    def run() -> T:
        try:
            return program()
        except PtoError as problem:
            raise problem_on(grid, place, problem) from None

    return run


def _reaches_out(kind: KernelKind, func: Func) -> bool:
    """Return whether a core of this kind places bytes in a buffer of the other kind."""
    others = BUFFERS if kind is CUBE else (MAT,)
    ops = (op for op in func.ops if isinstance(op, Op))
    placed = (op for op in ops if {MADE, ALLOCATES} <= {*op.page.traits})
    types = (op.results[0].type for op in placed)
    return any(isinstance(kind, TileType) and kind.loc in others for kind in types)


def _signals(func: Func | None) -> Iterator[Op]:
    """Yield the signal operations of a function; FIFO operations are not included."""
    ops = (op for op in (func.ops if func else ()) if isinstance(op, Op))
    return (op for op in ops if SIGNALS in op.page.uses)


def _names_second(bound: Mapping[KernelKind, Bound], target: Target) -> bool:
    """Return whether the cube signals the second vector core alone, by its own numbers."""
    cube = bound.get(CUBE)
    signals = [op for op in _signals(cube.func if cube else None) if op.page.of_one_core]
    if cube is None or not signals:
        return False
    facts = facts_of(cube.func).on(target, cube.numbers).known
    return any(op.page.names_second({**op.attrs, **facts.environment(op)}) for op in signals)
