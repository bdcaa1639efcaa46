"""The queues of the pipes: entries in an order in which hardware may execute them.

The scalar unit of each core issues its entries in program order; its own take place at once, and
nothing is issued while it waits. A pipe takes the entries of its queue in their order. What follows
from the order does not depend on which of several queues goes on first: each ticket is posted once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ptokit.isa.model.words import Pipe
from ptokit.order.entries import Await, Drain, PipeQueue, Post, QueueEntry, Ticket

Before: TypeAlias = "Callable[[QueueEntry], QueueEntry | None]"


class Visitor(Protocol):
    """What looks at the entries as the queues take them."""

    def issued(self, entry: QueueEntry) -> None:
        """The scalar unit has put the entry into its queue."""
        ...

    def taken(self, entry: QueueEntry) -> None:
        """The entry is at the head of its queue and may go: its tickets are there."""
        ...


class PipeQueues:
    """The queues of a launch, from the entries of each core on."""

    def __init__(
        self,
        cores: Sequence[Sequence[QueueEntry]],
        visitor: Visitor,
        before: Before = lambda _: None,
    ) -> None:
        """`before`: an entry that must be taken first; of each core asked in program order."""
        self.cores, self.visitor, self.before = cores, visitor, before
        self.next = [0] * len(cores)  # the entry that each core issues next
        self.queues: dict[PipeQueue, deque[QueueEntry]] = {}
        self.posted: set[Ticket] = set()
        self.waiting: dict[Ticket | QueueEntry, list[PipeQueue]] = {}
        self.ready: deque[PipeQueue] = deque()

    def run(self) -> list[QueueEntry]:
        """Take all entries; what is left at the end are the heads of queues that wait for ever."""
        moved = True
        while moved:
            moved = False
            for core in range(len(self.cores)):
                moved |= self._issue(core)
        heads = [queue[0] for queue in self.queues.values() if queue]
        places = zip(self.cores, self.next, strict=True)
        return heads + [entries[n] for entries, n in places if n < len(entries)]

    def _issue(self, core: int) -> bool:
        """Issue what one core can; whether there was anything."""
        entries, start = self.cores[core], self.next[core]
        for number in range(start, len(entries)):
            entry = entries[number]
            if entry.queue.pipe is Pipe.S:
                if self._missing(entry) is not None or not self._drained(entry):
                    self.next[core] = number
                    return number > start
                self.visitor.issued(entry)
                self._take(entry)
            else:
                self.visitor.issued(entry)
                queue = self.queues.get(entry.queue)
                if queue is None:
                    queue = self.queues[entry.queue] = deque()
                queue.append(entry)
                self.before(entry)
                if len(queue) == 1:
                    self.ready.append(entry.queue)
            if self.ready:
                self._advance()
        self.next[core] = len(entries)
        return start < len(entries)

    def _drained(self, entry: QueueEntry) -> bool:
        """Whether a barrier of all pipes finds the queues of its core empty."""
        if not (isinstance(entry, Drain) and entry.every):
            return True
        core = entry.queue.core
        return not any(queue for key, queue in self.queues.items() if key.core == core)

    def _advance(self) -> None:
        """Take entries from the heads of queues that may go."""
        while self.ready:
            key = self.ready.popleft()
            queue = self.queues[key]
            while queue:
                entry = queue[0]
                missing = self._missing(entry)
                if missing is not None:
                    self.waiting.setdefault(missing, []).append(key)
                    break
                queue.popleft()
                self._take(entry)

    def _missing(self, entry: QueueEntry) -> Ticket | QueueEntry | None:
        """What the entry still waits for."""
        before = self.before(entry)
        if before is not None or not isinstance(entry, Await):
            return before
        return next((t for t in entry.tickets if t not in self.posted), None)

    def _take(self, entry: QueueEntry) -> None:
        self.visitor.taken(entry)
        self.ready.extend(self.waiting.pop(entry, ()))
        if isinstance(entry, Post):
            self.posted.add(entry.ticket)
            self.ready.extend(self.waiting.pop(entry.ticket, ()))
