"""A function that starts both ends of a FIFO: they stay functions, known to each other by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

SQUARE = "blayout=col_major, slayout=row_major, fractal=512, pad=0>"
MAT, LEFT = (
    f"!pto.tile_buf<loc={loc}, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, {SQUARE}"
    for loc in ("mat", "left")
)
RIGHT = MAT.replace("=mat", "=right").replace(
    "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
)
ACC = MAT.replace("=mat", "=acc").replace("512", "1024")
OUT = "!pto.tile_buf<vec, 16x16xf32>"
VIEW = "!pto.tensor_view<16x16xf32>"
PIPE = "{dir_mask = 1, slot_size = 1024}"
NUMBERS = """  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : index"""


def view(name: str, pointer: str) -> str:
    sizes = "shape = [%c16, %c16], strides = [%c16, 1]"
    return f"  %{name} = pto.make_tensor_view %{pointer}, {sizes} : {VIEW}"


PAIR = f"""
func.func @start(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
  func.call @multiply(%x) : (!pto.ptr<f32>) -> ()
  func.call @keep(%y) : (!pto.ptr<f32>) -> ()
  return
}}
func.func private @multiply(%x: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
{NUMBERS}
  %room = pto.import_reserved_buffer {{name = "room", peer_func = @keep}} -> i32
  pto.aic_initialize_pipe {PIPE}
      (c2v_consumer_buf = %room : i32, v2c_consumer_buf = %c0 : i32)
{view("v", "x")}
  %m = pto.alloc_tile : {MAT}
  %l = pto.alloc_tile : {LEFT}
  %r = pto.alloc_tile : {RIGHT}
  %a = pto.alloc_tile : {ACC}
  scf.for %i = 0 to 3 step 1 {{
    pto.tload ins(%v : {VIEW}) outs(%m : {MAT})
    pto.tmov ins(%m : {MAT}) outs(%l : {LEFT})
    pto.tmov ins(%m : {MAT}) outs(%r : {RIGHT})
    pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%a : {ACC})
    pto.tpush_to_aiv(%a : {ACC}) {{split = 0}}
  }}
  return
}}
func.func private @keep(%y: !pto.ptr<f32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{NUMBERS}
  %room = pto.reserve_buffer {{name = "room", size = 8192, location = #pto.address_space<vec>,
      auto = true}} -> i32
  pto.aiv_initialize_pipe {PIPE}
      (c2v_consumer_buf = %room : i32, v2c_consumer_buf = %c0 : i32)
{view("w", "y")}
  %s = pto.alloc_tile : {OUT}
  scf.for %i = 0 to 3 step 1 {{
    %p = pto.tpop_from_aic {{split = 0}} -> {OUT}
    pto.tneg ins(%p : {OUT}) outs(%s : {OUT})
    pto.tfree_from_aic {{split = 0}}
    pto.tstore ins(%s : {OUT}) outs(%w : {VIEW})
  }}
  return
}}
"""


@pytest.mark.parametrize("passes", [["place"], ["place", "synchronise"]])
def test_both_ends_stay_functions(passes: list[str]) -> None:
    module = run_passes(pto.loads(PAIR).module, passes, TARGETS["a5"])
    made = pto.loads(Program(module).text())
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    arrays: dict[str, Any] = {"x": x, "y": np.zeros((16, 16), np.float32)}
    assert made.check("a5") == []
    np.testing.assert_array_equal(made.run(target="a5", **arrays)["y"], -(x @ x))
    found = {d.slug for d in made.races("a5", **arrays)}
    assert found == (set() if "synchronise" in passes else {"not-synchronised"})
