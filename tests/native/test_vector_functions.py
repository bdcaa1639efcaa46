"""Vector functions compiled: registers are variables, and lanes without a value stay known."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from ptokit.machine.undefinedstore import UnwrittenWarning

V, M, P = "!pto.vreg<64xf32>", "!pto.mask<b32>", "!pto.ptr<f32, ub>"
SUM = f"""
      %b = pto.vlds %q[%i] : {P} -> {V}
      %r = pto.vadd %a, %b, %m : {V}, {V}, {M} -> {V}"""
EXTREMES = f"""
      %u = pto.vcmax %a, %m : {V}, {M} -> {V}
      %v = pto.vcmin %a, %m : {V}, {M} -> {V}
      %w = pto.vcadd %a, %m : {V}, {M} -> {V}
      %s = pto.vadd %v, %w, %m : {V}, {V}, {M} -> {V}
      %c = pto.vcmp %s, %u, %m, "lt" : {V}, {V}, {M} -> {M}
      %r = pto.vsel %u, %s, %c : {V}, {V}, {M} -> {V}"""


def program(body: str, stored: str = "%m") -> str:
    """Return a kernel that applies a body to 64 elements %a of x at a time, and adds them to y.

    So many bytes of both are in the buffer, and of the result in y.
    """
    types = "!pto.ptr<f32>, !pto.ptr<f32, ub>"
    burst = "nburst(%one, %bytes, %bytes)"
    return f"""
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: i32, %bytes: i64, %back: i64) {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %end = arith.index_cast %n : i32 to index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %behind = arith.constant 8192 : i64
  %p = pto.castptr %zero : i64 -> {P}
  %q = pto.castptr %behind : i64 -> {P}
  %all = pto.pset_b32 "PAT_ALL" : {M}
  pto.mte_gm_ub %x, %p, %zero, %bytes {burst} : {types}, i64, i64, i64, i64, i64
  pto.mte_gm_ub %y, %q, %zero, %bytes {burst} : {types}, i64, i64, i64, i64, i64
  pto.vecscope {{
    %rest = scf.for %i = %c0 to %end step %c64 iter_args(%left = %n) -> (i32) {{
      %m, %next = pto.plt_b32 %left : i32 -> {M}, i32
      %a = pto.vlds %p[%i] : {P} -> {V}{body}
      pto.vsts %r, %q[%i], {stored} : {V}, {P}, {M}
      scf.yield %next : i32
    }}
  }}
  pto.mte_ub_gm %q, %y, %back {burst.replace("%bytes", "%back")} : {P}, !pto.ptr<f32>,\
 i64, i64, i64, i64
  return
}}"""


def run(body: str, n: int, engine: str, *, back: int = 0, stored: str = "%m") -> np.ndarray:
    """Return y after the program; `back` elements of it are copied, else n."""
    rng = np.random.default_rng(n)
    x, y = (rng.normal(0, 4, 320).astype(np.float32) for _ in range(2))
    x[5::7] = rng.choice(np.array([np.nan, 0.0, -0.0, np.inf, -np.inf], np.float32), x[5::7].size)
    given: dict[str, Any] = {"x": x, "y": y, "n": n, "bytes": 4 * n, "back": 4 * (back or n)}
    return pto.loads(program(body, stored)).run(target="a5", engine=engine, **given)["y"]


@pytest.mark.parametrize("body", [SUM, EXTREMES])
def test_tails_give_the_bytes_of_the_reference(body: str) -> None:
    """The lanes behind the tail are undefined: what the mask does not select is no value."""
    for n in (1, 63, 64, 65, 192, 300):
        here, there = (run(body, n, engine).tobytes() for engine in ("reference", "native"))
        assert here == there, n


def test_undefined_lanes_that_are_stored_are_reported() -> None:
    """A sum of undefined lanes is undefined, without a mask of the store, too."""
    body = SUM.replace("%m :", "%all :")
    found = list[str]()
    for engine in ("reference", "native"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnwrittenWarning)
            run(body, 100, engine, back=128, stored="%all")
        found += [str(one.message) for one in caught]
    assert len(found) == 2
    assert found[0] == found[1]
    assert "112 elements" in found[0]  # of bytes


def test_an_access_outside_the_buffer_is_one_message() -> None:
    """Registers have been copied to the memory that the reference reports about."""
    far = pto.loads(program(SUM).replace("arith.constant 8192", "arith.constant 261888"))
    x = np.zeros(128, np.float32)
    given: dict[str, Any] = {"x": x, "y": x, "n": 128, "bytes": 256, "back": 256}  # Any: options
    messages = list[str]()
    for engine in ("reference", "native"):
        with pytest.raises(pto.PtoError) as caught:
            far.run(target="a5", engine=engine, **given)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
