"""The tiles of a memory by address and time: a table for a terminal, a picture for a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ptokit.analysis.memorymap import MemoryMap, TileLiveRange
from ptokit.diagnostics.printable import columns

HEADINGS = ("function", "target", "memory", "in use", "capacity", "ends at", "line", "alive there")
NAMED = 6  # maximum number of tiles in a row of the table
WIDTH, HEIGHT = 760, 240  # of a plot
LEFT, TOP, PANEL = 96, 64, 360  # margin for numbers; height of a panel with title and axis
TICKS = 12
COLOURS = ("#4e79a7", "#59a14f", "#9c755f", "#76b7b2", "#b07aa1", "#edc948", "#f28e2b", "#bab0ac")
BEYOND, OWN = "#e15759", "#8d99a6"  # tiles beyond the capacity; tiles at addresses from the program


def memory_table(maps: Sequence[MemoryMap]) -> list[str]:
    """Return a row for each memory: peak, capacity, line of the peak, and live tiles."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    for each in maps:
        share = f"{each.peak:,} ({each.peak * 100 // max(each.capacity, 1)} %)"
        numbers = (share, f"{each.capacity:,}", f"{each.end:,}", str(each.line or ""))
        rows.append((f"@{each.function}", each.target, each.space, *numbers, _names(each.live)))
    return columns(rows, range(3, 7))


def _names(live: Sequence[TileLiveRange]) -> str:
    """Return the largest tiles with their bytes, and the count of the others."""
    ordered = sorted(live, key=lambda tile: -tile.nbytes)
    names = [f"%{tile.name} {tile.nbytes:,}" for tile in ordered[:NAMED]]
    rest = ordered[NAMED:]
    return ", ".join([*names, f"and {len(rest)} more"] if rest else names)


def memory_svg(maps: Sequence[MemoryMap]) -> str:
    """Return a panel per memory: addresses upward, instructions to the right."""
    width, height = LEFT + WIDTH + 24, PANEL * len(maps) + 8
    panels = (_panel(each, number * PANEL) for number, each in enumerate(maps))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
            f'<rect class="paper" width="{width}" height="{height}" fill="#fff"/>',
            *(line for panel in panels for line in panel),
            "</svg>\n",
        ]
    )


def _panel(each: MemoryMap, top: int) -> Iterator[str]:
    scale = _Scale(each)
    title = f"{each.space} of @{each.function} on {each.target}"
    peak_at = f"line {each.line}" if each.line else f"%{each.peak_at.name}"
    facts = f"at most {each.peak:,} of {each.capacity:,} bytes in use, at {peak_at}"
    yield f'<g transform="translate({LEFT},{top + TOP})">'
    yield f'<text x="0" y="-40" font-size="14" font-weight="bold">{escape(title)}</text>'
    yield f'<text x="0" y="-22" fill="#444">{escape(facts)}</text>'
    yield f'<rect class="plot" width="{WIDTH}" height="{HEIGHT}" fill="#f6f7f8"/>'
    yield from (part for tile in each.tiles for part in _tile(tile, each, scale))
    yield from _lines(each, scale)
    yield from _limits(each, scale)
    yield "</g>"


class _Scale:
    """The scale of a panel; the capacity is included if tiles reach half of it."""

    def __init__(self, each: MemoryMap) -> None:
        self.steps = max(len(each.lines), 1)
        self.whole = each.end * 2 >= each.capacity
        self.bytes = max(each.end, each.capacity) if self.whole else each.end * 4 // 3
        self.bytes = max(self.bytes, 1)

    def x(self, step: int) -> float:
        return round(step / self.steps * WIDTH, 1)

    def y(self, byte: int) -> float:
        return round(HEIGHT - byte / self.bytes * HEIGHT, 1)


def _tile(tile: TileLiveRange, each: MemoryMap, scale: _Scale) -> Iterator[str]:
    if tile.start is None or tile.end is None:
        return
    y, height = scale.y(tile.end), scale.y(tile.start) - scale.y(tile.end)
    colour = OWN if tile.explicit else COLOURS[each.tiles.index(tile) % len(COLOURS)]
    colour = BEYOND if tile.end > each.capacity else colour
    where = f"%{tile.name}: bytes {tile.start:,} to {tile.end - 1:,}"
    line = f", line {tile.line}" if tile.line else ""
    for first, last in tile.parts:
        x = scale.x(first)
        width = scale.x(last + 1) - x
        yield (
            f'<rect class="tile" x="{x}" y="{y}" width="{width:.1f}" height="{height:.1f}"'
            f' fill="{colour}" fill-opacity="0.75" stroke="#fff">'
            f"<title>{escape(where + line)}</title></rect>"
        )
        yield from _named(tile, x, y, width, height)


def _named(tile: TileLiveRange, x: float, y: float, width: float, height: float) -> Iterator[str]:
    """Yield the name of a tile if there is room; vertical for a narrow tile."""
    name, middle = f"%{tile.name}", y + height / 2
    if height >= 11 and width >= 7 * len(name):
        at = f'x="{x + 4:.1f}" y="{middle + 4:.1f}"'
    elif width >= 11 and height >= 7 * len(name):
        across = x + width / 2 + 4
        at = f'transform="translate({across:.1f},{middle:.1f})rotate(-90)" text-anchor="middle"'
    else:
        return
    yield f'<text class="on" {at}>{escape(name)}</text>'


def _limits(each: MemoryMap, scale: _Scale) -> Iterator[str]:
    """Yield the capacity, the part that front ends leave, and byte 0."""
    yield f'<text x="-6" y="{HEIGHT}" text-anchor="end">0</text>'
    if not scale.whole:
        above = f"capacity {each.capacity:,} (off scale)"
        yield from _level(scale.y(each.end), f"{each.end:,}", "#888")
        halo = 'paint-order="stroke" stroke="#f6f7f8" stroke-width="5"'  # the peak ends there
        yield f'<text x="{WIDTH - 4}" y="14" text-anchor="end" fill="#c00" {halo}>{above}</text>'
        return
    yield from _level(scale.y(each.capacity), f"{each.capacity:,}", "#c00")
    if scale.y(each.usable) - scale.y(each.capacity) > 10:  # room for its number
        yield from _level(scale.y(each.usable), f"{each.usable:,}", "#888")


def _level(y: float, label: str, colour: str) -> Iterator[str]:
    yield f'<path d="M0 {y}H{WIDTH}" stroke="{colour}" stroke-dasharray="6 3"/>'
    yield f'<text x="-6" y="{y + 4}" text-anchor="end" fill="{colour}">{label}</text>'


def _lines(each: MemoryMap, scale: _Scale) -> Iterator[str]:
    """Yield the line numbers of some instructions on the axis, and the peak."""
    every = max(1, -(-scale.steps // TICKS))
    for step in range(0, len(each.lines), every):
        x, number = scale.x(step), each.lines[step]
        yield f'<path d="M{x} {HEIGHT}v4" stroke="#444"/>'
        yield f'<text x="{x}" y="{HEIGHT + 16}" text-anchor="middle">{number or ""}</text>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT + 32}" text-anchor="middle" fill="#444">line</text>'
    x = scale.x(each.moment)
    yield f'<path d="M{x} 0V{HEIGHT}" stroke="#000" stroke-dasharray="2 3"/>'
    yield f'<text x="{x}" y="-4" text-anchor="middle">peak</text>'
