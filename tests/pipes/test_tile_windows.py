"""Windows whose rows or boxes lie apart touch their own bytes: of tiles, and between ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

ND = "rows=32, cols=32, v_row=32, v_col=32, blayout=row_major, slayout=none_box, fractal=512"
NZ = "rows=32, cols=32, v_row=32, v_col=32, blayout=col_major, slayout=row_major, fractal=1024"
OPEN = "v_row=?, v_col=?"
V = "!pto.tensor_view<16x32xf32>"
FLAG = "<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>"


def kind(loc: str, text: str) -> str:
    return f"!pto.tile_buf<loc={loc}, dtype=f32, {text}, pad=0>"


def stored(*before: str) -> str:
    """A product of 32 rows, of which the last 16 are stored."""
    acc = kind("acc", NZ.replace("v_row=32, v_col=32", OPEN))
    window = kind("acc", NZ.replace("row=32", "row=16").replace("rows=32", "rows=16"))
    left = kind("left", NZ.replace("1024", "512").replace("col_major, s", "row_major, s"))
    right = kind("right", ND.replace("none_box", "col_major"))
    wait = "\n  ".join(before)
    return f"""\
func.func @windows(%y: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %v = pto.make_tensor_view %y, shape = [16, 32], strides = [32, 1] : {V}
  %l = pto.alloc_tile : {left}
  %r = pto.alloc_tile : {right}
  %a = pto.alloc_tile valid_row = 32 valid_col = 32 : {acc}
  %w = pto.subview %a[16, 0] sizes [16, 32] : {acc} -> {window}
  pto.tmatmul ins(%l, %r : {left}, {right}) outs(%a : {acc})
  {wait}
  pto.tstore ins(%w : {window}) outs(%v : {V})
  pto.barrier <PIPE_ALL>
  return
}}
"""


def hazards(text: str) -> list[str]:
    return [d.message for d in pto.loads(text).races("a2a3") if d.slug == "hazard"]


def test_a_window_whose_boxes_lie_apart_waits_for_the_product() -> None:
    assert not hazards(stored(f"pto.set_flag[{FLAG}]", f"pto.wait_flag[{FLAG}]"))


def test_a_window_that_does_not_wait_is_found() -> None:
    assert len(hazards(stored())) == 1


PART = "!pto.partition_tensor_view<4x32xf32>"
COPIES = {
    "tput": "pto.comm.tput(%out, %in",
    "tget": "pto.comm.tget(%out, %in",
}


def copied(start: str, step: int) -> list[str]:
    """The hazards of two blocks, of which each copies 32 columns, from column `step` x block on."""
    program = pto.loads(f"""
func.func @columns(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %block = pto.get_block_idx -> i64
  %number = arith.index_cast %block : i64 to index
  %step = arith.constant {step} : index
  %first = arith.muli %number, %step : index
  %from = pto.make_tensor_view %x, shape = [4, 64], strides = [64, 1]
       : !pto.tensor_view<?x?xf32>
  %to = pto.make_tensor_view %y, shape = [4, 64], strides = [64, 1]
       : !pto.tensor_view<?x?xf32>
  %in = pto.partition_view %from, offsets = [0, %first], sizes = [4, 32]
       : !pto.tensor_view<?x?xf32> -> {PART}
  %out = pto.partition_view %to, offsets = [0, %first], sizes = [4, 32]
       : !pto.tensor_view<?x?xf32> -> {PART}
  %stage = pto.alloc_tile : !pto.tile_buf<vec, 4x32xf32>
  {start}, buf(%stage) : {PART}, {PART}, !pto.tile_buf<vec, 4x32xf32>)
  return
}}
""")
    arrays: dict[str, Any] = {name: np.zeros(256, np.float32) for name in "xy"}
    found = [program.races(target, blocks=2, **arrays) for target in ("a2a3", "a5")]
    assert [d.slug for d in found[0]] == [d.slug for d in found[1]]
    return [d.slug for d in found[0]]


@pytest.mark.parametrize("copy", COPIES)
def test_blocks_that_copy_columns_next_to_each_other_do_not_race(copy: str) -> None:
    """The rows of a window lie apart: between them are the other block's elements."""
    assert copied(COPIES[copy], 32) == []
    assert "hazard" in copied(COPIES[copy], 24)
