"""Elementwise instructions as the manual and assemblers spell them, and what they become in C++."""

from __future__ import annotations

import pytest

import ptokit as pto

TILE, INTEGERS = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 16x32xi32>"
HALVES = "!pto.tile_buf<vec, 16x32xf16>"
HIGH = "{precisionType = #pto<NAME_precision high_precision>}"
PROGRAM = f"""\
func.func @f(%x: T, %y: T, %t: T, %a: I, %b: I, %c: f32, %n: i32) {{
  %z = pto.alloc_tile : T
  %d = pto.alloc_tile : I
  %h = pto.alloc_tile : {HALVES}
  LINE
  return
}}
"""
LINES = {
    f"pto.tdiv ins(%x, %y : T, T) outs(%z : T) {HIGH.replace('NAME', 'div')}": (
        "TDIV<DivAlgorithm::HIGH_PRECISION>(z, x, y);"
    ),
    "pto.tdiv ins(%x, %y : T, T) outs(%z : T) {precisionType = #pto<div_precision default>}": (
        "TDIV(z, x, y);"
    ),
    f"pto.texp ins(%x : T) outs(%z : T) {HIGH.replace('NAME', 'exp')}": (
        "TEXP<ExpAlgorithm::HIGH_PRECISION>(z, x);"
    ),
    f"pto.trsqrt ins(%x, %t : T, T) outs(%z : T) {HIGH.replace('NAME', 'rsqrt')}": (
        "TRSQRT<RsqrtAlgorithm::HIGH_PRECISION>(z, x, t);"
    ),
    f"pto.tpow ins(%x, %y, %t : T, T, T) outs(%z : T) {HIGH.replace('NAME', 'pow')}": (
        "TPOW<PowAlgorithm::HIGH_PRECISION>(z, x, y, t);"
    ),
    "%r = tpow %x, %y, %t : T": "TPOW(r, x, y, t);",
    "%r = tpow %x, %y : T, T -> T": "TPOW(r, x, y);",
    "pto.tdivs ins(%x, %c : T, f32) outs(%z : T)": "TDIVS(z, x, c);",
    "pto.tdivs ins(%c, %x : f32, T) outs(%z : T)": "TDIVS(z, c, x);",
    "%r = tdivs %x, %c : T, f32": "TDIVS(r, x, c);",
    "%r = tdivs %c, %x : f32, T": "TDIVS(r, c, x);",
    "%r = pto.tdivs %c, %x : (f32, T) -> T": "TDIVS(r, c, x);",
    "pto.trem ins(%x, %y, %t : T, T, T) outs(%z : T)": "TREM(z, x, y, t);",
    "pto.trem ins(%x, %y : T, T) outs(%z : T)": "TREM(z, x, y);",
    "pto.trems ins(%x, %c, %t : T, f32, T) outs(%z : T)": "TREMS(z, x, c, t);",
    "pto.txors ins(%a, %n, %b : I, i32, I) outs(%d : I)": "TXORS(d, a, n, b);",
    "pto.tands ins(%a, %n : I, i32) outs(%d : I)": "TANDS(d, a, n);",
    "pto.taddc ins(%x, %y, %t : T, T, T) outs(%z : T)": "TADDC(z, x, y, t);",
    "pto.taddsc ins(%x, %c, %y : T, f32, T) outs(%z : T)": "TADDSC(z, x, c, y);",
    "pto.taxpy ins(%x, %c : T, f32) outs(%z : T)": "TAXPY(z, x, c);",
    "pto.tmuladddst ins(%x, %y : T, T) outs(%z : T)": "TMULADDDST(z, x, y);",
    "%r = tmuladddst %x, %y : T": "TMULADDDST(r, x, y);",
    "pto.texpands ins(%c : f32) outs(%z : T)": "TEXPANDS(z, c);",
    "%r = texpands %c : f32, T": "TEXPANDS(r, c);",
    "pto.tadddeqrelu ins(%a, %b, %c, %d : I, I, f32, I) outs(%h : H)": (
        "TADDDEQRELU(h, a, b, c, d);"
    ),
    "pto.taddreluconv ins(%x, %y : T, T) outs(%h : H)": "TADDRELUCONV(h, x, y);",
    "pto.taddrelu ins(%x, %y : T, T) outs(%z : T)": "TADDRELU(z, x, y);",
    "pto.tlrelu ins(%x, %c : T, f32) outs(%z : T)": "TLRELU(z, x, c);",
}


def written(line: str) -> str:
    text = PROGRAM.replace("LINE", line).replace(": H)", f": {HALVES})")
    for short, long in (("T", TILE), ("I", INTEGERS)):
        for before, after in ((" ", ","), (" ", ")"), (" ", "\n"), (" ", " ->"), ("(", ",")):
            text = text.replace(f"{before}{short}{after}", f"{before}{long}{after}")
    return text


LACKING = "ignore::ptokit.text.write.cpplacking.CppWarning"


@pytest.mark.filterwarnings(LACKING)
@pytest.mark.parametrize("line", LINES)
def test_every_form_is_read_and_written(line: str) -> None:
    program = pto.loads(written(line))
    for form in ("as", "ssa", "dps"):
        text = program.text(form)
        assert pto.loads(text).text(form) == text
    assert LINES[line] in program.text("cpp")
