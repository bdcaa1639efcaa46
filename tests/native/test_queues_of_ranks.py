"""Ranks that tell one another what their queues have done run as machine code."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from native.test_issue_queues import (
    ALL,
    PART,
    SHAPE,
    TILE,
    VIEW,
    chain,
    flagged,
    load,
    program,
    reordered,
    store,
    views,
)
from native.textorder import flag
from ptokit.sim.reference.interpretedkernel import InterpretedJob

RANKS = 2
SIGNALS, SIGNAL = "!pto.tensor_view<1xi32>", "!pto.partition_tensor_view<1xi32>"
MORE = "".join(
    f", %{name}: !pto.ptr<{kind}>"
    for name, kind in (("got", "f32"), ("there", "f32"), ("bell", "i32"), ("far", "i32"))
)


def signal(name: str) -> str:
    return f"""%{name}s = pto.make_tensor_view %{name}, shape = [%c1], strides = [%c1] : {SIGNALS}
  %{name}1 = pto.partition_view %{name}s, offsets = [%c0], sizes = [%c1] : {SIGNALS} -> {SIGNAL}"""


NUMBERS = f"""%i1 = arith.constant 1 : i32
  %gotten = pto.make_tensor_view %got, {SHAPE} : {VIEW}
  %theirs = pto.make_tensor_view %there, {SHAPE} : {VIEW}
  {signal("bell")}
  {signal("far")}"""
ROWS = "\n".join(
    f"%{part} = pto.partition_view %{whole}, offsets = [%ati, %c0], sizes = [%c8, %c32] "
    f": {VIEW} -> {PART}"
    for part, whole in (("g", "gotten"), ("r", "theirs"))
)
TOLD = (
    f"pto.comm.tput(%r, %qi, buf(%t0) : {PART}, {PART}, {TILE})",
    ALL,
    f"pto.comm.tnotify(%far1, %i1 : {SIGNAL}, i32) {{notifyOp = #pto<notify_op atomic_add>}}",
    "%before = arith.index_cast %i : index to i32",
    "%times = arith.addi %before, %i1 : i32",
    f"pto.comm.twait(%bell1, %times : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}",
)
SHOWN = (  # what the other rank has put here is stored in y
    *(flag("wait", "MTE2", "MTE3", 6), store(1)),
    *(load(1).replace("%pi", "%g"), flag("set", "MTE2", "MTE3", 6), ALL),
)


def exchanged(random: Random) -> tuple[pto.Program, list[str]]:
    """Each rank computes rows and gives them to the other one; how to compute the same."""
    lines, meaning = chain(random)
    body = [one.text for one in reordered(flagged(lines), random)]
    loop = ("scf.for %i = %c0 to %n step %c1 {", views("i"), ROWS, *body, ALL, *TOLD, *SHOWN, "}")
    return program(loop, NUMBERS, MORE), meaning


def given(iterations: int) -> dict[str, Any]:
    x = np.arange(iterations * 256, dtype=np.float32).reshape(-1, 32) % 509
    found: dict[str, Any] = {"n": iterations}
    for rank in range(RANKS):
        found |= {f"{name}@{rank}": np.zeros_like(x) for name in ("y", "got")}
        found |= {f"x@{rank}": x + rank, f"bell@{rank}": np.zeros(1, np.int32)}
        found |= {f"there@{rank}": f"got@{1 - rank}", f"far@{rank}": f"bell@{1 - rank}"}
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_ranks_get_what_queues_of_others_computed(target: str, seed: int) -> None:
    random = Random(f"{target} {seed}")
    made, meaning = exchanged(random)
    data = given(random.randint(1, 3))
    runs = [made.run(ranks=RANKS, target=target, engine="reference", **data)]
    with patch.object(InterpretedJob, "run", side_effect=AssertionError("it was asked")):
        runs.append(made.run(ranks=RANKS, target=target, engine="native", **data))
    for rank in range(RANKS):
        want = data[f"x@{1 - rank}"]
        for word in meaning:
            want = want + 1 if word == "add" else want * 2
        for found in runs:
            np.testing.assert_array_equal(found[f"y@{rank}"], want)


def test_deadlocks_of_ranks_name_what_queues_wait_for() -> None:
    """Both wait for a signal that nobody gives, where V waits for a flag that comes later."""
    early = (flag("wait", "MTE2", "V", 5), *TOLD[3:], flag("set", "MTE2", "V", 5))
    made = program(("%i = arith.constant 0 : index", *early), NUMBERS, MORE)
    said: list[str] = []
    for engine in ("native", "reference"):
        with pytest.raises(pto.PtoError) as caught:
            made.run(ranks=RANKS, target="a5", engine=engine, **given(1))
        said.append(caught.value.diagnostics[0].render())
    assert said[0] == said[1]
    assert "event 5 of MTE2 -> V" in said[0]
