"""The times of queue entries: from costs, from data dependences, and of vector functions.

In a program without flags the bytes that entries access order them. Dependences follow program
order; queues take their entries in another order: an instruction may stand in its queue behind a
waiting pop while other queues go on. Instructions of a vector function start in order and are
executed when they can be.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from typing import TypeAlias

from ptokit.ir.module import Op
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import RegisterType, TileType
from ptokit.isa.model.words import Pipe, V
from ptokit.machine.costs.cost import Cost
from ptokit.machine.costs.estimate import barrier_cycles, cost, issue_cycles
from ptokit.machine.costs.figures import figures, file_of, origin
from ptokit.machine.costs.lanecosts import COMPUTE, LOAD, STORE, Ports, PortUse, registers_of, slots
from ptokit.order.fifoend import is_slot
from ptokit.order.footprints import ByteRegion, ByteRegions
from ptokit.order.timeline import (
    NEVER,
    Bar,
    Event,
    LaunchShape,
    Pause,
    Posted,
    SharedDurations,
    TimedEntry,
    Timeline,
    all_work,
    latest,
    shape_of_launch,
    shared_memory,
)
from ptokit.order.waiting import (
    Await,
    BufferChannel,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeQueues,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)


def vector_costs(cores: Iterable[Sequence[QueueEntry]], target: Target) -> dict[PipeWork, Cost]:
    """Return the cost of each instruction of a vector function: its part of the function's time.

    The first one has the start of the function, the last one its end. Nothing for a target without
    figures of such instructions.
    """
    if "lanes" not in figures(file_of(target)):
        return {}
    found = dict[PipeWork, Cost]()
    for core in cores:
        works = (e for e in core if isinstance(e, PipeWork) and e.queue.pipe is V)
        for function, entries in groupby(works, lambda work: work.function):
            if function[0]:
                found |= _costs([*entries], file_of(target))
    return found


def _costs(entries: Sequence[PipeWork], file: str) -> Iterator[tuple[PipeWork, Cost]]:
    """Yield the costs of the instructions of one vector function."""
    tables = figures(file)
    unit, lanes = tables["function"], tables["lanes"]
    ports, known = Ports(file), dict[ByteRegion, int]()
    done = 0  # cycles until all instructions so far are complete
    last = entries[-1]
    starts = _dispatched(entries, lanes["dispatch"], lanes["outer"])
    for number, (entry, dispatched) in enumerate(zip(entries, starts, strict=True)):
        taken = _slot(entry, file)
        ready = max([dispatched, *(known.get(region, 0) for region in entry.reads)])
        start = ports.take(taken.port, ready, taken.interval)
        known |= dict.fromkeys(entry.writes, start + taken.known)
        before, done = done, max(done, start + taken.latency)
        cycles = done - before + (unit["startup"] if number == 0 else 0)
        cycles += unit["drain"] if entry is last else 0
        yield entry, Cost(cycles, origin(lanes), flop=_elements(entry) if taken.computes else 0)


def _dispatched(entries: Sequence[PipeWork], width: int, outer: int) -> Iterator[int]:
    """Yield the cycle at which each instruction is dispatched.

    `width` are dispatched in a cycle; iterations of a loop around another one begin `outer` cycles
    apart.
    """
    number = begun = 0
    around = entries[0].iteration[:-1]
    for entry in entries:
        if entry.iteration[:-1] != around and len(entry.iteration) > 1:
            around = entry.iteration[:-1]
            number = begun = max(number, begun + outer * width)
        yield number // width
        number += 1


def _slot(entry: PipeWork, file: str) -> PortUse:
    """Return the slot of an instruction: one that reads or writes the buffer loads or stores."""
    op = entry.op
    assert isinstance(op, Op), "an op that is not known is not executed"
    kinds = [kind for _, kind in entry.operands if isinstance(kind, TileType)]
    registers = [kind for kind in kinds if isinstance(kind, RegisterType)]
    of_masks = bool(registers) and all(kind.word == "mask" for kind in registers)
    port = COMPUTE
    if any(not _in_registers(region) for region in (*entry.reads, *entry.writes)):
        port = STORE if any(not _in_registers(region) for region in entry.writes) else LOAD
    dtype, count = (registers or kinds)[0].dtype, registers_of(registers)
    return slots(op.page, port, dtype, of_masks, file, count)


def _in_registers(region: ByteRegion) -> bool:
    return region.space.name == "VF"


def _elements(entry: PipeWork) -> int:
    return max(kind.cols for _, kind in entry.operands if isinstance(kind, TileType))


Last: TypeAlias = "dict[PipeQueue, QueueEntry]"  # the newest entry of each queue


class _Accesses:
    """The last accesses to each region by core, of issued entries and of entries with times."""

    def __init__(self) -> None:
        self.issued: defaultdict[tuple[ByteRegion, int], Last] = defaultdict(dict)
        self.complete: dict[tuple[ByteRegion, int], Event] = {}

    def note(self, regions: Iterable[ByteRegion], timed: TimedEntry) -> None:
        """Record when the latest access to each region by this entry's core is complete."""
        for region in regions:
            key = region, timed.queue.core
            event = timed.complete, timed
            self.complete[key] = latest([event, self.complete.get(key, NEVER)])


class DataOrder:
    """The dependences of each entry on earlier entries of its core, with their end times.

    An instruction waits for earlier accesses to the same bytes if one of the two writes. The signal
    that frees a FIFO slot waits for all users of the slot. Other signals between cores wait for
    accesses to bytes that several cores exchange; accesses to such bytes wait for the signals that
    their core awaited earlier.
    """

    def __init__(self, cores: Sequence[Sequence[QueueEntry]], regions: ByteRegions) -> None:
        works = [e for entries in cores for e in entries if isinstance(e, PipeWork)]
        for region in (region for work in works for region in work.writes):
            regions.write(region)
        self.exchanged = _exchanged(works)
        self.reads, self.writes = _Accesses(), _Accesses()
        self.exchanges: defaultdict[int, Last] = defaultdict(dict)
        self.awaited: defaultdict[int, Last] = defaultdict(dict)
        self.before: dict[QueueEntry, list[QueueEntry]] = {}
        self.timed: dict[QueueEntry, TimedEntry] = {}

    def missing(self, entry: QueueEntry) -> QueueEntry | None:
        """Return a dependence of `entry` that has no times yet; call first in program order."""
        if entry not in self.before:
            self.before[entry] = [*self._before(entry)]
        return next((one for one in self.before[entry] if one not in self.timed), None)

    def _before(self, entry: QueueEntry) -> Iterator[QueueEntry]:
        core, queue = entry.queue.core, entry.queue
        if isinstance(entry, PipeWork):
            for some, region in self._conflicting(entry):
                yield from some.issued.get((region, core), {}).values()
            for some, regions in ((self.reads, entry.reads), (self.writes, entry.writes)):
                for region in regions:
                    some.issued[region, core][queue] = entry
            if not self.exchanged.isdisjoint((*entry.reads, *entry.writes)):
                yield from self.awaited[core].values()
                self.exchanges[core][queue] = entry
        elif isinstance(entry, Post) and not isinstance(entry.ticket.channel, FlagChannel):
            yield from self.exchanges[core].values()
            for region in entry.slots:
                for some in (self.reads, self.writes):
                    yield from some.issued.get((region, core), {}).values()
        elif isinstance(entry, Await):
            self.awaited[core][queue] = entry

    def _conflicting(self, work: PipeWork) -> Iterator[tuple[_Accesses, ByteRegion]]:
        """Yield the tables and regions whose earlier accesses conflict with `work`."""
        for region in work.reads:
            for other in (region, *region.near):
                yield self.writes, other
        for region in work.writes:
            for other in (region, *region.near):
                yield self.writes, other
                yield self.reads, other

    def events(self, entry: QueueEntry) -> Iterator[Event]:
        """Yield the completion of each dependence of `entry`; all of them have times."""
        for one in self.before[entry]:
            timed = self.timed[one]
            yield timed.complete, timed
        if isinstance(entry, PipeWork):  # later work on these bytes waits for this one
            for some, region in self._conflicting(entry):
                yield some.complete.get((region, entry.queue.core), NEVER)

    def taken(self, timed: TimedEntry) -> None:
        """Enter an entry that has its times."""
        entry = timed.entry
        self.timed[entry] = timed
        if isinstance(entry, PipeWork):
            self.reads.note(entry.reads, timed)
            self.writes.note(entry.writes, timed)


def _exchanged(works: Sequence[PipeWork]) -> set[ByteRegion]:
    """Return the global regions, except slots, that one core writes and another accesses."""
    cores: defaultdict[ByteRegion, set[int]] = defaultdict(set)
    for work in works:
        for region in (*work.reads, *work.writes):
            if region.space.core is None and not is_slot(region.space):
                cores[region].add(work.queue.core)
    return {
        region
        for region, some in cores.items()
        if (region.written or region.near)
        and len(some.union(*(cores[other] for other in region.near if other in cores))) > 1
    }


Durations: TypeAlias = Callable[[PipeWork], Cost]


@dataclass(slots=True)
class _QueueTimes:
    """The times at which a queue takes its next entry and has completed all entries."""

    free: Event = NEVER
    complete: Event = NEVER

    def took(self, entry: TimedEntry) -> None:
        self.free = entry.end, entry
        self.complete = latest([(entry.complete, entry), self.complete])


class Scheduler:
    """A visitor that gives entries their times; `predicted` is the entry point.

    The first instruction of an idle queue pays the head of its cost. A flag or a barrier of the
    queue waits for the tail, and keeps the queue busy for `issue` or `barrier` cycles.
    """

    def __init__(
        self, durations: Durations, issue: int, barrier: int, order: DataOrder | None
    ) -> None:
        self.durations, self.order = durations, order
        self.issue, self.barrier = issue, barrier
        self.times: dict[PipeQueue, _QueueTimes] = {}
        self.issued_at: dict[PipeQueue, deque[Event]] = {}
        self.posts: dict[Ticket, Posted] = {}
        self.entries: list[TimedEntry] = []

    def begin(self, core: int, after: Event) -> None:
        """Start a core after the event `after`."""
        times = self._times(PipeQueue(core, Pipe.S))
        times.free = times.complete = after

    def ended(self, cores: Iterable[int]) -> Event:
        """Return the event at which all entries of these cores are complete."""
        every = (self._times(PipeQueue(core, pipe)) for core in cores for pipe in Pipe)
        return latest([NEVER, *(times.complete for times in every)])

    def issued(self, entry: QueueEntry) -> None:
        """Note when the scalar unit issues the entry: after all its own earlier entries."""
        scalar = self._times(PipeQueue(entry.queue.core, Pipe.S))
        self.issued_at.setdefault(entry.queue, deque()).append(scalar.free)

    def taken(self, entry: QueueEntry) -> None:
        queue, issued = self._times(entry.queue), self.issued_at[entry.queue].popleft()
        if isinstance(entry, PipeWork):
            timed = self._work(entry, queue, issued)
        elif isinstance(entry, Post):
            timed = self._post(entry, queue, issued)
        else:
            assert isinstance(entry, Await | Drain), "no other kind of entry"
            timed = self._pause(entry, queue, issued)
        queue.took(timed)
        self.entries.append(timed)
        if self.order is not None:
            self.order.taken(timed)

    def before(self, entry: QueueEntry) -> QueueEntry | None:
        """Return a data dependence of the entry that has no times yet."""
        return None if self.order is None else self.order.missing(entry)

    def _data(self, entry: QueueEntry) -> Iterable[Event]:
        """Return the completions of the data dependences of the entry."""
        return () if self.order is None else self.order.events(entry)

    def _times(self, queue: PipeQueue) -> _QueueTimes:
        return self.times.setdefault(queue, _QueueTimes())

    def _work(self, entry: PipeWork, queue: _QueueTimes, issued: Event) -> Bar:
        found, (free, last) = self.durations(entry), queue.free
        start, because = latest([queue.free, issued, *self._data(entry)])
        follows = isinstance(last, Bar) and start == free
        end = start + found.cycles + (0 if follows else found.head)
        return Bar(entry, start, start, end, because, found)

    def _post(self, entry: Post, queue: _QueueTimes, issued: Event) -> Posted:
        start, _ = latest([queue.free, issued])
        ready, because = latest([queue.complete, issued, *self._data(entry)])
        posted = Posted(entry, start, ready, ready + self.issue, because)
        self.posts[entry.ticket] = posted
        return posted

    def _pause(self, entry: Await | Drain, queue: _QueueTimes, issued: Event) -> Pause:
        events, posted = [queue.complete, issued], None
        if isinstance(entry, Await):
            posts = [self.posts[ticket] for ticket in entry.tickets]
            posted = max(posts, key=lambda post: post.end, default=None)
            events += [(post.end, post) for post in posts]
        elif entry.every:
            core = entry.queue.core
            events += [times.complete for key, times in self.times.items() if key.core == core]
        start, _ = latest([queue.free, issued])
        ready, because = latest(events)
        end = ready + (self.issue if isinstance(entry, Await) else self.barrier)
        return Pause(entry, start, ready, end, because, posted)


def durations_on(target: Target) -> Durations:
    """Return the cost function of a target; ValueError if no figures are published."""

    def duration(entry: PipeWork) -> Cost:
        op = entry.op
        assert isinstance(op, Op), "an op that is not known is not executed"
        return cost(op.page, op.attrs, dict(entry.operands), entry.queue.pipe, target)

    return duration


def _with_functions(cores: Sequence[Sequence[QueueEntry]], target: Target) -> Durations:
    """Return the cost function of a target for these cores with their vector functions."""
    alone, within = durations_on(target), vector_costs(cores, target)
    return lambda entry: within[entry] if entry in within else alone(entry)


def _orders(entry: QueueEntry) -> bool:
    """Return whether the entry orders the pipes of a core; signals between cores do not."""
    if isinstance(entry, Post):
        return isinstance(entry.ticket.channel, FlagChannel | BufferChannel)
    return isinstance(entry, Drain)


def predicted(
    cores: Sequence[Sequence[QueueEntry]],
    target: Target,
    regions: ByteRegions,
    durations: Durations | None = None,
    blocks: Sequence[int] | None = None,
) -> tuple[Timeline, list[QueueEntry]]:
    """Return the timeline of these cores, and the entries that wait forever.

    `blocks` has the block of each core, by default a single one. If the chip cannot run all blocks
    concurrently, each further block starts when one has ended. `durations` replaces the figures of
    the target; flags and barriers then take no time. ValueError if the target has no figures.
    """
    by_data = not any(_orders(entry) for entries in cores for entry in entries)
    issue, barrier = (issue_cycles(target), barrier_cycles(target)) if durations is None else (0, 0)
    order = DataOrder(cores, regions) if by_data else None
    alone = durations or _with_functions(cores, target)
    shape = shape_of_launch(cores, blocks or [0] * len(cores), target)
    shared = shared_memory(all_work(cores), alone, shape, target) if len(cores) > 1 else {}
    costs = SharedDurations(alone, shared, set())
    scheduler = Scheduler(costs, issue, barrier, order)
    begins: dict[int, int] = {}
    if shape.waits:
        stuck, begins = _in_turn(cores, shape, scheduler)
    else:
        stuck = PipeQueues(cores, scheduler, scheduler.before).run()
    entries, slower = tuple(scheduler.entries), frozenset(costs.slower)
    return Timeline(target, entries, by_data, shape, shared, slower, begins), stuck


def _in_turn(
    cores: Sequence[Sequence[QueueEntry]], shape: LaunchShape, scheduler: Scheduler
) -> tuple[list[QueueEntry], dict[int, int]]:
    """Schedule blocks as room becomes free; return stuck entries and the start of each core."""
    free: list[tuple[int, int, Event]] = [(0, place, (0, None)) for place in range(shape.room)]
    stuck: list[QueueEntry] = []
    begins: dict[int, int] = {}
    for block in shape.blocks:
        time, place, after = heappop(free)
        for core in block:
            begins[core] = time
            scheduler.begin(core, after)
        own = [cores[core] for core in block]
        stuck += PipeQueues(own, scheduler, scheduler.before).run()
        end = scheduler.ended(block)
        heappush(free, (end[0], place, end))
    return stuck, begins
