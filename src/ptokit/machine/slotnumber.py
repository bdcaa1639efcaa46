"""Numbers that compiled code reads from its frame."""

from __future__ import annotations

from ptokit.isa.model.types import I1, ScalarType, Type


class SlotNumber(int):
    """A number in the frame of compiled code, so that one code serves all its values.

    Code for usual numbers knows `limits`, by which few of its operations may exceed 64 bits.
    """

    @property
    def limits(self) -> tuple[int, int]:
        """The range of all numbers that the code serves."""
        most = USUAL if abs(self) <= USUAL else 1 << 63
        return -most, most if most == USUAL else most - 1

    def __repr__(self) -> str:
        return f"a slot of {self.limits}"


USUAL = 1 << 40  # more than any extent


def whole_range(kind: Type) -> tuple[int, int] | None:
    """Return the least and the greatest value of an integer type; None for a float type."""
    if kind == I1:
        return -1, 1
    dtype = kind.dtype if isinstance(kind, ScalarType) else None
    if dtype is not None and dtype.is_float:
        return None
    bits = 64 if dtype is None else dtype.bits
    low = 0 if dtype is not None and not dtype.signed else -(1 << (bits - 1))
    return low, low + (1 << bits) - 1
