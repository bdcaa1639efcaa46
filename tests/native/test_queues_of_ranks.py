"""Ranks that tell one another what their queues have done run as machine code."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import in_turn, scaled
from native.pipekernel import BACK, TAKE, kernel
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
from native.test_waits_of_queues import FIRST
from native.textorder import ARGS, Writer, arrays, expected, flag, written
from ptokit.engines.reference.engine import InterpretedKernel

RANKS = 2
SIGNALS, SIGNAL = "!pto.tensor_view<1xi32>", "!pto.partition_tensor_view<1xi32>"
BELLS = ", %bell: !pto.ptr<i32>, %far: !pto.ptr<i32>"
MORE = f", %got: !pto.ptr<f32>, %there: !pto.ptr<f32>{BELLS}"


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


@pytest.mark.parametrize("seed", range(scaled(1)))
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_ranks_get_what_queues_of_others_computed(target: str, seed: int) -> None:
    random = Random(f"{target} {seed}")
    made, meaning = exchanged(random)
    data = given(random.randint(1, 3))
    runs = [made.run(ranks=RANKS, target=target, engine="reference", **data)]
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
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
    said = [_deadlock(made.text(), "a5", engine, given(1)) for engine in ("native", "reference")]
    assert said[0] == said[1]
    assert "event 5 of MTE2 -> V" in said[0]


LOOP = "scf.for %i16 = %c0 to %end step %step {"
IN_STEP = f"""%i1 = arith.constant 1 : i32
  {signal("bell")}
  {signal("far")}
  {LOOP}
    %turn = arith.divsi %i16, %step : index
    %turn32 = arith.index_cast %turn : index to i32
    %turns = arith.addi %turn32, %i1 : i32
    pto.comm.tnotify(%far1, %i1 : {SIGNAL}, i32) {{notifyOp = #pto<notify_op atomic_add>}}
    pto.comm.twait(%bell1, %turns : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"""


def of_both(entries: int) -> dict[str, Any]:
    """The arrays of two ranks, with signals between them."""
    found: dict[str, Any] = {}
    for rank in range(RANKS):
        found |= {f"{name}@{rank}": array for name, array in arrays(entries).items()}
        found |= {f"bell@{rank}": np.zeros(1, np.int32), f"far@{rank}": f"bell@{1 - rank}"}
    return found


@pytest.mark.parametrize("seed", range(scaled(1)))
@pytest.mark.parametrize(("target", "style"), in_turn(["cpu", "a2a3", "a5"], ["named", "views"]))
def test_queues_wait_for_entries_while_ranks_wait_for_one_another(
    style: str, target: str, seed: int
) -> None:
    """On A2/A3 some of these texts end in a deadlock."""
    random = Random(f"{style} {target} {seed}")
    pops = ("MTE1", "V") if target == "a5" else ("MTE2", "MTE2")
    entries, iterations = random.choice([(1, 3), (2, 2), (3, 2)])
    writer = Writer(style, style == "named" and random.random() < 0.5, entries, pops)
    text = written(writer, iterations, seed, anyhow=True)
    text = text.replace(ARGS, ARGS + BELLS).replace(LOOP, IN_STEP, 1)
    ran = outcome(text, target, "reference", entries * iterations)
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        assert ran == outcome(text, target, "native", entries * iterations)
    assert ran == "right" or (target == "a2a3" and "deadlock" in ran)


def told(count: int) -> str:
    """Wait until the bell has rung so often."""
    return f"""%b{count} = arith.constant {count} : i32
  pto.comm.twait(%bell1, %b{count} : {SIGNAL}, i32) {{cmp = #pto<wait_cmp ge>}}"""


def rings(name: str) -> str:
    return f"""%{name} = arith.constant 1 : i32
  pto.comm.tnotify(%far1, %{name} : {SIGNAL}, i32) {{notifyOp = #pto<notify_op atomic_add>}}"""


SENT = f"""{told(1)}
  %n = pto.alloc_tile : !M
  pto.tload ins(%v : !V) outs(%n : !M)
  {flag("set", "MTE2", "MTE3")}
  {flag("wait", "MTE2", "MTE3")}
  {BACK.replace("%m", "%n")}
  {rings("one")}"""
TAKEN = f"""{flag("wait", "M", "MTE3", 7)}
  {TAKE}
  {rings("one")}
  {told(2)}
  pto.tadd ins(%u, %u : !T, !T) outs(%u : !T)
  {flag("set", "V", "MTE3")}
  {flag("wait", "V", "MTE3")}
  pto.tstore ins(%u : !T) outs(%v : !V)
  {flag("set", "M", "MTE3", 7)}
  {ALL}
  pto.tfree(%down : !pto.pipe) {{split = 0}}"""


@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_a_queue_goes_on_while_its_core_waits_for_another_rank(target: str) -> None:
    """V waits for the cube, the scalar unit for the other rank: both are in a deadlock."""
    text, x = kernel(TAKEN, SENT), np.arange(256, dtype=np.float32).reshape(16, 16)
    signals = f"%c1 = arith.constant 1 : index\n  {signal('bell')}\n  {signal('far')}"
    text = text.replace("f32>) {", f"f32>{BELLS}) {{")
    text = text.replace("  %c1 = arith.constant 1 : index", signals, 1)
    given: dict[str, Any] = {f"bell@{rank}": np.zeros(1, np.int32) for rank in range(RANKS)}
    given |= {f"far@{rank}": f"bell@{1 - rank}" for rank in range(RANKS)}
    given |= {f"x@{rank}": x + rank for rank in range(RANKS)}
    stuck = text.replace("%b1 = arith.constant 1", "%b1 = arith.constant 9")
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        found = pto.loads(text).run(ranks=RANKS, target=target, engine="native", **given)
        said = _deadlock(stuck, target, "native", given)
    for rank in range(RANKS):
        np.testing.assert_array_equal(found[f"x@{rank}"], 2 * (x + rank))
    assert said == _deadlock(stuck, target, "reference", given)
    assert said.count("waits here, pto.tpop") == RANKS


def _deadlock(text: str, target: str, engine: str, given: dict[str, Any]) -> str:
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(text).run(ranks=RANKS, target=target, engine=engine, **given)
    return caught.value.diagnostics[0].render()


def outcome(text: str, target: str, engine: str, entries: int) -> str:
    """What a run of two ranks comes to."""
    try:
        got = pto.loads(text).run(ranks=RANKS, target=target, engine=engine, **of_both(entries))
    except pto.PtoError as problem:
        return problem.diagnostics[0].render()
    for name, want in expected(entries).items():
        for rank in range(RANKS):
            np.testing.assert_array_equal(got[f"{name}@{rank}"], want)
    return "right"


def test_a_push_below_a_pop_that_waits_goes_on_in_each_rank(engine: str) -> None:
    """As it does where there is one rank."""
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    given: dict[str, Any] = {"x@0": x, "x@1": x + 1}
    done = pto.loads(FIRST).compile(target="a5", engine=engine, ranks=RANKS)
    for _ in range(2):
        outputs = done.run(**given)
        for name, array in given.items():
            np.testing.assert_array_equal(outputs[name], 2 * array)
