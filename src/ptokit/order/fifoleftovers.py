"""Warnings for entries and slots that a launch leaves in its FIFOs for the next kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from ptokit.analysis.fifoentries import fact
from ptokit.analysis.fifos import Fifo
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import Op
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.targets import Target
from ptokit.machine.memory import Memory
from ptokit.order.fifoend import COUNTERS, FREED, POPPED, PUSHED
from ptokit.order.group import Grid


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


class FifoUse(NamedTuple):
    """The pushes, pops and frees of a FIFO, with their counter cells for each core of an end."""

    name: str
    pushes: Sequence[Op]
    pops: Sequence[Op]
    frees: Sequence[Op]
    pushed: Sequence[int]
    popped: Sequence[int]
    freed: Sequence[int]


def fifo_uses(grid: Grid) -> tuple[FifoUse, ...]:
    """Return the use of each FIFO of a kernel."""
    found: dict[Fifo, list[Op]] = {}
    for ends in grid.fifos.ends.values():
        for op, fifo in ends.items():
            found.setdefault(fifo, []).append(op)
    return tuple(_use(grid, fifo, ops) for fifo, ops in found.items())


def _use(grid: Grid, fifo: Fifo, ops: Sequence[Op]) -> FifoUse:
    def cells(what: int, *, vector: bool) -> list[int]:
        return [fifo.cell + what + lane for lane in _lanes(grid, fifo, ops, vector=vector)]

    return FifoUse(
        fifo.name,
        _of(ops, FifoRole.PUSHES),
        _of(ops, FifoRole.POPS),
        _of(ops, FifoRole.FREES),
        cells(PUSHED, vector=not fifo.to_vector),
        cells(POPPED, vector=fifo.to_vector),
        cells(FREED, vector=fifo.to_vector),
    )


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
        if pushes and max(pushed) > min(popped):
            entry = LeftoverKind.ENTRY
            seen = entry.seen(name, max(pushed), min(popped))
            yield _warning(target, seen, entry.help, pushes, pops)
        most, given = max(zip(popped, freed, strict=True), key=lambda pair: pair[0] - pair[1])
        if pops and most > given:
            slot = LeftoverKind.SLOT
            yield _warning(target, slot.seen(name, most, given), slot.help, pops, frees)


def _of(ops: Iterable[Op], role: FifoRole) -> list[Op]:
    return [op for op in ops if op.page.fifo_role is role]


def _lanes(grid: Grid, fifo: Fifo, ops: Iterable[Op], *, vector: bool) -> range:
    """Return the vector cores of an end that take part in an entry."""
    shared = any(fact(op, "split") for op in ops) or fifo.shares
    return range(grid.fifos.lanes if vector and shared else 1)


def _warning(
    target: Target, seen: str, help: str, ops: Sequence[Op], others: Sequence[Op]
) -> Diagnostic:
    slug = "exchange-left"
    notes = [Note("here too", op.span) for op in ops[1:]]
    notes += [Note("some are consumed here", op.span) for op in others]
    return Diagnostic(
        slug,
        f"{ops[0].name}: {CATALOGUE[slug].title}",
        ops[0].span,
        severity=Severity.WARNING,
        rule="each entry is popped and each slot is freed",
        seen=seen,
        help=help,
        targets=(target.name,),
        notes=tuple(notes),
    )
