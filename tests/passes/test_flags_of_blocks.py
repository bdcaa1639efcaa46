"""Flags where the number of a block decides what is done: each block needs those of its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

TILE = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=64, v_row=1, v_col=64, blayout=row_major, "
    "slayout=none_box, fractal=512, pad=0>"
)
VIEW, ROW = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<1x64xf32>"
ASKED = ("", "  %asked = pto.get_block_idx -> i64", "%asked : i64")
GIVEN = (", %__pypto_spmd_block_idx: i32", "", "%__pypto_spmd_block_idx : i32")


def copied(places: tuple[str, str, str]) -> str:
    """Each block copies every third row from its own on; the second one also copies the last."""
    argument, asking, number = places

    def copy(row: str) -> str:
        part = f"offsets = [{row}, 0], sizes = [1, 64] : {VIEW} -> {ROW}"
        name = row.removeprefix("%")
        return f"""
  %from_{name} = pto.partition_view %v, {part}
  %to_{name} = pto.partition_view %w, {part}
  %t_{name} = pto.alloc_tile addr = 0 : {TILE}
  pto.tload ins(%from_{name} : {ROW}) outs(%t_{name} : {TILE})
  pto.tstore ins(%t_{name} : {TILE}) outs(%to_{name} : {ROW})"""

    return f"""
func.func @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>{argument}) {{
{asking}
  %block = arith.index_cast {number} to index
  %c9 = arith.constant 9 : index
  %v = pto.make_tensor_view %x, shape = [10, 64], strides = [64, 1] : {VIEW}
  %w = pto.make_tensor_view %y, shape = [10, 64], strides = [64, 1] : {VIEW}
  scf.for %i = %block to %c9 step 3 {{{copy("%i")}
  }}
  %second = arith.cmpi eq, %block, 1 : index
  scf.if %second {{{copy("%c9")}
  }}
  return
}}
"""


@pytest.mark.parametrize("places", [ASKED, GIVEN])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_what_only_one_block_does_is_ordered(target: str, places: tuple[str, str, str]) -> None:
    program = pto.loads(copied(places))
    made = Program(run_passes(program.module, ["synchronise"], TARGETS[target]))
    arrays: dict[str, Any] = {name: np.ones((10, 64), np.float32) for name in "xy"}
    assert made.races(target, blocks=3, **arrays) == []
