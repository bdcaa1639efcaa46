"""Tiles come to be and get addresses: alloc_tile, set_validshape, TASSIGN (spec 1.7, 4.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ptokit.isa.lang import In, Instr, Result
from ptokit.isa.rules import both, named
from ptokit.isa.tiles import Shape, TileType
from ptokit.isa.types import Index, Scalar, Tile
from ptokit.isa.words import S


class AllocTile(Instr, name="alloc_tile", handle=True, allocates=True, pipe=S):
    """A new tile. Its content is undefined.

    `addr` is the byte offset in the memory of its location; without one ptokit places the tile.
    `valid_row` and `valid_col` are given exactly where the type says `?`.
    """

    cpp_text = "{type} {result}({valid_row}, {valid_col});"
    result = Result(Tile)
    addr = In(Scalar, None, scalar="i64", key="addr", doc="byte offset, a multiple of 32")
    valid_row = In(Index, None, key="valid_row", doc="rows of the valid region")
    valid_col = In(Index, None, key="valid_col", doc="columns of the valid region")

    fewer = "the valid region is the upper left part of the tile"
    rules = (
        named("tile-shape", both(valid_row >= 0, valid_row <= result.rows), help=fewer),
        named("tile-shape", both(valid_col >= 0, valid_col <= result.cols), help=fewer),
        named(
            "dynamic-valid",
            valid_row.given == result.dynamic_rows,
            valid_col.given == result.dynamic_cols,
            help="give valid_row and valid_col exactly where the type says ?",
        ),
    )

    @staticmethod
    def type_of(result: TileType, valid_row: int | None, valid_col: int | None) -> TileType:
        rows = result.valid.rows if valid_row is None else valid_row
        cols = result.valid.cols if valid_col is None else valid_col
        return replace(result, valid=Shape(rows, cols))

    @staticmethod
    def run(machine: Any, result: TileType, addr: int, fresh: bool) -> Any:  # Any: the executor's
        return machine.fresh(result, addr) if fresh else machine.tile(result, addr)


class TAssign(Instr, handle=True, pipe=S):
    """`src` at another address: a handle on the bytes there. Nothing moves.

    Tiles whose bytes overlap alias: what one writes, the other sees.
    """

    cpp_text = "auto {dst} = {src}; TASSIGN({dst}, {addr});"
    dst = Result(Tile)
    src = In(Tile, doc="the tile whose type the new handle has")
    addr = In(Scalar, scalar="i64", doc="byte offset in the memory of its location")

    disputes = ("C30",)

    @staticmethod
    def type_of(src: TileType) -> TileType:
        return src

    @staticmethod
    def run(machine: Any, dst: TileType, addr: int) -> Any:  # Any: the executor's
        return machine.tile(dst, addr)
