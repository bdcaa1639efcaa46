"""What a person writes stays, and every spelling becomes the canonical one.

The law over programs of all pages is in `tests/fuzz/test_texts.py`.
"""

from __future__ import annotations

import pytest

from every import every
from ptokit.ir.module import Module
from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module


def check(module: Module, form: str) -> None:
    text = print_module(module, form)
    again = read(text)
    assert same(again, module), text
    assert print_module(again, form) == text


def test_everything_a_person_writes_stays() -> None:
    text = """\
// The head of the file.

!left = !pto.tile_buf<loc=left, dtype=f16, rows=16, cols=16, v_row=16, v_col=16, \
blayout=col_major, slayout=row_major, fractal=512, pad=0> // an alias

// The module.
module attributes {pto.target_arch = "a5", "pto.device-spec" = "Ascend910B1"} { // here
  func.func private @callee(!left, index) -> index

  // The kernel.
  func.func @kernel(%n: index {pto.hint = 5 : i32}, %t: !left) -> (index, index) attributes \
{pto.kernel_kind = #pto.kernel_kind<cube>, pto.entry} { // body
    %c1 = arith.constant 1 : index // one

    # a loop
    %sum = scf.for %i = %c1 to %n step %c1 iter_args(%a = %c1) -> (index) { // loop
      // inside
      %b = arith.addi %a, %i : index
      scf.yield %b : index
      // end of loop
    }
    %less = arith.cmpi slt, %sum, %n : index
    scf.if %less {
      pto.trap
    } else {
      foo.bar %sum {x = [1, 2]} : index
    }
    %x:2 = foo.pair %n : (index) -> (index, index)
    return %x#0, %x#1 : index, index
    // end of function
  }
  // end of module
}

// end of file
"""
    module = read(text)
    assert print_module(module, "dps") == text
    assert same(read(text), module)


LOADED = "pto.tload ins(%g : !pto.tensor_view<16x16xf16>) outs(%d : {B})"


@every(
    ("text", "printed"),
    [
        ("tmov %d, %s : !pto.tile<f16, 16, 16>", "pto.tmov ins(%s : {B}) outs(%d : {B})"),
        (
            "pto.tmov ins(%s : {B}, %q : i64) outs(%d : {B}) "
            "{reluPreMode = <normal_relu>} loc(#loc3)",
            "pto.tmov ins(%s : {B}, %q : i64) outs(%d : {B}) "
            "{reluPreMode = #pto<relu_pre_mode normal_relu>}",
        ),
        ('"pto.tmov"(%s, %d) : ({B}, {B}) -> ()', "pto.tmov ins(%s : {B}) outs(%d : {B})"),
        (
            '"pto.tmov"(%s, %d, %q) <{operandSegmentSizes = array<i32: 1, 1, 1>}> '
            ": ({B}, {B}, i64) -> ()",
            "pto.tmov ins(%s : {B}, %q : i64) outs(%d : {B})",
        ),
        (  # the assembler counts operands of other forms too: here fp and pre_quant
            '"pto.tmov"(%s, %q, %d) <{operandSegmentSizes = array<i32: 1, 0, 1, 1>}> '
            ": ({B}, i64, {B}) -> ()",
            "pto.tmov ins(%s : {B}, %q : i64) outs(%d : {B})",
        ),
        *(  # and of other versions: a load had paddings, or none of its hints
            (f'"pto.tload"(%g, %d) {given} : (!pto.tensor_view<16x16xf16>, {{B}}) -> ()', LOADED)
            for given in (
                "{operand_segment_sizes = array<i32: 1, 1, 0, 0, 0, 0>}",
                "<{operandSegmentSizes = array<i32: 1, 0, 1, 0>}>",
                "{operand_segment_sizes = dense<[1, 1, 0]> : vector<3xi32>}",
            )
        ),
        (  # where the order of operands is the assembler's, their types tell which is which
            '"pto.store_scalar"(%p, %c1, %v) : (!pto.ptr<f32>, index, f32) -> ()',
            "pto.store_scalar %v, %p[%c1] : !pto.ptr<f32>, f32",
        ),
        (
            "%t = scf.for %i = %l to %h step %s iter_args(%a = %b) -> (i32) {\n"
            "  scf.if %y {\n  } else {\n  } {likely}\n  scf.yield %a : i32\n"
            '} {pto.unroll = 4 : i64, mark = "x"} loc(#loc3)',
            "%t = scf.for %i = %l to %h step %s iter_args(%a = %b) -> (i32) {\n"
            "  scf.if %y {\n  } else {\n  } {likely}\n  scf.yield %a : i32\n"
            '} {pto.unroll = 4 : i64, mark = "x"}',
        ),
        (
            '%c = "arith.constant"() <{value = 7 : index}> : () -> index',
            "%c = arith.constant 7 : index",
        ),
        (
            '%c = "arith.constant"() <{value = -1.5 : f32}> : () -> f32',
            "%c = arith.constant -1.5 : f32",
        ),
        (
            '%c = "arith.constant"() {value = 0x7F800000 : f32} : () -> f32',
            "%c = arith.constant 0x7F800000 : f32",
        ),
        ('%c = "arith.constant"() <{value = true}> : () -> i1', "%c = arith.constant true"),
        (
            "pto.textract ins(%s[%r, 16] : {B}) outs(%d : {B})",
            "%c16 = arith.constant 16 : index\n"
            "pto.textract ins(%s, %r, %c16 : {B}, index, index) outs(%d : {B})",
        ),
        (
            "pto.tmov\n  // why\n  ins(%s : {B})\n  outs(%d : {B});",
            "// why\npto.tmov ins(%s : {B}) outs(%d : {B})",
        ),
        ("%c = arith.constant true", "%c = arith.constant true"),
        ("%c = arith.constant 0x7F800000 : f32", "%c = arith.constant 0x7F800000 : f32"),
        ("%c = arith.constant 0x3C00 : f16", "%c = arith.constant 1.0 : f16"),
        (
            "pto.tstore ins(%s : {B}) outs(%g : !pto.tensor_view<4xf16>) {stPhase = 0 : i32}",
            "pto.tstore ins(%s : {B}) outs(%g : !pto.tensor_view<4xf16>)",
        ),
    ],
)
def test_spellings_become_canonical(text: str, printed: str) -> None:
    tile = (
        "!pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=16, v_row=16, v_col=16, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
    )
    module = read(text.replace("{B}", tile))
    assert print_module(module, "dps") == printed.replace("{B}", tile) + "\n"
    check(module, "dps")


def test_numbers_stay_numbers_in_assembly() -> None:
    text = "%d = textract %s[0, 64] : !pto.tile<...> -> !pto.tile<...>\n"
    module = read(text)
    assert print_module(module, "as") == text
    assert print_module(module, "ssa") == (
        "%c0 = arith.constant 0 : index\n%c64 = arith.constant 64 : index\n"
        "%d = pto.textract %s, %c0, %c64 : (!pto.tile<...>, index, index) -> !pto.tile<...>\n"
    )
    check(module, "as")


def test_argument_types_that_no_use_tells() -> None:
    text = ".arg %r : i16\n%d = textract %s[%r, 0] : !pto.tile<...> -> !pto.tile<...>\n"
    assert print_module(read(text), "as") == text


def test_printing_in_another_form_asks_for_conversion() -> None:
    module = read("%d = textract %s[0, 0] : !pto.tile<...> -> !pto.tile<...>")
    with pytest.raises(ValueError, match="is in SSA form: convert first"):
        print_module(module, "dps")
    with pytest.raises(ValueError, match="form must be one of as, ssa, dps"):
        print_module(module, "level1")


def test_an_argument_says_its_type_where_two_uses_imply_different_ones() -> None:
    text = """\
.arg %n : index
%t = tload %v pad_value = %n offset = %n : !pto.partition_tensor_view<...> -> !pto.tile<...>
"""
    module = read(text)
    check(module, "as")
    assert ".arg %n : index" in print_module(module, "as")


HEADS = """\
"builtin.module"() // a
({ // b
  "func.func"() // c
  <{function_type = (i32) -> (), sym_name = "f"}> // d
  ({ // e
  ^bb0(%a: i32): // f
    "func.return"() : () -> ()
  }) // g
  {pto.entry} : () -> ()
  module // h
  attributes {pto.x, // i
    pto.y} // j
  { // k
    func.func private @d(i32, // l
      f32) // m
    func.func @e // n
      (%x: i1, // o
       %n: index) // p
    attributes {pto.z} // q
    { // r
      scf.for %i = %n to // s
        %n step %n // t
      { // u
        scf.if // v
          %x // w
        { } // x
      }
      return
    } // y
  }
}) : () -> () // z
"""


def test_comments_within_heads_stay() -> None:
    module = read(HEADS)
    text = print_module(module, "dps")
    assert sorted(word for line in text.splitlines() for word in line.split("// ")[1:]) == [
        chr(ord("a") + n) for n in range(26)
    ]
    check(module, "dps")
