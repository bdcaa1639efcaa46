"""Thresholds of a gather by comparison on A2/A3: 32 bits wide, with f16 also 16 (C63)."""

from __future__ import annotations

import pytest

import ptokit as pto


@pytest.mark.parametrize(
    ("dtype", "threshold", "legal"),
    [
        *(("f32", "u32", True), ("f32", "u16", False)),
        *(("f16", "u16", True), ("f16", "i16", True), ("f16", "u32", True)),
    ],
)
def test_widths_that_are_taken(dtype: str, threshold: str, legal: bool) -> None:
    """Code converts words to f32 and halves to f16 (npu/a2a3/TGather.hpp:173-181)."""
    src, dst = f"!pto.tile_buf<vec, 16x64x{dtype}>", "!pto.tile_buf<vec, 16x64xi32>"
    column = "!pto.tile_buf<vec, 16x1x{}, blayout=col_major>"
    k, count, tmp = column.format(threshold), column.format("i32"), "!pto.tile_buf<vec, 16x512xu8>"
    text = f"""\
func.func @f(%s: {src}, %k: {k}, %d: {dst}, %c: {count}, %t: {tmp}) {{
  pto.tgather ins(%s, %k, %t : {src}, {k}, {tmp}) outs(%d, %c : {dst}, {count}) {{
    cmpMode = #pto.cmp<gt>}}
  return
}}
"""
    found = [d for d in pto.loads(text).check("a2a3") if d.slug == "element-type" and d.is_error]
    assert (found == []) == legal
