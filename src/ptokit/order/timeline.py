"""Timelines: the start and end time of each queue entry, and the event that it waited for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from itertools import zip_longest
from typing import TypeAlias

from ptokit.isa.model.targets import Target
from ptokit.machine.costs.chip import Direction
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.machine.costs.estimate import microseconds
from ptokit.order.entries import Await, Drain, PipeQueue, PipeWork, Post, QueueEntry
from ptokit.order.launchshape import LaunchShape, SharedMemory
from ptokit.records import dataclass

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
