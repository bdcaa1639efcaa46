"""Timelines: when each entry of the queues starts and ends, and what it waited for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import TypeAlias

from ptokit.isa.model.targets import Target
from ptokit.machine.costs.chip import Direction
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.machine.costs.estimate import microseconds
from ptokit.order.entries import Await, Drain, PipeQueue, PipeWork, Post, QueueEntry
from ptokit.order.launchshape import LaunchShape, SharedMemory

Place: TypeAlias = "tuple[str, int] | None"  # file and line; None of a program without text
Line: TypeAlias = "tuple[Place, str]"  # and the name of the instruction there
Event: TypeAlias = "tuple[int, TimedEntry | None]"  # a time, and what happens then
NEVER: Event = (0, None)  # what has nothing before it waits for nothing


@dataclass(frozen=True, slots=True, eq=False)
class TimedEntry:
    """An entry of a queue with its times, in cycles from the start of the launch.

    Its queue comes to it at `start`; at `ready` all that it waits for is there, `because` being
    what came last (None: it was there from the start); the queue goes on at `end`.
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
        """When its results are in memory."""
        return self.end

    @property
    def cycles(self) -> int:
        """How long it keeps its queue busy."""
        return self.end - self.ready

    @property
    def line(self) -> Line:
        """Where its instruction stands."""
        op = self.entry.op
        return None if op.span is None else (op.span.source.name, op.span.line), op.name


@dataclass(frozen=True, slots=True, eq=False)
class Bar(TimedEntry):
    """An instruction at work; it starts when it is ready."""

    entry: PipeWork
    cost: Cost

    @property
    def complete(self) -> int:
        return self.end + self.cost.tail


@dataclass(frozen=True, slots=True, eq=False)
class Posted(TimedEntry):
    """A flag that is set, or a signal."""

    entry: Post


@dataclass(frozen=True, slots=True, eq=False)
class Pause(TimedEntry):
    """A wait or a barrier; `posted` is the set that it waits for, the last of several."""

    entry: Await | Drain
    posted: Posted | None


@dataclass(frozen=True, slots=True, eq=False)
class Bubble:
    """Cycles in which a queue did nothing before an entry, because of one of another queue."""

    entry: TimedEntry
    cycles: int
    after: TimedEntry
    begin: int  # of the core

    @property
    def cause(self) -> TimedEntry:
        """The instruction that ended late; what it waited for itself if there is none."""
        found: TimedEntry | None = self.after
        while found is not None and not isinstance(found, Bar):
            found = found.because
        return found if found is not None and found.complete > self.begin else self.after


def latest(events: Iterable[Event]) -> Event:
    """Return the last of these events, the first of several at the same time."""
    return max(events, key=lambda event: event[0])


@dataclass
class LineTime:
    """What the instructions of one line cost, all iterations and cores together, in cycles."""

    place: Place
    name: str  # the mnemonic
    times: int = 0
    busy: int = 0
    waited: int = 0
    critical: int = 0  # of the critical path


@dataclass(frozen=True)
class Timeline:
    """The entries of a launch in an order in which they may take place.

    `by_data`: the program has no synchronisation at all, and each instruction waits for those
    before it that touch the same bytes, as a right synchronisation would make it. Its cores share
    global memory as `shared` says, which takes time in the directions that are `slower`. A core
    that waited for one of an earlier block begins when `begins` says, others at 0.
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
        """Of the whole launch."""
        return max((entry.complete for entry in self.entries), default=0)

    @property
    def microseconds(self) -> float:
        """Of the whole launch, by the clock of the target's cores."""
        return microseconds(self.cycles, self.target)

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        return tuple(e for e in self.entries if isinstance(e, Bar))

    @cached_property
    def pauses(self) -> tuple[Pause, ...]:
        return tuple(e for e in self.entries if isinstance(e, Pause))

    @cached_property
    def queues(self) -> dict[PipeQueue, tuple[TimedEntry, ...]]:
        """What each queue does, by core, the pipes of a core in the order of the manual."""
        found: dict[PipeQueue, list[TimedEntry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.queue].append(entry)
        pipes = list(type(next(iter(found)).pipe)) if found else []
        order = sorted(found, key=lambda queue: (queue.core, pipes.index(queue.pipe)))
        return {queue: tuple(found[queue]) for queue in order}

    @cached_property
    def busy(self) -> dict[PipeQueue, int]:
        """In how many cycles each queue is at work."""
        return {
            queue: sum(e.cycles for e in entries if isinstance(e, Bar))
            for queue, entries in self.queues.items()
        }

    @cached_property
    def critical(self) -> tuple[TimedEntry, ...]:
        """The critical path: entries of which each made the next one wait, up to the last."""
        found: list[TimedEntry] = []
        at = max(self.entries, key=lambda entry: entry.complete, default=None)
        while at is not None:
            found.append(at)
            at = at.because
        return tuple(reversed(found))

    @cached_property
    def bubbles(self) -> tuple[Bubble, ...]:
        """Where queues waited for one another, by queue."""
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
        """That are moved between memories."""
        return sum(bar.cost.bytes for bar in self.bars)

    @cached_property
    def flop(self) -> int:
        """Arithmetic operations on elements."""
        return sum(bar.cost.flop for bar in self.bars)

    def origins(self) -> dict[Origin, int]:
        """Cycles at work by where the figures are from, the most trustworthy first."""
        return {o: sum(b.cycles for b in self.bars if b.cost.source is o) for o in Origin}

    @cached_property
    def lines(self) -> tuple[LineTime, ...]:
        """What each line costs, in the order in which lines are first executed."""
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
