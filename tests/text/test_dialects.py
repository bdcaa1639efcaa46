"""The DPS form is the text of compilers: each statement is printed as their grammars have it.

`text-syntax` lists the grammars: declarative formats, hand-written ones, and what versions changed.
"""

from __future__ import annotations

import numpy as np

from every import every
from ptokit import loads

TILE = (
    "!pto.tile_buf<loc={}, dtype={}, rows={}, cols={}, v_row={}, v_col={}, blayout={}, slayout={}, "
    "fractal={}, pad=0>"
)


def tile(loc: str, dtype: str, rows: int, cols: int, layout: str, valid: str = "") -> str:
    """A tile type in full; `layout` as in "col/row/512"."""
    b, s, fractal = layout.split("/")
    words = {"row": "row_major", "col": "col_major", "none": "none_box"}
    sizes = valid.split("x") if valid else (rows, cols)
    return TILE.format(loc, dtype, rows, cols, *sizes, words[b], words[s], fractal)


TYPES = {
    "!v": tile("vec", "f32", 16, 64, "row/none/512"),
    "!w": tile("vec", "f32", 8, 64, "row/none/512"),
    "!i": tile("vec", "i32", 16, 64, "row/none/512"),
    "!h": tile("vec", "f16", 16, 64, "row/none/512"),
    "!n": tile("vec", "f16", 16, 32, "row/none/512"),
    "!open": tile("vec", "f32", 16, 64, "row/none/512", "?x?"),
    "!acc": tile("acc", "f32", 16, 16, "col/row/1024"),
    "!mat": tile("mat", "i8", 16, 32, "col/row/512", "16x16"),
    "!fp": tile("scaling", "ui64", 1, 16, "row/none/512"),
    "!g": "!pto.partition_tensor_view<16x16xi8>",
}
# what each statement needs before it
NEEDS = {
    "%v": "%v = pto.alloc_tile : !v",
    "%v1": "%v1 = pto.alloc_tile : !v",
    "%i": "%i = pto.alloc_tile : !i",
    "%h": "%h = pto.alloc_tile : !h",
    "%n": "%n = pto.alloc_tile : !n",
    "%o": "%o = pto.alloc_tile valid_row = %c valid_col = %c : !open",
    "%acc": "%acc = pto.alloc_tile : !acc",
    "%mat": "%mat = pto.alloc_tile : !mat",
    "%fp": "%fp = pto.alloc_tile : !fp",
    "%ids": "%ids = pto.declare_eventid_array -> !pto.eventid_array<4>",
}
ARGS = "%p: !pto.ptr<f32>, %view: !g, %c: index, %k: i32, %q: i64, %x: f32"
BOTH = [
    "%t = pto.alloc_tile addr = %q valid_row = %c valid_col = %c : !open",
    "%t = pto.make_tensor_view %p, shape = [%c, %c], strides = [%c, %c] "
    "{layout = #pto.layout<dn>} : !pto.tensor_view<?x?xf32>",
    "pto.set_validshape %o, %c, %c : !open",
    "%r, %s = pto.get_validshape %o : !open",
    "%r = pto.tile_valid_rows %o : !open -> index",
    "%s = pto.addptr %p, %c : !pto.ptr<f32> -> !pto.ptr<f32>",
    "%r = pto.tgetval ins(%v, %c : !v, index) outs : f32",
    "pto.tsetval ins(%c, %x : index, f32) outs(%v : !v)",
    "pto.tcvt ins(%v {rmode = #pto<round_mode ROUND>} : !v) outs(%i : !i)",
    'pto.tgather ins(%h, {maskPattern = #pto.mask_pattern<P0101>} : !h, "col") outs(%n : !n)',
    "pto.tci ins(%k {descending = true} : i32) outs(%i : !i)",
    "pto.ttri ins(%k {upperOrLower = 1 : i32} : i32) outs(%v : !v)",
    "pto.trandom ins(%k, %k, %k, %k, %k, %k {rounds = 7 : i32} : i32, i32, i32, i32, i32, i32) "
    "outs(%i : !i)",
    "pto.tmov ins(%v : !v) outs(%v1 : !v) {reluPreMode = #pto<relu_pre_mode normal_relu>}",
    "pto.eventid_array_set %ids[%c], %c : !pto.eventid_array<4>",
    "%r = pto.eventid_array_get %ids[%c] : !pto.eventid_array<4>",
]
# the same in two versions of the assembler
CHANGED = [
    (
        "pto.textract_fp ins(%acc, %fp, %c, %c : !acc, !fp, index, index) outs(%mat : !mat)",
        "pto.textract ins(%acc, %c, %c : !acc, index, index fp %fp : !fp) outs(%mat : !mat)",
    ),
    (
        "pto.tinsert_fp ins(%acc, %fp, %c, %c : !acc, !fp, index, index) outs(%mat : !mat)",
        "pto.tinsert ins(%acc, %c, %c : !acc, index, index fp %fp : !fp) outs(%mat : !mat)",
    ),
    (
        "pto.tmov.fp ins(%acc, %fp : !acc, !fp) outs(%mat : !mat)",
        "pto.tmov ins(%acc : !acc, %fp : !fp) outs(%mat : !mat)",
    ),
    (
        "pto.tstore_fp ins(%acc, %fp : !acc, !fp) outs(%view : !g)",
        "pto.tstore ins(%acc : !acc fp %fp : !fp) outs(%view : !g)",
    ),
    (
        "pto.tfillpad_inplace ins(%v : !v) outs(%v : !v)",
        'pto.tfillpad ins(%v : !v) outs(%v : !v) {mode = "inplace"}',
    ),
    (
        "pto.tgather ins(%h, {maskPattern = #pto.mask_pattern<P0101>} : !h) outs(%n : !n)",
        'pto.tgather ins(%h, {maskPattern = #pto.mask_pattern<P0101>} : !h, "row") outs(%n : !n)',
    ),
    (
        "pto.tcvt ins(%v {sat_mode = #pto<saturation_mode ON>} : !v) outs(%i : !i)",
        "pto.tcvt ins(%v {satmode = #pto<saturation_mode ON>} : !v) outs(%i : !i)",
    ),
    (
        "%t = pto.subset %v[%c, %c] sizes [8, 64] : !v",
        "%t = pto.subview %v[%c, %c] sizes [8, 64] : !v -> !w",
    ),
]
NEWEST = [
    "%n = arith.constant dense<0> : vector<4xi16>",
    "%t = pto.subview %v[%c, %c] sizes [8, 64] valid [%c, %c] : !v -> !open",
    "%r = pto.load %p[%c] : !pto.ptr<f32> -> f32",
    "pto.store %x, %p[%c] : !pto.ptr<f32>, f32",
]


def program(statement: str, *more: str) -> str:
    """A function of the statement and what it needs, each type under its name."""
    written = f"{statement} "
    needed = [line for name, line in NEEDS.items() if any(f"{name}{e}" in written for e in ",: [")]
    needed = [line for line in needed if not statement.startswith(line.split()[0] + " =")]
    lines = [*needed, statement, *more, "return"]
    types = "".join(f"{name} = {kind}\n" for name, kind in TYPES.items())
    body = "".join(f"  {line}\n" for line in lines)
    return f"{types}func.func @k({ARGS}) {{\n{body}}}\n"


@every("statement", [*BOTH, *NEWEST, *(s for pair in CHANGED for s in pair)])
def test_a_statement_keeps_the_spelling_of_its_assembler(statement: str) -> None:
    text = program(statement)
    assert loads(text).text() == text


@every(("older", "newer"), CHANGED)
def test_a_dialect_can_be_chosen(older: str, newer: str) -> None:
    old, new = loads(program(older)), loads(program(newer))
    assert statement_of(new.text(dialect="v0.26")) == older
    assert statement_of(old.text(dialect="v0.57")) == newer


def statement_of(text: str) -> str:
    """The last statement before the end of the function."""
    return text.splitlines()[-3].strip()


def test_a_text_has_one_dialect() -> None:
    """What says nothing of its version is spelled as what does."""
    mode = "pto.tfillpad_inplace ins(%v : !v) outs(%v : !v)"
    generic = '"pto.tfillpad_inplace"(%v, %v) : (!v, !v) -> ()'
    assert loads(program(mode, generic)).text() == program(mode, mode)


HANDLE = f"""\
!v = {tile("vec", "f32", 16, 64, "row/none/512")}
!tall = {tile("vec", "f32", 64, 16, "row/none/512")}
!i = {tile("vec", "i32", 16, 64, "row/none/512", "?x?")}
func.func @k(%p: !pto.ptr<i32>, %x: f32, %n: index) {{
  %zero = arith.constant 0 : index
  %v = pto.alloc_tile : !v
  %t = pto.treshape %v : !v -> !tall
  pto.texpands ins(%x : f32) outs(%t : !tall)
  %i = pto.bitcast %v : !v -> !i
  pto.set_validshape %i, %n, %n : !i
  %bits = pto.tgetval ins(%i, %n : !i, index) outs : i32
  pto.store_scalar %bits, %p[%zero] : !pto.ptr<i32>, i32
  return
}}
"""


def test_a_handle_may_be_a_result_between_statements_that_write_operands(engine: str) -> None:
    """What is written through one handle is read through another."""
    program = loads(HANDLE)
    assert program.text() == HANDLE
    assert program.check("all") == []
    done = program.run(p=np.zeros(1, np.int32), x=2.5, n=3, engine=engine)
    assert done["p"].tolist() == [np.float32(2.5).view(np.int32)]


VEC = "memref<16x16xf32, #pto.address_space<vec>>"
GM = "memref<16x16xf32, strided<[16, 1], offset: ?>, #pto.address_space<gm>>"
MEMREFS = f"""\
module {{
  func.func @k(%a: {GM}, %b: {GM}) {{
    %0 = memref.alloc() : {VEC}
    pto.tload ins(%a : {GM}) outs(%0 : {VEC})
    pto.tadd ins(%0, %0 : {VEC}, {VEC}) outs(%0 : {VEC})
    pto.tstore ins(%0 : {VEC}) outs(%b : {GM})
    return
  }}
}}
"""


def test_memrefs_stay_memrefs() -> None:
    program = loads(MEMREFS)
    assert program.text() == MEMREFS
    assert GM in program.text("ssa")
    assert "!pto" not in program.text("ssa")
    # where a pointer is wanted they are not judged, and kept in every form
    head = MEMREFS.partition("    pto.tload")[0]
    session = f"%s = pto.build_async_session(%0, %a : {VEC}, {GM}) -> !pto.async_session"
    ssa = loads(f"{head}    {session}\n    return\n  }}\n}}\n").text("ssa")
    assert loads(ssa).text("ssa") == ssa
    given = np.arange(256, dtype=np.float32).reshape(16, 16)
    assert (program.run(a=given, b=np.zeros_like(given))["b"].ravel() == 2 * given.ravel()).all()
