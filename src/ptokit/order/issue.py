"""Issue traces: the entries that the cores of a run issue to the queues of their pipes.

`Issue` observes a run of the reference engine. A dry run (`dryrun`) executes only the scalar part
of a program and records the accesses to memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TypeAlias

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
from ptokit.machine.tile import Tile
from ptokit.order.coreissue import BufferFault, BufferMisuse, CoreIssue, IssuedFlags, Touched
from ptokit.order.fifoend import PUSHED, FifoSlots
from ptokit.order.footprints import Footprints, Ranges, Templates
from ptokit.order.waiting import Await, Channel, FifoChannel, Post, QueueEntry, Ticket

Way: TypeAlias = "tuple[int, bool]"  # the id of a condition and its value
BranchPair: TypeAlias = "tuple[Way | None, Way]"  # a branch decision and its predecessor


class Issue(Observer):
    """The issue trace of a run; `cores` has a list of entries for each core.

    As the clocks of a launch it makes entries of the signals between cores.
    """

    of_issue = True

    def __init__(self, target: Target, templates: Templates | None = None) -> None:
        self.target = target
        self.footprints = Footprints(target, {} if templates is None else templates)
        self.slots = FifoSlots(self.footprints.regions)
        self.numbers: dict[int, int] = {}  # of each core, by its identity
        self.issues: dict[int, CoreIssue] = {}
        self.released = Counter[Channel]()
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

    def launched(self, memories: Iterable[Memory], places: Sequence[CorePlace]) -> Issue:
        self.places = list(places)
        self.footprints.launched(self.places)
        self.released.clear()
        return self

    def release(self, core: int, keys: Sequence[Hashable]) -> None:
        for key in keys:
            self.released[key] += 1
            self.of(core).later.append(Ticket(key, self.released[key]))

    def acquire(self, core: int, key: Hashable, times: int | None) -> None:
        """Wait for the releases up to number `times` that the core has not awaited yet."""
        last = self.released[key] if times is None else times
        issue = self.of(core)
        first, issue.awaits[key] = issue.awaits[key], max(issue.awaits[key], last)
        tickets = tuple(Ticket(key, number + 1) for number in range(first, last))
        pipe = self.waits_in(issue.op)
        issue.tell(pipe)  # a core signals its arrival before it waits
        if tickets:
            issue.wait(pipe, tickets)
        if isinstance(key, FifoChannel) and key.what == PUSHED:
            issue.pushed += tickets

    def later(self, core: int, do: Callable[[], None]) -> Callable[[], None]:
        """Return `do` wrapped so that its signals become entries at the issue position."""
        issue = self.of(core)
        place, pipe = issue.issued_here(), self.footprints.pipe(issue.op, issue.core.kind)
        return partial(issue.execute, place, pipe, do)

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
