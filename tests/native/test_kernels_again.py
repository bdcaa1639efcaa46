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
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %id = arith.constant 3 : index
  pto.section.cube {
    %count = pto.load_scalar %n[%c0] : !pto.ptr<i32> -> i32
    %signals = arith.index_cast %count : i32 to index
    scf.for %i = %c0 to %signals step %c1 {
      pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}
    }
  }
  pto.section.vector {
    %two = arith.constant 2 : i32
    pto.sync.wait <PIPE_MTE2>, %id
    pto.store_scalar %two, %y[%c0] : !pto.ptr<i32>, i32
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
        with pytest.raises(pto.PtoError, match="waits for ever"):
            executable.run(n=np.array([0], np.int32), y=y)
    assert executable.run(n=np.array([1], np.int32), y=y)["y"] == 2
