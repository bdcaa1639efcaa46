"""The usual type of a tile, inferred from location, element type and extents."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ptokit.isa.model.tiles import ALIASES, TileType
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import MAT, VEC, Loc
from ptokit.values.layouts import DN, ND, NZ, Layout, Shape


def usual_layout(loc: Loc, rows: int, cols: int) -> tuple[Layout, int]:
    """Return layout and fractal of the location; a column of the vector unit is dn."""
    if loc is VEC and cols == 1 and rows > 1:
        return DN, 512
    return ALIASES.get(loc, (NZ if loc is MAT else ND, 512))


def rounded_up(kind: TileType) -> TileType:
    """Return the type with extents rounded up to whole boxes and lines, and its valid region."""
    box, line = kind.box, max(32 // kind.dtype.size, 1)
    down = line if kind.layout is DN else (box.rows or 1)
    across = line if kind.layout is ND else (box.cols or 1)
    return replace(kind, rows=-(-kind.rows // down) * down, cols=-(-kind.cols // across) * across)


@lru_cache(maxsize=1024)
def usual_type(
    loc: Loc, dtype: DType, rows: int, cols: int, boxes: tuple[Layout, int] | None = None
) -> TileType:
    """Return a legal type with at least these extents, all valid; `boxes`: layout and fractal."""
    layout, fractal = boxes or usual_layout(loc, rows, cols)
    made = rounded_up(TileType(loc, dtype, rows, cols, Shape(rows, cols), layout, fractal))
    return replace(made, valid=Shape(made.rows, made.cols))


def flipped(kind: TileType) -> TileType:
    """Return the type of the transpose of an unboxed tile, for the same bytes."""
    layout, valid = DN if kind.layout is ND else ND, Shape(kind.valid.cols, kind.valid.rows)
    return replace(kind, rows=kind.cols, cols=kind.rows, valid=valid, layout=layout)
