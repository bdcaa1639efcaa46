"""Kernels of several cores that run again: nothing of the run before is seen, or changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from oracles.cores import BLOCKS, WHOLE

KERNEL = Path(__file__).parents[1] / "pto" / "both_kinds.pto"
ONCE = """
func.func @f(%n: !pto.ptr<i32>, %y: !pto.ptr<i32>) {
  pto.section.cube {
    %count = pto.load_scalar %n[0] : !pto.ptr<i32> -> i32
    %signals = arith.index_cast %count : i32 to index
    scf.for %i = 0 to %signals step 1 {
      pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}
    }
  }
  pto.section.vector {
    pto.sync.wait <PIPE_MTE2>, 3
    pto.store_scalar 2, %y[0] : !pto.ptr<i32>, i32
  }
  return
}"""

# each block pushes two tiles and pops one
LEFT_OVER = """
!M = !pto.tile_buf<mat, 16x16xf32>
!T = !pto.tile_buf<vec, 16x16xf32>
!V = !pto.tensor_view<64x16xf32>
!P = !pto.partition_tensor_view<16x16xf32>
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %row = arith.muli %block, 16 : index
  %xs = pto.make_tensor_view %x, shape = [64, 16], strides = [16, 1] : !V
  %ys = pto.make_tensor_view %y, shape = [64, 16], strides = [16, 1] : !V
  %a = pto.partition_view %xs, offsets = [%row, 0], sizes = [16, 16] : !V -> !P
  %b = pto.partition_view %ys, offsets = [%row, 0], sizes = [16, 16] : !V -> !P
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0} \
(0 : i32) -> !pto.pipe
  pto.section.cube {
    %m = pto.alloc_tile : !M
    pto.tload ins(%a : !P) outs(%m : !M)
    pto.tpush(%m, %pipe : !M, !pto.pipe) {split = 0}
    pto.tpush(%m, %pipe : !M, !pto.pipe) {split = 0}
  }
  pto.section.vector {
    %t = pto.declare_tile -> !T
    pto.tpop(%t, %pipe : !T, !pto.pipe) {split = 0}
    pto.tstore ins(%t : !T) outs(%b : !P)
    pto.tfree(%pipe : !pto.pipe) {split = 0}
  }
  return
}"""


def test_what_an_earlier_run_gave_stays() -> None:
    executable = pto.load(KERNEL).compile(target="a5", engine="native")
    one, two = np.eye(16, dtype=np.float16), np.full((16, 16), 2, np.float16)
    first = executable.run(a=one, y=np.zeros(256, np.float32))["y"]
    again = executable.run(a=two, y=np.zeros(256, np.float32))["y"]
    assert (first.reshape(16, 16) == one).all()
    assert (again == 64).all()


@pytest.mark.parametrize("text", [BLOCKS, WHOLE])
def test_blocks_that_meet(text: str) -> None:
    """Their signals begin at 0 again, so each run waits."""
    executable = pto.loads(text).compile(engine="native", blocks=4)
    for _ in range(3):
        assert (executable.run(g=np.zeros(8, np.int32))["g"] == 1).all()


def test_a_signal_too_many_is_not_there_next_time() -> None:
    executable = pto.loads(ONCE).compile(target="a2a3", engine="native")
    y = np.zeros(1, np.int32)
    assert executable.run(n=np.array([2], np.int32), y=y)["y"] == 2
    for _ in range(2):
        with pytest.raises(pto.PtoError, match="waits forever"):
            executable.run(n=np.array([0], np.int32), y=y)
    assert executable.run(n=np.array([1], np.int32), y=y)["y"] == 2


def test_what_a_block_left_in_a_pipe_is_not_there_for_the_next_one(engine: str) -> None:
    executable = pto.loads(LEFT_OVER).compile(target="a5", engine=engine, blocks=4)
    for start in (0, 5000):
        x = np.arange(start, start + 1024, dtype=np.float32)
        assert (executable.run(x=x, y=np.zeros(1024, np.float32))["y"] == x).all()
