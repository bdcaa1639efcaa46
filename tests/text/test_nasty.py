"""Input that nobody writes: always a program or one PtoError, never anything else, and soon."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from every import every
from fuzz.scale import sampled, scaled
from growth import growth
from ptokit import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import OpaqueOp
from ptokit.isa.model.types import OpaqueType
from ptokit.text.read.parser import MOST
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

SMALL = """// a comment
!t = !pto.tile_buf<vec, 16x16xf16>
module attributes {pto.target_arch = "a5"} {
  func.func @f(%p: !pto.ptr<f16>, %n: index) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %v = pto.make_tensor_view %p, shape = [%n, 4], strides = [%n, %c0]
      {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf16>
    %t = pto.alloc_tile addr = 0x1000 : !t
    %q:2 = scf.if %b -> (index, index) { scf.yield %n, %c0 : index, index } else { // why
      scf.yield %c0, %n : index, index
    }
    %z = foo.while (%i = %n) : (index) -> index {
      ^bb0(%k: index): foo.cond %k
    } {x = "s"} loc("a":1:2)
    "pto.tmov"(%t, %t) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!t, !t) -> ()
    return
  }
}
""".replace("%b", "%n")


def attempt(text: str) -> str:
    """'' for a program, else the slug of the first diagnostic; each has a place of its own."""
    try:
        read(text)
    except PtoError as problem:
        found = problem.diagnostics
        assert len({d.span for d in found}) == len(found) <= MOST
        assert [d.span for d in found] == sorted(d.span for d in found if d.span)
        found[-1].render()
        return found[0].slug
    return ""


@every("text", ["", " ", " \n\t\n ", "\n" * 1000, "// only\n# comments"])
def test_nothing(text: str) -> None:
    assert attempt(text) == ""
    assert print_module(read(text)).strip() == text.strip()


def test_nothing_but_nul() -> None:
    assert attempt("\0" * 100) == "syntax-error"


def test_truncated_everywhere() -> None:
    assert attempt(SMALL) == ""
    for end in range(0, len(SMALL)):
        attempt(SMALL[:end])


def test_every_token_removed_or_doubled() -> None:
    words = SMALL.split(" ")
    for at in range(len(words)):
        attempt(" ".join((*words[:at], *words[at + 1 :])))
        attempt(" ".join((*words[:at], words[at], *words[at:])))


@given(st.text(alphabet='%!#@"<>(){}[]=:,;-. \n01aft_$^\\/?*+', max_size=40))
@settings(max_examples=scaled(75))
def test_any_characters(text: str) -> None:
    attempt(text)
    attempt("%d = pto.textract %a " + text)
    attempt("foo.bar " + text)
    attempt("pto.textract ins(%a : !pto.tile_buf<vec, " + text)


def test_hundred_regions_are_fine() -> None:
    text = "".join(f"scf.for %i{n} = 0 to 4 step 1 {{\n" for n in range(99)) + "}\n" * 99
    module = read(text)
    assert print_module(read(print_module(module))) == print_module(module)


@pytest.mark.parametrize("opening", ["(", "[", "{x = [", "<", "!a<", "-", '"', "@a("])
def test_deep_brackets(opening: str) -> None:
    for head in ("pto.tload (", "%d = textract %a : ", "textract %a {x = "):
        assert attempt(head + opening * 10_000) == "syntax-error"
    assert attempt("foo.bar " + opening * 10_000) in ("", "syntax-error")


LONG: dict[str, Callable[[int], str]] = {
    "operands": lambda n: "%d = textract " + "%a, " * (n // 4) + "%a",
    "types": lambda n: "%d = textract %a : (" + "index, " * (n // 7) + "index) -> index",
    "name": lambda n: "%d = textract %" + "a" * n,
    "number": lambda n: "%d = arith.constant " + "1" * n + " : index",
    "string": lambda n: 'foo.bar "' + "a" * n,
    "type": lambda n: "%d = pto.alloc_tile : !pto.tile_buf<" + "vec, " * (n // 5) + ">",
    "comment": lambda n: "// " + "a" * n,
    "blanks": lambda n: " " * n + ")",
}


@pytest.mark.parametrize("text", sampled(LONG.values(), 8), ids=sampled(LONG, 8))
def test_long_lines(text: Callable[[int], str]) -> None:
    """Sixteen times the text takes about sixteen times as long; 256 times if it were squared."""
    assert growth(lambda size: attempt(text(size)), 8_000, 128_000) < 60


def test_reading_is_linear() -> None:
    line = "%d{0} = pto.textract %a, %b, %c : (!pto.tile<...>, index, index) -> !pto.tile<...>\n"
    assert attempt("".join(line.format(n) for n in range(5000))) == ""


def test_unknown_ops_never_kill_a_file() -> None:
    lines = [
        "pto.frob <PIPE_ALL>",
        "pto.frob.set[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
        "%m = pto.pointer_frob(%a) {config = #pto.tile_buf_config<>} : memref<16xf16>",
        "pto.tload ins(%m : memref<16xf16>) outs(%u : !pto.tile_buf<vec, 16x16xf16>)",
        "%p = pto.initialise_frob {dir_mask = 1}",
        "    (%g : !pto.ptr<f32>) -> !pto.pipe",
        "pto.frobsync() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aic>",
        "pto.section.frob {",
        "  %x = arith.constant 1 : index",
        "}",
        "textracct %u",
        "%y = arith.constant 2 : index",
    ]
    module = read("\n".join(lines))
    names = [op.name for op in module.funcs[0].body.ops if isinstance(op, OpaqueOp)]
    assert names == [
        *("pto.frob", "pto.frob.set", "pto.pointer_frob", "pto.tload"),
        *("pto.initialise_frob", "pto.frobsync", "pto.section.frob", "textracct"),
    ]
    printed = print_module(module)
    assert printed.splitlines()[4:] == lines[4:]


def test_a_name_that_an_unknown_op_gives_inside_its_text() -> None:
    """Its regions may use it, whatever form the program is printed in."""
    inside = "  to %k = foo.bar {\n    %n = arith.addi %k, %k : index\n  }\n"
    text = f"func.func @f() {{\n{inside}  return\n}}\n"
    program = loads(text)
    assert program.text() == text
    assert "to" in program.text("cpp")


@every("strides", ["[,, 1]", "[32 1]", "[1,]", "[-]"])
def test_broken_strides_of_a_memref_are_no_type_of_ours(strides: str) -> None:
    buffer = f"memref<8x32xf32, strided<{strides}, offset: ?>, #pto.address_space<gm>>"
    (func,) = read(f"func.func @f(%x: {buffer}) {{\n  return\n}}\n").funcs
    assert isinstance(func.args[0].type, OpaqueType)


@pytest.mark.parametrize("stride", ["9" * 20, "9" * 5000])
def test_a_stride_that_no_number_holds(stride: str) -> None:
    buffer = f"memref<8x32xf32, strided<[{stride}, 1]>, #pto.address_space<gm>>"
    with pytest.raises(PtoError) as problem:
        read(f"func.func @f(%x: {buffer}) {{\n  return\n}}\n")
    assert problem.value.diagnostics[0].message == "a stride must be from 0 to 2^63 - 1"


def test_a_broken_type_of_a_pointer_without_its_name_has_its_place() -> None:
    moved = "%y = pto.addptr %x, 1 : <!pto.ptr> -> <f32>"
    text = f"func.func @f(%x: !pto.ptr<f32>) {{\n  {moved}\n  return\n}}\n"
    with pytest.raises(PtoError) as problem:
        read(text)
    span = problem.value.diagnostics[0].span
    assert span is not None
    assert text[span.start : span.end] == "!pto.ptr"


def test_printing_asks_for_effects_of_what_breaks_a_rule() -> None:
    """The rows of lists that are merged hold no whole pairs."""
    row, merged, counts = (
        f"!pto.tile_buf<vec, {r}>" for r in ("1x63xf32", "1x128xf32", "1x16xi16, valid=?x4")
    )
    text = f"""func.func @f(%a: {row}, %b: {row}, %y: {merged}, %n: {counts}) {{
  pto.tmrgsort ins(%a, %b no_tmp {{exhausted = true}} : {row}, {row})
    outs(%y, %n : {merged}, {counts})
  return
}}
"""
    program = loads(text)
    assert program.check("cpu")
    for form in ("ssa", "as"):
        try:
            assert program.text(form)
        except PtoError:
            continue
