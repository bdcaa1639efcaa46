"""Placed tiles, and tiles at addresses that only the run knows, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

HEAD = """!row = !pto.tile_buf<vec, 2x16xf32>
!global = !pto.tensor_view<2x16xf32>
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %base: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %x, shape = [%c2, %c16], strides = [%c16, %c1] : !global
  %w = pto.make_tensor_view %y, shape = [%c2, %c16], strides = [%c16, %c1] : !global
  scf.for %i = %c0 to %c2 step %c1 {
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


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("tiles", [ALLOCATED, REASSIGNED])
def test_placed_tiles_keep_clear_of_addresses_that_count_from_0(tiles: str, engine: str) -> None:
    assert ran(tiles, 128, engine) == 3


@pytest.mark.parametrize("tiles", [ALLOCATED, REASSIGNED])
@pytest.mark.parametrize("base", [LAST, LAST - 96])
def test_an_address_inside_a_placed_tile_is_reported_alike(tiles: str, base: int) -> None:
    said: list[str] = []
    for engine in ("reference", "native"):
        with pytest.raises(pto.PtoError, match="placed-overlap") as caught:
            ran(tiles, base, engine)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert f"%t has bytes {base} to {base + 127} of UB" in said[0]


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_program_may_alias_by_its_own_addresses(engine: str) -> None:
    assert ran(BOTH, LAST, engine) == 4


SIDES = """!t = !pto.tile_buf<vec, 128x256xf32>
!global = !pto.tensor_view<128x256xf32>
func.func @f(%x: !pto.ptr<f32>, %k: i1) {{
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %v = pto.make_tensor_view %x, shape = [%c128, %c256], strides = [%c256, %c1] : !global
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
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  %v = pto.make_tensor_view %x, shape = [%c1024, %c16], strides = [%c16, %c1] : !global
  %w = pto.make_tensor_view %y, shape = [%c1024, %c16], strides = [%c16, %c1] : !global
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


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_scratch_that_hardware_does_without_leaves_the_bytes_it_lies_in(engine: str) -> None:
    x = np.full((1024, 16), -2, np.float32)
    found = pto.loads(UNUSED).run(target="a5", engine=engine, x=x)["y"]
    assert (found == 4).all()
