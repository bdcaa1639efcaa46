"""What the public assembler asks of scratch tiles, of other handles and of shapes."""

from __future__ import annotations

import pytest
from test_assembler import FINE, HARD, Case, of, program, require_slugs, tile, wrong

import ptokit as pto
from every import every
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

A3, A5 = ("a2a3",), ("a5",)
HALF, WORD, FULL = (tile("vec", f"8x64x{t}") for t in ("f16", "i16", "f32"))
MASK, RECORDS = tile("vec", "8x32xi8"), tile("vec", "8x128xf32")
INDEX, PART = tile("vec", "8x64xui32"), tile("vec", "8x64xf32, valid=8x32")
NARROW = tile("vec", "8x32xf32")
COLUMN = tile("vec", "8x1xf32", "blayout=col_major")
LINES, TRANSPOSED = tile("vec", "64x32xf16"), tile("vec", "32x64xf16")
TALL, LONG = tile("vec", "24x16xf32"), tile("vec", "16x24xf32")
BYTES, PAIR = tile("vec", "8x64xi8"), tile("vec", "8x2xf32", "blayout=col_major")
HIGH = " {precisionType = #pto<div_precision high_precision>}"


def chosen(name: str, tmp: str, **args: str) -> str:
    """Elements chosen by a mask, with scratch."""
    return of(name, {"m": MASK, **args, "tmp": tile("vec", tmp), "d": HALF})


def chosen_or(tmp: str) -> str:
    args = {"m": MASK, "a": HALF, "t": tile("vec", tmp), "s": "f16", "d": HALF}
    return of("tsels", args)


def sorted_with(tmp: str) -> str:
    return of("tsort32", {"a": FULL, "i": INDEX, "t": tile("vec", tmp), "d": RECORDS})


def transposed(src: str, tmp: str, dst: str) -> str:
    return of("ttrans", {"a": src, "t": tile("vec", tmp), "d": dst})


def power(tmp: str, kind: str = PART) -> str:
    return of("tpow", {"a": kind, "b": kind, "t": tile("vec", tmp), "d": kind})


def larger(one: str, dst: str) -> str:
    return of("tpartmax", {"a": one, "b": dst, "d": dst})


def rest(tmp: str) -> str:
    return of("trem", {"a": FULL, "b": FULL, "t": tile("vec", tmp), "d": FULL})


def rest_of_one(tmp: str) -> str:
    return of("trems", {"a": FULL, "s": "f32", "t": tile("vec", tmp), "d": FULL})


def sloped(slopes: str) -> str:
    return of("tprelu", {"a": PART, "b": slopes, "d": PART})


def placed(index: str) -> str:
    """The larger of two with its place: places of this shape."""
    kinds = {"a": PART, "b": PART, "i": index, "j": index, "d": PART, "e": index}
    ins, outs = (", ".join(kinds[n] for n in names) for names in ("abij", "de"))
    return program(kinds, f"pto.tpartargmax ins(%a, %b, %i, %j : {ins}) outs(%d, %e : {outs})")


def by_rows(name: str, column: str, more: str = "", **tmp: str) -> str:
    return of(name, {"a": FULL, "b": column, **tmp, "d": FULL}, more)


def handle(src: str, dst: str) -> str:
    return program({"t": src}, f"%u = pto.bitcast %t : {src} -> {dst}")


def bytes_of(scale: str, src: str = FULL, **tmp: str) -> str:
    args = {
        "a": src,
        "s": scale,
        **tmp,
        "d": BYTES if src == FULL else f"{BYTES[:-1]}, valid=?x64>",
    }
    text = of("tquant", args, " {quant_type = #pto<quant_type int8_sym>}")
    for name, kind in tmp.items():  # behind dst
        text = text.replace(f", %{name} : ", " : ").replace(f", {kind}) outs(", ") outs(")
        text = text.replace(f"outs(%d : {args['d']}", f"outs(%d, %{name} : {args['d']}, {kind}")
    return text


OPEN = tile("vec", "8x64xf32", "valid=?x64")
BLOCK = tile("vec", "8x8xf32")
STRUCT = "!pto.struct<f32, i8>"
FIELD = program({"s": STRUCT, "x": "f32"}, f"pto.struct_set %s[0], %x : {STRUCT}, f32")
AB = {"a": HALF, "b": HALF}
CASES = {
    "choice with scratch of words": (chosen("tsel", "1x8xi32", **AB), A3, FINE),
    "choice with scratch of floats": (chosen("tsel", "1x8xf32", **AB), A3, FINE),
    "choice with scratch of halves": (chosen("tsel", "1x16xi16", **AB), A3, {"element-type"}),
    "choice with scratch of 8 bytes": (chosen("tsel", "1x2xi32", **AB), A3, {"shape"}),
    "that A5 ignores": (chosen("tsel", "1x16xi16", **AB), A5, FINE),
    "choice of a number": (chosen_or("1x64xf16"), A3, FINE),
    "with scratch of another type": (chosen_or("1x64xi16"), A3, {"element-type"}),
    "with scratch of half a line": (chosen_or("1x32xf16"), A3, {"shape"}),
    "sort": (sorted_with("8x64xf32"), A3, FINE),
    "sort with little scratch": (sorted_with("1x64xf32"), HARD, FINE),
    "transpose": (transposed(LINES, "64x32xf16", TRANSPOSED), HARD, FINE),
    "transpose with little scratch": (transposed(LINES, "32x32xf16", TRANSPOSED), A3, {"shape"}),
    "transpose that needs no scratch": (transposed(TALL, "1x8xf32", LONG), HARD, FINE),
    "transpose with other scratch": (
        transposed(LINES, "64x32xi16", TRANSPOSED),
        HARD,
        {"element-type"},
    ),
    "power": (power("8x64xf32, valid=8x32"), HARD, FINE),
    "power with little scratch": (power("8x32xf32"), A3, {"shape"}),
    "the larger of two": (larger(PART, FULL), HARD, FINE),
    "the larger of two shapes": (larger(NARROW, FULL), HARD, {"shape"}),
    "remainders": (rest("8x128xf32"), HARD, FINE),
    "remainders with little scratch": (rest("8x32xf32"), A5, FINE),
    "remainders with scratch of another type": (rest("8x128xi32"), HARD, {"element-type"}),
    "remainders of one divisor": (rest_of_one("1x64xf32"), HARD, FINE),
    "the same with little scratch": (rest_of_one("8x64xf32, valid=8x32"), A3, {"shape"}),
    "the same with scratch of another type": (rest_of_one("1x64xi32"), HARD, {"element-type"}),
    "slopes": (sloped(PART), HARD, FINE),
    "slopes of another shape": (sloped(NARROW), HARD, {"shape"}),
    "the place of the larger": (placed(tile("vec", "8x64xi32, valid=8x32")), HARD, FINE),
    "places of another shape": (placed(tile("vec", "8x32xi32")), HARD, {"shape"}),
    "a column for all rows": (by_rows("trowexpandadd", COLUMN, t=FULL), HARD, FINE),
    "blocks for all rows": (by_rows("trowexpandadd", BLOCK), HARD, FINE),
    "blocks with scratch": (by_rows("trowexpanddiv", BLOCK, HIGH, t=FULL), A5, FINE),
    "blocks, precise, without scratch": (
        by_rows("trowexpanddiv", BLOCK, HIGH),
        A5,
        {"operand-count"},
    ),
    "of A3 without scratch": (by_rows("trowexpanddiv", BLOCK, HIGH), A3, {"operand-count"}),
    "blocks with scratch on A3": (by_rows("trowexpanddiv", BLOCK, t=FULL), A3, {"layout"}),
    "bits of another type": (handle(FULL, tile("vec", "8x64xi32")), HARD, FINE),
    "bits of the same type": (handle(FULL, FULL), HARD, {"element-type"}),
    "bits of a part": (handle(FULL, tile("vec", "8x64xi32, valid=8x32")), HARD, {"shape"}),
    "bits with another pad": (handle(FULL, tile("vec", "8x64xi32", "pad=1")), HARD, {"layout"}),
    "factors by rows": (bytes_of(COLUMN, t=FULL), A3, FINE),
    "two factors by rows": (bytes_of(PAIR), A3, {"shape"}),
    "two factors by rows on A5": (bytes_of(PAIR), A5, FINE),
    "scratch of an unknown region": (bytes_of(COLUMN, OPEN), A3, {"dynamic-valid"}),
    "on A5, where there is none": (bytes_of(COLUMN, OPEN), A5, FINE),
    "a struct of the caller": (FIELD, HARD, {"scope"}),
}


@every("case", CASES.values(), ids=CASES)
def test_operands_that_it_asks_for(case: Case) -> None:
    require_slugs(*case)


@pytest.mark.parametrize("kind", [COLUMN, BLOCK])
def test_level_3_needs_no_scratch_to_expand(kind: str) -> None:
    """The library has a buffer of its own for columns; blocks of 32 bytes and A5 need none."""
    placed = f"{{\n%n = arith.constant 0 : i64\n%t = pto.alloc_tile addr = %n : {FULL}\n"
    again = pto.loads(by_rows("trowexpandadd", kind).replace("{\n", placed, 1))
    assert [d.slug for t in HARD for d in again.check(t)] == []


def sorted_at_level_3(valid: str) -> str:
    kinds = {"a": "8x48xf32", "i": "8x48xui32", "d": "8x96xf32"}
    tiles = {name: tile("vec", kind, valid) for name, kind in kinds.items()}
    rows = " valid_row = %n valid_col = %n" if "?" in valid else ""
    made = (
        line
        for place, (name, kind) in enumerate(tiles.items())
        for line in (
            f"%at{name} = arith.constant {place * 8192} : i64",
            f"%{name} = pto.alloc_tile addr = %at{name}{rows} : {kind}",
        )
    )
    ins = f"ins(%a, %i : {tiles['a']}, {tiles['i']}) outs(%d : {tiles['d']})"
    return program({}, "%n = arith.constant 8 : index", *made, f"pto.tsort32 {ins}")


@pytest.mark.parametrize("target", HARD)
def test_level_3_names_the_scratch_of_a_sort_of_unknown_width(target: str) -> None:
    assert "level" in wrong(sorted_at_level_3("valid=?x?"), target)
    assert "level" not in wrong(sorted_at_level_3("valid=8x32"), target)


def test_an_index_gather_of_older_text_has_no_scratch_on_a2a3() -> None:
    """The first assembler and the first C++ call took it; a pass makes it what they take now."""
    kind, indices = tile("vec", "16x32xf32"), tile("vec", "16x32xi32")
    given = {"x": kind, "i": indices, "y": kind}
    text = program(given, f"pto.tgather ins(%x, %i : {kind}, {indices}) outs(%y : {kind})")
    (found,) = pto.loads(text).check("a2a3")
    assert found.slug == "operand-count"
    assert "--passes scratch" in str(found.help)
    assert not wrong(text, "a5")
    named = run_passes(pto.loads(text).module, ["scratch"], TARGETS["a2a3"])
    assert not [d for d in Program(named).check("a2a3") if d.is_error]
