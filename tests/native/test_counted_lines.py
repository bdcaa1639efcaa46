"""Long lines of numbers in sequence: compiled code counts, and reads no table."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TILE = "!pto.tile_buf<vec, 1x2048x{0}, valid=1x2045>"
PART, VIEW = "!pto.partition_tensor_view<1x2045x{0}>", "!pto.tensor_view<?x?x{0}>"
PROGRAM = f"""
func.func @f(%y: !pto.ptr<{{0}}>) {{{{
  %first = arith.constant {{1}} : {{0}}
  %to = pto.make_tensor_view %y, shape = [1, 2045], strides = [2045, 1] : {VIEW}
  %all = pto.partition_view %to, offsets = [0, 0], sizes = [1, 2045] : {VIEW} -> {PART}
  %line = pto.alloc_tile : {TILE}
  pto.tci ins(%first : {{0}}) outs(%line : {TILE})
  pto.tstore ins(%line : {TILE}) outs(%all : {PART})
  return
}}}}
"""


@pytest.mark.parametrize(("dtype", "first"), [("i32", (1 << 31) - 100), ("i16", -3)])
def test_numbers_are_counted_modulo_their_type(dtype: str, first: int, engine: str) -> None:
    kind = np.dtype({"i32": np.int32, "i16": np.int16}[dtype])
    program = pto.loads(PROGRAM.format(dtype, first))
    found = program.run(y=np.zeros((1, 2045), kind), engine=engine)["y"]
    assert np.array_equal(found[0], (first + np.arange(2045)).astype(kind))
    if engine == "native" and dtype == "i32":
        code = program.compile(engine=engine).code("tci", {"y": np.zeros((1, 2045), kind)})
        assert "known before the run" not in code
