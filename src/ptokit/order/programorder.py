"""Faults that the program order of entries shows: flags set twice, clashes, and leftovers.

Clashes are those with flags and signals that instructions use internally. Leftovers are signals
without waits, FIFO entries without pops, and slots not freed; a run without an issue trace counts
them by the counters of its FIFOs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ptokit.analysis.fifoentries import fact
from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity, titled
from ptokit.ir.module import AnyOp, Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import INNER_PAIRS, MEETING_SIGNALS, Pipe
from ptokit.machine.memory import Memory
from ptokit.order.fifoend import COUNTERS, FREED, POPPED, PUSHED
from ptokit.order.group import Grid
from ptokit.order.signalcounters import OF_SECOND
from ptokit.order.waiting import (
    Await,
    Channel,
    FifoChannel,
    FlagChannel,
    LaunchedFifo,
    Meeting,
    PipeWork,
    Post,
    QueueEntry,
    SignalChannel,
)

INNER_EVENT = 0  # the id that instructions use


def sets_without_wait(cores: Sequence[Sequence[QueueEntry]]) -> set[int]:
    """Return the ids of ops that set a flag which is up in program order.

    A set after the wait for the last set is right, though the wait may not be complete: see dispute
    X112.
    """
    found: set[int] = set()
    up = Counter[FlagChannel]()
    for entry in (entry for entries in cores for entry in entries):
        if isinstance(entry, Post) and isinstance(entry.ticket.channel, FlagChannel):
            if up[entry.ticket.channel] > 0:
                found.add(id(entry.op))
            up[entry.ticket.channel] += 1
        elif isinstance(entry, Await):
            up.subtract(t.channel for t in entry.tickets if isinstance(t.channel, FlagChannel))
    return found


def clashes(cores: Sequence[Sequence[QueueEntry]], target: Target) -> list[tuple[PipeWork, Post]]:
    """Return pairs of a vector instruction and a flag set that is up while it runs.

    A flag is up in program order from its set to its wait. Which pair of pipes an instruction uses
    internally is not published, so all pairs count. Each pair of ops is listed once.
    """
    found: dict[tuple[int, int], tuple[PipeWork, Post]] = {}
    for entries in cores:
        up: dict[FlagChannel, list[Post]] = {}
        for entry in entries:
            if isinstance(entry, PipeWork):
                if entry.queue.pipe is Pipe.V and any(up.values()) and uses_inner(entry.op, target):
                    for post in (post for posts in up.values() for post in posts):
                        found.setdefault((id(entry.op), id(post.op)), (entry, post))
            elif isinstance(entry, Post) and watched(entry.ticket.channel):
                assert isinstance(entry.ticket.channel, FlagChannel)
                up.setdefault(entry.ticket.channel, []).append(entry)
            elif isinstance(entry, Await):
                for channel in (t.channel for t in entry.tickets):
                    if isinstance(channel, FlagChannel) and up.get(channel):
                        up[channel].pop(0)
    return list(found.values())


def signal_clashes(
    cores: Sequence[Sequence[QueueEntry]],
) -> list[tuple[QueueEntry, Post, SignalChannel]]:
    """Return the signals that the program sends although an instruction uses the number."""
    used, sent = dict[int, QueueEntry](), dict[int, tuple[Post, SignalChannel]]()
    for entry in (e for entries in cores for e in entries if isinstance(e, Post)):
        channel = entry.ticket.channel
        if isinstance(channel, SignalChannel):
            sent.setdefault(channel.number % OF_SECOND, (entry, channel))
        for number in _signals_of(channel, entry.op):
            used.setdefault(number, entry)
    return [(used[number], *found) for number, found in sent.items() if number in used]


def _signals_of(channel: Channel, op: AnyOp) -> tuple[int, ...]:
    if isinstance(channel, FifoChannel):
        return channel.fifo.flags
    by_memory = isinstance(op, Op) and any(True for _ in op.values())
    if isinstance(channel, Meeting) and not by_memory:
        return MEETING_SIGNALS[channel.kinds]
    return ()


def watched(channel: object) -> bool:
    """Return whether instructions may use this flag internally."""
    ends = isinstance(channel, FlagChannel) and (channel.source, channel.target)
    return ends in INNER_PAIRS and getattr(channel, "event", None) == INNER_EVENT


def uses_inner(op: AnyOp, target: Target) -> bool:
    """Return whether an op is an instruction that uses flags internally on the target."""
    return isinstance(op, Op) and has_inner_flags(op.page, target)


@cache
def has_inner_flags(page: type[Instr], target: Target) -> bool:
    """Return whether the instruction uses flags internally on the target."""
    return target.follows(page.inner_flags)


class LeftoverKind(Enum):
    """Kinds of leftovers: the verbs for the message and the remedy."""

    SIGNAL = "sent", "waited for", "add a wait, or remove a signal"
    ENTRY = "pushed", "popped", "add a pop, or remove a push"
    SLOT = "popped", "freed", "free the slot after the last use of its entry"

    def __init__(self, given: str, taken: str, help: str) -> None:
        self.given, self.taken, self.help = given, taken, help

    def seen(self, name: str, given: int, taken: int) -> str:
        """Return the numbers as text."""
        return f"{name}: {given} {self.given}, {taken} {self.taken}"

    def told(
        self, op: AnyOp, seen: str, target: Target, notes: tuple[Note, ...] = ()
    ) -> Diagnostic:
        """Return the warning at the op that leaves something."""
        return titled(
            "exchange-left",
            op.name,
            op.span,
            severity=Severity.WARNING,
            rule="each signal is waited for, each entry popped, each slot freed",
            seen=seen,
            help=self.help,
            targets=(target.name,),
            notes=notes,
        )


class Leftover(NamedTuple):
    """The first unconsumed signal or entry; for a slot, the pop that keeps it."""

    what: LeftoverKind
    entry: QueueEntry
    name: str
    given: int
    taken: int

    def __str__(self) -> str:
        return self.what.seen(self.name, self.given, self.taken)


def left_over(cores: Iterable[Sequence[QueueEntry]]) -> Iterator[Leftover]:
    """Yield the leftovers after all cores of a launch have ended."""
    posts, taken = (
        defaultdict[Channel, list[Post]](list),
        defaultdict[Channel, Counter[int]](Counter),
    )
    pops, freed = (
        defaultdict[tuple[int, LaunchedFifo], list[Await]](list),
        Counter[tuple[int, LaunchedFifo]](),
    )
    for entry in chain.from_iterable(cores):
        core = entry.queue.core
        if isinstance(entry, Post):
            channel = entry.ticket.channel
            posts[channel].append(entry)
            if isinstance(channel, FifoChannel) and channel.what == FREED:
                freed[core, channel.fifo] += 1
        elif isinstance(entry, Await):
            for channel, number in entry.tickets:
                taken[channel][core] = max(taken[channel][core], number)
                if isinstance(channel, FifoChannel) and channel.what == PUSHED:
                    waits = pops[core, channel.fifo]
                    waits += [entry] * (number - len(waits))
    for channel, sent in posts.items():
        met = min(taken[channel].values(), default=0)
        if len(sent) != met and isinstance(channel, SignalChannel):
            yield Leftover(LeftoverKind.SIGNAL, sent[met], str(channel), len(sent), met)
        elif len(sent) != met and isinstance(channel, FifoChannel) and channel.what == PUSHED:
            yield Leftover(LeftoverKind.ENTRY, sent[met], channel.fifo.name, len(sent), met)
    for (core, fifo), some in pops.items():
        if len(some) > (free := freed[core, fifo]):
            yield Leftover(LeftoverKind.SLOT, some[free], fifo.name, len(some), free)


class FifoUse(NamedTuple):
    """The pushes, pops and frees of a FIFO, with their counter cells for each core of an end."""

    name: str
    pushes: Sequence[Op]
    pops: Sequence[Op]
    frees: Sequence[Op]
    pushed: Sequence[int]
    popped: Sequence[int]
    freed: Sequence[int]

    @classmethod
    def of(cls, grid: Grid, fifo: Fifo, ops: Sequence[Op]) -> FifoUse:
        shared = fifo.shares or any(fact(op, "split") for op in ops)

        def cells(what: int, *, vector: bool) -> list[int]:
            lanes = range(grid.fifos.lanes if vector and shared else 1)
            return [fifo.cell + what + lane for lane in lanes]

        def of(role: FifoRole) -> list[Op]:
            return [op for op in ops if op.page.fifo_role is role]

        return cls(
            fifo.name,
            *(of(FifoRole.PUSHES), of(FifoRole.POPS), of(FifoRole.FREES)),
            cells(PUSHED, vector=not fifo.to_vector),
            cells(POPPED, vector=fifo.to_vector),
            cells(FREED, vector=fifo.to_vector),
        )


def fifo_uses(grid: Grid) -> list[FifoUse]:
    """Return the use of each FIFO of a kernel."""
    found = defaultdict[Fifo, list[Op]](list)
    for op, fifo in chain.from_iterable(ends.items() for ends in grid.fifos.ends.values()):
        found[fifo].append(op)
    return [FifoUse.of(grid, fifo, ops) for fifo, ops in found.items()]


def left_in_fifos(
    fifos: Iterable[FifoUse], target: Target, shared: Iterable[Mapping[str, Memory]]
) -> Iterator[Diagnostic]:
    """Yield a warning for each FIFO with unpopped entries or slots that were not freed.

    `shared`: the shared memories of each block after the run.
    """
    arrays = (one[COUNTERS].data.view(np.int64) for one in shared)
    counts: list[int] = sum(arrays, np.zeros(1, np.int64)).tolist()
    for name, pushes, pops, frees, *cells in fifos:
        pushed, popped, freed = ([counts[cell] for cell in each] for each in cells)
        if {*pushed} == {*popped} == {*freed}:
            continue
        most, given = max(zip(popped, freed, strict=True), key=lambda pair: pair[0] - pair[1])
        for what, ops, others, more, less in (
            (LeftoverKind.ENTRY, pushes, pops, max(pushed), min(popped)),
            (LeftoverKind.SLOT, pops, frees, most, given),
        ):
            if ops and more > less:
                notes = [Note("here too", op.span) for op in ops[1:]]
                notes += [Note("some are consumed here", op.span) for op in others]
                yield what.told(ops[0], what.seen(name, more, less), target, tuple(notes))
