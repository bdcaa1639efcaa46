"""Legal executions of what cores issue, and what happens before what: oracles of the detector.

Nothing here uses the detector or its queues. An execution has a start and an end for each work: it
reads at either and writes at its end, so two that nothing separates show it. The entries of all
cores stand in one list, core after core.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from random import Random

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.order.footprints import ByteRegion
from ptokit.order.races import commute
from ptokit.order.waiting import (
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

Bytes = dict[int, int]  # a part of memory -> the number of who wrote it
Outcome = tuple[dict[int, object], Bytes]  # what each work reads, and memory at the end


class Launch:
    """The entries of all cores, and the parts of memory that they touch.

    A part is the bytes between two places where some region begins or ends.
    """

    def __init__(self, cores: Sequence[Sequence[QueueEntry]], target: Target) -> None:
        self.entries = [entry for entries in cores for entry in entries]
        ends = [0]
        for entries in cores:
            ends.append(ends[-1] + len(entries))
        self.cores = [range(a, b) for a, b in pairwise(ends)]
        self.target = target
        works = [e for e in self.entries if isinstance(e, PipeWork)]
        regions = {id(r): r for e in works for r in (*e.reads, *e.writes)}
        self.parts = _parts([*regions.values()])
        self.touched = {
            n: (self._of(e.reads), self._of(e.writes))
            for n, e in enumerate(self.entries)
            if isinstance(e, PipeWork)
        }

    def _of(self, regions: Sequence[ByteRegion]) -> frozenset[int]:
        return frozenset(part for region in regions for part in self.parts[id(region)])

    def read(self, number: int, memory: Bytes) -> object:
        return tuple((part, memory.get(part)) for part in sorted(self.touched[number][0]))

    def write(self, number: int, memory: Bytes) -> None:
        memory.update(dict.fromkeys(self.touched[number][1], number))


def _parts(regions: Sequence[ByteRegion]) -> dict[int, frozenset[int]]:
    """The parts of memory that each region has, by its identity."""
    ends: dict[object, set[int]] = defaultdict(set)
    for region in regions:
        ends[region.space] |= {end for ends in region.ranges for end in ends}
    numbers: dict[tuple[object, int], int] = {}
    follows: dict[object, dict[int, int]] = {}
    for space, some in ends.items():
        places = sorted(some)
        follows[space] = {place: n for n, place in enumerate(places)}
        numbers |= {(space, n): len(numbers) + n for n in range(len(places))}
    return {
        id(region): frozenset(
            numbers[region.space, n]
            for low, high in region.ranges
            for n in range(follows[region.space][low], follows[region.space][high])
        )
        for region in regions
    }


def in_order(launch: Launch) -> Outcome:
    """The entries of each core one after the other, until it waits for another core."""
    memory, seen, up = Bytes(), dict[int, object](), Counter[object]()
    left = [list(reversed(core)) for core in launch.cores]
    while any(left):
        number = next(
            some for some in left if some and _signalled(launch.entries[some[-1]], up)
        ).pop()
        entry = launch.entries[number]
        if isinstance(entry, PipeWork):
            seen[number] = launch.read(number, memory)
            launch.write(number, memory)
        elif isinstance(entry, Post):
            up[entry.ticket.channel] += 1
    return seen, memory


def _signalled(entry: QueueEntry, up: Counter[object]) -> bool:
    """Whether other cores let it go on; flags and releases of buffers make no matter."""
    tickets = entry.tickets if isinstance(entry, Await) else ()
    signals = (t for t in tickets if not isinstance(t.channel, FlagChannel | BufferChannel))
    return all(up[t.channel] >= t.number for t in signals)


def at_random(launch: Launch, random: Random) -> Outcome | None:
    """The same for one order that the pipes may take; None: it comes to an end."""
    run = _Execution(launch, random)
    while any(run.left) or run.running or any(run.queues.values()):
        moves = [*run.moves()]
        if not moves:
            return None
        run.move(*random.choice(moves))
    return run.seen, run.memory


class _Execution:
    def __init__(self, launch: Launch, random: Random) -> None:
        self.launch, self.entries, self.random = launch, launch.entries, random
        self.left = [list(reversed(core)) for core in launch.cores]  # what each core issues yet
        self.queues: dict[PipeQueue, list[int]] = defaultdict(list)
        self.running: list[int] = []
        self.tickets: set[Ticket] = set()
        self.posting: list[tuple[Ticket, set[int]]] = []  # and the works that end before
        self.memory: Bytes = {}
        self.seen: dict[int, object] = {}

    def moves(self) -> Iterator[tuple[str, int]]:
        for number in self.running:
            yield "end", number
        for queue in self.queues.values():
            if queue and self.may_go(queue[0]):
                yield "start", queue[0]
        for number in (some[-1] for some in self.left if some):
            if self.entries[number].queue.pipe is not Pipe.S or self.may_go(number):
                yield "issue", number

    def may_go(self, number: int) -> bool:
        entry = self.entries[number]
        busy = [self.entries[n].queue for n in self.running]
        if isinstance(entry, Await):
            return all(ticket in self.tickets for ticket in entry.tickets)
        if isinstance(entry, Drain) and entry.every:
            busy += [queue for queue, some in self.queues.items() if some]
            return all(queue.core != entry.queue.core for queue in busy)
        waits = isinstance(entry, Drain) or entry.queue.pipe in self.launch.target.serial
        return not (waits and entry.queue in busy)

    def move(self, what: str, number: int) -> None:
        entry = self.entries[number]
        if what == "issue":
            self.left[entry.queue.core].pop()
            if entry.queue.pipe is not Pipe.S:
                self.queues[entry.queue].append(number)
                return
        elif what == "start":
            self.queues[entry.queue].pop(0)
        if isinstance(entry, Post):
            mine = {n for n in self.running if self.entries[n].queue == entry.queue}
            self.posting.append((entry.ticket, mine))
            self._post()
        if not isinstance(entry, PipeWork):
            return
        if what == "end" or entry.queue.pipe is Pipe.S:
            self._done(number)
        else:
            self.running.append(number)
            if self.random.random() < 0.5:
                self.seen[number] = self.launch.read(number, self.memory)

    def _post(self) -> None:
        """What its pipe had begun before is complete: what comes later may have started already."""
        self.tickets |= {ticket for ticket, works in self.posting if not works}
        self.posting = [one for one in self.posting if one[1]]

    def _done(self, number: int) -> None:
        if number in self.running:
            self.running.remove(number)
        for _, works in self.posting:
            works.discard(number)
        self._post()
        if number not in self.seen:
            self.seen[number] = self.launch.read(number, self.memory)
        self.launch.write(number, self.memory)


def conflicts(launch: Launch) -> set[tuple[int, int]]:
    """Pairs of works on the same bytes, one writing, that nothing separates.

    Two of one core are separated in their order only, two of different cores in any.
    """
    after, found = _reachable(launch), set[tuple[int, int]]()
    users: dict[int, set[int]] = defaultdict(set)
    for number, (reads, writes) in launch.touched.items():
        for part in reads | writes:
            users[part].add(number)
    pairs = {pair for some in users.values() for pair in combinations(sorted(some), 2)}
    for a, b in pairs:
        (reads, writes), (later_reads, later_writes) = launch.touched[a], launch.touched[b]
        if not (writes & later_reads or writes & later_writes or reads & later_writes):
            continue
        one, other = launch.entries[a], launch.entries[b]
        if commute(one.op, other.op):
            continue
        ordered = after[2 * a + 1] >> (2 * b) & 1
        if one.queue.core != other.queue.core:
            ordered |= after[2 * b + 1] >> (2 * a) & 1
        if not ordered:
            found.add((a, b))
    return found


def _reachable(launch: Launch) -> list[int]:
    """For the start (2n) and the end (2n + 1) of each entry: what comes after it, as bits."""
    edges: dict[int, set[int]] = defaultdict(set)
    posts = {e.ticket: n for n, e in enumerate(launch.entries) if isinstance(e, Post)}
    for core in launch.cores:
        _edges(launch, core, posts, edges)
    return _closed(edges, 2 * len(launch.entries))


def _edges(
    launch: Launch, core: range, posts: dict[Ticket, int], edges: dict[int, set[int]]
) -> None:
    """What comes right after what on one core."""
    queues: dict[PipeQueue, list[int]] = defaultdict(list)
    scalar: int | None = None  # the last entry of S
    for n in core:
        entry = launch.entries[n]
        edges[2 * n].add(2 * n + 1)
        before = queues[entry.queue]
        whole = isinstance(entry, Drain) or entry.queue.pipe in launch.target.serial
        for m in before:
            edges[2 * m].add(2 * n)
            if whole or isinstance(launch.entries[m], Await | Drain):
                edges[2 * m + 1].add(2 * n)
            if isinstance(entry, Post):  # what comes after it does not wait for it
                edges[2 * m + 1].add(2 * n + 1)
        if scalar is not None:
            edges[2 * scalar + 1].add(2 * n)
        for ticket in entry.tickets if isinstance(entry, Await) else ():
            if ticket in posts:
                edges[2 * posts[ticket] + 1].add(2 * n + 1)
        if isinstance(entry, Drain) and entry.every:
            for m in range(core.start, n):
                edges[2 * m + 1].add(2 * n)
        before.append(n)
        if entry.queue.pipe is Pipe.S:
            scalar = n


def _closed(edges: dict[int, set[int]], size: int) -> list[int]:
    """Reachability by repeated passes, until nothing is added: there may be cycles."""
    after = [0] * size
    changed = True
    while changed:
        changed = False
        for node in reversed(range(size)):
            found = after[node]
            for other in edges[node]:
                found |= after[other] | 1 << other
            if found != after[node]:
                after[node], changed = found, True
    return after
