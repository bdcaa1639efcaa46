"""What the public assembler takes and refuses, `check` takes and refuses for the same reason."""

from __future__ import annotations

import pytest

import ptokit as pto


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
        found = pto.loads(text).check(target)
    except pto.PtoError as problem:
        found = problem.diagnostics
    return {d.slug for d in found if d.is_error}


SUBVIEW = program(
    {"t": WIDE},
    "%zero = arith.constant 0 : index",
    "%step = arith.constant STEP : index",
    "%end = arith.constant 32 : index",
    "scf.for %i = %zero to %end step %step {",
    f"%w = pto.subview %t[ROW, COL] sizes [32, 16] : {WIDE} -> {tile('mat', '32x16xf16', *BOXED)}",
    "}",
)
VIEWS = program(
    {"p": "!pto.ptr<f16>"},
    "%one = arith.constant 1 : index",
    "%n = arith.constant 16 : index",
    "%two = arith.constant 2 : index",
    "%eight = arith.constant 8 : index",
    "%v = pto.make_tensor_view %p, shape = [SHAPE], strides = [STRIDES]",
    " : !pto.tensor_view<?x?x?xf16>",
    f"%t = pto.alloc_tile : {BOX}",
    f"pto.tload ins(%v : !pto.tensor_view<?x?x?xf16>) outs(%t : {BOX})",
)


def viewed(shape: str, strides: str) -> str:
    return VIEWS.replace("SHAPE", shape).replace("STRIDES", strides)


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
    "%one = arith.constant 1 : index",
    "%m = pto.castptr %p : !pto.ptr<i32> -> NUMBER",
    "%q = pto.castptr %n : NUMBER -> !pto.ptr<f32>",
    "%r = pto.addptr %q, %one : !pto.ptr<f32> -> !pto.ptr<f32>",
    "%v = pto.make_tensor_view %r, shape = [%one], strides = [%one] : !pto.tensor_view<?xf32>",
)


def printed(kind: str, tmp: str = "") -> str:
    types = kind + (f", {tmp}" if tmp else "")
    names = "%t, %m" if tmp else "%t"
    return program({"t": kind, "m": tmp or "index"}, f"pto.tprint ins({names} : {types})")


def through(name: str, dst: str, fp: str) -> str:
    return of(name, {"a": ACC, "fp": tile("scaling", f"1x32x{fp}"), "d": dst})


FINE, HARD = frozenset[str](), ("a2a3", "a5")
CASES = {
    "parameters that are words": (through("tmov.fp", MAT_I8, "u64"), HARD, FINE),
    "parameters that are f16": (through("tmov.fp", MAT_I8, "f16"), HARD, FINE),
    "parameters that are f32": (through("tmov.fp", MAT_I8, "f32"), HARD, FINE),
    "parameters that are bytes": (through("tmov.fp", MAT_I8, "i8"), HARD, {"element-type"}),
    "an accumulator as it is": (of("tmov", {"a": ACC, "d": MAT_F32}), HARD, FINE),
    "a fill that grows": (of("tfillpad", {"a": VEC, "d": GROWN}), HARD, FINE),
    "a fill that shrinks": (of("tfillpad", {"a": GROWN, "d": PADDED}), HARD, {"shape"}),
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
    "lines along an outer axis": (viewed("%n, %one, %n", "%n, %n, %one"), HARD, FINE),
    "lines along two axes": (viewed("%two, %eight, %n", "%n, %n, %one"), HARD, {"layout"}),
    "room for a remainder": (remainder("2x64xf32"), ("a2a3",), FINE),
    "no room for a remainder": (remainder("2x32xf32"), ("a2a3",), {"shape"}),
    "an accumulator is printed through memory": (printed(ACC, MEMORY), HARD, FINE),
    "an accumulator is printed": (printed(ACC), HARD, {"location"}),
    "a vector tile is printed": (printed(VEC), HARD, FINE),
    "an asymmetric quantisation": (quantised("o", kind="int8_asym"), ("a5",), {"element-type"}),
    "one without offset": (quantised(kind="int8_asym"), HARD, {"operand-count"}),
    "a symmetric one with offset": (quantised("o", kind="int8_sym"), ("a5",), {"layout"}),
    "an address of 64 bits": (address("i64"), HARD, FINE),
    "an address of 32 bits": (address("i32"), HARD, {"type-mismatch"}),
    "a cast address is moved and viewed": (POINTERS.replace("NUMBER", "i64"), HARD, FINE),
    "a cast address of 32 bits": (POINTERS.replace("NUMBER", "i32"), HARD, {"type-mismatch"}),
    "numbers of the array's type": (kept("f32"), HARD, FINE),
    "numbers of another type": (kept("f16"), HARD, {"element-type"}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_of_the_assembler(case: str) -> None:
    text, targets, slugs = CASES[case]
    for target in targets:
        assert wrong(text, target) == set(slugs), target
