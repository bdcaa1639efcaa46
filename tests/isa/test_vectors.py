"""Elementwise, reductions and expands: meaning, legality per target, text and C++.

What holds for conversions alone is in test_conversion.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from naming import named
from oracles.formats import FORMATS, storage_type
from tiles import made, verdict, zeros

A2A3 = {"i16", "i32", "f16", "f32"}
INTS = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}
ALL = INTS | {"f16", "bf16", "f32"}
FLOATS = {"f16", "bf16", "f32"}
TARGETS = ("cpu", "a2a3", "a5")

# op -> element types on cpu, a2a3, a5
TYPES = {
    "tadd": (ALL, A2A3, ALL),
    "tsub": (ALL, A2A3, ALL),
    "tmul": (ALL, A2A3, ALL - {"i8", "u8"}),
    "tmax": (ALL, A2A3, ALL),
    "texp": (FLOATS, {"f16", "f32"}, {"f16", "f32"}),
    "trelu": (ALL, {"f16", "f32", "i32"}, {"f16", "f32", "i32"}),
    "tadds": (ALL, A2A3, ALL),
    "trowsum": (FLOATS | {"i16", "i32"}, A2A3, A2A3 | {"i64", "u64"}),
    "trowmax": (ALL, A2A3, A2A3 | {"i8", "u8", "i64", "u64"}),
    "tcolsum": (ALL, A2A3, ALL),
    "trowexpandmul": ({"f16", "f32", "i16", "u16", "i32", "u32", "u8"}, A2A3, ALL),
}


def sample(op: str, dtype: str) -> list[Any]:
    """Operands of 64 x 64 that any target takes but for their element type."""
    whole, size = f"vec {dtype} 64x64", storage_type(dtype).itemsize
    if op in ("tadd", "tsub", "tmul", "tmax"):
        return [zeros(whole), zeros(whole), zeros(whole)]
    if op == "tadds":
        return [zeros(whole), zeros(whole), 1]
    if op in ("texp", "trelu"):
        return [zeros(whole), zeros(whole)]
    if op == "trowexpandmul":
        return [zeros(whole), zeros(whole), zeros(f"vec {dtype} 64x{32 // size}")]
    dst = f"vec {dtype} 1x64" if op == "tcolsum" else f"vec {dtype} 64x64 valid 64x1"
    return [zeros(dst), zeros(whole)]


@pytest.mark.parametrize("op", list(TYPES))
def test_element_types(op: str) -> None:
    for legal, target in zip(TYPES[op], TARGETS, strict=True):
        for dtype in FORMATS:
            with named(target, dtype), pto.target(target):
                slug = "" if dtype in legal else "element-type"
                verdict(target, slug, partial(getattr(pto, op), *sample(op, dtype)))


# Meaning -----------------------------------------------------------------------------------------


def test_row_sums_of_narrow_floats_round_once() -> None:
    """1 + 1023 * 2**-11 is 1.5 by row; by column every step rounds, and it stays 1."""
    data = np.full((16, 1024), 2.0**-11, np.float16)
    data[:, 0] = 1
    out = made("vec f16 16x16 valid 16x1")
    pto.trowsum(out, made("vec f16 16x1024", data))
    assert out.numpy().tolist() == [[1.5]] * 16
    column = made("vec f16 1x16")
    pto.tcolsum(column, made("vec f16 1024x16", np.ascontiguousarray(data.T)))
    assert column.numpy().tolist() == [[1.0] * 16]


def test_a_column_sum_of_no_rows_changes_nothing() -> None:
    out = made("vec f32 1x8", np.ones((1, 8), np.float32))
    pto.tcolsum(out, made("vec f32 8x8 valid 0x8"))
    assert out.numpy().tolist() == [[1.0] * 8]


def test_a_block_as_wide_as_the_result() -> None:
    data = np.arange(16, dtype=np.float32).reshape(2, 8)
    x, y, out = made("vec f32 2x8", data), made("vec f32 2x8", data), made("vec f32 2x8")
    pto.trowexpandmul(out, x, y)
    assert np.array_equal(out.numpy(), data * data)


# Other rules -------------------------------------------------------------------------------------


WRONG = [
    ("cpu a2a3 a5", "shape", "tadd", ("vec f32 8x8", "vec f32 8x8", "vec f32 8x8 valid 8x7")),
    ("cpu a2a3 a5", "shape", "texp", ("vec f32 8x8", "vec f32 8x8 valid 7x8")),
    ("a2a3 a5", "layout", "tadd", ("vec f32 8x8 dn",) * 3),
    ("cpu a2a3 a5", "layout", "tadds", ("vec f32 8x8 dn", "vec f32 8x8 dn", 1.0)),
    ("a2a3 a5", "location", "trelu", ("mat f32 8x8", "mat f32 8x8")),
    ("cpu", "shape", "trowsum", ("vec f32 8x8 valid 8x2", "vec f32 8x8")),
    ("cpu a2a3 a5", "shape", "trowmax", ("vec f32 8x8 valid 4x1", "vec f32 8x8")),
    ("cpu", "shape", "trowsum", ("vec f32 8x8 valid 8x1", "vec f32 9x8 valid 8x8")),
    ("cpu a2a3 a5", "layout", "trowsum", ("vec f32 8x8 dn valid 8x1", "vec f32 8x8")),
    ("a2a3 a5", "element-type", "trowsum", ("vec f32 8x8 valid 8x1", "vec f16 8x16")),
    ("cpu a2a3 a5", "shape", "tcolsum", ("vec f32 8x8 valid 2x8", "vec f32 8x8")),
    ("cpu a2a3 a5", "layout", "tcolsum", ("vec f32 1x8", "vec f32 8x8 dn")),
    ("cpu a2a3 a5", "shape", "trowexpandmul", ("vec f32 8x16",) * 3),
    (
        *("cpu a2a3 a5", "shape", "trowexpandmul"),
        ("vec f32 8x16", "vec f32 8x16", "vec f32 8x8 valid 4x8"),
    ),
    ("cpu a2a3 a5", "shape", "tcvt", ("vec f32 8x8", "vec i32 8x8 valid 8x7")),
]


def test_what_is_refused() -> None:
    for targets, slug, call, given in WRONG:
        for target in TARGETS:
            with named(target, call, given), pto.target(target):
                operands = [zeros(one) if isinstance(one, str) else one for one in given]
                expected = slug if target in targets.split() else ""
                verdict(target, expected, partial(getattr(pto, call), *operands))


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_the_scratch_of_the_binary_order(target: str) -> None:
    def add(tmp: str | None) -> None:
        scratch = None if tmp is None else made(tmp)
        pto.tcolsum(zeros("vec f32 1x64"), zeros("vec f32 7x64"), tmp=scratch, is_binary=True)

    with pto.target(target):
        verdict(target, "", lambda: add("vec f32 4x64"))
        verdict(target, "", lambda: add(None))  # the compiler finds room, but at level 3
        verdict(target, "shape", lambda: add("vec f32 5x56"))
        verdict(target, "shape", lambda: add("vec f32 3x64"))  # seven rows: the last has no pair
        verdict(target, "element-type", lambda: add("vec i32 4x64"))


@every("target", TARGETS)
def test_bits_of_a_comparison_stand_in_bytes_of_either_sign(target: str) -> None:
    with pto.target(target):
        dst, a = zeros("vec i8 16x32"), zeros("vec f16 16x16")
        verdict(target, "", lambda: pto.tcmp(dst, a, a))
        verdict(target, "", lambda: pto.tcmps(dst, a, 1.0))


@pytest.mark.parametrize(("target", "warnings"), [("a2a3", 1), ("a5", 0)])
def test_level_3_may_leave_out_the_scratch_of_tci(target: str, warnings: int) -> None:
    """Model kernels do; the scalar unit has a form of its own."""
    text = """\
%a = arith.constant 0 : i64
%s = arith.constant 5 : i32
%t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 1x32xi32>
pto.tci ins(%s : i32) outs(%t : !pto.tile_buf<vec, 1x32xi32>)
"""
    found = pto.loads(text).check(target)
    assert [(d.slug, str(d.severity.value)) for d in found] == [("level", "warning")] * warnings


@every(
    ("narrow", "tmp", "a2a3", "a5"),
    [
        ("vec f32 16x1 dn", "vec f32 8x64", "", ""),
        ("vec f32 16x1 dn", "vec f32 2x64", "", ""),
        ("vec f32 16x1 dn", "vec f32 1x64", "shape", ""),
        ("vec f32 16x8", "vec f32 8x64", "layout", ""),
    ],
)
def test_scratch_of_an_expand(narrow: str, tmp: str, a2a3: str, a5: str) -> None:
    for target, slug in (("a2a3", a2a3), ("a5", a5)):
        with pto.target(target):
            tiles = [zeros("vec f32 16x32"), zeros("vec f32 16x32"), zeros(narrow)]
            verdict(target, slug, lambda tiles=tiles: pto.trowexpandmul(*tiles, tmp=made(tmp)))


# Text --------------------------------------------------------------------------------------------

T, INT = "!pto.tile_buf<vec, 16x32xf32>", "!pto.tile_buf<vec, 16x32xi32>"
ROW, COL = "!pto.tile_buf<vec, 1x32xf32>", "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"

# what stands for one program each, and its C++
SPELLINGS: dict[str, tuple[str, ...]] = {
    "TADD(d, a, b);": (
        f"%d = tadd %a, %b : {T}",
        f"%d = pto.tadd %a, %b : ({T}, {T}) -> {T}",
        f"%d = tadd %a, %b : {T}, {T} -> {T}",
    ),
    "TEXP(d, a);": (f"%d = texp %a : {T}", f"%d = pto.texp %a : ({T}) -> {T}"),
    "TADDS(d, a, s);": (
        f"%d = tadds %a, %s : {T}",
        f"%d = tadds %a, %s : {T}, f32",
        f"%d = pto.tadds %a, %s : ({T}, dtype) -> {T}",
        f"%d = pto.tadds %a, %s : ({T}, f32) -> {T}",
    ),
    "TROWSUM(d, a, t);": (
        f"%d = trowsum %a, %t : {T}, {T} -> {COL}",
        f"%d = pto.trowsum %a, %t : ({T}, {T}) -> {COL}",
    ),
    "TCOLSUM(d, a);": (
        f"%d = tcolsum %a : {T} -> {ROW}",
        f"%d = pto.tcolsum %a : ({T}) -> {ROW}",
    ),
    "TCVT(d, a, RoundMode::CAST_RINT);": (
        f"%d = tcvt %a {{rmode = #pto.round_mode<CAST_RINT>}} : {T} -> {INT}",
        f"%d = tcvt %a {{rmode = #pto<round_mode RINT>}} : {T} -> {INT}",
        f"%d = pto.tcvt %a : ({T}) -> {INT}",
    ),
    "TCVT(d, a, RoundMode::CAST_FLOOR, SaturationMode::OFF);": (
        f"%d = tcvt %a {{rmode = #pto.round_mode<CAST_FLOOR>, sat_mode = "
        f"#pto<saturation_mode OFF>}} : {T} -> {INT}",
        f"%d = pto.tcvt %a {{rmode = #pto<round_mode FLOOR>, sat_mode = "
        f"#pto<saturation_mode OFF>}} : ({T}) -> {INT}",
    ),
}

# the same with its destination given
INTO: dict[str, tuple[str, ...]] = {
    "TADD(d, a, b);": (
        f"pto.tadd ins(%a, %b : {T}, {T}) outs(%d : {T})",
        f"tadd %d, %a, %b : {T}",
    ),
    "TADDS(d, a, s);": (
        f"pto.tadds ins(%a, %s : {T}, f32) outs(%d : {T})",
        f"pto.tadds ins(%a, %s : {T}, dtype) outs(%d : {T})",
    ),
    "TROWMAX(d, a);": (f"pto.trowmax ins(%a : {T}) outs(%d : {COL})",),
    "TROWMAX(d, a, t);": (f"pto.trowmax ins(%a, %t : {T}, {T}) outs(%d : {COL})",),
    "TCOLSUM(d, a, t, true);": (
        f"pto.tcolsum ins(%a, %t {{isBinary = true}} : {T}, {T}) outs(%d : {ROW})",
        f"pto.tcolsum ins(%a, %t : {T}, {T}) outs(%d : {ROW}) {{isBinary = true}}",
        f"pto.tcolsum ins(%a, %t : {T}, {T}) outs(%d : {ROW}) isBinary = true",
    ),
    "TROWEXPANDMUL(d, a, b, t);": (
        f"pto.trowexpandmul ins(%a, %b, %t : {T}, {COL}, {T}) outs(%d : {T})",
    ),
    "TCVT(d, a, RoundMode::CAST_ROUND);": (
        f"pto.tcvt ins(%a{{rmode = #pto<round_mode ROUND>}} : {T}) outs(%d : {INT})",
        f"pto.tcvt ins(%a {{rmode = #pto.round_mode<CAST_ROUND>}}: {T}) outs(%d : {INT})",
        f"pto.tcvt ins(%a : {T}) outs(%d : {INT}) {{rmode = #pto<round_mode ROUND>}}",
    ),
    "TCVT(d, a, t, RoundMode::CAST_RINT, SaturationMode::ON);": (
        f"pto.tcvt ins(%a, %t {{sat_mode = #pto<saturation_mode ON>}} : {T}, {T}) outs(%d : {INT})",
    ),
}


@every(("cpp", "texts"), [*SPELLINGS.items(), *INTO.items()])
def test_spellings_of_one_program(cpp: str, texts: tuple[str, ...]) -> None:
    programs = [pto.loads(text) for text in texts]
    assert len({program.text("dps") for program in programs}) == 1
    assert cpp in programs[0].text("cpp").replace("  ", "")
    for form in ("as", "ssa", "dps"):
        printed = programs[0].text(form)
        assert pto.loads(printed).text(form) == printed


def test_printed_forms() -> None:
    add = pto.loads(SPELLINGS["TADD(d, a, b);"][0])
    assert add.text("as").strip().startswith("%d = tadd %a, %b : !pto.tile<")
    assert "->" not in add.text("as")
    convert = pto.loads(INTO["TCVT(d, a, RoundMode::CAST_ROUND);"][2])
    assert "ins(%a {rmode = #pto<round_mode ROUND>} : " in convert.text("dps")


def test_elided_types_follow() -> None:
    ones = np.ones((3, 20), np.float16)
    found = pto.loads("%d = tadd %a, %b").run(a=ones, b=ones)
    assert found["d"].dtype == np.float16
    assert found["d"].tolist() == (ones + ones).tolist()
    sums = pto.loads("%r = trowsum %a\n%c = tcolsum %a").run(a=ones)
    assert sums["r"].tolist() == [[20.0]] * 3
    assert sums["c"].tolist() == [[3.0] * 20]
    more = pto.loads("%d = tadds %a, %s : !pto.tile<...>, dtype").run(a=ones, s=1.5)
    assert more["d"].tolist() == (ones + np.float16(1.5)).tolist()


@every("target", ["cpu", "a2a3", "a5"])
def test_a_row_reduction_of_no_columns_changes_nothing(target: str) -> None:
    with pto.target(target):
        dst, src = zeros("vec f32 8x8 valid 8x1"), zeros("vec f32 8x8 valid 8x0")
        pto.tadds(dst, dst, 7.0)
        before = dst.storage().tolist()
        for function in (pto.trowsum, pto.trowprod, pto.trowmax, pto.trowmin):
            function(dst, src)
        assert dst.storage().tolist() == before


@every("name", ["trowexpandmul", "trowexpandsub", "trowexpanddiv"])
def test_level_3_may_leave_out_the_scratch_of_a_column_that_is_expanded(name: str) -> None:
    """The library has a buffer for it above what programs may use: no warning, as of A5."""
    text = f"""\
%a = arith.constant 0 : i64
%b = arith.constant 8192 : i64
%m = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 16x64xf32>
%c = pto.alloc_tile addr = %b : !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
pto.{name} ins(%m, %c : !pto.tile_buf<vec, 16x64xf32>,
    !pto.tile_buf<vec, 16x1xf32, blayout=col_major>) outs(%m : !pto.tile_buf<vec, 16x64xf32>)
"""
    for target in ("a2a3", "a5"):
        assert "level" not in {d.slug for d in pto.loads(text).check(target)}
