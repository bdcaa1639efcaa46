"""A tile that is cleared by a product with 0: what it held before may be anything (X65)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto


def summed(number: str, dtype: str = "f32", clear: str = "tmuls") -> pto.Program:
    """Blocks of eight rows are summed in a tile that is cleared by a product before."""
    tile = f"!pto.tile_buf<vec, 8x16x{dtype}>"
    part = f"!pto.partition_tensor_view<8x16x{dtype}>"
    view = f"!pto.tensor_view<?x?x{dtype}>"
    return pto.loads(f"""
func.func @sum(%x: !pto.ptr<{dtype}>, %y: !pto.ptr<{dtype}>, %n: {dtype}) {{
  %zero = arith.constant {"0" if dtype == "i32" else "0.0"} : {dtype}
  %from = pto.make_tensor_view %x, shape = [24, 16], strides = [16, 1] : {view}
  %to = pto.make_tensor_view %y, shape = [8, 16], strides = [16, 1] : {view}
  %all = pto.partition_view %to, offsets = [0, 0], sizes = [8, 16] : {view} -> {part}
  %sum = pto.alloc_tile : {tile}
  %one = pto.alloc_tile : {tile}
  pto.{clear} ins(%sum, {number} : {tile}, {dtype}) outs(%sum : {tile})
  scf.for %i = 0 to 24 step 8 {{
    %rows = pto.partition_view %from, offsets = [%i, 0], sizes = [8, 16] : {view} -> {part}
    pto.tload ins(%rows : {part}) outs(%one : {tile})
    pto.tadd ins(%sum, %one : {tile}, {tile}) outs(%sum : {tile})
  }}
  pto.tstore ins(%sum : {tile}) outs(%all : {part})
  return
}}
""")


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32"])
def test_a_product_with_0_clears_what_was_never_written(engine: str, dtype: str) -> None:
    kind: Any = {"f32": np.float32, "f16": np.float16, "i32": np.int32}[dtype]
    x = np.arange(384).reshape(24, 16).astype(kind)
    arrays: dict[str, Any] = {"x": x, "y": np.zeros((8, 16), kind), "n": 0}
    for number in ("%zero", "%n"):
        done = summed(number, dtype).run(target="a5", engine=engine, **arrays)
        np.testing.assert_array_equal(done["y"], x.reshape(3, 8, 16).sum(0, kind))
    assert summed("%zero", dtype).check("a5") == []


@pytest.mark.parametrize(("clear", "number"), [("tmuls", 2.0), ("tadds", 0.0)])
def test_nothing_else_gives_what_was_never_written_a_value(
    engine: str, clear: str, number: float
) -> None:
    arrays: dict[str, Any] = {
        "x": np.ones((24, 16), np.float32),
        "y": np.zeros((8, 16), np.float32),
        "n": number,
    }
    with pytest.raises(pto.PtoError, match="undefined-store"):
        summed("%n", clear=clear).run(target="a5", engine=engine, strict=True, **arrays)


def test_what_was_written_is_multiplied(engine: str) -> None:
    """Infinity times 0 is NaN: only bytes that nothing wrote count as 0."""
    program = pto.loads("""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %zero = arith.constant 0.0 : f32
  %v = pto.make_tensor_view %x, shape = [1, 8], strides = [8, 1]
       : !pto.tensor_view<1x8xf32>
  %w = pto.make_tensor_view %y, shape = [1, 16], strides = [16, 1]
       : !pto.tensor_view<1x16xf32>
  %half = pto.alloc_tile addr = 0 : !pto.tile_buf<vec, 1x16xf32, valid=1x8>
  %whole = pto.alloc_tile addr = 0 : !pto.tile_buf<vec, 1x16xf32>
  pto.tload ins(%v : !pto.tensor_view<1x8xf32>)
            outs(%half : !pto.tile_buf<vec, 1x16xf32, valid=1x8>)
  pto.tmuls ins(%whole, %zero : !pto.tile_buf<vec, 1x16xf32>, f32)
            outs(%whole : !pto.tile_buf<vec, 1x16xf32>)
  pto.tstore ins(%whole : !pto.tile_buf<vec, 1x16xf32>) outs(%w : !pto.tensor_view<1x16xf32>)
  return
}
""")
    x = np.array([[1, np.inf, -2, np.nan, 0, 3, 4, 5]], np.float32)
    found = program.run(engine=engine, x=x, y=np.ones((1, 16), np.float32))["y"]
    np.testing.assert_array_equal(found, [[0, np.nan, 0, np.nan] + [0] * 12])


def test_a_long_tile_is_filled_where_the_run_watches_what_is_written(engine: str) -> None:
    """32 KiB of one number: no move of bytes, though only two places are written."""
    tile = "!pto.tile_buf<vec, 8x1024xf32>"
    view, part = "!pto.tensor_view<8x1024xf32>", "!pto.partition_tensor_view<8x1024xf32>"
    program = pto.loads(f"""
func.func @f(%y: !pto.ptr<f32>, %n: !pto.ptr<i32>) {{
  %to = pto.make_tensor_view %y, shape = [8, 1024], strides = [1024, 1] : {view}
  %all = pto.partition_view %to, offsets = [0, 0], sizes = [8, 1024] : {view} -> {part}
  %sum = pto.alloc_tile : {tile}
  %one = pto.alloc_tile : {tile}
  pto.texpands ins(2.0 : f32) outs(%sum : {tile})
  %count = pto.load_scalar %n[0] : !pto.ptr<i32> -> i32
  %some = arith.cmpi slt, 0, %count : i32
  scf.if %some {{
    pto.texpands ins(3.0 : f32) outs(%one : {tile})
  }}
  pto.tadd ins(%sum, %one : {tile}, {tile}) outs(%sum : {tile})
  pto.tstore ins(%sum : {tile}) outs(%all : {part})
  return
}}
""")
    arrays: dict[str, Any] = {"y": np.zeros((8, 1024), np.float32), "n": np.ones(1, np.int32)}
    done = program.run(target="a2a3", engine=engine, **arrays)
    np.testing.assert_array_equal(done["y"], np.full((8, 1024), 5, np.float32))
