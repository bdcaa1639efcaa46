"""The Chinese page of the extract: what it says beyond the English one, and its four programs."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from seed_pages import (
    ALL,
    FP4,
    HARDWARE,
    TYPES,
    B,
    T,
    bits,
    cpp_names,
    made,
    only_op,
    page_of,
    parameter,
    parameters,
    ramp,
    refused,
    rules,
    run,
    spec,
)

import ptokit as pto

LEFT = {"cpu": "nz", "a2a3": "zz", "a5": "nz"}
ASM = f"%dst = textract %src[%r0, %r1] : {T} -> {T}"
SSA = f"%dst = pto.textract %src, %idxrow, %idxcol : ({T}, dtype, dtype) -> {T}"
DPS = f"pto.textract ins(%src, %idxrow, %idxcol : {B}, dtype, dtype) outs(%dst : {B})"


@pytest.mark.parametrize("target", ALL)
def test_valid_region_is_the_window(target: str) -> None:
    """R and C are dst's valid rows and columns; what lies outside them keeps its bytes."""
    x, old = ramp(32, 32), ramp(16, 16, start=5000)
    with pto.target(target):
        src, dst = made("vec f32 32x32", x), made("vec f32 16x16", old)
        part = made("vec f32 16x16 valid 5x8")
        pto.subview(part, dst, 0, 0)
        pto.textract(part, src, 3, 16)
        old[:5, :8] = x[3:8, 16:24]
        assert np.array_equal(dst.numpy(), old)


@pytest.mark.parametrize("layout", ["nd", "dn", "nz", "zn", "zz", "nn"])
def test_mapping_follows_the_layouts(layout: str) -> None:
    """Logical elements move; where they are stored is the layouts' business."""
    x = ramp(32, 32)
    for other in ("nd", "dn", "nz", "zn", "zz", "nn"):
        dst = made(f"mat f32 16x16 {other}")
        pto.textract(dst, made(f"mat f32 32x32 {layout}", x), 16, 8)
        assert np.array_equal(dst.numpy(), x[16:32, 8:24])


@pytest.mark.parametrize("text", [ASM, SSA, DPS], ids=["asm", "ssa", "dps"])
@pytest.mark.parametrize("target", ALL)
def test_syntax(text: str, target: str) -> None:
    op, x = only_op(text), ramp(32, 64)
    indices = [op.bound(name)[0].name for name in ("row", "col")]
    arrays = dict(zip(indices, (16, 32), strict=True))
    assert np.array_equal(run(text, target, src=x, **arrays)["dst"], x[16:, 32:])


def test_signatures() -> None:
    """The four declarations: names, order and the defaults of the first."""
    plain, fix_pipe = page_of(ASM), page_of(ASM.replace("textract %src", "textract.fp %src, %fp"))
    assert cpp_names(plain) == ["dst", "src", "preQuantScalar", "indexRow", "indexCol"]
    assert cpp_names(fix_pipe) == ["dst", "src", "fp", "indexRow", "indexCol"]
    for function in (pto.textract, pto.textract_fp):
        parameters = inspect.signature(function).parameters
        assert (parameters["row"].default, parameters["col"].default) == (0, 0)
        assert parameters["relu"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("target", ALL)
def test_same_type(target: str) -> None:
    with pto.target(target):
        found = refused("element-type", pto.textract, made("vec f16 8x16"), bits("vec bf16 8x16"))
    assert "dst.dtype == src.dtype" in rules(found)


@pytest.mark.parametrize("target", ALL)
def test_bounds(target: str) -> None:
    with pto.target(target):
        src, dst = bits("mat f32 64x64 zn"), made(f"left f32 32x32 {LEFT[target]}")
        pto.textract(dst, src, 32, 32)
        for row, col in ((48, 32), (32, 48)):
            found = refused("window-out-of-bounds", pto.textract, dst, src, row, col)
            assert "80 (48 + 32)" in (found[0].seen or "")


FOUR = {"i8", "f16", "bf16", "f32"}
TEN = FOUR | {"hif8", "f8e5m2", "f8e4m3", "f8e8m0", *FP4}


@pytest.mark.parametrize("dtype", [*TYPES, *FP4])
@pytest.mark.parametrize(("target", "types"), [("a2a3", FOUR), ("a5", TEN)])
def test_element_types(dtype: str, target: str, types: set[str]) -> None:
    with pto.target(target):
        for dst in (pto.tile_left(dtype, 64, 64), pto.tile_right(dtype, 64, 64)):
            src = bits(f"mat {dtype} 128x128 nz")
            if dtype in types:
                pto.textract(dst, src, 64, 64)
            else:
                refused("element-type", pto.textract, dst, src, 64, 64)


@pytest.mark.parametrize("target", HARDWARE)
@pytest.mark.parametrize("there", ["left", "right"])
def test_source_layouts(target: str, there: str) -> None:
    with pto.target(target):
        dst = pto.tile_left("f32", 16, 16) if there == "left" else pto.tile_right("f32", 16, 16)
        for layout in ("zn", "nz"):
            pto.textract(dst, bits(f"mat f32 32x32 {layout}"))
        for layout in ("nd", "dn", "zz", "nn"):
            found = refused("layout", pto.textract, dst, bits(f"mat f32 32x32 {layout}"))
            assert "src.layout in (zn, nz)" in rules(found)


@pytest.mark.parametrize("target", HARDWARE)
def test_one_row_may_be_unboxed(target: str) -> None:
    """The matrix-vector case: a row-major row reaches Left, and Left only."""
    x = ramp(1, 512).astype(np.float16)
    with pto.target(target):
        src, dst = made("mat f16 1x512", x), made(f"left f16 1x256 {LEFT[target]}")
        pto.textract(dst, src, 0, 256)
        assert np.array_equal(dst.numpy(), x[:, 256:])
        right = made("right f16 16x16 zn valid 1x16")
        refused("layout", pto.textract, right, src)


def test_destinations_of_a2a3() -> None:
    """Left and Right in the layouts of the target; no scales there."""
    with pto.target("a2a3"):
        src = bits("mat f16 64x64 nz")
        pto.textract(made("left f16 32x32 zz"), src)
        pto.textract(made("right f16 32x32 zn"), src)
        refused("layout", pto.textract, made("left f16 32x32 nz"), src)
        refused("layout", pto.textract, made("right f16 32x32 nz"), src)
        for there in ("scale_left i8 32x32 zz", "scale_right i8 32x32 nn"):
            refused("location", pto.textract, made(there), bits("mat i8 64x64 zz"))


def test_scale_layouts_of_a5() -> None:
    with pto.target("a5"):
        for there, own in (("scale_left", "zz"), ("scale_right", "nn")):
            dst = made(f"{there} f8e8m0 32x32 {own}")
            pto.textract(dst, bits(f"mat f8e8m0 64x64 {own}/32"))
            for other in {"nd", "dn", "nz", "zn", "zz", "nn"} - {own}:
                source = bits(f"mat f8e8m0 64x64 {other}")
                assert f"src.layout == {own}" in rules(refused("layout", pto.textract, dst, source))


def test_accumulator_paths_of_a5() -> None:
    """Plain, with relu, with one parameter, with one for each column."""
    x = (ramp(32, 64) - 1000) / 4
    with pto.target("a5"):
        src = made("acc f32 32x64 nz", x)
        plain, narrow = made("mat f32 32x64 nz"), made("mat i8 32x64 nz")
        pto.textract(plain, src)
        assert np.array_equal(plain.numpy(), x)
        pto.textract(plain, src, relu="normal")
        assert np.array_equal(plain.numpy(), np.maximum(x, 0))
        pto.textract(narrow, src, quant=parameter(0.25))
        assert np.array_equal(narrow.numpy(), np.clip(np.rint(x * 0.25), -128, 127))
        scales = (np.arange(64, dtype=np.float32) + 1) / 64
        pto.textract_fp(narrow, src, parameters(scales))
        assert np.array_equal(narrow.numpy(), np.clip(np.rint(x * scales), -128, 127))


def test_vector_to_matrix_on_a5() -> None:
    x = ramp(64, 64).astype(np.float16)
    for source, there in (("nd", "nd"), ("nd", "nz"), ("nz", "nz")):
        src, dst = made(f"vec f16 64x64 {source}", x), made(f"mat f16 32x32 {there}")
        with pto.target("a5"):
            pto.textract(dst, src, 16, 16)
        assert np.array_equal(dst.numpy(), x[16:48, 16:48])
        with pto.target("a2a3"):
            refused("location", pto.textract, dst, src, 16, 16)


def test_parameters_are_an_operand() -> None:
    """The form with a parameter for each column is a function of its own and needs the tile."""
    src, dst = bits("acc f32 32x64 nz"), made("mat i8 32x64 nz")
    with pytest.raises(TypeError, match="fp"):
        pto.textract_fp(dst, src)  # type: ignore[call-arg]  # pyright: ignore


# Programs ----------------------------------------------------------------------------------------

SRC, DST = "mat f32 16x16 zn", {t: f"left f32 16x16 {left}" for t, left in LEFT.items()}


@pytest.mark.parametrize("target", ALL)
def test_auto_example(target: str) -> None:
    x = ramp(16, 16)
    with pto.target(target):
        src, dst = made(SRC, x), pto.tile_left(pto.f32, 16, 16)
        pto.textract(dst, src, 0, 0)
    assert np.array_equal(dst.numpy(), x)


MANUAL = """
func.func @example_manual(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %vx = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1]
    : !pto.tensor_view<?x?xf32>
  %vy = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1]
    : !pto.tensor_view<?x?xf32>
  %px = pto.partition_view %vx, offsets = [%c0, %c0], sizes = [%c16, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %py = pto.partition_view %vy, offsets = [%c0, %c0], sizes = [%c16, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %src = pto.alloc_tile : {src}
  %dst = pto.alloc_tile : {dst}
  pto.tassign %src, @tile(0x1000)
  pto.tassign %dst, @tile(0x2000)
  pto.tload ins(%px : !pto.partition_tensor_view<16x16xf32>) outs(%src : {src})
  pto.textract ins(%src, %c0, %c0 : {src}, index, index) outs(%dst : {dst})
  {store}
  return
}}
"""
STORE = "pto.tstore ins(%dst : {dst}) outs(%py : !pto.partition_tensor_view<16x16xf32>)"


def test_manual_example() -> None:
    """Both tiles at addresses of the program's choice: TASSIGN, then the extract."""
    src, dst = spec(SRC), spec(DST["cpu"])
    program = pto.loads(MANUAL.format(src=src, dst=dst, store=STORE.format(dst=dst)))
    x = ramp(16, 16)
    assert np.array_equal(program.run(x=x, y=np.zeros_like(x))["y"], x)


@pytest.mark.parametrize("target", HARDWARE)
def test_manual_example_is_legal(target: str) -> None:
    dst = spec(DST[target])
    program = pto.loads(MANUAL.format(src=spec("mat f32 16x16 nz"), dst=dst, store=""))
    assert program.check(target) == []


@pytest.mark.parametrize("target", ALL)
def test_auto_assembly(target: str) -> None:
    """The SSA line under its comment, with the types of the program."""
    types = f"({spec(SRC)}, i16, i16) -> {spec(DST[target])}"
    text = f"# compiler-managed\n%dst = pto.textract %src, %idxrow, %idxcol : {types}"
    x = ramp(16, 16)
    assert np.array_equal(run(text, target, src=x, idxrow=0, idxcol=0)["dst"], x)


def test_manual_assembly() -> None:
    """The same line with its `tassign` lines as comments, as printed, and as instructions."""
    comments = "# bind resources first\n# pto.tassign %arg0, @tile(0x1000)\n"
    comments += "# pto.tassign %arg1, @tile(0x2000)\n"
    x = ramp(32, 64)
    assert np.array_equal(run(comments + SSA, src=x, idxrow=16, idxcol=8)["dst"], x[16:, 8:])
    source, row = (
        spec("mat f32 32x64 nz"),
        f"%dst = pto.textract %src, %r, %c : ({T}, i16, i16) -> {T}",
    )
    text = (
        f"%src = pto.alloc_tile : {source}\npto.tassign %src, @tile(0x1000)\n"
        f"pto.tmov ins(%x : {source}) outs(%src : {source})\n{row}"
    )
    assert np.array_equal(run(text, x=x, r=16, c=8)["dst"], x[16:, 8:])


def test_assembly_form() -> None:
    """Two lines, one for each level, with a comment between."""
    text = f"{ASM.replace('%dst', '%first')}\n# AS Level 2 (DPS)\n{DPS}"
    program, x = pto.loads(text), ramp(32, 64)
    both = program.run(src=x, r0=16, r1=32, idxrow=0, idxcol=8, dst=np.zeros((32, 56), np.float32))
    assert np.array_equal(both["first"], x[16:, 32:])
    assert np.array_equal(both["dst"], x[:, 8:])
