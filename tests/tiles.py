"""Tiles from short texts and their bytes, refusals: what tests of instructions share.

No function asks ptokit where an element lies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from oracles.formats import Array
from oracles.storage import elements, lines, offsets


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


def made(text: str, data: object = None, pad: str = "null") -> pto.Tile:
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
        pad=pad,
        data=np.asarray(data) if data is not None else None,
    )


def poke(tile: pto.Tile, raw: Array) -> None:
    """Set every byte of a tile's storage, valid or not."""
    tile.handle.bytes()[:] = raw
    tile.handle.memory.shadow[:] = 0xFF


def noise(tile: pto.Tile, seed: int) -> Array:
    """Fill a tile's whole storage with random bytes and return them."""
    raw = np.random.default_rng(seed).integers(0, 256, tile.storage().size, dtype=np.uint8)
    poke(tile, raw)
    return raw


def bits(text: str, seed: int = 0) -> pto.Tile:
    """A tile whose bytes are all random."""
    tile = made(text)
    noise(tile, seed)
    return tile


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
    """The 64-bit fix-pipe parameter; `shift` is the N of the shift modes."""
    low = int(np.float32(scale).view(np.uint32))
    return low | shift << 32 | (offset & 0x1FF) << 37 | signed << 46 | saturate << 48


def zeros(text: str) -> pto.Tile:
    """A tile whose every byte is zero."""
    tile = made(text)
    poke(tile, np.zeros_like(tile.storage()))
    return tile


def verdict(target: str, slug: str, run: Callable[[], None]) -> bool:
    """Whether it ran; a refusal must have the expected slug and name the target only."""
    if not slug:
        run()
        return True
    with pytest.raises(pto.PtoError) as problem:
        run()
    assert slug in slugs(problem), problem.value
    assert all(d.targets == (target,) for d in problem.value.diagnostics)
    assert all(d.rule and d.seen for d in problem.value.diagnostics)
    return False
