"""HiFloat8, a tapered format: the width of the mantissa follows from the exponent.

The numeric codes 0x00-0x7F, put in order of magnitude, form the ladder on which `formats` rounds.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int32]

LOWEST = -22
"""Exponent of the smallest magnitude."""

# Prefixes of p = bits 6..0, the longest first: (shift that leaves the prefix,
# the prefix, smallest |E|, bits of |E| - smallest, bits of the mantissa).
_REGIMES = ((4, 1, 1, 0, 3), (5, 1, 2, 1, 3), (5, 2, 4, 2, 2), (5, 3, 8, 3, 1))


def _magnitude(p: int) -> float:
    """Return the value of the low seven bits of a code; the code of infinity is 1.5 * 2**15."""
    if p < 8:
        return math.ldexp(1, p - 23) if p else 0.0
    if p < 16:
        return 1 + (p & 7) / 8
    _, _, least, wide, width = next(row for row in _REGIMES if p >> row[0] == row[1])
    size = least + (p >> width & (1 << wide) - 1)
    exponent = -size if p >> (width + wide) & 1 else size
    return math.ldexp(1 + (p & (1 << width) - 1) / (1 << width), exponent)


def _values() -> NDArray[np.float32]:
    table = np.concatenate([_MAGNITUDES, -_MAGNITUDES])
    table[[0x6F, 0x80, 0xEF]] = np.inf, np.nan, -np.inf
    return table.astype(np.float32)


_MAGNITUDES = np.array([_magnitude(p) for p in range(128)])

VALUES = _values()
"""Value of each code."""

CODES = np.argsort(_MAGNITUDES).astype(np.int32)
"""Code of the n-th magnitude: zero, then upwards; infinity is the last."""

_BINADES = np.bincount(np.frexp(_MAGNITUDES[1:])[1] - 1 - LOWEST)

_WIDTHS = np.append(np.log2(_BINADES), 0).astype(np.int32)
_STARTS = np.append(1, 1 + np.cumsum(_BINADES)).astype(np.int32) - (1 << _WIDTHS)


def ladder(binade: Indices) -> tuple[Indices, Indices]:
    """Return mantissa bits w and start s: s + m is the number of m quanta of 2**-w.

    The binade is 2**(LOWEST + i). All binades above those of the format count as one without
    mantissa.
    """
    index = np.minimum(binade, _WIDTHS.size - 1)
    return _WIDTHS[index], _STARTS[index]
