"""Modules inside modules, and several in one text."""

from __future__ import annotations

import numpy as np
import pytest
from readback import refused

from every import every
from ptokit import loads
from ptokit.diagnostics.diagnostic import PtoError

SECTIONS = """\
// what the file is for
!t = !pto.ptr<f32>
module { // the first
  func.func @k(%a: !t) {
    return
  }
}

// -----
!t = !pto.ptr<i32>
module @second attributes {pto.target_arch = "a5"} {
  // inside
  module attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @k(%a: !t) {
      return
    }
    // the last
  }
}
// the end
"""
CALLS = """\
module {
  module {
    func.func @one(%n: i32) -> i32 {
      %m = func.call @two(%n) : (i32) -> i32
      return %m : i32
    }
    func.func @two(%n: i32) -> i32 {
      return %n : i32
    }
  }
  module {
    func.func @two(%n: i32) -> i32 {
      %m = arith.addi %n, %n : i32
      return %m : i32
    }
  }
}
"""


def test_modules_are_printed_as_they_were_read() -> None:
    """Names, attributes, aliases of each section and comments included."""
    assert loads(SECTIONS).text() == SECTIONS


def test_attributes_of_the_modules_around_a_function_hold_for_it() -> None:
    module = loads(SECTIONS).module
    first, second = module.funcs
    assert module.attributes(first) == {}
    assert module.attributes(second)["pto.target_arch"] == "a5"
    assert "pto.kernel_kind" in module.attributes(second)


def test_a_call_names_a_function_of_its_own_module() -> None:
    program = loads(CALLS)
    assert program.text() == CALLS
    assert program.check("all") == []
    inlined = program.func("one")
    assert [op.name for op in inlined.body.ops] == ["func.return"]


def test_an_alias_may_stand_between_functions() -> None:
    """It is printed with the others, before the first."""
    alias, other = "!t = !pto.ptr<f32>\n", "!u = !pto.ptr<i32>\n"
    first, second = (f"func.func @{n}(%a: !{n}) {{\n  return\n}}\n" for n in "tu")
    assert loads(alias + first + other + second).text() == alias + other + first + second


def test_two_functions_of_one_module_have_two_names() -> None:
    with pytest.raises(PtoError, match="redefinition of @two"):
        loads(CALLS.replace("@one", "@two"))


def test_a_broken_module_does_not_hide_the_next() -> None:
    """Each is reported."""
    broken = SECTIONS.replace("return", "pto.tadd ins(", 1).replace("%a: !t", "%a !t", 2)
    with pytest.raises(PtoError) as caught:
        loads(broken)
    lines = {d.span.source.position(d.span.start)[0] for d in caught.value.diagnostics if d.span}
    assert {4, 14} <= lines


BLOCK = """\
func.func @k(%a: memref<256xi64>, %b: memref<16x32xf32>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  pto.set_ffts %a : memref<256xi64>
  pto.tload ins(%b : memref<16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
"""


def test_memrefs_of_no_memory_are_arguments_in_global_memory() -> None:
    program = loads(BLOCK)
    assert program.check("cpu", "a5") == []
    assert loads(program.text("dps")).text("dps") == program.text("dps")
    program.run(b=np.zeros((16, 32), np.float32))


def test_results_have_attributes() -> None:
    text = """\
module {
  func.func private @e(i32) -> (i32 {pto.kept = 1 : i32}, f32)
  func.func @f(%x: i32) -> (i32 {pto.kept}) {
    return %x : i32
  }
}
"""
    assert loads(text).text() == text
    generic = """\
"func.func"() <{function_type = (i32) -> i32, sym_name = "f", res_attrs = [{pto.kept}]}> ({
^bb0(%x: i32):
  "func.return"(%x) : (i32) -> ()
}) : () -> ()
"""
    assert "@f(%x: i32) -> (i32 {pto.kept}) {" in loads(generic).text()


GENERIC = """\
// a whole module
"builtin.module"() <{sym_name = "whole"}> ({
  // the first
  "func.func"() <{arg_attrs = [{}, {pto.name = "out"}], function_type = (i32, !pto.ptr<i32>) -> (),
    sym_name = "f"}> ({
  ^bb0(%a: i32, %p: !pto.ptr<i32>): // two
    %zero = "arith.constant"() <{value = 0 : index}> : () -> index
    %b = "func.call"(%a) <{callee = @g}> : (i32) -> i32
    %c = "arith.cmpi"(%b, %a) <{predicate = 4 : i64}> : (i32, i32) -> i1
    "cf.cond_br"(%c, %b, %a)[^bb1, ^bb2]
      <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
  ^bb1(%d: i32):
    "pto.store_scalar"(%d, %p, %zero) : (i32, !pto.ptr<i32>, index) -> ()
    "cf.br"(%a)[^bb2] : (i32) -> ()
  ^bb2(%e: i32):
    "func.return"() : () -> ()
  }) {pto.entry} : () -> ()
  "func.func"() ({
  ^bb0(%n: i32):
    %m = "arith.addi"(%n, %n) : (i32, i32) -> i32
    "func.return"(%m) : (i32) -> ()
  }) {function_type = (i32) -> i32, sym_name = "g", sym_visibility = "private"}
    : () -> () loc("g.py":1:2)
  "func.func"() <{function_type = (memref<4xi32>) -> i32, sym_name = "h",
    sym_visibility = "private"}> ({
  }) : () -> ()
  "builtin.module"() ({
  }) {pto.target_arch = "a5"} : () -> ()
}) {pto.far = "away"} : () -> ()
// the end
"""
SHORT = """\
// a whole module
module @whole attributes {pto.far = "away"} {
  // the first
  func.func @f(%a: i32, %p: !pto.ptr<i32> {pto.name = "out"}) attributes {pto.entry} { // two
    %zero = arith.constant 0 : index
    %b = func.call @g(%a) : (i32) -> i32
    %c = arith.cmpi sgt, %b, %a : i32
    cf.cond_br %c, ^bb1(%b : i32), ^bb2(%a : i32)
  ^bb1(%d: i32):
    pto.store_scalar %d, %p[%zero] : !pto.ptr<i32>, i32
    cf.br ^bb2(%a : i32)
  ^bb2(%e: i32):
    return
  }
  func.func private @g(%n: i32) -> i32 {
    %m = arith.addi %n, %n : i32
    return %m : i32
  }
  func.func private @h(memref<4xi32>) -> i32
  module attributes {pto.target_arch = "a5"} {
  }
}
// the end
"""


def test_modules_and_functions_in_generic_form_are_printed_in_the_short_one() -> None:
    assert loads(GENERIC).text() == SHORT
    assert loads(SHORT).text() == SHORT


def test_modules_in_generic_form_run(engine: str) -> None:
    found = loads(GENERIC).run(a=21, p=np.zeros(1, np.int32), func="f", engine=engine)
    assert found["p"].tolist() == [42]


@every(
    ("old", "new", "slug"),
    [
        ('sym_name = "g", ', "", "syntax-error"),
        ("function_type = (i32) -> i32, ", "", "syntax-error"),
        ("function_type = (i32) -> i32", "function_type = 4", "syntax-error"),
        ("function_type = (i32) -> i32", "function_type = (i64) -> i32", "type-mismatch"),
        ("function_type = (i32) -> i32", "function_type = () -> i32", "type-mismatch"),
        ("function_type = (i32) -> i32", "function_type = (i32) -> ()", "operand-count"),
        ("function_type = (i32) -> i32", "function_type = (i32)", "syntax-error"),
        ('sym_name = "g"', 'sym_name = "f"', "redefined-name"),
        ("^bb0(%n: i32)", "^bb0(%n: i33x)", "unknown-type"),
        ('"arith.addi"(%n, %n)', '"arith.addi"(%n, %k)', "undefined-name"),
        ("(%a)[^bb2]", "(%a)[^bb7]", "undefined-name"),
        ("^bb2(%e: i32):", "^bb2(%e: i32, %f: i32):", "operand-count"),
        ('}) {pto.far = "away"}', '}) {pto.far = "away"', "syntax-error"),
        ('}) {pto.far = "away"} : () -> ()', "", "syntax-error"),
        ('"func.func"() ({', '"func.func"(%a) ({', "syntax-error"),
        ('"builtin.module"() ({', '"builtin.module"() <{ ({', "syntax-error"),
    ],
)
def test_what_is_wrong_with_generic_form_is_said(old: str, new: str, slug: str) -> None:
    assert old in GENERIC
    assert slug in refused(GENERIC.replace(old, new))


def test_a_text_in_generic_form_that_ends_early_is_refused_at_its_end() -> None:
    tokens = GENERIC.split(" ")
    for count in range(4, len(tokens) - 8, 3):
        with pytest.raises(PtoError):
            loads(" ".join(tokens[:count]))


LINKED = """\
module {
  module {
    func.func private @tripled(i32) -> i32
    func.func @kernel(%n: i32, %p: !pto.ptr<i32>) attributes {pto.entry} {
      %zero = arith.constant 0 : index
      %m = func.call @tripled(%n) : (i32) -> i32
      pto.store_scalar %m, %p[%zero] : !pto.ptr<i32>, i32
      return
    }
  }
  module {
    func.func private @kernel(%n: i32) -> i32 {
      %m = arith.addi %n, %n : i32
      return %m : i32
    }
    func.func @tripled(%n: i32) -> i32 {
      %two = func.call @kernel(%n) : (i32) -> i32
      %m = arith.addi %two, %n : i32
      return %m : i32
    }
  }
}
"""


def test_a_declaration_means_the_one_function_that_other_modules_show() -> None:
    """Which calls those of its own module, whatever others are named."""
    program = loads(LINKED)
    assert [d for d in program.check("all") if d.is_error] == []
    for engine in ("reference", "native"):
        assert program.run(7, np.zeros(1, np.int32), engine=engine)["p"] == [21]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("func.func @tripled", "func.func private @tripled"),
        ("  module {\n    func.func private @kernel", LINKED[LINKED.rindex("  module {") : -2]),
    ],
)
def test_a_declaration_means_none_that_is_hidden_and_none_of_several(old: str, new: str) -> None:
    again = new + old if new.endswith("\n") else new
    with pytest.raises(PtoError, match="@tripled has no body"):
        loads(LINKED.replace(old, again)).run(7, np.zeros(1, np.int32))
