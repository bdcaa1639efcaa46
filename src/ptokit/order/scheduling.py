"""The times of queue entries, computed from the costs of instructions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

from ptokit.ir.module import Op
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.machine.costs.cost import Cost
from ptokit.machine.costs.estimate import barrier_cycles, cost, issue_cycles
from ptokit.order.byteregions import ByteRegions
from ptokit.order.dataorder import DataOrder
from ptokit.order.entries import (
    Await,
    BufferChannel,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)
from ptokit.order.launchshape import (
    LaunchShape,
    SharedDurations,
    all_work,
    shape_of_launch,
    shared_memory,
)
from ptokit.order.pipequeues import PipeQueues
from ptokit.order.timeline import NEVER, Bar, Event, Pause, Posted, TimedEntry, Timeline, latest
from ptokit.order.vectorscopes import vector_costs
from ptokit.records import dataclass

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
