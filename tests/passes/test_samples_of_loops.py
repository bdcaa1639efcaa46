"""A loop that begins at an argument: samples with which it only fits empty are not the whole."""

from __future__ import annotations

import ptokit as pto
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

T = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=64, v_row=8, v_col=64, \
blayout=row_major, slayout=none_box, fractal=512, pad=0>"
V, P = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"
TEXT = f"""\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c512], strides = [%c512, %c1] : {V}
  %w = pto.make_tensor_view %y, shape = [%c8, %c512], strides = [%c512, %c1] : {V}
  %t = pto.alloc_tile : {T}
  %end = arith.addi %n, %c2 : index
  scf.for %i = %n to %end step %c1 {{
    %col = arith.muli %i, %c64 : index
    %p = pto.partition_view %v, offsets = [%c0, %col], sizes = [%c8, %c64] : {V} -> {P}
    %q = pto.partition_view %w, offsets = [%c0, %col], sizes = [%c8, %c64] : {V} -> {P}
    pto.tload ins(%p : {P}) outs(%t : {T})
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""


def test_a_loop_that_few_arguments_fit_is_synchronised() -> None:
    made = run_passes(pto.loads(TEXT).module, ["synchronise"], TARGETS["a2a3"])
    assert "<PIPE_MTE2>, <PIPE_MTE3>" in Program(made).text()
    assert not Program(made).races("a2a3")
