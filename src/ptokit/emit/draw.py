"""Pictures of layouts: the order of the boxes of a tile, and of the elements inside a box."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptokit.isa.tiles import TileType

ACROSS = 8  # columns shown at most
DOWN = 8  # rows shown at most


def shown(extent: int, most: int) -> list[int | None]:
    """Indices to show: all of them, or the first ones, a gap (None) and the last."""
    if extent <= most:
        return list(range(extent))
    return [*range(most - 2), None, extent - 1]


def grid(rows: int, cols: int, cell: Callable[[int, int], int]) -> list[str]:
    """A table of numbers with borders."""
    down, across = shown(rows, DOWN), shown(cols, ACROSS)
    texts = [["..." if r is None or c is None else str(cell(r, c)) for c in across] for r in down]
    width = max(len(text) for line in texts for text in line)
    lines = [_rule("┌┬┐", len(across), width)]
    for line in texts:
        lines.append("│" + "│".join(f" {text:>{width}} " for text in line) + "│")
    lines.append(_rule("└┴┘", len(across), width))
    return lines


def _rule(corners: str, count: int, width: int) -> str:
    left, middle, right = corners
    return left + middle.join("─" * (width + 2) for _ in range(count)) + right


def beside(left: Sequence[str], right: Sequence[str], gap: str = "   ") -> list[str]:
    """Two pictures side by side."""
    width = max(map(len, left), default=0)
    height = max(len(left), len(right))
    padded = [*left, *[""] * (height - len(left))], [*right, *[""] * (height - len(right))]
    return [f"{a:<{width}}{gap}{b}".rstrip() for a, b in zip(*padded, strict=True)]


def layout_picture(kind: TileType) -> str:
    """How a tile lies in memory: box order on the left, offsets inside a box on the right."""
    box_rows, box_cols = kind.box.rows or 1, kind.box.cols or 1
    where = kind.map
    lines = [f"{kind}: {kind.nbytes} bytes, offsets in elements of {kind.dtype.bits} bits"]
    if not kind.boxed:
        return "\n".join([*lines, "", *grid(kind.rows, kind.cols, where.offset)])
    size = box_rows * box_cols
    boxes_down, boxes_across = -(-kind.rows // box_rows), kind.cols // box_cols
    left = [
        f"{boxes_down}x{boxes_across} boxes, in memory order",
        *grid(
            boxes_down,
            boxes_across,
            lambda r, c: where.offset(r * box_rows, c * box_cols) // size,
        ),
    ]
    right = [
        f"box 0: {box_rows}x{box_cols} elements",
        *grid(min(box_rows, kind.rows), box_cols, where.offset),
    ]
    return "\n".join([*lines, "", *beside(left, right)])
