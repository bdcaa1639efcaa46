"""How the operands of an instruction lie in memory."""

from __future__ import annotations

from typing import Any

from ptokit.sim.memory import Elements
from ptokit.sim.record.code import Truth, text
from ptokit.sim.record.definite import settled


def related(a: Elements, b: Elements, guards: list[Truth]) -> str:
    """How two operands lie: apart, same (one address and layout), or over one another."""
    first: Any = a.memory
    second: Any = b.memory
    if first.number < 0 or second.number < 0:
        return "over" if first is second and a.address == b.address else "apart"
    if first.number != second.number:
        return "apart"
    here, there = _extent(a), _extent(b)
    one = text(a.address) == text(b.address) and text(a.origin) == text(b.origin)
    if one and repr(a.map) == repr(b.map) and a.dtype.bits == b.dtype.bits:
        return "same"
    if here is None or there is None:
        return "over" if one else _held_apart(a, b, guards)
    return "apart" if here[1] <= there[0] or there[1] <= here[0] else "over"


def _held_apart(a: Elements, b: Elements, guards: list[Truth]) -> str:
    """Operands at addresses the program knows: compiled as if apart, which is checked."""
    if not (settled(a) and settled(b)):
        return "over"
    ends: list[Any] = [c.address + c.dtype.nbytes(c.map.span) for c in (a, b)]
    apart = (ends[0] <= b.address) | (ends[1] <= a.address)
    if isinstance(apart, Truth):
        guards.append(apart)
    return "apart" if apart is not False else "over"


def _extent(cells: Elements) -> tuple[int, int] | None:
    """The bytes an operand may touch, if that is known."""
    address: Any = cells.address
    if not (isinstance(address, int) and settled(cells)):
        return None
    first = cells.address + cells.origin * cells.dtype.bits // 8
    return first, first + cells.dtype.nbytes(cells.map.span)
