"""Every layout, element type and several shapes against the formula of the manual, per element."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.scale import scaled
from ptokit.isa.formula.rules import rules_of
from ptokit.isa.model.tiles import TILE_RULES, TileType, tile_type
from ptokit.machine.memory import Elements, Memory
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.enumerations import Loc
from ptokit.values.layouts import Layout

SHAPES = ((1, 64), (16, 64), (32, 32), (64, 128), (48, 96), (17, 64), (128, 16))


def box(layout: Layout, dtype: DType, fractal: int) -> tuple[int, int]:
    """Rows and columns of the inner box."""
    c0 = 32 // max(dtype.bits // 8, 1)
    row_major = layout.name[1] == "Z"
    if fractal == 1024:
        return 16, 16
    if fractal == 32:
        return (16, 2) if row_major else (2, 16)
    return (16, c0) if row_major else (c0, 16)


def expected(layout: Layout, rows: int, cols: int, r0: int, c0: int, r: int, c: int) -> int:
    """The storage offset of (r, c), letter by letter."""
    if layout.name == "ND":
        return r * cols + c
    if layout.name == "DN":
        return c * rows + r
    if rows == 1:
        r0 = 1
    br, ir, bc, ic = r // r0, r % r0, c // c0, c % c0
    inside = ir * c0 + ic if layout.name[1] == "Z" else ic * r0 + ir
    if layout.name[0] == "N":  # boxes go down a column first
        return bc * rows * c0 + br * r0 * c0 + inside
    return br * cols * r0 + bc * r0 * c0 + inside


def legal(kind: TileType) -> bool:
    return all(rule.holds({"tile": kind}) is not False for rule in rules_of(TILE_RULES))


# A map depends on the size of an element: one type of each size is a sample.
TYPES = DTYPES if scaled(1) > 1 else tuple({(d.bits, d.packed): d for d in DTYPES}.values())
CASES = [
    (layout, dtype, fractal)
    for layout in Layout
    for dtype in TYPES
    for fractal in (512, 1024, 32)
    if fractal == 512 or layout.boxed
]


@pytest.mark.parametrize(("layout", "dtype", "fractal"), CASES, ids=str)
def test_index_map_is_the_manual_formula(layout: Layout, dtype: DType, fractal: int) -> None:
    tried = 0
    for rows, cols in SHAPES:
        kind = tile_type(Loc.VEC, dtype, rows, cols, layout=layout, fractal=fractal)
        if not legal(kind):
            continue
        tried += 1
        r0, c0 = box(layout, dtype, fractal)
        for r in {0, 1, r0 - 1, r0, rows // 2, rows - 1} & set(range(rows)):
            for c in range(0, cols, 3):
                assert kind.map.offset(r, c) == expected(layout, rows, cols, r0, c0, r, c)
    assert tried, "no shape of the list is legal: the test would check nothing"


@pytest.mark.parametrize(("layout", "dtype", "fractal"), CASES, ids=str)
def test_windows_read_and_write_what_the_formula_says(
    layout: Layout, dtype: DType, fractal: int
) -> None:
    rng = np.random.default_rng(1)
    for rows, cols in SHAPES:
        kind = tile_type(Loc.VEC, dtype, rows, cols, layout=layout, fractal=fractal)
        if not legal(kind):
            continue
        offsets = np.array([[kind.map.offset(r, c) for c in range(cols)] for r in range(rows)])
        assert sorted(offsets.flat) == list(range(rows * cols)), "a layout is a permutation"
        raw = rng.integers(0, 256, kind.nbytes, dtype=np.uint8)
        memory = Memory("m", raw.copy(), written=True)
        elements = Elements(memory, 0, dtype, kind.map)
        flat = (
            np.stack([raw & 15, raw >> 4], 1).reshape(-1)
            if dtype.packed
            else raw.view(dtype.storage)
        )
        r1, r2 = sorted(rng.integers(0, rows + 1, 2))
        c1, c2 = sorted(rng.integers(0, cols + 1, 2))
        window = (range(int(r1), int(r2)), range(int(c1), int(c2)))
        assert np.array_equal(elements.read(*window), flat[offsets[r1:r2, c1:c2]])
        new = rng.integers(0, 1 << min(dtype.bits, 16), (r2 - r1, c2 - c1)).astype(dtype.storage)
        elements.write(*window, new)
        wanted = flat.copy()
        wanted[offsets[r1:r2, c1:c2]] = new
        assert np.array_equal(elements.read(range(rows), range(cols)), wanted[offsets])
