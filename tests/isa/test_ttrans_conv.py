"""TTRANS between convolution layouts: every pair, blocks of four channels, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from every import every
from naming import named
from oracles.feature_maps import BLOCKS, PLANAR, blocked, weights

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


def relaid(source: str, x: Array, layout: str, c0: int) -> Array:
    """The same maps in another layout, by the formulas of the oracle."""
    name = source.upper()
    blocks = blocked(PLANAR[name](x), c0) if name in PLANAR else BLOCKS[name](x)
    if layout.startswith("fractal"):
        return weights(blocks)
    return blocks[:, :, 0] if layout == "gnc1hwc0" else blocks[0, :, 0]


def transposed(
    dtype: str, source: str, x: Array, layout: str, shape: tuple[int, ...], loc: str = "mat"
) -> Array:
    src = pto.conv_tile(dtype, x.shape, layout=source, loc=loc, data=x)
    dst = pto.conv_tile(dtype, shape, layout=layout, loc=loc)
    pto.ttrans(dst, src)
    return dst.numpy()


def same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()


PAIRS = [
    *(("nchw", (2, channels, 3, 5), "nc1hwc0") for channels in (1, 16, 37, 64)),
    ("gnchw", (3, 2, 20, 2, 4), "gnc1hwc0"),
    ("nc1hwc0", (3, 2, 3, 2, 0), "fractal_z"),
    ("nc1hwc0", (20, 2, 3, 2, 0), "fractal_z"),
    ("gnc1hwc0", (2, 5, 2, 3, 2, 0), "fractal_z"),
    ("ncdhw", (17, 40, 2, 2, 3), "fractal_z_3d"),
]


@every("dtype", TYPES)
def test_every_pair_of_layouts(dtype: str) -> None:
    """The last extent of blocks is c0; blocks of channels also go back."""
    c0 = TYPES[dtype][1]
    for source, shape, layout in PAIRS:
        with named(source, shape, layout):
            x = values(dtype, (*shape[:-1], shape[-1] or c0))
            wanted = relaid(source, x, layout, c0)
            found = transposed(dtype, source, x, layout, wanted.shape)
            assert same(found, wanted)
            if source == "nchw":
                assert same(transposed(dtype, layout, found, source, x.shape), x)


def refused(slug: str, rule: str, run: Callable[[], object]) -> None:
    with pytest.raises(pto.PtoError) as caught:
        run()
    (found,) = caught.value.diagnostics
    assert (found.slug, found.rule) == (slug, rule)


@every(
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
    blocks = relaid("nchw", x, "nc1hwc0", 8)
    with pto.target(target):
        found = transposed("f32", "nchw", x, "nc1hwc0", (1, 1, 2, 4, 8), loc="vec")
        assert same(found, blocks)
        refused(
            "location",
            "src.loc == vec and dst.loc == vec",
            lambda: transposed("f32", "nchw", x, "nc1hwc0", (1, 1, 2, 4, 8)),
        )
        if target == "a2a3":
            assert same(transposed("f32", "nc1hwc0", blocks, "nchw", x.shape, loc="vec"), x)
            return
        with pytest.raises(pto.PtoError, match="A5 unblocks no channels"):
            transposed("f32", "nc1hwc0", blocks, "nchw", x.shape, loc="vec")


@every("target", ["a2a3", "a5"])
@every("dtype", ["f32", "f16", "i8"])
@every("channels", [8, 6, 1])
def test_chips_have_blocks_of_four_channels(target: str, dtype: str, channels: int) -> None:
    x, grouped = values(dtype, (3, channels, 2, 16)), values(dtype, (2, 3, channels, 4, 8))
    with pto.target(target):
        found = [
            transposed(dtype, layout, given, to, relaid(layout, given, to, 4).shape, "vec")
            for layout, given, to in (("nchw", x, "nc1hwc0"), ("gnchw", grouped, "gnc1hwc0"))
        ]
    assert same(found[0], relaid("nchw", x, "nc1hwc0", 4))
    assert same(found[1], relaid("gnchw", grouped, "gnc1hwc0", 4))
    wide = (3, -(-channels // 4) + 1, 2, 16, 4)
    with pto.target(target), pytest.raises(pto.PtoError, match=r"src.extents.c > "):
        transposed(dtype, "nchw", x, "nc1hwc0", wide, "vec")


@every("target", ["cpu", "a2a3", "a5"])
@every(("layout", "shape"), [("nc1hwc0", (3, 2, 2, 16, 4)), ("gnc1hwc0", (2, 7, 2, 1, 8, 4))])
def test_weights_have_the_blocks_of_the_map(
    target: str, layout: str, shape: tuple[int, ...]
) -> None:
    x = values("f16", shape)
    wanted = relaid(layout, x, "fractal_z", 4)
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
    found = program.execute(given, target="a2a3", engine=engine).outputs["y"]
    assert same(np.asarray(found), relaid("nchw", x, "nc1hwc0", 4))


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
    assert same(program.run(x=x)["y"], relaid("nchw", x, "nc1hwc0", 8))
