"""Flags and buffers of pipes that do not pair, and what boards take without more of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from every import every

TWICE = (ROOT / "tests" / "errors" / "flag-set-twice.pto").read_text(encoding="utf-8")
SET = "  pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
WAIT = SET.replace("set_flag", "wait_flag")


def slugs(text: str, target: str = "a2a3") -> set[str]:
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


CLASHING = (ROOT / "tests" / "errors" / "flag-clash.pto").read_text(encoding="utf-8")
ID0, ID1 = "<PIPE_MTE3>, <EVENT_ID0>", "<PIPE_MTE3>, <EVENT_ID1>"


def test_the_same_pipes_and_id_clash() -> None:
    assert "flag-clash" in slugs(CLASHING)


def test_another_id_does_not() -> None:
    assert "flag-clash" not in slugs(CLASHING.replace(ID0, ID1))


def test_a_flag_that_is_down_again_does_not() -> None:
    lines = CLASHING.splitlines()
    wait = next(line for line in lines if "wait_flag" in line and ID0 in line)
    lines.remove(wait)
    up = next(n for n, line in enumerate(lines) if "set_flag" in line and ID0 in line)
    lines.insert(up + 1, wait)
    assert "flag-clash" not in slugs("\n".join(lines))


def test_a_target_whose_instruction_uses_none_has_no_clash() -> None:
    assert "flag-clash" not in slugs(CLASHING, "a5")


TILE = "!pto.tile_buf<vec, 1x64xf32>"
LOAD = f"pto.tload ins(%v : !pto.tensor_view<1x64xf32>) outs(%a : {TILE})"
ADD = f"pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})"
STEPS = {  # a word for each statement
    "load": LOAD,
    "add": ADD,
    **{
        f"{word}{pipe}": f"pto.{name}[#pto.pipe_event_type<{of}>, 5]"
        for word, name in (("get", "get_buf"), ("rls", "rls_buf"))
        for pipe, of in ((2, "TLOAD"), ("v", "TVEC"))
    },
    "other": "pto.get_buf[#pto.pipe_event_type<TVEC>, 6]",
    "again": "pto.rls_buf_dyn[#pto.pipe_event_type<TVEC>, 5]",
    "mode": "pto.rls_buf[#pto.pipe_event_type<TVEC>, 5] {mode = 1}",
}
NOT_ACQUIRED = "V releases buffer 5 without having acquired it"
ACQUIRED_TWICE = "MTE2 acquires buffer 5 again before releasing it"
KEPT = "{} acquires buffer {} and never releases it"
CASES = {
    "get2 load rls2 getv add rlsv": [],
    "get2 load rls2 getv add again": [],
    "get2 load getv rls2 add rlsv": [],  # V waits meanwhile
    "get2 load rls2 add rlsv": [NOT_ACQUIRED],
    "get2 load rlsv": [NOT_ACQUIRED, KEPT.format("MTE2", 5)],  # of another pipe
    "get2 load rls2 getv add rlsv rlsv": [NOT_ACQUIRED],
    "get2 load rls2 getv add rlsv again": [NOT_ACQUIRED],
    "get2 load rls2 getv add rlsv mode": [],  # nobody knows what it does
    "get2 get2 load rls2 getv add rlsv": [ACQUIRED_TWICE],
    "get2 load rls2 getv add": [KEPT.format("V", 5)],
    "get2 load getv add rlsv": [KEPT.format("MTE2", 5)],  # and V waits for ever
    "other get2 load rls2 getv add rlsv": [KEPT.format("V", 6)],
}


def program(words: str) -> str:
    lines = "".join(f"  {STEPS[word]}\n" for word in words.split())
    return f"""func.func @f(%x: !pto.ptr<f32>) {{
  %v = pto.make_tensor_view %x, shape = [1, 64], strides = [64, 1] \
: !pto.tensor_view<1x64xf32>
  %a = pto.alloc_tile : {TILE}
{lines}  return
}}
"""


def misuses(text: str, **arrays: Any) -> list[str | None]:  # Any: arrays
    found = pto.loads(text).races("a5", **arrays)
    assert "pipe-deadlock" not in {d.slug for d in found}
    return [d.seen for d in found if d.slug == "acquire-release" and d.is_error]


@every("words", CASES)
def test_acquires_and_releases_pair(words: str) -> None:
    """Without arrays by a sample, with them of a run, whose log may be proven to be right."""
    text = program(words)
    assert misuses(text) == CASES[words]
    assert misuses(text, x=np.zeros(64, np.float32)) == CASES[words]


def test_the_run_goes_on() -> None:
    """In text order the buffer is always free: no data depends on it."""
    pto.loads(program("get2 get2 load rlsv")).run(x=np.zeros(64, np.float32), target="a5")


def test_an_acquire_of_each_iteration() -> None:
    """The one that is left in a loop is the second one's trouble, and the last one's."""
    loop = program("get2 load").replace(
        "  pto.get_buf", "  scf.for %i = 1 to 5 step 1 {\n  pto.get_buf"
    )
    found = misuses(loop.replace("  return", "  }\n  return"))
    assert found == [f"{ACQUIRED_TWICE} with %i = 2"]
