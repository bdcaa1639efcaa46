"""The one model of waiting: channels, entries that post and wait, queues that hold entries.

A run is a list of entries for each core, in issue order. `PipeWork` accesses memory; the other
entries order the queues. A ticket identifies one signal of a channel, such as the third set of a
flag; waits name tickets. `PipeQueues` decides when a wait lets its queue go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from ptokit.ir.module import AnyOp
from ptokit.isa.model.words import KernelKind, Pipe
from ptokit.machine.coreplace import CorePlace
from ptokit.order.footprints import ByteRegion

IterationVector: TypeAlias = "tuple[tuple[str, int], ...]"  # loops, outermost first
Channel: TypeAlias = Hashable  # a flag, buffer, signal or FIFO counter


class PipeQueue(NamedTuple):
    """The queue of one pipe of one core."""

    core: int
    pipe: Pipe

    def __str__(self) -> str:
        return str(self.pipe)


class Ticket(NamedTuple):
    """The `number`-th signal of a channel, counted from 1."""

    channel: Channel
    number: int


class FlagChannel(NamedTuple):
    """The channel of a flag from one pipe of a core to another."""

    core: int
    source: Pipe | str
    target: Pipe | str
    event: int

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}, id {self.event}"


class BufferChannel(NamedTuple):
    """The channel of a buffer that pipes acquire and release (A5)."""

    core: int
    number: int

    def __str__(self) -> str:
        return f"buffer {self.number}"


class UnitChannel(NamedTuple):
    """The channel of the unit flags that products set or that the fix-pipe clears."""

    core: int
    of_products: bool


class LaunchedFifo(NamedTuple):
    """A FIFO of a launch: its rank, block, counter cells, name and slots."""

    rank: int | None
    block: int
    cell: int
    name: str
    slots: int
    slot_size: int
    flags: tuple[int, ...]  # the signals that the program assigns to the FIFO


class FifoChannel(NamedTuple):
    """A counter by which a core at one end of a FIFO signals the other end."""

    fifo: LaunchedFifo
    what: int  # PUSHED, POPPED or FREED
    lane: int


class SignalChannel(NamedTuple):
    """Signal `number` of a core, from one sender."""

    core: CorePlace
    number: int
    sender: CorePlace

    def __str__(self) -> str:
        return f"signal {self.number} of {self.core}"


class Meeting(NamedTuple):
    """The arrival of a core at a barrier of all cores of some kinds."""

    kinds: tuple[KernelKind, ...]
    core: CorePlace
    place: object = None  # the counter in memory, if only some cores take part


OF_ONE_CORE = FlagChannel, BufferChannel, UnitChannel


@dataclass(slots=True, eq=False)
class QueueEntry:
    """One entry of a queue, with its op and the iteration vector of the enclosing loops."""

    number: int  # in program order of its core
    op: AnyOp
    queue: PipeQueue
    iteration: IterationVector


@dataclass(slots=True, eq=False)
class PipeWork(QueueEntry):
    """An instruction that accesses memory or takes time; its cost depends on `operands`."""

    reads: tuple[ByteRegion, ...] = ()
    writes: tuple[ByteRegion, ...] = ()
    operands: tuple[tuple[str, object], ...] = ()  # (name, type with known extents)
    drains: tuple[bool, bool] = (False, False)  # waits for all pipes before, after
    function: tuple[object, ...] = (0,)  # the execution of a vector function in which it is


@dataclass(slots=True, eq=False)
class Post(QueueEntry):
    """A signal: the ticket is posted when all earlier entries of the queue are complete.

    `slots` are the FIFO slots that this signal frees; the core does not use them afterwards.
    """

    ticket: Ticket = field(kw_only=True)
    slots: tuple[ByteRegion, ...] = ()


@dataclass(slots=True, eq=False)
class Await(QueueEntry):
    """A wait: the queue stalls until all these tickets are posted."""

    tickets: tuple[Ticket, ...] = ()


@dataclass(slots=True, eq=False)
class Drain(QueueEntry):
    """A barrier: waits for the earlier entries of its queue, or of all queues if `every` is set."""

    every: bool = False


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
    """The queues of a launch: entries in an order in which hardware may execute them.

    The scalar unit of each core issues its entries in program order. Its own entries execute at
    once, and nothing is issued while it waits. A pipe takes its entries in issue order. Results do
    not depend on which of several queues goes first, because each ticket is posted once.
    """

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
