"""Modules inside modules, and several in one text."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_two_functions_of_one_module_have_two_names() -> None:
    with pytest.raises(PtoError, match="@two is defined twice"):
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
