"""What `check` says of operations that it does not know, and of what they are given."""

from __future__ import annotations

import pytest

import ptokit as pto

TILE, PART = "!pto.tile_buf<vec, 8x8xf32, valid=?x?>", "!pto.partition_tensor_view<8x4xf32>"
STORED = f"""\
func.func @f(%p: !pto.ptr<f32>) {{
  %t = pto.alloc_tile valid_row = 8 valid_col = 8 : {TILE}
  %v = pto.make_tensor_view %p, shape = [8, 8], strides = [8, 1] : !pto.tensor_view<?x?xf32>
  %part = pto.partition_view %v, offsets = [0, 0], sizes = [8, 4]\
 : !pto.tensor_view<?x?xf32> -> {PART}
BODY
  pto.tstore ins(%t : {TILE}) outs(%part : {PART})
  return
}}
"""
ODD = f"  pto.resized_by_magic %t, 8, 4 : {TILE}\n"


def checked(text: str) -> list[tuple[str, bool]]:
    found = pto.loads(text).check("all", allow_unknown=True)
    return [(d.slug, d.is_error) for d in found]


def test_each_unknown_op_is_named_once() -> None:
    found = pto.loads(STORED.replace("BODY\n", ODD * 5)).check("a5")
    assert [(d.slug, len(d.notes)) for d in found] == [("unknown-op", 1)]
    assert "4 more" in found[0].notes[0].message


def test_an_unknown_op_may_write_and_resize_what_it_is_given() -> None:
    assert ("shape", False) in checked(STORED.replace("BODY\n", ""))
    assert checked(STORED.replace("BODY\n", ODD)) == [("unknown-op", False)]


def test_the_result_of_an_unknown_op_may_decide_a_branch(engine: str) -> None:
    text = """\
func.func @f(%a: i1) {
  %b = arith.turned %a, %a : i1
  scf.if %b {
    pto.barrier <PIPE_ALL>
  }
  return
}
"""
    with pytest.raises(pto.PtoError, match="unknown-op"):
        pto.loads(text).run(engine=engine, a=1)
    assert pto.loads(text.replace("turned", "xori")).run(engine=engine, a=1) == {}


def test_a_rule_in_a_loop_names_the_number_that_only_the_run_knows() -> None:
    text = """func.func @f(%x: !pto.ptr<f32>, %at: index) {
  %v = pto.make_tensor_view %x, shape = [8, 64], strides = [64, 1] : !pto.tensor_view<8x64xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
  scf.for %i = 0 to 8 step 1 {
    %p = pto.partition_view %v, offsets = [%i, %at], sizes = [1, 8] : !pto.tensor_view<8x64xf32> -> !pto.partition_tensor_view<1x8xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
  }
  return
}
"""  # noqa: E501
    (verdict,) = pto.loads(text).verdicts("a5")
    assert {rule.why for rule in verdict.left} == {"%at is not known statically"}
