"""Leftovers of a launch: signals without waits, FIFO entries without pops, slots not freed.

A run without an issue trace counts them by the counters of its FIFOs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import NamedTuple

import numpy as np

from ptokit.analysis.fifoentries import fact
from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity, titled
from ptokit.ir.module import AnyOp, Op
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.targets import Target
from ptokit.machine.memory import Memory
from ptokit.order.fifoend import COUNTERS, FREED, POPPED, PUSHED
from ptokit.order.group import Grid
from ptokit.order.waiting import (
    Await,
    Channel,
    FifoChannel,
    LaunchedFifo,
    Post,
    QueueEntry,
    SignalChannel,
)


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
    arrays = (one[COUNTERS].data.view(np.int64).tolist() for one in shared)
    counts: list[int] = [*map(sum, zip(*arrays, strict=True))]
    for name, pushes, pops, frees, *cells in fifos:
        pushed, popped, freed = ([counts[cell] for cell in each] for each in cells)
        most, given = max(zip(popped, freed, strict=True), key=lambda pair: pair[0] - pair[1])
        for what, ops, others, more, less in (
            (LeftoverKind.ENTRY, pushes, pops, max(pushed), min(popped)),
            (LeftoverKind.SLOT, pops, frees, most, given),
        ):
            if ops and more > less:
                notes = [Note("here too", op.span) for op in ops[1:]]
                notes += [Note("some are consumed here", op.span) for op in others]
                yield what.told(ops[0], what.seen(name, more, less), target, tuple(notes))
