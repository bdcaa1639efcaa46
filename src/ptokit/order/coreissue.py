"""The entries that one core issues: its instructions, and its flags and buffers as channels.

A product with a final phase sets the unit flags of its result. Moves and stores out of the
accumulator with a phase wait for these flags, and final ones clear them; until then, products with
a phase wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeAlias

from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.words import AccPhase, Phase, Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.state import Flags
from ptokit.machine.state import Queue as FlagEnd
from ptokit.order.fifoend import FREED, FifoSlots, PoppedTile, PoppedTiles
from ptokit.order.footprints import ByteRegion, ByteRegions
from ptokit.order.waiting import (
    Await,
    BufferChannel,
    Channel,
    Drain,
    FifoChannel,
    FlagChannel,
    IterationVector,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
    UnitChannel,
)
from ptokit.values.enumerations import ACC


class BufferFault(Enum):
    """Kinds of faulty acquires and releases: what a pipe does, and the remedy."""

    NOT_ACQUIRED = (
        "releases {} without having acquired it",
        "acquire the buffer first, or remove this release",
    )
    ACQUIRED_TWICE = (
        "acquires {} again before releasing it",
        "release the buffer first, or remove this acquire",
    )
    NEVER_RELEASED = (
        "acquires {} and never releases it",
        "release the buffer after its last use by the pipe",
    )


class BufferMisuse(NamedTuple):
    """A faulty acquire or release; `first` is the earlier acquire."""

    fault: BufferFault
    entry: QueueEntry
    buffer: BufferChannel
    first: QueueEntry | None = None


class HeldBuffers:
    """The acquires and releases of one core, in program order."""

    def __init__(self) -> None:
        self.held: dict[tuple[Pipe, BufferChannel], QueueEntry] = {}
        self.wrong: list[BufferMisuse] = []

    def acquired(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """Record that a pipe acquires a buffer."""
        first = self.held.setdefault((entry.queue.pipe, buffer), entry)
        if first is not entry:
            self.wrong.append(BufferMisuse(BufferFault.ACQUIRED_TWICE, entry, buffer, first))

    def released(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """Record that a pipe releases a buffer."""
        if self.held.pop((entry.queue.pipe, buffer), None) is None:
            self.wrong.append(BufferMisuse(BufferFault.NOT_ACQUIRED, entry, buffer))

    def faults(self) -> list[BufferMisuse]:
        """Return all faults; call after the last entry was issued."""
        kept = [BufferMisuse(BufferFault.NEVER_RELEASED, e, b) for (_, b), e in self.held.items()]
        return [*self.wrong, *kept]


class UnitFlags:
    """The unit flags of one core: bytes handed on, with the tickets of both directions."""

    def __init__(self) -> None:
        self.handed: dict[bool, list[tuple[ByteRegion, Ticket]]] = {True: [], False: []}

    def awaited(self, op: AnyOp, touched: Sequence[ByteRegion]) -> tuple[Ticket, ...]:
        """Return the tickets that an instruction waits for, and take them off the pending list."""
        phase = _phase(op)
        if phase is None:
            return ()
        source = not isinstance(phase, AccPhase)
        met, left = list[Ticket](), list[tuple[ByteRegion, Ticket]]()
        for region, ticket in self.handed[source]:
            if any(region.overlaps(one) for one in _accumulated(touched)):
                met.append(ticket)
            else:
                left.append((region, ticket))
        self.handed[source] = left
        return tuple(dict.fromkeys(met))

    def hands_on(self, op: AnyOp) -> bool | None:
        """Return True for a final product, False for another final instruction, None otherwise."""
        phase = _phase(op)
        return isinstance(phase, AccPhase) if phase in (AccPhase.FINAL, Phase.FINAL) else None

    def handed_on(self, ticket: Ticket, touched: Sequence[ByteRegion], *, product: bool) -> None:
        """Note bytes that were handed on with a ticket."""
        self.handed[product] += [(region, ticket) for region in _accumulated(touched)]


def _phase(op: AnyOp) -> AccPhase | Phase | None:
    """Return the phase of an instruction that uses unit flags."""
    attrs = op.attrs.values() if isinstance(op, Op) else ()
    found = next((value for value in attrs if isinstance(value, AccPhase | Phase)), None)
    return None if found in (AccPhase.UNSPECIFIED, Phase.UNSPECIFIED) else found


def _accumulated(touched: Sequence[ByteRegion]) -> list[ByteRegion]:
    return [region for region in touched if region.space.name == SPACES[ACC]]


Touched: TypeAlias = "tuple[ByteRegion, ...]"
Operands: TypeAlias = "tuple[tuple[str, object], ...]"


class FlagEvents(Protocol):
    """A receiver of the flag operations of a core."""

    number: int

    def post(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None: ...

    def take(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None: ...

    def drain(self, pipe: Pipe) -> None: ...


class IssuedFlags(Flags):
    """The flags of a core, whose operations become entries."""

    def __init__(self, of: FlagEvents) -> None:
        super().__init__()
        self.of = of
        self.channels: dict[tuple[FlagEnd, FlagEnd, int], FlagChannel] = {}

    def _channel(self, source: FlagEnd, target: FlagEnd, event: int) -> FlagChannel:
        key = source, target, event
        if key not in self.channels:
            self.channels[key] = FlagChannel(self.of.number, *key)
        return self.channels[key]

    def set(self, source: FlagEnd, target: FlagEnd, event: int) -> None:
        if source is not target and isinstance(source, Pipe):
            self.of.post(source, self._channel(source, target, event))

    def wait(self, source: FlagEnd, target: FlagEnd, event: int) -> None:
        if source is target:
            self.barrier(source)
        elif isinstance(target, Pipe):
            self.of.take(target, self._channel(source, target, event))

    def barrier(self, pipe: FlagEnd) -> None:
        if isinstance(pipe, Pipe):
            self.of.drain(pipe)

    def acquire(self, pipe: FlagEnd, buffer: int, mode: int) -> None:
        if isinstance(pipe, Pipe):
            self.of.take(pipe, BufferChannel(self.of.number, buffer), mode)

    def release(self, pipe: FlagEnd, buffer: int, mode: int) -> None:
        if isinstance(pipe, Pipe):
            self.of.post(pipe, BufferChannel(self.of.number, buffer), mode)


class LateEntries(NamedTuple):
    """The signals of an instruction that executes late, at the position of its issue."""

    start: int  # the number of entries issued before
    op: AnyOp
    iteration: IterationVector
    entries: list[QueueEntry]


class CoreIssue:
    """The entries of one core, in issue order."""

    def __init__(
        self,
        number: int,
        core: Core,
        loops: dict[int, tuple[Value, ...]],
        slots: FifoSlots | None = None,
    ) -> None:
        self.number, self.core = number, core
        self.tiles = PoppedTiles(slots or FifoSlots(ByteRegions()), core.subblock_idx)
        self.pushed: list[Ticket] = []  # the tickets that the current op awaited
        self.entries: list[QueueEntry] = []
        self.late: list[LateEntries] = []  # entries of instructions that execute after their issue
        self.queues = {pipe: PipeQueue(number, pipe) for pipe in Pipe}
        self.posts, self.awaits = Counter[Channel](), Counter[Channel]()
        self.loops = loops
        self.op: Any = None  # the current op; Any: an op
        self.iteration: IterationVector = ()
        self.functions: dict[int, tuple[int, int]] = {}  # see `_functions`
        self.buffers, self.units = HeldBuffers(), UnitFlags()
        self.later: list[Ticket] = []  # signals to post when the op is complete

    def emptied(self) -> CoreIssue:
        """Return the core without entries."""
        return CoreIssue(self.number, self.core, self.loops)

    def issued_here(self) -> LateEntries:
        """Reserve a position for the entries that the op adds when it executes."""
        self.late.append(LateEntries(len(self.entries), self.op, self.iteration, []))
        return self.late[-1]

    def execute(self, place: LateEntries, pipe: Pipe, do: Callable[[], None]) -> None:
        """Call `do` with the op of `place` as the current op, then restore the current op."""
        now = self.op, self.iteration, self.entries, self.later
        _, self.op, self.iteration, self.entries = place
        self.later = []
        try:
            do()
            self.tell(pipe)
        finally:
            self.op, self.iteration, self.entries, self.later = now

    def in_order(self) -> list[QueueEntry]:
        """Return all entries in issue order."""
        if self.late:
            found, start = list[QueueEntry](), 0
            for place in self.late:
                found += [*self.entries[start : place.start], *place.entries]
                start = place.start
            self.entries, self.late = found + self.entries[start:], []
            for number, entry in enumerate(self.entries):
                entry.number = number
        return self.entries

    def begin(self, op: AnyOp, env: Env) -> None:
        """Make `op` the current op with its iteration vector."""
        self.op = op
        self.pushed.clear()
        self.iteration = tuple([(value.name, env[value]) for value in self.loops.get(id(op), ())])

    def _next(self, pipe: Pipe) -> tuple[int, AnyOp, PipeQueue, IterationVector]:
        return len(self.entries), self.op, self.queues[pipe], self.iteration

    def work(
        self,
        pipe: Pipe,
        reads: Touched,
        writes: Touched,
        operands: Operands,
        drains: tuple[bool, bool],
    ) -> None:
        before, behind = drains
        if before:
            self.drain(Pipe.ALL)
        touched = (*reads, *writes)
        if tickets := self.units.awaited(self.op, touched):
            self.wait(pipe, tickets)
        function, loops = self.functions.get(id(self.op), (0, 0))
        within = (function, *self.iteration[:loops])
        work = PipeWork(*self._next(pipe), reads, writes, operands, drains, within)
        self.entries.append(work)
        product = self.units.hands_on(self.op)
        if product is not None:
            channel = UnitChannel(self.number, product)
            self.post(pipe, channel)
            ticket = Ticket(channel, self.posts[channel])
            self.units.handed_on(ticket, touched, product=product)
        if behind:
            self.drain(Pipe.ALL)

    def post(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None:
        if isinstance(channel, BufferChannel) and not mode:
            self.buffers.released(QueueEntry(*self._next(pipe)), channel)
        self.posts[channel] += 1
        ticket = Ticket(channel, self.posts[channel])
        self.entries.append(Post(*self._next(pipe), ticket=ticket))

    def tell(self, pipe: Pipe) -> None:
        """Post the pending signals to other cores."""
        for ticket in self.later:
            tile = self._released(ticket.channel)
            place = self._next(pipe if tile is None else tile.pipe)
            self.entries.append(Post(*place, ticket=ticket, slots=tile.slots if tile else ()))
        self.later.clear()

    def _released(self, channel: Channel) -> PoppedTile | None:
        """Return the tile whose slot a signal frees, if the channel frees slots."""
        if isinstance(channel, FifoChannel) and channel.what == FREED:
            return self.tiles.release(channel.fifo)
        return None

    def take(self, pipe: Pipe, channel: Channel, mode: int = 0) -> None:
        """Wait for the next signal of a channel that this core has not awaited.

        The first acquire of a buffer finds the buffer free.
        """
        number = self.awaits[channel] = self.awaits[channel] + 1
        if isinstance(channel, BufferChannel):
            number -= 1
            if not mode:
                self.buffers.acquired(QueueEntry(*self._next(pipe)), channel)
        if number:
            self.wait(pipe, (Ticket(channel, number),))

    def wait(self, pipe: Pipe, tickets: tuple[Ticket, ...]) -> None:
        self.entries.append(Await(*self._next(pipe), tickets))

    def drain(self, pipe: Pipe) -> None:
        every = pipe is Pipe.ALL
        self.entries.append(Drain(*self._next(Pipe.S if every else pipe), every))
