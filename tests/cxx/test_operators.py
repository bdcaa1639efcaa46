"""Convolutions, products with scales, buffers that pipes acquire: NumPy, Python, and records."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from launched import again, kernels, needs_compiler

import ptokit as pto

pytestmark = needs_compiler
RNG = np.random.default_rng(21)
Array = Any  # of NumPy
C1, H, W, C0, FH, FW, N = 2, 5, 6, 16, 3, 2, 16
STRIDE, DILATION, PADDING = (2, 1), (1, 2), (1, 0, 1, 1)
MAPS = RNG.integers(-3, 4, (1, C1, H, W, C0)).astype(np.float16)
FILTERS = RNG.integers(-3, 4, (C1 * FH * FW * C0, N)).astype(np.float16)


def convolution() -> Array:
    """By the definition: every position, every filter, every number of a patch."""
    left, right, top, bottom = PADDING
    maps = np.pad(MAPS[0], ((0, 0), (top, bottom), (left, right), (0, 0)))
    weights = FILTERS.reshape(C1, FH, FW, C0, N).astype(np.float32)
    found: list[Array] = []
    for y in range(0, maps.shape[1] - (FH - 1) * DILATION[0], STRIDE[0]):
        for x in range(0, maps.shape[2] - (FW - 1) * DILATION[1], STRIDE[1]):
            patch = maps[:, y :: DILATION[0], x :: DILATION[1]][:, :FH, :FW].astype(np.float32)
            found.append(np.einsum("cyxk,cyxkn->n", patch, weights))
    return np.stack(found)


def convolution_in_python(target: str) -> Array:
    how: dict[str, Any] = {"stride": STRIDE, "dilation": DILATION, "padding": PADDING}
    with pto.target(target):
        maps = pto.conv_tile("f16", MAPS.shape, layout="nc1hwc0", data=MAPS, filter=(FH, FW), **how)
        left = pto.tile_left("f16", 16, 192, valid=(15, 192))
        right = pto.tile_right("f16", 192, N, data=FILTERS)
        sums = pto.tile_acc("f32", 16, N, valid=(15, N))
        pto.timg2col(left, maps, mode="a_auto")
        pto.tmatmul(sums, left, right)
        return sums.numpy()


def test_convolutions() -> None:
    wrong: list[str] = []
    for target in ("a2a3", "a5"):
        for mode in ("A_AUTO", "A_MANUAL"):
            c = np.zeros((15, N), np.float32)
            name = f"convolved<SetFmatrixMode::FMATRIX_{mode}>"
            ran = kernels("convolved", target).launch(name, MAPS, FILTERS, c)
            given = {"maps": MAPS, "filters": FILTERS, "c": c * 0}
            oracles = {
                "NumPy": convolution(),
                "Python": convolution_in_python(target),
                "record": again(ran, given, target)["c"],
            }
            wrong += [
                f"{target} {mode} {n}" for n, y in oracles.items() if y.tobytes() != c.tobytes()
            ]
            wrong += [str(d) for d in (*ran.check(), *ran.races()) if d.is_error]
    assert wrong == []


def test_products_with_scales() -> None:
    e4m3, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b = (RNG.integers(-4, 5, s).astype(e4m3) for s in ((32, 128), (128, 64)))
    of_a, of_b = (2.0 ** RNG.integers(-3, 4, s) for s in ((32, 4), (4, 64)))
    bias, c = RNG.integers(-9, 9, (1, 64)).astype(np.float32), np.zeros((32, 64), np.float32)
    columns = np.ascontiguousarray(of_b.T).astype(e8m0)  # of a view of columns
    given = {"a": a, "b": b, "of_a": of_a.astype(e8m0), "of_b": columns, "bias": bias}
    ran = kernels("scaled", "a5").launch("scaled", *given.values(), c)
    wide = (
        np.repeat(of_a, 32, 1)
        * a.astype(np.float64)
        @ (np.repeat(of_b, 32, 0) * b.astype(np.float64))
    )
    with pto.target("a5"):
        left, right = (
            pto.tile_left("f8e4m3", 32, 128, data=a),
            pto.tile_right("f8e4m3", 128, 64, data=b),
        )
        scales = pto.tile(
            "scale_left", "f8e8m0", 32, 4, layout="zz", fractal=32, data=of_a.astype(e8m0)
        )
        others = pto.tile(
            "scale_right", "f8e8m0", 4, 64, layout="nn", fractal=32, data=of_b.astype(e8m0)
        )
        sums = pto.tile_acc("f32", 32, 64)
        row = pto.tile("bias", "f32", 1, 64, data=bias)
        pto.tmatmul_mx_bias(sums, left, scales, right, others, row)
    oracles = {
        "NumPy": (wide + bias).astype(np.float32),
        "Python": sums.numpy(),
        "record": again(ran, {**given, "c": c * 0}, "a5")["c"],
    }
    assert [n for n, found in oracles.items() if found.tobytes() != c.tobytes()] == []
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []


def test_buffers_that_pipes_acquire() -> None:
    """A5 alone has them; where the vector pipe acquires nothing, the load is not awaited."""
    a, c = RNG.random((40, 64), np.float32), np.zeros((40, 64), np.float32)
    ran = kernels("acquired", "a5").launch("acquired<true>", a, c, 5)
    text = ran.text()
    with pto.target("a5"):
        tile = pto.tile("vec", "f32", 40, 64, data=a)
        pto.tmuls(tile, tile, 2.0)
        pto.tadds(tile, tile, 1.0)
    oracles = {
        "NumPy": a * np.float32(2) + np.float32(1),
        "Python": tile.numpy(),
        "record": again(ran, {"a": a, "c": c * 0}, "a5")["c"],
    }
    assert [n for n, found in oracles.items() if found.tobytes() != c.tobytes()] == []
    assert text.count("pto.get_buf") == text.count("pto.rls_buf") == 4 * 5
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []
    ran = kernels("acquired", "a5").launch("acquired<false>", a, c, 5)
    found = [d for d in ran.races() if d.is_error]
    assert {d.slug for d in found} == {"hazard"}
    lines = {d.span.source.line(d.span.line).strip() for d in found if d.span}
    assert lines == {"TMULS(y, x, 2.0f);", "TLOAD(x, from);"}
