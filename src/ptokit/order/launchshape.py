"""The shape of a launch: how many of its blocks run concurrently and share global memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import FIX, MTE1, M
from ptokit.machine.costs.chip import Chip, Direction, chip_of, direction
from ptokit.machine.costs.cost import Cost, Origin, weakest
from ptokit.order.entries import Await, PipeWork, Post, QueueEntry
from ptokit.records import dataclass

OF_CUBE = {M, MTE1, FIX}
Cores = Sequence[Sequence[QueueEntry]]


@dataclass(frozen=True)
class LaunchShape:
    """The cores of each block, and the number of blocks that the chip runs concurrently."""

    blocks: tuple[tuple[int, ...], ...] = ()
    room: int = 1

    @property
    def waits(self) -> bool:
        """Return whether some blocks start only after others have ended."""
        return len(self.blocks) > self.room

    def at_once(self, cores: int) -> int:
        """Return how many of `cores` cores of the launch run concurrently."""
        return -(-cores * self.room // len(self.blocks)) if self.waits else cores


def shape_of_launch(cores: Cores, blocks: Sequence[int], target: Target) -> LaunchShape:
    """Return the shape: a block takes a vector core, or a cube core and its vector cores."""
    chip, of = chip_of(target), defaultdict[int, list[int]](list)
    for core, block in enumerate(blocks):
        of[block].append(core)
    at_work = max((sum(bool(cores[c]) for c in some) for some in of.values()), default=0)
    cube = any(entry.queue.pipe in OF_CUBE for entries in cores for entry in entries)
    room = chip.cube if cube or at_work > 1 else chip.vector
    return LaunchShape(tuple(tuple(some) for some in of.values()), room)


def first_across(cores: Cores, shape: LaunchShape) -> Await | None:
    """Return the first entry that waits for another block; None if blocks are independent."""
    block_of = {core: n for n, some in enumerate(shape.blocks) for core in some}
    posts = {e.ticket: block_of[c] for c, es in enumerate(cores) for e in es if isinstance(e, Post)}
    for core, entries in enumerate(cores):
        for entry in entries:
            if isinstance(entry, Await):
                others = (posts.get(ticket, block_of[core]) for ticket in entry.tickets)
                if any(other != block_of[core] for other in others):
                    return entry
    return None


@dataclass(frozen=True)
class SharedMemory:
    """The bandwidth of global memory in one direction for `cores` concurrent cores.

    Rates are bytes per cycle of all cores together: `memory` for the fraction `fresh` of the bytes,
    `cache` for the others, which come from the L2 cache.
    """

    cores: int
    memory: float
    cache: float
    fresh: float
    source: Origin

    @property
    def rate(self) -> float:
        """Return the bytes per cycle of all cores."""
        return 1 / (self.fresh / self.memory + (1 - self.fresh) / self.cache)

    @property
    def each(self) -> float:
        """Return the bytes per cycle of one core; all cores have the same share."""
        return self.rate / self.cores

    def cycles(self, alone: Cost) -> int:
        """Return the cycles of a transfer, at most as fast as alone and as the core's share."""
        parts = (self.fresh, self.memory), (1 - self.fresh, self.cache)
        share = alone.bytes * self.cores
        return int(sum(part * max(alone.cycles, share / rate) for part, rate in parts))


def shared_memory(
    works: Iterable[PipeWork],
    durations: Callable[[PipeWork], Cost],
    shape: LaunchShape,
    target: Target,
) -> dict[Direction, SharedMemory]:
    """Return how the cores of a launch share global memory, by direction.

    Bytes that the launch reads again come from the L2 cache, and its writes go to the cache, if the
    cache holds all of them.
    """
    moved: dict[Direction, int] = defaultdict(int)
    users: dict[Direction, set[int]] = defaultdict(set)
    distinct: dict[Direction, dict[object, int]] = defaultdict(dict)
    for work in works:
        found = durations(work)
        way = direction(found.path)
        if way is not None:
            regions = work.reads if way is Direction.READ else work.writes
            place = tuple(id(region) for region in regions if region.space.core is None)
            moved[way] += found.bytes
            users[way].add(work.queue.core)
            distinct[way][place or id(work)] = found.bytes
    chip = chip_of(target)
    return {
        way: _shared(chip, way, shape.at_once(len(users[way])), moved[way], sum(first.values()))
        for way, first in distinct.items()
    }


def _shared(chip: Chip, way: Direction, cores: int, moved: int, first: int) -> SharedMemory:
    """Return the shared bandwidth, given the number of cores and of bytes touched first."""
    if first > chip.cached or (way is Direction.READ and moved == first):
        return SharedMemory(cores, chip.memory[way], chip.cache[way], 1, chip.source)
    fresh = first / moved if way is Direction.READ and moved else 0
    return SharedMemory(cores, chip.memory[way], chip.cache[way], fresh, Origin.ESTIMATED)


@lru_cache(maxsize=1 << 12)
def slowed(cost: Cost, shared: SharedMemory) -> Cost:
    """Return the cost of a transfer, limited by the core's share of the bandwidth."""
    cycles = shared.cycles(cost)
    if cycles <= cost.cycles:
        return cost
    return replace(cost, cycles=cycles, source=weakest(cost.source, shared.source))


@dataclass
class SharedDurations:
    """The costs of instructions whose transfers share global memory.

    `slower` collects the directions in which sharing made a transfer slower.
    """

    durations: Callable[[PipeWork], Cost]
    shared: Mapping[Direction, SharedMemory]
    slower: set[Direction]

    def __call__(self, work: PipeWork) -> Cost:
        alone = self.durations(work)
        way = direction(alone.path)
        if way is None or way not in self.shared:
            return alone
        found = slowed(alone, self.shared[way])
        if found.cycles > alone.cycles:
            self.slower.add(way)
        return found


def all_work(cores: Cores) -> Iterable[PipeWork]:
    """Yield the instructions of all cores."""
    return (entry for entries in cores for entry in entries if isinstance(entry, PipeWork))
