"""Windows of arrays that ranks copy: a block touches the elements of its own window alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

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
