"""Where the rows of a comparison with a number begin: A5 writes one stream of bits, or rows."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

SRC, ONE, DST = (f"!pto.tile_buf<vec, 4x32x{k}>" for k in ("f32", "f32, valid=1x1", "ui8"))
TEXT = f"""\
func.func @f(%x: {SRC}, %y: {ONE}, %m: {DST}) {{
  %two = arith.constant 2.0 : f32
  pto.tcmps ins(%x, NUMBER {{cmpMode = #pto<cmp lt>}} : {SRC}, KIND) outs(%m : {DST})
  return
}}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(("number", "kind"), [("%two", "f32"), ("%y", ONE)])
def test_a_byte_for_each_element_holds_one_stream_of_bits_on_a5(
    number: str, kind: str, engine: str
) -> None:
    """Element (i, j) is less than 2 where i + j is even."""
    x = np.where(np.add.outer(range(4), range(32)) % 2, 3, 1).astype(np.float32)
    rows, stream = np.zeros((2, 4, 32), np.uint8)
    rows[:, :4] = [[0x55], [0xAA], [0x55], [0xAA]]
    stream.flat[:16] = np.repeat(np.array([0x55, 0xAA, 0x55, 0xAA], np.uint8), 4)
    program = pto.loads(TEXT.replace("NUMBER", number).replace("KIND", kind))
    one = np.full((1, 1), 2, np.float32)
    for target, wanted in (("a5", stream), ("a5:mask-rows", rows), ("cpu", rows), ("a2a3", rows)):
        m = np.zeros((4, 32), np.uint8)
        found = program.run(target=target, engine=engine, x=x, y=one, m=m)["m"]
        np.testing.assert_array_equal(found, wanted, err_msg=target)
