"""What boards take without more flags: sets behind waits, parameters and pads of the same pipe."""

from __future__ import annotations

import pytest

import ptokit as pto
from account.files import ROOT

TWICE = (ROOT / "tests" / "errors" / "flag-set-twice.pto").read_text(encoding="utf-8")
SET = "  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
WAIT = SET.replace("set_flag", "wait_flag")


def slugs(text: str, target: str) -> set[str]:
    return {d.slug for d in pto.loads(text).races(target)}


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_a_set_behind_the_wait_in_the_program(target: str) -> None:
    assert slugs(TWICE, target) == {"flag-set-twice"}
    assert SET + SET + WAIT + WAIT in TWICE
    turned = TWICE.replace(SET + SET + WAIT + WAIT, SET + WAIT + SET + WAIT)
    assert "flag-set-twice" not in slugs(turned, target)


ACC = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
NUMBERS = "!pto.tile_buf<mat, 1x64xu64>"
PARAMETERS = "!pto.tile_buf<scaling, 1x64xu64>"
VIEW = "!pto.tensor_view<32x32xi8>"
QUANTISED = f"""\
func.func @f(%acc: {ACC}, %m: {NUMBERS}, %fp: {PARAMETERS}, %out: !pto.ptr<i8>) {{
  %rows = arith.constant 32 : index
  %view = pto.make_tensor_view %out, shape = [%rows, %rows], strides = [%rows, 1] : {VIEW}
  pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
  pto.tmov ins(%m : {NUMBERS}) outs(%fp : {PARAMETERS})
  pto.tstore_fp ins(%acc, %fp : {ACC}, {PARAMETERS}) outs(%view : {VIEW})
  return
}}
"""
AGAIN = "  return\n"
STORE = next(line for line in QUANTISED.splitlines() if "tstore_fp" in line)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_parameters_of_the_fix_pipe(target: str) -> None:
    assert "hazard" not in slugs(QUANTISED, target)
    other = QUANTISED.replace(AGAIN, f"{STORE}\n{AGAIN}")  # into the same memory
    assert "hazard" in slugs(other, target)


MAT = "!pto.tile_buf<mat, 64x64xf16, valid=50x48, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, 64x64xf16, valid=50x48, blayout={}, slayout=row_major>"
PADDED = f"""\
func.func @f(%x: !pto.ptr<f16>) {{
  %rows = arith.constant 50 : index
  %view = pto.make_tensor_view %x, shape = [%rows, 48], strides = [48, 1] : TYPE
  %m = pto.alloc_tile : {MAT}
  %l = pto.alloc_tile : LEFT
  pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]
  pto.tload ins(%view : TYPE) outs(%m : {MAT})
  pto.tfillpad ins(%m : {MAT}) outs(%m : {MAT})
  return
}}
""".replace("TYPE", "!pto.tensor_view<50x48xf16>")
MOVE = f"  pto.tmov ins(%m : {MAT}) outs(%l : LEFT)\n"


@pytest.mark.parametrize(("target", "order"), [("a2a3", "row_major"), ("a5", "col_major")])
def test_a_fill_in_l1_writes_the_pad_alone(target: str, order: str) -> None:
    left = LEFT.format(order)
    assert slugs(PADDED.replace("LEFT", left), target) <= {"redundant-synchronisation"}
    moved = PADDED.replace(AGAIN, MOVE + AGAIN).replace("LEFT", left)
    assert "hazard" in slugs(moved, target)
