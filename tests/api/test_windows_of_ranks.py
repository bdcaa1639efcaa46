"""Memory of other ranks by the distance of its address, as programs with communication do.

Each rank has a part of one array as its window. A table tells where the windows of all begin; what
lies between the window of this rank and another one's is added to a pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every

LONG = 64  # elements of a window
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<1x16xf32>"
TILE = "!pto.tile_buf<vec, 1x16xf32>"
PUT = f"""
module {{
  func.func @away(%table: !pto.ptr<i64>, %peer: index) -> index {{
    %pair = pto.load_scalar %table[2] : !pto.ptr<i64> -> i64
    %low = arith.trunci %pair : i64 to i32
    %rank = arith.index_cast %low : i32 to index
    %mine = arith.addi 4, %rank : index
    %theirs = arith.addi 4, %peer : index
    %here = pto.load_scalar %table[%mine] : !pto.ptr<i64> -> i64
    %there = pto.load_scalar %table[%theirs] : !pto.ptr<i64> -> i64
    %bytes = arith.subi %there, %here : i64
    %elements = arith.divsi %bytes, 4 : i64
    %by = arith.index_cast %elements : i64 to index
    return %by : index
  }}
  func.func @put(%window: !pto.ptr<f32>, %signals: !pto.ptr<i32>, %x: !pto.ptr<f32>,
                 %table: !pto.ptr<i64>, %flags: !pto.ptr<i64>, %rank: i32) {{
    %me = arith.index_cast %rank : i32 to index
    %t = pto.alloc_tile : {TILE}
    %from = pto.make_tensor_view %x, shape = [1, 16], strides = [16, 1] : {VIEW}
    %row = pto.partition_view %from, offsets = [0, 0], sizes = [1, 16] : {VIEW} -> {PART}
    scf.for %peer = 0 to 2 step 1 {{
      %by = func.call @away(%table, %peer) : (!pto.ptr<i64>, index) -> index
      %there = pto.addptr %window, %by : !pto.ptr<f32> -> !pto.ptr<f32>
      %rows = pto.make_tensor_view %there, shape = [2, 16], strides = [16, 1] : {VIEW}
      %mine = pto.partition_view %rows, offsets = [%me, 0], sizes = [1, 16]
        : {VIEW} -> {PART}
      pto.comm.tput(%mine, %row, buf(%t) : {PART}, {PART}, {TILE})
      %far = func.call @away(%flags, %peer) : (!pto.ptr<i64>, index) -> index
      %bell = pto.addptr %signals, %far : !pto.ptr<i32> -> !pto.ptr<i32>
      %bells = pto.make_tensor_view %bell, shape = [1], strides = [1] : !pto.tensor_view<?xi32>
      %rings = pto.partition_view %bells, offsets = [0], sizes = [1]
        : !pto.tensor_view<?xi32> -> !pto.partition_tensor_view<1xi32>
      pto.comm.tnotify(%rings, 1 : !pto.partition_tensor_view<1xi32>, i32)
        {{notifyOp = #pto<notify_op atomic_add>}}
    }}
    return
  }}
}}
"""


def table(rank: int, step: int) -> Any:
    """Where the windows of two ranks begin, in bytes."""
    return np.array([0, 0, rank | 2 << 32, 0, 4096, 4096 + step], np.int64)


def given(second: object = f"window@0+{LONG}") -> dict[str, Any]:
    x = np.arange(16, dtype=np.float32)
    found: dict[str, Any] = {
        "window@0": np.zeros(2 * LONG, np.float32),
        "window@1": second,
        "signals@0": np.zeros(16, np.int32),
        "signals@1": "signals@0+8",
    }
    for rank in (0, 1):
        found |= {f"x@{rank}": x + 100 * rank, f"rank@{rank}": rank}
        found |= {f"table@{rank}": table(rank, 4 * LONG), f"flags@{rank}": table(rank, 4 * 8)}
    return found


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_rows_go_into_the_windows_of_all(target: str, engine: str) -> None:
    found = pto.loads(PUT).run(func="put", ranks=2, target=target, engine=engine, **given())
    x = np.arange(16, dtype=np.float32)
    window = np.concatenate([x, x + 100, np.zeros(LONG - 32, np.float32)])
    np.testing.assert_array_equal(found["window@0"], np.concatenate([window, window]))
    assert found["signals@0"].tolist() == [2, *[0] * 7, 2, *[0] * 7]
    assert "window@1" not in found


def test_the_same_executable_takes_windows_elsewhere(engine: str) -> None:
    made = pto.loads(PUT).compile(func="put", ranks=2, target="a5", engine=engine)
    for start in (LONG, 32, LONG):
        arrays = given(f"window@0+{start}")
        arrays |= {f"table@{rank}": table(rank, 4 * start) for rank in (0, 1)}
        window = made.run(**arrays)["window@0"]
        assert window[start : start + 2].tolist() == [0, 1]
        assert window[start + 16] == 100


@every(
    ("second", "message"),
    [
        ("window@0+x", "'x' is not an element number"),
        ("window@0+", "'' is not an element number"),
        ("window@7+1", "unknown array window@7"),
    ],
)
def test_what_is_no_place_in_an_array(second: str, message: str) -> None:
    with pytest.raises(pto.PtoError, match=message):
        pto.loads(PUT).run(func="put", ranks=2, target="a5", **given(second))


def test_only_pointers_begin_inside() -> None:
    kind = "!pto.partition_tensor_view<1x16xf32>"
    text = f"func.func @f(%a: {kind}) {{\n  return\n}}\n"
    arrays: dict[str, Any] = {"a@0": np.zeros((1, 16), np.float32), "a@1": "a@0+4"}
    with pytest.raises(pto.PtoError, match="only a pointer can start inside an array"):
        pto.loads(text).run(ranks=2, target="a5", **arrays)
