"""What the tests of this folder know by themselves: storage offsets, codes, tiles from short texts.

Written from tables 1.2 and 1.3 of the spec; nothing here asks ptokit where an element lives.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import en_dtypes
import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto

Array = NDArray[Any]  # Any: one helper serves all element types

# name -> (bits, NumPy type of an independent package)
FORMATS: dict[str, tuple[int, Any]] = {
    "f32": (32, np.float32),
    "f16": (16, np.float16),
    "bf16": (16, ml_dtypes.bfloat16),
    "i8": (8, np.int8),
    "u8": (8, np.uint8),
    "i16": (16, np.int16),
    "u16": (16, np.uint16),
    "i32": (32, np.int32),
    "u32": (32, np.uint32),
    "i64": (64, np.int64),
    "u64": (64, np.uint64),
    "hif8": (8, en_dtypes.hifloat8),
    "f8e4m3": (8, ml_dtypes.float8_e4m3fn),
    "f8e5m2": (8, ml_dtypes.float8_e5m2),
    "f8e8m0": (8, ml_dtypes.float8_e8m0fnu),
    "f4e2m1x2": (4, ml_dtypes.float4_e2m1fn),
    "f4e1m2x2": (4, en_dtypes.float4_e1m2),
    "i4": (4, ml_dtypes.int4),
}
LAYOUTS = ("nd", "dn", "nz", "zn", "zz", "nn")


def bits_of(dtype: str) -> int:
    return FORMATS[dtype][0]


def lines(dtype: str) -> int:
    """c0 where sizeof of a four-bit type is 1: elements that fill 32 bytes."""
    return 32 // max(bits_of(dtype) // 8, 1)


def storage_type(dtype: str) -> Any:  # Any: an unsigned NumPy type
    return np.dtype(f"u{max(bits_of(dtype) // 8, 1)}")


def box(layout: str, fractal: int, c0: int) -> tuple[int, int]:
    """Table 1.2."""
    if layout in ("nd", "dn"):
        return 1, 1
    if fractal == 1024:
        return 16, 16
    if fractal == 32:
        return (16, 2) if layout[1] == "z" else (2, 16)
    return (16, c0) if layout[1] == "z" else (c0, 16)


def offsets(layout: str, fractal: int, rows: int, cols: int, c0: int) -> NDArray[np.int64]:
    """Table 1.3: the storage offset, in elements, of every (row, column)."""
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


def elements(raw: Array, dtype: str) -> Array:
    """The element codes in bytes, in storage order; an even element is a low nibble."""
    if bits_of(dtype) == 4:
        return np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)
    return raw.view(storage_type(dtype))


class Shape(NamedTuple):
    """The words of a tile's short text."""

    loc: str
    dtype: str
    rows: int
    cols: int
    layout: str
    fractal: int
    valid: tuple[int, int]

    @property
    def offsets(self) -> NDArray[np.int64]:
        return offsets(self.layout, self.fractal, self.rows, self.cols, lines(self.dtype))


TEXT = re.compile(r"(\w+) (\w+) (\d+)x(\d+)(?: (\w\w)(?:/(\d+))?)?(?: valid (\d+)x(\d+))?( \+1)?$")


def shape_of(text: str) -> Shape:
    """`mat f16 64x256 nz/512 valid 3x5`; layout nd and fractal 512 may be left out."""
    found = TEXT.match(text)
    assert found, text
    loc, dtype, rows, cols, layout, fractal, down, across, _ = found.groups()
    valid = (int(down or rows), int(across or cols))
    default = 1024 if loc == "acc" else 32 if loc.startswith("scale_") else 512
    where = Shape(loc, dtype, int(rows), int(cols), layout or "nd", int(fractal or default), valid)
    return where


def made(text: str, data: Array | None = None) -> pto.Tile:
    """An uninitialised tile, or one that holds `data`; ` +1` is the NZ+1 compact mode."""
    s = shape_of(text)
    return pto.tile(
        s.loc,
        s.dtype,
        s.rows,
        s.cols,
        layout=s.layout,
        fractal=s.fractal,
        valid=s.valid,
        compact="row_plus_one" if text.endswith("+1") else "null",
        data=data,
    )


def poke(tile: pto.Tile, raw: Array) -> None:
    """Set every byte of a tile's storage, valid or not."""
    tile.bytes()[:] = raw
    tile.memory.shadow[:] = 0xFF


def noise(tile: pto.Tile, seed: int) -> Array:
    """Fill a tile's whole storage with random bytes and return them."""
    raw = np.random.default_rng(seed).integers(0, 256, tile.storage().size, dtype=np.uint8)
    poke(tile, raw)
    return raw


def typed(codes: Array, dtype: str) -> Array:
    """Codes as an array of the independent package's type, bit for bit."""
    return np.ascontiguousarray(codes.astype(storage_type(dtype))).view(FORMATS[dtype][1])


def codes_of(values: Array, dtype: str) -> Array:
    """Values rounded by the independent package, as codes."""
    with np.errstate(all="ignore"):
        return values.astype(FORMATS[dtype][1]).view(storage_type(dtype))


def result(tile: pto.Tile, text: str) -> Array:
    """The codes of a tile's valid region, read from its bytes with the offsets of `text`."""
    s = shape_of(text)
    codes = elements(tile.storage(), s.dtype)[s.offsets]
    return codes[: s.valid[0], : s.valid[1]]


def slugs(problem: pytest.ExceptionInfo[pto.PtoError]) -> set[str]:
    return {d.slug for d in problem.value.diagnostics if d.is_error}


def parameter(
    scale: float, offset: int = 0, *, signed: bool = True, shift: int = 0, saturate: int = 0
) -> int:
    """The 64-bit fix-pipe parameter of 3.1.3; `shift` is the N of the shift modes."""
    low = int(np.float32(scale).view(np.uint32))
    return low | shift << 32 | (offset & 0x1FF) << 37 | signed << 46 | saturate << 48


def zeros(text: str) -> pto.Tile:
    """A tile whose every byte is zero."""
    tile = made(text)
    tile.bytes()[:] = 0
    tile.memory.shadow[:] = 0xFF
    return tile
