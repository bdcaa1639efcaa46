"""The Chinese page of the extract: what it says beyond the English one, and its four programs."""

from __future__ import annotations

import numpy as np
import pytest
from seed_pages import ALL, HARDWARE, B, T, ramp, refused, run, spec

import ptokit as pto
from every import every
from tiles import bits, made

LEFT = {"cpu": "nz", "a2a3": "zz", "a5": "nz"}
ASM = f"%dst = textract %src[%r0, %r1] : {T} -> {T}"
SSA = f"%dst = pto.textract %src, %idxrow, %idxcol : ({T}, dtype, dtype) -> {T}"
DPS = f"pto.textract ins(%src, %idxrow, %idxcol : {B}, dtype, dtype) outs(%dst : {B})"


@every("target", ALL)
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


@every("layout", ["nd", "dn", "nz", "zn", "zz", "nn"])
def test_mapping_follows_the_layouts(layout: str) -> None:
    """Logical elements move; where they are stored is the layouts' business."""
    x = ramp(32, 32)
    for other in ("nd", "dn", "nz", "zn", "zz", "nn"):
        dst = made(f"mat f32 16x16 {other}")
        pto.textract(dst, made(f"mat f32 32x32 {layout}", x), 16, 8)
        assert np.array_equal(dst.numpy(), x[16:32, 8:24])


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


def test_vector_to_matrix_on_a5() -> None:
    x = ramp(64, 64).astype(np.float16)
    for source, there in (("nd", "nd"), ("nd", "nz"), ("nz", "nz")):
        src, dst = made(f"vec f16 64x64 {source}", x), made(f"mat f16 32x32 {there}")
        with pto.target("a5"):
            pto.textract(dst, src, 16, 16)
        assert np.array_equal(dst.numpy(), x[16:48, 16:48])
        with pto.target("a2a3"):
            refused("location", pto.textract, dst, src, 16, 16)


# Programs ----------------------------------------------------------------------------------------

SRC, DST = "mat f32 16x16 zn", {t: f"left f32 16x16 {left}" for t, left in LEFT.items()}


@every("target", ALL)
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


@every("target", ALL)
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
