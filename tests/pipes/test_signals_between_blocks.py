"""A block that signals to another one: what orders its work before the signal is needed there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

T = "!pto.tile_buf<vec, 8x64xf32>"
V, P = "!pto.tensor_view<8x64xf32>", "!pto.partition_tensor_view<8x64xf32>"
S = "!pto.partition_tensor_view<1xi32>"
ORDER = "pto.{}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
BARRIER = "    pto.barrier <PIPE_ALL>\n"


def moved(source: str, result: str) -> str:
    return f"""\
    pto.tload ins(%{source}p : {P}) outs(%t : {T})
    {ORDER.format("set")}
    {ORDER.format("wait")}
    pto.tstore ins(%t : {T}) outs(%{result}p : {P})
"""


def part(name: str) -> str:
    return f"""\
  %{name}v = pto.make_tensor_view %{name}, shape = [8, 64], strides = [64, 1] : {V}
  %{name}p = pto.partition_view %{name}v, offsets = [0, 0], sizes = [8, 64] : {V} -> {P}
"""


TEXT = f"""\
func.func @f(%x: !pto.ptr<f32>, %room: !pto.ptr<f32>, %y: !pto.ptr<f32>, %flag: !pto.ptr<i32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{part("x")}{part("room")}{part("y")}\
  %fv = pto.make_tensor_view %flag, shape = [1], strides = [1] : !pto.tensor_view<1xi32>
  %fp = pto.partition_view %fv, offsets = [0], sizes = [1] : !pto.tensor_view<1xi32> -> {S}
  %t = pto.alloc_tile : {T}
  %block = pto.get_block_idx
  %number = arith.index_cast %block : i64 to index
  %first = arith.cmpi eq, %number, 0 : index
  scf.if %first {{
{moved("x", "room")}{BARRIER}\
    pto.comm.tnotify(%fp, 1 : {S}, i32) {{notifyOp = #pto<notify_op set>}}
  }} else {{
    pto.comm.twait(%fp, 1 : {S}, i32) {{cmp = #pto<wait_cmp ge>}}
{moved("room", "y")}\
  }}
  return
}}
"""


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_each_block_alone_has_no_hazard_and_nothing_too_many(chip: str) -> None:
    """Neither that the other block waits for the first, nor that its barrier is not needed."""
    assert not pto.loads(TEXT).races(chip)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_store_that_nothing_orders_before_the_signal_is_found(chip: str) -> None:
    given: dict[str, Any] = {"flag": np.zeros(1, np.int32)}  # Any: arrays
    given |= {name: np.ones((8, 64), np.float32) for name in ("x", "room", "y")}
    assert not pto.loads(TEXT).races(chip, blocks=2, **given)
    (hazard,) = pto.loads(TEXT.replace(BARRIER, "")).races(chip, blocks=2, **given)
    assert hazard.slug == "hazard"
    assert "MTE3 -> MTE2" in str(hazard)
