"""Pictures of layouts as text: the order of the boxes of a tile, and of elements inside a box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from click import unstyle

from ptokit.isa.model.tiles import TileType
from ptokit.values.enumerations import SLayout
from ptokit.values.layouts import ND

Paint: TypeAlias = "Callable[[str, int], str]"

ACROSS = 8  # columns shown at most
DOWN = 8  # rows shown at most


def shown(extent: int, most: int) -> list[int | None]:
    """Return the indices to show: all, or the first ones, a gap (None) and the last."""
    if extent <= most:
        return list(range(extent))
    return [*range(most - 2), None, extent - 1]


def plain(text: str, group: int) -> str:
    """Return the text unpainted."""
    return text


def grid(
    rows: int, cols: int, cell: Callable[[int, int], int], paint: Paint = plain, period: int = 1
) -> list[str]:
    """Return a table of numbers with borders; `paint` colours runs of `period` numbers alike."""
    down, across = shown(rows, DOWN), shown(cols, ACROSS)
    texts = [["..." if r is None or c is None else str(cell(r, c)) for c in across] for r in down]
    width = max(len(text) for line in texts for text in line)
    lines = [_rule("┌┬┐", len(across), width)]
    for line in texts:
        cells = (paint(f" {text:>{width}} ", _group(text, period)) for text in line)
        lines.append("│" + "│".join(cells) + "│")
    lines.append(_rule("└┴┘", len(across), width))
    return lines


def _group(text: str, period: int) -> int:
    return int(text) // period if text.isdigit() else -1


def _rule(corners: str, count: int, width: int) -> str:
    left, middle, right = corners
    return left + middle.join("─" * (width + 2) for _ in range(count)) + right


def abreast(left: Sequence[str], right: Sequence[str], gap: str = "   ") -> list[str]:
    """Return two pictures side by side; colour codes have no width."""
    width = max((len(unstyle(line)) for line in left), default=0)
    height = max(len(left), len(right))
    padded = [*left, *[""] * (height - len(left))], [*right, *[""] * (height - len(right))]
    return [
        f"{a}{' ' * (width - len(unstyle(a)))}{gap}{b}".rstrip()
        for a, b in zip(*padded, strict=True)
    ]


def layout_picture(kind: TileType, paint: Paint = plain) -> str:
    """Return a picture of a tile in memory: box order, then offsets inside a box."""
    box_rows, box_cols = kind.box.rows or 1, kind.box.cols or 1
    where = kind.map
    lines = [f"{kind}: {kind.nbytes} bytes, offsets in elements of {kind.dtype.bits} bits"]
    line = kind.cols if kind.layout is ND else kind.rows
    if not kind.boxed:
        return "\n".join([*lines, "", *grid(kind.rows, kind.cols, where.offset, paint, line)])
    size = box_rows * box_cols
    boxes_down, boxes_across = -(-kind.rows // box_rows), kind.cols // box_cols
    left = [
        f"{boxes_down}x{boxes_across} boxes, in memory order",
        *grid(
            boxes_down,
            boxes_across,
            lambda r, c: where.offset(r * box_rows, c * box_cols) // size,
            paint,
        ),
    ]
    step = box_cols if kind.layout.slayout is SLayout.ROW_MAJOR else box_rows
    right = [
        f"box 0: {box_rows}x{box_cols} elements",
        *grid(min(box_rows, kind.rows), box_cols, where.offset, paint, step),
    ]
    return "\n".join([*lines, "", *abreast(left, right)])
