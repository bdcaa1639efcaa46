"""The charts of a report: what each pipe does by time, and what lies in each memory by time.

A chart is an SVG whose x is cycles; the page's script sets the part that is seen. Each of its
rectangles names the lines of the program that it comes from (`data-p`) and what it is (`data-tip`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import zip_longest

from ptokit.isa.model.targets import Target
from ptokit.sim.pipes.byteregions import MemorySpace
from ptokit.sim.pipes.entries import PipeQueue
from ptokit.sim.pipes.lifetimes import Lifetime
from ptokit.sim.pipes.timeline import Bar, Bubble, Line, TimedEntry, Timeline

MOST_DRAWN = 10_000  # rectangles of a chart: browsers move more of them slowly
ROW, BAR = 24, 18  # pixels
MEMORY = 96  # pixels of a memory


@dataclass
class LineNumbers:
    """Numbers for the lines of a program, in the order in which they are first executed."""

    numbers: dict[object, int] = field(default_factory=dict[object, int])

    def number(self, line: Line) -> int:
        """One number for all instructions of a line; of a program without text for each name."""
        place, name = line
        return self.numbers.setdefault(place or name, len(self.numbers))


@dataclass(frozen=True)
class Chart:
    """A chart: a label for each row, the rectangles, and what has to be said of it.

    `colours` are those of the rows, as far as a row has one.
    """

    labels: tuple[str, ...]
    colours: tuple[str, ...]
    shapes: str
    high: int  # pixels
    note: str = ""


@dataclass(frozen=True)
class DrawnBar:
    """A rectangle from one cycle to another one."""

    kind: str
    start: int
    end: int
    lines: Sequence[Line]
    tip: str
    filled: float = 1.0


def pipe_chart(timeline: Timeline, names: Sequence[str], places: LineNumbers) -> Chart:
    """A row for each pipe and core that does something, and one for the critical path."""
    queues = {q: [e for e in es if isinstance(e, Bar)] for q, es in timeline.queues.items()}
    queues = {queue: bars for queue, bars in queues.items() if bars}
    joined = -(-len(timeline.bars) // MOST_DRAWN)
    shapes = [_rects(_path(timeline), 6, ROW - 12, places)]
    bubbles: dict[PipeQueue, list[Bubble]] = defaultdict(list)
    for bubble in timeline.bubbles:
        bubbles[bubble.entry.queue].append(bubble)
    for row, (queue, bars) in enumerate(queues.items(), 1):
        waits = map(_wait, bubbles[queue]) if joined == 1 else ()
        shapes.append(_rects(waits, row * ROW + (ROW - 6) // 2, 6, places))
        drawn = _bars(bars, joined, timeline, bubbles[queue])
        shapes.append(_rects(drawn, row * ROW + (ROW - BAR) // 2, BAR, places))
    labels = ("critical path", *(_label(queue, names, timeline) for queue in queues))
    note = (
        f"{len(timeline.bars):,} instructions: up to {joined} neighbours of a queue are drawn "
        "as one bar, the paler the more the queue is idle; waits and long paths are left out."
        if joined > 1
        else ""
    )
    colours = ("", *map(_colour, queues))
    return Chart(labels, colours, "".join(shapes), ROW * len(labels), note)


def _label(queue: PipeQueue, names: Sequence[str], timeline: Timeline) -> str:
    share = timeline.busy[queue] / (timeline.cycles or 1)
    core = f"{names[queue.core]} · " if len(names) > 1 else ""
    return f"{core}{queue}  {share:.0%}"


def _bars(
    bars: Sequence[Bar], joined: int, timeline: Timeline, bubbles: Iterable[Bubble]
) -> Iterator[DrawnBar]:
    """Each instruction, or so many neighbours of a queue as one."""
    kind = f"bar {_colour(bars[0].queue)}"
    waited = {id(bubble.entry): bubble for bubble in bubbles}
    for group in _groups(bars, joined):
        first, last = group[0], group[-1]
        if len(group) == 1:
            tip = _told(first, waited.get(id(first)))
            yield DrawnBar(kind, first.start, first.end, (first.line,), tip)
            continue
        busy = sum(bar.cycles for bar in group) / (last.end - first.start or 1)
        tip = f"{len(group)} instructions\ncycles {first.start:,} to {last.end:,}, busy {busy:.0%}"
        lines = list(dict.fromkeys(bar.line for bar in group))
        yield DrawnBar(kind, first.start, last.end, lines, tip, busy)


def _told(bar: Bar, waited: Bubble | None) -> str:
    """What a bar says of itself."""
    cost = bar.cost
    told = [where(bar), f"cycles {bar.start:,} to {bar.end:,}: {bar.cycles:,}"]
    if cost.bytes:
        told.append(f"{cost.bytes:,} bytes {cost.path}".rstrip())
    if cost.flop:
        told.append(f"{cost.flop:,} FLOP")
    if waited is not None:
        told.append(_waited(waited))
    return "\n".join((*told, f"figures: {cost.source}"))


def _waited(bubble: Bubble) -> str:
    return f"waited {bubble.cycles:,} cycles for {bubble.after.queue}: {where(bubble.after)}"


def where(entry: TimedEntry) -> str:
    """The instruction, its line and its turn."""
    place, name = entry.line
    turn = ", ".join(f"%{counter} = {number}" for counter, number in entry.entry.turn)
    line = "" if place is None else f" · line {place[1]}"
    return f"{short(name)}{line}" + (f" · {turn}" if turn else "")


def short(name: str) -> str:
    """A mnemonic without its dialect."""
    return name.rpartition(".")[2]


def _wait(bubble: Bubble) -> DrawnBar:
    start, entry = bubble.entry.ready - bubble.cycles, bubble.entry
    tip = f"{entry.queue} {_waited(bubble)}"
    return DrawnBar("wait", start, entry.ready, (entry.line, bubble.after.line), tip)


def _path(timeline: Timeline) -> Iterator[DrawnBar]:
    """The critical path: each entry until the next one is ready; drawn only if it is short."""
    path = timeline.critical
    if len(path) > MOST_DRAWN:
        return
    for entry, after in zip_longest(path, path[1:]):
        until = timeline.cycles if after is None else after.ready
        if until > entry.ready:
            tip = f"{where(entry)}\n{until - entry.ready:,} cycles of the critical path"
            yield DrawnBar(f"crit {_colour(entry.queue)}", entry.ready, until, (entry.line,), tip)


def _groups(bars: Sequence[Bar], size: int) -> Iterator[Sequence[Bar]]:
    return (bars[at : at + size] for at in range(0, len(bars), size))


def memory_charts(
    lives: Sequence[Lifetime], core: int, target: Target, places: LineNumbers
) -> list[tuple[str, Chart]]:
    """A chart for each memory of a core: what lies where, from when to when."""
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
    scale = MEMORY / top
    shapes = [
        _rects((_life(one),), (top - one.region.stop) * scale, _high(one, scale), places)
        for one in drawn
    ]
    labels = (f"{_size(top)} of {_size(room)}" if room else _size(top),)
    return Chart(labels, ("",), "".join(shapes), MEMORY, note)


def _high(life: Lifetime, scale: float) -> float:
    return max(1.0, (life.region.stop - life.region.start) * scale)


def _life(life: Lifetime) -> DrawnBar:
    region, bar = life.region, life.writer
    tip = (
        f"{where(bar)}\nwrites bytes {region.start:,} to {region.stop - 1:,} of "
        f"{region.space.name}\nin use for cycles {life.start:,} to {life.end:,}"
    )
    return DrawnBar(f"tile {_colour(bar.queue)}", life.start, life.end, (bar.line,), tip)


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
        f'data-tip="{escape(shape.tip)}"/>\n'
        for shape in shapes
    )
