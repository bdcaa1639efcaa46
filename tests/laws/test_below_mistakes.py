"""The law of mistakes below tiles: one message, at the statement, that says what to do."""

from __future__ import annotations

import pytest

import ptokit as pto

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
PROGRAM = f"""\
func.func @mistaken(%n: i32) {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant 262080 : i64
  %p = pto.castptr %end : i64 -> {P}
  %zero = arith.constant 0.0 : f32
  pto.vecscope {{
    %m = pto.pset_b32 "PAT_ALL" : {M}
    %v = pto.vbr %zero : f32 -> {V}
    STATEMENT
  }}
  return
}}
"""
LINE = 10
MISTAKES = {  # statement -> slug, and a part of what is said
    f"%s = pto.vlds %p[%c64] : {P} -> {V}": ("address-out-of-range", "pto.vlds: the tile does"),
    f"pto.vsts %v, %p[%c64], %m : {V}, {P}, {M}": ("address-out-of-range", "pto.vsts"),
    f"%s = pto.vadds %v, %n, %m : {V}, i32, {M} -> {V}": ("element-type", "type of the lanes"),
    f'%s = pto.vcmps %v, %n, %m, "lt" : {V}, i32, {M} -> {M}': ("element-type", "i32"),
    f"%s = pto.vad %v, %v, %m : {V}, {V}, {M} -> {V}": ("foreign-op", "did you mean pto.vand?"),
    f"%s = pto.vadd %v, %v : {V}, {V} -> {V}": ("foreign-op", "%lhs, %rhs, %mask"),
    f"%s = pto.vcmp %v, %v, %m : {V}, {V}, {M} -> {M}": ("operand-count", "relation"),
}


@pytest.mark.parametrize("statement", MISTAKES)
def test_a_mistake_has_one_message(statement: str) -> None:
    slug, said = MISTAKES[statement]
    text = PROGRAM.replace("STATEMENT", statement)
    try:
        found = [one for one in pto.loads(text).check("a5") if one.slug != "unused-value"]
    except pto.PtoError as problem:
        found = [*problem.diagnostics]
    (one,) = found
    assert one.slug == slug
    assert one.span
    assert one.span.line == LINE
    assert said in one.render()
