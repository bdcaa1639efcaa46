"""Extents that only the run knows: dry runs on samples end with success or a diagnostic."""

from __future__ import annotations

import re

import pytest

from every import every
from fuzz.scale import sampled
from ptokit.api.kernel.loading import loads
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.launch.settings import target_named
from ptokit.passes.pipeline import run_passes

WINDOW = """\
func.func @corner(%h: index, %w: index, %out: !pto.partition_tensor_view<?x?xf32>) {
  %row = arith.constant 4 : index
  %col = arith.constant 8 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
  %c = pto.subview %t[%row, %col] sizes [4, 8] valid [%h, %w] : !pto.tile_buf<vec, 8x16xf32> \
-> !pto.tile_buf<vec, 4x8xf32, valid=?x?>
  pto.tload ins(%out : !pto.partition_tensor_view<?x?xf32>) \
outs(%c : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  pto.texp ins(%c : !pto.tile_buf<vec, 4x8xf32, valid=?x?>) \
outs(%c : !pto.tile_buf<vec, 4x8xf32, valid=?x?>)
  return
}
"""
MEMREF = """\
func.func @piece(%src: memref<?xi8, #pto.address_space<gm>>, %at: index) {
  %n = arith.constant 96 : index
  %part = memref.subview %src[%at] [%n] [1] : memref<?xi8, #pto.address_space<gm>> to \
memref<?xi8, strided<[1], offset: ?>, #pto.address_space<gm>>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x96xi8>
  pto.tload ins(%part : memref<?xi8, strided<[1], offset: ?>, #pto.address_space<gm>>) \
outs(%t : !pto.tile_buf<vec, 1x96xi8>)
  return
}
"""
RANKS = """\
func.func @f(%a: !pto.tensor_view<?x?x?x16xf16>, %b: memref<?x64xf32, strided<[?, 1]>, \
#pto.address_space<gm>>, %d: index) {
  %t = pto.alloc_tile valid_row = %d valid_col = %d : !pto.tile_buf<vec, 8x64xf32, valid=?x?>
  pto.tload ins(%b : memref<?x64xf32, strided<[?, 1]>, #pto.address_space<gm>>) \
outs(%t : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
  return
}
"""
ELIDED = """\
%one = arith.constant 1 : index
%v = pto.make_tensor_view %r, shape = [%one], strides = [%one] : !pto.tensor_view<?xf32>
"""
OPEN = re.compile(r"\?x|x\?|<\?|valid_row|valid \[")
WITH_OPEN = [p for p in pages() if OPEN.search(example_program(p))]
PASSES = (("synchronise",), ("place", "synchronise"))


def ordered(program: Program, target: str, passes: tuple[str, ...]) -> str:
    """The program after the passes as text, or why not; hazards of it are looked for too."""
    chosen = target_named(target)
    try:
        program.races(target)
        return Program(run_passes(program.module, passes, chosen)).text("dps")
    except PtoError as problem:
        return problem.diagnostics[0].slug


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("text", [WINDOW, MEMREF, RANKS], ids=["window", "memref", "ranks"])
def test_programs_with_open_extents_are_synchronised(text: str, target: str) -> None:
    for passes in PASSES:
        made = ordered(loads(text), target, passes)
        assert "func.func" in made, made
        assert ("set_flag" in made) is (text is WINDOW)


def test_what_no_sample_has_a_type_for_is_no_fault() -> None:
    ordered(loads(ELIDED), "a2a3", PASSES[1])


@every("page", sampled(WITH_OPEN, 4), ids=lambda p: p.__name__)
def test_examples_with_open_extents_are_no_fault(page: type) -> None:
    for target in ("a2a3", "a5"):
        ordered(loads(example_program(page)), target, PASSES[1])


def test_a_valid_region_larger_than_its_window_is_refused() -> None:
    """Whatever says the numbers: here memory does."""
    text = WINDOW.replace("%h: index, ", "%p: !pto.ptr<i32>, ").replace(
        "  %row =",
        "  %i = arith.constant 0 : index\n  %x = pto.load_scalar %p[%i] : !pto.ptr<i32> -> i32\n"
        "  %h = arith.index_cast %x : i32 to index\n  %row =",
        1,
    )
    import numpy as np

    out = np.zeros((4, 8), np.float32)
    loads(text).run(p=np.array([4], np.int32), w=8, out=out, target="cpu")
    with pytest.raises(PtoError, match=r"valid\.first <= sizes\.first"):
        loads(text).run(p=np.array([5], np.int32), w=8, out=out, target="cpu")
