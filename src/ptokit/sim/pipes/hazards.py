"""Hazards: accesses to the same bytes that the order of the pipes does not separate (C3.6).

Every queue has a clock: of each queue the newest entry that is complete before its own next entry
starts. A ticket carries the clock of the queue that posts it. Two accesses, one of them a write,
are a hazard if the second may start before the first is complete, or takes place first although it
comes later in the program.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.sim.pipes.byteregions import ByteRegion, ByteRegions
from ptokit.sim.pipes.entries import (
    Await,
    Channel,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)
from ptokit.sim.pipes.pipequeues import PipeQueues

PIPES = [*Pipe]
LANES = len(PIPES)
Clock: TypeAlias = "list[int]"  # by lane: the number of an entry of its queue


class HazardKind(Enum):
    """How two accesses to the same bytes depend on one another, in program order."""

    RAW = "read after write"
    WAR = "write after read"
    WAW = "write after write"


@dataclass(frozen=True)
class Hazard:
    """Two instructions that nothing separates, the first in program order first."""

    kind: HazardKind
    first: PipeWork
    second: PipeWork
    bytes: tuple[str, int, int]  # the memory, and which of its bytes
    inverted: bool = False  # ordered, but the other way round
    times: int = 1


@dataclass
class Findings:
    """What is wrong with the order of the pipes of one run.

    `posted_twice` are sets of a flag whose set before may still be up, `left` those that nobody
    waits for, `stuck` the waits at the heads of queues that never go on.
    """

    hazards: list[Hazard] = field(default_factory=list[Hazard])
    posted_twice: list[Post] = field(default_factory=list[Post])
    left: list[Post] = field(default_factory=list[Post])
    stuck: list[QueueEntry] = field(default_factory=list[QueueEntry])

    def __bool__(self) -> bool:
        return bool(self.hazards or self.posted_twice or self.left or self.stuck)


@dataclass(slots=True)
class _Last:
    """The newest read and the newest write of a region by one queue: its number and the work."""

    read: int = 0
    reader: PipeWork | None = None
    write: int = 0
    writer: PipeWork | None = None


class HazardDetector:
    """Looks at the entries as the queues take them; `find` is the way in."""

    def __init__(self, target: Target, cores: int, regions: ByteRegions) -> None:
        lanes = cores * LANES
        self.regions = regions
        self.serial = {PIPES.index(pipe) for pipe in target.serial}
        self.clocks: list[Clock] = [[0] * lanes for _ in range(lanes)]
        self.done = [0] * lanes  # the entries that each queue has taken
        self.scalar: list[Clock] = [[0] * lanes for _ in range(cores)]  # what S knows, by core
        self.issued_with: dict[int, deque[Clock]] = {lane: deque() for lane in range(lanes)}
        self.merged: list[Clock] = [[] for _ in range(lanes)]
        self.last: dict[ByteRegion, dict[int, _Last]] = {}
        self.tickets: dict[Ticket, Clock] = {}
        self.up: dict[Channel, deque[Post]] = {}
        self.lowered: dict[Channel, tuple[int, int]] = {}  # by which lane, as which entry
        self.found: dict[tuple[int, int, HazardKind], Hazard] = {}
        self.times = Counter[tuple[int, int, HazardKind]]()
        self.twice: dict[int, Post] = {}

    def issued(self, entry: QueueEntry) -> None:
        if entry.queue.pipe is not Pipe.S:
            self.issued_with[lane_of(entry.queue)].append(self.scalar[entry.queue.core])

    def taken(self, entry: QueueEntry) -> None:
        lane = lane_of(entry.queue)
        clock = self.clocks[lane]
        scalar = entry.queue.pipe is Pipe.S
        if not scalar:
            known = self.issued_with[lane].popleft()
            if known is not self.merged[lane]:
                self.merged[lane] = known
                _merge(clock, known)
        if isinstance(entry, PipeWork):
            self._work(entry, lane, clock)
        elif isinstance(entry, Post):
            self._post(entry, lane, clock)
        elif isinstance(entry, Await):
            self._await(entry, lane, clock)
        elif isinstance(entry, Drain):
            self._drain(entry, lane, clock)
        if scalar:
            clock[lane] = self.done[lane]  # its entries are complete before the next is issued
            self.scalar[entry.queue.core] = clock.copy()

    def _post(self, entry: Post, lane: int, clock: Clock) -> None:
        ticket, channel = clock.copy(), entry.ticket.channel
        ticket[lane] = self.done[lane]
        self.tickets[entry.ticket] = ticket
        up = self.up.setdefault(channel, deque())
        by, number = self.lowered.get(channel, (lane, 0))
        if isinstance(channel, FlagChannel) and (up or ticket[by] < number):
            self.twice.setdefault(id(entry.op), entry)
        up.append(entry)

    def _await(self, entry: Await, lane: int, clock: Clock) -> None:
        self.done[lane] += 1
        for ticket in entry.tickets:
            _merge(clock, self.tickets[ticket])
            up = self.up[ticket.channel]
            if up and up[0].ticket.number <= ticket.number:
                up.popleft()
            self.lowered[ticket.channel] = lane, self.done[lane]

    def _drain(self, entry: Drain, lane: int, clock: Clock) -> None:
        if entry.every:
            first = entry.queue.core * LANES
            clock[first : first + LANES] = self.done[first : first + LANES]
        else:
            clock[lane] = self.done[lane]

    def _work(self, entry: PipeWork, lane: int, clock: Clock) -> None:
        self.done[lane] = number = self.done[lane] + 1
        for region in entry.writes:
            self.regions.write(region)
        for region in entry.reads:
            self._check(entry, region, lane, clock, writes=False)
        for region in entry.writes:
            self._check(entry, region, lane, clock, writes=True)
        for region in entry.reads:
            mine = self._mine(region, lane)
            mine.read, mine.reader = number, entry
        for region in entry.writes:
            mine = self._mine(region, lane)
            mine.write, mine.writer = number, entry

    def _mine(self, region: ByteRegion, lane: int) -> _Last:
        lanes = self.last.get(region)
        if lanes is None:
            lanes = self.last[region] = {}
        mine = lanes.get(lane)
        if mine is None:
            mine = lanes[lane] = _Last()
        return mine

    def _check(
        self, entry: PipeWork, region: ByteRegion, lane: int, clock: Clock, *, writes: bool
    ) -> None:
        """Whether the accesses to these bytes so far are complete."""
        if not (region.written or region.near):
            return
        for other in (region, *region.near):
            for of, last in self.last.get(other, {}).items():
                serial = of == lane and of % LANES in self.serial
                if serial:
                    continue
                writer, reader = last.writer, last.reader
                if writer and (last.write > clock[of] or writer.number > entry.number):
                    self._hazard(writer, entry, (other, region), wrote=True, writes=writes)
                if not writes or reader is None:
                    continue
                if last.read > clock[of] or reader.number > entry.number:
                    self._hazard(reader, entry, (other, region), wrote=False, writes=True)

    def _hazard(
        self,
        earlier: PipeWork,
        later: PipeWork,
        touched: tuple[ByteRegion, ByteRegion],
        *,
        wrote: bool,
        writes: bool,
    ) -> None:
        """`earlier` was taken first: it may come later in the program."""
        same = earlier.queue.core == later.queue.core
        inverted = same and earlier.number > later.number
        first, second = (later, earlier) if inverted else (earlier, later)
        before, after = (writes, wrote) if inverted else (wrote, writes)
        kind = HazardKind.WAW if before and after else HazardKind.RAW if before else HazardKind.WAR
        key = id(first.op), id(second.op), kind
        self.times[key] += 1
        if key not in self.found:
            where = touched[0].space.name, *touched[1].common(touched[0])
            self.found[key] = Hazard(kind, first, second, where, inverted)


def lane_of(queue: PipeQueue) -> int:
    """The place of a queue in a clock."""
    return queue.core * LANES + _NUMBER[queue.pipe]


_NUMBER = {pipe: number for number, pipe in enumerate(PIPES)}


def _merge(clock: Clock, other: Clock) -> None:
    for lane, number in enumerate(other):
        if number > clock[lane]:
            clock[lane] = number


def find(cores: Sequence[Sequence[QueueEntry]], target: Target, regions: ByteRegions) -> Findings:
    """What is wrong with the order of these entries, one list for each core."""
    detector = HazardDetector(target, len(cores), regions)
    stuck = PipeQueues(cores, detector).run()
    hazards = [
        Hazard(h.kind, h.first, h.second, h.bytes, h.inverted, detector.times[key])
        for key, h in detector.found.items()
    ]
    left = [post for posts in detector.up.values() for post in posts]
    flags = [post for post in left if isinstance(post.ticket.channel, FlagChannel) and not stuck]
    return Findings(hazards, [*detector.twice.values()], flags, stuck)
