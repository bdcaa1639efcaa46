"""The charts of a report: pipe activity over time, and memory contents over time.

A chart is an SVG with cycles on the x axis; the page's script sets the visible part. Each rectangle
names its program lines (`data-p`) and a description (`data-tip`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby

from ptokit.ir.module import Op
from ptokit.isa.model.targets import Target
from ptokit.order.footprints import MemorySpace
from ptokit.order.timeline import Bar, Bubble, Lifetime, Line, TimedEntry, Timeline
from ptokit.order.waiting import PipeQueue

MOST_DRAWN = 10_000  # rectangles of a chart: browsers move more of them slowly
CORE = "core-name"
ROW, BAR = 24, 18  # pixels
MEMORY, HIGHEST = 96, 240  # pixels of a memory, and of one with many tiles


@dataclass
class LineNumbers:
    """Numbers for the lines of a program, in order of first execution."""

    numbers: dict[object, int] = field(default_factory=dict[object, int])

    def number(self, line: Line) -> int:
        """Return the number of a line; without text, instructions are numbered by name."""
        place, name = line
        return self.numbers.setdefault(place or name, len(self.numbers))


@dataclass(frozen=True)
class Label:
    """The text beside a row: of a pipe, in its colour; of a core, `CORE`; or other text."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart: a label for each row, the rectangles, and its caption."""

    labels: tuple[Label, ...]
    shapes: str
    high: int  # pixels
    note: str = ""


@dataclass(frozen=True)
class DrawnBar:
    """A rectangle from one cycle to another, with a name if there is room."""

    kind: str
    start: int
    end: int
    lines: Sequence[Line]
    tip: str
    name: str = ""
    filled: float = 1.0


def pipe_chart(timeline: Timeline, names: Sequence[str], places: LineNumbers) -> Chart:
    """Return a row for each active pipe, below its core's name, and the critical path."""
    queues = {q: [e for e in es if isinstance(e, Bar)] for q, es in timeline.queues.items()}
    joined = -(-len(timeline.bars) // MOST_DRAWN)
    shapes = [_rects(_path(timeline), 6, ROW - 12, places)]
    bubbles: dict[PipeQueue, list[Bubble]] = defaultdict(list)
    for bubble in timeline.bubbles:
        bubbles[bubble.entry.queue].append(bubble)
    rows = _rows([queue for queue, bars in queues.items() if bars], len(names) > 1)
    for row, queue in enumerate(rows, 1):
        if isinstance(queue, int):
            continue
        waits = map(_wait, bubbles[queue]) if joined == 1 else ()
        shapes.append(_rects(waits, row * ROW + (ROW - 6) // 2, 6, places))
        drawn = _bars(queues[queue], joined, timeline, bubbles[queue])
        shapes.append(_rects(drawn, row * ROW + (ROW - BAR) // 2, BAR, places))
    note = (
        f"{len(timeline.bars):,} instructions: up to {joined} neighbours of a queue are drawn "
        "as one bar, the paler the more the queue is idle; waits are left out."
        if joined > 1
        else ""
    )
    labels = (Label("critical path"), *(_label(row, names, timeline) for row in rows))
    return Chart(labels, "".join(shapes), ROW * len(labels), note)


def _rows(queues: Iterable[PipeQueue], several: bool) -> list[PipeQueue | int]:
    """Return the queues by core; with several cores, each core's number precedes its queues."""
    rows: list[PipeQueue | int] = []
    for core, some in groupby(queues, key=lambda queue: queue.core):
        rows += [core] if several else []
        rows += some
    return rows


def _label(row: PipeQueue | int, names: Sequence[str], timeline: Timeline) -> Label:
    if isinstance(row, int):
        return Label(names[row], CORE)
    share = timeline.busy[row] / (timeline.cycles or 1)
    return Label(f"{row}  {share:.0%}", _colour(row))


def _bars(
    bars: Sequence[Bar], joined: int, timeline: Timeline, bubbles: Iterable[Bubble]
) -> Iterator[DrawnBar]:
    """Yield a bar for each instruction, or for groups of `joined` neighbours."""
    kind = f"bar {_colour(bars[0].queue)}"
    waited = {id(bubble.entry): bubble for bubble in bubbles}
    for group in _groups(bars, joined):
        first, last = group[0], group[-1]
        if len(group) == 1:
            tip = _tooltip(first, waited.get(id(first)))
            name = short(first.entry.op.name)
            yield DrawnBar(kind, first.start, first.end, (first.line,), tip, name)
            continue
        busy = sum(bar.cycles for bar in group) / (last.end - first.start or 1)
        name = f"{len(group)} instructions"
        tip = f"{name}\ncycles {first.start:,} to {last.end:,}, busy {busy:.0%}"
        lines = list(dict.fromkeys(bar.line for bar in group))
        yield DrawnBar(kind, first.start, last.end, lines, tip, name, busy)


def _tooltip(bar: Bar, waited: Bubble | None) -> str:
    """Return the tooltip of a bar."""
    cost = bar.cost
    lines = [where(bar), f"cycles {bar.start:,} to {bar.end:,}: {bar.cycles:,}"]
    if cost.bytes:
        lines.append(f"{cost.bytes:,} bytes {cost.path}".rstrip())
    if cost.flop:
        lines.append(f"{cost.flop:,} FLOP")
    if waited is not None:
        lines.append(_waited(waited))
    return "\n".join((*lines, f"figures: {cost.source}"))


def _waited(bubble: Bubble) -> str:
    return f"waited {bubble.cycles:,} cycles for {bubble.after.queue}: {where(bubble.after)}"


def where(entry: TimedEntry) -> str:
    """Return the instruction, its line and its iteration."""
    place, name = entry.line
    iteration = ", ".join(f"%{counter} = {number}" for counter, number in entry.entry.iteration)
    line = "" if place is None else f" · line {place[1]}"
    return f"{short(name)}{line}" + (f" · {iteration}" if iteration else "")


def short(name: str) -> str:
    """Return a mnemonic without its dialect."""
    dialect, _, rest = name.partition(".")
    return rest or dialect


def _wait(bubble: Bubble) -> DrawnBar:
    start, entry = bubble.entry.ready - bubble.cycles, bubble.entry
    tip = f"{entry.queue} {_waited(bubble)}"
    return DrawnBar("wait", start, entry.ready, (entry.line, bubble.after.line), tip)


def _path(timeline: Timeline) -> Iterator[DrawnBar]:
    """Yield the critical path: each entry until the next one is ready.

    On a long path neighbours in a queue are merged; the path is omitted if it is still too long.
    """
    path = timeline.critical
    ends = [*(entry.ready for entry in path[1:]), timeline.cycles][: len(path)]
    steps = [(entry, end) for entry, end in zip(path, ends, strict=True) if end > entry.ready]
    groups = [[step] for step in steps]
    if len(steps) > MOST_DRAWN:
        groups = [[*some] for _, some in groupby(steps, key=lambda step: step[0].queue)]
    for group in groups if len(groups) <= MOST_DRAWN else ():
        (first, _), (_, end) = group[0], group[-1]
        what = where(first) if len(group) == 1 else f"{len(group)} entries of {first.queue}"
        tip = f"{what}\n{end - first.ready:,} cycles of the critical path"
        lines = list(dict.fromkeys(entry.line for entry, _ in group))
        yield DrawnBar(f"crit {_colour(first.queue)}", first.ready, end, lines, tip)


def _groups(bars: Sequence[Bar], size: int) -> Iterator[Sequence[Bar]]:
    return (bars[at : at + size] for at in range(0, len(bars), size))


def memory_charts(
    lives: Sequence[Lifetime], core: int, target: Target, places: LineNumbers
) -> list[tuple[str, Chart]]:
    """Return a chart for each memory of a core: its contents over time."""
    found: dict[MemorySpace, list[Lifetime]] = defaultdict(list)
    for life in lives:
        if life.region.space.core == core:
            found[life.region.space].append(life)
    return [(space.name, _memory(found[space], target, places)) for space in sorted(found)]


def _memory(lives: Sequence[Lifetime], target: Target, places: LineNumbers) -> Chart:
    top = max(life.region.stop for life in lives)
    room = target.capacity.get(lives[0].region.space.name, 0)
    drawn = lives[:MOST_DRAWN]
    note = f"The first {len(drawn):,} of {len(lives):,} writes." if len(drawn) < len(lives) else ""
    high = min(max(MEMORY, BAR * len({life.region.start for life in lives})), HIGHEST)
    scale = high / top
    shapes = [
        _rects((_life(one),), (top - one.region.stop) * scale, max(1.0, size * scale), places)
        for one in drawn
        for size in (one.region.stop - one.region.start,)
    ]
    label = Label(f"{_size(top)} of {_size(room)}" if room else _size(top))
    return Chart((label,), "".join(shapes), high, note)


def _life(life: Lifetime) -> DrawnBar:
    region, bar, name = life.region, life.writer, _tile(life)
    tip = (
        f"{where(bar)}\nwrites {name and name + ': '}bytes {region.start:,} to "
        f"{region.stop - 1:,} of {region.space.name}\n"
        f"in use for cycles {life.start:,} to {life.end:,}"
    )
    return DrawnBar(f"tile {_colour(bar.queue)}", life.start, life.end, (bar.line,), tip, name)


def _tile(life: Lifetime) -> str:
    """Return the name of the written tile, for an instruction that writes one."""
    op = life.writer.entry.op
    assert isinstance(op, Op), "an op that is not known is not executed"
    names = [value.name for operand in op.page.outs() for value in op.bound(operand.name)]
    return f"%{names[0]}" if len(names) == len(life.writer.entry.writes) == 1 else ""


def _size(count: int) -> str:
    return f"{count / 1024:,.4g} KiB" if count >= 1024 else f"{count} bytes"


def _colour(queue: PipeQueue) -> str:
    return f"pipe-{str(queue.pipe).lower()}"


def _rects(shapes: Iterable[DrawnBar], top: float, high: float, places: LineNumbers) -> str:
    return "".join(
        f'<rect class="{shape.kind}" x="{shape.start}" y="{top:g}" height="{high:g}" '
        f'width="{max(shape.end - shape.start, 1)}" '
        + (f'fill-opacity="{0.3 + 0.7 * shape.filled:.2f}" ' if shape.filled < 1 else "")
        + f'data-p="{" ".join(dict.fromkeys(str(places.number(line)) for line in shape.lines))}" '
        + (f'data-name="{escape(shape.name)}" ' if shape.name else "")
        + f'data-tip="{escape(shape.tip)}"/>\n'
        for shape in shapes
    )
