"""Columns as NumPy users write them: sums of rows with numbers, with each other, and in place.

Hardware computes element by element on rows only. A column is the row of the same bytes: that is
what the instructions see, and no byte is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit import f16, f32
from ptokit.values.layouts import DN

TARGETS = ("cpu", "a2a3", "a5")
HIGH, WIDE = 16, 32
SIZES = (1, HIGH - 1, HIGH, HIGH + 1)
load: Any = pto.load  # Any: of an array or of a file, which parts of arrays leave open


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def online_softmax(x: pto.In, y: pto.Out, *, high: int = HIGH, wide: int = WIDE) -> None:
    rows, d = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        here = pto.block(x, i * high, 0, high, d).shape[0]
        top = pto.full(f32, high, 1, -1e30, valid=(here, 1))
        total = pto.full(f32, high, 1, 0.0, valid=(here, 1))
        for j in pto.range(0, d, wide):
            t = load(pto.block(x, i * high, j, high, wide))
            new = pto.max(top, pto.rowmax(t))
            part = pto.rowsum(pto.exp(t - new))
            pto.add(total * pto.exp(top - new), part, out=total)
            pto.copy(new, out=top)
        for j in pto.range(0, d, wide):
            t = load(pto.block(x, i * high, j, high, wide))
            pto.store(pto.block(y, i * high, j, high, wide), pto.exp(t - top) / total)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def arrays(rows: int, width: int) -> tuple[Any, Any]:
    x = np.random.default_rng(rows * 100 + width).standard_normal((rows, width))
    return x.astype(np.float32), np.zeros((rows, width), np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_on_columns_is_what_numpy_computes(target: str) -> None:
    for rows in SIZES:
        x, y = arrays(rows, 50)
        online_softmax.on(target)(x, y)
        np.testing.assert_allclose(y, softmax(x.astype(np.float64)), 1e-4, 1e-5)


@pytest.mark.parametrize("high", [1, 2, 12])
def test_blocks_of_any_height_have_columns(high: int) -> None:
    x, y = arrays(13, 33)
    online_softmax(x, y, high=high)
    np.testing.assert_allclose(y, softmax(x.astype(np.float64)), 1e-4, 1e-5)
    assert online_softmax.program(x, y, high=high).check("all") == []
    online_softmax.on("a2a3").debug(x, z := np.zeros_like(y), high=high)
    np.testing.assert_allclose(y, z, 1e-5)


def test_views_are_in_the_text_and_each_operation_is_one_instruction() -> None:
    @pto.kernel
    def sums(x: pto.In, y: pto.Out) -> None:
        s = pto.rowsum(load(x))
        r = pto.rsqrt(s * 0.5 + s)
        pto.store(y, load(x) * r)

    x = np.ones((16, 32), np.float32)
    ops = [w.split()[0] for w in sums.text(x, x).splitlines() if w.strip().startswith("pto.t")]
    assert ops == [
        *("pto.tload", "pto.trowsum", "pto.treshape", "pto.tmuls", "pto.tadd", "pto.trsqrt"),
        *("pto.treshape", "pto.tload", "pto.trowexpandmul", "pto.tstore"),
    ]


BINARY = ("add", "sub", "mul", "div", "max", "min")
UNARY = ("exp", "log", "sqrt", "rsqrt", "recip", "abs", "neg", "relu")


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_what_columns_give_is_what_rows_give(target: str) -> None:
    rng = np.random.default_rng(3)
    with pto.target(target):
        for high in (1, 7, 8, 17):
            a, b = (rng.random((1, high)).astype(np.float32) + 0.5 for _ in "ab")
            rows = [pto.tile("vec", f32, 1, 32, valid=(1, high), data=d) for d in (a, b)]
            down = [
                pto.tile("vec", f32, 32, 1, valid=(high, 1), layout="dn", data=d.T) for d in (a, b)
            ]
            for name in (*BINARY, *UNARY):
                form, many = getattr(pto, name), 2 if name in BINARY else 1
                made, wanted = form(*down[:many]), form(*rows[:many])
                assert (made.type.layout, made.valid) == (DN, (high, 1)), name
                assert (wanted.numpy() == made.numpy().T).all(), name
                out = pto.tile("vec", f32, 32, 1, valid=(high, 1), layout="dn")
                assert form(*down[:many], out=out) is out
                assert (out.numpy() == made.numpy()).all(), name
            assert (down[0].cast(f16).numpy() == a.T.astype(np.float16)).all()
            assert (pto.full(f32, high, 1, 2.5).numpy() == np.full((high, 1), 2.5)).all()
            mask = pto.cmp(*down, cmp="gt")
            assert (pto.sel(mask, *down).numpy() == np.maximum(a, b).T).all()


def test_a_column_padded_to_lines_has_other_bytes() -> None:
    with pto.target("a5"):
        padded = pto.tile("vec", f32, 16, 8, valid=(16, 1), data=np.ones((16, 1)))
        packed = pto.rowsum(pto.tile("vec", f32, 16, 8, data=np.ones((16, 8))))
        with pytest.raises(pto.PtoError, match=r"\.T` of a column.*pto\.rowmax"):
            pto.pow(padded, packed)
        assert ((padded + packed).numpy() == 9).all()  # one is spread over the other
        assert ((pto.rowmax(padded) + packed).numpy() == 9).all()
