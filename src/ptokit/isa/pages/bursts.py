"""Bursts: lines of bytes that a builtin of the device moves, mapped to the page that moves them.

Builtins below the instructions move lines of whole bytes between two memories at a fixed distance.
An instruction on tiles of bytes moves the same lines.
"""

from __future__ import annotations

from functools import cache

from ptokit.diagnostics.diagnostic import error
from ptokit.isa.index import searched
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import GlobalLayout
from ptokit.values.dtypes import u8
from ptokit.values.enumerations import Loc
from ptokit.values.layouts import ND, Shape


def burst_page(source: Loc | None, target: Loc | None) -> type[Instr]:
    """Return the page that moves lines between two memories; None is global memory."""
    if source is None:
        return _page("load", Kind.TILE)
    return _page("store", Kind.GLOBAL) if target is None else _page("to", Kind.TILE)


def fill_page() -> type[Instr]:
    """Return the page that fills lines with one number."""
    return _page("full", Kind.TILE)


@cache
def _page(verb: str, dst: Kind) -> type[Instr]:
    """Return the first page of a value form whose dst is of a kind."""
    for page in searched("values", verb):
        if page.value_name() == verb and page.operands[0].kind is dst:
            return page
    raise error("unknown-op", f"no page has the value form {verb}")


def tile_of_lines(loc: Loc, count: int, nbytes: int, step: int) -> TileType:
    """Return the tile of bytes whose rows are lines at a distance of `step`."""
    return TileType(loc, u8, count, step, Shape(count, nbytes), ND)


def view_of_lines(count: int, nbytes: int, step: int) -> GlobalType:
    """Return the view of bytes whose rows are lines at a distance of `step`."""
    whole = count * step
    return GlobalType(u8, (1, 1, 1, count, nbytes), (whole, whole, whole, step, 1), GlobalLayout.ND)
