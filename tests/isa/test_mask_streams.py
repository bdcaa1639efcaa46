"""Where the rows of a comparison with a number begin: A5 writes one stream of bits, or rows."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TEXT = """\
func.func @f(%x: !pto.tile_buf<vec, {src}>, %y: !pto.tile_buf<vec, 4x32xf32, valid=1x1>,
             %m: !pto.tile_buf<vec, {dst}>) {{
  %two = arith.constant 2.0 : {kind}
  pto.{op} outs(%m : !pto.tile_buf<vec, {dst}>)
  return
}}
"""
WITH_NUMBER = "tcmps ins(%x, %two {{cmpMode = #pto<cmp lt>}} : !pto.tile_buf<vec, {src}>, {kind})"
WITH_TILE = (
    "tcmps ins(%x, %y {{cmpMode = #pto<cmp lt>}} : !pto.tile_buf<vec, {src}>, "
    "!pto.tile_buf<vec, 4x32xf32, valid=1x1>)"
)
BY_ELEMENT = (
    "tcmp ins(%x, %x {{cmpMode = #pto<cmp ge>}} : !pto.tile_buf<vec, {src}>, "
    "!pto.tile_buf<vec, {src}>)"
)


def mask(op: str, src: str, dst: str, target: str, engine: str, cols: int) -> np.ndarray:
    """The bytes of the mask of four rows: element (i, j) is less than 2 where i + j is even."""
    kind = src.split(",")[0].rpartition("x")[2]
    there = np.add.outer(range(4), range(cols)) % 2
    x = np.where(there, 3, 1).astype({"f32": "f4", "f16": "f2"}[kind])
    text = TEXT.format(op=op.format(src=src, kind=kind), src=src, dst=dst, kind=kind)
    width = int(dst.partition("valid=4x")[2] or dst.split("x")[1])
    m = np.zeros((4, width), np.uint8)
    y = np.full((1, 1), 2, np.float32)
    return pto.loads(text).run(target=target, engine=engine, x=x, y=y, m=m)["m"]


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("op", [WITH_NUMBER, WITH_TILE])
def test_a_byte_for_each_element_holds_one_stream_of_bits_on_a5(op: str, engine: str) -> None:
    rows, stream = np.zeros((2, 4, 32), np.uint8)
    rows[:, :4] = [[0x55], [0xAA], [0x55], [0xAA]]
    stream.flat[:16] = np.repeat(np.array([0x55, 0xAA, 0x55, 0xAA], np.uint8), 4)
    for target, wanted in (("a5", stream), ("a5:mask-rows", rows), ("cpu", rows), ("a2a3", rows)):
        found = mask(op, "4x32xf32", "4x32xui8", target, engine, 32)
        np.testing.assert_array_equal(found, wanted, err_msg=target)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_columns_that_fill_no_byte_end_none_in_the_stream(engine: str) -> None:
    found = mask(WITH_NUMBER, "4x24xf32", "4x32xui8, valid=4x24", "a5", engine, 24)
    bits = np.unpackbits(found[:1], bitorder="little")[: 4 * 24]
    np.testing.assert_array_equal(bits.reshape(4, 24), np.add.outer(range(1, 5), range(24)) % 2)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("op", "src", "dst"),
    [
        (WITH_NUMBER, "4x32xf32", "4x32xui8, valid=4x4"),  # declares bits
        (WITH_NUMBER, "4x64xf32, valid=4x32", "4x64xui8, valid=4x32"),  # a part of each row
        (BY_ELEMENT, "4x32xf32", "4x32xui8"),
    ],
)
def test_other_masks_begin_each_row_of_bits_on_a_row(
    op: str, src: str, dst: str, engine: str
) -> None:
    found = mask(op, src, dst, "a5", engine, 32)[:, :4]
    wanted = 0xFF if op is BY_ELEMENT else np.array([[0x55], [0xAA], [0x55], [0xAA]], np.uint8)
    assert (found == wanted).all()
