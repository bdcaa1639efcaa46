"""TTRANS between convolution layouts, against NumPy's pad, reshape and transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto

Array = NDArray[Any]  # Any: one helper serves all element types

TYPES: dict[str, tuple[Any, int]] = {  # Any: NumPy types
    "f32": (np.float32, 8),
    "f16": (np.float16, 16),
    "i8": (np.int8, 32),
    "u16": (np.uint16, 16),
    "f4e2m1x2": (ml_dtypes.float4_e2m1fn, 64),
}


def values(dtype: str, shape: tuple[int, ...]) -> Array:
    """Small numbers that every type has, none of them 0."""
    kind, _ = TYPES[dtype]
    few = np.array([1, 2, 3, 4, 6, 1, 3], np.float32)
    count = int(np.prod(shape))
    return few[(np.arange(count) * 5 + np.arange(count) // 7) % 7].astype(kind).reshape(shape)


def padded(x: Array, axis: int, block: int) -> Array:
    """Zeros after the end of an axis, up to a whole number of blocks."""
    more = list(x.shape)
    more[axis] = -x.shape[axis] % block
    return np.concatenate([x, np.zeros(more, x.dtype)], axis)


def blocked(x: Array, c0: int) -> Array:
    """[..., C, H, W] to [..., C1, H, W, C0]."""
    x = padded(x, -3, c0)
    *outer, c, h, w = x.shape
    return np.moveaxis(x.reshape(*outer, c // c0, c0, h, w), -3, -1)


def fractal(x: Array) -> Array:
    """[..., N, C1, H, W, C0] to [... x C1 x H x W, N1, 16, C0]."""
    x = padded(x, -5, 16)
    x = np.moveaxis(x, -5, -2)  # [..., C1, H, W, N, C0]
    *_, n, c0 = x.shape
    return x.reshape(-1, n // 16, 16, c0)


def fractal_3d(x: Array, c0: int) -> Array:
    """[N, C, D, H, W] to [D x C1 x H x W, N1, 16, C0]."""
    return fractal(blocked(np.moveaxis(x, 2, 0), c0))


def transposed(
    dtype: str, source: str, x: Array, layout: str, shape: tuple[int, ...], loc: str = "mat"
) -> Array:
    src = pto.conv_tile(dtype, x.shape, layout=source, loc=loc, data=x)
    dst = pto.conv_tile(dtype, shape, layout=layout, loc=loc)
    pto.ttrans(dst, src)
    return dst.numpy()


def same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("channels", [1, 16, 37, 64])
def test_nchw_to_blocks_and_back(dtype: str, channels: int) -> None:
    c0 = TYPES[dtype][1]
    x = values(dtype, (2, channels, 3, 5))
    wanted = blocked(x, c0)
    found = transposed(dtype, "nchw", x, "nc1hwc0", wanted.shape)
    assert same(found, wanted)
    assert same(transposed(dtype, "nc1hwc0", found, "nchw", x.shape), x)


@pytest.mark.parametrize("dtype", TYPES)
def test_groups(dtype: str) -> None:
    c0 = TYPES[dtype][1]
    x = values(dtype, (3, 2, 20, 2, 4))
    wanted = blocked(x, c0)
    assert same(transposed(dtype, "gnchw", x, "gnc1hwc0", wanted.shape), wanted)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("layout", "outer"), [("nc1hwc0", (3,)), ("nc1hwc0", (20,)), ("gnc1hwc0", (2, 5))]
)
def test_weights(dtype: str, layout: str, outer: tuple[int, ...]) -> None:
    x = values(dtype, (*outer, 2, 3, 2, TYPES[dtype][1]))
    wanted = fractal(x)
    assert same(transposed(dtype, layout, x, "fractal_z", wanted.shape), wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_weights_with_depth(dtype: str) -> None:
    x = values(dtype, (17, 40, 2, 2, 3))
    wanted = fractal_3d(x, TYPES[dtype][1])
    assert same(transposed(dtype, "ncdhw", x, "fractal_z_3d", wanted.shape), wanted)


def test_bits_move_as_they_are() -> None:
    x = np.array([0x7FC00001, 0xFF800000, 0x80000000, 1], np.uint32).view(np.float32)
    wanted = blocked(x.reshape(1, 4, 1, 1), 8)
    assert same(transposed("f32", "nchw", x.reshape(1, 4, 1, 1), "nc1hwc0", wanted.shape), wanted)


def refused(slug: str, rule: str, run: Callable[[], object]) -> None:
    with pytest.raises(pto.PtoError) as caught:
        run()
    (found,) = caught.value.diagnostics
    assert (found.slug, found.rule) == (slug, rule)


@pytest.mark.parametrize(
    ("layout", "shape", "rule"),
    [
        ("nc1hwc0", (2, 2, 3, 4, 8), "src.extents.c > (dst.extents.c1 - 1) * dst.extents.c0"),
        ("nc1hwc0", (1, 1, 3, 4, 8), "dst.extents.g == src.extents.g and dst.extents.n == "),
        ("nc1hwc0", (2, 1, 4, 3, 8), "dst.extents.h == src.extents.h and dst.extents.w == "),
        ("nc1hwc0", (2, 1, 3, 4, 4), "dst.extents.c0 == dst.c0"),
        ("nc1hwc0", (1, 3, 4, 8), "dst.rank == dst.extents.rank"),
    ],
)
def test_extents_must_fit(layout: str, shape: tuple[int, ...], rule: str) -> None:
    with pytest.raises(pto.PtoError) as caught:
        transposed("f32", "nchw", values("f32", (2, 5, 3, 4)), layout, shape)
    found = [d for d in caught.value.diagnostics if (d.rule or "").startswith(rule)]
    assert [d.slug for d in found] == ["shape"]


def test_weights_must_have_all_rows() -> None:
    x = values("f32", (3, 1, 2, 2, 8))
    refused(
        "shape",
        "dst.extents.k == src.extents.k",
        lambda: transposed("f32", "nc1hwc0", x, "fractal_z", (3, 1, 16, 8)),
    )


def test_other_pairs_of_layouts_are_refused() -> None:
    x = values("f32", (1, 1, 2, 2, 8))
    with pytest.raises(pto.PtoError, match=r"error\[layout\]: pto.ttrans"):
        transposed("f32", "nc1hwc0", x, "gnchw", (1, 1, 8, 2, 2))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_hardware_works_in_the_vector_buffer(target: str) -> None:
    x = values("f32", (1, 8, 2, 4))
    with pto.target(target):
        found = transposed("f32", "nchw", x, "nc1hwc0", (1, 1, 2, 4, 8), loc="vec")
        assert same(found, blocked(x, 8))
        refused(
            "location",
            "src.loc == vec and dst.loc == vec",
            lambda: transposed("f32", "nchw", x, "nc1hwc0", (1, 1, 2, 4, 8)),
        )
        if target == "a2a3":
            unblocked = transposed("f32", "nc1hwc0", blocked(x, 8), "nchw", (1, 8, 2, 4), loc="vec")
            assert same(unblocked, x)
            return
        with pytest.raises(pto.PtoError, match="A5 unblocks no channels"):
            transposed("f32", "nc1hwc0", blocked(x, 8), "nchw", (1, 8, 2, 4), loc="vec")


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
@pytest.mark.parametrize("channels", [8, 6, 1])
def test_chips_have_blocks_of_four_channels(target: str, dtype: str, channels: int) -> None:
    x, grouped = values(dtype, (3, channels, 2, 16)), values(dtype, (2, 3, channels, 4, 8))
    with pto.target(target):
        found = [
            transposed(dtype, layout, given, to, blocked(given, 4).shape, "vec")
            for layout, given, to in (("nchw", x, "nc1hwc0"), ("gnchw", grouped, "gnc1hwc0"))
        ]
    assert same(found[0], blocked(x, 4))
    assert same(found[1], blocked(grouped, 4))
    wide = (3, -(-channels // 4) + 1, 2, 16, 4)
    with pto.target(target), pytest.raises(pto.PtoError, match=r"src.extents.c > "):
        transposed(dtype, "nchw", x, "nc1hwc0", wide, "vec")


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize(
    ("layout", "shape"), [("nc1hwc0", (3, 2, 2, 16, 4)), ("gnc1hwc0", (2, 7, 2, 1, 8, 4))]
)
def test_weights_have_the_blocks_of_the_map(
    target: str, layout: str, shape: tuple[int, ...]
) -> None:
    x = values("f16", shape)
    wanted = fractal(x)
    with pto.target(target):
        assert same(transposed("f16", layout, x, "fractal_z", wanted.shape, "vec"), wanted)
        with pytest.raises(pto.PtoError, match=r"rule: .*c0"):
            transposed("f16", layout, x, "fractal_z", (*wanted.shape[:3], 16), "vec")


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_program_has_blocks_of_four_channels(engine: str) -> None:
    types = "!pto.conv_tile<nchw, 2x6x2x4xf32, loc=vec>", "!pto.conv_tile<nc1hwc0, 2x2x2x4x4xf32>"
    x = values("f32", (2, 6, 2, 4))
    y = types[1].replace(">", ", loc=vec>")
    program = pto.loads(program_of(types[0], y))
    given = {"x": x, "y": np.zeros((2, 2, 2, 4, 4), np.float32)}
    assert same(
        np.asarray(program.execute(given, target="a2a3", engine=engine).outputs["y"]), blocked(x, 4)
    )


MAPS = (
    "!pto.conv_tile<mat, 2x5x2x4xf32, layout=#pto.layout<nchw>>",
    ("!pto.conv_tile<mat, 2x1x2x4x8xf32>"),
)
OWN = "!pto.conv_tile<nchw, 2x5x2x4xf32>", "!pto.conv_tile<nc1hwc0, 2x1x2x4x8xf32>"


def program_of(x: str, y: str) -> str:
    return (
        f"func.func @f(%x: {x}, %y: {y}) {{\n"
        f"  pto.ttrans ins(%x : {x}) outs(%y : {y})\n  return\n}}\n"
    )


def test_text() -> None:
    """Tile types may be in ptokit's own words; they are printed in the assembler's."""
    program = pto.loads(program_of(*OWN))
    assert program.text("dps") == pto.loads(program_of(*MAPS)).text("dps") == program_of(*MAPS)
    x = values("f32", (2, 5, 2, 4))
    assert same(program.run(x=x)["y"], blocked(x, 8))
