"""Timelines: when queue entries start and end and why, how blocks share the chip, lifetimes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import TypeAlias

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import FIX, MTE1, M
from ptokit.machine.costs.chip import Chip, Direction, chip_of, direction
from ptokit.machine.costs.cost import Cost, Origin, weakest
from ptokit.machine.costs.estimate import microseconds
from ptokit.order.footprints import ByteRegion, ByteRegions
from ptokit.order.waiting import Await, Drain, PipeQueue, PipeWork, Post, QueueEntry

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


Place: TypeAlias = "tuple[str, int] | None"  # file and line; None for a program without text
Line: TypeAlias = "tuple[Place, str]"  # a place and the name of its instruction
Event: TypeAlias = "tuple[int, TimedEntry | None]"  # a time, and the entry that ends then
NEVER: Event = (0, None)  # the event of an entry that waits for nothing


@dataclass(frozen=True, slots=True, eq=False)
class TimedEntry:
    """An entry of a queue with its times, in cycles from the start of the launch.

    The queue reaches the entry at `start`. All that the entry waits for is complete at `ready`;
    `because` is the last of these (None: nothing). The queue goes on at `end`.
    """

    entry: QueueEntry
    start: int
    ready: int
    end: int
    because: TimedEntry | None = field(repr=False)

    @property
    def queue(self) -> PipeQueue:
        return self.entry.queue

    @property
    def complete(self) -> int:
        """Return the time when its results are in memory."""
        return self.end

    @property
    def cycles(self) -> int:
        """Return the cycles for which the entry keeps its queue busy."""
        return self.end - self.ready

    @property
    def line(self) -> Line:
        """Return the place and the name of its instruction."""
        op = self.entry.op
        return None if op.span is None else (op.span.source.name, op.span.line), op.name


@dataclass(frozen=True, slots=True, eq=False)
class Bar(TimedEntry):
    """An executing instruction, which starts when it is ready."""

    entry: PipeWork
    cost: Cost

    @property
    def complete(self) -> int:
        return self.end + self.cost.tail


@dataclass(frozen=True, slots=True, eq=False)
class Posted(TimedEntry):
    """A set of a flag, or a signal."""

    entry: Post


@dataclass(frozen=True, slots=True, eq=False)
class Pause(TimedEntry):
    """A wait or a barrier; `posted` is the last set that it waits for."""

    entry: Await | Drain
    posted: Posted | None


@dataclass(frozen=True, slots=True, eq=False)
class Bubble:
    """Idle cycles of a queue before an entry, caused by an entry of another queue."""

    entry: TimedEntry
    cycles: int
    after: TimedEntry
    begin: int  # the start of the core

    @property
    def cause(self) -> TimedEntry:
        """Return the late instruction, or the direct cause if no instruction is late."""
        found: TimedEntry | None = self.after
        while found is not None and not isinstance(found, Bar):
            found = found.because
        return found if found is not None and found.complete > self.begin else self.after


def latest(events: Iterable[Event]) -> Event:
    """Return the last of these events; the first of several at the same time."""
    return max(events, key=lambda event: event[0])


@dataclass
class LineTime:
    """The cost of the instructions of one line in cycles, summed over iterations and cores."""

    place: Place
    name: str  # the mnemonic
    times: int = 0
    busy: int = 0
    waited: int = 0
    critical: int = 0  # cycles on the critical path


@dataclass(frozen=True)
class Timeline:
    """The entries of a launch in a possible execution order.

    `by_data`: the program has no synchronisation, and each instruction waits for earlier
    conflicting accesses, as correct synchronisation would make it. `shared` is the bandwidth that
    the cores share, which costs time in the directions `slower`. A core that waited for an earlier
    block starts at `begins`, other cores at 0.
    """

    target: Target
    entries: tuple[TimedEntry, ...] = field(repr=False)
    by_data: bool = False
    shape: LaunchShape = field(default=LaunchShape(), repr=False)
    shared: Mapping[Direction, SharedMemory] = field(default_factory=lambda: {}, repr=False)
    slower: frozenset[Direction] = frozenset()
    begins: Mapping[int, int] = field(default_factory=dict[int, int], repr=False)

    @cached_property
    def cycles(self) -> int:
        """Return the cycles of the whole launch."""
        return max((entry.complete for entry in self.entries), default=0)

    @property
    def microseconds(self) -> float:
        """Return the time of the whole launch, by the clock of the target's cores."""
        return microseconds(self.cycles, self.target)

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        return tuple(e for e in self.entries if isinstance(e, Bar))

    @cached_property
    def pauses(self) -> tuple[Pause, ...]:
        return tuple(e for e in self.entries if isinstance(e, Pause))

    @cached_property
    def queues(self) -> dict[PipeQueue, tuple[TimedEntry, ...]]:
        """Return the entries of each queue, by core, pipes in the order of the manual."""
        found: dict[PipeQueue, list[TimedEntry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.queue].append(entry)
        pipes = list(type(next(iter(found)).pipe)) if found else []
        order = sorted(found, key=lambda queue: (queue.core, pipes.index(queue.pipe)))
        return {queue: tuple(found[queue]) for queue in order}

    @cached_property
    def busy(self) -> dict[PipeQueue, int]:
        """Return the cycles in which each queue executes instructions."""
        return {
            queue: sum(e.cycles for e in entries if isinstance(e, Bar))
            for queue, entries in self.queues.items()
        }

    @cached_property
    def critical(self) -> tuple[TimedEntry, ...]:
        """Return the critical path: entries that each delay the next one, up to the last."""
        found: list[TimedEntry] = []
        at = max(self.entries, key=lambda entry: entry.complete, default=None)
        while at is not None:
            found.append(at)
            at = at.because
        return tuple(reversed(found))

    @cached_property
    def bubbles(self) -> tuple[Bubble, ...]:
        """Return the idle cycles in which queues waited for other queues."""
        found: list[Bubble] = []
        for queue, entries in self.queues.items():
            free = begin = self.begins.get(queue.core, 0)
            for entry in entries:
                after = entry.because
                if entry.ready > free and after is not None and after.queue != queue:
                    found.append(Bubble(entry, entry.ready - free, after, begin))
                free = entry.end
        return tuple(found)

    @cached_property
    def bytes(self) -> int:
        """Return the number of bytes moved between memories."""
        return sum(bar.cost.bytes for bar in self.bars)

    @cached_property
    def flop(self) -> int:
        """Return the number of arithmetic operations on elements."""
        return sum(bar.cost.flop for bar in self.bars)

    def origins(self) -> dict[Origin, int]:
        """Return the busy cycles by source of the figures, the most reliable source first."""
        return {o: sum(b.cycles for b in self.bars if b.cost.source is o) for o in Origin}

    @cached_property
    def lines(self) -> tuple[LineTime, ...]:
        """Return the cost of each line, in order of first execution."""
        found: dict[Line, LineTime] = {}
        for entry in self.entries:
            row = found.setdefault(entry.line, LineTime(*entry.line))
            row.times += 1
            row.busy += entry.cycles if isinstance(entry, Bar) else 0
        for bubble in self.bubbles:
            found[bubble.entry.line].waited += bubble.cycles
        for entry, after in zip_longest(self.critical, self.critical[1:]):
            until = self.cycles if after is None else after.ready
            found[entry.line].critical += until - entry.ready
        return tuple(found.values())


@dataclass(slots=True, eq=False)
class Lifetime:
    """A value in a region, from the instruction that writes it to the end of its last reader.

    Times are in cycles. A value without a reader ends with its writer; an instruction that updates
    the region in place extends the lifetime.
    """

    region: ByteRegion
    writer: Bar
    end: int

    @property
    def start(self) -> int:
        return self.writer.start


def lifetimes(timeline: Timeline, regions: ByteRegions) -> list[Lifetime]:
    """Return the lifetimes in all memories of cores, in order of the writes."""
    for region in (region for bar in timeline.bars for region in bar.entry.writes):
        regions.write(region)
    found: list[Lifetime] = []
    live: dict[ByteRegion, Lifetime] = {}
    for bar in sorted(timeline.bars, key=lambda bar: bar.start):
        for region in _of_core(bar.entry.reads):
            for other in (region, *region.near):
                if other in live:
                    live[other].end = max(live[other].end, bar.complete)
        for region in _of_core(bar.entry.writes):
            if region in bar.entry.reads and region in live:
                continue  # it is written in place
            for other in (region, *region.near):
                if _covers(region, other):
                    live.pop(other, None)
            live[region] = Lifetime(region, bar, bar.complete)
            found.append(live[region])
    return found


def _of_core(regions: tuple[ByteRegion, ...]) -> Iterator[ByteRegion]:
    return (region for region in regions if region.space.core is not None)


def _covers(region: ByteRegion, other: ByteRegion) -> bool:
    """Return whether writing `region` overwrites all of `other`."""
    one = len(region.ranges) == 1
    return other is region or (one and region.start <= other.start and other.stop <= region.stop)
