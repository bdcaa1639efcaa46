"""What a launch leaves in the queues between its cores, where the next kernel may find it (C3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ptokit.analysis.fifos import Fifo
from ptokit.analysis.pipe_entries import fact
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import Op
from ptokit.isa.lang.traits import Exchange
from ptokit.isa.model.targets import Target
from ptokit.sim.cores.channel import COUNTERS, FREED, POPPED, PUSHED
from ptokit.sim.cores.group import Grid
from ptokit.sim.memory import Memory
from ptokit.sim.observer import Observer


class Unclaimed(Observer):
    """Notes what launches leave."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def left(self, found: Iterable[Diagnostic]) -> None:
        self.found += found


def unclaimed(
    grid: Grid, target: Target, shared: Iterable[Mapping[str, Memory]]
) -> Iterator[Diagnostic]:
    """Entries that nobody popped, slots that nobody freed: one for each queue.

    `shared`: what the cores of each block share, when they have ended.
    """
    counts: Any = sum(one[COUNTERS].data.view(np.int64) for one in shared)  # Any: an array
    for fifo, ops in _queues(grid).items():

        def counted(what: int, *, vector: bool, fifo: Fifo = fifo, ops: Sequence[Op] = ops) -> Any:
            lanes = _lanes(grid, fifo, ops, vector=vector)
            return counts[[fifo.cell + what + lane for lane in lanes]]

        pushed = counted(PUSHED, vector=not fifo.to_vector)
        popped, freed = (counted(what, vector=fifo.to_vector) for what in (POPPED, FREED))
        pushes, pops = _of(ops, Exchange.PUSHES), _of(ops, Exchange.POPS)
        if pushes and pushed.max() > popped.min():
            seen = f"{fifo.name}: {pushed.max()} pushed, {popped.min()} popped"
            yield _warning(target, seen, "pop it, or push one less", pushes, pops)
        keeps = int((popped - freed).argmax())
        if pops and popped[keeps] > freed[keeps]:
            seen = f"{fifo.name}: {popped[keeps]} popped, {freed[keeps]} given back"
            help = "free the slot after the last use of its entry"
            yield _warning(target, seen, help, pops, _of(ops, Exchange.FREES))


def _queues(grid: Grid) -> dict[Fifo, list[Op]]:
    """The queues of a kernel, and what its cores do with each."""
    found: dict[Fifo, list[Op]] = {}
    for ends in grid.exchanges.ends.values():
        for op, fifo in ends.items():
            found.setdefault(fifo, []).append(op)
    return found


def _of(ops: Iterable[Op], exchange: Exchange) -> list[Op]:
    return [op for op in ops if op.page.exchange is exchange]


def _lanes(grid: Grid, fifo: Fifo, ops: Iterable[Op], *, vector: bool) -> range:
    """The cores of an end that take part in an entry."""
    shared = any(fact(op, "split") for op in ops) or (fifo.nosplit and fifo.to_vector)
    return range(grid.exchanges.lanes if vector and shared else 1)


def _warning(
    target: Target, seen: str, help: str, ops: Sequence[Op], others: Sequence[Op]
) -> Diagnostic:
    slug = "exchange-left"
    notes = [Note("it is done here too", op.span) for op in ops[1:]]
    notes += [Note("and some are taken here", op.span) for op in others]
    return Diagnostic(
        slug,
        f"{ops[0].name}: {CATALOGUE[slug].title}",
        ops[0].span,
        severity=Severity.WARNING,
        rule="each entry is popped, each slot given back",
        seen=seen,
        help=help,
        targets=(target.name,),
        notes=tuple(notes),
    )
