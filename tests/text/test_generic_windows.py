"""Windows in the generic form, whose extents are an attribute."""

from __future__ import annotations

import pytest

import ptokit as pto

WHOLE, PART, LESS = (
    f"!pto.tile_buf<vec, {shape}>" for shape in ("32x64xf16", "16x64xf16", "16x64xf16, valid=8x4")
)
TEXT = f"""\
func.func @f(%i: index, %n: index) {{
  %t = pto.alloc_tile : {WHOLE}
  STATEMENT
  return
}}
"""
INDICES = "operandSegmentSizes = array<i32: 1, 2, 0, 0>, "
VALID = "operandSegmentSizes = array<i32: 1, 2, 1, 1>, "


def program(statement: str) -> pto.Program:
    return pto.loads(TEXT.replace("STATEMENT", statement))


@pytest.mark.parametrize("sizes", ["[16, 64]", "[16 : i64, 64 : i64]", "array<i64: 16, 64>"])
@pytest.mark.parametrize(
    "attributes",
    ["{sizes = SIZES}", f"<{{{INDICES}sizes = SIZES}}>", f"{{sizes = SIZES, {INDICES[:-2]}}}"],
)
@pytest.mark.parametrize("name", ["subset", "subview"])
def test_the_extents_of_a_window_are_an_attribute(name: str, attributes: str, sizes: str) -> None:
    given = attributes.replace("SIZES", sizes)
    found = program(f'%w = "pto.{name}"(%t, %i, %n) {given} : ({WHOLE}, index, index) -> {PART}')
    types = WHOLE if name == "subset" else f"{WHOLE} -> {PART}"
    wanted = program(f"%w = pto.{name} %t[%i, %n] sizes [16, 64] : {types}")
    assert found.text("dps") == wanted.text("dps")
    assert pto.loads(found.text("dps")).text("dps") == found.text("dps")


def test_what_is_valid_of_a_window_are_operands() -> None:
    given = f"<{{{VALID}sizes = [16, 64]}}> : ({WHOLE}, index, index, index, index) -> {LESS}"
    found = program(f'%w = "pto.subview"(%t, %i, %i, %n, %n) {given}')
    clause = "sizes [16, 64] valid [%n, %n]"
    wanted = program(f"%w = pto.subview %t[%i, %i] {clause} : {WHOLE} -> {LESS}")
    assert found.text("dps") == wanted.text("dps")


@pytest.mark.parametrize("operands", ["%t, %i", "%i, %i, %i", "%t, %i, %t"])
def test_other_operands_are_refused(operands: str) -> None:
    types = ", ".join(WHOLE if name == "%t" else "index" for name in operands.split(", "))
    with pytest.raises(pto.PtoError) as caught:
        program(f'%w = "pto.subview"({operands}) {{sizes = [16, 64]}} : ({types}) -> {PART}')
    assert caught.value.diagnostics[0].slug == "operand-count"
