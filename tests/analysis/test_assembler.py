"""What the public assembler takes and refuses, `check` takes and refuses for the same reason."""

from __future__ import annotations

from typing import TypeAlias

import ptokit as pto
from every import every


def tile(loc: str, shape: str, *words: str) -> str:
    return f"!pto.tile_buf<{', '.join((loc, shape, *words))}>"


BOXED = ("blayout=col_major", "slayout=row_major")
ACC = tile("acc", "16x32xf32", *BOXED, "fractal=1024")
MAT_I8, MAT_F32 = tile("mat", "16x32xi8", *BOXED), tile("mat", "16x32xf32", *BOXED)
VEC, VEC_I8 = tile("vec", "16x64xf32"), tile("vec", "16x64xi8")
ROW = tile("vec", "16x1xf32", "blayout=col_major")
PADDED, GROWN = tile("vec", "16x64xf32", "pad=1"), tile("vec", "32x64xf32", "pad=1")
BOX = tile("mat", "16x16xf16", *BOXED)
WIDE = tile("mat", "64x32xf16", *BOXED)
ZEROED = tile("mat", "16x16xf16", *BOXED, "pad=1")
MEMORY = "!pto.partition_tensor_view<1x1x1x16x32xf32>"


def program(args: dict[str, str], *lines: str) -> str:
    given = ", ".join(f"%{name}: {kind}" for name, kind in args.items())
    return "\n".join((f"func.func @f({given}) {{", *lines, "return", "}"))


def of(name: str, args: dict[str, str], more: str = "") -> str:
    """An instruction on its arguments, the last of which it writes."""
    *ins, out = args
    types = ", ".join(args[i] for i in ins)
    names = ", ".join(f"%{i}" for i in ins)
    return program(args, f"pto.{name} ins({names} : {types}) outs(%{out} : {args[out]}){more}")


def wrong(text: str, target: str) -> set[str]:
    """The slugs of what is wrong."""
    try:
        found = pto.loads(text).check(target, judge="assembler")
    except pto.PtoError as problem:
        found = problem.diagnostics
    return {d.slug for d in found if d.is_error}


Case: TypeAlias = tuple[str, tuple[str, ...], set[str]]


def require_slugs(text: str, targets: tuple[str, ...], slugs: set[str]) -> None:
    """These errors, and no others, on each of these targets."""
    for target in targets:
        assert wrong(text, target) == slugs, target


SUBVIEW = program(
    {"t": WIDE},
    "%zero = arith.constant 0 : index",
    "%step = arith.constant STEP : index",
    "scf.for %i = %zero to 32 step %step {",
    f"%w = pto.subview %t[ROW, COL] sizes [32, 16] : {WIDE} -> {tile('mat', '32x16xf16', *BOXED)}",
    "}",
)
VIEWS = program(
    {"p": "!pto.ptr<f16>"},
    "%n = arith.constant 16 : index",
    "%v = pto.make_tensor_view %p, shape = [SHAPE], strides = [STRIDES]",
    " : !pto.tensor_view<?x?x?xf16>",
    f"%t = pto.alloc_tile : {BOX}",
    f"pto.tload ins(%v : !pto.tensor_view<?x?x?xf16>) outs(%t : {BOX})",
)


def viewed(shape: str, strides: str) -> str:
    return VIEWS.replace("SHAPE", shape).replace("STRIDES", strides)


NO_OFFSET = {"operand-count"}  # the third input is one: scratch stands behind dst


def quantised(*more: str, kind: str) -> str:
    args = {"a": VEC, "s": ROW, **dict.fromkeys(more, ROW), "d": VEC_I8}
    return of("tquant", args, f" {{quant_type = #pto<quant_type {kind}>}}")


def remainder(tmp: str) -> str:
    return of("trem", {"a": VEC, "b": VEC, "tmp": tile("vec", tmp), "d": VEC})


def address(kind: str) -> str:
    cast = f"%q = pto.inttoptr %n : {kind} -> !pto.ptr<f32>"
    return program({"p": "!pto.ptr<f32>"}, f"%n = arith.constant 64 : {kind}", cast)


NUMBERS = "!pto.local_array<4xf32>"


def kept(kind: str) -> str:
    lines = (
        "%zero = arith.constant 0 : index",
        f"%a = pto.declare_local_array -> {NUMBERS}",
        f"pto.local_array_set %a[%zero], %x : {NUMBERS}, {kind}",
        f"%y = pto.local_array_get %a[%zero] : {NUMBERS} -> {kind}",
    )
    return program({"x": kind}, *lines)


POINTERS = program(
    {"p": "!pto.ptr<i32>", "n": "NUMBER"},
    "%m = pto.castptr %p : !pto.ptr<i32> -> NUMBER",
    "%q = pto.castptr %n : NUMBER -> !pto.ptr<f32>",
    "%r = pto.addptr %q, 1 : !pto.ptr<f32> -> !pto.ptr<f32>",
    "%v = pto.make_tensor_view %r, shape = [1], strides = [1] : !pto.tensor_view<?xf32>",
)


def printed(kind: str, tmp: str = "") -> str:
    types = kind + (f", {tmp}" if tmp else "")
    names = "%t, %m" if tmp else "%t"
    return program({"t": kind, "m": tmp or "index"}, f"pto.tprint ins({names} : {types})")


def through(name: str, dst: str, fp: str) -> str:
    return of(name, {"a": ACC, "fp": tile("scaling", f"1x32x{fp}"), "d": dst})


BITS = tile("vec", "16x32xui8", "valid=16x8")
TALL = tile("vec", "32x64xf32", "valid=16x64")
ROWS = "!pto.partition_tensor_view<64x64xf32>"
FLAT = tile("vec", "1x16xi32")
UPRIGHT, SLACK = tile("vec", "16x1xi32", "blayout=col_major"), tile("vec", "16x8xi32", "valid=16x1")
BY_ROW = " {coalesce = #pto<coalesce row>}"
L1, L1_ND = tile("mat", "16x32xf16", *BOXED), tile("mat", "16x32xf16")
LEFT = tile("left", "16x128xf8E4M3FN", *BOXED)
HALVES, COUNTS = tile("vec", "32x64xui16"), tile("vec", "32x256xui32")
SPLIT = " {tinsertMode = #pto.tinsert_mode<split2>}"


def scales(shape: str) -> str:
    return tile("scaling", f"{shape}x!pto.f8E8M0", "slayout=row_major", "fractal=32")


def scaled(shape: str) -> str:
    args = {"a": LEFT, "d": scales(shape)}
    return of("tget_scale_addr", args)


def windowed(name: str, src: str, dst: str, more: str = "") -> str:
    types = f"{src}, index, index"
    line = f"pto.{name} ins(%a, %zero, %zero : {types}) outs(%d : {dst}){more}"
    return program({"a": src, "d": dst}, "%zero = arith.constant 0 : index", line)


def counted(idx: str) -> str:
    return of("thistogram", {"a": HALVES, "i": idx, "d": COUNTS}, " {byte = 0 : i32}")


def sequence(tmp: str) -> str:
    types = f"i32, {tmp}"
    line = f"pto.tci ins(%n, %t : {types}) outs(%d : {FLAT})"
    return program({"t": tmp, "d": FLAT}, "%n = arith.constant 3 : i32", line)


def filled(dst: str) -> str:
    line = f"pto.texpands ins(%n : f32) outs(%d : {dst})"
    return program({"d": dst}, "%n = arith.constant 3.0 : f32", line)


def several(shape: str) -> str:
    return program({}, f"%m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, {shape}, count=2>")


def added(src: str) -> str:
    line = f"pto.taxpy ins(%a, %n : {src}, f32) outs(%d : {VEC})"
    return program({"a": src, "d": VEC}, "%n = arith.constant 3.0 : f32", line)


GAPS = tile("vec", "32x64xui8", "valid=32x32")


def reordered(src: str, room: str = "1x128xui8") -> str:
    scaled = tile("vec", "32x32xui8", "slayout=row_major", "fractal=32")
    return of("tmov", {"a": src, "t": tile("vec", room), "d": scaled})


FINE, HARD = frozenset[str](), ("a2a3", "a5")
CASES = {
    "parameters that are words": (through("tmov.fp", MAT_I8, "u64"), HARD, FINE),
    "parameters that are f16": (through("tmov.fp", MAT_I8, "f16"), HARD, FINE),
    "parameters that are f32": (through("tmov.fp", MAT_I8, "f32"), HARD, FINE),
    "parameters that are bytes": (through("tmov.fp", MAT_I8, "i8"), HARD, {"element-type"}),
    "an accumulator as it is": (of("tmov", {"a": ACC, "d": MAT_F32}), HARD, FINE),
    "a fill that grows": (of("tfillpad", {"a": VEC, "d": GROWN}), HARD, FINE),
    "a fill that shrinks": (of("tfillpad", {"a": GROWN, "d": PADDED}), HARD, {"shape"}),
    "a fill of a mat tile": (of("tfillpad", {"a": ZEROED, "d": ZEROED}), HARD, FINE),
    "a fill of another pad": (of("tfillpad", {"a": BOX, "d": ZEROED}), HARD, {"attribute"}),
    "a window inside a box": (
        SUBVIEW.replace("STEP", "8").replace("ROW", "%i").replace("COL", "%zero"),
        HARD,
        FINE,
    ),
    "a window across boxes": (
        SUBVIEW.replace("STEP", "8").replace("ROW", "%zero").replace("COL", "%i"),
        HARD,
        {"offset-misaligned", "window-out-of-bounds"},
    ),
    "lines along an outer axis": (viewed("%n, 1, %n", "%n, %n, 1"), HARD, FINE),
    "lines along two axes": (viewed("2, 8, %n", "%n, %n, 1"), HARD, FINE),
    "room for a remainder": (remainder("2x64xf32"), ("a2a3",), FINE),
    "no room for a remainder": (remainder("2x32xf32"), ("a2a3",), {"shape"}),
    "an accumulator is printed through memory": (printed(ACC, MEMORY), HARD, FINE),
    "an accumulator is printed": (printed(ACC), HARD, {"location"}),
    "a vector tile is printed": (printed(VEC), HARD, FINE),
    "an asymmetric quantisation": (quantised("o", kind="int8_asym"), ("a5",), FINE),
    "one without offset": (quantised(kind="int8_asym"), HARD, {"operand-count"}),
    "a symmetric one with offset": (quantised("o", kind="int8_sym"), ("a5",), NO_OFFSET),
    "an address of 64 bits": (address("i64"), HARD, FINE),
    "an address of 32 bits": (address("i32"), HARD, {"type-mismatch"}),
    "a cast address is moved and viewed": (POINTERS.replace("NUMBER", "i64"), HARD, FINE),
    "a cast address of 32 bits": (POINTERS.replace("NUMBER", "i32"), HARD, {"type-mismatch"}),
    "a comparison of tiles of one shape": (of("tcmp", {"a": VEC, "b": VEC, "d": BITS}), HARD, FINE),
    "one of two shapes": (of("tcmp", {"a": VEC, "b": TALL, "d": BITS}), ("a5",), {"shape"}),
    "a scaled sum of one shape": (added(VEC), HARD, FINE),
    "one of another shape": (added(TALL), HARD, {"shape"}),
    "rows by a row of numbers": (
        of("mgather", {"g": ROWS, "i": FLAT, "d": VEC}, BY_ROW),
        HARD,
        FINE,
    ),
    "rows by a column": (of("mgather", {"g": ROWS, "i": UPRIGHT, "d": VEC}, BY_ROW), HARD, FINE),
    "rows by what lies apart": (
        of("mgather", {"g": ROWS, "i": SLACK, "d": VEC}, BY_ROW),
        HARD,
        {"layout"},
    ),
    "a sequence with scratch": (sequence(tile("vec", "1x256xi32")), ("a2a3",), FINE),
    "one with scratch of halves": (sequence(tile("vec", "1x512xf16")), ("a2a3",), {"element-type"}),
    "a filled column": (filled(ROW), ("a5",), FINE),
    "a filled column there": (filled(ROW), ("a2a3",), {"layout"}),
    "several tiles": (several("16x64xf32"), HARD, FINE),
    "several of bytes that are floats": (several("16x64xf8E4M3FN"), ("a5",), {"element-type"}),
    "a split insert of boxes": (
        windowed("tinsert", tile("vec", "16x16xf16", *BOXED), L1, SPLIT),
        ("a5",),
        FINE,
    ),
    "a split insert of rows": (
        windowed("tinsert", tile("vec", "16x16xf16"), L1, SPLIT),
        ("a5",),
        {"attribute"},
    ),
    "an accumulator into boxes": (windowed("textract", ACC, L1), HARD, FINE),
    "an accumulator into rows": (windowed("textract", ACC, L1_ND), ("a2a3",), {"layout"}),
    "an accumulator into rows on a5": (windowed("textract", ACC, L1_ND), ("a5",), FINE),
    "the scales of a tile": (scaled("16x4"), ("a5",), FINE),
    "scales of more": (scaled("16x8"), ("a5",), {"shape"}),
    "filters in a column": (counted(tile("vec", "32x1xui8", "blayout=col_major")), ("a5",), FINE),
    "filters in rows": (counted(tile("vec", "32x32xui8", "valid=32x1")), ("a5",), {"layout"}),
    "a prefetched accumulator": (of("tprefetch", {"g": MEMORY, "d": ACC}), HARD, {"location"}),
    "exponents in one piece": (reordered(tile("vec", "32x32xui8")), ("a5",), FINE),
    "exponents with gaps": (reordered(GAPS), ("a5",), {"shape"}),
    "exponents without room": (
        reordered(tile("vec", "32x32xui8"), "1x96xui8"),
        ("a5",),
        {"shape"},
    ),
    "numbers of the array's type": (kept("f32"), HARD, FINE),
    "numbers of another type": (kept("f16"), HARD, {"element-type"}),
}


@every("case", CASES.values(), ids=CASES)
def test_what_the_assembler_says(case: Case) -> None:
    require_slugs(*case)
