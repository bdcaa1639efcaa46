"""Which index a partial search keeps where both values are equal: E7."""

from __future__ import annotations

import numpy as np

import ptokit as pto
from every import every

V, X = "!pto.tile_buf<vec, 8x32xf16>", "!pto.tile_buf<vec, 8x32xui16>"


@every("name", ["tpartargmax", "tpartargmin"])
@every(("target", "kept"), [("cpu", 1), ("a2a3", 0), ("a5", 0)])
def test_ties(name: str, target: str, kept: int, engine: str) -> None:
    """Chips ask for >= and <= (npu/a2a3/TPartArgOp.hpp: CmpInstr), the simulator for > and <."""
    program = pto.loads(f"""\
func.func @f(%a: {V}, %b: {V}, %i: {X}, %j: {X}, %d: {V}, %e: {X}) {{
  pto.{name} ins(%a, %b, %i, %j : {V}, {V}, {X}, {X}) outs(%d, %e : {V}, {X})
  return
}}
""")
    value = np.arange(256, dtype=np.float16).reshape(8, 32) - 100
    zeros = np.where(value == 0, -0.0, value).astype(np.float16)
    indices = [np.arange(256, dtype=np.uint16).reshape(8, 32) + n for n in (1000, 5000)]
    found = program.run(
        target=f"{target}:as-hardware",
        engine=engine,
        a=value,
        b=zeros,
        i=indices[0],
        j=indices[1],
        d=np.zeros_like(value),
        e=np.zeros_like(indices[0]),
    )
    np.testing.assert_array_equal(found["d"], value)
    np.testing.assert_array_equal(found["e"], indices[kept])
