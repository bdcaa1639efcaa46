"""Text to tokens: one regular expression that covers every character, comments set aside.

A token is a string; its first character says what it is: `%` value, `!` type, `#` attribute, `@`
symbol, `"` string, `^` label, a letter, a digit, else punctuation. A type or attribute with its
`<...>` is one token, so a type is looked up by its spelling. Offsets are kept apart, compactly: a
file of megabytes costs a few lists.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

from ptokit.text.source import Source, Span

# what may stand between angle brackets: anything but them and values; `->` is no bracket
INNER = r"[^<>%]*+(?:(?<=-)>[^<>%]*+)*+"
THIRD = rf"<{INNER}>"
SECOND = rf"<{INNER}(?:{THIRD}{INNER})*+>"
ANGLES = rf"<{INNER}(?:{SECOND}{INNER})*+>"
WORD = r"[A-Za-z_][\w$]*+(?:\.[A-Za-z_][\w$]*+)*+"
ATTRIBUTE = rf"\#(?:pto(?:\.\w+)*+{ANGLES}|loc\d*+\b(?!\s*=)|\w+=[\w.]+)"

TOKEN = re.compile(
    rf"""
    (?:\A|[\ \t\r]*+\n)\s*+\#(?!pto(?:\.\w+)*+<)[^\n]*+  # a whole line: `# text`
    | \s*+ (?:
        %[\w$.]++(?:-[\w$.]++)*+(?:\#\d++)?
      | (?:memref|vector|tensor|array|dense|tuple|complex|strided|affine_map|opaque){ANGLES}
      | {WORD}
      | [,(){{}}\[\]=:;+*?]
      | !{WORD}(?:{ANGLES})?
      | ->
      | -?(?:0[xX][0-9a-fA-F]++|\d++(?:\.\d*+)?(?:[eE][-+]?\d++)?)
      | "(?:[^"\\\n]|\\.)*+"
      | @(?:[\w$.-]++|"[^"\n]*+")
      | //[^\n]*+
      | {ATTRIBUTE}
      | \#[^\n]*+
      | \.\.\. | \.(?:{WORD})
      | \^[\w$.-]++
      | .
      | \Z
    )""",
    re.VERBOSE | re.DOTALL,
)
IS_ATTRIBUTE = re.compile(ATTRIBUTE)


@dataclass(frozen=True)
class Comment:
    """A comment: the index of the token after it, where it starts, and its text with the marker."""

    before: int
    start: int
    text: str


@dataclass(frozen=True)
class Tokens:
    """The tokens of a source, closed by an empty one, with their offsets, and the comments."""

    source: Source
    texts: list[str]
    starts: array[int]
    comments: list[Comment]

    def end(self, index: int) -> int:
        return self.starts[index] + len(self.texts[index])

    def span(self, first: int, last: int | None = None) -> Span:
        """The place of a token, or of tokens `first` to `last`."""
        end = self.end(first if last is None else last)
        return Span(self.source, self.starts[first], max(end, self.starts[first]))

    def comments_in(self, first: int, last: int) -> list[Comment]:
        """The comments that stand before token `last` and not before token `first`."""
        if not self.comments:
            return []
        low = bisect_left(self.comments, first, key=lambda c: c.before)
        return self.comments[low : bisect_left(self.comments, last, key=lambda c: c.before)]


def tokenise(source: Source) -> Tokens:
    """Cut `source` into tokens. Never fails: a character of no token is a token of its own."""
    pieces: list[str] = TOKEN.findall(source.text)
    texts = [piece.lstrip() for piece in pieces]
    ends = accumulate(map(len, pieces))
    starts = array("q", (end - len(text) for end, text in zip(ends, texts, strict=True)))
    while len(texts) > 1 and not texts[-2]:
        del texts[-1], starts[-1]
    if not texts or texts[-1]:
        texts.append("")
        starts.append(len(source.text))
    if "//" in source.text or "#" in source.text:
        return _without_comments(Tokens(source, texts, starts, []))
    return Tokens(source, texts, starts, [])


def _without_comments(tokens: Tokens) -> Tokens:
    kept: list[str] = []
    starts = array("q")
    comments: list[Comment] = []
    for text, start in zip(tokens.texts, tokens.starts, strict=True):
        if text[:2] == "//" or (text[:1] == "#" and not IS_ATTRIBUTE.fullmatch(text)):
            comments.append(Comment(len(kept), start, text.rstrip()))
        else:
            kept.append(text)
            starts.append(start)
    return Tokens(tokens.source, kept, starts, comments)
