"""TTRANS: transpose a tile (spec 3.4)."""

from __future__ import annotations

from ptokit.isa.arrays import Cells
from ptokit.isa.lang import In, Instr, Like, Out
from ptokit.isa.rules import A5, HARDWARE, both, named, on
from ptokit.isa.types import Tile
from ptokit.isa.words import VEC, BLayout, V


class TTrans(Instr, pipe=V):
    """dst[j, i] = src[i, j] over src's valid region; rectangular tiles are fine.

    `tmp` is scratch: ignored here and on A5, undefined afterwards.
    """

    dst = Out(Tile, doc="receives the transpose; must not overlap src")
    src = In(Tile, doc="the tile to transpose")
    tmp = In(Tile, None, doc="scratch of A2/A3")

    rules = (
        named("element-type", dst.size == src.size),
        named("shape", dst.valid.rows == src.valid.cols, dst.valid.cols == src.valid.rows),
        on(
            HARDWARE,
            both(src.loc == VEC, dst.loc == VEC),
            named("element-type", src.size.isin(1, 2, 4)),
            named("layout", src.blayout == BLayout.ROW_MAJOR, help="store the source row-major"),
        ),
        on(A5, both(src.cols * src.size % 32 == 0, dst.cols * dst.size % 32 == 0)),
    )
    elided = {"dst": Like(src, src.valid.cols, src.valid.rows)}
    recorded = {"2d": {}}
    disputes = ("C14", "C33")

    @staticmethod
    def run(dst: Cells, src: Cells) -> None:
        rows, cols = src.valid
        dst[:cols, :rows] = src[:rows, :cols].T.bitcast(dst.dtype)
