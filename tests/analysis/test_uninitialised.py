"""Reads before any write, where the types themselves are wrong: one message each, no trial."""

from __future__ import annotations

import pytest

import ptokit as pto

LEFT = "!pto.tile_buf<left, 64x64xf16, blayout=col_major, slayout=row_major>"


@pytest.mark.parametrize("wide", ["64x256xf16, valid=64x999999999", "64x4294967296xf16"])
def test_a_tile_of_an_impossible_type_is_not_tried(wide: str) -> None:
    """Its memory could not be made, or its windows would leave it."""
    kind = f"!pto.tile_buf<mat, {wide}, blayout=col_major, slayout=row_major>"
    text = f"""\
func.func @f() {{
  %zero = arith.constant 0 : index
  %col = arith.constant 224 : index
  %wide = pto.alloc_tile : {kind}
  %left = pto.alloc_tile : {LEFT}
  pto.textract ins(%wide, %zero, %col : {kind}, index, index) outs(%left : {LEFT})
  return
}}
"""
    found = pto.loads(text).check("all")
    assert {"tile-shape", "out-of-memory"} & {d.slug for d in found}
