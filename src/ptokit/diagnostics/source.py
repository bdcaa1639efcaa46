"""Places in text: sources, spans, and the excerpt with carets that errors show."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from ptokit.diagnostics.printable import printable

WIDTH = 160  # a longer line is shown as the part around the span

Part: TypeAlias = Literal["head", "place", "carets", "label", "text"]  # of a message
Paint: TypeAlias = Callable[[Part, str], str]


def unpainted(part: Part, text: str) -> str:
    """Return the text of a part without colour."""
    return text


@dataclass(frozen=True, eq=False)
class Source:
    """A named text, such as a file."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def __deepcopy__(self, memo: object) -> Source:
        return self  # a program that is copied still comes from the same text

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of an offset, both from 1."""
        line = bisect_right(self._starts, offset) - 1
        return line + 1, offset - self._starts[line] + 1

    def line(self, number: int) -> str:
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end]


class Span(NamedTuple):
    """The half-open range [start, end) of a source.

    `caller` is the call by which the op of the span was inlined, else None.
    """

    source: Source
    start: int
    end: int
    caller: Span | None = None

    def __deepcopy__(self, memo: object) -> Span:
        return self

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{printable(self.source.name)}:{line}:{column}"

    @property
    def line(self) -> int:
        """The line on which the span starts, from 1."""
        return self.source.position(self.start)[0]

    def callers(self) -> Iterator[Span]:
        """Yield the calls by which the op of the span was inlined, the innermost first."""
        if self.caller is not None:
            yield self.caller
            yield from self.caller.callers()

    def to_json(self) -> dict[str, object]:
        """Return the file, start and end as JSON; the end is one column after the last one."""
        (line, column), (last, end) = map(self.source.position, (self.start, self.end))
        place = {"file": self.source.name, "line": line, "column": column}
        return {**place, "end_line": last, "end_column": end}

    def picture(self, paint: Paint = unpainted) -> list[str]:
        """Return the place, and the line of the span with carets below it."""
        line, column = self.source.position(self.start)
        raw, first = self.source.line(line).replace("\t", " "), column - 1
        before, text = printable(raw[:first]), printable(raw)
        column = len(before) + 1
        inside = printable(raw[first : first + self.end - self.start])
        count = max(1, min(len(inside), len(text) - column + 1))
        if len(text) > WIDTH:
            cut = max(0, column - 1 - WIDTH // 3)
            text = ("..." if cut else "") + text[cut : cut + WIDTH] + "..."
            column -= cut - (3 if cut else 0)
            count = min(count, max(1, WIDTH - column))
        label = str(line)
        bar = paint("place", " " * len(label) + " |")
        return [
            paint("place", "  --> ") + paint("text", str(self)),
            bar,
            paint("place", f"{label} |") + paint("text", f" {text}"),
            bar + " " * column + paint("carets", "^" * count),
        ]
