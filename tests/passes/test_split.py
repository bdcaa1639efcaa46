"""Kernels for both kinds of cores in two functions: they compute the same bits as in one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from fuzz.scale import scaled
from passes.mixedkernels import HIGH, STATES, steps, walked
from ptokit.api.program import Program
from ptokit.ir.module import Op
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.settings import ENGINES
from ptokit.passes.pipeline import run_passes
from ptokit.text.read.reader import read


def arguments(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, w = (rng.standard_normal((STATES, HIGH, HIGH)).astype(t) for t in (np.float32, np.float16))
    flags = rng.integers(0, 2, 4).astype(np.int32)
    y = np.zeros((STATES * HIGH, HIGH), np.float32)
    return {"x": x, "w": w, "flags": flags, "y": y, "n": int(rng.integers(0, 4))}


@pytest.mark.parametrize("seed", range(scaled(2)))
def test_two_functions_compute_what_one_does(seed: int) -> None:
    given, made = arguments(seed), steps(random.Random(seed))
    whole = walked.program(**given, steps=made)
    one = Program(whole.module).run(target="a5", **given)["y"]
    for engine in ENGINES:
        assert whole.run(target="a5", engine=engine, **given)["y"].tobytes() == one.tobytes()
    for target in ("a2a3", "a5"):
        assert [d.render() for d in whole.check(target) if d.is_error] == []
        walked.on(target).verify(**given, steps=made)


def test_what_goes_through_a_pipe_has_the_line_of_the_move() -> None:
    """As each op of a kernel has: places are worked out when somebody asks."""
    whole = walked.program(**arguments(0), steps=(("through", 0, 1, 2),))
    ops = [op for f in whole.on(TARGETS["a5"]).module.funcs for op in f.walk()]
    ends = [op for op in ops if isinstance(op, Op) and op.page.fifo_role is not None]
    assert ends
    assert all(op.span is not None for op in ends)


TYPES = """\
!A = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!M = !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>
!T = !pto.tile_buf<vec, 16x16xf32>
!H = !pto.tile_buf<vec, 16x16xf16>
!D = !pto.tile_buf<vec, 16x16xf32, valid=?x16>
"""
BODY = """\
func.func @kernel(%y: !pto.ptr<f32>, %d: !D) {
  %acc = pto.alloc_tile : !A
  %m = pto.alloc_tile : !M
  %t = pto.alloc_tile : !T
  %h = pto.alloc_tile : !H
  %l = pto.alloc_tile : !L
"""
TO_VECTOR = "  pto.tmov ins(%acc : !A) outs(%t : !T)\n"
TO_CUBE = "  pto.tmov ins(%h : !H) outs(%m : !M)\n"
NUMBER = "  %x = pto.tgetval ins(%t, 0 : !T, index) outs : f32\n"
POSITIVE = "  %more = arith.cmpf ogt, %x, 1.0 : f32\n"
MIXED = "  %z = pto.tgetval ins(%m, 0 : !M, index) outs : f16\n  %w = arith.extf %z : f16 to f32\n"
USED = "  pto.tmov ins(%m : !M) outs(%l : !L)\n"
CASES = {
    "it converts f32 to f16": "  pto.tmov ins(%acc : !A) outs(%h : !H)\n",
    "%acc, %t run on different cores": "  pto.tmov ins(%acc : !A) outs(%t : !T) "
    "{reluPreMode = #pto<relu_pre_mode normal_relu>}\n",
    "the cube core needs %more, known only on the vector core": f"{NUMBER}{POSITIVE}"
    f"  scf.if %more {{\n  {TO_VECTOR}  }}\n",
    "%w, %x run on different cores": f"{TO_VECTOR}{NUMBER}{MIXED}"
    "  %both = arith.addf %x, %w : f32\n",
    "%n depends on numbers of both cores": f"{TO_VECTOR}{NUMBER}{MIXED}"
    "  %both = scf.for %i = 0 to 1 step 1 iter_args(%n = %x) -> (f32) {\n"
    "    scf.yield %w : f32\n  }\n",
    "%m is not used on the core it arrives on": TO_CUBE
    + f"  scf.for %i = 0 to 1 step 1 {{\n  {USED}  {TO_CUBE}  }}\n",
    "no value crosses between the kinds of cores": USED,
    "the core that executes it is unknown": '  "other.op"(%t) : (!T) -> ()\n' + TO_VECTOR,
    "the program synchronises its cores or pipes": TO_VECTOR
    + "  pto.barrier #pto.pipe<PIPE_ALL>\n",
    "the valid region of %d is unknown": "  pto.tmov ins(%acc : !A) outs(%d : !D)\n",
}


@every("why", CASES)
def test_what_is_not_divided_says_why(why: str) -> None:
    module = read(f"{TYPES}{BODY}{CASES[why]}  return\n}}\n")
    with pytest.raises(pto.PtoError) as refused:
        run_passes(module, ["split"], TARGETS["a5"])
    (found,) = refused.value.diagnostics
    assert (found.slug, found.seen) == ("cannot-split", why)
    assert found.help
    assert found.span


def test_a_core_has_flags_for_eight_fifos() -> None:
    """Nine tiles are there at once; of eight each has a FIFO of its own."""
    for count in (8, 9):
        tiles = "".join(f"  %t{n} = pto.alloc_tile : !T\n" for n in range(count))
        moves = "".join(f"  pto.tmov ins(%acc : !A) outs(%t{n} : !T)\n" for n in range(count))
        sums = "".join(f"  pto.tadd ins(%t, %t{n} : !T, !T) outs(%t : !T)\n" for n in range(count))
        module = read(f"{TYPES}{BODY}{tiles}{moves}{sums}  return\n}}\n")
        if count == 8:
            (_, vector) = run_passes(module, ["split"], TARGETS["a5"]).funcs
            opened = [op for op in vector.walk() if isinstance(op, Op) and op.attrs.get("dir_mask")]
            assert len(opened) == count
            continue
        with pytest.raises(pto.PtoError, match="need 9 FIFOs"):
            run_passes(module, ["split"], TARGETS["a5"])


def test_registers_are_of_vector_cores() -> None:
    """A function on registers, without a scope around them, is none for both kinds of cores."""
    text = """\
func.func @f(%p: !pto.ptr<f32, ub>, %i: index) {
  %m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
  %v = pto.vlds %p[%i] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
  pto.vsts %v, %p[%i], %m : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
  return
}
"""
    module = run_passes(read(text), ["split"], TARGETS["a5"])
    assert [func.name for func in module.funcs] == ["f"]
