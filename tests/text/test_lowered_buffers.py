"""Casts, parts, elements and ends of memrefs: lowered text is judged, and runs if it can."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from readback import reads_back, refused

import ptokit as pto
from every import every

ANY, SOME = (f"memref<{n}xf32, #pto.address_space<gm>>" for n in ("?", "1024"))
CAST = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<gm>>"
LOCAL = "memref<16x32xf32, #pto.address_space<vec>>"
LOWERED = f"""\
func.func @f(%x: {ANY}, %y: {SOME}, %n: index) {{
  %c32 = arith.constant 32 : index
  %v = memref.reinterpret_cast %x to offset: [64], sizes: [16, 32], strides: [%c32, 1]\
 : {ANY} to {CAST}
  %w = memref.reinterpret_cast %y to offset: [%n], sizes: [16, 32], strides: [32, 1]\
 : {SOME} to {CAST}
  %a = memref.alloc() : {LOCAL}
  pto.tload ins(%v : {CAST}) outs(%a : {LOCAL})
  %e = memref.load %a[%n, %n] : {LOCAL}
  memref.store %e, %a[%n, 0] : {LOCAL}
  pto.tstore ins(%a : {LOCAL}) outs(%w : {CAST})
  %g = memref.load %y[%n] : {SOME}
  memref.store %g, %y[%c32] : {SOME}
  memref.dealloc %a : {LOCAL}
  return
}}
"""


def found(text: str, *old_and_new: str) -> set[tuple[str, bool]]:
    """What check finds after replacements, and whether it is an error."""
    for old, new in zip(old_and_new[::2], old_and_new[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return {(d.slug, d.is_error) for d in pto.loads(text).check("a5")}


def test_lowered_text_is_judged_and_stays() -> None:
    assert found(LOWERED) == set()
    assert reads_back(LOWERED)
    printed = pto.loads(LOWERED).text("dps")
    for line in ("to offset: [64], sizes: [16, 32], strides: [%c32, 1] :", f"dealloc %a : {LOCAL}"):
        assert line in printed


def test_lowered_text_runs(engine: str) -> None:
    x = np.arange(1024, dtype=np.float32)
    out = pto.loads(LOWERED).run(x=x, y=-x, n=5, engine=engine)["y"]
    rows = x[64:576].reshape(16, 32).copy()
    rows[5, 0] = rows[5, 5]
    wanted = -x
    wanted[5:517] = rows.ravel()
    wanted[32] = wanted[5]
    assert np.array_equal(out, wanted)


def test_a_cast_past_the_end_ends_the_run(engine: str) -> None:
    x = np.zeros(1024, np.float32)
    with pytest.raises(pto.PtoError, match="exceeds %x"):
        pto.loads(LOWERED).run(x=x[:575], y=x, n=5, engine=engine)


@every(
    ("old", "new", "slug"),
    [
        ("sizes: [16, 32], strides: [32", "sizes: [17, 32], strides: [32", "shape"),
        ("strides: [32, 1]", "strides: [33, 1]", "shape"),
        ("offset: [64]", "offset: [-64]", "operand-value"),
        (f": {ANY} to", f": {ANY} to".replace("f32", "f16"), "element-type"),
        ("%y[%c32]", "%y[1024]", "window-out-of-bounds"),
        ("%a[%n, 0]", "%a[16, 0]", "window-out-of-bounds"),
        ("%a[%n, 0]", "%a[15, 32]", "window-out-of-bounds"),
        ("%a[%n, 0]", "%a[-1, 0]", "operand-value"),
    ],
)
def test_wrong_numbers_are_errors(old: str, new: str, slug: str) -> None:
    more = (f"%x: {ANY}", f"%x: {ANY}".replace("f32", "f16")) if slug == "element-type" else ()
    assert (slug, True) in found(LOWERED, old, new, *more)


def test_a_cast_that_reaches_further_is_a_warning() -> None:
    assert found(LOWERED, "offset: [%n]", "offset: [513]") == {("global-out-of-bounds", False)}


AGAIN = "%z = memref.reinterpret_cast %v to offset: [0], sizes: [16, 32], strides: [32, 1]"


def test_other_ranks_are_kept() -> None:
    assert found(LOWERED, "%a[%n, 0]", "%a[0, %n, 0]") == {("foreign-op", False)}


@pytest.mark.parametrize("offset", [0, 96])
def test_casts_of_casts_count_from_the_start_of_the_array(offset: int, engine: str) -> None:
    again = f"{AGAIN.replace('[0]', f'[{offset}]')} : {CAST} to {CAST}\n  %a = "
    text = LOWERED.replace("%a = ", again).replace("ins(%v : ", "ins(%z : ")
    assert found(text) == set()
    assert reads_back(text)
    x = np.arange(1024, dtype=np.float32)
    out = pto.loads(text).run(x=x, y=-x, n=5, engine=engine)["y"]
    assert np.array_equal(out[6:32], x[offset + 1 : offset + 27])


OPEN = "memref<?x32xf32, strided<[?, 1], offset: ?>, #pto.address_space<gm>>"
ROWS = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
CASTS = LOWERED.replace("%e = ", f"%b = memref.cast %a : {LOCAL} to {ROWS}\n  %e = ").replace(
    "%a = ", f"%o = memref.cast %v : {CAST} to {OPEN}\n  %a = "
)


def test_casts_change_nothing(engine: str) -> None:
    text = CASTS.replace(f"ins(%v : {CAST}", f"ins(%o : {OPEN}")
    text = text.replace(f"ins(%a : {LOCAL}", f"ins(%b : {ROWS}")
    assert {d for d in found(text) if d[1] or d[0] == "foreign-op"} == set()
    assert reads_back(text)
    x = np.arange(1024, dtype=np.float32)
    given: dict[str, Any] = {"x": x, "y": -x, "n": 5}
    wanted = pto.loads(LOWERED).run(**given, engine="reference")["y"]
    assert np.array_equal(pto.loads(text).run(**given, engine=engine)["y"], wanted)


@every(
    ("old", "new", "slug"),
    [
        ("to memref<?x32xf32", "to memref<?x31xf32", "shape"),
        ("to memref<?x32xf32", "to memref<?x32xf16", "element-type"),
        ("strided<[?, 1], offset: ?>", "strided<[?, 2], offset: ?>", "shape"),
        (f"to {ROWS}", f"to {ROWS.replace('[32, 1]', '[64, 1]')}", "shape"),
        (f"to {ROWS}", f"to {ROWS.replace('16x32', '8x32')}", "shape"),
        (f"to {ROWS}", f"to {ROWS.replace('vec', 'mat')}", "location"),
    ],
)
def test_casts_that_would_change_something_are_errors(old: str, new: str, slug: str) -> None:
    assert (slug, True) in found(CASTS, old, new)


WHOLE = "memref<32x32xf32, #pto.address_space<vec>>"
WINDOW = "memref<16x16xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
PART = f"""\
func.func @f(%a: {WHOLE}, %i: index) {{
  %p = memref.subview %a[0, %i] [16, 16] [1, 1] : {WHOLE} to {WINDOW}
  return
}}
"""


@every(
    ("old", "new", "slug"),
    [
        ("[0, %i]", "[16, %i]", None),
        ("[0, %i]", "[17, %i]", "window-out-of-bounds"),
        ("[0, %i]", "[-1, %i]", "operand-value"),
        ("[1, 1]", "[2, 1]", "operand-value"),
        ("[16, 16]", "[16, 8]", "shape"),
        ("strided<[32, 1]", "strided<[16, 1]", "shape"),
        ("to memref<16x16xf32", "to memref<16x16xf16", "element-type"),
        ("offset: ?>, #pto.address_space<vec", "offset: ?>, #pto.address_space<mat", "location"),
        ("[1, 1]", "[1]", "operand-count"),
    ],
)
def test_static_numbers_of_a_part_of_a_tile_are_judged(
    old: str, new: str, slug: str | None
) -> None:
    assert {slug for slug, is_error in found(PART, old, new) if is_error} == {slug} - {None}


INNER_PART = "memref<4x8xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
ALL, QUARTER = (f"!pto.partition_tensor_view<{n}x{n}xf32>" for n in (32, 16))
PARTS = f"""\
func.func @f(%v: {ALL}, %w: {ALL}, %q: {QUARTER}, %i: index) {{
  %a = memref.alloc() : {WHOLE}
  pto.tload ins(%v : {ALL}) outs(%a : {WHOLE})
  %p = memref.subview %a[8, %i] [16, 16] [1, 1] : {WHOLE} to {WINDOW}
  %x = memref.load %p[1, 2] : {WINDOW}
  pto.tstore ins(%p : {WINDOW}) outs(%q : {QUARTER})
  pto.tadd ins(%p, %p : {WINDOW}, {WINDOW}) outs(%p : {WINDOW})
  %r = memref.subview %p[4, %i] [4, 8] [1, 1] : {WINDOW} to {INNER_PART}
  memref.store %x, %r[0, 0] : {INNER_PART}
  pto.tstore ins(%a : {WHOLE}) outs(%w : {ALL})
  return
}}
"""


CONFIG = "blayout=row_major, slayout=none_box, s_fractal_size=512, pad=0"
BIND = f"%b = pto.bind_tile %p {{config = #pto.tile_buf_config<{CONFIG}>}} : {WINDOW} -> {WINDOW}"
BOUND = PARTS.replace(f"pto.tstore ins(%p : {WINDOW})", f"{BIND}\n  pto.tstore ins(%b : {WINDOW})")


def test_parts_of_tiles_are_bound(engine: str) -> None:
    assert "foreign-op" not in {slug for slug, _ in found(BOUND)}
    v, zeros = np.arange(1024, dtype=np.float32).reshape(32, 32), np.zeros
    given: dict[str, Any] = {"v": v, "w": zeros((32, 32), "f4"), "q": zeros((16, 16), "f4"), "i": 8}
    assert np.array_equal(pto.loads(BOUND).run(**given, engine=engine)["q"], v[8:24, 8:24])


def test_parts_of_tiles_run(engine: str) -> None:
    assert {d for d in found(PARTS) if d[1] or d[0] == "foreign-op"} == set()
    assert reads_back(PARTS)
    v, zeros = np.arange(1024, dtype=np.float32).reshape(32, 32), np.zeros
    given: dict[str, Any] = {"v": v, "w": zeros((32, 32), "f4"), "q": zeros((16, 16), "f4"), "i": 8}
    out = pto.loads(PARTS).run(**given, engine=engine)
    assert np.array_equal(out["q"], v[8:24, 8:24])
    wanted = v.copy()
    wanted[8:24, 8:24] *= 2
    wanted[12, 16] = v[9, 10]
    assert np.array_equal(out["w"], wanted)


T = "memref<16x16xf32, #pto.address_space<vec>>"
V = "!pto.tensor_view<16x16xf32>"
END = f"memref.dealloc %a : {T}"
STORED = f"pto.tstore ins(%a : {T}) outs(%v : {V})"
ENDS = f"""\
func.func @f(%v: {V}, %x: {T}, %c: i1, %n: index) {{
  %a = memref.alloc() : {T}
  pto.tload ins(%v : {V}) outs(%a : {T})
LINES
  return
}}
"""
LOOP = "scf.for %i = %n to %n step %n {{\n{}\n{}\n}}"
INNER = f"%b = memref.alloc() : {T}"
BRANCH = "scf.if %c {{\n{}\n}} else {{\n{}\n}}"


@every(
    ("lines", "warned"),
    [
        ((STORED, END), 0),
        ((END, STORED), 1),
        ((END, END), 1),
        ((BRANCH.format(END, STORED),), 0),
        ((BRANCH.format(END, STORED), STORED), 1),
        ((BRANCH.format(END, END),), 0),
        ((f"%b = pto.bind_tile %a : {T} -> {T}", END.replace("%a", "%b"), STORED), 1),
        ((STORED, END.replace("%a", "%x")), 1),
        ((LOOP.format(STORED, END),), 1),
        ((LOOP.format(STORED, ""), END), 0),
        ((LOOP.format(INNER, END.replace("%a", "%b")), END), 0),
        ((LOOP.format(BRANCH.format(END, ""), ""),), 1),
    ],
)
def test_ends_of_buffers(lines: tuple[str, ...], warned: int) -> None:
    problems = pto.loads(ENDS.replace("LINES", "\n".join(lines))).check("a5")
    assert [(d.slug, d.is_error) for d in problems] == [("deallocation", False)] * warned


@pytest.mark.parametrize(("stated", "slugs"), [("nz", set[str]()), ("nd", {"layout"})])
def test_layouts_of_casts_and_parts(stated: str, slugs: set[str]) -> None:
    boxes = "memref<1x8x8x16x8xf32, strided<[8192, 1024, 128, 8, 1]>, #pto.address_space<gm>>"
    part = boxes.replace("1x8x8x", "1x4x8x")
    text = f"""\
func.func @f(%x: {ANY}) {{
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [1, 8, 8, 16, 8],\
 strides: [8192, 1024, 128, 8, 1] {{layout = #pto.layout<nz>}} : {ANY} to {boxes}
  %p = memref.subview %v[0, 0, 0, 0, 0] [1, 4, 8, 16, 8] [1, 1, 1, 1, 1]\
 {{layout = #pto.layout<{stated}>, pto.inferred_layout = false}} : {boxes} to {part}
  return
}}
"""
    program = pto.loads(text)
    assert {d.slug for d in program.check("a5")} == slugs
    assert reads_back(program.text("dps"))


@every("rank", [2, 6])
@every("target", ["cpu", "a2a3", "a5"])
def test_a_cast_with_fewer_strides_than_extents_is_refused(rank: int, target: str) -> None:
    ones, strides = ["1"] * rank, ", ".join(["1"] * (rank - 1))
    space = "#pto.address_space<gm>"
    text = f"""\
func.func @f(%x: memref<?xf16, {space}>) {{
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [{", ".join(ones)}], strides: [{strides}]
    : memref<?xf16, {space}> to memref<{"x".join(ones)}xf16, strided<[{strides}]>, {space}>
  return
}}"""
    assert "strides.count" in pto.loads(text).check(target)[0].render()


@every("offset", ["[]", "[8, 0]", "[%n, %n]"])
def test_an_offset_is_one_number(offset: str) -> None:
    """What says more or less is kept as written, and judged by nothing."""
    changed = found(LOWERED, "offset: [64]", f"offset: {offset}")
    assert ("foreign-op", False) in changed
    assert f"offset: {offset}" in pto.loads(
        LOWERED.replace("offset: [64]", f"offset: {offset}")
    ).text("dps")


@every("given", ["addr = [%s, %s]", "addr = []", "valid_row = [%n, %n]"])
def test_an_operand_with_a_keyword_is_one_value(given: str) -> None:
    tile = (
        "!pto.tile_buf<vec, 8x64xf32, valid=?x64>"
        if "row" in given
        else "!pto.tile_buf<vec, 8x64xf32>"
    )
    text = f"""
func.func @f(%s: i64, %n: index) {{
  %t = pto.alloc_tile {given} : {tile}
  return
}}
"""
    with pytest.raises(pto.PtoError, match="operand-count"):
        pto.loads(text)


FLAT = "!pto.partition_tensor_view<1x64xf32>"
ROW = "memref<64xf32, #pto.address_space<vec>>"
HALF_ROW = "memref<32xf32, strided<[1], offset: ?>, #pto.address_space<vec>>"
IN_ONE = f"""\
func.func @f(%x: {FLAT}, %y: {FLAT}, %i: index) {{
  %a = memref.alloc() : {ROW}
  pto.tload ins(%x : {FLAT}) outs(%a : {ROW})
  %p = memref.subview %a[%i] [32] [1] : {ROW} to {HALF_ROW}
  pto.tadd ins(%p, %p : {HALF_ROW}, {HALF_ROW}) outs(%p : {HALF_ROW})
  pto.tstore ins(%a : {ROW}) outs(%y : {FLAT})
  return
}}
"""


def test_a_buffer_of_one_dimension_has_parts(engine: str) -> None:
    assert found(IN_ONE) == set()
    assert reads_back(pto.loads(IN_ONE).text("dps"))
    x = np.arange(64, dtype=np.float32)[None]
    y = pto.loads(IN_ONE).run(x=x, y=0 * x, i=16, engine=engine)["y"]
    assert np.array_equal(y, np.where((x >= 16) & (x < 48), 2 * x, x))


@every(
    ("old", "new", "slug"),
    [
        ("[%i] [32]", "[40] [32]", "window-out-of-bounds"),
        ("[32] [1]", "[32] [2]", "operand-value"),
        ("[32] [1]", "[16] [1]", "shape"),
    ],
)
def test_wrong_parts_of_a_buffer_of_one_dimension(old: str, new: str, slug: str) -> None:
    assert (slug, True) in found(IN_ONE, old, new)


def test_a_part_has_the_dimensions_of_its_buffer() -> None:
    assert ("operand-count", True) in found(IN_ONE, "[32] [1]", "[32] []")
    assert "operand-count" in refused(IN_ONE.replace("[%i] [32]", "[%i, 0] [32]"))


CUBES = "memref<4x8x16xf32, #pto.address_space<vec>>"
SLAB = f"""\
func.func @f(%a: {CUBES}) {{
  %p = memref.subview %a[1, 0, 0] [2, 8, 16] [1, 1, 1] : {CUBES} to {CUBES.replace("4x", "2x")}
  return
}}
"""


def test_parts_in_more_than_two_dimensions_are_not_judged() -> None:
    assert found(SLAB) == {("foreign-op", False)}
    assert "[1, 0, 0] [2, 8, 16] [1, 1, 1]" in pto.loads(SLAB).text("dps")


UNCUT = "!pto.tile_buf<vec, 16x32xf32>"
IN_ROWS = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
CUT = "memref<2x8xf32, strided<[32, 1], offset: ?>, #pto.address_space<vec>>"
PASSED = f"""\
func.func @twice(%b: {IN_ROWS}, %n: index) {{
  %x = pto.load_scalar %b[%n] : {IN_ROWS} -> f32
  %d = arith.addf %x, %x : f32
  pto.store_scalar %d, %b[%n] : {IN_ROWS}, f32
  return
}}
func.func @main(%t: {UNCUT}, %n: index) attributes {{pto.entry}} {{
  %b = pto.tile_buf_addr %t : {UNCUT} -> {LOCAL}
  func.call @twice(%b, %n) : ({LOCAL}, index) -> ()
  %w = memref.subview %b[2, %n] [2, 8] [1, 1] : {LOCAL} to {CUT}
  %x = memref.load %w[1, 1] : {CUT}
  memref.store %x, %b[0, 0] : {LOCAL}
  return
}}
"""


def test_the_buffer_of_a_tile_is_text_that_stays() -> None:
    assert found(PASSED) == set()
    assert reads_back(PASSED)
    assert f" -> {LOCAL}\n" in pto.loads(PASSED).text("dps")


def test_the_buffer_of_a_tile_is_passed_to_functions(engine: str) -> None:
    t = np.arange(512, dtype=np.float32).reshape(16, 32)
    wanted = t.copy()
    wanted[0, 5] *= 2
    wanted[0, 0] = t[3, 6]
    out = pto.loads(PASSED).run(t=t, n=5, engine=engine)["t"]
    assert np.array_equal(out, wanted)


def test_elements_between_rows_are_none_of_a_window(engine: str) -> None:
    loaded = f"memref.load %w[1, 1] : {CUT}"
    text = PASSED.replace(loaded, f"pto.load_scalar %w[40] : {CUT} -> f32")
    with pytest.raises(pto.PtoError, match=r"offset % ptr.step"):
        pto.loads(text).run(t=np.zeros((16, 32), np.float32), n=5, engine=engine)


@every(
    ("old", "new", "slug"),
    [
        (f"-> {LOCAL}", f"-> {LOCAL}".replace("16x32", "32x16"), "shape"),
        (f"-> {LOCAL}", f"-> {IN_ROWS}".replace("[32", "[64"), "shape"),
        (f"-> {LOCAL}", f"-> {LOCAL}".replace("f32", "i32"), "element-type"),
        (f"-> {LOCAL}", f"-> {LOCAL}".replace("<vec>", "<mat>"), "location"),
        ("vec, 16x32xf32>", "vec, 16x32xf32, blayout=col_major, slayout=row_major>", "layout"),
    ],
)
def test_wrong_buffers_of_tiles_are_errors(old: str, new: str, slug: str) -> None:
    text = f"%t = pto.alloc_tile : {UNCUT}\n%b = pto.tile_buf_addr %t : {UNCUT} -> {LOCAL}\n"
    assert found(text) == set()
    assert (slug, True) in found(text, old, new)


@pytest.mark.parametrize(("at", "slug"), [("512", "window-out-of-bounds"), ("-1", "operand-value")])
def test_elements_outside_a_buffer_are_errors(at: str, slug: str) -> None:
    assert (slug, True) in found(PASSED, "%b[%n] :", f"%b[{at}] :")


BUFFER = "memref<8x32xf32, strided<[32, 1]>, #pto.address_space<vec>>"
CALLED = f"""\
func.func @main(%s: f32) {{
  %at = arith.constant 0 : i64
  %rows = arith.constant ROWS : index
  %cols = arith.constant 32 : index
  %m = pto.pointer_cast(%at) : {BUFFER}
  %b = pto.bind_tile %m, %rows, %cols {{config = #pto.tile_buf_config<blayout=0 : i32>}} : \
{BUFFER} -> {BUFFER}
  func.call @half(%b, %s) : ({BUFFER}, f32) -> ()
  return
}}
func.func private @half(%b: TAKEN, %s: f32) {{
  pto.tmuls ins(%b, %s : TAKEN, f32) outs(%b : TAKEN)
  return
}}
"""


@every(
    ("rows", "taken", "slugs"),
    [
        ("8", BUFFER, []),
        ("4", BUFFER, []),
        ("8", BUFFER.replace("8x32", "16x32"), ["type-mismatch"]),
        ("8", "!pto.tile_buf<vec, 8x32xf32>", ["type-mismatch"]),
    ],
)
def test_a_function_takes_a_memref_whatever_is_valid_of_it(
    rows: str, taken: str, slugs: list[str]
) -> None:
    program = pto.loads(CALLED.replace("ROWS", rows).replace("TAKEN", taken))
    assert [d.slug for d in program.check("a5", level=3) if d.is_error] == slugs
    printed = pto.loads(program.text("dps"))
    assert [d.slug for d in printed.check("a5", level=3) if d.is_error] == slugs


def test_a_result_of_a_type_that_nobody_reads_leaves_its_rules_open(engine: str) -> None:
    """Text of other tools names memories that no target has: the run goes on without them."""
    tile = "!pto.tile_buf<vec, 16x32xf32>"
    text = f"""\
func.func @f() {{
  %t = pto.alloc_tile : {tile}
  %m = pto.tile_buf_addr %t : {tile} -> memref<16x32xf32, #pto.address_space<far>>
  return
}}
"""
    assert pto.loads(text).run(engine=engine) == {}
