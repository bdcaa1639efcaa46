"""Hazards: conflicting accesses to the same bytes that the order of the pipes does not separate.

Every queue has a vector clock: for each queue, the newest entry that is complete before the next
entry of this queue starts. A ticket carries the clock of the queue that posts it. Two accesses, one
of them a write, are a hazard if the second may start before the first is complete. If a flag is
awaited above the line that sets it, the access that is later in the program may come first.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from ptokit.ir.garbage import gc_disabled
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.words import Pipe
from ptokit.order.footprints import ByteRegion, ByteRegions
from ptokit.order.races import commute
from ptokit.order.waiting import (
    Await,
    Channel,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeQueues,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)
from ptokit.values.enumerations import SCALING

PIPES = [*Pipe]
LANES = len(PIPES)
PARAMETERS = SPACES[SCALING]  # of the fix-pipe, which takes them in order: dispute X111
Clock: TypeAlias = "list[int]"  # for each queue the number of its entry
OpPair: TypeAlias = "tuple[int, int, HazardKind, bool]"  # two ops by id; whether of one core


class HazardKind(Enum):
    """The kind of dependence between two accesses, in program order."""

    RAW = "read after write"
    WAR = "write after read"
    WAW = "write after write"


@dataclass(frozen=True)
class Hazard:
    """Two conflicting instructions with no ordering between them, in program order."""

    kind: HazardKind
    first: PipeWork
    second: PipeWork
    bytes: tuple[str, int, int]  # the memory, and which of its bytes
    inverted: bool = False  # the second was taken first
    times: int = 1
    shared: bool = False  # in memory that all cores reach


@dataclass
class Findings:
    """The order faults of one run.

    `posted_twice` are sets of a flag whose previous set may still be up. `left` are sets without a
    wait. `stuck` are the waits at the heads of queues that never continue.
    """

    hazards: list[Hazard] = field(default_factory=list[Hazard])
    posted_twice: list[Post] = field(default_factory=list[Post])
    left: list[Post] = field(default_factory=list[Post])
    stuck: list[QueueEntry] = field(default_factory=list[QueueEntry])

    def __bool__(self) -> bool:
        return bool(self.hazards or self.posted_twice or self.left or self.stuck)


@dataclass(slots=True)
class _Last:
    """The newest read and the newest write of a region by one queue: entry numbers and entries."""

    read: int = 0
    reader: PipeWork | None = None
    write: int = 0
    writer: PipeWork | None = None


@dataclass(slots=True)
class _Conflict:
    """An earlier access that is not ordered before the current one."""

    work: PipeWork
    lane: int
    number: int
    there: ByteRegion
    here: ByteRegion
    wrote: bool
    writes: bool


class HazardDetector:
    """A visitor that checks entries as the queues take them; `find` is the entry point."""

    def __init__(self, target: Target, cores: int, regions: ByteRegions) -> None:
        lanes = cores * LANES
        self.regions = regions
        self.serial = {PIPES.index(pipe) for pipe in target.serial}
        self.clocks: list[Clock] = [[0] * lanes for _ in range(lanes)]
        self.done = [0] * lanes  # the entries that each queue has taken
        self.scalar: list[Clock] = [[0] * lanes for _ in range(cores)]  # the clock of S, by core
        self.issued_with: dict[int, deque[Clock]] = {lane: deque() for lane in range(lanes)}
        self.merged: list[Clock] = [[] for _ in range(lanes)]
        self.last: dict[ByteRegion, dict[int, _Last]] = {}
        self.known: list[Clock] = [
            [] for _ in range(lanes)
        ]  # an unchanged copy of each clock, or empty
        self.knew: dict[int, Clock] = {}  # the clock of the queue when an access was taken
        self.tickets: dict[Ticket, Clock] = {}
        self.up: dict[Channel, deque[Post]] = {}
        self.lowered: dict[
            Channel, tuple[int, int]
        ] = {}  # the lane and entry number of the last wait
        self.found: dict[OpPair, Hazard] = {}
        self.times = Counter[OpPair]()
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
                self.known[lane] = []
        if isinstance(entry, PipeWork):
            self._work(entry, lane, clock)
        elif isinstance(entry, Post):
            self._post(entry, lane, clock)
        elif isinstance(entry, Await):
            self._await(entry, lane, clock)
        elif isinstance(entry, Drain):
            self._drain(entry, lane, clock)
        if scalar:
            self.known[lane] = []
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
        self.known[lane] = []
        for ticket in entry.tickets:
            _merge(clock, self.tickets[ticket])
            up = self.up[ticket.channel]
            if up and up[0].ticket.number <= ticket.number:
                up.popleft()
            self.lowered[ticket.channel] = lane, self.done[lane]

    def _drain(self, entry: Drain, lane: int, clock: Clock) -> None:
        self.known[lane] = []
        if entry.every:
            first = entry.queue.core * LANES
            clock[first : first + LANES] = self.done[first : first + LANES]
        else:
            clock[lane] = self.done[lane]

    def _work(self, entry: PipeWork, lane: int, clock: Clock) -> None:
        self.done[lane] = number = self.done[lane] + 1
        for region in entry.writes:
            self.regions.write(region)
        conflicts = [
            conflict
            for some, writes in ((entry.reads, False), (entry.writes, True))
            for region in some
            if region.written or region.near
            for conflict in self._conflicts(region, lane, clock, writes)
            if not _commute(conflict, entry)
        ]
        if not self.known[lane]:
            self.known[lane] = clock.copy()
        self.knew[id(entry)] = self.known[lane]
        if conflicts:
            self._hazards(entry, conflicts)
            ordered = self.knew[id(entry)] = (
                clock.copy()
            )  # assume the missing order, to report each fault once
            for one in conflicts:
                ordered[one.lane] = max(ordered[one.lane], one.number)
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

    def _conflicts(
        self, region: ByteRegion, lane: int, clock: Clock, writes: bool
    ) -> Iterator[_Conflict]:
        """Yield the earlier conflicting accesses to these bytes that may be incomplete."""
        for other in (region, *region.near):
            for of, last in self.last.get(other, {}).items():
                if of == lane and self._in_order(of % LANES, region):
                    continue
                writer, reader = last.writer, last.reader
                if writer and last.write > clock[of]:
                    yield _Conflict(writer, of, last.write, other, region, True, writes)
                if writes and reader and last.read > clock[of]:
                    yield _Conflict(reader, of, last.read, other, region, False, True)

    def _in_order(self, pipe: int, region: ByteRegion) -> bool:
        """Return whether the pipe completes an access to these bytes before its next entry."""
        parameters = PIPES[pipe] is Pipe.FIX and region.space.name == PARAMETERS
        return parameters or pipe in self.serial

    def _hazards(self, entry: PipeWork, conflicts: Sequence[_Conflict]) -> None:
        """Report the conflicts that are not implied by a later conflict."""
        for one in conflicts:
            if not any(self._before(one, other) for other in conflicts):
                self._hazard(one, entry)

    def _before(self, one: _Conflict, other: _Conflict) -> bool:
        """Return whether `one` is complete before `other` starts: waiting for `other` is enough."""
        if one.lane == other.lane and one.lane % LANES in self.serial:
            return one.number < other.number
        return one.work is not other.work and self.knew[id(other.work)][one.lane] >= one.number

    def _hazard(self, one: _Conflict, later: PipeWork) -> None:
        """Report that `one` and `later` conflict; `later` may stand first in the program."""
        earlier = one.work
        same = earlier.queue.core == later.queue.core
        inverted = same and earlier.number > later.number
        first, second = (later, earlier) if inverted else (earlier, later)
        before, after = (one.writes, one.wrote) if inverted else (one.wrote, one.writes)
        kind = HazardKind.WAW if before and after else HazardKind.RAW if before else HazardKind.WAR
        key = id(first.op), id(second.op), kind, same
        self.times[key] += 1
        if key not in self.found:
            where = one.here.space.name, *one.here.common(one.there)
            shared = one.here.space.core is None
            self.found[key] = Hazard(kind, first, second, where, inverted, shared=shared)


def _commute(one: _Conflict, later: PipeWork) -> bool:
    """Return whether both accesses add to or signal in global memory, in any order."""
    return one.here.space.core is None and commute(one.work.op, later.op)


def lane_of(queue: PipeQueue) -> int:
    """Return the index of a queue in a vector clock."""
    return queue.core * LANES + _NUMBER[queue.pipe]


_NUMBER = {pipe: number for number, pipe in enumerate(PIPES)}


def _merge(clock: Clock, other: Clock) -> None:
    for lane, number in enumerate(other):
        if number > clock[lane]:
            clock[lane] = number


def find(cores: Sequence[Sequence[QueueEntry]], target: Target, regions: ByteRegions) -> Findings:
    """Return the order faults of these entries, given one list for each core."""
    detector = HazardDetector(target, len(cores), regions)
    with gc_disabled():
        stuck = PipeQueues(cores, detector).run()
    hazards = [replace(h, times=detector.times[key]) for key, h in detector.found.items()]
    left = [post for posts in detector.up.values() for post in posts]
    flags = [post for post in left if isinstance(post.ticket.channel, FlagChannel) and not stuck]
    return Findings(hazards, [*detector.twice.values()], flags, stuck)


class OrderFault(Enum):
    """The kind of the first order fault; removing flags may only repair `FLAG`."""

    NONE = "nothing is found"
    FLAG = "a flag is set twice, or left: without it there is no such finding"
    HAZARD = "with fewer flags there is at least as much of it"


class _Found(Exception):
    """Raised at the first fault, which decides the result."""

    def __init__(self, fault: OrderFault) -> None:
        super().__init__()
        self.fault = fault


class _FirstFinding(HazardDetector):
    """A detector that stops at the first finding, except hazards of `accepted` op pairs."""

    accepted: Container[frozenset[int]] = ()

    def _hazard(self, one: _Conflict, later: PipeWork) -> None:
        if frozenset({id(one.work.op), id(later.op)}) not in self.accepted:
            raise _Found(OrderFault.HAZARD)

    def _post(self, entry: Post, lane: int, clock: Clock) -> None:
        super()._post(entry, lane, clock)
        if self.twice:
            raise _Found(OrderFault.FLAG)


def first_fault(
    cores: Sequence[Sequence[QueueEntry]],
    target: Target,
    regions: ByteRegions,
    accepted: Container[frozenset[int]] = (),
) -> OrderFault:
    """Return the kind of fault that `find` meets first, without a complete list.

    `accepted`: pairs of ops, by identity, whose hazards do not count.
    """
    detector = _FirstFinding(target, len(cores), regions)
    detector.accepted = accepted
    try:
        stuck = PipeQueues(cores, detector).run()
    except _Found as found:
        return found.fault
    left = (post for posts in detector.up.values() for post in posts)
    flags = stuck or any(isinstance(post.ticket.channel, FlagChannel) for post in left)
    return OrderFault.FLAG if flags else OrderFault.NONE
