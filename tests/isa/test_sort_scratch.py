"""TSORT32 on A2/A3: the indices and the scratch that the public header asks for."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every


def faults(target: str, cols: int, idx: int, tmp: int, declared: int = 64) -> list[str]:
    """Return the slugs of a sort, given valid columns, indices and scratch."""
    rows = 2 if declared == 64 else 1
    src = f"!pto.tile_buf<vec, {rows}x{declared}xf32, valid={rows}x{cols}>"
    index = f"!pto.tile_buf<vec, {rows}x{declared}xu32, valid={rows}x{idx}>"
    dst = f"!pto.tile_buf<vec, {rows}x{2 * declared}xf32>"
    scratch = f"!pto.tile_buf<vec, 1x{tmp}xf32>"
    text = f"""\
func.func @f(%s: {src}, %i: {index}, %d: {dst}, %t: {scratch}) {{
  pto.tsort32 ins(%s, %i, %t : {src}, {index}, {scratch}) outs(%d : {dst})
  return
}}
"""
    return [d.slug for d in pto.loads(text).check(target) if d.is_error]


@every(
    ("cols", "tmp", "legal"),
    [(64, 8, True), (40, 64, True), (40, 56, False), (20, 32, True), (20, 24, False)],
)
def test_scratch_holds_one_padded_row(cols: int, tmp: int, legal: bool) -> None:
    """Whole blocks leave tmp idle; else it has one row in blocks (npu/a2a3/TSort32.hpp:121-140)."""
    assert (faults("a2a3", cols, cols, tmp) == []) == legal


@pytest.mark.parametrize(("tmp", "legal"), [(32, True), (24, False)])
def test_scratch_of_long_rows_holds_one_block(tmp: int, legal: bool) -> None:
    """Only the last block of a row beyond 8160 is copied (npu/a2a3/TSort32.hpp:48-54)."""
    assert (faults("a2a3", 8170, 8170, tmp, 8192) == []) == legal


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_more_indices_than_values_are_left(target: str) -> None:
    """Code reads indices by blocks of src (npu/a2a3/TSort32.hpp:137, a5/TSort32.hpp:159)."""
    assert faults(target, 40, 64, 128) == []
    assert faults(target, 40, 32, 128) != []
    assert faults("cpu", 40, 64, 128) != []


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_rows_that_end_before_the_last_block_are_a_warning(target: str) -> None:
    """Code writes 32 records of each block (npu/a2a3/TSort32.hpp:139), over what lies behind."""
    src, index, dst = (
        f"!pto.tile_buf<vec, 2x{n}>"
        for n in ("16xf32, valid=2x13", "16xu32, valid=2x13", "32xf32, valid=2x26")
    )
    tmp = "!pto.tile_buf<vec, 1x32xf32>"
    text = f"""\
func.func @f(%s: {src}, %i: {index}, %d: {dst}, %t: {tmp}) {{
  pto.tsort32 ins(%s, %i, %t : {src}, {index}, {tmp}) outs(%d : {dst})
  return
}}
"""
    (found,) = [d for d in pto.loads(text).check(target) if d.slug == "shape"]
    assert not found.is_error
    assert "over what lies behind" in str(found.help)
