"""Strides that chips do not follow, or that make elements of a view one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import A5_TARGET
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.isa.pages.unlikeextents import as_moved
from ptokit.values.dtypes import f8e8m0
from ptokit.values.enumerations import MAT
from ptokit.values.layouts import Layout, Shape

ENGINES = ("reference", "native")


def moved(name: str, layout: str, shape: tuple[int, int], steps: tuple[int, int]) -> pto.Program:
    """A transfer between a tile of a layout and a view with these strides."""
    kind = ", blayout=col_major" if layout == "dn" else ""
    tile = f"!pto.tile_buf<vec, {shape[0]}x{shape[1]}xf32{kind}>"
    view = f"!pto.tensor_view<{shape[0]}x{shape[1]}xf32>"
    ends = (f"%t : {tile}", f"%v : {view}")
    into, out = ends if name == "tstore" else reversed(ends)
    return pto.loads(f"""\
func.func @f(%x: !pto.ptr<f32>, %t: {tile}) {{
  %h = arith.constant {shape[0]} : index
  %w = arith.constant {shape[1]} : index
  %a = arith.constant {steps[0]} : index
  %b = arith.constant {steps[1]} : index
  %v = pto.make_tensor_view %x, shape = [%h, %w], strides = [%a, %b] : {view}
  pto.{name} ins({into}) outs({out})
  return
}}
""")


CASES = [
    # tile, extents, strides, whether lines of the transfer are contiguous
    ("nd", (8, 16), (16, 1), True),
    ("nd", (8, 16), (40, 1), True),
    ("nd", (1, 16), (16, 1), True),
    ("nd", (1, 16), (64, 4), False),
    ("dn", (8, 1), (1, 1), True),
    ("dn", (8, 1), (2, 1), False),
    ("dn", (8, 4), (1, 8), True),
]


@every(("layout", "shape", "steps", "right"), CASES)
@every("name", ["tload", "tstore"])
def test_lines_are_contiguous(
    name: str, layout: str, shape: tuple[int, int], steps: tuple[int, int], right: bool
) -> None:
    program = moved(name, layout, shape, steps)
    for target in ("cpu", "a2a3", "a5"):
        found = [d for d in program.check(target) if d.slug == "line-pitch"]
        assert [d.is_error for d in found] == ([] if right or target == "cpu" else [False])


def once(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether every element has one index, along strides that are not 0: counted one by one."""
    axes = [(n, s) for n, s in zip(shape, strides, strict=True) if s]
    places = [sum(i * s for i, (_, s) in zip(at, axes, strict=True)) for at in _indices(axes)]
    return len({*places}) == len(places)


def _indices(axes: list[tuple[int, int]]) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*(range(n) for n, _ in axes))


SHAPES = [
    *(((4, 8), s) for s in ((8, 1), (12, 1), (7, 1), (1, 4), (1, 3), (0, 1), (2, 16), (1, 1))),
    *(((1, 8), (1, 1)), ((3, 2, 4), (8, 4, 1)), ((3, 2, 4), (4, 4, 1)), ((3, 2, 4), (4, 12, 1))),
]


@every(("shape", "strides"), SHAPES)
def test_rows_that_share_elements(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Numbers that only a run has are looked at there, by both engines."""
    kind = f"!pto.tensor_view<{'x'.join('?' * len(shape))}xf32>"
    args = ", ".join(f"%n{i}: index" for i in range(len(shape)))
    numbers = "".join(f"  %s{i} = arith.constant {s} : index\n" for i, s in enumerate(strides))
    extents = ", ".join(f"%n{i}" for i in range(len(shape)))
    steps = ", ".join(f"%s{i}" for i in range(len(shape)))
    program = pto.loads(f"""\
func.func @f(%x: !pto.ptr<f32>, {args}) {{
{numbers}  %v = pto.make_tensor_view %x, shape = [{extents}], strides = [{steps}] : {kind}
  return
}}
""")
    assert not program.check("a5")  # nothing is known, nothing is left to say
    given = {f"n{i}": n for i, n in enumerate(shape)}
    for engine in ENGINES:
        done = program.execute({"x": np.zeros(64, np.float32), **given}, engine=engine, target="a5")
        assert [d.slug for d in done.warnings] == ([] if once(shape, strides) else ["shape"])


def test_five_extents_of_boxes_want_a_name_on_a5() -> None:
    """D17: without it they are read as rows."""
    view = "!pto.tensor_view<1x8x8x16x8xf32>"
    mat = "!pto.tile_buf<mat, 128x64xf32, blayout=col_major, slayout=row_major>"
    extents, steps = (1, 8, 8, 16, 8), (8192, 1024, 128, 8, 1)
    names = [f"%c{n}" for n in dict.fromkeys((*extents, *steps))]
    lines = "".join(f"  {n} = arith.constant {n[2:]} : index\n" for n in names)
    shape, strides = (", ".join(f"%c{n}" for n in some) for some in (extents, steps))
    for attribute in ("", " {layout = #pto.layout<nz>}"):
        text = f"""\
func.func @load(%x: !pto.ptr<f32>, %m: {mat}) {{
{lines}  %v = pto.make_tensor_view %x, shape = [{shape}], strides = [{strides}]{attribute} : {view}
  pto.tload ins(%v : {view}) outs(%m : {mat})
  return
}}
"""
        helped = [d for d in pto.loads(text).check("a5") if "#pto.layout<nz>" in (d.help or "")]
        assert len(helped) == (0 if attribute else 1)


@every("target", ["a5", "kirin9030", "kirinX90"])
@every("layout", ["", " {layout = #pto.layout<nd>}", " {layout = #pto.layout<nz>}"])
def test_one_box_is_the_same_by_any_name(layout: str, target: str) -> None:
    """D17: 16 lines of 32 bytes are the same bytes as rows and as a box."""
    view = "!pto.tensor_view<1x1x1x16x16xf16>"
    mat = "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>"
    text = f"""\
func.func @load(%x: !pto.ptr<f16>, %m: {mat}) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %v = pto.make_tensor_view %x, shape = [%c1, %c1, %c1, %c16, %c16],
    strides = [%c256, %c256, %c256, %c16, %c1]{layout} : {view}
  pto.tload ins(%v : {view}) outs(%m : {mat})
  return
}}
"""
    program = pto.loads(text)
    assert not any(d.is_error for d in program.check(target))
    x, m = np.arange(256, dtype=np.float16), np.zeros((16, 16), np.float16)
    outputs = program.execute({"x": x, "m": m}, target=target).outputs
    assert np.array_equal(outputs["m"], x.reshape(16, 16))


@pytest.mark.parametrize(("layout", "valid"), [("MX_A_ND", (16, 4)), ("MX_B_DN", (4, 16))])
def test_scales_in_lines_are_those_of_the_tile(layout: str, valid: tuple[int, int]) -> None:
    """Boards take pitch and place from the view: 16 lines of 4 scales, whatever else it states."""
    stride = (256, 256, 16, 2, 1)
    view = GlobalType(f8e8m0, (1, 1, 1, *valid), stride, GlobalLayout[layout])
    boxes = Layout.ZZ if layout == "MX_A_ND" else Layout.NN
    tile = TileType(MAT, f8e8m0, *valid, Shape(*valid), boxes, fractal=32)
    found = as_moved(view, tile, A5_TARGET, stored=False)
    assert found is not None
    assert (found[0].shape, found[0].stride, found[1]) == ((1, 1, 16, 2, 2), stride, tile)
    assert (found[0].matrix.rows, found[0].matrix.cols) == valid
