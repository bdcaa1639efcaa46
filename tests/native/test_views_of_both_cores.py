"""Whole entries that lie in global memory: each vector core takes its rows of them and waits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto

ROUNDS, ROWS, COLS = 5, 32, 16
HEAD = """
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %whole = pto.make_tensor_view %down, shape = [32, %c16], strides = [%c16, 1] : !V
  %made = pto.make_tensor_view %up, shape = [32, %c16], strides = [%c16, 1] : !V
  pto.{core}_initialize_pipe {{id = 3, dir_mask = 1, slot_size = 2048, slot_num = 2}}
    (gm_slot_tensor = %whole : !V)
  pto.{core}_initialize_pipe {{id = 8, dir_mask = 2, slot_size = 2048, slot_num = 2}}
    (gm_slot_tensor = %made : !V)"""
THROUGH = """
    pto.tmov ins(%m : !M) outs(%l : !L)
    pto.tmatmul ins(%l, %r : !L, !R) outs(%a : !A)"""
TYPES = """
!O = !pto.tensor_view<16x16xf32>
!P = !pto.ptr<f32>
!W = !pto.partition_tensor_view<16x16xf32>
!V = !pto.tensor_view<32x16xf32>
!T = !pto.tile_buf<vec, 16x16xf32>
!M = !pto.tile_buf<mat, 32x16xf32, blayout=col_major, slayout=row_major>
!E = !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 32x16xf32>
!R = !pto.tile_buf<right, 16x16xf32>
!A = !pto.tile_buf<acc, 32x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
"""
CUBE = f"""
func.func @cube(%down: !P, %up: !P, %x: !P, %one: !P, %y: !P)
    attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{{HEAD.format(core="aic")}
  %xs = pto.make_tensor_view %x, shape = [32, %c16], strides = [%c16, 1] : !V
  %ys = pto.make_tensor_view %y, shape = [32, %c16], strides = [%c16, 1] : !V
  %ones = pto.make_tensor_view %one, shape = [%c16, %c16], strides = [%c16, 1] : !O
  %m = pto.alloc_tile : !M
  %e = pto.alloc_tile : !E
  %l = pto.alloc_tile : !L
  %r = pto.alloc_tile : !R
  %a = pto.alloc_tile : !A
  pto.tload ins(%ones : !O) outs(%e : !E)
  pto.tmov ins(%e : !E) outs(%r : !R)
  pto.tload ins(%xs : !V) outs(%m : !M)
  scf.for %i = %c0 to 5 step 1 {{{THROUGH}
    %slot = pto.talloc_to_aiv {{id = 3, split = 0}} -> !V
    pto.tstore ins(%a : !A) outs(%slot : !V)
    pto.tpush_to_aiv(%slot : !V) {{id = 3, split = 0}}
    %entry = pto.tpop_from_aiv {{id = 8, split = 0}} -> !V
    pto.tload ins(%entry : !V) outs(%m : !M)
    pto.tfree_from_aiv(%entry : !V) {{id = 8, split = 0}}
  }}{THROUGH}
  pto.tstore ins(%a : !A) outs(%ys : !V)
  return
}}"""
DOUBLED = """
    %entry = pto.tpop_from_aic {{id = 3, split = 0}} -> !V
    %place = pto.talloc_to_aic {{id = 8, split = 0}} -> !V
    {parts}
    pto.tfree_from_aic(%entry : !V) {{id = 3, split = 0}}
    pto.tpush_to_aic(%place : !V) {{id = 8, split = 0}}"""
PART = """
    %in{0} = pto.partition_view %entry, offsets = [{1}, %c0], sizes = [%c16, %c16]
      : !V -> !W
    %out{0} = pto.partition_view %place, offsets = [{1}, %c0], sizes = [%c16, %c16]
      : !V -> !W
    pto.tload ins(%in{0} : !W) outs(%t : !T)
    pto.tadd ins(%t, %t : !T, !T) outs(%t : !T)
    pto.tstore ins(%t : !T) outs(%out{0} : !W)"""
OF_BOTH = DOUBLED.format(parts=PART.format(0, "%row"))
OF_FIRST = DOUBLED.format(parts=PART.format(0, "%c0") + PART.format(1, "%c16"))
VECTOR = f"""
func.func @vector(%down: !P, %up: !P)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{{HEAD.format(core="aiv")}
  %lane = pto.get_subblock_idx
  %which = arith.index_cast %lane : i64 to index
  %row = arith.muli %which, %c16 : index
  %first = arith.cmpi eq, %which, %c0 : index
  %t = pto.alloc_tile : !T
  scf.for %i = %c0 to 5 step 1 {{
    {{body}}
  }}
  return
}}"""
ENTRY = """
func.func @both(%down: !P, %up: !P, %x: !P, %one: !P, %y: !P)
    attributes {pto.entry} {
  call @cube(%down, %up, %x, %one, %y) : (!P, !P, !P, !P, !P) -> ()
  call @vector(%down, %up) : (!P, !P) -> ()
  return
}"""


def doubled(body: str, engine: str, target: str) -> NDArray[np.floating]:
    vector = VECTOR.replace("{body}", body)
    module = pto.loads(f"{TYPES}module {{{CUBE}{vector}{ENTRY}\n}}")
    rng = np.random.default_rng(7)
    x = rng.integers(1, 5, (ROWS, COLS)).astype(np.float32)
    y, slots = np.zeros_like(x), np.zeros((2, 2, ROWS, COLS), np.float32)
    eye = np.eye(COLS, dtype=np.float32)
    down, up = slots
    executable = module.compile(target=target, engine=engine)
    return executable.run(down=down, up=up, x=x, one=eye, y=y)["y"] / x


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("taken", ["by both", "by the first"])
def test_the_cube_waits_for_who_takes_part(taken: str, engine: str, target: str) -> None:
    """Both have all entries, or the number of a core says that it takes none."""
    body = OF_BOTH if taken == "by both" else f"scf.if %first {{{OF_FIRST}\n  }}"
    assert (doubled(body, engine, target) == 2.0**ROUNDS).all()
