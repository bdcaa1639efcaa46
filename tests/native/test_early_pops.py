"""Entries that are popped in a queue that waits: each is read before its slot is given back."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT

VIEW = "!pto.tensor_view<16x16xf32>"
PUSH = "pto.tpush(%acc, %pipe : !A, !pto.pipe) {split = 0}\n"
POP = "pto.tpop(%t, %pipe : !T, !pto.pipe) {split = 0}"
FREE = "pto.tfree(%pipe : !pto.pipe) {split = 0}"
SECOND = "pto.tmatmul.acc ins(%acc, %l, %r : !A, !L, !R) outs(%acc : !A)\n"
LOAD = f"pto.tload ins(%yv : {VIEW}) outs(%c : !T)"


def flag(word: str, ends: str) -> str:
    return f"pto.{word}_flag[{ends}, <EVENT_ID0>]"


IN, OUT = "<PIPE_MTE2>, <PIPE_V>", "<PIPE_V>, <PIPE_MTE3>"


def add(out: str) -> str:
    return f"pto.tadd ins(%t, %c : !T, !T) outs(%{out} : !T)"


def program() -> pto.Program:
    """Two entries are popped where V waits for a load; the second is twice the first."""
    text = (ROOT / "tests" / "pto" / "both_kinds.pto").read_text()
    begin, end = text.index("    pto.tpop(%t"), text.index("  }\n  return")
    lines = (
        *(f"%{name} = pto.alloc_tile : !T" for name in "cuw"),
        *(flag("wait", IN), POP, add("u"), FREE, POP, add("w"), FREE),
        *("pto.tsub ins(%w, %u : !T, !T) outs(%u : !T)", flag("set", OUT)),
        *(LOAD, flag("set", IN), flag("wait", OUT)),
        *(f"pto.tstore ins(%u : !T) outs(%yv : {VIEW})", "pto.barrier <PIPE_ALL>\n"),
    )
    text = text[:begin] + "\n".join(lines) + text[end:]
    return pto.loads(text.replace(PUSH, PUSH + SECOND + PUSH))


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_slot_is_given_back_after_the_pop_that_waits(engine: str) -> None:
    """Where pops move nothing they are entries of V's queue."""
    a = (np.arange(256) % 7).astype(np.float16).reshape(16, 16)
    y = np.zeros((16, 16), np.float32)
    found = program().run(target="a5", engine=engine, a=a, y=y)["y"]
    np.testing.assert_array_equal(found, a.astype(np.float32) @ a.astype(np.float32))
