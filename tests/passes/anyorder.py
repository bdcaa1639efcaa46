"""A machine of pipes that takes its entries in any order that is legal, drawn at random.

It is independent of the detector. The scalar unit of a core issues entries in program order, each
pipe starts its own in their order; a pipe that is not serial may have several begun. An instruction
reads and writes at some time between its start and its end. What it writes stands for all that it
has read.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

import numpy as np
from numpy.typing import NDArray

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.order.footprints import ByteRegion, MemorySpace
from ptokit.order.waiting import (
    Await,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)


@dataclass(eq=False)
class Begun:
    """An entry that its pipe has started."""

    entry: QueueEntry
    reads_late: bool
    writes_late: bool


@dataclass
class AnyOrder:
    """One run of the entries of some cores; `seen` is what each instruction has read.

    A flag is down after one wait; of a signal each core counts for itself how often it waited.
    """

    cores: Sequence[Sequence[QueueEntry]]
    target: Target
    random: Random
    memory: dict[MemorySpace, NDArray[np.int64]] = field(
        default_factory=dict[MemorySpace, "NDArray[np.int64]"]
    )
    seen: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    up: Counter[object] = field(default_factory=Counter[object])
    queues: dict[PipeQueue, deque[QueueEntry]] = field(
        default_factory=dict[PipeQueue, "deque[QueueEntry]"]
    )
    begun: dict[PipeQueue, list[Begun]] = field(default_factory=dict[PipeQueue, "list[Begun]"])

    def __post_init__(self) -> None:
        self.left = [deque(entries) for entries in self.cores]  # what each core has yet to issue

    def run(self) -> bool:
        """Take everything; False if at some time nothing can go on."""
        while any(self.left) or any(self.queues.values()) or any(self.begun.values()):
            steps: list[Callable[[], None]] = [
                *(partial(self._issue, left) for left in self.left if self._issues(left)),
                *(partial(self._take, q) for at, q in self.queues.items() if self._starts(at, q)),
                *(partial(self._end, b) for s in self.begun.values() for b in s if self._ends(b)),
            ]
            if not steps:
                return False
            self.random.choice(steps)()
        return True

    def in_program_order(self) -> None:
        """Each core until it waits for another one; its own flags make no matter."""
        while any(self.left):
            goes_on = (
                left for left in self.left if left and not self._awaits(left[0], flags=False)
            )
            entry = next(goes_on).popleft()
            if isinstance(entry, PipeWork):
                self._read(entry)
                self._write(entry)
            elif isinstance(entry, Post):
                self.up[entry.ticket.channel] += 1

    def _issues(self, left: deque[QueueEntry]) -> bool:
        """Whether the scalar unit goes on: what it does itself ends before the next is issued."""
        if not left or self.begun.get(left[0].queue._replace(pipe=Pipe.S)):
            return False
        entry = left[0]
        if isinstance(entry, Drain) and entry.every:
            busy = {at.core for at, some in (*self.begun.items(), *self.queues.items()) if some}
            return entry.queue.core not in busy
        return entry.queue.pipe is not Pipe.S or not self._awaits(entry)

    def _awaits(self, entry: QueueEntry, *, flags: bool = True) -> bool:
        """Whether a flag that it waits for is down, or a signal did not come."""
        tickets = entry.tickets if isinstance(entry, Await) else ()
        tickets = [ticket for ticket in tickets if flags or not _flag(ticket)]
        return any(self.up[t.channel] < (1 if _flag(t) else t.number) for t in tickets)

    def _issue(self, left: deque[QueueEntry]) -> None:
        entry = left.popleft()
        if entry.queue.pipe is Pipe.S:
            self._start(entry)
        else:
            self.queues.setdefault(entry.queue, deque()).append(entry)

    def _take(self, queue: deque[QueueEntry]) -> None:
        self._start(queue.popleft())

    def _lower(self, entry: Await) -> None:
        for ticket in entry.tickets:
            self.up[ticket.channel] -= _flag(ticket)

    def _starts(self, at: PipeQueue, queue: deque[QueueEntry]) -> bool:
        if not queue:
            return False
        before = self.begun.get(at, [])
        waits = isinstance(queue[0], Drain) or (
            at.pipe in self.target.serial and isinstance(queue[0], PipeWork)
        )
        if waits and before:
            return False
        return not self._awaits(queue[0]) and not any(isinstance(b.entry, Await) for b in before)

    def _start(self, entry: QueueEntry) -> None:
        if isinstance(entry, Await):
            self._lower(entry)
            return
        writes_late = bool(self.random.getrandbits(1))
        one = Begun(entry, writes_late and bool(self.random.getrandbits(1)), writes_late)
        self.begun.setdefault(entry.queue, []).append(one)
        if isinstance(entry, PipeWork):
            if not one.reads_late:
                self._read(entry)
            if not one.writes_late:
                self._write(entry)

    def _ends(self, one: Begun) -> bool:
        """A flag goes up when all that its pipe had before is done."""
        return isinstance(one.entry, PipeWork) or self.begun[one.entry.queue][0] is one

    def _end(self, one: Begun) -> None:
        self.begun[one.entry.queue].remove(one)
        if isinstance(one.entry, PipeWork):
            if one.reads_late:
                self._read(one.entry)
            if one.writes_late:
                self._write(one.entry)
        elif isinstance(one.entry, Post):
            self.up[one.entry.ticket.channel] += 1

    def _read(self, entry: PipeWork) -> None:
        found = [
            self._bytes(region)[a:b].tobytes() for region in entry.reads for a, b in region.ranges
        ]
        self.seen[entry.queue.core, entry.number] = hash((entry.number, *found))

    def _write(self, entry: PipeWork) -> None:
        for region in entry.writes:
            for start, stop in region.ranges:
                self._bytes(region)[start:stop] = self.seen[entry.queue.core, entry.number]

    def _bytes(self, region: ByteRegion) -> NDArray[np.int64]:
        """The memory of a region: for each byte what wrote it, and on what grounds."""
        found = self.memory.get(region.space)
        if found is None or len(found) < region.stop:
            grown = np.zeros(2 * region.stop, np.int64)
            grown[: 0 if found is None else len(found)] = found if found is not None else 0
            found = self.memory[region.space] = grown
        return found


def _flag(ticket: Ticket) -> bool:
    """Whether it is of a flag, not of a signal between cores."""
    return isinstance(ticket.channel, FlagChannel)


def differs(cores: Sequence[Sequence[QueueEntry]], target: Target, seed: int) -> bool:
    """Whether an order that is legal stops somewhere, or gives other bytes than program order."""
    plain = AnyOrder(cores, target, Random(0))
    plain.in_program_order()
    blank = {space: np.zeros_like(content) for space, content in plain.memory.items()}
    order = AnyOrder(cores, target, Random(seed), blank)
    if not order.run() or order.seen != plain.seen:
        return True
    return any((order.memory[space] != plain.memory[space]).any() for space in blank)
