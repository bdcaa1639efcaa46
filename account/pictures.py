"""The pictures of docs/machine.md, drawn from what ptokit says of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from pathlib import Path

import ptokit as pto
from ptokit.api.profiling import Profile
from ptokit.order.roofline import Roofline, roofline
from ptokit.order.timeline import Bar, Pause, TimedEntry
from ptokit.tools.memorypicture import memory_svg

EXAMPLES = Path(__file__).parents[1] / "examples"
WIDTH, LEFT, ROW, BAR = 920, 96, 46, 26  # pixels
COLOURS = {"MTE2": "#4e79a7", "V": "#59a14f", "MTE3": "#b07aa1", "M": "#f28e2b"}
INK, PALE, WRONG = "#1c2733", "#8d99a6", "#d43f3a"
FLOP_PER_BYTE, FLOP_PER_CYCLE = (-2.0, 3.0), (-1.0, 4.0)  # powers of ten
PLOT = 300  # pixels


def drawn(title: str, height: int, *shapes: str) -> str:
    """A picture on a ground of its own: the same in light and dark surroundings."""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" font-size="13" fill="{INK}" '
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">",
            f"<title>{title}</title>",
            *(_tip(name, colour) for name, colour in (("tip", INK), ("wrong", WRONG))),
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10" '
            'fill="#fff" stroke="#c9d3dd"/>',
            *shapes,
            "</svg>\n",
        )
    )


def _tip(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{colour}"/></marker>'
    )


def example(name: str) -> pto.Program:
    """A program of the examples."""
    text = (EXAMPLES / f"{name}.pto").read_text(encoding="utf-8")
    return pto.loads(text, f"examples/{name}.pto")


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>'


def line(x: float, y: float, to_x: float, to_y: float, more: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" {more}/>'


class QueuePicture:
    """The queues of one core by time, as a profile has them."""

    def __init__(self, profile: Profile) -> None:
        self.timeline = profile.timeline
        entries = self.timeline.queues
        self.bars = {str(q): [e for e in es if isinstance(e, Bar)] for q, es in entries.items()}
        self.rows = [name for name in COLOURS if self.bars.get(name)]
        self.bottom = 56 + ROW * len(self.rows)

    def x(self, cycle: float) -> float:
        return LEFT + cycle * (WIDTH - LEFT - 24) / self.timeline.cycles

    def y(self, entry: TimedEntry) -> float:
        return 56 + ROW * self.rows.index(str(entry.queue))

    def shapes(self) -> Iterator[str]:
        for number, name in enumerate(self.rows):
            middle = 56 + ROW * number + BAR / 2
            yield line(LEFT, middle, WIDTH - 24, middle, 'stroke="#e3e8ee"')
            yield text(24, middle + 5, name, f'font-weight="bold" fill="{COLOURS[name]}"')
            for bar in self.bars[name]:
                yield from self._bar(bar, name)
        for cycle in range(0, self.timeline.cycles + 1, 200 if self.timeline.cycles > 600 else 50):
            yield line(
                self.x(cycle), self.bottom - 8, self.x(cycle), self.bottom - 3, f'stroke="{PALE}"'
            )
            more = f'text-anchor="middle" font-size="11" fill="{PALE}"'
            yield text(self.x(cycle), self.bottom + 10, f"{cycle}", more)
        yield text(24, self.bottom + 10, "cycle", f'font-size="11" fill="{PALE}"')

    def _bar(self, bar: Bar, name: str) -> Iterator[str]:
        left, width, top = self.x(bar.ready), self.x(bar.end) - self.x(bar.ready), self.y(bar)
        yield (
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(width, 2):.1f}" height="{BAR}" '
            f'rx="3" fill="{COLOURS[name]}"/>'
        )
        iteration = "".join(f" %{key} = {number}" for key, number in bar.entry.iteration)
        name = bar.entry.op.name.removeprefix("pto.")
        words = name + iteration if width > 7 * len(name + iteration) else name
        if width > 7 * len(words):
            yield text(left + width / 2, top + 17, words, 'text-anchor="middle" fill="#fff"')

    def flags(self) -> Iterator[str]:
        """An arrow from each set that an instruction had to wait for."""
        for name in self.rows:
            last = self.bars[name][-1].ready
            for pause in self.timeline.queues[self.bars[name][0].queue]:
                if not isinstance(pause, Pause) or pause.posted is None:
                    continue
                if pause.start + 1 < pause.ready < last:
                    yield self.arrow(pause.posted, pause)

    def arrow(self, before: TimedEntry, after: TimedEntry) -> str:
        down = self.y(after) > self.y(before)
        start = self.y(before) + (BAR if down else 0)
        end = self.y(after) + (0 if down else BAR)
        more = f'stroke="{INK}" stroke-width="1.3" marker-end="url(#tip)"'
        return line(self.x(before.end), start, self.x(after.end), end, more)


def queues() -> str:
    """The queues of the stream example, with the flags that made one wait."""
    picture = QueuePicture(example("stream").profile(target="a2a3"))
    title = "examples/stream.pto on a2a3: three queues at work, an arrow where a flag made one wait"
    head = text(24, 32, title, 'font-size="15" font-weight="bold"')
    return drawn(title, picture.bottom + 26, head, *picture.shapes(), *picture.flags())


def missing_edge() -> str:
    """The queues of the example with a race, and the edge that it lacks."""
    picture = QueuePicture(example("race").profile(target="a2a3"))
    title = "examples/race.pto on a2a3: the store is over before the sum is there"
    (sum_,), (store,) = picture.bars["V"], picture.bars["MTE3"]
    top, low = picture.y(sum_) + BAR, picture.y(store) + BAR / 2
    left, right = picture.x(store.end), picture.x(sum_.ready)
    more = f'stroke="{WRONG}" stroke-width="2" stroke-dasharray="6 4"'
    elbow = picture.x((sum_.ready + sum_.end) / 2)
    edge = (
        line(elbow, top, elbow, low, more),
        line(elbow, low, left + 4, low, more + ' marker-end="url(#wrong)"'),
        text(
            (left + right) / 2,
            low - 6,
            "missing: a flag V -&gt; MTE3",
            f'text-anchor="middle" fill="{WRONG}"',
        ),
    )
    head = text(24, 32, title, 'font-size="15" font-weight="bold"')
    return drawn(title, picture.bottom + 26, head, *picture.shapes(), *picture.flags(), *edge)


def roof() -> str:
    """Where two examples stand below their roofs."""
    title = "What the units allow, and what the model predicts (a2a3)"
    shapes = [text(24, 32, title, 'font-size="15" font-weight="bold"'), *_axes()]
    for name, colour in (("gemm", COLOURS["M"]), ("stream", COLOURS["V"])):
        found = roofline(example(name).profile(target="a2a3").timeline)
        shapes += _kernel(name, colour, found)
    return drawn(title, PLOT + 110, *shapes)


def memory() -> str:
    """The tiles by address in the memory of the vector unit, as `check --memory` draws it."""
    maps = example("pto/flash_attention").memory("a2a3")
    return memory_svg([one for one in maps if one.space == "UB"])


def pictures() -> dict[str, str]:
    """Each picture by the name of its file in docs."""
    return {
        "machine-queues.svg": queues(),
        "machine-race.svg": missing_edge(),
        "machine-memory.svg": memory(),
        "machine-roofline.svg": roof(),
    }


def _across(intensity: float) -> float:
    low, high = FLOP_PER_BYTE
    return LEFT + (log10(intensity) - low) / (high - low) * (WIDTH - LEFT - 40)


def _up(speed: float) -> float:
    low, high = FLOP_PER_CYCLE
    return 56 + (high - log10(speed)) / (high - low) * PLOT


def _axes() -> Iterator[str]:
    small = f'font-size="11" fill="{PALE}"'
    bottom = 56 + PLOT
    for power in range(int(FLOP_PER_BYTE[0]), int(FLOP_PER_BYTE[1]) + 1):
        x = _across(10.0**power)
        yield line(x, 56, x, bottom, 'stroke="#eef1f4"')
        yield text(x, bottom + 16, f"{10.0**power:g}", small + ' text-anchor="middle"')
    for power in range(int(FLOP_PER_CYCLE[0]), int(FLOP_PER_CYCLE[1]) + 1):
        y = _up(10.0**power)
        yield line(LEFT, y, WIDTH - 40, y, 'stroke="#eef1f4"')
        yield text(LEFT - 8, y + 4, f"{10.0**power:g}", small + ' text-anchor="end"')
    yield text(
        WIDTH / 2, bottom + 38, "FLOP for each byte of global memory", 'text-anchor="middle"'
    )
    rotated = f'text-anchor="middle" transform="rotate(-90 28 {56 + PLOT / 2})"'
    yield text(28, 56 + PLOT / 2, "FLOP in each cycle", rotated)


def _kernel(name: str, colour: str, found: Roofline) -> Iterator[str]:
    """Its roof, the place below, and how far it is up to the roof."""
    assert found.intensity is not None
    slope, flat = found.bytes / found.memory, found.flop / found.compute
    stroke = f'stroke="{colour}" stroke-width="2"'
    low, high = 10 ** FLOP_PER_BYTE[0], 10 ** FLOP_PER_BYTE[1]
    ridge = flat / slope
    yield line(_across(low), _up(low * slope), _across(ridge), _up(flat), stroke)
    yield line(_across(ridge), _up(flat), _across(high), _up(flat), stroke)
    x, y = _across(found.intensity), _up(found.flop / found.cycles)
    top = _up(min(flat, found.intensity * slope))
    yield line(x, y, x, top, f'stroke="{colour}" stroke-dasharray="4 3"')
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
    down, place, anchor = (5, x + 10, "start") if x < WIDTH / 2 else (24, WIDTH - 40, "end")
    more = f'fill="{colour}" text-anchor='
    yield text(
        place, y + down, f"{name}: {found.share:.0%} of what its roof allows", f'{more}"{anchor}"'
    )
    yield text(_across(high), _up(flat) - 7, f"{flat:,.0f} FLOP per cycle", f'{more}"end"')
