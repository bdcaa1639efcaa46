"""Programs and numbers on which the engines once differed: outputs and errors must be the same."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from every import every

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

NUMBERS = (0, 1, 2, 3, 4, 8, 16, 32)
CONSTANTS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in NUMBERS)
VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<?x?xf32>"


def tile(rows: int, cols: int, dtype: str = "f32", valid: str = "", extra: str = "") -> str:
    v_row, v_col = (valid or f"{rows}x{cols}").split("x")
    size = f"rows={rows}, cols={cols}, v_row={v_row}, v_col={v_col}"
    return f"!pto.tile_buf<loc=vec, dtype={dtype}, {size}{extra}>"


T = tile(8, 16)
LINE = tile(1, 8, "i32")
SQUARE, WHOLE = tile(8, 8), tile(8, 8, "i32")


def told(
    text: str, engine: str, arrays: dict[str, Any], target: str = "cpu"
) -> dict[str, Any] | str:
    """Outputs and counts, or the error."""
    try:
        done = pto.loads(text, "f.pto").execute(arrays, engine=engine, target=target)
    except pto.PtoError as problem:
        return str(problem)
    return {"counts": done.instructions, **{n: a.tolist() for n, a in done.outputs.items()}}


def body(arguments: str, lines: str) -> str:
    return f"func.func @f({arguments}) {{\n{CONSTANTS}{lines}\n  return\n}}\n"


def make(name: str, sizes: tuple[int, int], strides: tuple[int, int]) -> str:
    """A view of %g."""
    shape, steps = (", ".join(f"%c{n}" for n in pair) for pair in (sizes, strides))
    return f"  %{name} = pto.make_tensor_view %g, shape = [{shape}], strides = [{steps}] : {VIEW}\n"


def part(name: str, of: str, row: int, rows: int) -> str:
    sizes = f"offsets = [%c{row}, %c0], sizes = [%c{rows}, %c16]"
    return f"  %{name} = pto.partition_view %{of}, {sizes} : {VIEW} -> {PART}\n"


def either(first: str, second: str) -> str:
    """Loads of one view in the first iteration, of another in the others."""
    return f"""
  scf.for %k = %c0 to %c3 step %c1 {{
    %q = arith.cmpi eq, %k, %c0 : index
    %p = scf.if %q -> ({PART}) {{
      scf.yield %{first} : {PART}
    }} else {{
      scf.yield %{second} : {PART}
    }}
    pto.tload ins(%p : {PART}) outs(%out : {T})
  }}"""


def loop(lines: str, iterations: int = 1) -> str:
    return f"  scf.for %k = %c0 to %c{iterations} step %c1 {{\n{lines}\n  }}\n"


def aliased(iteration: int, after: str = "") -> str:
    """%out becomes a view of %b in one iteration of three."""
    return loop(
        f"""
    %q = arith.cmpi eq, %k, %c{iteration} : index
    scf.if %q {{
      pto.subview ins(%b, %c0, %c0 : {T}, index, index) outs(%out : {T})
    }}
{after}""",
        iterations=3,
    )


MAT = tile(24, 32, extra=", slayout=col_major").replace("loc=vec", "loc=mat")
LEFT = (
    "!pto.tile_buf<loc=left, dtype=f32, rows=32, cols=16, v_row={}, v_col={},"
    " blayout=col_major, slayout=row_major>"
)
ADD = f"    pto.tadd ins(%out, %a : {T}, {T}) outs(%out : {T})"
PADDED = tile(8, 8, valid="?x8", extra=", pad=1")
COUNTS = tile(8, 8, "i32", "?x?")
ROW = tile(8, 8, "i32", "1x8")
GATHER = f"outs(%dst, %n : {WHOLE}, {COUNTS}) {{cmpMode = #pto.cmp<gt>}}"
STORE = f"  pto.tstore ins(%x : {T}) outs(%p : {PART}) {{atomicType = #pto.atomic_type<add>}}"
ONES = {"x": np.ones((8, 16), np.float32), "g": np.zeros(256, np.float32)}
PLANES = {n: np.full((8, 16), v, np.float32) for v, n in enumerate(("out", "a", "b"))}
VIEWS = {"g": np.arange(512, dtype=np.float32), "out": np.zeros((8, 16), np.float32)}
POINTED = f"%g: !pto.ptr<f32>, %out: {T}"
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "a sum has its term twice": (
        body(
            f"%out: {LINE}",
            loop(
                f"""
    %d = arith.addi %k, %k : index
    %e = arith.subi %d, %k : index
    %i = arith.index_cast %e : index to i32
    pto.tadds ins(%out, %i : {LINE}, i32) outs(%out : {LINE})""",
                iterations=4,
            ),
        ),
        {"out": np.zeros((1, 8), np.int32)},
    ),
    "a result would be a view, had the branch been taken": (
        body(f"%a: {T}, %b: {T}, %out: {T}", aliased(4)),
        PLANES,
    ),
    "a tile that becomes a view in a loop is passed on": (
        f"""\
func.func @f(%a: {T}, %b: {T}, %out: {T}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%h = %a) -> ({T}) {{
    %w = pto.alloc_tile : {T}
    pto.treshape ins(%b : {T}) outs(%w : {T})
    scf.yield %w : {T}
  }}
  pto.trelu ins(%r : {T}) outs(%out : {T})
  return
}}
""",
        PLANES,
    ),
    "a tile is used after a branch made it a view": (
        body(f"%a: {T}, %b: {T}, %out: {T}", aliased(1, ADD)),
        PLANES,
    ),
    **{
        f"a part of a tile becomes a view in iteration {iteration} of 3": (
            body(
                f"%a: {T}, %b: {SQUARE}, %out: {SQUARE}",
                f"  %p = pto.subset %a[%c0, %c0] sizes [8, 8] : {T} -> {SQUARE}\n"
                + loop(
                    f"""
    %q = arith.cmpi eq, %k, %c{iteration} : index
    scf.if %q {{
      pto.subview ins(%b, %c0, %c0 : {SQUARE}, index, index) outs(%p : {SQUARE})
    }}
    pto.textract ins(%p, %c0, %c0 : {SQUARE}, index, index) outs(%out : {SQUARE})""",
                    iterations=3,
                ),
            ),
            {n: np.arange(64 * k, dtype=np.float32).reshape(8, -1) for k, n in ((2, "a"), (1, "b"))}
            | {"out": np.zeros((8, 8), np.float32)},
        )
        for iteration in (1, 4)
    },
    "rows begin anywhere, columns in the middle of a box": (
        body(
            f"%a: {MAT}, %out: {LEFT.format(32, 16)}",
            "  %c14 = arith.constant 14 : index\n"
            + loop(
                f"""
    %n = arith.addi %k, %c14 : index
    %d = pto.alloc_tile valid_col = %n : {LEFT.format(17, "?")}
    pto.subview ins(%out, %c0, %c0 : {LEFT.format(32, 16)}, index, index)
        outs(%d : {LEFT.format(17, "?")})
    pto.textract ins(%a, %k, %c16 : {MAT}, index, index) outs(%d : {LEFT.format(17, "?")})""",
                iterations=2,
            ),
        ),
        {
            "a": np.arange(24 * 32, dtype=np.float32).reshape(24, 32),
            "out": np.zeros((32, 16), np.float32),
        },
    ),
    "views of other strides come out of a branch": (
        body(
            POINTED,
            make("v", (16, 16), (16, 1))
            + make("w", (16, 16), (32, 1))
            + part("one", "v", 0, 8)
            + part("two", "w", 0, 8)
            + either("one", "two"),
        ),
        VIEWS,
    ),
    "views of other extents come out of a branch": (
        body(
            POINTED,
            make("v", (16, 16), (16, 1))
            + part("one", "v", 0, 8)
            + part("two", "v", 8, 4)
            + either("one", "two"),
        ),
        VIEWS,
    ),
    "only one way of a choice writes what is read": (
        body(
            f"%x: {SQUARE}, %y: {tile(8, 8, valid='8x1')}, %dst: {WHOLE}, %out: {ROW}",
            "  %at = arith.constant 65536 : i64\n"
            + loop(f"""
    %m = arith.addi %k, %c1 : index
    %n = pto.alloc_tile addr = %at valid_row = %c8 valid_col = %m : {COUNTS}
    pto.tgather ins(%x, %y, %c0 : {SQUARE}, {tile(8, 8, valid="8x1")}, index) {GATHER}""")
            + f"""
  %v = pto.alloc_tile addr = %at : {ROW}
  pto.tadd ins(%v, %v : {ROW}, {ROW}) outs(%out : {ROW})""",
        ),
        {
            "x": np.ones((8, 8), np.float32),
            "y": np.zeros((8, 1), np.float32),
            "dst": np.zeros((8, 8), np.int32),
            "out": np.zeros((1, 8), np.int32),
        },
    ),
    "an instruction without output writes nothing": (
        body(
            f"%x: {SQUARE}, %out: {SQUARE}",
            "  %at = arith.constant 65536 : i64\n"
            + loop(f"""
    %d = pto.alloc_tile addr = %at valid_row = %k : {PADDED}
    pto.tfillpad ins(%x : {SQUARE}) outs(%d : {PADDED})""")
            + f"""
  %v = pto.alloc_tile addr = %at : {SQUARE}
  pto.tadd ins(%v, %v : {SQUARE}, {SQUARE}) outs(%out : {SQUARE})""",
        ),
        {n: np.ones((8, 8), np.float32) for n in ("x", "out")},
    ),
    "elements of a view share a place": (
        body(
            f"%x: {T}, %g: !pto.ptr<f32>",
            make("v", (8, 16), (0, 1)) + part("p", "v", 0, 8) + STORE,
        ),
        ONES,
    ),
    "elements of a view share places as it turns out": (
        body(
            f"%x: {T}, %g: !pto.ptr<f32>",
            loop(
                f"""
    %s = arith.addi %k, %c8 : index
    %v = pto.make_tensor_view %g, shape = [%c8, %c16], strides = [%s, %c1] : {VIEW}
  {part("p", "v", 0, 8)}  {STORE}""",
                iterations=16,
            ),
        ),
        ONES,
    ),
}


ERRORS = {
    "views of other extents come out of a branch": "shape",
}


def computed(tile_: str, shape: str, strides: str, rank: int, lines: str) -> str:
    """A view whose numbers %d... only the running program knows; it states no layout."""
    many = "x".join("?" * rank)
    whole, piece = (f"!pto.{n}<{many}xf32>" for n in ("tensor_view", "partition_tensor_view"))
    known = "".join(f"    %d{n} = arith.addi %z, %c{n} : index\n" for n in (1, 2, 4, 8))
    offsets = ", ".join(["%z"] * rank)
    sizes = f"offsets = [{offsets}], sizes = [{shape}] : {whole} -> {piece}"
    return body(
        f"%a: {tile_}, %g: !pto.ptr<f32>",
        "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (64, 128, 256))
        + loop(
            f"""
    %z = arith.andi %k, %c0 : index
{known}
    %v = pto.make_tensor_view %g, shape = [{shape}], strides = [{strides}] : {whole}
    %p = pto.partition_view %v, {sizes}
    {lines.format(part=piece, tile=tile_)}"""
        ),
    )


LOADED = "pto.tload ins(%p : {part}) outs(%a : {tile})"
STORED = "pto.tstore ins(%a : {tile}) outs(%p : {part})"
FIVE = "%c1, %c1, %c2, %c4, %c8"
STEPS = "%c64, %c64, %c32, %d1, %d4"


@every(
    ("target", "size", "given"),
    [
        ("a2a3", (8, 16), ("%c8, %c16", "%d1, %d8", 2, LOADED)),
        ("a5", (8, 16), ("%c8, %c16", "%d1, %d8", 2, STORED)),
        ("cpu", (4, 16), (FIVE, STEPS, 5, LOADED)),
        ("cpu", (8, 8), (FIVE, STEPS, 5, LOADED)),
        ("cpu", (16, 16), ("%c1, %d2, %c1, %c16, %d8", "%c256, %c128, %c128, %c8, %d1", 5, LOADED)),
        ("cpu", (2, 32), ("%c1, %d1, %c2, %d1, %c32", "%c64, %c64, %c32, %c1, %d2", 5, STORED)),
    ],
)
def test_layouts_that_computed_strides_imply(
    target: str, size: tuple[int, int], given: tuple[str, str, int, str]
) -> None:
    """A view is nd, dn or nz by its numbers, also by those that come late."""
    text = computed(tile(*size), *given)
    fine = size in ((4, 16), (16, 16))
    arrays = {"a": np.zeros(size, np.float32), "g": np.arange(512, dtype=np.float32)}
    expected, got = (told(text, e, arrays, target) for e in ("reference", "native"))
    assert expected == got
    assert isinstance(got, dict) if fine else "error[layout]" in got or "error[shape]" in got


@every("name", PROGRAMS)
def test_the_engines_agree(name: str) -> None:
    text, arrays = PROGRAMS[name]
    expected, got = (told(text, engine, dict(arrays)) for engine in ("reference", "native"))
    assert expected == got
    slug = ERRORS.get(name)
    assert slug is None if isinstance(got, dict) else f"[{slug}]" in got


def offset(lines: str, store: bool) -> str:
    """A part of %g that begins at row %m, where the program has the numbers %k and %z = 0."""
    view = make("v", (32, 16), (16, 1)).replace("%v", "  %v", 1)
    sizes = f"offsets = [%m, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}"
    move = f"pto.tload ins(%p : {PART}) outs(%a : {T})"
    if store:
        move = f"pto.tstore ins(%a : {T}) outs(%p : {PART})"
    moved = f"{lines}\n    %p = pto.partition_view %v, {sizes}\n    {move}"
    return body(f"%a: {T}, %g: !pto.ptr<f32>", view + loop(moved))


@every("store", [False, True])
def test_a_view_begins_inside_its_array(store: bool, engine: str) -> None:
    """One offset is known when the program is checked, the other one only when it runs."""
    text = offset("    %m = arith.subi %k, %c1 : index", store)
    arrays = {"a": np.zeros((8, 16), np.float32), "g": np.zeros(512, np.float32)}
    found = told(text, engine, arrays)
    assert isinstance(found, str)
    assert "seen: offsets.least is -1" in found


BLOCKS = f"""
func.func @f(%g: !pto.ptr<f32>, %h: !pto.ptr<f32>) {{
  %block = pto.get_block_idx
  %k = arith.index_cast %block : i64 to index
PLACE
{CONSTANTS}  %r = arith.muli %k, %c8 : index
  %v = pto.make_tensor_view %g, shape = [512, %c16], strides = [%c16, %c1] : {VIEW}
  %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}
  %w = pto.make_tensor_view %h, shape = [512, %c16], strides = [%c16, %c1] : {VIEW}
  %q = pto.partition_view %w, offsets = [%o, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}
  %t = pto.alloc_tile : {T}
  pto.tload ins(%p : {PART}) outs(%t : {T})
  pto.tstore ins(%t : {T}) outs(%q : {PART})
  return
}}
"""


@pytest.mark.parametrize(
    "place",
    [
        "  %e = arith.constant 8 : index\n  %d = arith.divsi %k, %e : index\n"
        "  %o = arith.muli %d, %e : index",
        "  %e = arith.constant 8 : index\n  %n = arith.constant 1 : index\n"
        "  %d = arith.andi %k, %n : index\n  %o = arith.muli %d, %e : index",
    ],
)
def test_of_blocks_that_store_to_one_place_the_last_one_wins(place: str) -> None:
    text, blocks = BLOCKS.replace("PLACE", place), 31
    rows = np.repeat(np.arange(64, dtype=np.float32), 8)
    zeros = np.zeros((512, 16), np.float32)
    arrays: dict[str, Any] = {"g": rows[:, None] * np.ones_like(zeros), "h": zeros}
    program = pto.loads(text)
    expected, *several = (
        program.execute(arrays, engine=engine, blocks=blocks).outputs["h"]
        for engine in ("reference", *["native"] * 4)
    )
    for got in several:
        assert np.array_equal(got, expected)


def test_an_interrupt_ends_a_grid_whose_output_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptokit.engines.native.session import Worker

    original: Any = getattr(Worker, "_execute")  # noqa: B009
    calls: list[object] = []

    def interrupted(*given: object) -> None:
        """Once: whoever ran the grid again would not notice."""
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        original(*given)

    monkeypatch.setattr(Worker, "_execute", interrupted)
    text = BLOCKS.replace("PLACE", "").replace("[%o, %c0]", "[%r, %c0]")
    with pytest.raises(KeyboardInterrupt):
        pto.loads(text).run(engine="native", blocks=4, g=np.zeros((512, 16), np.float32))


INFINITY = float("inf")
# instruction, and operands without a result
INVALID = {
    "tsqrt": ((-1.0,), (-INFINITY,), (-1e-40,)),
    "trsqrt": ((-1.0,), (-INFINITY,)),
    "tlog": ((-1.0,), (-INFINITY,)),
    "tsub": ((INFINITY, INFINITY),),
    "tmul": ((INFINITY, 0.0), (0.0, -INFINITY)),
    "tdiv": ((0.0, 0.0), (-0.0, 0.0), (INFINITY, -INFINITY)),
    "tfmod": ((1.0, 0.0), (-1.0, 0.0), (INFINITY, 2.0), (-INFINITY, -2.0)),
    "trem": ((1.0, 0.0), (-1.0, 0.0), (-INFINITY, 2.0)),
    "tpow": ((-2.0, 0.5), (-0.1, 1.5)),
}


@every("cols", [1, 37])
@every("name", INVALID)
def test_no_result_is_the_positive_quiet_nan(name: str, cols: int, engine: str) -> None:
    tile = f"!pto.tile_buf<vec, 8x64xf32, valid=8x{cols}>"
    count = len(INVALID[name][0])
    names, types = ", ".join(["%x", "%y"][:count]), ", ".join([tile] * count)
    program = pto.loads(
        f"func.func @f(%x: {tile}, %y: {tile}, %z: {tile}) {{\n"
        f"  pto.{name} ins({names} : {types}) outs(%z : {tile})\n  return\n}}\n"
    )
    for operands in INVALID[name]:
        x, y = (np.full((8, cols), v, np.float32) for v in (*operands, 1.0)[:2])
        given = {"x": x, "y": y, "z": np.zeros_like(x)}
        found = np.asarray(program.execute(given, engine=engine).outputs["z"])
        assert set(found.view(np.uint32).ravel().tolist()) == {0x7FC00000}, operands


L0A = "!pto.tile_buf<left, 16x64xf8E4M3FN, valid=9x40, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x16xf8E4M3FN, valid=40x11, slayout=col_major>"
OF_LEFT = "!pto.tile_buf<scaleleft, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>"
OF_RIGHT = (
    "!pto.tile_buf<scaleright, 2x16xf8E8M0FNU, blayout=col_major, slayout=col_major, fractal=32>"
)
SUMS = (
    "!pto.tile_buf<acc, 16x16xf32, valid=9x11, blayout=col_major, slayout=row_major, fractal=1024>"
)
PRODUCT = f"""\
func.func @f(%c: {SUMS}, %a: {L0A}, %u: {OF_LEFT}, %b: {RIGHT}, %v: {OF_RIGHT}) {{
  pto.tmatmul.mx.acc ins(%c, %a, %u, %b, %v) outs(%c)
  return
}}
"""


@pytest.mark.parametrize("scales", [(100, 150), (0, 3), (252, 255), (126, 256)])
def test_both_engines_give_the_same_bytes(scales: tuple[int, int]) -> None:
    """Short factors; f32 denormals; what f32 cannot hold; NaN."""
    rng = np.random.default_rng(scales)
    codes = {"a": rng.integers(0, 256, (9, 40)), "b": rng.integers(0, 256, (40, 11))}
    given: dict[str, Any] = {  # Any: NumPy arrays
        n: (c % 127).astype(np.uint8).view(ml_dtypes.float8_e4m3fn) for n, c in codes.items()
    }
    for name, shape in (("u", (16, 2)), ("v", (2, 16))):
        drawn = rng.integers(*scales, shape).astype(np.uint8)
        given[name] = drawn.view(ml_dtypes.float8_e8m0fnu)
    given["c"] = rng.standard_normal((9, 11)).astype(np.float32)
    program = pto.loads(PRODUCT)
    both = [program.run(engine=engine, **given)["c"] for engine in ("reference", "native")]
    assert both[0].tobytes() == both[1].tobytes()
    assert np.isnan(both[0]).any() == (scales[1] > 255)
