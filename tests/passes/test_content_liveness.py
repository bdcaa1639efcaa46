"""Where tiles do not fit, one that an iteration overwrites before it is read lives in between."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from test_first_use import COLS, LARGE, ROWS, VIEW, allocated, load, looped, program, refused, store

import ptokit as pto
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes
from ptokit.tools.cli import main

HALF = LARGE.replace(">", ", valid=8x1536>")
COUNTS = "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n"
NUMBER = "%number = arith.constant 2.5 : f32"
PASSES = ("place", "synchronise")
SVG = "{http://www.w3.org/2000/svg}"


def expand(out: str, kind: str = LARGE) -> str:
    return f"pto.texpands ins(%number : f32) outs(%{out} : {kind})"


def reciprocal(out: str, source: str) -> str:
    """What hardware does not compute in place."""
    return f"pto.trecip ins(%{source} : {LARGE}) outs(%{out} : {LARGE})"


def first_time(*lines: str, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
    """In the first iteration these lines."""
    begin = ("%is_first = arith.cmpi eq, %i, %zero : index", "scf.if %is_first {")
    return (*begin, *lines, *(("} else {", *otherwise) if otherwise else ()), "}")


FILL = (load("a"),)
TURN = (reciprocal("b", "a"), store("b"))  # two of the three tiles that a memory does not take
LATER = (load("c"), reciprocal("d", "c"), store("d"))  # two others
SHARED = {
    "overwritten first": looped(*FILL, *TURN, *LATER),
    "overwritten last": (*FILL, *looped(*TURN, *LATER, *FILL)),
    "in a loop inside": looped("scf.for %j = %zero to %n step %one {", *FILL, *TURN, "}", *LATER),
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
            f"%e = pto.subview %a[%zero, %zero] sizes [8, 1536] : {LARGE} -> {HALF}",
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
        "scf.for %j = %zero to %n step %one {", *FILL, "}", *TURN, *LATER
    ),
    "before others": (*FILL, *looped(*TURN, *FILL, *LATER)),
}


def source(lines: tuple[str, ...]) -> pto.Program:
    return program(NUMBER, *allocated("abcd"), *lines)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("case", SHARED)
def test_tiles_that_are_overwritten_are_not_loop_carried(case: str, engine: str) -> None:
    made = source(SHARED[case])
    assert not refused(made)
    x = np.random.default_rng(1).random((ROWS, COLS), np.float32)
    results: list[np.ndarray] = []
    for target in ("a2a3", "cpu"):
        done = made.run(x=x, y=np.zeros_like(x), n=3, target=target, engine=engine)
        results.append(done["y"])
    assert results[0].any()
    assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize("case", KEPT)
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
    head = f"func.func @f(%x: {upper}, %y: {upper}, %n: index) {{\n{COUNTS}"
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
