"""Views whose numbers fit several layouts: one row or column, one box."""

from __future__ import annotations

import pytest

import ptokit as pto

COPY = """
func.func @f(%p: !pto.ptr<f16>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant {elements} : index
  %v = pto.make_tensor_view %p, shape = [%c1, %c1, %c1, %c{rows}, %c{cols}],
    strides = [%n, %n, %n, %c{step}, %c1] : !pto.tensor_view<1x1x1x{rows}x{cols}xf16>
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0],
    sizes = [%c1, %c1, %c1, %c{rows}, %c{cols}] :
    !pto.tensor_view<1x1x1x{rows}x{cols}xf16> -> !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>
  %t = pto.alloc_tile : !pto.tile_buf<vec, {tile}>
  pto.tload ins(%w : !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>)
    outs(%t : !pto.tile_buf<vec, {tile}>)
  pto.tstore ins(%t : !pto.tile_buf<vec, {tile}>)
    outs(%w : !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>)
  return
}}
"""


def words(rows: int, cols: int, tile: str, *targets: str) -> set[str]:
    text = COPY.format(rows=rows, cols=cols, step=cols, elements=rows * cols, tile=tile)
    return {str(v.word.value) for v in pto.loads(text).verdicts(*targets)}


@pytest.mark.parametrize(
    ("rows", "cols", "tile"),
    [
        (1, 16, "1x16xf16"),
        (16, 1, "16x1xf16, blayout=col_major"),
        (16, 1, "16x16xf16, valid=16x1"),
        (16, 16, "16x16xf16"),
        (16, 16, "16x16xf16, blayout=col_major, slayout=row_major"),
    ],
)
def test_what_one_of_the_layouts_allows_is_legal(rows: int, cols: int, tile: str) -> None:
    assert words(rows, cols, tile, "cpu", "a2a3", "a5") == {"legal"}


def test_what_none_of_them_allows_is_not() -> None:
    assert words(16, 16, "16x16xf16, blayout=col_major", "a5") == {"undecided"}
