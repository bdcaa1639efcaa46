"""Windows of run-time rows: what was written in each row proves reads inside it, and no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from native.tracking import tracked_memories
from pykernels.cases import chapter

TILE = "!pto.tile_buf<vec, 16x16xf32, valid=?x{cols}>"


def program(written: int, read: int) -> pto.Program:
    """Write some columns of run-time rows, and store some of the same bytes."""
    one, other = (TILE.format(cols=n) for n in (written, read))
    view = f"!pto.partition_tensor_view<?x{read}xf32>"
    return pto.loads(f"""
func.func @f(%x: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %cols = arith.constant {read} : index
  %at = arith.constant 0 : i64
  %two = arith.constant 2.0 : f32
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : \
!pto.tensor_view<16x16xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%n, %cols] : \
!pto.tensor_view<16x16xf32> -> {view}
  %t = pto.alloc_tile addr = %at valid_row = %n : {one}
  %u = pto.alloc_tile addr = %at valid_row = %n : {other}
  pto.texpands ins(%two : f32) outs(%t : {one})
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%u : {other}) outs(%p : {view})
  return
}}""")


@pytest.mark.parametrize(("written", "read"), [(16, 8), (8, 8), (8, 16)])
def test_a_read_is_proven_where_each_row_was_written(
    written: int, read: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tracked = tracked_memories(monkeypatch, tmp_path)
    one, other = (
        program(written, read)
        .compile(engine=engine)
        .execute({"x": np.ones((16, 16), np.float32), "n": 5})
        for engine in ("reference", "native")
    )
    assert np.array_equal(one.outputs["x"], other.outputs["x"])
    assert [w.render() for w in one.warnings] == [w.render() for w in other.warnings]
    assert bool(one.warnings) == any(tracked) == (read > written)


def test_the_largest_of_some_rows_need_no_shadow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Equal values keep their order: the upper halves of their keys are equal."""
    tracked = tracked_memories(monkeypatch, tmp_path)
    x = np.random.default_rng(3).integers(0, 99, (40, 32)).astype(np.float32)
    x[:8] = np.random.default_rng(4).permuted(np.arange(256).reshape(8, 32), axis=1)
    ids = np.tile(np.arange(32, dtype=np.uint32), (32, 1))
    values, places = np.zeros((40, 8), np.float32), np.zeros((40, 8), np.uint32)
    chapter("movement").top_k(x, ids, values, places)
    order = np.argsort(-x, axis=1, kind="stable")[:, :8]
    assert np.array_equal(places, order)
    assert np.array_equal(values, np.take_along_axis(x, order, axis=1))
    assert not any(tracked)
