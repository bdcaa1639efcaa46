"""Hardware moves other extents where a view and the valid region of a tile differ.

The headers' debug builds assert that they are equal. Release code counts rows by the view and takes
the length of a row from the tile; A2/A3 steps from row to row by that length and the gap that the
view leaves, A5 by the view's stride. Elements of a row are taken as consecutive, even if the view
says otherwise. An accumulator is stored by its valid region, and not by the view. Release code of
the CPU simulator moves the valid region, from and to the upper left part of a view.
"""

from __future__ import annotations

from dataclasses import replace

from ptokit.isa.formula.formulas import Env
from ptokit.isa.formula.rules import A2A3, A5
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import AccToVecMode, GlobalLayout
from ptokit.values.dtypes import i8, i32
from ptokit.values.enumerations import ACC, BIAS, LEFT, MAT, RIGHT, SCALING, VEC, PadValue
from ptokit.values.layouts import DN, ND, NZ, ZN, Shape, times

LINES = {GlobalLayout.ND: ND, GlobalLayout.DN: DN}  # layouts of views and of tiles that keep lines
LINE = 32  # bytes of a line of a box
BOX = 16  # lines and columns of a box of an accumulator
IMAGES = (GlobalLayout.NC1HWC0, GlobalLayout.NDC1HWC0)
PLANES = {GlobalLayout.NCHW: 2, GlobalLayout.NCDHW: 1}  # the axis of their channels
SCALES = (GlobalLayout.MX_A_ND, GlobalLayout.MX_B_DN)  # views with lines of scales along k
BOXED = {GlobalLayout.ND: NZ, GlobalLayout.DN: ZN}  # views whose lines become boxes


def as_moved(
    view: GlobalType, tile: TileType, target: Target, *, stored: bool
) -> tuple[GlobalType, TileType] | None:
    """Return view and tile with the extents that move; None if they are equal, or not known."""
    valid, matrix, stride = tile.valid, view.matrix, view.stride
    if not (valid.static and view.fixed and stride and None not in stride):
        return None
    if not target.is_chip:
        return _upper_left(view, tile) or (None if stored else _whole_scales(view, tile))
    if tile.dtype.pairs and (whole := _in_whole_bytes(view, tile)) != (view, tile):
        return as_moved(*whole, target, stored=stored) or whole
    if tile.loc is ACC and view.layout is GlobalLayout.NHWC:  # points of images are rows
        rows = view.laid_out(GlobalLayout.ND)
        return as_moved(rows, tile, target, stored=stored) or (rows, tile)
    if tile.loc is ACC and view.layout in PLANES:
        return _of_planes(view, tile), tile
    if tile.loc is ACC and view.layout in IMAGES:
        return _of_images(view), tile
    if (matrix.rows, matrix.cols) == (valid.rows, valid.cols) or view.rank != 5:
        return None
    if tile.loc is ACC:
        return _of_sums(view, tile)
    layout = view.layout
    if tile.loc is MAT and layout in SCALES:
        return _of_scales(view, tile)
    if layout is GlobalLayout.NZ and tile.layout is NZ and tile.loc is VEC:
        return _in_boxes(view, tile, by_gap=stored and target.follows((A2A3,)))
    if tile.loc is MAT and layout is not None and BOXED.get(layout) is tile.layout:
        return _into_boxes(view, tile)
    if tile.loc not in (VEC, MAT) or layout is None or LINES.get(layout) is not tile.layout:
        return None
    return _in_lines(view, tile, 1 if target.follows((A2A3,)) else 0)


def by_lines(view: GlobalType, tile: TileType, target: Target) -> GlobalType:
    """Return the view as chips read it: elements of a line of a plain tile follow one another."""
    along = {ND: 4, DN: 3}.get(tile.layout)
    if not target.is_chip or along is None or tile.loc not in (VEC, MAT) or view.rank != 5:
        return view
    if view.shape[along] == 1 or not view.stride:
        return view
    return replace(view, stride=(*view.stride[:along], 1, *view.stride[along + 1 :]))


def _upper_left(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a move of the part of a larger view that starts where the view does."""
    (rows, cols), matrix, shape = tile.valid, view.matrix, list(view.shape)
    if view.layout not in LINES or matrix == tile.valid or view.rank != 5:
        return None
    if not rows or not cols or rows > (matrix.rows or 0) or cols > (matrix.cols or 0):
        return None
    along, count = (4, 3) if view.layout is GlobalLayout.ND else (3, 4)
    shape[along], left = (cols, rows) if along == 4 else (rows, cols)
    for axis in (count, 2, 1, 0):
        shape[axis] = extent = min(shape[axis] or 1, left)
        left, rest = divmod(left, extent)
        if rest:  # lines of several boxes, and a part of one
            return None
    return replace(view, shape=tuple(shape)), tile


def _whole_scales(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a load of all scales of a larger view: the simulator compares no extents there."""
    (rows, cols), (most, wide) = tile.valid, view.matrix
    scales = view.layout is not None and view.layout.name.startswith("MX_")
    if not (scales and rows and cols and most and wide) or view.matrix == tile.valid:
        return None
    fits = rows <= most <= tile.rows and cols <= wide <= tile.cols
    return (view, replace(tile, valid=Shape(most, wide))) if fits else None


def _in_whole_bytes(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType]:
    """Return a move of packed rows with lengths and steps in whole bytes, odd ones rounded up."""
    if view.layout is not GlobalLayout.ND or tile.layout is not ND:
        return view, tile
    (rows, cols), (*steps, last) = tile.valid, view.stride or (None,)
    stride = (*map(_even, steps), last)
    moved = replace(view, shape=(*view.shape[:-1], _even(view.n4)), stride=stride)
    return moved, replace(tile, valid=Shape(rows, _even(cols)))


def _even(number: int | None) -> int | None:
    return None if number is None else number + number % 2


def _in_boxes(
    view: GlobalType, tile: TileType, *, by_gap: bool
) -> tuple[GlobalType, TileType] | None:
    """Return a move of boxes: as many columns of them as the view has, each of the valid rows."""
    rows, cols, stride = tile.valid.rows, view.matrix.cols, list(view.stride or ())
    if rows is None or cols is None or cols > tile.cols:
        return None
    if by_gap:  # from the end of the valid elements
        stride[1] = (stride[1] or 0) + (times(rows, view.n4) or 0) - (times(*view.shape[2:]) or 0)
    several = rows % BOX == 0  # whole boxes, as rules want them
    inner = (rows // BOX, BOX) if several else (1, rows)
    if several:
        stride[2] = times(BOX, stride[3])
    shape = (*view.shape[:2], *inner, view.n4)
    moved = replace(view, shape=shape, stride=tuple(stride)).laid_out(GlobalLayout.NZ)
    return moved, replace(tile, valid=Shape(rows, cols))


def _into_boxes(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a load of lines into boxes: all of the view, with zeros for the rest of a box."""
    rows, cols = view.matrix
    if rows is None or cols is None or rows > tile.rows or cols > tile.cols:
        return None
    return view, replace(tile, valid=Shape(rows, cols), pad=PadValue.ZERO)


def as_moved_tiles(
    dst: TileType, src: TileType, target: Target, mode: AccToVecMode | None = None
) -> tuple[TileType, TileType] | None:
    """Return both tiles with the extents that move; None if they are equal, or not known.

    Into the cube's operands whole declared boxes move; out of an accumulator into L1 whole boxes of
    16 lines, including those behind the valid ones. In UB the common valid region moves.
    """
    if not target.is_chip or dst.valid == src.valid or not src.valid.static:
        return None
    if src.loc is MAT and dst.loc in (LEFT, RIGHT, BIAS, SCALING):
        both = Shape(min(dst.rows, src.rows), min(dst.cols, src.cols))
        return replace(dst, valid=both), replace(src, valid=both)
    if src.loc is VEC and dst.loc is VEC and dst.valid.static and dst.layout is src.layout:
        both = Shape(*(min(a or 0, b or 0) for a, b in zip(dst.valid, src.valid, strict=True)))
        return replace(dst, valid=both), replace(src, valid=both)
    if src.loc is not ACC or dst.loc not in (MAT, VEC):
        return None
    rows, cols = _boxes_of_sums(src) if dst.loc is MAT else _sums_for_vectors(dst, src, mode)
    if mode is AccToVecMode.DUAL_SPLIT_M and rows > dst.rows:  # a half for each core
        dst = replace(dst, rows=2 * dst.rows)
    if mode is AccToVecMode.DUAL_SPLIT_N and cols > dst.cols:
        dst = replace(dst, cols=2 * dst.cols)
    if rows > dst.rows or cols > dst.cols:
        return None
    whole = Shape(rows, cols)
    return replace(dst, valid=whole), replace(src, valid=whole)


def as_shared(types: Env, target: Target) -> Env:
    """Return dst as both vector cores have it together if each receives a half: the whole."""
    dst, src, mode = types["dst"], types["src"], types.get("mode")
    halves = AccToVecMode.DUAL_SPLIT_M, AccToVecMode.DUAL_SPLIT_N
    if not target.is_chip or mode not in halves or types.get("row") or types.get("col"):
        return {}
    down = mode is AccToVecMode.DUAL_SPLIT_M
    whole = Shape(dst.valid.rows << down, dst.valid.cols << (not down))
    if whole != src.valid:
        return {}
    rows, cols = dst.rows << down, dst.cols << (not down)
    return {"dst": replace(dst, rows=rows, cols=cols, valid=whole)}


def as_inserted(types: Env, target: Target) -> Env:
    """Return dst as the code that inserts from UB into L1 of A5 addresses it (dispute C66).

    The code goes by the layout of src. Plain lines go to where a plain tile has them, boxes of
    nz to where a tile has them whose boxes follow one another along rows.
    """
    dst, src = types["dst"], types["src"]
    if not (target.follows((A5,)) and src.loc is VEC and dst.loc is MAT):
        return as_shared(types, target)
    if src.layout is dst.layout or src.layout not in (ND, NZ):
        return {}
    if src.layout is ND or dst.layout is DN:
        return {"dst": replace(dst, layout=src.layout)}
    across = Shape(dst.valid.cols, dst.valid.rows)
    return {"dst": replace(dst, rows=dst.cols, cols=dst.rows, layout=NZ, valid=across)}


def _boxes_of_sums(src: TileType) -> tuple[int, int]:
    """Return the extents of the boxes of an accumulator that hold its valid region."""
    rows, cols = (-(-(n or 0) // BOX) * BOX for n in src.valid)
    return min(rows, src.rows), min(cols, src.cols)


def _sums_for_vectors(dst: TileType, src: TileType, mode: AccToVecMode | None) -> tuple[int, int]:
    """Return the part of an accumulator that goes to the vector cores: into lines its valid region.

    Into boxes every declared row goes, and whole boxes of columns, at least one for each core.
    """
    rows, cols = (n or 0 for n in src.valid)
    if dst.layout is not NZ:
        return rows, cols
    step = LINE // dst.size
    if mode is AccToVecMode.DUAL_SPLIT_N:
        step = LINE
    elif mode is AccToVecMode.DUAL_SPLIT_M or (dst.size == 4 and dst.fractal != 512):
        step = BOX
    return max(src.rows, rows), min(-(-cols // step) * step, src.cols)


def in_bytes(types: Env, target: Target) -> Env:
    """Return vector tiles of packed pairs as chips count them for windows of rows or of one pair.

    Each element of the type is a byte there: rows are as long as the type has columns.
    """
    dst, src = types["dst"], types["src"]
    if not (target.is_chip and dst.dtype.pairs and dst.loc is VEC and src.loc is VEC):
        return {}
    widths = dst.cols, src.cols, dst.valid.cols or 0, types.get("col", 0)
    lines = dst.layout is src.layout is ND and not any(width % LINE for width in widths)
    if dst.valid != Shape(1, 1) and not lines:
        return {}
    return {"dst": replace(dst, dtype=i8), "src": replace(src, dtype=i8)}


def as_moved_windows(types: Env, target: Target) -> Env:
    """Return src as chips read it: into the cube's operands windows of declared boxes move."""
    dst, src = types["dst"], types["src"]
    if found := in_bytes(types, target):
        return found
    declared = Shape(src.rows, src.cols)
    into = src.loc is MAT and dst.loc in (LEFT, RIGHT)
    if not (target.is_chip and into and src.valid.static and dst.valid.static):
        return {}
    row, col = types.get("row", 0), types.get("col", 0)
    fits = row + dst.valid.rows <= src.valid.rows and col + dst.valid.cols <= src.valid.cols
    return {} if fits or src.valid == declared else {"src": replace(src, valid=declared)}


def _of_scales(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a load of scales in lines along k: the count is the tile's, the pitch the view's."""
    lines, groups = tile.valid if view.layout is GlobalLayout.MX_A_ND else (*tile.valid,)[::-1]
    if lines is None or groups is None or groups % 2:
        return None
    return replace(view, shape=(1, 1, lines, groups // 2, 2)), tile


def _of_sums(view: GlobalType, tile: TileType) -> tuple[GlobalType, TileType] | None:
    """Return a store of an accumulator in rows: the valid region at the view's stride."""
    rows, cols = tile.valid
    if view.layout is not GlobalLayout.ND or view.outer != 1:
        return None
    return replace(view, shape=(*view.shape[:3], rows, cols)), tile


def _of_planes(view: GlobalType, tile: TileType) -> GlobalType:
    """Return images in planes, one for each channel, as columns: the points of all are rows."""
    step = (view.stride or ())[PLANES[view.layout or GlobalLayout.NCHW]]
    whole = times(step, tile.valid.cols)
    moved = replace(view, shape=(1, 1, 1, *tile.valid), stride=(whole, whole, whole, 1, step))
    return moved.laid_out(GlobalLayout.DN)


def _of_images(view: GlobalType) -> GlobalType:
    """Return images in blocks of channels as boxes of other heights: points of images are rows."""
    shape, stride = list(view.shape), list(view.stride or ())
    if view.layout is GlobalLayout.NDC1HWC0:  # the channels of a point are no extent of the view
        depth = times(*shape[1:3])
        block = 16 if view.dtype is i32 else 32 // view.dtype.size
        shape, stride = [shape[0], depth, *shape[3:], block], [*stride[1:], 1]
    images, channels, rows = shape[:3]
    step = times(images, stride[1])
    shape = [1, channels, times(images, rows), *shape[3:]]
    stride = [times(channels, step), step, *stride[2:]]
    moved = replace(view, shape=tuple(shape), stride=tuple(stride))
    return moved.laid_out(GlobalLayout.NZ)


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
    if lines > extent:  # lines behind the tile are moved, too
        tile = replace(tile, rows=lines) if along == 4 else replace(tile, cols=lines)
    if by_gap:
        stride[count] = length + (stride[count] or 0) - (shape[along] or 0)
    shape[along] = length
    valid = Shape(lines, length) if along == 4 else Shape(length, lines)
    return replace(view, shape=tuple(shape), stride=tuple(stride)), replace(tile, valid=valid)
