"""Vector functions of known sizes: what they load is proven before the run, so nothing is checked.

Counted, not timed: the plan of compiled code names the memories whose defined elements it follows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.engines.native.compile import compile_program
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.machine.undefinedstore import UnwrittenWarning
from ptokit.values.fixpipe import CPU_READING

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
STORE = f"pto.vsts %r, %q[%i], %m : {V}, {P}, {M}"
LOOP = f"""
    %rest = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
      %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %a = pto.vlds %p[%i] : {P} -> {V}
      BODY
      pto.vsts %r, %q[%i], %m : {V}, {P}, {M}
      scf.yield %next : i32
    }}"""
EXP = LOOP.replace("BODY", f"%r = pto.vexp %a, %m : {V}, {M} -> {V}")
SUM = f"""
    %every = pto.pset_b32 "PAT_ALL" : {M}
    %none = pto.vbr %zero_f : f32 -> {V}
    %rest, %sum = scf.for %i = %c0 to %end step %c64 \
 iter_args(%left = %n, %t = %none) -> (i32, {V}) {{
      %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %a = pto.vlds %p[%i] : {P} -> {V}
      %b = pto.vsel %a, %none, %m : {V}, {V}, {M} -> {V}
      %s = pto.vadd %t, %b, %every : {V}, {V}, {M} -> {V}
      scf.yield %next, %s : i32, {V}
    }}
    %all = pto.vcadd %sum, %every : {V}, {M} -> {V}
    %one_lane, %more = pto.plt_b32 %one_n : i32 -> {M}, i32
    pto.vsts %all, %q[%c0], %one_lane : {V}, {P}, {M}"""
ROWS = f"""
    scf.for %row = %c0 to %c3 step %c1 {{
      %first = arith.muli %row, %c320 : index
      %rest = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
        %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
        %at = arith.addi %first, %i : index
        %a = pto.vlds %p[%at] : {P} -> {V}
        %r = pto.vexp %a, %m : {V}, {M} -> {V}
        pto.vsts %r, %q[%at], %m : {V}, {P}, {M}
        scf.yield %next : i32
      }}
      %again = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
        %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
        %at = arith.addi %first, %i : index
        %a = pto.vlds %q[%at] : {P} -> {V}
        %r = pto.vadd %a, %a, %m : {V}, {V}, {M} -> {V}
        pto.vsts %r, %q[%at], %m : {V}, {P}, {M}
        scf.yield %next : i32
      }}
    }}"""
BEYOND = EXP.replace("iter_args(%left = %n)", "iter_args(%left = %more_n)")
UNMASKED = EXP.replace(
    STORE,
    f'%w = pto.pset_b32 "PAT_ALL" : {M}\n      {STORE.replace("%m", "%w").replace("%r", "%a")}',
)
IN_A_BRANCH = EXP.replace(
    STORE, f"%c = arith.cmpi ne, %i, %c64 : index\n      scf.if %c {{\n        {STORE}\n      }}"
)
CARRIED_MASK = f"""
    %start = pto.pset_b32 "PAT_VL8" : {M}
    %rest, %kept = scf.for %i = %c0 to %end step %c64 \
 iter_args(%left = %n, %m = %start) -> (i32, {M}) {{
      %wide, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %a = pto.vlds %p[%i] : {P} -> {V}
      %r = pto.vexp %a, %m : {V}, {M} -> {V}
      pto.vsts %r, %q[%i], %m : {V}, {P}, {M}
      scf.yield %next, %wide : i32, {M}
    }}"""
LATE = f"""
    %rest = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
      %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %a = pto.vlds %q[%i] : {P} -> {V}
      %b = pto.vlds %p[%i] : {P} -> {V}
      %r = pto.vadd %a, %b, %m : {V}, {V}, {M} -> {V}
      %j = arith.addi %i, %c64 : index
      pto.vsts %r, %q[%j], %m : {V}, {P}, {M}
      scf.yield %next : i32
    }}"""


def program(body: str, n: int, back: int, rows: int = 1) -> pto.Program:
    """Return a kernel that copies rows of n elements of x to %p, and `back` elements of %q to y."""
    types = "!pto.ptr<f32>, !pto.ptr<f32, ub>"
    return pto.loads(f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c320 = arith.constant 320 : index
  %end = arith.constant {n} : index
  %n = arith.constant {n} : i32
  %more_n = arith.constant {n + 1} : i32
  %one_n = arith.constant 1 : i32
  %zero_f = arith.constant 0.0 : f32
  %zero = arith.constant 0 : i64
  %rows = arith.constant {rows} : i64
  %bytes = arith.constant {4 * n} : i64
  %line = arith.constant 1280 : i64
  %back = arith.constant {4 * back} : i64
  %behind = arith.constant 8192 : i64
  %p = pto.castptr %zero : i64 -> {P}
  %q = pto.castptr %behind : i64 -> {P}
  pto.mte_gm_ub %x, %p, %zero, %bytes nburst(%rows, %line, %line) : {types}, i64, i64, i64, i64, i64
  pto.vecscope {{{body}
  }}
  pto.mte_ub_gm %q, %y, %back nburst(%rows, %line, %line) : {P}, !pto.ptr<f32>, i64, i64, i64, i64
  return
}}""")


def followed(made: pto.Program) -> frozenset[str]:
    """Return the memories whose defined elements compiled code follows."""
    x = np.zeros((3, 320), np.float32)
    bound = bind(made.func(), {"x": x, "y": x.copy()}, TARGETS["a5"], {})
    plan = compile_program(bound, TARGETS["a5"], CPU_READING, 1).plan
    assert not plan.by_reference
    return plan.tracked


@pytest.mark.parametrize("n", [64, 100, 256])
def test_tails_of_rows_are_proven(n: int) -> None:
    """What one loop writes in a row the next loop reads."""
    assert not followed(program(ROWS, n, n, 3))


def test_what_iterations_pass_on_is_proven() -> None:
    assert not followed(program(SUM, 100, 1))


REPORTED = {  # body -> elements that are copied
    "a mask of one lane more": (BEYOND, 101),
    "lanes behind a mask": (UNMASKED, 128),
    "a store in a branch": (IN_A_BRANCH, 100),
    "the mask of the iteration before": (CARRIED_MASK, 100),
    "what the iteration before wrote": (LATE, 128),
}


@pytest.mark.parametrize("case", REPORTED)
def test_undefined_elements_are_reported_as_by_the_reference(case: str) -> None:
    body, back = REPORTED[case]
    made = program(body, 100, back)
    x = np.random.default_rng(1).normal(0, 1, (3, 320)).astype(np.float32)
    found: list[tuple[list[str], bytes]] = []
    for engine in ("reference", "native"):
        given: dict[str, Any] = {"x": x, "y": np.zeros_like(x)}  # Any: arrays
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnwrittenWarning)
            y = made.run(target="a5", engine=engine, **given)["y"]
        found.append(([str(one.message) for one in caught], y.tobytes()))
    assert found[0] == found[1]
    assert found[0][0]
