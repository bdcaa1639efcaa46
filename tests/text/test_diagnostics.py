"""Each diagnostic of the reader: its slug, its place, and what it says to do."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.text.read.reader import read

T = "!pto.tile_buf<vec, 16x16xf16>"
VIEW = "!pto.tensor_view<16x16xf16>"
PART = "!pto.partition_tensor_view<16x16xf16>"


def problem(text: str) -> Diagnostic:
    with pytest.raises(PtoError) as caught:
        read(text, "k.pto")
    (found,) = caught.value.diagnostics
    assert found.render().startswith(f"error[{found.slug}]: ")
    return found


def place(found: Diagnostic) -> tuple[int, int, str]:
    """Line, column and the text under the carets."""
    assert found.span is not None
    source = found.span.source
    line, column = source.position(found.span.start)
    return line, column, source.text[found.span.start : found.span.end]


# text, slug, line, column, the words under the carets
CASES: list[tuple[str, str, int, int, str]] = [
    ("%d = pto.textract %s\n%e = ) 4", "syntax-error", 2, 6, ")"),
    ("%d = pto.textract %s[%r, %c", "syntax-error", 1, 28, ""),
    ("%d pto.textract %s", "syntax-error", 1, 4, "pto.textract"),
    ("pto.tload ins(%a : f16, f16) outs(%b : f16)", "operand-count", 1, 18, ":"),
    ("module {", "syntax-error", 1, 9, ""),
    ("module { pto.trap }", "syntax-error", 1, 10, "pto.trap"),
    ("func.func @f(%a: index) {\n  return\n", "syntax-error", 3, 1, ""),
    ('foo.bar "never closed', "syntax-error", 1, 9, '"'),
    ("%a = arith.constant 99999999999999999999 : index", "syntax-error", 1, 21, "9" * 20),
    ("a\0b", "syntax-error", 1, 2, "\0"),
    ("%a = pto.alloc_tile : !pto.tile_buf<vex, 16x16xf16>", "unknown-word", 1, 37, "vex"),
    (
        "%d = textract %s[0, 0] {reluPreMode = #pto<relu_pre_mode nrmal_relu>}",
        *("unknown-word", 1, 39, "#pto<relu_pre_mode nrmal_relu>"),
    ),
    ("%c = arith.cmpi slr, %a, %b : index", "unknown-word", 1, 17, "slr"),
    ("%d = textract %s[0, 0] {rellu = true}", "unknown-attribute", 1, 25, "rellu"),
    ("%d = pto.alloc_tile adr = %a : " + T, "unknown-attribute", 1, 6, "pto.alloc_tile"),
    ("%d = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf61>", "unknown-type", 1, 48, "f61"),
    ("%d = pto.alloc_tile : !lft", "unknown-type", 1, 23, "!lft"),
    ("%d = arith.constant 5 : indx", "unknown-type", 1, 25, "indx"),
    ("func.func @f() {\n  pto.tmov ins(%a : f16) outs(%a : f16)\n}", "undefined-name", 2, 16, "%a"),
    (
        "%y = arith.addi %x, %x : index\n%x = arith.addi %y, %y : index",
        *("undefined-name", 1, 17, "%x"),
    ),
    ("%a = arith.constant 1 : index\n%a = arith.constant 2 : index", "redefined-name", 2, 1, "%a"),
    ("!t = f16\n!t = f32", "redefined-name", 2, 1, "!t"),
    ("func.func @f() { return }\nfunc.func @f() { return }", "redefined-name", 2, 11, "@f"),
    ("%d = textract %s, %a, %b, %c, %d", "operand-count", 1, 6, "textract"),
    ("%a, %b, %c = pto.tload %p", "operand-count", 1, 14, "pto.tload"),
    ("%i = arith.constant 1 : index\n%j = arith.addi %i, %i : i32", "type-mismatch", 2, 26, "i32"),
    ("%i = arith.constant 1 : index\n%d = pto.textract %i, %i, %i", "type-mismatch", 2, 19, "%i"),
    (
        "%x = scf.for %i = 0 to 4 step 1 iter_args(%a = %b) -> (index) {\n}",
        *("operand-count", 2, 1, "}"),
    ),
    ("func.func @f() -> index {\n  return\n}", "operand-count", 2, 3, "return"),
]


@every(("text", "slug", "line", "column", "under"), CASES)
def test_place(text: str, slug: str, line: int, column: int, under: str) -> None:
    found = problem(text)
    assert (found.slug, *place(found)) == (slug, line, column, under)


def test_count_says_what_the_op_takes() -> None:
    types = f"({T}, i64, index, index, index) -> {T}"
    found = problem(f"%d = pto.textract %s, %q, %r, %c, %x : {types}")
    assert found.message.startswith("pto.textract: expected src [, quant], row, col or ")
    assert found.message.endswith(", got 5 operands")


def test_open_bracket_is_shown() -> None:
    found = problem("module {\n  func.func @f() {\n    return")
    assert found.message == "expected an operation or '}', found end of text"
    (note,) = found.notes
    assert note.message == "'{' was opened here"
    assert note.span is not None
    assert note.span.source.position(note.span.start) == (2, 18)


def test_types_that_do_not_agree_are_not_called_the_same() -> None:
    """A view of all of an array and a part of one are both `global f16 16x16`."""
    found = problem(f"func.func @f(%v: {VIEW}) {{\n  pto.tprint ins(%v : {PART})\n  return\n}}")
    assert found.message == f"%v is {VIEW}, used as {PART}"


def test_nor_are_those_of_a_function_and_of_its_call() -> None:
    calls = f"func.func @f(%v: {VIEW}) {{\n  func.call @g(%v) : ({VIEW}) -> ()\n  return\n}}"
    takes = f"func.func private @g(%v: {PART}) {{\n  return\n}}"
    found = next(d for d in pto.loads(f"{takes}\n{calls}").check() if d.is_error)
    assert (found.slug, found.message) == ("type-mismatch", f"@g takes {PART}, got {VIEW}")


def test_mismatch_shows_the_definition() -> None:
    found = problem(
        f"%t = pto.alloc_tile : {T}\n%d = tmov %t : !pto.tile_buf<vec, 16x32xf16> -> {T}"
    )
    assert found.message == "%t is vec f16 16x16 nd, used as vec f16 16x32 nd"
    (note,) = found.notes
    assert note.message == "%t is defined here"
    assert note.span is not None
    assert note.span.source.position(note.span.start) == (1, 1)


def test_mismatch_with_an_earlier_use_shows_that_use() -> None:
    found = problem("%d = tmov %t : !pto.tile<16x16xf16>\n%e = tmov %t : !pto.tile<16x32xf16>")
    (note,) = found.notes
    assert note.message == "type of %t inferred here"
    assert note.span is not None
    assert note.span.source.position(note.span.start) == (1, 16)


def test_a_name_that_ended_with_its_region() -> None:
    text = "func.func @f(%a: index) {\n  scf.for %i = %a to %a step %a {\n  }\n  foo.use %a\n"
    found = problem(text + "  %x = arith.addi %i, %i : index\n}")
    assert found.slug == "undefined-name"
    assert found.notes[0].message == "defined in a region that ends before the use"


@every(
    ("text", "help"),
    [
        ("%d = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf61>", "did you mean f16?"),
        ("%d = textract %s[0, 0] {reluPremode2 = 1}", "did you mean reluPreMode?"),
        (
            "func.func @f(%left: index) {\n  %x = arith.addi %lft, %left : index\n}",
            "did you mean %left?",
        ),
        ("!left = f16\n%d = pto.alloc_tile : !lef", "did you mean !left?"),
    ],
)
def test_help(text: str, help: str) -> None:
    assert problem(text).help == help


@every("digit", ["\u00b2", "\u0663", "\u00bd", "1_6"])
def test_only_ascii_digits_spell_numbers(digit: str) -> None:
    """What str.isdigit or int takes for a number is none in a program."""
    for kind in (f"!pto.tile<loc=vec, f32, 16, {digit}>", f"!pto.tile<vec, {digit}x16xf32>"):
        assert problem(f"%d = pto.alloc_tile : {kind}").slug in ("syntax-error", "unknown-type")
    word = f"%d = pto.alloc_tile : !pto.tile<vec, f32, 16, 16, RowMajor, {digit}, None, Null>"
    assert problem(word).slug == "unknown-word"
    assert problem(f"%d = arith.constant {digit} : index").slug == "syntax-error"
    assert problem(f"%a:{digit} = foo.bar %b : index").slug == "syntax-error"


@every(
    "use",
    [
        "%t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x32xf32>",
        "%t = tassign %s, %a : !pto.tile_buf<vec, 16x32xf32>",
        "%x = arith.addi %a, %a : f16",
        "%x = arith.cmpi slt, %a, %a : f16",
        "%x = arith.index_cast %a : f16 to index",
        "scf.if %a {\n}",
        "scf.for %i = %a to %a step %a : f16 {\n}",
    ],
)
def test_a_floating_point_number_is_no_whole_number(use: str) -> None:
    found = problem(f"%a = arith.constant 4096 : f16\n{use}")
    assert found.slug == "type-mismatch"
    assert found.span is not None
    assert found.span.source.position(found.span.start)[0] == 2


@pytest.mark.parametrize(("given", "count"), [("[%a, %a]", 2), ("[]", 0)])
def test_several_values_where_one_is_taken_by_name(given: str, count: int) -> None:
    use = f"%t = pto.alloc_tile addr = {given} : !pto.tile_buf<vec, 16x32xf32>"
    found = problem(f"%a = arith.constant 4096 : i64\n{use}")
    assert found.slug == "operand-count"
    assert f"expected 1 operand as addr, got {count}" in found.message


def test_an_allocation_makes_tiles_only() -> None:
    assert problem("%t = pto.alloc_tile : !pto.ptr<u64>").slug == "type-mismatch"
