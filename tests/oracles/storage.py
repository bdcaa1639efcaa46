"""Where elements lie: index formulas for each layout, and elements in bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracles.formats import Array, bits_of, storage_type

Index = NDArray[np.int64]
LAYOUTS = ("nd", "dn", "nz", "zn", "zz", "nn")


def lines(dtype: str) -> int:
    """c0 where sizeof of a four-bit type is 1: elements that fill 32 bytes."""
    return 32 // max(bits_of(dtype) // 8, 1)


def box(layout: str, fractal: int, c0: int) -> tuple[int, int]:
    """Rows and columns of the inner box."""
    if layout in ("nd", "dn"):
        return 1, 1
    if fractal == 1024:
        return 16, 16
    if fractal == 32:
        return (16, 2) if layout[1] == "z" else (2, 16)
    return (16, c0) if layout[1] == "z" else (c0, 16)


def offsets(layout: str, fractal: int, rows: int, cols: int, c0: int) -> Index:
    """The storage offset, in elements, of every (row, column)."""
    r, c = np.indices((rows, cols))
    if layout == "nd":
        return r * cols + c
    if layout == "dn":
        return c * rows + r
    r0, k0 = box(layout, fractal, c0)
    if rows == 1:  # a single row of boxes that are one row high
        return c
    br, ir, bc, ic = r // r0, r % r0, c // k0, c % k0
    inside = ir * k0 + ic if layout[1] == "z" else ic * r0 + ir
    if layout[0] == "n":
        return bc * rows * k0 + br * r0 * k0 + inside
    return br * cols * r0 + bc * r0 * k0 + inside


def global_offsets(layout: str, shape: tuple[int, ...], stride: tuple[int, ...]) -> Index:
    """The offset from the base, in elements, of every (row, column) of a view."""
    n, m = list(shape), list(stride)
    while len(n) < 5:
        m.insert(0, n[0] * m[0])
        n.insert(0, 1)
    places = np.tensordot(m, np.indices(n), 1)  # by the five indices
    axes = {  # those that make rows, and those that make columns
        "dn": ((3,), (0, 1, 2, 4)),
        "nz": ((2, 3), (0, 1, 4)),
        "mx_a_zz": ((0, 1, 3), (2, 4)),
        "mx_a_nd": ((2,), (0, 1, 3, 4)),
        "mx_a_dn": ((3,), (0, 1, 2, 4)),
        "mx_b_nn": ((2, 4), (0, 1, 3)),
        "mx_b_nd": ((2, 4), (0, 1, 3)),
        "mx_b_dn": ((3, 4), (0, 1, 2)),
    }
    down, across = axes.get(layout, ((0, 1, 2, 3), (4,)))
    rows, cols = (int(np.prod([n[a] for a in some])) for some in (down, across))
    return places.transpose(*down, *across).reshape(rows, cols)


def elements(raw: Array, dtype: str) -> Array:
    """The element codes in bytes, in storage order; an even element is a low nibble."""
    if bits_of(dtype) == 4:
        return np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)
    return raw[: raw.size // storage_type(dtype).itemsize * storage_type(dtype).itemsize].view(
        storage_type(dtype)
    )


class Place(NamedTuple):
    """Elements in a memory: its name, and the number of each counted from its first byte."""

    memory: str
    dtype: str
    at: Index

    def read(self, memories: dict[str, Array]) -> Array:
        return elements(memories[self.memory], self.dtype)[self.at]

    def write(self, memories: dict[str, Array], codes: Array) -> None:
        """Replace the first rows and columns, as many as there are codes."""
        raw, index = memories[self.memory], self.at[tuple(map(slice, codes.shape))]
        assert index.shape == codes.shape, f"{codes.shape} does not fit in {self.at.shape}"
        if bits_of(self.dtype) == 4:
            nibbles = elements(raw, self.dtype)
            nibbles[index] = codes
            raw[:] = nibbles[0::2] | nibbles[1::2] << 4
        else:
            reach = elements(raw, self.dtype)
            inside = index < reach.size  # an array may be shorter than a view: engines tell
            reach[index[inside]] = codes[inside]
