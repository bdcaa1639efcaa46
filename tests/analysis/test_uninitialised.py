"""Reads before any write, where the types themselves are wrong: one message each, no trial."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every

LEFT = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"


@pytest.mark.parametrize("wide", ["64x256xf16, valid=64x999999999", "64x4294967296xf16"])
def test_a_tile_of_an_impossible_type_is_not_tried(wide: str) -> None:
    """Its memory could not be made, or its windows would leave it."""
    kind = f"!pto.tile_buf<mat, {wide}, blayout=col_major, slayout=row_major>"
    text = f"""\
func.func @f() {{
  %wide = pto.alloc_tile : {kind}
  %left = pto.alloc_tile : {LEFT}
  pto.textract ins(%wide, 0, 224 : {kind}, index, index) outs(%left : {LEFT})
  return
}}
"""
    found = pto.loads(text).check("all")
    assert {"tile-shape", "out-of-memory"} & {d.slug for d in found}


@every("form", ["dps", "ssa", "as", "cpp"])
@every("rows", [1_000_000_000, 4_294_967_296])
def test_a_tile_of_an_impossible_type_is_converted(rows: int, form: str) -> None:
    """Whether an instruction writes all of such a tile is not tried on memory of its size."""
    kind = f"!pto.tile_buf<vec, {rows}x32xf32>"
    small = "!pto.tile_buf<vec, 16x32xf32>"
    write = f"pto.texp ins(%x : {kind}) outs(%t : {kind})\n"
    assert pto.loads(f"%t = pto.alloc_tile : {kind}\n{write}{write}").text(form)
    partly = f"!pto.tile_buf<vec, {rows}x32xf32, valid=16x32>"
    assert pto.loads(f"pto.texp ins(%x : {partly}) outs(%s : {small})\n").text(form)


@every("stride", [-4_294_967_296, -1, 16, 4_294_967_296])
def test_a_view_may_have_any_strides(stride: int) -> None:
    """No memory of its size is made, and the tile is read before it is written."""
    tile, view = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tensor_view<?x?xf32>"
    text = f"""\
func.func @f(%p: !pto.ptr<f32>) {{
  %n = arith.constant 16 : index
  %stride = arith.constant {stride} : index
  %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%stride, %n] : {view}
  %t = pto.alloc_tile : {tile}
  pto.tstore ins(%t : {tile}) outs(%v : {view})
  return
}}
"""
    found = {d.slug for d in pto.loads(text).check("all")}
    negative = {"operand-value"} if stride < 0 else set[str]()
    shared = {"shape"} if stride != 1 << 32 else set[str]()  # two elements lie on one place
    assert found == {"uninitialised-read", "line-pitch", *negative, *shared}


def test_a_number_of_an_elided_type_is_not_folded() -> None:
    """The type of a cast's result says how it wraps."""
    text = "%a = arith.constant 7 : i32\n%b = arith.index_cast %a : i32 to dtype\n"
    assert {d.slug for d in pto.loads(text).check("all")} <= {"type-omitted"}


SUM = "pto.tadd ins(%a, %b : {T}, {T}) outs(%c : {T})".replace(
    "{T}", "!pto.tile_buf<vec, 8x64xf32>"
)
STORED = "pto.tstore ins(%c : !pto.tile_buf<vec, 8x64xf32>) outs(%v : !pto.tensor_view<8x64xf32>)"


def summed(*lines: str, args: str) -> pto.Program:
    tiles = (
        f"%{name} = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>"
        for name in "abc"
        if f"%{name}:" not in args
    )
    lines = (f"func.func @f({args}) {{", *tiles, *lines, "return", "}")
    return pto.loads("\n".join(lines))


LOADED = "pto.tload ins(%v : !pto.tensor_view<8x64xf32>) outs(%d : !pto.tile_buf<vec, 8x64xf32>)"
VIEW = "%v: !pto.tensor_view<8x64xf32>"
FILLED = f"{VIEW}, %a: !pto.tile_buf<vec, 8x64xf32>, %b: !pto.tile_buf<vec, 8x64xf32>"


def test_an_excerpt_is_undecided_and_computes_nothing() -> None:
    """X62: nothing writes its inputs, as in text that tests a compiler; a run stores 0."""
    program = summed(SUM, STORED, args=VIEW)
    verdicts = program.verdicts("all")
    assert {str(v.word.value) for v in verdicts} == {"undecided"}
    assert {(d.slug, d.is_error) for v in verdicts for d in v.diagnostics} == {
        ("uninitialised-read", False)
    }
    done = program.execute({"v": np.ones((8, 64), np.float32)})
    assert [w.slug for w in done.warnings] == ["undefined-store"]
    assert not done.outputs["v"].any()


def test_what_is_written_too_late_is_an_error() -> None:
    found = summed(STORED, SUM, args=FILLED).check("all")
    assert {(d.slug, d.is_error) for d in found} == {("uninitialised-read", True)}
    assert not summed(SUM, STORED, args=FILLED).check("all")


def test_a_tile_that_is_only_changed_in_place_comes_from_elsewhere() -> None:
    """X62: but where another tile is filled, this one was forgotten."""
    grown = SUM.replace("outs(%c", "outs(%a")
    found = summed(grown, args="").check("a5")
    assert {(d.slug, d.is_error) for d in found} == {("uninitialised-read", False)}
    found = summed(LOADED.replace("%d", "%b"), grown, args=VIEW).check("a5")
    assert {(d.slug, d.is_error) for d in found} == {("uninitialised-read", True)}


def test_another_tile_at_the_same_address_fills_no_input() -> None:
    """X62: at level 3 bytes are used again; that does not make what was read first a mistake."""
    tile = "!pto.tile_buf<vec, 8x64xf32>"
    later = tuple(f"%{n} = pto.alloc_tile addr = %{n}_at : {tile}" for n in "abcd")
    at = tuple(
        f"%{name}_at = arith.constant {start} : i64"
        for name, start in {"a": 0, "b": 2048, "c": 4096, "d": 2048}.items()
    )
    lines = (f"func.func @f({VIEW}) {{", *at, *later, SUM, LOADED, "return", "}")
    found = pto.loads("\n".join(lines)).check("a5")
    assert {(d.slug, d.is_error) for d in found} == {("uninitialised-read", False)}


LOOP = """\
func.func @f(%x: !pto.tile_buf<vec, 16x32xf32>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  %u = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  FIRST
  scf.for %i = %c0 to END step %c1 {
    pto.texp ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%u : !pto.tile_buf<vec, 16x32xf32>)
    LAST
  }
  AFTER
  return
}
"""
READ = "pto.texp ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%u : !pto.tile_buf<vec, 16x32xf32>)"
FILL = "pto.texp ins(%x : !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)"


@every(
    ("lines", "errors"),
    [
        ({"END": "%n"}, [False]),
        ({"END": "%n", "LAST": FILL}, [False]),
        ({"END": "%c1", "LAST": FILL}, [True]),
        ({"END": "%c0", "LAST": FILL}, []),
        ({"END": "%n", "FIRST": FILL}, []),
        ({"END": "%n", "FIRST": f"scf.if %b {{ {FILL} }}"}, []),
        ({"END": "%n", "LAST": FILL, "FIRST": "scf.if %b {", "AFTER": "}"}, []),
        ({"END": "%n", "LAST": f"{FILL} }} scf.if %b {{", "AFTER": READ}, [False]),
        ({"END": "%c0", "AFTER": f"{READ} {FILL}"}, [True]),
    ],
)
def test_what_a_loop_reads_first_is_told_before_its_bound_is_known(
    lines: dict[str, str], errors: list[bool]
) -> None:
    text = LOOP
    for name in ("FIRST", "END", "LAST", "AFTER"):
        text = text.replace(name, lines.get(name, ""))
    found = pto.loads(text).check("a5")
    assert [d.is_error for d in found if d.slug == "uninitialised-read"] == errors
    assert not [d for d in found if d.is_error and d.slug != "uninitialised-read"]
