"""Issuing: which entries the cores of a run put into the queues of their pipes.

An `Issue` observes a run of the reference. `dry_run` follows the scalar part of a program alone:
what its pipes would do to memory is noted, not done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeAlias

from ptokit.ir.module import AnyOp, Block, Op, Value
from ptokit.isa.lang.traits import BY_SCALAR
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import Pipe
from ptokit.sim.arguments import Env
from ptokit.sim.execute import Core
from ptokit.sim.observer import Observer
from ptokit.sim.pipes.byteregions import ByteRegion
from ptokit.sim.pipes.entries import (
    Await,
    BufferChannel,
    Channel,
    Drain,
    FlagChannel,
    PipeQueue,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
    Turn,
)
from ptokit.sim.pipes.footprints import Footprints
from ptokit.sim.state import Flags
from ptokit.sim.state import Queue as FlagEnd

Touched: TypeAlias = "tuple[ByteRegion, ...]"
Operands: TypeAlias = "tuple[tuple[str, object], ...]"


class IssuedFlags(Flags):
    """The flags of a core, whose sets and waits become entries."""

    def __init__(self, of: CoreIssue) -> None:
        super().__init__()
        self.of = of

    def set(self, source: FlagEnd, target: FlagEnd, event: int) -> None:
        if source is not target and isinstance(source, Pipe):
            self.of.post(source, FlagChannel(self.of.core, source, target, event))

    def wait(self, source: FlagEnd, target: FlagEnd, event: int) -> None:
        if source is target:
            self.barrier(source)
        elif isinstance(target, Pipe):
            self.of.take(target, FlagChannel(self.of.core, source, target, event))

    def barrier(self, pipe: FlagEnd) -> None:
        if isinstance(pipe, Pipe):
            self.of.drain(pipe)

    def acquire(self, pipe: FlagEnd, buffer: int) -> None:
        """The first one finds the buffer free."""
        if isinstance(pipe, Pipe):
            self.of.turn_of(pipe, BufferChannel(self.of.core, buffer))

    def release(self, pipe: FlagEnd, buffer: int) -> None:
        if isinstance(pipe, Pipe):
            self.of.post(pipe, BufferChannel(self.of.core, buffer))


class CoreIssue:
    """The entries of one core, in the order in which they are issued."""

    def __init__(self, core: int, loops: dict[int, tuple[Value, ...]]) -> None:
        self.core = core
        self.entries: list[QueueEntry] = []
        self.posts, self.awaits = Counter[Channel](), Counter[Channel]()
        self.loops = loops
        self.op: Any = None  # that is executed; Any: an op
        self.turn: Turn = ()

    def begin(self, op: AnyOp, env: Env) -> None:
        """What follows comes from this op."""
        self.op = op
        self.turn = tuple([(value.name, env[value]) for value in self.loops.get(id(op), ())])

    def _next(self, pipe: Pipe) -> tuple[int, AnyOp, PipeQueue, Turn]:
        return len(self.entries), self.op, PipeQueue(self.core, pipe), self.turn

    def work(self, pipe: Pipe, reads: Touched, writes: Touched, operands: Operands) -> None:
        self.entries.append(PipeWork(*self._next(pipe), reads, writes, operands))

    def post(self, pipe: Pipe, channel: Channel) -> None:
        self.posts[channel] += 1
        ticket = Ticket(channel, self.posts[channel])
        self.entries.append(
            Post(len(self.entries), self.op, PipeQueue(self.core, pipe), self.turn, ticket=ticket)
        )

    def take(self, pipe: Pipe, channel: Channel) -> None:
        """Wait for the next ticket of a channel that nobody has waited for."""
        self.awaits[channel] += 1
        self._await(pipe, Ticket(channel, self.awaits[channel]))

    def turn_of(self, pipe: Pipe, buffer: BufferChannel) -> None:
        """Wait for the release of the buffer before."""
        self.awaits[buffer] += 1
        if self.awaits[buffer] > 1:
            self._await(pipe, Ticket(buffer, self.awaits[buffer] - 1))

    def _await(self, pipe: Pipe, ticket: Ticket) -> None:
        self.entries.append(
            Await(len(self.entries), self.op, PipeQueue(self.core, pipe), self.turn, (ticket,))
        )

    def drain(self, pipe: Pipe) -> None:
        every = pipe is Pipe.ALL
        self.entries.append(Drain(*self._next(Pipe.S if every else pipe), every))


class Issue(Observer):
    """The entries of every core of a run; `cores` has a list for each."""

    stepwise: ClassVar[bool] = True

    def __init__(self, target: Target) -> None:
        self.footprints = Footprints(target)
        self.issues: dict[int, CoreIssue] = {}
        self.loops: dict[int, tuple[Value, ...]] = {}
        self.names: list[str] = []

    @property
    def cores(self) -> Sequence[Sequence[QueueEntry]]:
        return [issue.entries for issue in self.issues.values()]

    def prepared(self, core: Core, body: Block) -> None:
        for ops, loops in _loops(body, ()):
            self.loops |= dict.fromkeys(map(id, ops), loops)
        issue = self.issues[id(core)] = CoreIssue(len(self.issues), self.loops)
        core.state.flags = IssuedFlags(issue)
        self.names.append(str(getattr(core, "place", f"block {core.block_idx}")))

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        self.issues[id(core)].begin(op, env)

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        if isinstance(op, Op) and moves(op):
            self.work(op, env, core)

    def work(self, op: Op, env: Env, core: Core) -> None:
        """The op does its work, in the queue of its pipe."""
        issue = self.issues[id(core)]
        template = self.footprints.template(op, env)
        if template.pipe is None or not (template.reads or template.writes):
            return
        place = self.footprints.placed
        reads = place(template.reads, env, core, issue.core)
        writes = place(template.writes, env, core, issue.core)
        issue.work(template.pipe, reads, writes, template.operands)


def moves(op: Op) -> bool:
    """Whether an op reads or writes memory itself."""
    return bool(op.page.executes or op.page.declared) and not op.regions


def _loops(
    block: Block, around: tuple[Value, ...]
) -> Iterator[tuple[Sequence[AnyOp], tuple[Value, ...]]]:
    """The ops of each block with the numbers that the loops around them count."""
    counted = tuple(a for a in block.args[:1] if _counts(a))
    yield block.ops, around + counted
    for op in block.ops:
        for region in op.regions:
            yield from _loops(region, around + counted)


def _counts(value: Value) -> bool:
    return str(value.type) in ("index", "i32", "i64")


def by_scalar(op: Op) -> bool:
    """Whether the scalar unit works on memory: in a dry run nobody knows what it finds there."""
    return BY_SCALAR in op.page.traits


def numbers_of(op: Op) -> bool:
    """Whether the op gives numbers only."""
    return bool(op.results) and {r.kind for r in op.page.results()} == {Kind.SCALAR}
