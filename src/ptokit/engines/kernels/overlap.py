"""How the operands of an instruction lie in memory."""

from __future__ import annotations

from enum import Enum

from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Truth, text
from ptokit.machine.record.definite import settled
from ptokit.machine.record.trace import num, space_of


class Overlap(Enum):
    """How two operands lie in memory; MUST_ALIAS: at one address, in one layout."""

    NO_ALIAS = "no byte in common"
    MUST_ALIAS = "element by element the same"
    MAY_ALIAS = "perhaps some bytes in common"


NO_ALIAS, MUST_ALIAS, MAY_ALIAS = Overlap.NO_ALIAS, Overlap.MUST_ALIAS, Overlap.MAY_ALIAS


def related(a: Elements, b: Elements, guards: list[Truth]) -> Overlap:
    """How two operands lie; what is assumed of open addresses is left in `guards`."""
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
    """Operands at addresses the program knows: compiled as no aliases, which is checked."""
    if not (settled(a) and settled(b)):
        return MAY_ALIAS
    ends = [num(c.address) + c.dtype.nbytes(c.map.span) for c in (a, b)]
    apart = (ends[0] <= num(b.address)) | (ends[1] <= num(a.address))
    if isinstance(apart, Truth):
        guards.append(apart)
    return NO_ALIAS if apart is not False else MAY_ALIAS


def _extent(cells: Elements) -> tuple[int, int] | None:
    """The bytes an operand may touch, if that is known."""
    address = num(cells.address)
    if not (isinstance(address, int) and settled(cells)):
        return None
    first = cells.address + cells.origin * cells.dtype.bits // 8
    return first, first + cells.dtype.nbytes(cells.map.span)
