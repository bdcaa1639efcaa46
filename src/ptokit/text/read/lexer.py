"""Text to tokens: one regular expression that covers every character, comments set aside.

A token is a string; its first character says what it is: `%` value, `!` type, `#` attribute, `@`
symbol, `"` string, `^` label, a letter, a digit, else punctuation. A type or attribute with its
`<...>` is one token, so a type is looked up by its spelling, and so is that of a tile whose name
older text leaves out, `<loc=...>`. Offsets are kept apart, compactly: a file of megabytes costs a
few lists.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import error
from ptokit.diagnostics.source import Source, Span
from ptokit.text.types.parts import in_angles

# what may stand between angle brackets: anything but them and values; `->` is no bracket
INNER = r"(?:[^<>%]++|(?<=-)>)*+"
ANGLES = in_angles(INNER)
WORD = r"[A-Za-z_][\w$]*+(?:\.[A-Za-z_][\w$]*+)*+"
NAMED = r"\#(?:pto|[a-z]\w*\.\w+)(?:\.\w+)*+"  # an attribute, up to its bracket
BARE = r"\#(?:loc[0-9]*+\b(?!\s*=)|\w+=[\w.]+)"  # one without brackets
BUILTIN = "memref|vector|tensor|array|dense|tuple|complex|strided|affine_map|opaque"

WHOLE_TOKEN = rf"""
    (?:\A|[\ \t\r]*+\n)\s*+\#(?!pto(?:\.\w+)*+<)[^\n]*+  # a whole line: `# text`
    | \s*+ (?:
        %[\w$.]++(?:-[\w$.]++)*+(?:\#[0-9]++)?
      | (?:{BUILTIN}|!{WORD}|{NAMED}){ANGLES}
      | [!.]?{WORD}
      | [,(){{}}\[\]=:;+*?]
      | <loc=[^<>]*+>
      | ->
      | -?(?:0[xX][0-9a-fA-F]++|[0-9]++(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?)
      | "(?:[^"\\\n]|\\.)*+"
      | [@^][\w$.-]++
      | @"(?:[^"\\\n]|\\.)*+"
      | //[^\n]*+
      | {BARE}
      | ALIAS
      | \#[^\n]*+
      | \.\.\.
      | .
      | \Z
    )"""
# `#nd = #pto.layout<nd>`: a line that gives an attribute a name
ALIAS = re.compile(r"#([A-Za-z_]\w*)[ \t]+=[ \t]+([^\n]*\S)")
ATTRIBUTE_ALIAS = re.compile(r"#(\w+)\b(?![.<])")
LONGEST = 1 << 20  # characters that names of a program may stand for
TOO_LONG = f"alias expands to more than {LONGEST:,} characters"
NESTED = "write out some of the nested aliases"
AHEAD = 4  # empty tokens at the end: a reader that looks ahead need not ask whether it may
IS_ATTRIBUTE = re.compile(rf"{NAMED}{ANGLES}|{BARE}")


class Comment(NamedTuple):
    """A comment: the index of the token after it, where it starts, and its text with the marker."""

    before: int
    start: int
    text: str


@dataclass(frozen=True)
class Tokens:
    """The tokens of a source, closed by empty ones, with their offsets, and the comments.

    `marks` holds, for each comment, the index of the token after it. `attributes` are those that
    have names, by these; the lines that name them stay where they are, as comments do.
    """

    source: Source
    texts: list[str]
    starts: array[int]
    comments: list[Comment]
    marks: list[int]
    attributes: dict[str, str]

    def end(self, index: int) -> int:
        return self.starts[index] + len(self.texts[index])

    def span(self, first: int, last: int | None = None) -> Span:
        """The place of a token, or of tokens `first` to `last`."""
        at = first if last is None else last
        return Span(self.source, self.starts[first], self.starts[at] + len(self.texts[at]))

    def spans(self, first: int, places: Iterable[tuple[str, int, int]]) -> dict[str, Span]:
        """By name, the place from one token to another, both counted from token `first`."""
        source, texts, starts = self.source, self.texts, self.starts
        spans: dict[str, Span] = {}
        for name, start, last in places:
            at = first + last
            spans[name] = Span(source, starts[first + start], starts[at] + len(texts[at]))
        return spans

    def joined(self, first: int, last: int) -> str:
        """The text of tokens `first` to `last` on one line, without the comments in between."""
        pieces: list[str] = []
        for at in range(first, last + 1):
            token = self.texts[at]
            if at > first and self.starts[at] > self.end(at - 1):
                pieces.append(" ")
            pieces.append(token if '"' in token else " ".join(token.split()))
        return "".join(pieces)

    def comments_in(self, first: int, last: int) -> list[Comment]:
        """The comments that stand before token `last` and not before token `first`."""
        marks = self.marks
        return self.comments[bisect_left(marks, first) : bisect_left(marks, last)] if marks else []


def tokenise(source: Source) -> Tokens:
    """Cut `source` into tokens. A character of no token is a token of its own."""
    named = _named(source)
    pieces: list[str] = _token(frozenset(named)).findall(source.text)
    texts = list(map(str.lstrip, pieces))
    starts = array("q", map(sub, accumulate(map(len, pieces)), map(len, texts)))
    for _ in range(AHEAD):
        texts.append("")
        starts.append(len(source.text))
    return _without_comments(source, texts, starts, named)


def _named(source: Source) -> dict[str, str]:
    """The attributes that lines of the source give names, those above in the place of theirs.

    PtoError where names of names stand for more text than a program has.
    """
    found: dict[str, str] = {}
    grown = 0
    for m in ALIAS.finditer(source.text):
        if _begins_line(source, m.start()):
            uses = ATTRIBUTE_ALIAS.findall(m[2])
            grown += sum(len(found.get(name, "")) for name in uses)
            if grown > LONGEST:
                span = Span(source, m.start(1) - 1, m.end(1))
                raise error("syntax-error", TOO_LONG, span, help=NESTED)
            found[m[1]] = ATTRIBUTE_ALIAS.sub(lambda use: found.get(use[1], use[0]), m[2])
    return found


@lru_cache(maxsize=64)
def _token(named: frozenset[str]) -> re.Pattern[str]:
    """The expression, where attributes have these names."""
    alias = "|".join(rf"\#{name}\b" for name in sorted(named)) or r"(?!)"
    return re.compile(WHOLE_TOKEN.replace("ALIAS", alias), re.VERBOSE | re.DOTALL)


def _without_comments(
    source: Source, texts: list[str], starts: array[int], named: dict[str, str]
) -> Tokens:
    """Set the comments apart."""
    likely = {t for t in set(texts) if _may_be_comment(t) and t[1:] not in named}
    at: list[int] = []
    if likely:
        at = [i for i, t in enumerate(texts) if t in likely and _is_comment(source, t, starts[i])]
    comments = [Comment(i - n, starts[i], texts[i].rstrip()) for n, i in enumerate(at)]
    if at:
        drop = set(at)
        texts = [text for i, text in enumerate(texts) if i not in drop]
        starts = array("q", (start for i, start in enumerate(starts) if i not in drop))
    return Tokens(source, texts, starts, comments, [c.before for c in comments], named)


def _may_be_comment(text: str) -> bool:
    """Whether a token is one, wherever it stands or on a line of its own."""
    if text[:1] == "#":
        return not (text.startswith("#pto") and IS_ATTRIBUTE.fullmatch(text))
    return text[:2] == "//"


def _is_comment(source: Source, text: str, start: int) -> bool:
    if text[0] == "#" and IS_ATTRIBUTE.fullmatch(text):
        return _begins_line(source, start)  # `#word=word` on a line of its own
    return True


def _begins_line(source: Source, start: int) -> bool:
    line = source.text.rfind("\n", 0, start) + 1
    return not source.text[line:start].strip()
