"""A machine of pipes that takes its entries in any order that is legal, drawn at random.

It is independent of the detector. The scalar unit issues entries in program order, each pipe starts
its own in their order; a pipe that is not serial may have several begun. An instruction reads and
writes at some time between its start and its end. What it writes stands for all that it has read.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.sim.pipes.byteregions import ByteRegion, MemorySpace
from ptokit.sim.pipes.entries import Await, Drain, PipeWork, Post, QueueEntry


@dataclass(eq=False)
class Begun:
    """An entry that its pipe has started."""

    entry: QueueEntry
    reads_late: bool
    writes_late: bool


@dataclass
class AnyOrder:
    """One run of the entries of a core; `seen` is what each instruction has read, by its number."""

    entries: Sequence[QueueEntry]
    target: Target
    random: Random
    memory: dict[MemorySpace, NDArray[np.int64]] = field(
        default_factory=dict[MemorySpace, "NDArray[np.int64]"]
    )
    seen: dict[int, int] = field(default_factory=dict[int, int])
    flags: Counter[object] = field(default_factory=Counter[object])
    issued: int = 0
    queues: dict[Pipe, deque[QueueEntry]] = field(default_factory=dict[Pipe, "deque[QueueEntry]"])
    begun: dict[Pipe, list[Begun]] = field(default_factory=dict[Pipe, "list[Begun]"])

    def run(self) -> bool:
        """Take everything; False if at some time nothing can go on."""
        while self.issued < len(self.entries) or any(self.queues.values()) or self._busy():
            begun = (one for some in self.begun.values() for one in some)
            steps = [("issue", None)] if self._issues() else []
            steps += [("start", p) for p, queue in self.queues.items() if self._starts(p, queue)]
            steps += [("end", one) for one in begun if self._ends(one)]
            if not steps:
                return False
            what, of = self.random.choice(steps)
            if what == "issue":
                self._issue()
            elif isinstance(of, Pipe):
                self._start(self.queues[of].popleft())
            elif isinstance(of, Begun):
                self._end(of)
        return True

    def in_program_order(self) -> None:
        for entry in self.entries:
            if isinstance(entry, PipeWork):
                self._read(entry)
                self._write(entry)

    def _busy(self) -> bool:
        return any(self.begun.values())

    def _issues(self) -> bool:
        """Whether the scalar unit goes on: what it does itself ends before the next is issued."""
        if self.issued == len(self.entries) or self.begun.get(Pipe.S):
            return False
        entry = self.entries[self.issued]
        if isinstance(entry, Drain) and entry.every:
            return not self._busy() and not any(self.queues.values())
        return entry.queue.pipe is not Pipe.S or self._open(entry)

    def _open(self, entry: QueueEntry) -> bool:
        return not isinstance(entry, Await) or all(self.flags[t.channel] for t in entry.tickets)

    def _issue(self) -> None:
        entry = self.entries[self.issued]
        self.issued += 1
        if entry.queue.pipe is Pipe.S:
            self._start(entry)
        else:
            self.queues.setdefault(entry.queue.pipe, deque()).append(entry)

    def _starts(self, pipe: Pipe, queue: deque[QueueEntry]) -> bool:
        if not queue:
            return False
        before = self.begun.get(pipe, [])
        waits = isinstance(queue[0], Drain) or (
            pipe in self.target.serial and isinstance(queue[0], PipeWork)
        )
        if waits and before:
            return False
        return self._open(queue[0]) and not any(isinstance(b.entry, Await) for b in before)

    def _start(self, entry: QueueEntry) -> None:
        if isinstance(entry, Await):
            for ticket in entry.tickets:
                self.flags[ticket.channel] -= 1
            return
        writes_late = bool(self.random.getrandbits(1))
        one = Begun(entry, writes_late and bool(self.random.getrandbits(1)), writes_late)
        self.begun.setdefault(entry.queue.pipe, []).append(one)
        if isinstance(entry, PipeWork):
            if not one.reads_late:
                self._read(entry)
            if not one.writes_late:
                self._write(entry)

    def _ends(self, one: Begun) -> bool:
        """A flag goes up when all that its pipe had before is done."""
        return isinstance(one.entry, PipeWork) or self.begun[one.entry.queue.pipe][0] is one

    def _end(self, one: Begun) -> None:
        self.begun[one.entry.queue.pipe].remove(one)
        if isinstance(one.entry, PipeWork):
            if one.reads_late:
                self._read(one.entry)
            if one.writes_late:
                self._write(one.entry)
        elif isinstance(one.entry, Post):
            self.flags[one.entry.ticket.channel] += 1

    def _read(self, entry: PipeWork) -> None:
        found = [
            self._bytes(region)[a:b].tobytes() for region in entry.reads for a, b in region.ranges
        ]
        self.seen[entry.number] = hash((entry.number, *found))

    def _write(self, entry: PipeWork) -> None:
        for region in entry.writes:
            for start, stop in region.ranges:
                self._bytes(region)[start:stop] = self.seen[entry.number]

    def _bytes(self, region: ByteRegion) -> NDArray[np.int64]:
        """The memory of a region: for each byte what wrote it, and on what grounds."""
        found = self.memory.get(region.space)
        if found is None or len(found) < region.stop:
            grown = np.zeros(2 * region.stop, np.int64)
            grown[: 0 if found is None else len(found)] = found if found is not None else 0
            found = self.memory[region.space] = grown
        return found


def differs(entries: Sequence[QueueEntry], target: Target, seed: int) -> bool:
    """Whether an order that is legal stops somewhere, or gives other bytes than program order."""
    plain = AnyOrder(entries, target, Random(0))
    plain.in_program_order()
    blank = {space: np.zeros_like(content) for space, content in plain.memory.items()}
    order = AnyOrder(entries, target, Random(seed), blank)
    if not order.run() or order.seen != plain.seen:
        return True
    return any((order.memory[space] != plain.memory[space]).any() for space in blank)
