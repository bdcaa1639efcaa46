"""Users' text for a terminal: no character moves the cursor or hides other characters."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

# control characters but line ends and tabs; bidirectional marks, joiners and other format
# characters; separators that start a line; halves of surrogate pairs; tags
HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def printable(text: str) -> str:
    """Return `text` with Python escapes for the characters that a terminal does not show."""
    return text if text.isprintable() else re.sub(HIDDEN, _escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def counted(number: int, noun: str) -> str:
    """Return the number with the noun, in the plural where needed: `2 types`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def columns(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return rows with aligned cells, in the columns with the numbers `right` to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines: list[str] = []
    for row in rows:
        pairs = enumerate(zip(row, widths, strict=True))
        lines.append("  ".join(c.rjust(w) if n in right else c.ljust(w) for n, (c, w) in pairs))
    return [line.rstrip() for line in lines]
