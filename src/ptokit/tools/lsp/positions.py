"""Places in a text as editors count them: lines from 0, and in a line units of the encoding."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types as lsp

LINE_ENDS = re.compile(r"\r\n|\n|\r")
UNITS: Mapping[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}


class TextPositions:
    """The lines of a text; offsets count characters, positions units of `encoding`."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text, self.units = text, UNITS[encoding]
        ends = [(m.start(), m.end()) for m in LINE_ENDS.finditer(text)]
        self.starts = [0, *(end for _, end in ends)]
        self.ends = [*(start for start, _ in ends), len(text)]

    def line(self, number: int) -> str:
        """The text of a line, without what ends it."""
        return self.text[self.starts[number] : self.ends[number]]

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def position(self, offset: int) -> lsp.Position:
        """Where the character at an offset stands."""
        number = self.line_of(offset)
        before = self.text[self.starts[number] : offset]
        return lsp.Position(number, len(before) if before.isascii() else self.units(before))

    def offset(self, position: lsp.Position) -> int:
        """The character at a position; behind the last one of its line, the end of the line."""
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line(position.line)
        start = self.starts[position.line]
        if line.isascii():
            return start + min(position.character, len(line))
        left = position.character
        for number, character in enumerate(line):
            left -= self.units(character)
            if left < 0:
                return start + number
        return start + len(line)

    def range(self, start: int, end: int) -> lsp.Range:
        return lsp.Range(self.position(start), self.position(end))

    def offsets(self, place: lsp.Range) -> tuple[int, int]:
        start = self.offset(place.start)
        return start, max(start, self.offset(place.end))

    def lines(self, first: int, last: int) -> lsp.Range:
        """From the start of a line to the end of another one."""
        return self.range(self.starts[first], self.ends[last])


Change = lsp.TextDocumentContentChangeEvent


def changed(positions: TextPositions, encoding: str, changes: Sequence[Change]) -> TextPositions:
    """The text after edits that an editor made one after another."""
    for change in changes:
        text = change.text
        if isinstance(change, lsp.TextDocumentContentChangePartial):
            start, end = positions.offsets(change.range)
            text = positions.text[:start] + text + positions.text[end:]
        positions = TextPositions(text, encoding)
    return positions
