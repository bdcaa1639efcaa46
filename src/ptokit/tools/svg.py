"""A picture of a layout for a browser: a cell per element with its offset, boxes framed."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.isa.model.tiles import TileType

CELL_WIDTH, CELL_HEIGHT = 34, 18
MOST = 64  # rows and columns drawn; larger tiles show their upper left corner


def layout_svg(kind: TileType) -> str:
    """Return the picture: each cell has its storage offset; early offsets are light."""
    rows, cols = min(kind.rows, MOST), min(kind.cols, MOST)
    width, height = cols * CELL_WIDTH + 2, rows * CELL_HEIGHT + 26
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" font-family="monospace" font-size="10">',
            f'<text x="2" y="14" font-size="13">{kind}</text>',
            '<g transform="translate(1,22)">',
            *_cells(kind, rows, cols),
            *_frames(kind, rows, cols),
            "</g>",
            "</svg>\n",
        ]
    )


def _cells(kind: TileType, rows: int, cols: int) -> Iterator[str]:
    for row in range(rows):
        for col in range(cols):
            offset = kind.map.offset(row, col)
            colour = shade(offset / max(kind.numel, 1))
            x, y = col * CELL_WIDTH, row * CELL_HEIGHT
            yield (
                f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}"'
                f' fill="{colour}" stroke="#fff" stroke-width="0.5"/>'
                f'<text x="{x + CELL_WIDTH / 2}" y="{y + 13}" text-anchor="middle">{offset}</text>'
            )


def shade(share: float) -> str:
    """Return light blue for the first element of the storage, dark blue for the last."""
    first, last = (236, 244, 251), (84, 142, 199)
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(first, last, strict=True)
    )


def _frames(kind: TileType, rows: int, cols: int) -> Iterator[str]:
    """Yield a frame around each box."""
    down, across = kind.box.rows or 1, kind.box.cols or 1
    if not kind.boxed:
        down, across = rows, cols
    for row in range(0, rows, down):
        for col in range(0, cols, across):
            width = min(across, cols - col) * CELL_WIDTH
            height = min(down, rows - row) * CELL_HEIGHT
            yield (
                f'<rect x="{col * CELL_WIDTH}" y="{row * CELL_HEIGHT}" width="{width}"'
                f' height="{height}" fill="none" stroke="#222" stroke-width="2"/>'
            )
