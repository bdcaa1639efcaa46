"""What arithmetic makes of numbers that have no result is one NaN, whatever the processor gives."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

INFINITY = float("inf")
# instruction, and operands without a result
INVALID = {
    "tsqrt": ((-1.0,), (-INFINITY,), (-1e-40,)),
    "trsqrt": ((-1.0,), (-INFINITY,)),
    "tlog": ((-1.0,), (-INFINITY,)),
    "tsub": ((INFINITY, INFINITY),),
    "tmul": ((INFINITY, 0.0), (0.0, -INFINITY)),
    "tdiv": ((0.0, 0.0), (-0.0, 0.0), (INFINITY, -INFINITY)),
    "tfmod": ((1.0, 0.0), (-1.0, 0.0), (INFINITY, 2.0), (-INFINITY, -2.0)),
    "trem": ((1.0, 0.0), (-1.0, 0.0), (-INFINITY, 2.0)),
    "tpow": ((-2.0, 0.5), (-0.1, 1.5)),
}


@pytest.mark.parametrize("cols", [1, 37])
@pytest.mark.parametrize("name", INVALID)
def test_no_result_is_the_positive_quiet_nan(name: str, cols: int, engine: str) -> None:
    tile = f"!pto.tile_buf<vec, 8x64xf32, valid=8x{cols}>"
    count = len(INVALID[name][0])
    names, types = ", ".join(["%x", "%y"][:count]), ", ".join([tile] * count)
    program = pto.loads(
        f"func.func @f(%x: {tile}, %y: {tile}, %z: {tile}) {{\n"
        f"  pto.{name} ins({names} : {types}) outs(%z : {tile})\n  return\n}}\n"
    )
    for operands in INVALID[name]:
        x, y = (np.full((8, cols), v, np.float32) for v in (*operands, 1.0)[:2])
        given = {"x": x, "y": y, "z": np.zeros_like(x)}
        found = np.asarray(program.execute(given, engine=engine).outputs["z"])
        assert set(found.view(np.uint32).ravel().tolist()) == {0x7FC00000}, operands
