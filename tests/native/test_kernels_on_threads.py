"""Blocks of several cores on threads: results, warnings and errors are those of one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from native.test_kernels_again import LEFT_OVER
from ptokit.engines.native import hostthreads

T = TypeVar("T")
# block b waits for its cube, runs turns[b] iterations, and reads the row places[b] of x
ROWS = """
!T = !pto.tile_buf<vec, 1x16xf32>
!V = !pto.tensor_view<?x16xf32>
!P = !pto.partition_tensor_view<1x16xf32>
func.func @f(%places: !pto.ptr<i32>, %turns: !pto.ptr<i64>, %x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  pto.section.cube {
    pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}
  }
  pto.section.vector {
    pto.sync.wait <PIPE_MTE2>, 3
    %place = pto.load_scalar %places[%block] : !pto.ptr<i32> -> i32
    %many = pto.load_scalar %turns[%block] : !pto.ptr<i64> -> i64
    %row = arith.index_cast %place : i32 to index
    %end = arith.index_cast %many : i64 to index
    %xs = pto.make_tensor_view %x, shape = [8, 16], strides = [16, 1] : !V
    %ys = pto.make_tensor_view %y, shape = [8, 16], strides = [16, 1] : !V
    %a = pto.partition_view %xs, offsets = [%row, 0], sizes = [1, 16] : !V -> !P
    %b = pto.partition_view %ys, offsets = [%block, 0], sizes = [1, 16] : !V -> !P
    %t = pto.alloc_tile : !T
    scf.for %i = 0 to %end step 1 {
      pto.tload ins(%a : !P) outs(%t : !T)
    }
    pto.tstore ins(%t : !T) outs(%b : !P)
  }
  return
}"""


def on_both(work: Callable[[], T]) -> list[T]:
    """Return the results with one and two processors, with threads and without."""
    found: list[T] = []
    for count, least in ((1, 0), (2, 0), (2, 0), (2, 60)):
        with patch("os.cpu_count", return_value=count), patch.object(hostthreads, "LEAST", least):
            found.append(work())
    return found


def test_results_and_warnings() -> None:
    executable = pto.loads(LEFT_OVER).compile(target="a5", engine="native", blocks=4)
    x = np.arange(1024, dtype=np.float32)

    def work() -> tuple[bytes, list[str], dict[str, int]]:
        run = executable.execute({"x": x, "y": np.zeros(1024, np.float32)})
        assert not run.interpreted
        return run.outputs["y"].tobytes(), [str(w) for w in run.warnings], run.instructions

    alone, *threads = on_both(work)
    assert threads == [alone] * 3
    assert alone[0] == x.tobytes()
    assert "4" in alone[1][0]


@pytest.mark.parametrize("places", [(1, 2, 90, 3, 95, 4), (1, 2, 3, 4, 5, 96)])
def test_the_first_block_that_fails_is_named(places: tuple[int, ...]) -> None:
    executable = pto.loads(ROWS).compile(target="a2a3", engine="native", blocks=6)
    x = np.arange(128, dtype=np.float32)
    given = {"x": x, "turns": np.ones(6, np.int64), "y": np.zeros(128, np.float32)}

    def work() -> str:
        with pytest.raises(pto.PtoError) as caught:
            executable.execute({"places": np.array(places, np.int32), **given})
        return str(caught.value)

    alone, *threads = on_both(work)
    assert threads == [alone] * 3
    first = next(number for number, place in enumerate(places) if place > 8)
    assert f"block {first}" in alone


def test_a_failed_block_ends_later_ones() -> None:
    executable = pto.loads(ROWS).compile(target="a2a3", engine="native", blocks=2)
    turns = np.array([1, 1 << 60])
    given = {"x": np.zeros(128, np.float32), "y": np.zeros(128, np.float32)}
    places = np.array([99, 0], np.int32)

    def work() -> None:
        with pytest.raises(pto.PtoError, match="block 0"):
            executable.execute({"places": places, "turns": turns, **given}, timeout=60)

    on_both(work)
