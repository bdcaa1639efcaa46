"""Issue traces: the entries that the cores of a run issue to the queues of their pipes.

`Issue` observes a run of the reference engine. A dry run (`dryrun`) executes only the scalar part
of a program and records the accesses to memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import CUBE, Pipe, V
from ptokit.machine.arguments import Env
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.execute import Core, moves, whole_number
from ptokit.machine.memory import Memory
from ptokit.machine.observer import Observer
from ptokit.machine.state import Flags
from ptokit.machine.state import Queue as FlagEnd
from ptokit.machine.tile import Tile
from ptokit.order.byteregions import ByteRegion, ByteRegions, Ranges
from ptokit.order.entries import (
    Await,
    BufferChannel,
    Channel,
    Drain,
    FlagChannel,
    IterationVector,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
    UnitChannel,
)
from ptokit.order.fifoend import FREED, PUSHED, FifoChannel
from ptokit.order.footprints import Footprints, Templates
from ptokit.order.heldbuffers import BufferFault, BufferMisuse, HeldBuffers
from ptokit.order.poppedtiles import FifoSlots, PoppedTile, PoppedTiles
from ptokit.order.unitflags import UnitFlags

Touched: TypeAlias = "tuple[ByteRegion, ...]"
Operands: TypeAlias = "tuple[tuple[str, object], ...]"
Way: TypeAlias = "tuple[int, bool]"  # the id of a condition and its value
BranchPair: TypeAlias = "tuple[Way | None, Way]"  # a branch decision and its predecessor


class FlagEvents(Protocol):
    """A receiver of the flag operations of a core."""

    number: int

    def post(self, pipe: Pipe, channel: Channel) -> None: ...

    def take(self, pipe: Pipe, channel: Channel) -> None: ...

    def acquire_buffer(self, pipe: Pipe, buffer: BufferChannel, mode: int) -> None: ...

    def pass_on(self, pipe: Pipe, buffer: BufferChannel, mode: int) -> None: ...

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
        """Acquire a buffer; the first acquire finds the buffer free."""
        if isinstance(pipe, Pipe):
            self.of.acquire_buffer(pipe, BufferChannel(self.of.number, buffer), mode)

    def release(self, pipe: FlagEnd, buffer: int, mode: int) -> None:
        if isinstance(pipe, Pipe):
            self.of.pass_on(pipe, BufferChannel(self.of.number, buffer), mode)


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

    def post(self, pipe: Pipe, channel: Channel) -> None:
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

    def take(self, pipe: Pipe, channel: Channel) -> None:
        """Wait for the next signal of a channel that this core has not awaited."""
        self.awaits[channel] += 1
        self.wait(pipe, (Ticket(channel, self.awaits[channel]),))

    def acquire_buffer(self, pipe: Pipe, buffer: BufferChannel, mode: int) -> None:
        """Wait for the previous release of the buffer."""
        if not mode:
            self.buffers.acquired(QueueEntry(*self._next(pipe)), buffer)
        self.awaits[buffer] += 1
        if self.awaits[buffer] > 1:
            self.wait(pipe, (Ticket(buffer, self.awaits[buffer] - 1),))

    def pass_on(self, pipe: Pipe, buffer: BufferChannel, mode: int) -> None:
        """Release a buffer."""
        if not mode:
            self.buffers.released(QueueEntry(*self._next(pipe)), buffer)
        self.post(pipe, buffer)

    def wait(self, pipe: Pipe, tickets: tuple[Ticket, ...]) -> None:
        self.entries.append(Await(*self._next(pipe), tickets))

    def drain(self, pipe: Pipe) -> None:
        every = pipe is Pipe.ALL
        self.entries.append(Drain(*self._next(Pipe.S if every else pipe), every))


class CrossCore:
    """The signals between cores, as entries of the queues of the executing instructions."""

    of_issue = True

    def __init__(self, issue: Issue) -> None:
        self.issue = issue
        self.released = Counter[Channel]()

    def release(self, core: int, keys: Sequence[Hashable]) -> None:
        for key in keys:
            self.released[key] += 1
            self.issue.of(core).later.append(Ticket(key, self.released[key]))

    def acquire(self, core: int, key: Hashable, times: int | None) -> None:
        """Wait for the releases up to number `times` that the core has not awaited yet."""
        last = self.released[key] if times is None else times
        issue = self.issue.of(core)
        first, issue.awaits[key] = issue.awaits[key], max(issue.awaits[key], last)
        tickets = tuple(Ticket(key, number + 1) for number in range(first, last))
        pipe = self.issue.waits_in(issue.op)
        issue.tell(pipe)  # a core signals its arrival before it waits
        if tickets:
            issue.wait(pipe, tickets)
        if isinstance(key, FifoChannel) and key.what == PUSHED:
            issue.pushed += tickets

    def later(self, core: int, do: Callable[[], None]) -> Callable[[], None]:
        """Return `do` wrapped so that its signals become entries at the issue position."""
        issue = self.issue.of(core)
        place, pipe = issue.issued_here(), self.issue.footprints.pipe(issue.op, issue.core.kind)
        return partial(issue.execute, place, pipe, do)


class Issue(Observer):
    """The issue trace of a run; `cores` has a list of entries for each core."""

    def __init__(self, target: Target, templates: Templates | None = None) -> None:
        self.target = target
        self.footprints = Footprints(target, {} if templates is None else templates)
        self.slots = FifoSlots(self.footprints.regions)
        self.numbers: dict[int, int] = {}  # of each core, by its identity
        self.issues: dict[int, CoreIssue] = {}
        self.loops: dict[int, tuple[Value, ...]] = {}
        self.places: list[CorePlace] = []
        self.begun, self.reached = (
            set[int](),
            set[int](),
        )  # ids of ops that started; that accessed elements
        self.cut = False  # the trace was cut off
        self.branch_pairs = set[BranchPair]()  # the branch decisions
        self.chosen = False  # branches were forced: the traces of cores may not match
        # of runs of several blocks: which conflicts between these do not hang on samples
        self.certain: Callable[[AnyOp, AnyOp], bool] | None = None
        self.given: Sequence[str] = ()  # the numbers that only this run is about
        self.ended: Sequence[Diagnostic] = ()  # why cores did not come to their ends

    @property
    def cores(self) -> Sequence[Sequence[QueueEntry]]:
        return [self.issues[number].in_order() for number in sorted(self.issues)]

    @property
    def buffer_misuses(self) -> list[BufferMisuse]:
        """Return the faults of buffer acquires and releases."""
        every = [fault for issue in self.issues.values() for fault in issue.buffers.faults()]
        return [one for one in every if not self.cut or one.fault is not BufferFault.NEVER_RELEASED]

    @property
    def names(self) -> list[str]:
        """Return the name of each core."""
        every = [self.issues[number].core for number in sorted(self.issues)]
        return [str(getattr(core, "place", f"block {core.block_idx}")) for core in every]

    @property
    def blocks(self) -> list[int]:
        """Return the block of each core."""
        return [self.issues[number].core.block_idx for number in sorted(self.issues)]

    def launched(self, memories: Iterable[Memory], places: Sequence[CorePlace]) -> CrossCore:
        self.places = list(places)
        self.footprints.launched(self.places)
        return CrossCore(self)

    def prepared(self, core: Core, body: Block) -> None:
        for ops, loops in _loops(body, ()):
            self.loops |= dict.fromkeys(map(id, ops), loops)
        place = getattr(core, "place", None)
        number = len(self.issues) if place is None else self.places.index(place)
        issue = self.issues[number] = CoreIssue(number, core, self.loops, self.slots)
        issue.functions.update(_functions(body.ops, self.loops))
        self.numbers[id(core)] = number
        core.state.flags = IssuedFlags(issue)

    def proven(self, *, blocks_only: bool) -> bool:
        """Return whether a proof shows, without a list of entries, that the order is correct.

        `blocks_only`: consider only the order between blocks.
        """
        return False

    def alone(self, block: int) -> Issue | None:
        """Return the entries of one block; None if its cores wait for another block."""
        own = [one for one in self.issues.values() if one.core.block_idx == block]
        others = [one for one in self.issues.values() if one.core.block_idx != block]
        posted = {e.ticket for one in others for e in one.in_order() if isinstance(e, Post)}
        awaits = (e for one in own for e in one.in_order() if isinstance(e, Await))
        if any(not posted.isdisjoint(entry.tickets) for entry in awaits):
            return None
        found = copy(self)
        found.issues = self.issues | {one.number: one.emptied() for one in others}
        return found

    def other_blocks(self, first: QueueEntry, second: QueueEntry) -> bool:
        """Return whether two entries belong to different blocks."""
        blocks = {self.issues[entry.queue.core].core.block_idx for entry in (first, second)}
        return len(blocks) > 1

    def of(self, core: int) -> CoreIssue:
        """Return the entries of a core."""
        return self.issues[core]

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        self.issues[self.numbers[id(core)]].begin(op, env)

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        if not isinstance(op, Op):
            return
        if moves(op):
            self.work(op, env, core)
        issue = self.issues[self.numbers[id(core)]]
        if issue.later:
            issue.tell(self.footprints.pipe(op, issue.core.kind))

    def work(self, op: Op, env: Env, core: Core) -> None:
        """Enter the accesses of an executed op in the queue of its pipe."""
        issue = self.issues[self.numbers[id(core)]]
        template = self.footprints.template(op, env)
        popped = [*_popped(op, env)]
        touched = bool(template.reads or template.writes or popped)
        (self.reached if touched or not template.on_nothing else self.begun).add(id(op))
        if template.pipe is None or not touched:
            return
        place, operands = self.footprints.placed, template.operands
        reads = place(template.reads, env, core, issue.number)
        written = (*template.writes, *(w for _, w in popped))
        writes = place(written, env, core, issue.number, template.lanes)
        operands += tuple((name, env[value].type) for name, (value, _) in popped)
        if not self.target.releases:
            if op.page.fifo_role is FifoRole.POPS and issue.pushed and writes:  # nothing moves
                reads, operands = (), ()
                writes = issue.tiles.pop(template.pipe, writes, issue.pushed)
            else:
                reads, writes = self._in_slots(op, issue, template.pipe, reads, writes)
        issue.work(template.pipe, reads, writes, operands, template.drains)

    def _in_slots(
        self, op: Op, issue: CoreIssue, pipe: Pipe, reads: Touched, writes: Touched
    ) -> tuple[Touched, Touched]:
        """Return the accesses with the FIFO slots in which popped and pushed tiles lie."""
        reads, writes = issue.tiles.used(pipe, reads, writes)
        if op.page.fifo_role is FifoRole.PUSHES:
            lanes = range(issue.core.lanes if issue.core.kind is CUBE else 1)
            sent = [t for t in issue.later if _is_push(t)]
            writes = (*writes, *(self.slots.slot(t, lane) for t in sent for lane in lanes))
        return reads, writes

    def waits_in(self, op: Op) -> Pipe:
        """Return the queue that waits for other cores: that of the op, or of the whole core."""
        return self.footprints.pipe(op) if self.target.separate else Pipe.S


def _is_push(ticket: Ticket) -> bool:
    return isinstance(ticket.channel, FifoChannel) and ticket.channel.what == PUSHED


def _popped(op: Op, env: Env) -> Iterator[tuple[str, tuple[Value, Ranges]]]:
    """Yield the tile that a pop returns, with its name and all its bytes."""
    if op.page.fifo_role is FifoRole.POPS:
        for name, value in op.named_results():
            if isinstance(tile := env.get(value), Tile):
                yield name, (value, ((0, int(tile.type.nbytes)),))


def _loops(
    block: Block, around: tuple[Value, ...]
) -> Iterator[tuple[Sequence[AnyOp], tuple[Value, ...]]]:
    """Yield the ops of each block with the induction variables of the enclosing loops."""
    counted = tuple(a for a in block.args[:1] if whole_number(a))
    yield block.ops, around + counted
    for op in block.ops:
        for region in op.regions:
            yield from _loops(region, around + counted)


def _functions(
    ops: Sequence[AnyOp], loops: Mapping[int, tuple[Value, ...]]
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each op in a vector function, with its function and how many loops are around that."""
    for op in ops:
        scope = isinstance(op, Op) and op.page.pipe is V and bool(op.regions)
        around = len(loops.get(id(op), ()))
        for region in op.regions:
            if scope:
                yield from ((id(inner), (id(op), around)) for inner in region.walk())
            else:
                yield from _functions(region.ops, loops)
