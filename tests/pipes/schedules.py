"""Legal executions of what cores issue, and what happens before what: oracles of the detector.

Nothing here uses the detector or its queues. An execution has a start and an end for each work: it
reads at either and writes at its end, so two that nothing separates show it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.sim.pipes.byteregions import ByteRegion
from ptokit.sim.pipes.entries import Await, Drain, PipeQueue, PipeWork, Post, QueueEntry

Bytes = dict[tuple[object, int], int]  # the memory and a byte -> the number of who wrote it
GRAIN = 128  # bytes that are looked at as one: no region of these programs shares one by halves


def grains(region: ByteRegion) -> Iterator[tuple[object, int]]:
    for low, high in region.ranges:
        for byte in range(low // GRAIN, -(-high // GRAIN)):
            yield region.space, byte


def in_order(entries: Sequence[QueueEntry]) -> tuple[list[object], Bytes]:
    """What each work reads, and what memory holds at the end, one entry after the other."""
    memory: Bytes = {}
    seen: list[object] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, PipeWork):
            seen.append(_read(entry, memory))
            _write(entry, memory, number)
    return seen, memory


def _read(entry: PipeWork, memory: Bytes) -> tuple[int | None, ...]:
    return tuple(memory.get(at) for region in entry.reads for at in grains(region))


def _write(entry: PipeWork, memory: Bytes, number: int) -> None:
    for region in entry.writes:
        for at in grains(region):
            memory[at] = number


def at_random(
    entries: Sequence[QueueEntry], target: Target, random: Random
) -> tuple[list[object], Bytes] | None:
    """The same for one order that the pipes of one core may take; None: it comes to an end."""
    run = _Execution(entries, target, random)
    while run.issued < len(entries) or run.running or any(run.queues.values()):
        moves = [*run.moves()]
        if not moves:
            return None
        run.move(*random.choice(moves))
    return [run.seen[n] for n in sorted(run.seen)], run.memory


class _Execution:
    def __init__(self, entries: Sequence[QueueEntry], target: Target, random: Random) -> None:
        self.entries, self.target, self.random = entries, target, random
        self.issued = 0
        self.queues: dict[PipeQueue, list[int]] = defaultdict(list)
        self.running: list[int] = []
        self.tickets: set[object] = set()
        self.memory: Bytes = {}
        self.seen: dict[int, object] = {}

    def moves(self) -> Iterator[tuple[str, int]]:
        for number in self.running:
            yield "end", number
        for queue in self.queues.values():
            if queue and self.may_go(queue[0]):
                yield "start", queue[0]
        if self.issued < len(self.entries):
            entry = self.entries[self.issued]
            if entry.queue.pipe is not Pipe.S or self.may_go(self.issued):
                yield "issue", self.issued

    def may_go(self, number: int) -> bool:
        entry = self.entries[number]
        busy = [self.entries[n].queue for n in self.running]
        if isinstance(entry, Await):
            return all(ticket in self.tickets for ticket in entry.tickets)
        if isinstance(entry, Drain) and entry.every:
            return not busy and not any(self.queues.values())
        waits = isinstance(entry, Post | Drain) or entry.queue.pipe in self.target.serial
        return not (waits and entry.queue in busy)

    def move(self, what: str, number: int) -> None:
        entry = self.entries[number]
        if what == "issue":
            self.issued += 1
            if entry.queue.pipe is not Pipe.S:
                self.queues[entry.queue].append(number)
                return
        elif what == "start":
            self.queues[entry.queue].pop(0)
        if isinstance(entry, Post):
            self.tickets.add(entry.ticket)
        if not isinstance(entry, PipeWork):
            return
        if what == "end":
            self.running.remove(number)
            if number not in self.seen:
                self.seen[number] = _read(entry, self.memory)
            _write(entry, self.memory, number)
        elif entry.queue.pipe is Pipe.S:
            self.seen[number] = _read(entry, self.memory)
            _write(entry, self.memory, number)
        else:
            self.running.append(number)
            if self.random.random() < 0.5:
                self.seen[number] = _read(entry, self.memory)


def conflicts(entries: Sequence[QueueEntry], target: Target) -> set[tuple[int, int]]:
    """Pairs of works of one core on the same bytes, one writing, that nothing separates."""
    after = _reachable(entries, target)
    every = [(n, e) for n, e in enumerate(entries) if isinstance(e, PipeWork)]
    touched = {n: ({*_all(e.reads)}, {*_all(e.writes)}) for n, e in every}
    found: set[tuple[int, int]] = set()
    for (a, _), (b, _) in combinations(every, 2):
        (reads, writes), (later_reads, later_writes) = touched[a], touched[b]
        if (writes & later_reads or writes & later_writes or reads & later_writes) and not (
            after[2 * a + 1] >> (2 * b) & 1
        ):
            found.add((a, b))
    return found


def _all(regions: Sequence[ByteRegion]) -> Iterator[tuple[object, int]]:
    for region in regions:
        yield from grains(region)


def _reachable(entries: Sequence[QueueEntry], target: Target) -> list[int]:
    """For the start (2n) and the end (2n + 1) of each entry: what comes after it, as bits."""
    edges: dict[int, set[int]] = defaultdict(set)
    queues: dict[PipeQueue, list[int]] = defaultdict(list)
    posts = {e.ticket: n for n, e in enumerate(entries) if isinstance(e, Post)}
    scalar: int | None = None  # the last entry of S
    for n, entry in enumerate(entries):
        edges[2 * n].add(2 * n + 1)
        before = queues[entry.queue]
        whole = isinstance(entry, Post | Drain) or entry.queue.pipe in target.serial
        for m in before:
            edges[2 * m].add(2 * n)
            if whole or not isinstance(entries[m], PipeWork):
                edges[2 * m + 1].add(2 * n)
        if scalar is not None:
            edges[2 * scalar + 1].add(2 * n)
        for ticket in entry.tickets if isinstance(entry, Await) else ():
            if ticket in posts:
                edges[2 * posts[ticket] + 1].add(2 * n + 1)
        if isinstance(entry, Drain) and entry.every:
            for m in range(n):
                edges[2 * m + 1].add(2 * n)
        before.append(n)
        if entry.queue.pipe is Pipe.S:
            scalar = n
    return _closed(edges, 2 * len(entries))


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
