"""The queues of the pipes: entries in an order in which hardware may execute them.

The scalar unit of each core issues its entries in program order. Its own entries execute at once,
and nothing is issued while it waits. A pipe takes its entries in issue order. Results do not depend
on which of several queues goes first, because each ticket is posted once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ptokit.isa.model.words import Pipe
from ptokit.order.entries import Await, Drain, PipeQueue, Post, QueueEntry, Ticket

Before: TypeAlias = "Callable[[QueueEntry], QueueEntry | None]"


class Visitor(Protocol):
    """An analysis that visits the entries as the queues take them."""

    def issued(self, entry: QueueEntry) -> None:
        """Visit an entry that the scalar unit has put into its queue."""
        ...

    def taken(self, entry: QueueEntry) -> None:
        """Visit an entry at the head of its queue whose tickets are all posted."""
        ...


class PipeQueues:
    """The queues of a launch, fed from the entries of each core."""

    def __init__(
        self,
        cores: Sequence[Sequence[QueueEntry]],
        visitor: Visitor,
        before: Before = lambda _: None,
    ) -> None:
        """Create the queues; `before` returns an entry that must be taken before its argument.

        `before` is first called in program order of each core.
        """
        self.cores, self.visitor, self.before = cores, visitor, before
        self.next = [0] * len(cores)  # the entry that each core issues next
        self.queues: dict[PipeQueue, deque[QueueEntry]] = {}
        self.posted: set[Ticket] = set()
        self.waiting: dict[Ticket | QueueEntry, list[PipeQueue]] = {}
        self.ready: deque[PipeQueue] = deque()

    def run(self) -> list[QueueEntry]:
        """Take all entries that can be taken; return the heads of queues that wait forever."""
        moved = True
        while moved:
            moved = False
            for core in range(len(self.cores)):
                moved |= self._issue(core)
        heads = [queue[0] for queue in self.queues.values() if queue]
        places = zip(self.cores, self.next, strict=True)
        return heads + [entries[n] for entries, n in places if n < len(entries)]

    def _issue(self, core: int) -> bool:
        """Issue the entries that a core can issue; return whether there were any."""
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
        """Return False for a barrier of all pipes whose queues are not empty."""
        if not (isinstance(entry, Drain) and entry.every):
            return True
        core = entry.queue.core
        return not any(queue for key, queue in self.queues.items() if key.core == core)

    def _advance(self) -> None:
        """Take entries from the heads of the ready queues."""
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
        """Return a ticket or an entry that the entry still waits for."""
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
