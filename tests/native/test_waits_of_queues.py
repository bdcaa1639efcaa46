"""Queues that wait: for another core, alone on A5 and with the whole core on A2/A3.

The order of the text between queues makes no difference where flags leave one order.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from every import every
from fuzz.scale import in_turn, scaled
from native import outcomes
from native.pipekernel import BACK, FREE, POP, PUSH, TAKE, kernel
from native.textorder import STYLES, Writer, arrays, expected, written
from ptokit.engines.reference.engine import InterpretedKernel

X: Any = np.arange(256, dtype=np.float32).reshape(16, 16)


def flags(source: str, target: str, event: int = 0) -> str:
    ends = f"[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"
    return f"pto.set_flag{ends}\npto.wait_flag{ends}"


PUT = "pto.tstore ins(%u : !T) outs(%v : !V)"
GIVE = "pto.tfree(%down : !pto.pipe) {split = 0}"
SENT = f"{flags('MTE2', 'MTE3')}\n{PUSH}"
TAKEN = f"pto.tadd ins(%u, %u : !T, !T) outs(%u : !T)\n{flags('V', 'MTE3', 1)}\n{PUT}"
FREED = f"{flags('MTE3', 'V')}\n{GIVE}\npto.barrier <PIPE_ALL>"
CUBE = f"{POP}\n{flags('MTE1', 'MTE3')}\n{BACK}\n{flags('MTE3', 'MTE1')}\n{FREE}"
FIRST = kernel(f"{TAKE}\n{SENT}\n{TAKEN}\n{FREED}", CUBE)  # the pop stands above the push
LAST = kernel(f"{SENT}\n{TAKE}\n{TAKEN}\n{FREED}", CUBE)


def found(text: str, target: str, engine: str) -> Any:
    return pto.loads(text).run(X, target=target, engine=engine)["x"]


def test_a_push_below_a_pop_that_waits_goes_on(engine: str) -> None:
    for text in (FIRST, LAST):
        np.testing.assert_array_equal(found(text, "a5", engine), X + X)
        assert not any(d.is_error for d in pto.loads(text).races("a5"))
        assert not any(d.is_error for d in pto.loads(text).races("a5", x=X))


def test_a_pop_that_waits_is_machine_code() -> None:
    refused = AssertionError("the reference ran it")
    with patch.object(InterpretedKernel, "run", side_effect=refused):
        executable = pto.loads(FIRST).compile(target="a5", engine="native")
        for factor in (1, 3):
            np.testing.assert_array_equal(executable.run(factor * X)["x"], 2 * factor * X)


def test_cores_wait_as_a_whole_elsewhere(engine: str) -> None:
    np.testing.assert_array_equal(found(LAST, "a2a3", engine), X + X)
    with pytest.raises(pto.PtoError, match="an entry of") as caught:
        found(FIRST, "a2a3", engine)
    assert caught.value.diagnostics[0].slug == "deadlock"
    (problem,) = (d for d in pto.loads(FIRST).races("a2a3") if d.slug == "deadlock")
    assert problem.is_error


@every("seed", range(3))
def test_a_random_order_of_the_cores_changes_nothing(seed: int) -> None:
    got = pto.loads(FIRST).run(X, target="a5", schedule=f"random:{seed}")["x"]
    np.testing.assert_array_equal(got, X + X)


def test_a_program_without_flags_keeps_the_order_of_its_text(engine: str) -> None:
    """A compiler puts them in, and this is the order that it keeps."""
    text = kernel(f"{TAKE}\n{PUSH}\n{PUT}", f"{POP}\n{BACK}")
    with pytest.raises(pto.PtoError, match="waits forever"):
        found(text, "a5", engine)


def test_every_queue_that_waits_is_named() -> None:
    text = kernel(f"{TAKE}\n{SENT}\n{TAKEN}\n{FREED}", f"{POP}\n{FREE}")
    said = both(text, "a5")
    (awaited,) = (line for line in TAKEN.splitlines() if "wait_flag" in line)
    assert re.findall(r"^\s*\d+ \| +(.+)$", said, re.M) == [TAKE, awaited]
    assert "an entry of" in said
    assert "event 1 of V -> MTE3" in said


def test_the_scalar_unit_is_named_where_it_waits() -> None:
    """V waits for what MTE2 raises below, which is not issued."""
    early = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID7>]"
    text = kernel(f"{early}\n{TAKE}\n{early.replace('wait', 'set')}", POP)
    assert re.findall(r"^\s*\d+ \| +(.+)$", both(text, "a2a3"), re.M) == [POP, TAKE, early]


def both(text: str, target: str) -> str:
    """The deadlock that both engines find."""
    problem = outcomes.refused(text, {"x": X}, target=target)
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        assert outcomes.outcome(text, {"x": X}, target=target, engine="native") == problem.render()
    assert problem.slug == "deadlock"
    return problem.render()


def outcome(text: str, target: str, entries: int, engine: str) -> str:
    """What a run comes to."""
    try:
        got = pto.loads(text).run(target=target, engine=engine, **arrays(entries))
    except pto.PtoError as problem:
        return problem.diagnostics[0].render()
    for name, want in expected(entries).items():
        np.testing.assert_array_equal(got[name], want)
    return "right"


@pytest.mark.parametrize("seed", range(scaled(1)))
@pytest.mark.parametrize(("style", "target"), in_turn(STYLES, ["a2a3", "a5"]))
def test_a_check_finds_the_deadlocks_that_runs_have(style: str, target: str, seed: int) -> None:
    """On A2/A3 some of these texts end in one."""
    random = Random(f"{style} {target} {seed}")
    pops = ("MTE1", "V") if target == "a5" else ("MTE2", "MTE2")
    entries, iterations = random.choice([(1, 2), (2, 2), (2, 3)])
    shared = style not in ("views", "signals") and random.random() < 0.5
    writer = Writer(style, shared, entries, pops)
    text, every = written(writer, iterations, seed, anyhow=seed > 0), entries * iterations
    ran = outcome(text, target, every, "reference")
    with patch.object(InterpretedKernel, "run", side_effect=AssertionError("it was asked")):
        assert ran == outcome(text, target, every, "native")
    program = pto.loads(text)
    slugs = {d.slug for d in program.races(target) if d.is_error}
    assert ("deadlock" in ran) == bool(slugs & {"deadlock", "pipe-deadlock"})
    assert ran == "right" or "deadlock" in ran
    assert target == "a2a3" or ran == "right"
    if ran == "right":
        of_run = program.races(target, **arrays(every))
        assert {d.slug for d in of_run if d.is_error} == slugs


SEEDS = scaled(1)


def shown(text: str, found: Any, want: dict[str, Any]) -> None:
    for name, array in want.items():
        np.testing.assert_array_equal(found[name], array, err_msg=text)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(("style", "target"), in_turn(STYLES, ["cpu", "a2a3", "a5"]))
def test_lines_of_other_queues_may_stand_anywhere(style: str, target: str, seed: int) -> None:
    random = Random(f"{style} {target} {seed}")
    in_place = target == "a5"
    pops = ("MTE1", "V") if in_place else ("MTE2", "MTE2")
    entries, iterations = random.choice([(1, 3), (2, 2), (3, 2), (2, 4)])
    shared = style not in ("views", "signals") and random.random() < 0.5
    whole = target == "a2a3" or (style == "signals" and not in_place)
    writer = Writer(style, shared, entries, pops, whole=whole)
    want, given = expected(entries * iterations), arrays(entries * iterations)
    plain = written(writer, iterations, seed, anyhow=False)
    shown(plain, pto.loads(plain).run(target=target, **given), want)
    text = written(writer, iterations, seed, anyhow=True)
    shown(text, pto.loads(text).run(target=target, engine="reference", **given), want)
    by_reference = AssertionError("the reference ran it")
    with patch.object(InterpretedKernel, "run", side_effect=by_reference):
        shown(text, pto.loads(text).run(target=target, engine="native", **given), want)
