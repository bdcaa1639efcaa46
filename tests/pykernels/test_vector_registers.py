"""Vector functions in Python: what loops carry, what debug shows, which types results have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit import f16, f32, i32, lanes


@pto.vector
def folded(x: pto.Tile, y: pto.Tile, n: int, odd: int) -> None:
    every = lanes.pset_b32("PAT_ALL")
    total, low = lanes.vbr(0.0, dtype=f32), lanes.vlds(x, 0)
    for i in pto.range(0, n, 64):
        a = lanes.vlds(x, i)
        if odd > 0:
            a = lanes.vneg(a, every)
        less = lanes.vcmp(a, low, every, "lt")
        low, total = lanes.vsel(a, low, less), lanes.vadd(total, a, every)
    both = lanes.vintlv(low, total)
    lanes.vsts(both[0], y, 0, every)
    lanes.vsts(both[1], y, 64, every)


@pto.kernel
def folds(x: pto.In, y: pto.Out, odd: int) -> None:
    (n,) = x.shape
    t, out = pto.tile_vec(f32, 1, n), pto.tile_vec(f32, 1, 128)
    pto.tload(t, pto.block(x, 0, 0, 1, n))
    folded(t, out, n, odd)
    pto.store(pto.block(y, 0, 0, 1, 128), out)


@pytest.mark.parametrize("odd", [0, 1])
def test_loops_and_branches_carry_registers(odd: int) -> None:
    x = np.random.default_rng(odd).normal(size=256).astype(np.float32)
    y = np.zeros(128, np.float32)
    folds.on("a5").verify(x, y, odd)
    folds.on("a5")(x, y, odd)
    rows = (-x if odd else x).reshape(4, 64)
    first = x[:64] if odd else rows[0]
    assert np.array_equal(y[::2], np.minimum(first, rows.min(0)))
    assert np.array_equal(y[1::2], rows[0] + rows[1] + rows[2] + rows[3])


seen = list[Any]()  # Any: what registers show


@pto.vector
def shown(x: pto.Tile) -> None:
    m = lanes.pset_b32("PAT_VL2")
    a = lanes.vmuls(lanes.vlds(x, 0), 2.0, m)
    narrow = lanes.vcvt(a, m, rnd="R", part="EVEN", dtype=f16)
    seen.extend((m.numpy().sum(), a.numpy()[:3], narrow.type.cols, repr(a)))


def test_a_vector_function_runs_on_tiles_and_shows_its_registers() -> None:
    seen.clear()
    with pto.target("a5"):
        shown(pto.tile_vec(f32, 1, 64, data=np.full((1, 64), 1.5, np.float32)))
    count, first, cols, text = seen
    assert (count, [*first], cols) == (2, [3.0, 3.0, 0.0], 128)
    assert text.startswith("<!pto.vreg<64xf32> [3. 3. 0.")


def test_the_instructions_are_listed_and_described() -> None:
    names = dir(lanes)
    assert {"vadd", "vlds", "plt_b32", "mem_bar"} <= {*names}
    assert "local_bytes" not in names
    assert "integers wrap" in (lanes.vadd.__doc__ or "")
    with pytest.raises(AttributeError, match="no instruction on registers is called 'vad'"):
        getattr(lanes, "vad")  # noqa: B009 - pyright refuses the attribute


def test_types_of_results_are_those_that_the_rules_allow() -> None:
    kinds = list[str]()

    @pto.vector
    def several(x: pto.Tile) -> None:
        a = lanes.vlds(x, 0)
        m = lanes.pset_b32("PAT_ALL")
        carried = lanes.vaddc(lanes.vbr(1, dtype=i32), lanes.vbr(2, dtype=i32), m)
        made = (a, m, lanes.vcmp(a, a, m, "eq"), lanes.vcadd(a, m), *carried)
        kinds.extend(str(one.type) for one in made)

    with pto.target("a5"):
        several(pto.tile_vec(f32, 1, 64))
    f, b = "!pto.vreg<64xf32>", "!pto.mask<b32>"
    assert kinds == [f, b, b, f, "!pto.vreg<64xi32>", b]
