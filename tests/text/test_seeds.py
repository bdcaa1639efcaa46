"""Every spelling that the public instruction pages print can be read, and means what they say."""

from __future__ import annotations

import pytest

from ptokit.ir.module import Op, OpaqueOp
from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

T, B = "!pto.tile<...>", "!pto.tile_buf<...>"
PAGES = [
    ("textract", f"%dst = textract %src[%r0, %r1] : {T} -> {T}"),
    ("textract_fp", f"%dst = textract.fp %src, %fp[%r0, %r1] : {T}, {T} -> {T}"),
    ("textract", f"// Standard\n%dst = pto.textract %src, %r, %c : ({T}, dtype, dtype) -> {T}"),
    (
        "textract_fp",
        f"// Fix-pipe\n%dst = pto.textract_fp %src, %fp, %r, %c : ({T}, {T}, dtype, dtype) -> {T}",
    ),
    ("textract", f"pto.textract ins(%src, %r, %c : {B}, dtype, dtype) outs(%dst : {B})"),
    (
        "textract_fp",
        f"pto.textract_fp ins(%src, %fp, %r, %c : {B}, {B}, dtype, dtype) outs(%dst : {B})",
    ),
    (
        "textract",
        "# Manual mode: bind resources first.\n# pto.tassign %arg0, @tile(0x1000)\n"
        f"%dst = pto.textract %src, %r, %c : ({T}, dtype, dtype) -> {T}",
    ),
    (
        "textract",
        f"# AS Level 2 (DPS)\npto.textract ins(%s, %r, %c : {B}, dtype, dtype) outs(%d : {B})",
    ),
    ("tgather", f"%dst = tgather %src0, %indices : {T} -> {T}"),
    ("tgather", f"%dst = tgather %src {{maskPattern = #pto.mask_pattern<P0101>}} : {T} -> {T}"),
    ("tgather", f"%dst = pto.tgather %src, %indices : ({T}, {T}) -> {T}"),
    ("tgather", f"%dst = pto.tgather %src {{maskPattern = #pto.mask_pattern<P0101>}}: {T} -> {T}"),
    ("tgather", f"pto.tgather ins(%src, %indices : {B}, {B}) outs(%dst : {B})"),
    (
        "tgather",
        f"pto.tgather ins(%src, {{maskPattern = #pto.mask_pattern<P0101>}} : {B}) outs(%dst : {B})",
    ),
    ("subview", f"%dst = pto.subview %src, %row_idx, %col_idx : {T}, i16, i16"),
    ("subview", f"%dst = pto.subview %src, %row_idx, %col_idx : ({T}, i16, i16) -> {T}"),
    ("subview", f"pto.subview ins(%src, %row_idx, %col_idx : {B}, i16, i16) outs(%dst : {B})"),
]


@pytest.mark.parametrize(("name", "text"), PAGES, ids=[t.splitlines()[-1][:60] for _, t in PAGES])
def test_page_spelling(name: str, text: str) -> None:
    module = read(text)
    (op,) = module.funcs[0].body.ops
    assert isinstance(op, Op)
    assert op.page.name == name
    assert module.funcs[0].flat
    comments = tuple(line for line in text.splitlines() if line[:1] in "#/")
    assert op.comments.before == comments
    form = "dps" if op.dps else "ssa"
    assert same(read(print_module(module, form)), module)
    if form == "ssa":
        arguments = [str(a.type) for a in module.funcs[0].args]
        if arguments[1:] != [T, "i16", "i16"][1:]:
            assert same(read(print_module(module, "as")), module)


def test_standard_forms_print_as_the_pages_do() -> None:
    text = f"%dst = textract %src[%r0, %r1] : {T} -> {T}\n"
    assert print_module(read(text), "as") == text
    text = f"%dst = textract.fp %src, %fp[%r0, %r1] : {T}, {T} -> {T}\n"
    assert print_module(read(text), "as") == text
    text = f"%dst = pto.textract %src, %r, %c : ({T}, index, index) -> {T}\n"
    assert print_module(read(text), "ssa") == text
    text = f"pto.textract ins(%src, %r, %c : {B}, index, index) outs(%dst : {B})\n"
    assert print_module(read(text), "dps") == text


def test_assign_as_a_statement_gives_the_name_a_new_meaning() -> None:
    module = read("pto.tassign %arg0, @tile(0x1000)\n%dst = textract %arg0[0, 64]\n")
    number, _, _, assign, extract = module.funcs[0].body.ops
    assert isinstance(number, Op)
    assert isinstance(assign, Op)
    assert isinstance(extract, Op)
    assert number.attrs == {"value": 0x1000}
    assert extract.bound("src") == tuple(assign.results)
    assert print_module(module, "as") == (
        f"%arg0_1 = tassign %arg0, 4096 : {T} -> {T}\n%dst = textract %arg0_1[0, 64] : {T} -> {T}\n"
    )


def test_configuration_ops_are_read() -> None:
    module = read("pto.SETFMATRIX ins(%cfg : !pto.fmatrix_config) outs()\n")
    assert isinstance(module.funcs[0].body.ops[0], Op)
    assert same(read(print_module(module, "dps")), module)


def test_ops_of_unknown_types_are_kept() -> None:
    text = "pto.tload ins(%a : memref<16xf16>) outs(%b : memref<16xf16>)\n"
    module = read(text)
    assert isinstance(module.funcs[0].body.ops[0], OpaqueOp)
    assert print_module(module, "dps") == text
