"""Rows of 64-bit elements that TGATHER keeps by a pattern on A5: their pitch is dst's (X124)."""

from __future__ import annotations

import numpy as np

import ptokit as pto
from every import every

PERIODS = {"P1111": (0, 1), "P0101": (0, 2), "P1010": (1, 2), "P0100": (2, 4)}


def text(pattern: str, dst: str, src: str) -> str:
    src, dst = f"!pto.tile_buf<vec, {src}>", f"!pto.tile_buf<vec, {dst}xi64>"
    return f"""\
func.func @f(%s: {src}, %d: {dst}) {{
  pto.tgather ins(%s, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {src}) outs(%d : {dst})
  return
}}
"""


@every("pattern", PERIODS)
def test_rows_begin_at_a_part_of_the_columns(pattern: str, engine: str) -> None:
    """A row begins DstCols / period after the other (npu/a5/TGather.hpp:278-303)."""
    first, period = PERIODS[pattern]
    s = np.arange(3 * 15, dtype=np.int64).reshape(3, 15) << 33
    wanted = np.full(4 * 24, -1, np.int64)
    packed, kept = wanted.copy(), 15 // period
    for r, row in enumerate(s):
        begin = r * (24 // period)
        wanted[begin : begin + kept] = row[first::period][:kept]
    lines = s[:, first::period]
    packed[: lines.size] = lines.reshape(-1)
    program = pto.loads(text(pattern, "4x24", "4x24xi64, valid=3x15"))
    for target, storage in (("a5:as-hardware", wanted), ("cpu", packed)):
        d = np.full((4, 24), -1, np.int64)
        found = program.run(target=target, engine=engine, s=s, d=d)["d"]
        np.testing.assert_array_equal(found.reshape(-1), storage, err_msg=target)


def test_a_later_row_covers_what_lies_over_it(engine: str) -> None:
    """In columns for half of a row, the second row begins in the midst of the first."""
    s = np.arange(4 * 24, dtype=np.int64).reshape(4, 24)
    wanted = np.zeros(4 * 12, np.int64)
    for r, row in enumerate(s):
        wanted[6 * r : 6 * r + 12] = row[::2]
    d = np.zeros((4, 12), np.int64)
    program = pto.loads(text("P0101", "4x12", "4x24xi64"))
    found = program.run(target="a5:as-hardware", engine=engine, s=s, d=d)["d"]
    np.testing.assert_array_equal(found.reshape(-1), wanted)


def test_a_row_has_64_at_most(engine: str) -> None:
    """One store of a vector writes a row (npu/a5/TGather.hpp:290-300)."""
    s = np.arange(2 * 160, dtype=np.int64).reshape(2, 160)
    wanted = np.full((2, 160), -1, np.int64)
    wanted.reshape(4, 80)[:2, :64] = s[:, :128:2]
    program = pto.loads(text("P0101", "2x160", "2x160xi64"))
    d = np.full((2, 160), -1, np.int64)
    found = program.run(target="a5:as-hardware", engine=engine, s=s, d=d)["d"]
    np.testing.assert_array_equal(found, wanted)
