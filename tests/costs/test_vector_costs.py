"""Times of vector functions: next to published formulas of whole functions, and laws."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.profiling import profile
from ptokit.api.program import Program
from ptokit.isa.model.targets import A5_TARGET
from ptokit.passes.pipeline import run_passes

# instruction, its further operand, element type; all have published formulas of vector functions
CASES = [
    *(("tadd", "tile", kind) for kind in ("f32", "f16")),
    *(("tsub", "tile", "f32"), ("tmul", "tile", "f32"), ("tneg", "", "f32")),
    *(
        (name, "", kind)
        for name in ("texp", "tsqrt", "trecip", "trsqrt")
        for kind in ("f32", "f16")
    ),
    *(("tmins", "number", "f32"), ("tdivs", "number", "f32"), ("tdivs", "number", "f16")),
]
# rows, columns, valid columns: lines that are contiguous, and lines with a gap
SHAPES = [(1, 512, 512), (1, 2048, 2048), (16, 128, 100), (16, 192, 129), (8, 512, 500)]


def program(name: str, other: str, kind: str, shape: tuple[int, int, int]) -> Program:
    rows, cols, valid = shape
    tile = f"!pto.tile_buf<vec, {rows}x{cols}x{kind}, valid={rows}x{valid}>"
    more = {"tile": (", %a", f", {tile}"), "number": (", %s", f", {kind}"), "": ("", "")}[other]
    return pto.loads(
        f"""
func.func @f(%s: {kind}) {{
  %a = pto.alloc_tile : {tile}
  %b = pto.alloc_tile : {tile}
  pto.texpands ins(%s : {kind}) outs(%a : {tile})
  pto.{name} ins(%a{more[0]} : {tile}{more[1]}) outs(%b : {tile})
  return
}}"""
    )


def cycles(given: Program) -> int:
    """The cycles of the last instruction of the vector pipe, or of the last vector function."""
    bars = profile(given, {"s": 1.0}, "a5").timeline.bars
    last = bars[-1].entry
    return sum(
        bar.cost.cycles
        for bar in bars
        if bar.entry is last or (last.function[0] and bar.entry.function == last.function)
    )


def expanded(given: Program) -> Program:
    return Program(run_passes(given.module, ["expand"], A5_TARGET))


def errors() -> Iterator[tuple[str, int, int]]:
    """Yield cases with the published and the predicted cycles of each."""
    every = [(*case, shape) for case in CASES for shape in SHAPES]
    for name, other, kind, shape in sampled(every, 4):
        given = program(name, other, kind, shape)
        yield f"{name} {kind} {shape}", cycles(given), cycles(expanded(given))


def test_times_of_whole_functions_are_near_the_published_ones() -> None:
    """docs/costs.md states the median."""
    found = {case: got / published - 1 for case, published, got in errors()}
    assert median(map(abs, found.values())) < 0.08, found
    assert max(map(abs, found.values())) < 0.45, found


HAND = """
func.func @f(%s: f32) {
  %zero = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %p = pto.castptr %zero : i64 -> !pto.ptr<f32, ub>
  %t = pto.alloc_tile addr = %zero : !pto.tile_buf<vec, 1x64xf32>
  pto.texpands ins(%s : f32) outs(%t : !pto.tile_buf<vec, 1x64xf32>)
  pto.vecscope {
    %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
    %x = pto.vlds %p[%c0] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
STEPS
    pto.vsts %x, %p[%c0], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  }
  return
}"""
ADD = (
    "%NEW = pto.vadd %OLD, %OLD, %m : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<b32>"
    " -> !pto.vreg<64xf32>"
)


def added(*pairs: tuple[str, str]) -> int:
    """The cycles of a function with these sums: name of the result, name of the operands."""
    steps = [f"    {ADD}".replace("NEW", new).replace("OLD", old) for new, old in pairs]
    return cycles(pto.loads(HAND.replace("STEPS", "\n".join(steps))))


def test_sums_wait_for_operands_and_for_ports() -> None:
    """A sum of 7 cycles is known to the next one after 3, and takes one of two ports for 2."""
    assert added() == 23 + 9 + 9 + 12, "start, load, store, end"
    chain = [added(*zip("abcdefgh"[:n], "xabcdefg"[:n], strict=True)) for n in (4, 8)]
    beside = [added(*((name, "x") for name in "abcdefgh"[:n])) for n in (4, 8)]
    assert (chain[1] - chain[0], beside[1] - beside[0]) == (4 * 3, 2 * 2)
