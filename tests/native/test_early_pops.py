"""Entries that are popped in a queue that waits: each is read before its slot is given back."""

from __future__ import annotations

import numpy as np

import ptokit as pto
from account.files import ROOT

VIEW = "!pto.tensor_view<16x16xf32>"
PUSH = "pto.tpush(%acc, %pipe : !A, !pto.pipe) {split = 0}\n"
POP = "pto.tpop(%t, %pipe : !T, !pto.pipe) {split = 0}"
FREE = "pto.tfree(%pipe : !pto.pipe) {split = 0}"
SECOND = "pto.tmatmul.acc ins(%acc, %l, %r : !A, !L, !R) outs(%acc : !A)\n"
LOAD = f"pto.tload ins(%yv : {VIEW}) outs(%c : !T)"


BOTH_KINDS = (ROOT / "tests" / "pto" / "both_kinds.pto").read_text()


def flag(word: str, ends: str, event: int = 0) -> str:
    return f"pto.{word}_flag[{ends}, <EVENT_ID{event}>]"


IN, OUT = "<PIPE_MTE2>, <PIPE_V>", "<PIPE_V>, <PIPE_MTE3>"


def add(out: str) -> str:
    return f"pto.tadd ins(%t, %c : !T, !T) outs(%{out} : !T)"


def program() -> pto.Program:
    """Two entries are popped where V waits for a load; the second is twice the first."""
    text, begin = BOTH_KINDS, BOTH_KINDS.index("    pto.tpop(%t")
    end = text.index("  }\n  return")
    lines = (
        *(f"%{name} = pto.alloc_tile : !T" for name in "cuw"),
        *(flag("wait", IN), POP, add("u"), FREE, POP, add("w"), FREE),
        *("pto.tsub ins(%w, %u : !T, !T) outs(%u : !T)", flag("set", OUT)),
        *(LOAD, flag("set", IN), flag("wait", OUT)),
        *(f"pto.tstore ins(%u : !T) outs(%yv : {VIEW})", "pto.barrier <PIPE_ALL>\n"),
    )
    text = text[:begin] + "\n".join(lines) + text[end:]
    return pto.loads(text.replace(PUSH, PUSH + SECOND + PUSH))


def test_a_slot_is_given_back_after_the_pop_that_waits(engine: str) -> None:
    """Where pops move nothing they are entries of V's queue."""
    a = (np.arange(256) % 7).astype(np.float16).reshape(16, 16)
    y = np.zeros((16, 16), np.float32)
    found = program().run(target="a5", engine=engine, a=a, y=y)["y"]
    np.testing.assert_array_equal(found, a.astype(np.float32) @ a.astype(np.float32))


def test_an_entry_stays_in_its_slot_while_the_next_is_popped(engine: str) -> None:
    """MTE3 waits until both were popped into one tile: it stores the first and then the second."""
    begin = BOTH_KINDS.index("    pto.tpop(%t")
    end = BOTH_KINDS.index("  }\n  return")
    back = "<PIPE_MTE3>, <PIPE_V>"
    lines = (
        flag("wait", "<PIPE_M>, <PIPE_MTE3>", 7),
        *("%zv = pto.make_tensor_view %z, shape = [%c16, %c16], strides = [%c16, %c1] : " + VIEW,),
        *(POP, flag("set", OUT, 0), flag("wait", OUT, 0)),
        f"pto.tstore ins(%t : !T) outs(%yv : {VIEW})",
        *(POP, flag("set", OUT, 1), flag("wait", OUT, 1)),
        f"pto.tstore ins(%t : !T) outs(%zv : {VIEW})",
        *(flag("set", back, 0), flag("wait", back, 0), FREE, FREE),
        *(flag("set", "<PIPE_M>, <PIPE_MTE3>", 7), "pto.barrier <PIPE_ALL>\n"),
    )
    text = BOTH_KINDS[:begin] + "\n".join(lines) + BOTH_KINDS[end:]
    text = text.replace(PUSH, PUSH + SECOND + PUSH).replace("%y:", "%z: !pto.ptr<f32>, %y:")
    a = (np.arange(256) % 7).astype(np.float16).reshape(16, 16)
    y = np.zeros((16, 16), np.float32)
    found = pto.loads(text).run(target="a5", engine=engine, a=a, y=y, z=y)
    product = a.astype(np.float32) @ a.astype(np.float32)
    np.testing.assert_array_equal(found["y"], product)
    np.testing.assert_array_equal(found["z"], product * 2)
