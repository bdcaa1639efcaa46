"""Interleaved exponents: random operands seldom have two rows of groups."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import Severity

ROWS, COLS = 128, 20
PROGRAM = """
func.func @f(%src: !pto.tile_buf<vec, 128x32xf32, valid=128x20>,
             %dst: !pto.tile_buf<vec, 128x32xi8, valid=128x20>,
             %exp: !pto.tile_buf<vec, {exp}>,
             %max: !pto.tile_buf<vec, 4x32xf32>, %scaling: !pto.tile_buf<vec, 4x32xf32>) {{
  pto.tquant.mx ins(%src : !pto.tile_buf<vec, 128x32xf32, valid=128x20>)
    outs(%dst, %exp, %max, %scaling : !pto.tile_buf<vec, 128x32xi8, valid=128x20>,
         !pto.tile_buf<vec, {exp}>, !pto.tile_buf<vec, 4x32xf32>, !pto.tile_buf<vec, 4x32xf32>)
    {{quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis axis0>{more}}}
  return
}}
"""


def quantised(engine: str, exp: str, more: str) -> dict[str, Any]:  # Any: arrays
    scales = np.float32(2) ** (np.arange(ROWS)[:, None] // 32 * 5 + np.arange(COLS))
    given = {"src": np.random.default_rng(1).standard_normal((ROWS, COLS)) * scales}
    given = {n: x.astype(np.float32) for n, x in given.items()}
    given |= {n: np.zeros((4, 32), np.float32) for n in ("max", "scaling")}
    shape = (2, 40) if more else (4, 20)
    given |= {"dst": np.zeros((ROWS, COLS), np.int8), "exp": np.zeros(shape, np.uint8)}
    return dict(pto.loads(PROGRAM.format(exp=exp, more=more)).execute(given, engine=engine).outputs)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_each_two_rows_of_exponents_are_one(engine: str) -> None:
    plain = quantised(engine, "4x32xui8, valid=4x20", "")
    paired = quantised(engine, "2x64xui8, valid=2x40", ", interleave = true")
    rows = np.asarray(plain.pop("exp"))
    assert len(np.unique(rows)) > 10
    wanted = np.stack((rows[::2], rows[1::2]), -1).reshape(2, 40)
    assert np.array_equal(paired.pop("exp"), wanted)
    assert all(np.array_equal(plain[n], paired[n]) for n in ("dst", "max", "scaling"))


REORDER = """
func.func @f(%src: !pto.tile_buf<vec, {src}>, %dst: !pto.tile_buf<vec, {dst}, slayout=row_major>) {{
  %tmp = pto.alloc_tile : !pto.tile_buf<vec, 1x256xui8>
  pto.tmov ins(%src, %tmp : !pto.tile_buf<vec, {src}>, !pto.tile_buf<vec, 1x256xui8>)
    outs(%dst : !pto.tile_buf<vec, {dst}, slayout=row_major>)
    {{grpAxis = #pto<mx_group_axis axis{axis}>}}
  return
}}
"""


@every(
    ("axis", "src", "dst", "wrong"),
    [
        (0, "2x64xui8", "1x128xui8", False),
        (0, "4x32xui8", "4x32xui8", False),
        (1, "32x32xui8", "32x32xui8", False),
        (1, "1x1024xui8", "32x32xui8", False),
        (0, "3x32xui8", "3x32xui8", True),
        (0, "2x24xui8", "2x24xui8", True),
        (0, "2x64xui8", "1x64xui8", True),
        (1, "32x32xui8, valid=32x3", "32x32xui8, valid=32x3", True),
        (1, "20x32xui8", "20x32xui8", True),
    ],
)
def test_scales_need_pairs_and_room(axis: int, src: str, dst: str, wrong: bool) -> None:
    found = pto.loads(REORDER.format(axis=axis, src=src, dst=dst)).check("a5")
    assert ("shape" in {d.slug for d in found}) is wrong
    assert wrong or not found


PART_BOXES = """
!S = !pto.tile_buf<vec, 1x128xui8, valid=1x80>
!R = !pto.tile_buf<vec, 1x128xui8, slayout=row_major>
!Z = !pto.tile_buf<vec, 32x4xui8, valid=20x4, slayout=row_major>
!T = !pto.tile_buf<vec, 1x96xui8>
func.func @f(%src: !S, %scales: !R) {{
  %tmp = pto.alloc_tile : !T
  %zz = pto.treshape %scales : !R -> !Z
  pto.tmov ins(%src, %tmp : !S, !T) outs(%zz : !Z)
  {more}
  return
}}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_row_of_scales_is_filled_as_so_many_rows_of_groups(engine: str) -> None:
    program = pto.loads(PART_BOXES.format(more=""))
    assert program.check("a5") == []
    exponents = np.arange(1, 81, dtype=np.uint8)
    given = {"src": exponents.reshape(1, 80), "scales": np.full((1, 128), 255, np.uint8)}
    found = program.execute(given, target="a5", engine=engine).outputs["scales"]
    rows = np.concatenate((exponents, np.zeros(48, np.uint8))).reshape(2, 16, 2, 2)
    assert np.array_equal(np.asarray(found).ravel(), rows.transpose(0, 2, 1, 3).ravel())


@every(
    ("target", "more"),
    [
        ("cpu", ""),
        ("a5", "%u = pto.alloc_tile : !Z"),
        ("a5", "pto.tmov ins(%zz : !Z) outs(%zz : !Z)"),
    ],
)
def test_parts_of_boxes_are_room_for_scales_alone(target: str, more: str) -> None:
    found = pto.loads(PART_BOXES.format(more=more)).check(target)
    assert [d.slug for d in found if d.severity is Severity.ERROR] == ["tile-shape"]


GIVEN = """
func.func @f(%src: !pto.tile_buf<vec, {src}>, %tmp: !pto.tile_buf<vec, 1x96xui8>,
             %dst: !pto.tile_buf<vec, {dst}, slayout=row_major>) {{
  pto.tmov ins(%src, %tmp : !pto.tile_buf<vec, {src}>, !pto.tile_buf<vec, 1x96xui8>)
    outs(%dst : !pto.tile_buf<vec, {dst}, slayout=row_major>)
  return
}}
"""


@pytest.mark.parametrize(
    ("src", "dst", "wrong"),
    [
        ("32x4xui8, valid=20x4", "32x4xui8, valid=20x4", set[str]()),
        ("20x4xui8", "32x4xui8, valid=20x4", {"shape"}),
    ],
)
def test_a_caller_may_give_room_of_parts_of_boxes(src: str, dst: str, wrong: set[str]) -> None:
    found = pto.loads(GIVEN.format(src=src, dst=dst)).check("a5")
    assert {d.slug for d in found if d.severity is Severity.ERROR} == wrong
    assert "tile-shape" in {d.slug for d in found if d.severity is Severity.WARNING}


def test_a_move_of_scales_is_the_assemblers() -> None:
    scales = "!pto.tile_buf<vec, 16x32x!pto.f8E8M0>"
    move = f"pto.tmov ins(%a : {scales}) outs(%b : {scales})"
    text = f"func.func @f(%a: {scales}, %b: {scales}) {{\n {move}\n return\n}}"
    taken = pto.loads(text).check("a5", judge="assembler")
    assert [d.severity for d in taken] == [Severity.WARNING]
    assert [d.severity for d in pto.loads(text).check("a5")] == [Severity.ERROR]
    assert [d.severity for d in pto.loads(text).check("a2a3")] == [Severity.ERROR] * 2


ON_A5 = """
func.func @f(%src: !pto.tile_buf<vec, {src}>, %dst: !pto.tile_buf<vec, {dst}>,
             %exp: !pto.tile_buf<vec, {exp}>, %max: !pto.tile_buf<vec, {notes}>,
             %scaling: !pto.tile_buf<vec, {scaling}>) {{
  pto.tquant.mx ins(%src : !pto.tile_buf<vec, {src}>)
    outs(%dst, %exp, %max, %scaling : !pto.tile_buf<vec, {dst}>, !pto.tile_buf<vec, {exp}>,
         !pto.tile_buf<vec, {notes}>, !pto.tile_buf<vec, {scaling}>)
    {{quant_type = #pto<quant_type {format}>{more}}}
  return
}}
"""
DOWN, TWO = ", grpAxis = #pto<mx_group_axis axis0>", ", interleave = true"
ALONG = {
    **{"src": "8x64xf32", "dst": "8x64xi8", "exp": "1x32xui8, valid=1x16"},
    **{"notes": "1x16xf32", "scaling": "1x64xf32, valid=1x16", "format": "MXFP8", "more": ""},
}
LARGE = ALONG | {
    **{"src": "48x64xf32", "dst": "48x64xi8", "exp": "1x96xui8"},
    **{"notes": "1x96xf32", "scaling": "1x192xf32, valid=1x96"},
}
HALF = ALONG | {
    **{"src": "8x64xbf16", "dst": "8x64xi8"},
    **{"notes": "1x16xbf16", "scaling": "1x128xbf16, valid=1x16"},
}
COLUMNS = ALONG | {
    **{"src": "64x96xf32", "dst": "64x96xi8", "exp": "2x96xui8"},
    **{"notes": "2x96xf32", "scaling": "2x96xf32", "more": DOWN},
}
TRANSPOSED = COLUMNS | {
    **{"src": "128x32xbf16", "dst": "128x32xi8", "exp": "2x64xui8"},
    **{"notes": "4x32xbf16", "scaling": "4x32xbf16", "more": DOWN + TWO},
}
SHORT_EXP = "2x96xui8, valid=2x64"
NARROW = COLUMNS | {
    **{"src": "64x96xf32, valid=64x64", "dst": "64x96xi8, valid=64x64", "exp": SHORT_EXP},
    **dict.fromkeys(("notes", "scaling"), "2x96xf32, valid=2x64"),
}


@every("tiles", [ALONG, LARGE, HALF, COLUMNS, TRANSPOSED, NARROW])
def test_groups_on_a5(tiles: dict[str, str]) -> None:
    assert not [str(d) for d in pto.loads(ON_A5.format(**tiles)).check("a5")]


@every(
    ("tiles", "part", "slug"),
    [
        (ALONG, {"dst": "8x96xi8, valid=8x64"}, "shape"),
        (ALONG, {"src": "8x96xf32, valid=8x64", "dst": "8x96xi8, valid=8x64"}, "shape"),
        (ALONG, {"exp": "2x32xui8, valid=1x16"}, "shape"),
        (ALONG, {"notes": "8x8xf32, valid=8x2"}, "shape"),
        (ALONG, {"scaling": "1x32xf32, valid=1x16"}, "shape"),
        (ALONG, {"src": "8x64xf32, valid=?x64"}, "dynamic-valid"),
        (LARGE, {"scaling": "1x128xf32, valid=1x96"}, "shape"),
        (HALF, {"scaling": "1x64xbf16, valid=1x16"}, "shape"),
        (COLUMNS, {"exp": "2x96xui8, valid=2x32"}, "shape"),
        (NARROW, {"exp": "2x64xui8"}, "shape"),
        (NARROW, {"notes": "2x64xf32"}, "shape"),
        (NARROW, {"scaling": "2x64xf32"}, "shape"),
        (TRANSPOSED, {"src": "160x32xbf16, valid=128x32"}, "shape"),
        (TRANSPOSED, {"exp": "2x96xui8, valid=2x64"}, "shape"),
        (TRANSPOSED, {"notes": "2x64xbf16"}, "shape"),
    ],
)
def test_groups_that_a5_would_store_elsewhere(
    tiles: dict[str, str], part: dict[str, str], slug: str
) -> None:
    program = pto.loads(ON_A5.format(**tiles | part))
    assert slug in {d.slug for d in program.check("a5")}
    assert not [d for d in program.check("cpu") if d.slug == "dynamic-valid"]


SHORT = """
func.func @f(%src: !pto.tile_buf<vec, 2x32xbf16, valid=2x20>, %dst: !pto.tile_buf<vec, 2x32xi8>,
             %exp: !pto.tile_buf<vec, 1x32xui8, valid=1x2>,
             %max: !pto.tile_buf<vec, 1x128xbf16, valid=1x2>,
             %scaling: !pto.tile_buf<vec, 1x128xbf16, valid=1x2>) {
  pto.tquant.mx ins(%src : !pto.tile_buf<vec, 2x32xbf16, valid=2x20>)
    outs(%dst, %exp, %max, %scaling : !pto.tile_buf<vec, 2x32xi8>,
         !pto.tile_buf<vec, 1x32xui8, valid=1x2>, !pto.tile_buf<vec, 1x128xbf16, valid=1x2>,
         !pto.tile_buf<vec, 1x128xbf16, valid=1x2>)
    {quant_type = #pto<quant_type MXFP8>, grpAxis = #pto<mx_group_axis axis1>}
  return
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_zeros_fill_up_a_short_group_on_a5(engine: str) -> None:
    program = pto.loads(SHORT)
    assert {d.severity for d in program.check("a5")} == {Severity.WARNING}
    assert "shape" in {d.slug for d in program.check("cpu") if d.severity is Severity.ERROR}
    factors = np.array([[1], [64]], np.float32)
    src = (np.arange(1, 41).reshape(2, 20) * factors).astype(ml_dtypes.bfloat16)
    given = {"src": src, "dst": np.full((2, 32), 7, np.int8), "exp": np.zeros((1, 2), np.uint8)}
    given |= {n: np.zeros((1, 2), ml_dtypes.bfloat16) for n in ("max", "scaling")}
    found = program.execute(given, target="a5", engine=engine).outputs
    exponents = 127 + np.floor(np.log2(src.astype(np.float64).max(1))).astype(int) - 8
    assert np.asarray(found["exp"]).tolist() == [exponents.tolist()]
    scaled = np.pad(src.astype(np.float32) * 2.0 ** (127 - exponents)[:, None], ((0, 0), (0, 12)))
    wanted = scaled.astype(ml_dtypes.float8_e4m3fn).view(np.int8)
    assert np.array_equal(np.asarray(found["dst"]), wanted)
