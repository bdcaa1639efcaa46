"""Patches: the bytes of an array that a run wrote, to apply to another copy of the array."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptokit.machine.memory import WRITTEN, Bytes, Index

PAGE = 4096  # bytes


class Patch(NamedTuple):
    """Ranges of bytes, from `starts` to `stops`, and their content one after another.

    `bits` marks the written bits; None: all bits.
    """

    starts: Index
    stops: Index
    data: Bytes
    bits: Bytes | None

    @classmethod
    def of(cls, data: Bytes, shadow: Bytes) -> Patch:
        """Return the part of `data` that the shadow marks as written."""
        first, last = _hull(shadow)
        marks = np.diff(shadow[first:last] != 0, prepend=False, append=False)
        edges = np.flatnonzero(marks) + first
        starts, stops = edges[::2], edges[1::2]
        bits = _joined(shadow, starts, stops)
        return cls(
            starts, stops, _joined(data, starts, stops), None if (bits == WRITTEN).all() else bits
        )

    @property
    def nbytes(self) -> int:
        """The number of written bytes."""
        return self.data.size

    def onto(self, array: Bytes) -> None:
        """Write the patch into another copy of the array."""
        first = 0
        for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True):
            last = first + stop - start
            new = self.data[first:last]
            if self.bits is not None:
                bits = self.bits[first:last]
                new = new & bits | array[start:stop] & ~bits
            array[start:stop] = new
            first = last


def _hull(shadow: Bytes) -> tuple[int, int]:
    """Return a range of bytes with all marks: a few blocks write a small part of an array."""
    whole = shadow.size // PAGE * PAGE
    pages = np.flatnonzero(shadow[:whole].reshape(-1, PAGE).any(axis=1))
    if shadow[whole:].any():
        return int(pages[0]) * PAGE if pages.size else whole, shadow.size
    return (int(pages[0]) * PAGE, (int(pages[-1]) + 1) * PAGE) if pages.size else (0, 0)


def _joined(array: Bytes, starts: Index, stops: Index) -> Bytes:
    ranges = [array[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    return np.concatenate([np.empty(0, np.uint8), *ranges])
