"""Pictures of a tile in memory: the order of its boxes, and of elements in a box."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ptokit.isa.model.tiles import TileType
from ptokit.tools.draw import ACROSS, DOWN, shown
from ptokit.tools.svg import shade

WIDE, HIGH = 36, 22  # pixels of a cell
Middles: TypeAlias = "Mapping[int, tuple[int, int]]"


def layout_figures(kind: TileType) -> str:
    """Return a picture, or two for a boxed tile: numbers are offsets, lines join neighbours."""
    where, rows, cols = kind.map, kind.rows, kind.cols
    if not kind.boxed:
        return _figure("offsets of elements", rows, cols, where.offset)
    high, wide = kind.box.rows or 1, kind.box.cols or 1
    down, across, size = -(-rows // high), cols // wide, high * wide

    def box(row: int, col: int) -> int:
        return where.offset(row * high, col * wide) // size

    boxes = _figure(f"{down}x{across} boxes in memory order", down, across, box)
    inside = f"offsets in box 0: {high}x{wide} elements"
    return boxes + _figure(inside, min(high, rows), wide, where.offset)


def _figure(title: str, rows: int, cols: int, cell: Callable[[int, int], int]) -> str:
    down, across = shown(rows, DOWN), shown(cols, ACROSS)
    cells, texts, middles = "", "", dict[int, tuple[int, int]]()
    for y, row in enumerate(down):
        for x, col in enumerate(across):
            number = None if row is None or col is None else cell(row, col)
            if number is not None:
                middles[number] = x * WIDE + WIDE - 4, y * HIGH + HIGH - 4  # beside the digits
            cells += _cell(x * WIDE, y * HIGH, number, rows * cols)
            texts += _number(x * WIDE, y * HIGH, number)
    width, height = len(across) * WIDE + 2, len(down) * HIGH + 2
    return (
        f"<figure><figcaption>{title}</figcaption>"
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width} {height}" '
        f'width="{width}" height="{height}" font-family="monospace" font-size="11">'
        f'{cells}<path class=order d="{"".join(_steps(middles))}" fill="none" '
        f'stroke="#222" stroke-opacity="0.3" stroke-width="1.5"/>{texts}</svg></figure>'
    )


def _cell(x: int, y: int, number: int | None, count: int) -> str:
    share = (number or 0) / max(count - 1, 1)
    colour = "class=gap fill='#eee'"
    if number is not None:
        colour = f'class=cell style="--at:{share:.0%}" fill="{shade(share)}"'
    return f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" {colour}/>'


def _number(x: int, y: int, number: int | None) -> str:
    return (
        f'<text x="{x + WIDE // 2}" y="{y + 15}" text-anchor="middle">'
        f"{'…' if number is None else number}</text>"
    )


def _steps(middles: Middles) -> Iterator[str]:
    """Yield a line from each cell to the next one in memory, if both are shown."""
    for number, (x, y) in sorted(middles.items()):
        if number + 1 in middles:
            after = middles[number + 1]
            yield f"M{x} {y}L{after[0]} {after[1]}"
