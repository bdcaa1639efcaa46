"""Entries that are views, at cores whose queues wait: messages, and slots that come round again."""

from __future__ import annotations

from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from fuzz.scale import sampled
from native.outcomes import agreed, outcome
from native.textorder import WHOLE, flag
from ptokit.engines.reference.engine import InterpretedKernel

SIZE = f"{WHOLE}, !pto.pipe) {{split = 0}}"
TILE = "!pto.tile_buf<vec, 16x16xf32>"
MAT = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
ALLOC, PUSH = f"pto.talloc(%e, %up : {SIZE}", f"pto.tpush(%e, %up : {SIZE}"
WRITE = f"pto.tstore ins(%t : {TILE}) outs(%e : {WHOLE})"
POP, FREE = f"pto.tpop(%r, %up : {SIZE}", "pto.tfree(%up : !pto.pipe) {split = 0}"
READ = f"pto.tload ins(%r : {WHOLE}) outs(%m : {MAT})"
TO_V, TO_CUBE = ("M", "MTE3", 7), ("M", "MTE2", 7)
SENT = (ALLOC, WRITE, PUSH)
TAKEN = (POP, READ, FREE)


def repeated(*lines: str, times: int = 3) -> list[str]:
    return [f"scf.for %i = %c0 to %c{times} step %c1 {{", *lines, "}"]


def program(vector: list[str], cube: list[str]) -> str:
    """Queues of both cores wait for flags that are raised behind these lines."""
    up, down = (
        (flag("wait", *TO_V), flag("wait", *TO_CUBE)),
        (flag("set", *TO_V), flag("set", *TO_CUBE)),
    )
    both = [[up[n], *lines, down[n]] for n, lines in enumerate((vector, cube))]
    texts = ["\n    ".join(lines) for lines in both]
    return f"""
func.func @f(%x: !pto.ptr<f32>, %room: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : {WHOLE}
  %slots = pto.make_tensor_view %room, shape = [%c16, %c16], strides = [%c16, %c1] : {WHOLE}
  %up = pto.initialize_l2g2l_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 0}} \
(%slots : {WHOLE}) -> !pto.pipe
  pto.section.vector {{
    %t = pto.alloc_tile : {TILE}
    pto.tload ins(%v : {WHOLE}) outs(%t : {TILE})
    {flag("set", "MTE2", "MTE3")}
    {flag("wait", "MTE2", "MTE3")}
    %e = pto.declare_global -> {WHOLE}
    {texts[0]}
  }}
  pto.section.cube {{
    %m = pto.alloc_tile : {MAT}
    %r = pto.declare_global -> {WHOLE}
    {texts[1]}
  }}
  return
}}"""


def given(slots: int) -> dict[str, Any]:
    """So many slots."""
    room = np.zeros((slots, 16, 16), np.float32)
    return {"x": np.ones((16, 16), np.float32), "room": room}


WRONG: dict[str, tuple[list[str], list[str]]] = {
    "a slot is pushed that was not allocated": (repeated(PUSH), []),
    "a slot is pushed in place of the next": ([*SENT, PUSH, *SENT, PUSH], repeated(*TAKEN)),
    "nobody pops": (repeated(*SENT), []),
    "nobody pushes": ([ALLOC], list(TAKEN)),
    "what is read has no place": ([*SENT], [READ, POP, FREE]),
    "a slot is given back twice": ([*SENT], [*TAKEN, FREE]),
    "an array ends": ([*SENT, *SENT], [*TAKEN, *TAKEN]),
    "the loop before gave the slot": (
        repeated(*SENT, times=2),
        [*repeated(POP, FREE, times=2), READ],
    ),
}


@pytest.mark.parametrize(("target", "what"), sampled(product(["cpu", "a2a3", "a5"], WRONG), 2))
def test_messages_are_those_of_the_reference(target: str, what: str) -> None:
    text = program(*(list(lines) for lines in WRONG[what]))
    agreed(text, given(1 if what == "an array ends" else 2), target=target)


@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_deadlocks_name_allocations_and_pops(target: str) -> None:
    text = program(repeated(*SENT), [])
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        said = outcome(text, given(2), target=target, engine="native")
    assert said == outcome(text, given(2), target=target, engine="reference")
    assert "it waits for a free slot" in said
    assert ALLOC in said
