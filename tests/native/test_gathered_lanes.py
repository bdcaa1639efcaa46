"""Gathers, scatters and squeezes of registers: compiled code knows which lanes they define.

The vector buffer has elements that nothing wrote, and lanes behind a tail. The reference executes
no instruction of a vector function for that; results and reports are those of NumPy.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from ptokit.engines.native.session import Worker
from ptokit.machine.undefinedstore import UnwrittenWarning

Row: TypeAlias = NDArray[np.float32]
Found: TypeAlias = tuple[Row, NDArray[np.bool_]]  # values, and which are defined
V, N, M = "!pto.vreg<64xf32>", "!pto.vreg<64xi32>", "!pto.mask<b32>"
P, Q = "!pto.ptr<f32, ub>", "!pto.ptr<i32, ub>"
GIVEN, ROOM = 100, 128
SEEN = re.compile(r"(\d+) elements, first \(0, (\d+)\)")  # they are bytes
STORED = f"pto.vsts %a, %r[%i], %m : {V}, {P}, {M}"
GATHER = f"%a = pto.vgather2 %p, %j, %m : {P}, {N}, {M} -> {V}\n{STORED}"
SCATTER = f"pto.vscatter %u, %r, %j, %m : {V}, {P}, {N}, {M}"
SQUEEZE = f"""%k = pto.vcmps %u, %f0, %m, "gt" : {V}, f32, {M} -> {M}
%a = pto.vsqz %u, %k : {V}, {M} -> {V}\n{STORED}"""

# 32 elements before those of y are undefined, and all go to one place
TO_ONE_PLACE = f"""%w = arith.constant 992 : index
%e = pto.pset_b32 "PAT_ALL" : {M}
%o = pto.vbr %none : i32 -> {N}
%a = pto.vlds %p[%w] : {P} -> {V}
pto.vscatter %a, %r, %o, %e : {V}, {P}, {N}, {M}"""


def program(body: str) -> pto.Program:
    """Return a kernel that has GIVEN elements of x and y in the buffer, and ROOM more to z."""
    here, there = "%bytes nburst(%one, %bytes, %bytes)", "%room nburst(%one, %room, %room)"
    numbers = "i64, i64, i64, i64"
    return pto.loads(
        f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<i32>, %z: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.constant {GIVEN} : index
  %n = arith.constant {GIVEN} : i32
  %none = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %bytes = arith.constant {4 * GIVEN} : i64
  %room = arith.constant {4 * ROOM} : i64
  %second = arith.constant 4096 : i64
  %third = arith.constant 8192 : i64
  %p = pto.castptr %zero : i64 -> {P}
  %q = pto.castptr %second : i64 -> {Q}
  %r = pto.castptr %third : i64 -> {P}
  pto.mte_gm_ub %x, %p, %zero, {here} : !pto.ptr<f32>, {P}, i64, {numbers}
  pto.mte_gm_ub %y, %q, %zero, {here} : !pto.ptr<i32>, {Q}, i64, {numbers}
  pto.vecscope {{
    %rest = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
      %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %u = pto.vlds %p[%i] : {P} -> {V}
      %j = pto.vlds %q[%i] : {Q} -> {N}
      {body}
      scf.yield %next : i32
    }}
  }}
  pto.mte_ub_gm %r, %z, {there} : {P}, !pto.ptr<f32>, {numbers}
  return
}}""".replace("      %x =", "      %v =")
        .replace("%x,", "%v,")
        .replace("mte_gm_ub %v", "mte_gm_ub %x")
    )


def gathered(x: Row, y: Any) -> Found:  # Any: integers
    defined = np.arange(ROOM) < GIVEN
    defined[:GIVEN] &= y < GIVEN
    values = np.zeros(ROOM, np.float32)
    values[:GIVEN] = x[np.minimum(y, GIVEN - 1)]
    return values, defined


def scattered(x: Row, y: Any) -> Found:  # Any: as above
    values, defined = np.zeros(ROOM, np.float32), np.zeros(ROOM, np.bool_)
    for place, value in zip(y, x, strict=True):
        values[place], defined[place] = value, True
    return values, defined


def squeezed(x: Row, _: Any) -> Found:  # Any: as above
    values = np.zeros(ROOM, np.float32)
    for first in range(0, GIVEN, 64):
        kept = [v for v in x[first : first + 64] if v > 0]
        values[first : first + len(kept)] = kept
    return values, np.arange(ROOM) < GIVEN


def last(_: Row, y: Any) -> Found:  # Any: as above
    values = np.zeros(ROOM, np.float32)
    values[:1] = y[31:32].view(np.float32)
    return values, np.arange(ROOM) < 1


@pytest.mark.parametrize(
    ("body", "formula"),
    [(TO_ONE_PLACE, last), (GATHER, gathered), (SCATTER, scattered), (SQUEEZE, squeezed)],
)
@pytest.mark.parametrize("most", [GIVEN, ROOM])
def test_lanes_are_defined_as_numpy_says(
    body: str, formula: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(most)
    x, y = rng.normal(size=GIVEN).astype(np.float32), rng.integers(0, most, GIVEN, np.int32)
    values, defined = formula(x, y)
    asked: list[str] = []
    execute = Worker._execute_on  # pyright: ignore[reportPrivateUsage]  # what asks is counted

    def noted(worker: Worker, request: Any, number: int, op: Any, env: Any) -> None:
        asked.append(op.name)
        execute(worker, request, number, op, env)

    monkeypatch.setattr(Worker, "_execute_on", noted)
    found: list[tuple[bytes, list[str]]] = []
    for engine in ("reference", "native"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnwrittenWarning)
            z = np.zeros(ROOM, np.float32)
            z = program(body).run(x=x, y=y, z=z, target="a5", engine=engine)["z"]
        found.append((z.tobytes(), [str(one.message) for one in caught]))
    assert found[0] == found[1]
    assert found[0][0] == np.where(defined, values, 0).astype(np.float32).tobytes()
    missing = np.flatnonzero(~defined)
    assert SEEN.findall(found[0][1][0]) == [(str(4 * missing.size), str(4 * missing[0]))]
    assert asked == ["pto.mte_ub_gm"]
