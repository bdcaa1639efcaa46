"""Newer and older text of one instruction is read as the same program."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every

L0C, L1 = "!pto.tile_buf<acc, 16x16xf32>", "!pto.tile_buf<mat, 16x16xi8>"
FB, UB = "!pto.tile_buf<scaling, 1x16xu64>", "!pto.tile_buf<vec, 16x32xf32>"
GATHER = f"pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<P0101>}} : {UB}"
OPEN = "!pto.tile_buf<vec, 16x32xf32, valid=?x?>"
P = "!pto.partition_tensor_view<16x16xi8>"
BYTES, NOTE = "!pto.tile_buf<vec, 32x32xi8>", "!pto.tile_buf<vec, 1x32xf32>"
QUANT = (
    f"pto.tquant.mx ins(%s : {BYTES.replace('i8', 'f32')}) outs(%d, %e, %m, %q : {BYTES}, "
    f"{NOTE.replace('f32', 'ui8')}, {NOTE}, {NOTE})"
)
SAME = {
    f"pto.textract ins(%a, %r, %c : {L0C}, index, index, fp %f : {FB}) outs(%d : {L1})":
    f"pto.textract_fp ins(%a, %f, %r, %c : {L0C}, {FB}, index, index) outs(%d : {L1})",
    f"pto.tinsert ins(%a, fp %f, %r, %c : {L0C}, {FB}, index, index) outs(%d : {L1})":
    f"pto.tinsert_fp ins(%a, %f, %r, %c : {L0C}, {FB}, index, index) outs(%d : {L1})",
    f"pto.tmov ins(%a : {L0C}, fp %f : {FB}) outs(%d : {L1})":
    f"pto.tmov.fp ins(%a, %f : {L0C}, {FB}) outs(%d : {L1})",
    f"pto.tstore ins(%a, fp %f : {L0C}, {FB}) outs(%p : {P})":
    f"pto.tstore_fp ins(%a, %f : {L0C}, {FB}) outs(%p : {P})",
    f"pto.tstore ins(%a : {L0C}, pre_quant %q : i64) outs(%p : {P})":
    f"pto.tstore ins(%a, %q : {L0C}, i64) outs(%p : {P})",
    f"pto.tmov ins(%a : {L0C}, pre_quant %q : i64) outs(%d : {L1})":
    f"pto.tmov ins(%a, %q : {L0C}, i64) outs(%d : {L1})",
    f'pto.tfillpad ins(%a : {UB}) outs(%b : {UB}) {{mode = "expand"}}':
    f"pto.tfillpad_expand ins(%a : {UB}) outs(%b : {UB})",
    f'pto.tfillpad ins(%a : {UB}) outs(%a : {UB}) {{mode = "inplace"}}':
    f"pto.tfillpad_inplace ins(%a : {UB}) outs(%a : {UB})",
    f"pto.tfillpad ins(%a : {UB}) outs(%a : {UB}) {{mode = #pto.tfillpad_mode<in_place>}}":
    f"pto.tfillpad_inplace ins(%a : {UB}) outs(%a : {UB})",
    f'{GATHER}, "col") outs(%b : {UB})':
    f"pto.tgather ins(%a : {UB}) outs(%b : {UB}) {{maskPattern = P0101, gatherAxis = col}}",
    f"pto.tinsert ins(%a : {UB}) outs(%b : {UB}) {{tinsertMode = #pto.tinsert_mode<split2>}}":
    f"pto.tinsert ins(%a : {UB}) outs(%b : {UB}) {{split = split2}}",
    f"{QUANT} {{grpAxis = #pto<mx_group_axis axis0>}}":
    f"{QUANT} {{grpAxis = #pto<mx_group_axis axis0>, quant_type = #pto<quant_type MXFP8>}}",
    "pto.set_quant_scalar(%q : f32) {id = 0}": "pto.set_quant_scalar %q : f32",
}  # fmt: skip


@every(("newer", "older"), SAME.items())
def test_one_instruction(newer: str, older: str) -> None:
    found, other = pto.loads(f"{newer}\n"), pto.loads(f"{older}\n")
    assert found.text("dps", dialect="v0.57") == other.text("dps", dialect="v0.57")
    for text in (found.text("dps"), other.text("dps", dialect="v0.26")):
        assert pto.loads(text).text("dps") == text


@every(
    ("clause", "kind", "shape"),
    [
        ("sizes [8, 8] valid [%one, %n]", OPEN, [1, 5]),
        ("sizes [8, 8]", OPEN, [3, 3]),  # what is valid of the tile there
        ("sizes [2, 8]", OPEN, [2, 3]),  # and of the window
        ("sizes [2, 8]", UB.replace(">", ", valid=2x6>"), [2, 6]),
    ],
)
def test_a_window_says_what_of_it_is_valid(
    clause: str, kind: str, shape: list[int], engine: str
) -> None:
    text = f"""\
func.func @f(%g: !pto.ptr<i32>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %t = pto.alloc_tile valid_row = %four valid_col = %n : {OPEN}
  %s = pto.subview %t[%one, %two] {clause} : {OPEN} -> {kind}
  %r, %c = pto.get_validshape %s : {kind}
  %i = arith.index_cast %r : index to i32
  %j = arith.index_cast %c : index to i32
  pto.store_scalar %i, %g[%zero] : !pto.ptr<i32>, i32
  pto.store_scalar %j, %g[%one] : !pto.ptr<i32>, i32
  return
}}
"""
    printed = pto.loads(text).text("dps")
    assert pto.loads(printed).text("dps") == printed
    done = pto.loads(text).execute({"g": np.zeros(2, np.int32), "n": 5}, engine=engine)
    assert np.asarray(done.outputs["g"]).tolist() == shape


def test_what_a_load_says_of_its_view_must_hold() -> None:
    text = "pto.tload ins(%v : !pto.tensor_view<16x32xf32, stride=32x1>) outs(%t : {})"
    text = text.format(UB) + " {{layout = #pto.layout<{}>, pto.inferred_layout = true}}\n"
    assert [d.slug for d in pto.loads(text.format("nd")).check("cpu")] == []
    assert [d.slug for d in pto.loads(text.format("dn")).check("cpu")] == ["layout"]
    assert "TLOAD(" in pto.loads(text.format("nd")).text("cpp")


@pytest.mark.parametrize(("number", "slugs"), [(3, []), (-1, ["attribute"])])
def test_parameters_are_those_of_a_pipe(number: int, slugs: list[str]) -> None:
    found = pto.loads(f"pto.set_quant_scalar(%q : f32) {{id = {number}}}\n").check("cpu")
    assert [d.slug for d in found] == slugs


def test_a_type_may_hold_the_alias_of_another() -> None:
    line = "%m = pto.alloc_multi_tile : !pto.multi_tile_buf<{}, count=2>\n"
    newer, older = f"!t = {UB}\n" + line.format("!t"), line.format(UB)
    assert pto.loads(newer).text("dps").endswith(pto.loads(older).text("dps"))


def test_a_mistake_in_a_type_with_an_alias_is_shown_in_it() -> None:
    with pytest.raises(pto.PtoError, match="count"):
        pto.loads(f"!t = {UB}\n%m = pto.alloc_multi_tile : !pto.multi_tile_buf<!t, number=2>\n")


@every("types", ["", ", i32", ", i32, i32"])
def test_how_much_is_valid_has_one_type(types: str) -> None:
    kind = "!pto.tile_buf<vec, 16x16xf32, valid=?x?>"
    line = f"%t = pto.alloc_tile valid_row = %r valid_col = %c : {kind}"
    text = f"func.func @f(%r: i32, %c: i32) {{\n  {line}{types}\n  return\n}}\n"
    plain = text.replace(types, "") if types else text
    assert pto.loads(text).text("dps") == pto.loads(plain).text("dps")


def test_signed_types_keep_their_spelling() -> None:
    """Newer assemblers tell si8 from i8, which are one type here."""
    tile, other = "!pto.tile_buf<vec, 16x32xsi8>", "!pto.tile_buf<vec, 16x64xi8>"
    args = f"%a: {tile}, %b: {other}, %p: !pto.ptr<si16>, %u: !pto.ptr<ui8>, %n: i8"
    program = pto.loads(f"func.func @f({args}) {{ return }}")
    text = program.text()
    assert "dtype=si8, rows=16, cols=32" in text
    assert "dtype=i8, rows=16, cols=64" in text
    assert "%p: !pto.ptr<si16>, %u: !pto.ptr<ui8>, %n: i8" in text
    assert pto.loads(text).text() == text
    assert "si" not in program.text("ssa")


def test_a_third_tile_of_a_move_is_scratch_or_parameters_by_its_memory() -> None:
    """Both stand last, with a type of their own."""
    tiles = ("vec, 32x32xui8", "vec, 1x1120xui8", "vec, 32x32xui8, slayout=row_major, fractal=32")
    src, tmp, dst = (f"!pto.tile_buf<{kind}>" for kind in tiles)
    line = f"pto.tmov ins(%a : {src}, %t : {tmp}) outs(%d : {dst})"
    text = f"func.func @f(%a: {src}, %t: {tmp}, %d: {dst}) {{\n  {line}\n  return\n}}\n"
    assert pto.loads(text).check("a5") == []
