"""Every layout, element type and several shapes against the formula of the manual, per element."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuzz.scale import scaled
from naming import named
from oracles.storage import elements, lines, offsets
from ptokit.isa.formula.rules import rules_of
from ptokit.isa.model.tiles import TILE_RULES, TileType, tile_type
from ptokit.machine.memory import Elements, Memory
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import Loc
from ptokit.values.layouts import Layout

SHAPES = ((1, 64), (16, 64), (32, 32), (64, 128), (48, 96), (17, 64), (128, 16))


def legal(kind: TileType) -> bool:
    return all(rule.holds({"tile": kind}) is not False for rule in rules_of(TILE_RULES))


# A map depends on the size of an element: one type of each size is a sample.
TYPES = DTYPES if scaled(1) > 1 else tuple({(d.bits, d.packed): d for d in DTYPES}.values())


@pytest.mark.parametrize("layout", Layout, ids=str)
def test_windows_read_and_write_where_the_formula_says(layout: Layout) -> None:
    for dtype, fractal in product(TYPES, (512, 1024, 32) if layout.boxed else (512,)):
        kinds = (tile_type(Loc.VEC, dtype, *s, layout=layout, fractal=fractal) for s in SHAPES)
        taken = [kind for kind in kinds if legal(kind)]
        assert taken, "no shape of the list is legal: the test would check nothing"
        for kind in taken:
            with named(kind):
                check(kind)


def check(kind: TileType) -> None:
    """The formula of the manual, element by element, and windows at random places."""
    rows, cols, dtype = kind.rows, kind.cols, kind.dtype
    places = offsets(kind.layout.name.lower(), kind.fractal, rows, cols, lines(dtype.name))
    assert sorted(places.flat) == list(range(rows * cols)), "a layout is a permutation"
    for r in {0, 1, 15, 16, rows // 2, rows - 1} & set(range(rows)):
        for c in range(0, cols, 3):
            assert kind.map.offset(r, c) == places[r, c]
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, kind.nbytes, dtype=np.uint8)
    held = Elements(Memory("m", raw.copy(), written=True), 0, dtype, kind.map)
    flat = elements(raw, dtype.name).copy()
    r1, r2 = sorted(rng.integers(0, rows + 1, 2))
    c1, c2 = sorted(rng.integers(0, cols + 1, 2))
    window = (range(int(r1), int(r2)), range(int(c1), int(c2)))
    assert np.array_equal(held.read(*window), flat[places[r1:r2, c1:c2]])
    new = rng.integers(0, 1 << min(dtype.bits, 16), (r2 - r1, c2 - c1)).astype(dtype.storage)
    held.write(*window, new)
    flat[places[r1:r2, c1:c2]] = new
    assert np.array_equal(held.read(range(rows), range(cols)), flat[places])
