"""What the assembler takes, and breaks only when it runs, is a warning; what it refuses is not."""

from __future__ import annotations

import numpy as np
import pytest
from test_assembler import BOXED, HARD, Case, of, program, require_slugs, tile, wrong

import ptokit as pto
from every import every
from ptokit.analysis.legality import Outcome
from ptokit.diagnostics.diagnostic import Severity

FULL, BLOCK = tile("vec", "8x24xf32"), tile("vec", "8x8xf32")
LINE, NARROW = tile("vec", "1x24xf32"), tile("vec", "1x32xf32", "valid=1x16")
BYTES, HALVES, WORDS = (tile("vec", f"8x64x{t}") for t in ("i8", "f16", "i32"))
OPEN = tile("vec", "8x24xf32", "valid=?x?")
IN_L1 = tile("mat", "16x48xf16", *BOXED)
A3, A5 = ("a2a3",), ("a5",)
FINE: set[str] = set()


def view(extents: str, kind: str) -> str:
    return f"!pto.partition_tensor_view<{extents}x{kind}>"


def loaded(extents: str) -> str:
    args = {"v": view(extents, "f16"), "t": IN_L1}
    return program(args, f"pto.tload ins(%v : {args['v']}) outs(%t : {IN_L1})")


GM = "#pto.address_space<gm>"


def stored(extents: str) -> str:
    args = {"t": FULL, "v": view(extents, "f32")}
    return program(args, f"pto.tstore ins(%t : {FULL}) outs(%v : {args['v']})")


def stored_in_memory(extents: str) -> str:
    return stored(extents).replace(view(extents, "f32"), f"memref<{extents}xf32, {GM}>")


def counted(src: str, idx: str, byte: int, dst: str = "32x256xui32") -> str:
    args = {"a": tile("vec", src), "i": idx, "d": tile("vec", dst)}
    return of("thistogram", args, f" {{byte = {byte} : i32}}")


def filters(rows: int, cols: int = 96) -> str:
    return tile("vec", f"{rows}x{cols}xui8")


COLUMN = tile("vec", "32x1xui8", "blayout=col_major")


def shifted(amount: int) -> str:
    return program(
        {"a": WORDS, "d": WORDS},
        f"%n = arith.constant {amount} : i32",
        f"pto.tshls ins(%a, %n : {WORDS}, i32) outs(%d : {WORDS})",
    )


def joined(kind: str, index: str) -> str:
    part, n = tile("vec", f"8x32x{kind}"), tile("vec", f"8x32x{index}", "valid=8x1")
    return of(
        "tconcatidx", {"a": part, "b": part, "i": n, "j": n, "d": tile("vec", f"8x64x{kind}")}
    )


RESIZED = program(
    {"t": OPEN}, "%n = arith.constant 4 : index", f"pto.set_validshape %t, %n, %n : {OPEN}"
)
RESIZED_HERE = program(
    {},
    "%n = arith.constant 4 : index",
    f"%t = pto.alloc_tile valid_row = %n valid_col = %n : {OPEN}",
    f"pto.set_validshape %t, %n, %n : {OPEN}",
)


def part_of(rows: int) -> str:
    return program(
        {"v": "!pto.tensor_view<8x24xf32>"},
        f"%rows = arith.constant {rows} : index",
        "%p = pto.partition_view %v, offsets = [0, 0], sizes = [%rows, 24]"
        f" : !pto.tensor_view<8x24xf32> -> {view(f'{rows}x24', 'f32')}",
    )


LEFT = tile("left", "16x16xf16", *BOXED)


def multiplied(*valid: str) -> str:
    factors = (
        tile("left", "16x32xf16", *BOXED),
        tile("right", "32x64xf16", *valid, "slayout=col_major"),
    )
    args = {"a": factors[0], "b": factors[1], "c": tile("acc", "16x16xf32", *BOXED, "fractal=1024")}
    return of("tmatmul", args)


def one_row(left: str, valid: str, acc: str = "16x64xf32") -> str:
    """A row times a matrix of 32 x 64."""
    args = {
        "a": tile("left", left, f"valid={valid}", *BOXED),
        "b": tile("right", "32x64xf16", "slayout=col_major"),
        "c": tile("acc", acc, "valid=1x64", *BOXED, "fractal=1024"),
    }
    return of("tgemv", args)


def of_groups(shape: str) -> str:
    kinds = {
        "a": tile("vec", f"{shape}xf32"),
        "d": tile("vec", f"{shape}xui8"),
        "e": tile("vec", "1x32xui8"),
        "m": tile("vec", "1x32xf32"),
        "s": tile("vec", "1x64xf32", "valid=1x32"),
        "z": tile("vec", "1x32xui8"),
    }
    outs = ", ".join(kinds[n] for n in "demsz")
    how = "{quant_type = #pto<quant_type mxfp8>, storeMode = #pto<vec_store_mode nz>}"
    return program(
        kinds, f"pto.tquant.mx ins(%a : {kinds['a']}) outs(%d, %e, %m, %s, %z : {outs}) {how}"
    )


BUFFERS = 'pto.get_buf "PIPE_V", 3, 0', 'pto.rls_buf "PIPE_V", 3, 0'
PADDED = tile("mat", "16x48xf16", *BOXED, "pad=1")
LARGE = tile("scaling", "32x32xf32", "slayout=row_major")
ACC, L1 = tile("acc", "32x32xf32", *BOXED, "fractal=1024"), tile("mat", "32x32xi8", *BOXED)
FEWER = tile("vec", "8x24xf32", "valid=4x24")
HALF = tile("vec", "16x32xf32")
SPLIT = " {accToVecMode = #pto<acc_to_vec_mode dual_mode_split_m>}"
TURNED = {
    "a": tile("vec", "16x8xf32", "blayout=col_major"),
    "d": tile("vec", "8x16xf32", "blayout=col_major"),
}
BRAINS = tile("vec", "8x32xbf16")


def grown(name: str) -> str:
    column = tile("vec", "8x1xf32", "blayout=col_major")
    return of(f"trowexpand{name}", {"a": FULL, "b": column, "tmp": WORDS, "d": FULL})


def into_l1(room: str) -> str:
    ins = {"v": view("64x48", "f16"), "i": view("16x48", "i32")} | ({"room": room} if room else {})
    return of("mgather", ins | {"d": IN_L1}, " {coalesce = #pto<coalesce elem>}")


FEATURES, PATCHES = "!pto.conv_tile<mat, 1x1x4x4x16xf16>", tile("left", "16x16xf16", *BOXED)
SCALES = tile("scaling", "16x16xf16", "slayout=row_major")


def struct(*fields: str) -> str:
    return program({}, f"%s = pto.declare_struct -> !pto.struct<{', '.join(fields)}>")


def unrolled(row: int) -> str:
    more = f"{{posM = {row} : i32, fmatrixMode = #pto.fmatrix_mode<a_auto>}}"
    args = {"s": FEATURES, "d": PATCHES}
    return program(args, f"pto.timg2col %d, %s {more} : {PATCHES}, {FEATURES}")


def scaling(col: int) -> str:
    return program(
        {"s": IN_L1, "d": SCALES},
        f"%col = arith.constant {col} : index",
        f"pto.textract ins(%s, 0, %col : {IN_L1}, index, index) outs(%d : {SCALES})",
    )


EMPTY = tile("vec", "8x24xf32", "valid=0x24")


def idle(name: str, shape: str, result: str, *words: str) -> str:
    """A reduction on tiles whose types say that nothing is valid."""
    src, dst = tile("vec", shape, "valid=0x0"), tile("vec", result, "valid=0x0", *words)
    return of(name, {"a": src, "t": src, "d": dst})


def fetched(kind: str) -> str:
    stage = tile("vec", "1x64xf32")
    moved = f"pto.comm.tget(%d, %s, buf(%t) : {kind}, {kind}, {stage})"
    return program({"d": kind, "s": kind, "t": stage}, moved)


CASES = {
    "a view on its side, loaded": (loaded("48x16"), HARD, FINE),
    "a view on its side, stored": (stored("24x8"), HARD, FINE),
    "a view with fewer elements, stored": (stored("8x16"), HARD, {"shape"}),
    "memory with fewer elements, stored": (stored_in_memory("8x16"), HARD, FINE),
    "a view that may have fewer, stored": (stored("?x16"), HARD, FINE),
    "a sum with a narrow left operand": (
        of("trowexpandadd", {"a": BLOCK, "b": FULL, "d": FULL}),
        HARD,
        {"shape"},
    ),
    "a product with one": (of("trowexpandmul", {"a": BLOCK, "b": FULL, "d": FULL}), HARD, FINE),
    "a first column of several": (of("trowexpand", {"a": BLOCK, "d": FULL}), HARD, FINE),
    "a wider line for columns": (
        of("tcolexpandadd", {"a": FULL, "b": tile("vec", "1x32xf32"), "d": FULL}),
        HARD,
        {"shape"},
    ),
    "a line of another type": (
        of("tcolexpand", {"a": tile("vec", "1x24xi32"), "d": FULL}),
        HARD,
        {"element-type"},
    ),
    "a struct of numbers": (struct("f32", "!pto.struct<i8, i16>"), HARD, FINE),
    "an array in a struct": (
        struct("f32", "!pto.struct<!pto.local_array<4xi8>>"),
        HARD,
        {"element-type"},
    ),
    "patches of the last row": (unrolled((1 << 16) - 1), A5, FINE),
    "patches behind all rows": (unrolled(1 << 16), A5, {"operand-value"}),
    "parameters out of L1": (scaling(0), A5, FINE),
    "some parameters out of L1": (scaling(16), A5, FINE),
    "halves to halves": (of("tcvt", {"a": HALVES, "d": HALVES}), HARD, FINE),
    "words to bytes": (of("tcvt", {"a": WORDS, "d": BYTES}), HARD, FINE),
    "words to 8-bit floats": (
        of("tcvt", {"a": WORDS, "d": tile("vec", "8x64xf8E4M3FN")}),
        HARD,
        {"element-type"},
    ),
    "the largest of no rows": (of("tcolmax", {"a": EMPTY, "d": LINE}), A5, {"shape"}),
    "the largest of each row of none": (
        idle("trowmax", "16x16xf32", "16x1xf32", "blayout=col_major"),
        HARD,
        FINE,
    ),
    "where it is in each row of none": (
        idle("trowargmax", "16x16xf32", "16x1xui32", "blayout=col_major"),
        HARD,
        {"shape"},
    ),
    "where it is in each column of none": (
        idle("tcolargmin", "16x16xf32", "1x16xui32"),
        HARD,
        {"shape"},
    ),
    "a part of open extents from another rank": (
        fetched("!pto.partition_tensor_view<?x64xf32>"),
        HARD,
        FINE,
    ),
    "a view of open extents from another rank": (
        fetched("!pto.tensor_view<?x64xf32>"),
        HARD,
        {"shape"},
    ),
    "a view of known extents from another rank": (
        fetched("!pto.tensor_view<4x64xf32>"),
        HARD,
        FINE,
    ),
    "filters for each byte above": (counted("32x96xui32", filters(2), 1), A5, FINE),
    "filters for one byte more": (counted("32x96xui32", filters(3), 1), A5, {"shape"}),
    "filters of other columns": (counted("32x96xui32", filters(2, 64), 1), A5, {"shape"}),
    "no filter for the highest byte": (counted("32x96xui32", filters(1, 32), 3), A5, FINE),
    "counts of signed numbers": (counted("32x96xi16", COLUMN, 1, "32x256xi32"), A5, FINE),
    "room for more counts": (counted("32x96xui16", COLUMN, 1, "32x320xui32"), A5, FINE),
    "joined by signed counts": (joined("f32", "i32"), HARD, FINE),
    "joined by counts without sign": (joined("f32", "ui32"), HARD, {"element-type"}),
    "joined numbers without sign": (joined("ui32", "i32"), HARD, {"element-type"}),
    "a slope of f32": (of("tlrelu", {"a": HALVES, "s": "f32", "d": HALVES}), HARD, FINE),
    "a slope of the tile": (
        of("tlrelu", {"a": HALVES, "s": "f16", "d": HALVES}),
        A5,
        {"element-type"},
    ),
    "a shift": (shifted(3), HARD, FINE),
    "a shift back": (shifted(-3), HARD, {"operand-value"}),
    "bytes and a mask": (of("tors", {"a": BYTES, "s": "i8", "d": BYTES}), HARD, FINE),
    "bytes and a factor": (of("tmuls", {"a": BYTES, "s": "i8", "d": BYTES}), A5, FINE),
    "bytes and a divisor": (of("tdivs", {"a": BYTES, "s": "i8", "d": BYTES}), A5, FINE),
    "bytes of the other sign": (of("tneg", {"a": BYTES, "d": BYTES}), A5, FINE),
    "what halves leave": (of("tfmod", {"a": HALVES, "b": HALVES, "d": HALVES}), HARD, FINE),
    "a sum of three": (of("taddc", dict.fromkeys("abcd", FULL)), HARD, FINE),
    "a sum with a number and a tile": (
        of("taddsc", {"a": FULL, "s": "f32", "b": FULL, "d": FULL}),
        HARD,
        FINE,
    ),
    "a transpose of one shape": (of("ttrans", {"a": LINE, "d": LINE}), HARD, FINE),
    "records without room": (
        of("tsort32", {"a": HALVES, "i": WORDS, "d": tile("vec", "8x128xf16")}),
        HARD,
        FINE,
    ),
    "a dst wider than both": (
        of("tconcat", {"a": FULL, "b": BLOCK, "d": tile("vec", "8x64xf32")}),
        HARD,
        FINE,
    ),
    "a tile of the caller, resized": (RESIZED, HARD, {"dynamic-valid"}),
    "one of the function": (RESIZED_HERE, HARD, FINE),
    "a part": (part_of(4), HARD, FINE),
    "a part without rows": (part_of(0), HARD, {"shape"}),
    "a window off the boxes, on its way to L0": (
        program(
            {"a": IN_L1, "d": LEFT},
            "%n = arith.constant 0 : index",
            f"pto.textract ins(%a, %n, 8 : {IN_L1}, index, index) outs(%d : {LEFT})",
        ),
        A5,
        FINE,
    ),
    "a factor of which a part is valid": (multiplied("valid=32x16"), A5, FINE),
    "a factor that is too wide": (multiplied(), A5, {"shape"}),
    "a row of whole lines, wider than the factor": (one_row("16x256xf16", "1x32"), HARD, FINE),
    "a declared row, and a product in a box": (one_row("1x32xf16", "1x32"), HARD, FINE),
    "a row that is longer than the factor": (one_row("16x256xf16", "1x48"), HARD, {"shape"}),
    "two rows": (one_row("16x32xf16", "2x32"), HARD, {"shape"}),
    "a product in more columns": (
        one_row("16x32xf16", "1x32", "16x128xf32"),
        HARD,
        FINE,
    ),
    "exponents of one group in each row": (
        of_groups("32x32"),
        A5,
        FINE,
    ),
    "a scale of f16": (
        program({}, "%s = arith.constant 0.5 : f16", "pto.set_quant_scalar(%s : f16) {id = 0}"),
        HARD,
        {"element-type"},
    ),
    "a buffer that a pipe acquires": (program({}, *BUFFERS), HARD, FINE),
    "padding of L1": (of("tfillpad", {"a": PADDED, "d": PADDED}), A3, FINE),
    "padding of L1 with a mode": (
        of("tfillpad", {"a": PADDED, "d": PADDED}, ' {mode = "expand"}'),
        HARD,
        {"location"},
    ),
    "a move of which a part is valid": (of("tmov", {"a": FULL, "d": FEWER}), HARD, FINE),
    "halves for two vector cores": (of("tmov", {"a": ACC, "d": HALF}, SPLIT), A5, FINE),
    "a negation of fewer rows": (of("tneg", {"a": FULL, "d": FEWER}), A5, FINE),
    "a negation of fewer rows on older chips": (
        of("tneg", {"a": FULL, "d": FEWER}),
        A3,
        {"shape"},
    ),
    "a transpose of columns": (of("ttrans", TURNED), A5, FINE),
    "a transpose of columns on older chips": (of("ttrans", TURNED), A3, {"layout"}),
    "slots that the assembler placed": (
        program(
            {},
            "%m = pto.alloc_multi_tile {pto.multi_buffer_addrs = array<i64: 0, 768>}"
            " : !pto.multi_tile_buf<vec, 8x24xf32, count=2>",
        ),
        HARD,
        {"attribute"},
    ),
    "a larger of rows with scratch of another type": (grown("max"), A5, {"element-type"}),
    "a sum of rows with scratch of another type": (grown("add"), A5, FINE),
    "elements of memory into L1": (into_l1(view("16x48", "f16")), A5, FINE),
    "elements of memory into L1 without room": (into_l1(""), HARD, {"operand-count"}),
    "elements of memory into L1 through room of another type": (
        into_l1(view("16x48", "f32")),
        HARD,
        {"element-type"},
    ),
    "a print of bf16": (
        program({"a": BRAINS}, f"pto.tprint ins(%a : {BRAINS})"),
        HARD,
        {"element-type"},
    ),
    "parameters that the caller places": (
        program(
            {"a": ACC, "fp": LARGE, "d": L1},
            "%n = arith.constant 0 : index",
            f"pto.textract ins(%a, %n, %n : {ACC}, index, index fp %fp : {LARGE}) outs(%d : {L1})",
        ),
        HARD,
        FINE,
    ),
}


@every("case", CASES.values(), ids=CASES)
def test_instructions_that_it_takes(case: Case) -> None:
    require_slugs(*case)


@pytest.mark.parametrize("target", HARD)
def test_what_boards_and_headers_refuse_the_run_refuses(target: str) -> None:
    program = pto.loads(stored("24x8"))
    words = {
        judge: program.verdicts(target, judge=judge)[0].word
        for judge in (None, "assembler", "headers", "hardware")
    }
    assert words.pop("assembler") is Outcome.LEGAL
    assert {*words.values()} == {Outcome.REFUSED}
    (found,) = program.check(target, judge="assembler")
    assert (found.slug, found.severity) == ("shape", Severity.WARNING)
    assert "refused by: headers, hardware; accepted by: assembler" in found.render()
    with pytest.raises(pto.PtoError, match=r"\[shape\]"):
        program.run(t=np.ones((8, 24), np.float32), v=np.ones((24, 8), np.float32), target=target)


def test_a_loop_in_which_some_iteration_breaks() -> None:
    text = program(
        {"p": "!pto.ptr<f32>"},
        "%rows = arith.constant 8 : index",
        f"%t = pto.alloc_tile : {FULL}",
        "%v = pto.make_tensor_view %p, shape = [%rows, 24], strides = [24, 1]"
        " : !pto.tensor_view<?x?xf32>",
        "scf.for %i = 1 to %rows step 1 {",
        "%w = pto.partition_view %v, offsets = [0, 0], sizes = [%i, 24]"
        f" : !pto.tensor_view<?x?xf32> -> {view('?x?', 'f32')}",
        f"pto.tload ins(%w : {view('?x?', 'f32')}) outs(%t : {FULL})",
        "}",
    )
    assert wrong(text, "a2a3") == FINE
    assert wrong(text, "cpu") == {"shape"}


def test_bytes_of_filters_have_no_sign() -> None:
    """A key whose upper byte is 0x90 passes the filter of that byte, which is -112 as an i8."""
    args = {
        "k": tile("vec", "32x64xui16", "valid=1x64"),
        "f": tile("vec", "32x1xi8", "blayout=col_major", "valid=1x1"),
        "h": tile("vec", "32x256xui32", "valid=1x256"),
    }
    line = f"pto.thistogram ins(%k, %f : {args['k']}, {args['f']}) outs(%h : {args['h']})"
    keys = np.full((1, 64), 0x9007, np.uint16)
    filters = np.array([[0x90 - 256]], np.int8)
    for engine in ("reference", "native"):
        run = pto.loads(program(args, f"{line} {{byte = 0 : i32}}")).run
        (found,) = run(k=keys, f=filters, target="a5", engine=engine).values()
        assert found[0, [6, 7, 255]].tolist() == [0, 64, 64]


@every("target", HARD)
def test_a_lane_without_work_looks_for_nothing(target: str, engine: str) -> None:
    """Types that say `?` are no fault: a run with empty tiles ends without any word."""
    src = tile("vec", "16x16xf32", "valid=?x?")
    dst = tile("vec", "16x1xui32", "valid=?x?", "blayout=col_major")
    lines = (
        *(f"%{n} = pto.alloc_tile valid_row = %n valid_col = %n : {src}" for n in "at"),
        f"%d = pto.alloc_tile valid_row = %n valid_col = %n : {dst}",
        f"pto.trowargmax ins(%a, %t : {src}, {src}) outs(%d : {dst})",
    )
    made = pto.loads(program({"n": "index"}, *lines)).compile(target=target, engine=engine)
    assert list(made.execute({"n": 0}).warnings) == []


@every("target", ["cpu", *HARD])
@every("valid", ["0x0", "0x24", "8x0"])
def test_a_lane_without_work_moves_nothing(valid: str, target: str, engine: str) -> None:
    """An empty tile goes nowhere, however large the view is; what the view shows stays."""
    empty, memory = tile("vec", "8x24xf32", f"valid={valid}"), view("8x24", "f32")
    lines = (
        f"%t = pto.alloc_tile : {empty}",
        f"pto.tload ins(%x : {memory}) outs(%t : {empty})",
        f"pto.tstore ins(%t : {empty}) outs(%y : {memory})",
    )
    text = program({"x": memory, "y": memory}, *lines)
    assert wrong(text, target) == FINE
    kept = np.arange(192, dtype=np.float32).reshape(8, 24)
    done = pto.loads(text).run(x=kept + 1, y=kept, target=target, engine=engine)
    np.testing.assert_array_equal(done["y"], kept)
