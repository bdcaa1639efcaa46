"""Programs whose tiles fit a memory only where they share its bytes: who may, and who may not.

They take memory from their first use on, not where they are made; one that an iteration overwrites
before it is read lives in between; an instruction writes its output over an input that ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes
from ptokit.tools.cli import main

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
        *lines,
        "return",
        "}",
    )
    return pto.loads("\n".join(text))


def looped(*lines: str) -> tuple[str, ...]:
    return "scf.for %i = 0 to %n step 1 {", *lines, "}"


def runs_where_it_fits(source: pto.Program, engine: str) -> None:
    """It fits, and gives what it gives where memory has room for all."""
    assert not refused(source)
    x = np.random.default_rng(1).random((ROWS, COLS), np.float32)
    given: dict[str, Any] = {"x": x, "y": np.zeros_like(x), "n": 3}
    small, large = (source.run(**given, target=t, engine=engine)["y"] for t in ("a2a3", "cpu"))
    assert small.any()
    assert np.array_equal(small, large)


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
        f"%w = pto.subview %c[0, 0] sizes [16, 1536] : {LARGE} -> {LARGE}",
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


@pytest.mark.parametrize("case", CASES)
def test_tiles_that_hold_something_in_turn_share_memory(case: str, engine: str) -> None:
    source = program(*allocated("abc"), *CASES[case])
    runs_where_it_fits(source, engine)


@every("case", TOGETHER)
def test_tiles_that_hold_something_together_do_not(case: str) -> None:
    source = program(*allocated("abc"), *TOGETHER[case])
    assert refused(source) == {"out-of-memory"}


def test_what_is_carried_round_a_loop_holds_something_all_the_time() -> None:
    source = program(
        *allocated("a"),
        load("a"),
        f"%r = scf.for %i = 0 to %n step 1 iter_args(%h = %a) -> ({LARGE}) {{",
        *allocated("bc"),
        load("b"),
        store("h"),
        load("c"),
        f"scf.yield %c : {LARGE}",
        "}",
        store("r"),
    )
    assert "out-of-memory" in refused(source)


HALF = LARGE.replace(">", ", valid=8x1536>")
NUMBER = "%number = arith.constant 2.5 : f32"
PASSES = ("place", "synchronise")
SVG = "{http://www.w3.org/2000/svg}"


def expand(out: str, kind: str = LARGE) -> str:
    return f"pto.texpands ins(%number : f32) outs(%{out} : {kind})"


def unary(word: str, out: str, source: str) -> str:
    return f"pto.{word} ins(%{source} : {LARGE}) outs(%{out} : {LARGE})"


def reciprocal(out: str, source: str) -> str:
    """What hardware does not compute in place."""
    return unary("trecip", out, source)


def first_time(*lines: str, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
    """In the first iteration these lines."""
    begin = ("%is_first = arith.cmpi eq, %i, 0 : index", "scf.if %is_first {")
    return (*begin, *lines, *(("} else {", *otherwise) if otherwise else ()), "}")


FILL = (load("a"),)
TURN = (reciprocal("b", "a"), store("b"))  # two of the three tiles that a memory does not take
LATER = (load("c"), reciprocal("d", "c"), store("d"))  # two others
SHARED = {
    "overwritten first": looped(*FILL, *TURN, *LATER),
    "overwritten last": (*FILL, *looped(*TURN, *LATER, *FILL)),
    "in a loop inside": looped("scf.for %j = 0 to %n step 1 {", *FILL, *TURN, "}", *LATER),
    "in both branches": looped(*first_time(*FILL, otherwise=(expand("a"),)), *TURN, *LATER),
    "by another handle": looped(
        f"%e = pto.treshape %a : {LARGE} -> {LARGE}", load("e"), *TURN, *LATER
    ),
    "again after the loop": (*looped(*FILL, *TURN, *LATER), *FILL, store("a")),
    "never read": looped(*FILL, *LATER, load("b")),
}
KEPT = {
    "in part": (
        *FILL,
        *looped(
            f"%e = pto.subview %a[0, 0] sizes [8, 1536] : {LARGE} -> {HALF}",
            expand("e", HALF),
            *TURN,
            *LATER,
        ),
    ),
    "in the valid region alone": (
        *FILL,
        f"%e = pto.treshape %a : {LARGE} -> {HALF}",
        *looped(expand("e", HALF), *TURN, *LATER),
    ),
    "in one branch": looped(*first_time(*FILL), *TURN, *LATER),
    "in a loop that may not run": looped(
        "scf.for %j = 0 to %n step 1 {", *FILL, "}", *TURN, *LATER
    ),
    "before others": (*FILL, *looped(*TURN, *FILL, *LATER)),
}


def source(lines: tuple[str, ...]) -> pto.Program:
    return program(NUMBER, *allocated("abcd"), *lines)


@pytest.mark.parametrize("case", SHARED)
def test_tiles_that_are_overwritten_are_not_loop_carried(case: str, engine: str) -> None:
    made = source(SHARED[case])
    runs_where_it_fits(made, engine)


@every("case", KEPT)
def test_what_is_not_overwritten_in_any_case_is_kept(case: str) -> None:
    assert "out-of-memory" in refused(source(KEPT[case]))


@pytest.mark.parametrize("case", SHARED)
def test_bytes_that_iterations_share_are_synchronised(case: str) -> None:
    """The next iteration may write them only when this one has read them."""
    module = source(SHARED[case]).module
    assert not Program(run_passes(module, PASSES, TARGETS["a2a3"])).races("a2a3")
    placed = Program(run_passes(module, PASSES[:1], TARGETS["a2a3"]))
    assert {d.slug for d in placed.races("a2a3")} == {"not-synchronised"}


def test_tiles_that_a_loop_takes_in_turn_keep_bytes_of_their_own() -> None:
    text = source(SHARED["overwritten first"]).text()
    marked = text.replace("pto.alloc_tile :", "pto.alloc_tile {ptokit.in_turn = true} :")
    assert refused(pto.loads(marked)) == {"out-of-memory"}


def test_a_valid_region_is_all_that_is_read() -> None:
    """What lies outside of it is nobody's: a write of the region is a write of all."""
    lines = (expand("a"), *TURN, *LATER)
    text = "\n".join([NUMBER, *allocated("abcd"), *looped(*lines)])
    upper = VIEW.replace("16x", "8x")
    head = f"func.func @f(%x: {upper}, %y: {upper}, %n: index) {{\n"
    smaller = pto.loads(f"{head}{text.replace(LARGE, HALF).replace(VIEW, upper)}\nreturn\n}}")
    assert not refused(smaller)


def boxes(picture: Path) -> list[list[float]]:
    tree = ElementTree.fromstring(picture.read_text(encoding="utf-8"))
    tiles = (r for r in tree.iter(f"{SVG}rect") if r.get("class") == "tile")
    return [[float(r.get(k, 0)) for k in ("x", "y", "width", "height")] for r in tiles]


def test_the_picture_shows_who_has_the_bytes_when(tmp_path: Path) -> None:
    """A tile that lives twice has two rectangles; none lies on another."""
    path = tmp_path / "memory.svg"
    text = source(SHARED["overwritten last"]).text()
    words = ["check", "-", "--target", "a2a3", "--memory", str(path)]
    CliRunner().invoke(main, words, input=text)
    drawn = boxes(path)
    assert len(drawn) == 5
    for n, (x, y, width, height) in enumerate(drawn):
        for u, v, wide, high in drawn[:n]:
            beside = x + width <= u + 0.2 or u + wide <= x + 0.2
            assert beside or y + height <= v + 0.2 or v + high <= y + 0.2


def test_who_lives_at_the_peak_is_said_of_the_instruction_there() -> None:
    (found,) = [d for d in source(KEPT["before others"]).check("a2a3") if d.is_error]
    assert found.seen == "3 tiles need 294912 bytes"
    assert [note.message.split(",")[0] for note in found.notes] == [
        "the peak is where pto.trecip writes %d",
        *("live here: %a", "live here: %c"),
    ]


A, B, C, D, E = allocated("abcde")
START = (A, load("a"), B, load("b"))  # both fill the memory
OVER = {
    "one of two": (*START, C, add("c", "a", "b"), store("c")),
    "one after another": (
        *START,
        *(
            C,
            add("c", "a", "b"),
            D,
            unary("texp", "d", "c"),
            E,
        ),
        *(add("e", "b", "d"), store("e")),
    ),
    "in a loop": (
        *START[:2],
        *("scf.for %i = 0 to %n step 1 {", C, load("c")),
        *(D, add("d", "a", "c"), store("d"), "}", store("a")),
    ),
}
APART = {
    "needed later": (
        *START,
        C,
        add("c", "a", "b"),
        store("a"),
        store("b"),
        store("c"),
    ),
    "of several steps": (
        *START,
        C,
        unary("trsqrt", "c", "a"),
        store("b"),
        store("c"),
    ),
    "kept apart by hardware": (*(*START, C, unary("trecip", "c", "a"), store("b"), store("c")),),
}


@pytest.mark.parametrize("case", OVER)
def test_an_output_takes_the_bytes_of_an_input_that_ends(case: str, engine: str) -> None:
    source = program(*OVER[case])
    runs_where_it_fits(source, engine)


@every("case", APART)
def test_others_have_bytes_of_their_own(case: str) -> None:
    assert refused(program(*APART[case])) == {"out-of-memory"}


@pytest.mark.parametrize("case", OVER | APART)
def test_the_form_of_a_program_does_not_change_what_fits(case: str) -> None:
    source = program(*(OVER | APART)[case])
    for form in ("ssa", "as", "dps"):
        assert refused(pto.loads(source.text(form))) == refused(source), form


@pytest.mark.parametrize("case", OVER)
def test_text_with_the_addresses_runs_the_same_and_is_synchronised(case: str) -> None:
    module = program(*OVER[case]).module
    placed = Program(run_passes(module, ("place", "synchronise"), TARGETS["a2a3"]))
    assert not placed.races("a2a3")
    x = np.random.default_rng(2).random((ROWS, COLS), np.float32)
    y = np.zeros_like(x)
    apart = Program(module).run(x=x, y=y, n=2)["y"]
    assert np.array_equal(placed.run(x=x, y=y, n=2, target="a2a3")["y"], apart)
