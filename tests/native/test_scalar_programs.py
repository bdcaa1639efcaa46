"""Programs of the scalar unit are machine code, and every engine gives the same bytes and words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from native.outcomes import agreed
from ptokit.engines.native.compile import compile_program
from ptokit.isa.model.targets import CPU_TARGET
from ptokit.values.fixpipe import CPU_READING

T = "!pto.tile_buf<vec, 4x8xf32, valid=?x?>"
V = "!pto.tensor_view<?x?xf32>"
TEXT = f"""
func.func private @row(%p: !pto.ptr<f32>, %k: index) -> f32 {{
  %q = pto.addptr %p, %k : <f32> -> <f32>
  %x = pto.load_scalar %q[0] : !pto.ptr<f32> -> f32
  return %x : f32
}}
func.func @f(%g: !pto.ptr<f32>, %o: !pto.ptr<f32>, %n: index, %by: i32) {{
  %zero = arith.constant 0.0 : f32
  %t = pto.alloc_tile valid_row = 4 valid_col = 8 : {T}
  pto.texpands ins(%zero : f32) outs(%t : {T})
  %sum, %k = scf.while (%s = %zero, %i = 0) : (f32, index) -> (f32, index) {{
    %less = arith.cmpf olt, %s, 100.0 : f32
    scf.condition(%less) %s, %i : f32, index
  }} do {{
  ^bb0(%s: f32, %i: index):
    %x = func.call @row(%g, %i) : (!pto.ptr<f32>, index) -> f32
    %r = math.sqrt %x : f32
    %next = arith.addf %s, %r : f32
    %whole = arith.fptosi %next : f32 to i32
    %part = arith.divsi %whole, %by : i32
    %rows = arith.index_cast %part : i32 to index
    %few = arith.minsi %rows, 4 : index
    pto.set_validshape %t, %few, %n : {T}
    pto.tadds ins(%t, %r : {T}, f32) outs(%t : {T})
    %j = arith.addi %i, 1 : index
    scf.yield %next, %j : f32, index
  }}
  pto.set_validshape %t, 4, 8 : {T}
  %v = pto.make_tensor_view %o, shape = [4, 8], strides = [8, 1] : {V}
  pto.tstore ins(%t : {T}) outs(%v : {V})
  pto.store_scalar %sum, %o[%k] : !pto.ptr<f32>, f32
  return
}}
"""
GIVEN = np.arange(32, dtype=np.float32) * 7


@pytest.mark.parametrize(
    ("changed", "slug"),
    [
        ({}, ""),
        ({"g": -GIVEN}, ""),  # the first root that is NaN ends the loop
        ({"by": 0}, "division-by-zero"),
        ({"by": -1}, "tile-shape"),
        ({"n": 9}, "tile-shape"),
        ({"g": GIVEN[:9]}, "global-out-of-bounds"),
        ({"g": GIVEN * 0}, "global-out-of-bounds"),
    ],
)
def test_both_engines_give_the_same_bytes_and_words(changed: dict[str, Any], slug: str) -> None:
    given: dict[str, Any] = {"g": GIVEN, "o": np.zeros(32, np.float32), "n": 6, "by": 10, **changed}
    found = agreed(TEXT, given, max_instructions=500)
    assert f"[{slug}]" in found if slug else isinstance(found, dict)


def test_nothing_of_it_is_left_to_the_reference() -> None:
    program = pto.loads(TEXT)
    made = program.compile(engine="native")
    bound = made.bound({"g": GIVEN, "o": np.zeros(32, np.float32), "n": 6, "by": 10})
    session = compile_program(bound.sole, CPU_TARGET, CPU_READING, 1)
    assert not session.plan.by_reference
