"""Where tiles do not fit they take memory from their first use on, not where they are made."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

LARGE, VIEW = "!pto.tile_buf<vec, 16x1536xf32>", "!pto.partition_tensor_view<16x1536xf32>"  # half
ROWS, COLS = 16, 1536


def allocated(names: str) -> list[str]:
    return [f"%{name} = pto.alloc_tile : {LARGE}" for name in names]


def load(name: str) -> str:
    return f"pto.tload ins(%x : {VIEW}) outs(%{name} : {LARGE})"


def store(name: str) -> str:
    return f"pto.tstore ins(%{name} : {LARGE}) outs(%y : {VIEW})"


def add(out: str, one: str, other: str) -> str:
    return f"pto.tadd ins(%{one}, %{other} : {LARGE}, {LARGE}) outs(%{out} : {LARGE})"


def program(*lines: str) -> pto.Program:
    text = (
        f"func.func @f(%x: {VIEW}, %y: {VIEW}, %n: index) {{",
        "%zero = arith.constant 0 : index",
        "%one = arith.constant 1 : index",
        *lines,
        "return",
        "}",
    )
    return pto.loads("\n".join(text))


def looped(*lines: str) -> tuple[str, ...]:
    return "scf.for %i = %zero to %n step %one {", *lines, "}"


def refused(source: pto.Program) -> set[str]:
    return {d.slug for d in source.check("a2a3") if d.is_error}


IN_TURN = (
    load("a"),
    add("b", "a", "a"),
    store("b"),
    load("c"),
    add("a", "c", "c"),
    store("a"),
)
CASES = {
    "one after another": (*IN_TURN[:3], load("c"), store("c")),
    "a window of it": (
        *IN_TURN[:3],
        f"%w = pto.subview %c[%zero, %zero] sizes [16, 1536] : {LARGE} -> {LARGE}",
        load("w"),
        store("c"),
    ),
    "before a loop and in it": (*IN_TURN[:3], *looped(load("c"), add("c", "c", "c"), store("c"))),
    "in a loop and after it": (*looped(*IN_TURN[:3]), load("c"), store("c")),
}
TOGETHER = {
    "used again": (load("a"), load("b"), load("c"), add("a", "a", "b"), add("a", "a", "c")),
    "used again in a loop": (
        load("a"),
        *looped(load("b"), load("c"), store("b"), store("c"), store("a")),
    ),
    "in the next iteration": (
        load("a"),
        load("b"),
        *looped(store("b"), add("b", "a", "a"), load("c"), store("c")),
        store("a"),
    ),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("case", CASES)
def test_tiles_that_hold_something_in_turn_share_memory(case: str, engine: str) -> None:
    source = program(*allocated("abc"), *CASES[case])
    assert not refused(source)
    x = np.random.default_rng(1).random((ROWS, COLS), np.float32)
    results: list[np.ndarray] = []
    for target in ("a2a3", "cpu"):
        done = source.run(x=x, y=np.zeros_like(x), n=2, target=target, engine=engine)
        results.append(done["y"])
    assert results[0].any()
    assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize("case", TOGETHER)
def test_tiles_that_hold_something_together_do_not(case: str) -> None:
    source = program(*allocated("abc"), *TOGETHER[case])
    assert refused(source) == {"out-of-memory"}


def test_what_is_carried_round_a_loop_holds_something_all_the_time() -> None:
    source = program(
        *allocated("a"),
        load("a"),
        f"%r = scf.for %i = %zero to %n step %one iter_args(%h = %a) -> ({LARGE}) {{",
        *allocated("bc"),
        load("b"),
        store("h"),
        load("c"),
        f"scf.yield %c : {LARGE}",
        "}",
        store("r"),
    )
    assert "out-of-memory" in refused(source)
