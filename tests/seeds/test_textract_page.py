"""The English page of the extract: each of its statements, shown with a formula of the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from seed_pages import (
    ALL,
    FP4,
    HARDWARE,
    TYPES,
    Array,
    B,
    T,
    accepts,
    f32,
    only_op,
    parameters,
    ramp,
    refused,
    rules,
    run,
    spec,
)

import ptokit as pto
from every import every
from ptokit.isa.index import lookup
from ptokit.values.enumerations import ReluPreMode
from tiles import bits, made, parameter

STANDARD = "textract %src[%r0, %r1]"
FIX_PIPE = "textract.fp %src, %fp[%r0, %r1]"
LEFT = {"cpu": "nz", "a2a3": "zz", "a5": "nz"}


def window(src: Array, row: int, col: int, rows: int, cols: int) -> Array:
    """dst[i, j] = src[row + i, col + j], element by element."""
    dst = np.empty((rows, cols), src.dtype)
    for i in range(rows):
        for j in range(cols):
            dst[i, j] = src[row + i, col + j]
    return dst


def quantised(src: Array, scales: Array) -> Array:
    """Scale column by column, round half to even, saturate to int8."""
    return np.clip(np.rint(src * scales), -128, 127).astype(np.int8)


# Summary, mechanism, variants --------------------------------------------------------------------


def test_set() -> None:
    assert {p.__module__.split(".")[3] for p in lookup("textract")} == {"layout"}
    assert {p.__module__.split(".")[3] for p in lookup("textract_fp")} == {"layout"}


@every("target", ALL)
@every(("row", "col"), [(0, 0), (16, 32), (48, 16), (32, 192)])
def test_window(target: str, row: int, col: int) -> None:
    x = ramp(64, 256).astype(np.float16)
    with pto.target(target):
        src, dst = made("mat f16 64x256 nz", x), pto.tile_left("f16", 16, 64)
        pto.textract(dst, src, row, col)
        assert np.array_equal(dst.numpy(), window(x, row, col, 16, 64))


def test_window_is_the_valid_region() -> None:
    """Where the declared shape is larger than the valid region, only the latter is written."""
    x = ramp(16, 32)
    src, dst = made("vec f32 16x32", x), made("vec f32 8x16 valid 3x5")
    for target in ALL:
        with pto.target(target):
            pto.textract(dst, src, 2, 8)
            assert np.array_equal(dst.numpy(), window(x, 2, 8, 3, 5))
    written = dst.handle.memory.shadow.astype(bool).sum()
    assert written == 3 * 5 * 4


@every("target", ALL)
def test_insert_is_the_counterpart(target: str) -> None:
    """What an insert writes at a place an extract reads there."""
    x = ramp(8, 16, start=1000)
    whole, part = made("vec f32 32x64", ramp(32, 64)), made("vec f32 8x16", x)
    back = made("vec f32 8x16")
    with pto.target(target):
        pto.tinsert(whole, part, 4, 24)
        pto.textract(back, whole, 4, 24)
    assert np.array_equal(back.numpy(), x)
    around = ramp(32, 64)
    around[4:12, 24:40] = x
    assert np.array_equal(whole.numpy(), around)


def acc(rows: int = 32, cols: int = 64) -> tuple[pto.Tile, Array]:
    x = (ramp(rows, cols) - 700) / 4
    return made(f"acc f32 {rows}x{cols} nz", x), x


@every("target", ALL)
def test_fix_pipe_scales_by_source_column(target: str) -> None:
    """Element (i, j) uses the parameter of column col + j, not of column j."""
    scales = (np.arange(64, dtype=np.float32) + 1) / 16
    src, x = acc()
    dst = made("mat i8 16x32 nz valid 16x16")
    with pto.target(target):
        pto.textract_fp(dst, src, parameters(scales), 8, 16)
    wanted = quantised(window(x, 8, 16, 16, 16), scales[16:32])
    assert np.array_equal(dst.numpy(), wanted)
    assert not np.array_equal(wanted, quantised(window(x, 8, 16, 16, 16), scales[:16]))


@every("target", ALL)
def test_relu(target: str) -> None:
    """Negative values become zero."""
    src, x = acc()
    words: tuple[tuple[Any, float], ...] = (("normal", 0), ("none", -np.inf))
    for word, floor in words:
        dst = made("mat f16 16x16 nz")
        with pto.target(target):
            pto.textract(dst, src, 0, 32, relu=word)
        wanted = np.maximum(window(x, 0, 32, 16, 16), floor).astype(np.float16)
        assert np.array_equal(dst.numpy(), wanted)
    assert [str(w) for w in ReluPreMode] == list(ReluPreMode.options())
    assert {w.name for w in ReluPreMode} == {"NO_RELU", "NORMAL_RELU"}


@every("target", ALL)
def test_scalar_quant(target: str) -> None:
    """One parameter serves all columns, whatever the window's column."""
    src, x = acc()
    dst, one = made("mat i8 16x32 nz"), parameter(0.5)
    with pto.target(target):
        pto.textract(dst, src, 0, 32, quant=one)
        assert np.array_equal(dst.numpy(), quantised(window(x, 0, 32, 16, 32), f32([0.5])))
        pto.textract(dst, src, 0, 32, quant=one, relu="normal")
    positive = np.maximum(quantised(window(x, 0, 32, 16, 32), f32([0.5])), 0)
    assert np.array_equal(dst.numpy(), positive)


def test_suffix_means_fix_pipe() -> None:
    """The operand of the suffix is a tile of parameters; a number to fill with is a wrong call."""
    src, _ = acc()
    fill: Any = 1.0
    with pytest.raises(TypeError, match="fp must be a tile"):
        pto.textract_fp(made("mat i8 16x32 nz valid 16x16"), src, fill, 0, 0)


# Tile pairs and layouts --------------------------------------------------------------------------

MAT_PAIRS = [
    ("left f16 32x32 {left}", "mat f16 64x64 nz", ("a2a3", "a5")),
    ("right f16 32x32 zn", "mat f16 64x64 zn", ("a2a3", "a5")),
    ("scale_left f8e8m0 32x4 zz", "mat f8e8m0 64x8 zz/32", ("a5",)),
    ("scale_right f8e8m0 4x32 nn", "mat f8e8m0 8x64 nn/32", ("a5",)),
    ("mat f16 32x32 nz", "acc f32 64x64 nz", ("a2a3", "a5")),
]


@every(("dst", "src", "targets"), MAT_PAIRS)
@every("target", HARDWARE)
def test_pairs(dst: str, src: str, targets: tuple[str, ...], target: str) -> None:
    with pto.target(target):
        source, there = bits(src), made(dst.format(left=LEFT[target]))
        assert accepts(pto.textract, there, source) == (target in targets)
        if target not in targets:
            found = refused("location", pto.textract, there, source)
            assert "is one of: mat -> left, mat -> right" in rules(found)


@pytest.mark.parametrize("target", HARDWARE)
def test_other_pairs_are_refused(target: str) -> None:
    with pto.target(target):
        for dst, src in (
            ("mat f16 16x16 nz", "mat f16 32x32 nz"),
            ("left f16 16x16", "vec f16 16x16"),
        ):
            refused("location", pto.textract, made(dst), bits(src))


@every("target", HARDWARE)
@every("there", ["left", "right"])
def test_matrix_layouts(target: str, there: str) -> None:
    """Left and Right take zn and nz, and nothing else."""
    with pto.target(target):
        dst = pto.tile_left("f16", 32, 32) if there == "left" else pto.tile_right("f16", 32, 32)
        for layout in ("zn", "nz"):
            x = ramp(64, 64).astype(np.float16)
            pto.textract(dst, made(f"mat f16 64x64 {layout}", x), 16, 32)
            assert np.array_equal(dst.numpy(), window(x, 16, 32, 32, 32))
        for layout in ("nd", "dn", "zz", "nn"):
            found = refused("layout", pto.textract, dst, bits(f"mat f16 64x64 {layout}"))
            assert "src.layout in (zn, nz)" in rules(found)


def test_scale_layouts() -> None:
    """Scales keep their layout: zz for the left ones, nn for the right ones."""
    with pto.target("a5"):
        for there, own, shapes in (
            ("scale_left", "zz", ("32x4", "64x8")),
            ("scale_right", "nn", ("4x32", "8x64")),
        ):
            codes = np.arange(512, dtype=np.uint8).reshape([int(n) for n in shapes[1].split("x")])
            src = made(f"mat u8 {shapes[1]} {own}/32", codes % 251)
            dst = made(f"{there} u8 {shapes[0]} {own}")
            found = refused("element-type", pto.textract, dst, src)  # u8 is not a scale
            assert "src.dtype in" in rules(found)
            src = made(f"mat i8 {shapes[1]} {own}/32", (codes % 127).astype(np.int8))
            dst = made(f"{there} i8 {shapes[0]} {own}")
            pto.textract(dst, src)
            rows, cols = dst.numpy().shape
            assert np.array_equal(dst.numpy(), window(codes % 127, 0, 0, rows, cols))
            for other in {"nz", "zn", "zz", "nn", "nd"} - {own}:
                fitting = made(f"{there} i8 32x32 {own}")
                refused("layout", pto.textract, fitting, bits(f"mat i8 64x64 {other}"))


A5_TYPES = {"i8", "hif8", "f8e5m2", "f8e4m3", "f16", "bf16", "f32", "f8e8m0", *FP4}
A2A3_TYPES = {"i8", "f16", "bf16", "f32"}


@every("dtype", [*TYPES, *FP4])
def test_element_types(dtype: str) -> None:
    """The ten types of the list on A5; A2/A3 has four of them."""
    for target, types in (("a5", A5_TYPES), ("a2a3", A2A3_TYPES)):
        with pto.target(target):
            src = bits(f"mat {dtype} 128x128 nz")
            for dst in (pto.tile_left(dtype, 64, 64), pto.tile_right(dtype, 64, 64)):
                if dtype in types:
                    pto.textract(dst, src, 64, 64)
                else:
                    assert "src.dtype in" in rules(refused("element-type", pto.textract, dst, src))


# Syntax ------------------------------------------------------------------------------------------

SYNTAX = {
    "asm": f"%dst = {STANDARD} : {T} -> {T}",
    "asm-fp": f"%dst = {FIX_PIPE} : {T}, {T} -> {T}",
    "ssa": f"// Standard\n%dst = pto.textract %src, %idxrow, %idxcol : ({T}, dtype, dtype) -> {T}",
    "ssa-fp": "// Fix-pipe\n%dst = pto.textract_fp %src, %fp, %idxrow, %idxcol"
    f" : ({T}, {T}, dtype, dtype) -> {T}",
    "dps": f"pto.textract ins(%src, %idxrow, %idxcol : {B}, dtype, dtype) outs(%dst : {B})",
    "dps-fp": f"pto.textract_fp ins(%src, %fp, %idxrow, %idxcol : {B}, {B}, dtype, dtype)"
    f" outs(%dst : {B})",
}


@pytest.mark.parametrize("form", SYNTAX)
def test_syntax(form: str) -> None:
    """Every line parses, says the operands of the page and runs on arrays."""
    text, x = SYNTAX[form], ramp(32, 64) - 700
    op = only_op(text)
    assert op.page.name == ("textract_fp" if "fp" in form else "textract")
    row, col = ("r0", "r1") if form.startswith("asm") else ("idxrow", "idxcol")
    (first,), (second,) = op.bound("row"), op.bound("col")
    assert (first.name, second.name) == (row, col)
    arrays: dict[str, Any] = {"src": x, row: 16, col: 32}
    if "fp" in form:
        arrays["fp"] = np.full((1, 64), parameter(0.5), np.uint64)
        text = text.replace(T, TYPED[0], 1).replace(B, TYPED[0], 1)
        text = text.replace(T, TYPED[1], 1).replace(B, TYPED[1], 1)
        text = text.replace(T, TYPED[2]).replace(B, TYPED[2])
        wanted = quantised(window(x, 16, 32, 16, 16), f32([0.5]))
    else:
        wanted = window(x, 16, 32, 16, 32)
    for target in ALL:
        assert np.array_equal(run(text, target, **arrays)["dst"], wanted)


TYPED = (
    spec("acc f32 32x64 nz"),
    spec("scaling u64 1x64"),
    spec("mat i8 16x32 nz valid 16x16"),
)


def test_fix_pipe_text_names_its_parameters() -> None:
    """A fix-pipe extract without its parameter tile is refused."""
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(f"%dst = textract.fp %src[%r0, %r1] : {T} -> {T}")
    assert {d.slug for d in problem.value.diagnostics} <= {"operand-count", "type-mismatch"}


@every("index", ["i16", "i32", "i64", "ui16", "index", "dtype"])
def test_index_types(index: str) -> None:
    x = ramp(32, 64)
    text = f"%dst = pto.textract %src, %r, %c : ({T}, {index}, {index}) -> {T}"
    assert np.array_equal(run(text, src=x, r=3, c=8)["dst"], x[3:, 8:])


def test_index_range() -> None:
    """Sixteen bits, counted from 0."""
    src, dst = bits("vec f32 16x16"), made("vec f32 8x8")
    for row, col in ((-1, 0), (0, -1), (65536, 0), (0, 65536)):
        refused("window-out-of-bounds", pto.textract, dst, src, row, col)
    tall, wide = bits("vec i8 66000x32"), bits("vec i8 1x66016")
    dst = made("vec i8 1x32")
    pto.textract(dst, tall, 65535, 0)
    pto.textract(dst, wide, 0, 65535)
    assert "row <= 65535" in rules(refused("window-out-of-bounds", pto.textract, dst, tall, 65536))
    found = refused("window-out-of-bounds", pto.textract, dst, wide, 0, 65536)
    assert "col <= 65535" in rules(found)


# Constraints -------------------------------------------------------------------------------------


@every("target", ALL)
def test_runtime_bounds(target: str) -> None:
    with pto.target(target):
        src = bits("mat f16 64x64 nz")
        dst = pto.tile_left("f16", 32, 32)
        pto.textract(dst, src, 32, 32)
        for row, col in ((48, 0), (0, 48)):
            found = refused("window-out-of-bounds", pto.textract, dst, src, row, col)
            assert "<= src.valid" in rules(found)
            assert "80 (48 + 32)" in (found[0].seen or "")


def test_declared_shape_counts_on_hardware() -> None:
    """A valid window that fits, in a declared shape that does not."""
    for target, legal in (("cpu", True), ("a2a3", False), ("a5", False)):
        with pto.target(target):
            left = LEFT[target]
            src, dst = bits("mat f16 64x64 nz"), made(f"left f16 32x32 {left} valid 16x16")
            assert accepts(pto.textract, dst, src, 48, 48) == legal
            if not legal:
                for row, col, rule in ((48, 0, "row + dst.rows"), (0, 48, "col + dst.cols")):
                    found = refused("window-out-of-bounds", pto.textract, dst, src, row, col)
                    assert rules(found) == f"{rule} <= src.{rule[-4:]}"


@every("target", ALL)
def test_fix_pipe_bounds(target: str) -> None:
    """The bounds of the plain form hold for the fix-pipe form too."""
    src, _ = acc()
    fp = parameters(np.ones(64, np.float32))
    with pto.target(target):
        dst = made("mat i8 16x32 nz valid 16x16")
        pto.textract_fp(dst, src, fp, 16, 32)
        for row, col, slack in ((17, 0, 0), (-1, 0, 0), (0, -16, 0), (32, 0, 0), (0, 64, 64)):
            wide = parameters(np.ones(64 + slack, np.float32))
            found = refused("window-out-of-bounds", pto.textract_fp, dst, src, wide, row, col)
            assert "<= src.valid" in rules(found) or min(row, col) < 0
        less = made("mat i8 16x32 nz valid 12x16")
        for row, col in ((16, 48), (20, 0)):
            assert accepts(pto.textract_fp, less, src, fp, row, col)


@every("target", ALL)
def test_declared_shape_of_a_fix_pipe_window(target: str) -> None:
    """Hardware moves the valid rows; the headers' bound of the declared shape is a warning."""
    types = spec("acc f32 32x64 nz"), spec("scaling u64 1x64")
    dst = spec("mat i8 16x32 nz valid 12x16")
    for row, col, rule in ((16, 48, "col + dst.cols"), (20, 0, "row + dst.rows")):
        text = f"%dst = textract.fp %src, %fp[{row}, {col}] : {types[0]}, {types[1]} -> {dst}"
        found = [d for d in pto.loads(text).check(target) if d.slug == "window-out-of-bounds"]
        wanted = [] if target == "cpu" else [(f"{rule} <= src.{rule[-4:]}", False)]
        assert [(d.rule, d.is_error) for d in found] == wanted


@pytest.mark.parametrize("target", HARDWARE)
def test_fix_pipe_pairs(target: str) -> None:
    """From the accumulator only, and on A2/A3 to Mat only."""
    src, _ = acc()
    fp = parameters(np.ones(64, np.float32))
    with pto.target(target):
        pto.textract_fp(made("mat i8 32x64 nz"), src, fp)
        left = made(f"left i8 32x64 {LEFT[target]}")
        refused("location", pto.textract_fp, left, src, fp)
        refused("location", pto.textract_fp, made("mat f32 32x64 nz"), bits("mat f32 32x64 nz"), fp)
        assert accepts(pto.textract_fp, made("vec i8 32x64 nz"), src, fp) == (target == "a5")


def test_valid_region_bounds_everywhere() -> None:
    """Data outside the source's valid region are no data, also where storage would have room."""
    for target in ALL:
        with pto.target(target):
            src = bits("vec f32 16x16 valid 8x8")
            refused("window-out-of-bounds", pto.textract, made("vec f32 8x8"), src, 0, 8)


@every("target", ALL)
def test_same_type(target: str) -> None:
    with pto.target(target):
        for dtype in ("f16", "bf16", "i32", "i8"):
            dst = made(f"vec {dtype} 8x32")
            found = refused("element-type", pto.textract, dst, bits("vec f32 8x32"))
            assert "dst.dtype == src.dtype" in rules(found)


@every("target", ALL)
def test_accumulator_narrows(target: str) -> None:
    """The one way on which the type changes: f32 to f16 and bf16, rounded half to even."""
    src, x = acc()
    for dtype in ("f16", "bf16"):
        dst = made(f"mat {dtype} 16x16 nz")
        with pto.target(target):
            pto.textract(dst, src, 0, 16)
        got = dst.numpy().astype(np.float32)
        wanted = window(x, 0, 16, 16, 16).astype(dst.numpy().dtype).astype(np.float32)
        assert np.array_equal(got, wanted)


@every("target", ALL)
def test_parameters_are_in_scaling_memory(target: str) -> None:
    src, _ = acc()
    one = np.full((1, 64), parameter(1), np.uint64)
    with pto.target(target):
        for loc in ("vec", "mat", "bias"):
            wrong = made(f"{loc} u64 1x64", one)
            dst = made("mat i8 16x32 nz valid 16x16")
            found = refused("location", pto.textract_fp, dst, src, wrong)
            assert "fp.loc == scaling" in rules(found)


def test_parameters_come_in_granules() -> None:
    """Columns are counted in parameters; hardware fetches sixteen of them at a time."""
    src, _ = acc()
    fp = parameters(np.ones(64, np.float32))
    for target, legal in (("cpu", True), ("a2a3", False), ("a5", False)):
        with pto.target(target):
            dst = made("mat i8 16x32 nz valid 16x16")
            assert accepts(pto.textract_fp, dst, src, fp, 0, 8) == legal
            assert accepts(pto.textract_fp, dst, src, fp, 0, 32)
            refused(
                "window-out-of-bounds",
                pto.textract_fp,
                dst,
                src,
                parameters(np.ones(32, np.float32)),
                0,
                32,
            )
