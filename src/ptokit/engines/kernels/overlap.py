"""The overlap of the operands of an instruction in memory."""

from __future__ import annotations

from enum import Enum

from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Truth, text
from ptokit.machine.record.definite import settled
from ptokit.machine.record.trace import num, space_of


class Overlap(Enum):
    """The overlap of two operands; MUST_ALIAS: the same address and layout."""

    NO_ALIAS = "no byte in common"
    MUST_ALIAS = "element by element the same"
    MAY_ALIAS = "perhaps some bytes in common"


NO_ALIAS, MUST_ALIAS, MAY_ALIAS = Overlap.NO_ALIAS, Overlap.MUST_ALIAS, Overlap.MAY_ALIAS


def related(a: Elements, b: Elements, guards: list[Truth]) -> Overlap:
    """Return the overlap of two operands; assumptions on symbolic addresses go to `guards`."""
    first, second = space_of(a), space_of(b)
    if first.number < 0 or second.number < 0:
        return MAY_ALIAS if first is second and a.address == b.address else NO_ALIAS
    if first.number != second.number:
        return NO_ALIAS
    here, there = _extent(a), _extent(b)
    one = text(a.address) == text(b.address) and text(a.origin) == text(b.origin)
    if one and repr(a.map) == repr(b.map) and a.dtype.bits == b.dtype.bits:
        return MUST_ALIAS
    if here is None or there is None:
        return MAY_ALIAS if one else _assumed(a, b, guards)
    return NO_ALIAS if here[1] <= there[0] or there[1] <= here[0] else MAY_ALIAS


def _assumed(a: Elements, b: Elements, guards: list[Truth]) -> Overlap:
    """Assume that operands at run-time addresses do not overlap, and add a guard."""
    if not (settled(a) and settled(b)):
        return MAY_ALIAS
    ends = [num(c.address) + c.dtype.nbytes(c.map.span) for c in (a, b)]
    apart = (ends[0] <= num(b.address)) | (ends[1] <= num(a.address))
    if isinstance(apart, Truth):
        guards.append(apart)
    return NO_ALIAS if apart is not False else MAY_ALIAS


def _extent(cells: Elements) -> tuple[int, int] | None:
    """Return the range of bytes that an operand may access, if it is known."""
    address = num(cells.address)
    if not (isinstance(address, int) and settled(cells)):
        return None
    first = cells.address + cells.origin * cells.dtype.bits // 8
    return first, first + cells.dtype.nbytes(cells.map.span)
