"""A number's bound holds where its tile was made, not in another branch of the program.

The size of temporaries follows from it: one that is too small is written past its end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.values.fixpipe import CPU_READING

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

NZ = "blayout=col_major, slayout=row_major"
LEFT = "!pto.tile_buf<left, {}x64xf16, valid=?x64, " + NZ + ">"
ACC = "!pto.tile_buf<acc, {}x64xf32, valid=?x64, " + NZ + ", fractal=1024>"
RIGHT = "!pto.tile_buf<right, 64x64xf16, slayout=col_major>"
MAT = "!pto.tile_buf<mat, 256x64xf16, " + NZ + ">"
OUT = "!pto.partition_tensor_view<240x64xf32>"


def product(rows: int, store: str = "") -> str:
    """240 rows and the block's number, in tiles of so many rows."""
    left, acc = LEFT.format(rows), ACC.format(rows)
    return f"""\
    %left{rows} = pto.alloc_tile valid_row = %count : {left}
    %acc{rows} = pto.alloc_tile valid_row = %count : {acc}
    pto.textract ins(%mat, 0, 0 : {MAT}, index, index) outs(%left{rows} : {left})
    pto.tmatmul ins(%left{rows}, %right : {left}, {RIGHT}) outs(%acc{rows} : {acc})
{store}    scf.yield
"""


PROGRAM = f"""\
func.func @f(%x: !pto.ptr<f16>, %y: !pto.ptr<f32>) {{
  %in = pto.make_tensor_view %x, shape = [256, 64], strides = [64, 1] \
: !pto.tensor_view<256x64xf16>
  %out = pto.make_tensor_view %y, shape = [240, 64], strides = [64, 1] \
: !pto.tensor_view<240x64xf32>
  %all = pto.partition_view %in, offsets = [0, 0], sizes = [256, 64] \
: !pto.tensor_view<256x64xf16> -> !pto.partition_tensor_view<256x64xf16>
  %part = pto.partition_view %out, offsets = [0, 0], sizes = [240, 64] \
: !pto.tensor_view<240x64xf32> -> {OUT}
  %mat = pto.alloc_tile : {MAT}
  pto.tload ins(%all : !pto.partition_tensor_view<256x64xf16>) outs(%mat : {MAT})
  %right = pto.alloc_tile : {RIGHT}
  pto.textract ins(%mat, 0, 0 : {MAT}, index, index) outs(%right : {RIGHT})
  %block = pto.get_block_idx
  %number = arith.index_cast %block : i64 to index
  %count = arith.addi %number, 240 : index
  %few = arith.cmpi slt, %count, 64 : index
  scf.if %few {{
{product(16)}  }} else {{
{product(256, f"    pto.tstore ins(%acc256 : {ACC.format(256)}) outs(%part : {OUT})" + chr(10))}  }}
  return
}}
"""


def test_temporaries_are_as_large_as_the_largest_branch_needs() -> None:
    from ptokit.engines.native.compile import compile_program

    program, target = pto.loads(PROGRAM), TARGETS["cpu"]
    x = np.random.default_rng(1).standard_normal((256, 64)).astype(np.float16)
    arrays: dict[str, Any] = {"x": x, "y": np.zeros((240, 64), np.float32)}
    session = compile_program(bind(program.func(), arrays, target, {}), target, CPU_READING, 1)
    assert session.plan.by_reference == frozenset()
    assert session.plan.scratch >= 4 * (256 * 64 + 64 * 64)  # both factors; sums lie in the tile
    expected, got = (program.run(engine=e, **arrays)["y"] for e in ("reference", "native"))
    assert np.array_equal(expected, got)
