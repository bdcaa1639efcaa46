"""Placed tiles, and tiles at addresses that only the run knows, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from native.outcomes import refused

HEAD = """!row = !pto.tile_buf<vec, 2x16xf32>
!global = !pto.tensor_view<2x16xf32>
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %base: index) {
  %v = pto.make_tensor_view %x, shape = [2, 16], strides = [16, 1] : !global
  %w = pto.make_tensor_view %y, shape = [2, 16], strides = [16, 1] : !global
  scf.for %i = 0 to 2 step 1 {
    %bytes = arith.muli %i, %base : index
    %addr = arith.index_cast %bytes : index to i64
"""
TAIL = """
    pto.tload ins(%v : !global) outs(%t : !row)
    pto.tadd ins(%t, %t : !row, !row) outs(%u : !row)
    pto.tadd ins(%t, %u : !row, !row) outs(%u : !row)
    pto.tstore ins(%u : !row) outs(%w : !global)
  }
  return
}"""
ALLOCATED = "%t = pto.alloc_tile addr = %addr : !row\n%u = pto.alloc_tile : !row"
REASSIGNED = (
    "%s = pto.alloc_tile : !row\n%u = pto.alloc_tile : !row\n"
    "%t = pto.tassign %s, %addr : !row -> !row"
)
BOTH = "%t = pto.alloc_tile addr = %addr : !row\n%u = pto.alloc_tile addr = %addr : !row"
LAST = 196608 - 128  # where a2a3 ends, less one tile


def ran(tiles: str, base: int, engine: str) -> float:
    x = np.ones((2, 16), np.float32)
    program = pto.loads(HEAD + tiles + TAIL)
    return float(program.run(target="a2a3", engine=engine, x=x, base=base)["y"][0, 0])


@every("tiles", [ALLOCATED, REASSIGNED])
def test_placed_tiles_keep_clear_of_addresses_that_count_from_0(tiles: str, engine: str) -> None:
    assert ran(tiles, 128, engine) == 3


@pytest.mark.parametrize("tiles", [ALLOCATED, REASSIGNED])
@pytest.mark.parametrize("base", [LAST, LAST - 96])
def test_an_address_inside_a_placed_tile_is_reported_alike(tiles: str, base: int) -> None:
    given = {"x": np.ones((2, 16), np.float32), "base": base}
    found = refused(HEAD + tiles + TAIL, given, target="a2a3")
    assert found.slug == "placed-overlap"
    assert f"{base} to {base + 127} of UB" in found.render()


def test_a_program_may_alias_by_its_own_addresses(engine: str) -> None:
    assert ran(BOTH, LAST, engine) == 4


SIDES = """!t = !pto.tile_buf<vec, 128x256xf32>
!global = !pto.tensor_view<128x256xf32>
func.func @f(%x: !pto.ptr<f32>, %k: i1) {{
  %v = pto.make_tensor_view %x, shape = [128, 256], strides = [256, 1] : !global
  scf.if %k {{
    %a = pto.alloc_tile : !t
    pto.tload ins(%v : !global) outs(%a : !t)
    {between}
    %b = pto.alloc_tile : !t
    pto.tload ins(%v : !global) outs(%b : !t)
    pto.tadd ins(%{one}, %b : !t, !t) outs(%b : !t)
  }}
  return
}}"""


def test_tiles_of_different_branches_share_bytes_and_those_of_one_do_not() -> None:
    apart = pto.loads(SIDES.format(between="} else {", one="b"))
    assert apart.check("a2a3") == []
    together = pto.loads(SIDES.format(between="", one="a"))
    assert [d.slug for d in together.check("a2a3")] == ["out-of-memory"]


UNUSED = """!tile = !pto.tile_buf<vec, 1024x16xf32>
!global = !pto.tensor_view<1024x16xf32>
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %v = pto.make_tensor_view %x, shape = [1024, 16], strides = [16, 1] : !global
  %w = pto.make_tensor_view %y, shape = [1024, 16], strides = [16, 1] : !global
  %a = pto.alloc_tile : !tile
  %b = pto.alloc_tile : !tile
  pto.tload ins(%v : !global) outs(%a : !tile)
  pto.tload ins(%v : !global) outs(%b : !tile)
  %c = pto.alloc_tile : !tile
  %tmp = pto.alloc_tile : !tile
  pto.tprelu ins(%a, %b, %tmp : !tile, !tile, !tile) outs(%c : !tile)
  pto.tstore ins(%c : !tile) outs(%w : !global)
  return
}"""


def test_scratch_that_hardware_does_without_leaves_the_bytes_it_lies_in(engine: str) -> None:
    x = np.full((1024, 16), -2, np.float32)
    found = pto.loads(UNUSED).run(target="a5", engine=engine, x=x)["y"]
    assert (found == 4).all()
