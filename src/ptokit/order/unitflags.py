"""Unit flags of the accumulator, by which products and the fix-pipe hand bytes to each other.

A product with a final phase sets the flags of its result. Moves and stores out of the accumulator
with a phase wait for these flags, and final ones clear them; until then, products with a phase
wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.ir.module import AnyOp, Op
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.words import AccPhase, Phase
from ptokit.order.byteregions import ByteRegion
from ptokit.order.entries import Ticket
from ptokit.values.enumerations import ACC


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
