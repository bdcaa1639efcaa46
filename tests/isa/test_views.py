"""Windows of a tile that keep its strides: the assembler's `subset` and newer `subview` forms."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.isa.model.globaltypes import GlobalType

TILE = "!pto.tile_buf<vec, 32x32xf32>"
PART = "!pto.tile_buf<vec, 16x8xf32>"


def source() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.arange(1024, dtype=np.float32).reshape(32, 32)


def test_a_window_of_boxes_keeps_the_layout() -> None:
    nz = "!pto.tile_buf<vec, 64x64xf16, blayout=col_major, slayout=row_major>"
    part = nz.replace("64x64", "32x32")
    text = f"%part = pto.subset %src[16, 32] sizes [32, 32] : {nz} -> {part}\n"
    data = np.arange(4096).reshape(64, 64).astype(np.float16)
    assert np.array_equal(pto.loads(text).run(src=data)["part"], data[16:48, 32:64])
    inside = pto.loads(text.replace("[16, 32] s", "[8, 32] s"))
    for engine in ("reference", "native"):
        assert np.array_equal(inside.run(engine=engine, src=data)["part"], data[8:40, 32:64])
    for at, slug in (("[16, 8] s", "offset-misaligned"), ("[48, 32] s", "window-out-of-bounds")):
        with pytest.raises(pto.PtoError) as problem:
            pto.loads(text.replace("[16, 32] s", at)).run(src=data)
        assert problem.value.diagnostics[0].slug == slug


def test_tiles_at_overlapping_addresses_alias() -> None:
    with pto.target("a2a3"):
        words, rows = pto.tile("vec", "f32", 4, 32), pto.tile("vec", "i32", 2, 32)
        pto.tassign(words, 0x1000)
        pto.tassign(rows, 0x1000 + 2 * 128)
        source = pto.tile("vec", "f32", 4, 32, data=np.arange(128).reshape(4, 32))
        other = pto.tile("vec", "f32", 4, 32)
        pto.tmov(other, words)
        assert not other.written().any()
        pto.tmov(words, source)
        assert np.array_equal(rows.numpy(), source.numpy()[2:].view(np.int32))


@every(
    ("loc", "address", "slug"),
    [
        ("scale_left", 0, "memory-missing"),  # SA-0351
        ("vec", 192 * 1024, "address-out-of-range"),  # SA-0353
        ("vec", 100, "address-misaligned"),  # SA-0354
        ("vec", -32, "address-out-of-range"),
        ("bias", 0, "address-out-of-range"),  # SA-0352
    ],
)
def test_an_address_must_suit_its_memory(loc: str, address: int, slug: str) -> None:
    with pto.target("a2a3"):
        tile = pto.tile(loc, "i8", 64, 64)
        with pytest.raises(pto.PtoError) as problem:
            pto.tassign(tile, address)
    assert problem.value.diagnostics[0].slug == slug


ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])


@ENGINES
@pytest.mark.parametrize("looped", [False, True])
def test_a_view_of_a_window_has_the_strides_of_its_tile(engine: str, *, looped: bool) -> None:
    """Of a window at [8, 16], a view from its row 4 and column 2 on, read and written."""
    view = PART.replace(">", ", valid=12x6>")
    body = [
        f"pto.subview ins(%part, %four, %two : {PART}, index, index) outs(%view : {view})",
        f"pto.tmov ins(%view : {view}) outs(%seen : {view})",
        f"pto.tmov ins(%new : {view}) outs(%view : {view})",
    ]
    if looped:
        body = ["scf.for %i = %zero to %one step %one {", *body, "}"]
    text = "\n".join(
        (
            f"func.func @f(%src: {TILE}, %new: {view}, %seen: {view}) {{",
            *(f"%{n} = arith.constant {v} : index" for n, v in NUMBERS),
            f"%part = pto.subset %src[8, 16] sizes [16, 8] : {TILE} -> {PART}",
            f"%view = pto.alloc_tile : {view}",
            *body,
            "return\n}\n",
        )
    )
    new = np.full((12, 6), -1, np.float32)
    found = pto.loads(text).run(src=source(), new=new, engine=engine)
    assert np.array_equal(found["seen"][:12, :6], source()[12:24, 18:24])
    expected = source()
    expected[12:24, 18:24] = -1
    assert np.array_equal(found["src"], expected)


NUMBERS = {"zero": 0, "one": 1, "two": 2, "four": 4}.items()


def test_blocks_are_gathered_into_rows_only() -> None:
    """In a boxed tile the bytes of a row do not lie together: they would be written elsewhere."""
    dst = pto.tile("vec", "u8", 32, 64, layout="zz")
    src = pto.tile("vec", "u8", 16, 64, data=np.zeros((16, 64), np.uint8))
    offsets = pto.tile("vec", "u32", 32, 8, data=np.zeros((32, 8), np.uint32))
    with pto.target("cpu"), pytest.raises(pto.PtoError, match="layout"):
        pto.tgatherb(dst, src, offsets)


@every(
    ("given", "valid", "legal"),
    [("", "16x8", True), ("", "12x8", True), ("", "?x8", False), (" valid [12, 8]", "12x8", True)],
)
def test_a_window_says_what_is_valid_of_it(given: str, valid: str, legal: bool) -> None:
    """Without `valid [..]` its type does; on cpu it may be what its source has there."""
    part = PART.replace(">", f", valid={valid}>")
    text = f"%part = pto.subview %src[8, 16] sizes [16, 8]{given} : {TILE} -> {part}\n"
    for target, wrong in (("cpu", []), ("a5", [] if legal else ["dynamic-valid"])):
        assert [d.slug for d in pto.loads(text).check(target) if d.is_error] == wrong


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_older_windows_leave_open_what_their_tile_does(engine: str) -> None:
    """Their text has no type of the result; what is valid of it is what the tile has there."""
    tile = "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols={}, v_row=1, v_col=?>"
    whole, half = tile.format(32), tile.format(16)
    view, part = "!pto.tensor_view<1x24xf32>", "!pto.partition_tensor_view<1x24xf32>"
    program = pto.loads(
        f"""
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %from = pto.make_tensor_view %x, shape = [%c1, %n], strides = [%n, %c1] : {view}
  %to = pto.make_tensor_view %y, shape = [%c1, %n], strides = [%n, %c1] : {view}
  %in = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %n] : {view} -> {part}
  %out = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %n] : {view} -> {part}
  %all = pto.alloc_tile valid_col = %n : {whole}
  %left = pto.subset %all[%c0, %c0] sizes [1, 16] : {whole}
  %right = pto.subset %all[%c0, %c16] sizes [1, 16] : {whole}
  pto.tload ins(%in : {part}) outs(%all : {whole})
  pto.tneg ins(%left : {half}) outs(%left : {half})
  pto.tadds ins(%right, %one : {half}, f32) outs(%right : {half})
  pto.tstore ins(%all : {whole}) outs(%out : {part})
  return
}}
""".replace("%c16 =", "%one = arith.constant 1.0 : f32\n  %c16 =")
    )
    slugs = [(d.slug, d.is_error) for d in program.check("a2a3")]
    assert slugs == [("dynamic-valid", False)] * 2
    x = np.arange(24, dtype=np.float32)
    done = program.run(target="a2a3", engine=engine, x=x, y=np.zeros(24, np.float32), n=24)
    np.testing.assert_array_equal(done["y"], np.concatenate([-x[:16], x[16:] + 1]))


@every("engine", ["reference", "native"])
@every(("view", "part", "outer"), [("?x?", "1x1x1x16x8", 0), ("?x?x?x?x?", "16x8", 3)])
def test_a_partition_may_have_another_rank(view: str, part: str, outer: int, engine: str) -> None:
    """Its extents are the sizes; what its type says is then not compared."""
    shape, strides = ("".join(f"{n}, " for _ in range(outer)) for n in ("%one", "%all"))
    zeros = ", ".join(["%zero"] * (outer + 2))
    text = """\
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %cols = arith.constant 8 : index
  %rows = arith.constant 16 : index
  %all = arith.constant 128 : index
"""
    for name in "pq":
        text += f"""\
  %{name}v = pto.make_tensor_view %{name}, shape = [{shape}%rows, %cols], \
strides = [{strides}%cols, %one] : !pto.tensor_view<{view}xf32>
  %{name}p = pto.partition_view %{name}v, offsets = [{zeros}], sizes = [{shape}%rows, %cols] : \
!pto.tensor_view<{view}xf32> -> !pto.partition_tensor_view<{part}xf32>
"""
    text += f"""\
  %t = pto.alloc_tile : {PART}
  pto.tload ins(%pp : !pto.partition_tensor_view<{part}xf32>) outs(%t : {PART})
  pto.tstore ins(%t : {PART}) outs(%qp : !pto.partition_tensor_view<{part}xf32>)
  return
}}
"""
    program = pto.loads(text)
    assert program.check("all") == []
    given = np.arange(128, dtype=np.float32)
    assert (program.run(p=given, q=np.zeros_like(given), engine=engine)["q"] == given).all()


STATED = """\
func.func @f(%p: !pto.ptr<f16>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %v = pto.make_tensor_view %p, shape = [%c1, %c4, %c4, %c16, %c16],
    strides = [%c1024, %c1024, %c256, %c16, %c1] {attribute}
    : !pto.tensor_view<1x4x4x16x16xf16{type}>
  return
}}
"""


@every(
    ("attribute", "type", "refused"),
    [
        ("nz", "nz", False),
        ("nz", "", False),
        ("", "nz", False),
        ("nd", "nz", True),
        ("nz", "nd", True),
    ],
)
@every("target", ["cpu", "a2a3", "a5"])
def test_an_attribute_and_a_type_state_one_layout(
    attribute: str, type: str, refused: bool, target: str
) -> None:
    given = f"{{layout = #pto.layout<{attribute}>}}" if attribute else ""
    text = STATED.format(attribute=given, type=f", #pto.layout<{type}>" if type else "")
    found = [d for d in pto.loads(text).check(target) if d.is_error]
    assert [d.slug for d in found] == ["layout"] * refused
    assert all("layout == result.layout" in str(d) for d in found)


MEETING = """\
func.func @f(%p: !pto.ptr<f16>, %c: i1, %q: !pto.ptr<f16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c2048 = arith.constant 2048 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %v = scf.if %c -> (!pto.tensor_view<1x2x4x16x16xf16>) {
    %a = pto.make_tensor_view %p, shape = [%c1, %c2, %c4, %c16, %c16],
      strides = [%c2048, %c1024, %c256, %c16, %c1] {layout = #pto.layout<nz>}
      : !pto.tensor_view<1x2x4x16x16xf16>
    scf.yield %a : !pto.tensor_view<1x2x4x16x16xf16>
  } else {
    %b = pto.make_tensor_view %p, shape = [%c1, %c2, %c4, %c16, %c16],
      strides = [%c2048, %c1024, %c256, %c16, %c1] {layout = #pto.layout<nd>}
      : !pto.tensor_view<1x2x4x16x16xf16>
    scf.yield %b : !pto.tensor_view<1x2x4x16x16xf16>
  }
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0],
    sizes = [%c1, %c2, %c4, %c16, %c16]
    : !pto.tensor_view<1x2x4x16x16xf16> -> !pto.partition_tensor_view<1x2x4x16x16xf16>
  %t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f16, rows=64, cols=32, v_row=64, v_col=32,
    blayout=col_major, slayout=row_major, fractal=512, pad=0>
  pto.tload ins(%w : !pto.partition_tensor_view<1x2x4x16x16xf16>) outs(%t : !pto.tile_buf<loc=vec,
    dtype=f16, rows=64, cols=32, v_row=64, v_col=32, blayout=col_major, slayout=row_major,
    fractal=512, pad=0>)
  return
}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_views_of_two_layouts_may_meet_and_the_run_decides(engine: str) -> None:
    program = pto.loads(MEETING)
    assert not any(d.is_error for target in ("cpu", "a5") for d in program.check(target))
    p, q = np.zeros(2048, np.float16), np.zeros(2048, np.float16)
    program.run(p=p, c=1, q=q, target="a5", engine=engine)
    with pytest.raises(pto.PtoError) as caught:
        program.run(p=p, c=0, q=q, target="a5", engine=engine)
    assert caught.value.diagnostics[0].slug in ("layout", "shape")


@every(
    ("rows", "cols", "strides", "tile", "word"),
    [
        (1, 64, (64, 1), "1x64xf32", "legal"),
        (16, 1, (1, 1), "16x1xf32, dn", "legal"),
        (16, 1, (1, 1), "16x8xf32, valid=16x1", "legal"),
        (16, 1, (8, 1), "16x8xf32, valid=16x1", "legal"),
        (16, 1, (8, 1), "16x1xf32, dn", "refused"),
        (1, 8192, (8192, 1), "1x8192xf32", "legal"),  # its columns are no rows of 8192
    ],
)
def test_extents_of_one_leave_no_layout_to_the_run(
    rows: int, cols: int, strides: tuple[int, int], tile: str, word: str
) -> None:
    """A row or a column that is a line of memory lies as nd and as dn: both are known."""
    numbers = "".join(
        f"  %c{n} = arith.constant {n} : index\n" for n in sorted({rows, cols, *strides})
    )
    tile = tile.replace("dn", "blayout=col_major, slayout=none_box")
    view = f"!pto.tensor_view<{rows}x{cols}xf32>"
    text = (
        f"func.func @f(%p: !pto.ptr<f32>) {{\n{numbers}"
        f"  %v = pto.make_tensor_view %p, shape = [%c{rows}, %c{cols}], "
        f"strides = [%c{strides[0]}, %c{strides[1]}] : {view}\n"
        f"  %t = pto.alloc_tile : !pto.tile_buf<vec, {tile}>\n"
        f"  pto.tload ins(%v : {view}) outs(%t : !pto.tile_buf<vec, {tile}>)\n  return\n}}\n"
    )
    for verdict in pto.loads(text).verdicts("a2a3", "a5"):
        assert verdict.word.value == word, str(verdict)


PARTLY = """\
func.func @f(%x: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = pto.make_tensor_view %x, shape = [%n, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [{size}, {size}]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %t = pto.alloc_tile valid_row = {size} valid_col = {size}
    : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>)
    outs(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
  pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>,
    !pto.tile_buf<vec, 16x16xf32, valid=?x?>) outs(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
    outs(%p : !pto.partition_tensor_view<16x16xf32>)
  return
}}"""


@every("target", ["cpu", "a2a3", "a5"])
@every("engine", ["reference", "native"])
def test_a_part_is_as_large_as_its_operands_say_in_a_run(engine: str, target: str) -> None:
    """What is too large for the tile ends the run; a constant is compared before."""
    program = pto.loads(PARTLY.format(size="%n"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    assert (program.run(x=x, n=8, engine=engine, target=target)["x"] == 2 * x).all()
    with pytest.raises(pto.PtoError, match="valid_row"):
        program.run(x=np.zeros((17, 17), np.float32), n=17, engine=engine, target=target)
    found = pto.loads(PARTLY.format(size="%c8")).check(target)
    assert [d.rule for d in found if d.is_error] == ["sizes == result.static_extents"]


def test_a_view_of_six_extents_is_refused_like_any_other_mistake() -> None:
    ones = ", ".join(["%one"] * 6)
    text = (
        "func.func @f(%p: !pto.ptr<f16>) {\n%one = arith.constant 1 : index\n"
        f"%v = pto.make_tensor_view %p, shape = [{ones}], strides = [{ones}]"
        " : !pto.tensor_view<1x1x1x1x1x1xf16>\nreturn\n}"
    )
    assert {d.slug for d in pto.loads(text).check("all")} == {"shape"}


def test_a_view_may_have_lost_its_strides() -> None:
    """Mutated text has views with an empty list of strides."""
    kind = GlobalType(pto.f16, (1, 4), ())
    assert kind.flat
