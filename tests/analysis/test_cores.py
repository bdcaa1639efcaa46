"""Functions as a whole: kinds of cores and sections, levels, entries, calls of what has no body."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every
from ptokit.analysis.legality import Outcome

VEC = "!pto.tile_buf<vec, 16x32xf32>"
LEFT = "!pto.tile_buf<left, 16x32xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 32x32xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
L1 = "!pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>"
PART = "!pto.partition_tensor_view<16x32xf32>"
CUBE = f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%c : {ACC})\n"
VECTOR = f"pto.texp ins(%t : {VEC}) outs(%t : {VEC})\n"
TO_L1 = f"pto.tload ins(%p : {PART}) outs(%m : {L1})\n"
TO_UB = f"pto.tload ins(%p : {PART}) outs(%t : {VEC})\n"
FROM_UB = f"pto.tstore ins(%t : {VEC}) outs(%p : {PART})\n"
FROM_ACC = f"pto.tstore ins(%c : {ACC}) outs(%p : {PART})\n"
SCALAR = "%seven = arith.constant 7 : i32\n"
ARGS = f"%l: {LEFT}, %r: {RIGHT}, %c: {ACC}, %t: {VEC}, %m: {L1}, %p: {PART}, %n: index, %b: i1"
CHIPS = ("a2a3", "a5")


def func(body: str, attributes: str = "") -> str:
    return f"func.func @k({ARGS}) {attributes}{{\n{body}return\n}}\n"


def kind(word: str) -> str:
    return f"attributes {{pto.kernel_kind = #pto.kernel_kind<{word}>}} "


def section(word: str, body: str) -> str:
    return f"pto.section.{word} {{\n{body}}}\n"


def loop(body: str) -> str:
    return f"scf.for %i = %n to %n step %n {{\n{body}}}\n"


def slugs(text: str, target: str, level: int | None = None) -> list[str]:
    return [d.slug for d in pto.loads(text).check(target, level=level)]


RIGHTLY = [
    func(CUBE + VECTOR),  # each at the top has a section of its own
    func(CUBE + TO_L1 + FROM_ACC + SCALAR, kind("cube")),
    func(VECTOR + TO_UB + FROM_UB + SCALAR, kind("vector")),
    func(loop(CUBE) + loop(VECTOR)),
    func(loop(section("cube", CUBE) + section("vector", VECTOR))),
    func(section("cube", loop(CUBE)) + VECTOR),
    f"module {kind('cube')}{{\n{func(CUBE)}}}\n",
    f"module {kind('cube')}{{\n{func(VECTOR, kind('vector'))}}}\n",
]
WRONGLY = [
    *(func(one, kind("vector")) for one in (CUBE, TO_L1, FROM_ACC, loop(CUBE))),
    *(func(one, kind("cube")) for one in (VECTOR, TO_UB, FROM_UB, section("vector", VECTOR))),
    f"module {kind('cube')}{{\n{func(VECTOR)}}}\n",
    func(section("vector", CUBE)),
    func(section("cube", loop(VECTOR))),
    func(loop(CUBE + VECTOR)),
    func(loop(section("cube", CUBE) + VECTOR)),
    func(f"scf.if %b {{\n{CUBE}}} else {{\n{VECTOR}}}\n"),
]


@every("text", RIGHTLY)
def test_each_core_runs_what_it_has_units_for(text: str) -> None:
    assert all(slugs(text, target) == [] for target in ("cpu", *CHIPS))


@every("text", WRONGLY)
def test_a_core_lacks_the_unit_of_the_other_kind(text: str) -> None:
    assert [slugs(text, target) for target in ("cpu", *CHIPS)] == [[], ["core"], ["core"]]


PLACED = f"%a0 = arith.constant 0 : i64\n%x = pto.alloc_tile addr = %a0 : {VEC}\n"
MOVED = f"%y = pto.tassign %x, %a0 : {VEC} -> {VEC}\n"
FREE = f"%f = pto.alloc_tile : {VEC}\n"
SUMS = "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"
SUM = f"pto.trowsum ins(%t : {VEC}) outs(%s : {SUMS})\n"
MADE = f"%a1 = arith.constant 8192 : i64\n%s = pto.alloc_tile addr = %a1 : {SUMS}\n"


def at_levels(body: str, target: str) -> list[list[str]]:
    return [slugs(func(body), target, level) for level in (None, 1, 2, 3)]


def test_what_is_for_both_kinds_is_told_how_it_is_split() -> None:
    (found,) = pto.loads(func(loop(CUBE + VECTOR))).check("a5")
    assert found.slug == "core"
    assert "opt --passes split" in str(found.help)
    assert "text(target=...)" in str(found.help)


@pytest.mark.parametrize("target", CHIPS)
def test_who_places_tiles_is_the_level(target: str) -> None:
    assert at_levels(FREE, target) == [[], [], [], ["level"]]
    assert at_levels(PLACED, target) == [[], ["level"], ["level"], []]
    assert at_levels(PLACED + MOVED, target) == [[], ["level"] * 2, ["level"] * 2, []]
    assert at_levels(PLACED + FREE, target) == [["level"]] * 4
    assert at_levels(PLACED + MOVED + FREE, "cpu") == [[]] * 4


@pytest.mark.parametrize("target", CHIPS)
def test_buffers_of_pipes_are_placed_as_tiles_are(target: str) -> None:
    where = 'pto.reserve_buffer {name = "f", size = 64, location = #pto.address_space<vec>'
    free, placed = (
        f"%fifo = {where}, auto = true}} -> i32\n",
        f"%fifo = {where}, auto = false, base = 0}} -> i32\n",
    )
    assert at_levels(free, target) == [[], [], [], ["level"]]
    assert at_levels(placed, target) == [[], ["level"], ["level"], []]
    assert at_levels(PLACED + free, target) == [["level"], ["level"], ["level"], ["level"]]


def test_at_level_3_scratch_that_the_target_needs_is_named() -> None:
    assert slugs(func(MADE + SUM), "a2a3") == ["level"]
    assert slugs(func(MADE + SUM), "a5") == []


@pytest.mark.parametrize("level", [0, 4])
def test_there_are_three_levels(level: int) -> None:
    with pytest.raises(ValueError, match="choose 1, 2 or 3"):
        pto.loads(func("")).check(level=level)


def test_an_entry_returns_nothing_and_has_a_body() -> None:
    entry = "attributes {pto.entry} "
    assert slugs(func("", entry), "cpu") == []
    returning = f"func.func @k(%n: index) -> index {entry}{{\nreturn %n : index\n}}\n"
    assert slugs(returning, "cpu") == ["entry"]


def test_what_a_function_without_body_does_is_left_to_the_run() -> None:
    """It may write the tile that it is given."""
    text = f"""\
func.func private @ext({VEC}) -> index
func.func @k() {{
  %t = pto.alloc_tile : {VEC}
  %y = func.call @ext(%t) : ({VEC}) -> index
  {VECTOR}  return
}}
"""
    (verdict,) = pto.loads(text).verdicts("a5")
    assert (verdict.word, verdict.diagnostics) == (Outcome.UNDECIDED, ())
    assert "@ext has no body" in verdict.reason
    with pytest.raises(pto.PtoError, match="no-such-function"):
        pto.loads(text).run()
