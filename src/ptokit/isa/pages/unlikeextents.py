"""What hardware moves where a view and the valid region of a tile have other extents.

The headers' debug builds assert that they are alike. Release code counts rows by the view and takes
the length of a row from the tile; A2/A3 steps from row to row by that length and the gap that the
view leaves, A5 by the view's stride. An accumulator is stored as it is valid, whatever the view is.
"""

from __future__ import annotations

from dataclasses import replace

from ptokit.isa.formula.rules import A2A3
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.layouts import DN, ND, NZ, ZN
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import Shape, TileType
from ptokit.isa.model.words import (
    ACC,
    BIAS,
    LEFT,
    MAT,
    RIGHT,
    SCALING,
    VEC,
    GlobalLayout,
    PadValue,
)

LINES = {GlobalLayout.ND: ND, GlobalLayout.DN: DN}  # views whose lines a tile keeps, and the tile's
BOXED = {GlobalLayout.ND: NZ, GlobalLayout.DN: ZN}  # those that become boxes


def as_moved(
    view: GlobalType, tile: TileType, target: Target
) -> tuple[GlobalType, TileType] | None:
    """Return view and tile with the extents that move; None where they are alike, or not known."""
    valid, matrix, stride = tile.valid, view.matrix, view.stride
    if not (target.is_chip and valid.static and view.fixed and stride and None not in stride):
        return None
    if (matrix.rows, matrix.cols) == (valid.rows, valid.cols) or view.rank != 5:
        return None
    if tile.loc is ACC:
        return _of_sums(view, tile)
    layout = view.layout
    if tile.loc is MAT and layout is not None and BOXED.get(layout) is tile.layout:
        return _into_boxes(view, tile)
    if tile.loc not in (VEC, MAT) or layout is None or LINES.get(layout) is not tile.layout:
        return None
    return _in_lines(view, tile, 1 if target.follows((A2A3,)) else 0)


def _into_boxes(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a load of lines into boxes: all of the view, and zeros where a box has more."""
    rows, cols = view.matrix
    if rows is None or cols is None or rows > tile.rows or cols > tile.cols:
        return None
    return view, replace(tile, valid=Shape(rows, cols), pad=PadValue.ZERO)


def as_moved_tiles(
    dst: TileType, src: TileType, target: Target
) -> tuple[TileType, TileType] | None:
    """Return both tiles with the extents that move; None where they are alike, or not known.

    Into the cube's operands whole boxes move, as they are declared; an accumulator leaves as it is
    valid.
    """
    if not target.is_chip or dst.valid == src.valid or not src.valid.static:
        return None
    if src.loc is MAT and dst.loc in (LEFT, RIGHT, BIAS, SCALING):
        both = Shape(min(dst.rows, src.rows), min(dst.cols, src.cols))
        return replace(dst, valid=both), replace(src, valid=both)
    rows, cols = src.valid
    fits = rows is not None and cols is not None and rows <= dst.rows and cols <= dst.cols
    return (
        (replace(dst, valid=src.valid), src) if src.loc is ACC and dst.loc is MAT and fits else None
    )


def _of_sums(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a store of an accumulator in rows: the valid region at the view's stride."""
    rows, cols = tile.valid
    if view.layout is not GlobalLayout.ND or view.outer != 1:
        return None
    return replace(view, shape=(*view.shape[:3], rows, cols)), tile


def _in_lines(view: GlobalType, tile: TileType, by_gap: int) -> tuple[GlobalType, TileType] | None:
    """Return a move line by line; `by_gap`: the view's stride counts from its own line's end."""
    shape, stride = list(view.shape), list(view.stride or ())
    count, along = (3, 4) if view.layout is GlobalLayout.ND else (4, 3)
    length = tile.valid.cols if along == 4 else tile.valid.rows
    lines = 1
    for axis in (0, 1, 2, count):
        lines *= shape[axis] or 0
    if length is None:
        return None
    extent = tile.rows if along == 4 else tile.cols
    if lines > extent:  # what lies behind the tile is moved, too
        tile = replace(tile, rows=lines) if along == 4 else replace(tile, cols=lines)
    if by_gap:
        stride[count] = length + (stride[count] or 0) - (shape[along] or 0)
    shape[along] = length
    valid = Shape(lines, length) if along == 4 else Shape(length, lines)
    return replace(view, shape=tuple(shape), stride=tuple(stride)), replace(tile, valid=valid)
