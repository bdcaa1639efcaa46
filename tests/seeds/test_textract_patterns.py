"""The three programs of the English extract page: as printed, and as its own tables allow."""

from __future__ import annotations

import numpy as np
import pytest
from seed_pages import ALL, HARDWARE, parameters, ramp, refused, rules, spec

import ptokit as pto
from every import every
from tiles import bits, made

ADDRESSES = """
func.func @pattern(%m: !pto.ptr<{t}>, %out: !pto.ptr<{t}>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant {rows} : index
  %cols = arith.constant {cols} : index
  %height = arith.constant {height} : index
  %width = arith.constant {width} : index
  %at = arith.constant {at} : i64
  %mat = pto.alloc_tile addr = %at : {src}
  %left = pto.alloc_tile : {dst}
  %a = pto.make_tensor_view %m, shape = [%rows, %cols], strides = [%cols, %c1]
    : !pto.tensor_view<?x?x{t}>
  %b = pto.make_tensor_view %out, shape = [%height, %width], strides = [%width, %c1]
    : !pto.tensor_view<?x?x{t}>
  %whole = pto.partition_view %a, offsets = [%c0, %c0], sizes = [%rows, %cols]
    : !pto.tensor_view<?x?x{t}> -> !pto.partition_tensor_view<{rows}x{cols}x{t}>
  %part = pto.partition_view %b, offsets = [%c0, %c0], sizes = [%height, %width]
    : !pto.tensor_view<?x?x{t}> -> !pto.partition_tensor_view<{height}x{width}x{t}>
  pto.tload ins(%whole : !pto.partition_tensor_view<{rows}x{cols}x{t}>) outs(%mat : {src})
  %col = arith.constant {col} : index
  pto.textract ins(%mat, %c0, %col : {src}, index, index) outs(%left : {dst})
  pto.tstore ins(%left : {dst}) outs(%part : !pto.partition_tensor_view<{height}x{width}x{t}>)
  return
}}
"""


@every("target", ALL)
def test_pattern_1_left_block(target: str) -> None:
    """Rows 0 to 63 and columns 0 to 63 of a wider matrix."""
    x = ramp(64, 256)
    with pto.target(target):
        mat = made("mat f32 64x256 zn", x)
        left = pto.tile_left(pto.f32, 64, 64)
        pto.textract(left, mat, 0, 0)
    assert np.array_equal(left.numpy(), x[:64, :64])


def test_pattern_1_at_its_address() -> None:
    """The same with the matrix at 0x1000, as a program; and an address it may not have."""
    words = {"rows": 64, "cols": 256, "height": 64, "width": 64, "t": "f32", "col": 0}
    tiles = {"src": spec("mat f32 64x256 zn"), "dst": spec("left f32 64x64 nz")}
    x = ramp(64, 256)
    program = pto.loads(ADDRESSES.format(at=0x1000, **words, **tiles))
    out = program.run(m=x, out=np.zeros((64, 64), np.float32))["out"]
    assert np.array_equal(out, x[:, :64])
    for address, slug in ((0x1001, "address-misaligned"), (0x80000, "address-out-of-range")):
        wrong = pto.loads(ADDRESSES.format(at=address, **words, **tiles))
        assert slug in {d.slug for d in wrong.check("cpu")}


@pytest.mark.parametrize("target", HARDWARE)
def test_pattern_2_as_printed_is_refused(target: str) -> None:
    """Its source is not boxed: the layout rule of the same page."""
    with pto.target(target):
        mat, window = bits("mat f16 32x128"), pto.tile_left(pto.f16, 32, 32)
        for col in (0, 32, 64, 96):
            found = refused("layout", pto.textract, window, mat, 0, col)
            assert "src.layout in (zn, nz)" in rules(found)
            assert found[0].seen == "src.layout is nd"


@every("layout", ["zn", "nz"])
@every("target", ALL)
def test_pattern_2_with_a_boxed_source(target: str, layout: str) -> None:
    x = ramp(32, 128).astype(np.float16)
    with pto.target(target):
        mat, window = made(f"mat f16 32x128 {layout}", x), pto.tile_left(pto.f16, 32, 32)
        for col in (0, 32, 64, 96):
            pto.textract(window, mat, 0, col)
            assert np.array_equal(window.numpy(), x[:, col : col + 32])


def test_pattern_2_at_its_address() -> None:
    words = {"rows": 32, "cols": 128, "height": 32, "width": 32, "t": "f16"}
    tiles = {"src": spec("mat f16 32x128 nz"), "dst": spec("left f16 32x32 nz")}
    x = ramp(32, 128).astype(np.float16)
    for col in (0, 32, 64, 96):
        program = pto.loads(ADDRESSES.format(at=0x2000, col=col, **words, **tiles))
        out = program.run(m=x, out=np.zeros((32, 32), np.float16))["out"]
        assert np.array_equal(out, x[:, col : col + 32])


@every("target", ALL)
def test_windows_may_overlap_and_need_not_divide(target: str) -> None:
    """Columns 0 to 47, 32 to 79, ...: 48 does not divide 128, and neighbours share 16 columns."""
    x = ramp(32, 128).astype(np.float16)
    with pto.target(target):
        mat, window = made("mat f16 32x128 nz", x), pto.tile_left(pto.f16, 16, 48)
        for col in (0, 32, 64, 80):
            pto.textract(window, mat, 16, col)
            assert np.array_equal(window.numpy(), x[16:32, col : col + 48])


def test_any_offset_on_the_simulator() -> None:
    x = ramp(37, 53)
    mat, window = made("mat f32 37x56 valid 37x53", x), made("mat f32 31x32 valid 31x31")
    pto.textract(window, mat, 5, 7)
    assert np.array_equal(window.numpy(), x[5:36, 7:38])


@every("target", ALL)
def test_pattern_3_as_printed_is_refused(target: str) -> None:
    """A box of int8 has 32 columns; the printed tile has 16."""
    with pto.target(target):
        found = refused("tile-shape", made, "mat i8 16x16 nz")
    assert "tile.cols % tile.box.cols == 0" in rules(found)
    assert found[0].seen == "tile.cols % tile.box.cols is 16 (16 % 32)"


def test_a_static_tile_takes_no_extents() -> None:
    """`FpT fp(64)` gives extents to a tile whose type already says them."""
    text = "%n = arith.constant 64 : index\n%fp = pto.alloc_tile valid_col = %n : "
    fixed = "!pto.tile_buf<scaling, 1x64xui64>"
    dynamic = "!pto.tile_buf<scaling, 1x64xui64, valid=1x?>"
    slugs = [d.slug for d in pto.loads(text + fixed).check("all")]
    assert slugs == ["dynamic-valid"]
    assert pto.loads(text + dynamic).check("all") == []


@every("target", ALL)
def test_pattern_3_with_whole_boxes(target: str) -> None:
    """Columns 16 to 31 of the accumulator, each with its own scale."""
    scales = (np.arange(64, dtype=np.float32) + 1) / 8
    x = (ramp(32, 64) - 900) / 64
    with pto.target(target):
        acc = pto.tile_acc(pto.f32, 32, 64, data=x)
        mat = made("mat i8 16x32 nz valid 16x16")
        pto.textract_fp(mat, acc, parameters(scales), 0, 16)
    wanted = np.clip(np.rint(x[:16, 16:32] * scales[16:32]), -128, 127).astype(np.int8)
    assert np.array_equal(mat.numpy(), wanted)


def test_pattern_3_at_its_addresses() -> None:
    """acc at 0x1000, mat at 0x2000, fp at 0x3000: beyond the parameter memory, which has 4 KiB."""
    acc, mat, fp = "acc f32 32x64 nz", "mat i8 16x32 nz valid 16x16", "scaling u64 1x64"
    for at, fits in ((0x3000, False), (0x0, True)):
        text = "".join(
            f"%a{n} = arith.constant {address} : i64\n"
            f"%t{n} = pto.alloc_tile addr = %a{n} : {spec(kind)}\n"
            for n, (kind, address) in enumerate(((acc, 0x1000), (mat, 0x2000), (fp, at)))
        )
        text += (
            f"%r = arith.constant 0 : index\n%c = arith.constant 16 : index\n"
            f"pto.textract_fp ins(%t0, %t2, %r, %c : {spec(acc)}, {spec(fp)}, index, index)"
            f" outs(%t1 : {spec(mat)})\n"
        )
        for target in ALL:
            slugs = {d.slug for d in pto.loads(text).check(target)}
            slugs -= {"uninitialised-read"}  # the pattern does not say who filled the accumulator
            assert slugs == (set[str]() if fits else {"address-out-of-range"})
