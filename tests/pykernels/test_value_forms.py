"""Value forms whose results have other extents than their operands, and calls that lack a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every

TARGETS = ("cpu", "a2a3", "a5")
X = np.arange(1024, dtype=np.float32).reshape(16, 64)
load: Any = pto.load  # Any: of an array or of a file, which parts of arrays leave open


@every("target", TARGETS)
def test_results_have_the_extents_that_the_page_says(target: str) -> None:
    t = pto.tile("vec", "f32", 16, 64, data=X)
    with pto.target(target):
        assert (pto.extract(t, 0, 16, (16, 32)).numpy() == X[:, 16:48]).all()
        assert (pto.mov(t).numpy() == X).all()
        assert (pto.gather(t, pattern="P0101").numpy() == X[:, ::2]).all()
        falling = X[0, :32][::-1]
        row = pto.tile("vec", "f32", 1, 32, data=X[:1, :32])
        records = pto.sort32(row, pto.tile("vec", "u32", 1, 32, data=X[:1, :32])).numpy()
        assert (records[0, ::2] == falling).all()


@pytest.mark.parametrize("target", TARGETS)
def test_masks_of_few_columns_are_rows(target: str) -> None:
    @pto.kernel(shapes="x[R, D] y[R, D]")
    def positive(x: pto.In, y: pto.Out) -> None:
        t = load(x)
        pto.store(y, pto.sel(pto.cmps(t, 20.0, cmp="gt"), t, t * 0.0))

    x = X[:, :8].copy()
    positive.on(target)(x, y := np.zeros_like(x))
    assert (y == np.where(x > 20, x, 0)).all()


def test_a_window_needs_its_size_and_scratch_its_name() -> None:
    t = pto.tile("vec", "f32", 16, 64, data=X)
    with pytest.raises(TypeError, match=r"extract\(tile, 0, 16, \(rows, cols\)\)"):
        pto.extract(t, 0, 16)
    with pto.target("a2a3"):
        a = pto.tile("vec", "i32", 8, 32, data=np.full((8, 32), 10, np.int32))
        dst = pto.tile("vec", "f16", 8, 32)
        pto.tadddeqrelu(dst, a, a, 0.5)
        assert (dst.numpy() == 10).all()


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_indices_without_a_sign_count_on_chips(target: str) -> None:
    @pto.kernel(shapes="x[R, 32] y[R, 64]")
    def ordered(x: pto.In, y: pto.Out) -> None:
        index = pto.tile_vec(pto.u32, 1, 32)
        pto.tci(index, 0)
        pto.store(y, pto.sort32(load(x), index))

    x = np.random.default_rng(1).random((1, 32)).astype(np.float32)
    ordered.on(target)(x, y := np.zeros((1, 64), np.float32))
    assert (y[0, ::2] == np.sort(x[0])[::-1]).all()
    assert (y[0, 1::2].view(np.uint32) == np.argsort(-x[0])).all()


def test_a_part_of_a_tile_is_explained() -> None:
    @pto.kernel
    def sliced(x: pto.In, y: pto.Out) -> None:
        pto.store(y, load(x)[:, 32:64])

    with pytest.raises(pto.PtoError, match=r"pto.extract\(t, row, col, \(rows, cols\)\)"):
        sliced(X, X.copy())
