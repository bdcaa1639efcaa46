"""Numbers that compiled code reads from its frame."""

from __future__ import annotations


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
