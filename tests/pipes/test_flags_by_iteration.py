"""Flags in all iterations but the first or the last, as compilers put them in.

They are set and waited for in pairs only where branches go as the number of the iteration says.
"""

from __future__ import annotations

import pytest

import ptokit as pto

VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"
TILE = "!pto.tile_buf<vec, 8x64xf32>"
WAIT_IN = "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]"
WAIT_OUT = "pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>]"
SET_IN = "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]"
SET_OUT = "pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>]"
NEXT = f"scf.if %later {{\n{SET_IN}\n}}"
KERNEL = f"""\
func.func @squares(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %count: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %first_at = arith.constant 0 : i64
  %second_at = arith.constant 2048 : i64
  %true = arith.constant true
  %n = arith.index_cast %count : i32 to index
  %v = pto.make_tensor_view %x, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}
  %w = pto.make_tensor_view %y, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}
  %a = pto.alloc_tile addr = %first_at : {TILE}
  %b = pto.alloc_tile addr = %second_at : {TILE}
  scf.for %i = %c0 to %n step %c1 {{
    %row = arith.muli %i, %c8 : index
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %q = pto.partition_view %w, offsets = [%row, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %is_first = arith.cmpi eq, %i, %c0 : index
    %not_first = arith.xori %is_first, %true : i1
    scf.if %not_first {{
      {WAIT_IN}
    }}
    pto.tload ins(%p : {PART}) outs(%a : {TILE})
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    scf.if %not_first {{
      {WAIT_OUT}
    }}
    pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%b : {TILE})
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    %after = arith.addi %i, %c1 : index
    %later = arith.cmpi slt, %after, %n : index
    {NEXT}
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%b : {TILE}) outs(%q : {PART})
    {SET_OUT}
  }}
  %some = arith.cmpi slt, %c0, %n : index
  scf.if %some {{
    {WAIT_OUT}
  }}
  return
}}
"""


def found(text: str, target: str = "a2a3") -> set[str]:
    return {finding.slug for finding in pto.loads(text).races(target)}


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("limit", ["%count: i32", "%n: index"])
def test_pairs_of_flags_by_the_iteration_are_in_order(limit: str, target: str) -> None:
    text = KERNEL.replace("%count: i32", limit)
    if limit.startswith("%n"):
        text = text.replace("  %n = arith.index_cast %count : i32 to index\n", "")
    assert found(text, target) == set()


@pytest.mark.parametrize(
    ("old", "new", "slug"),
    [
        (WAIT_IN, "", "hazard"),  # loads overwrite what is multiplied
        ("slt, %after, %n", "slt, %i, %n", "flag-left"),  # the last one, too, sets the flag
        ("eq, %i, %c0", "eq, %i, %c1", "pipe-deadlock"),  # the first one waits, too
        ("slt, %c0, %n", "sle, %n, %c0", "flag-left"),
    ],
)
def test_a_pair_that_does_not_fit_is_found(old: str, new: str, slug: str) -> None:
    assert slug in found(KERNEL.replace(old, new))


@pytest.mark.parametrize(
    "what", [f"pto.tmul ins(%b, %b : {TILE}, {TILE}) outs(%a : {TILE})", WAIT_IN]
)
def test_what_no_short_loop_comes_to_is_looked_at_nevertheless(what: str) -> None:
    rare = f"%far = arith.cmpi eq, %i, %c64 : index\nscf.if %far {{\n{what}\n}}\n{SET_OUT}"
    assert found(KERNEL.replace(f"    {SET_OUT}", rare)) & {"hazard", "pipe-deadlock"}
