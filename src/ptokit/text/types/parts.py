"""Pieces of a type spelling: fields between commas, numbers, words, element types, extents.

Every error is a `BadType` with its place inside the spelling; the reader, which knows the place of
the spelling, makes it a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from ptokit.diagnostics.nearest import did_you_mean, nearest
from ptokit.values.dtypes import SPELLINGS, DType, dtype_named
from ptokit.values.enumerations import Word

W = TypeVar("W", bound=Word)
# element types that tiles lack: doubles, pairs in one register, formats of other dialects
FOREIGN_ELEMENT = r"f64|f80|f128|tf32|!pto\.\w+x2|f(?:4|6|8)E\w+|vector<\d+x[^<>x]+>"
LEVELS = 8  # nested angle brackets in types and attributes


def in_angles(inner: str) -> str:
    """Return the expression for nested angle brackets, `LEVELS` deep, around `inner`."""
    found = rf"<{inner}>"
    for _ in range(LEVELS - 1):
        found = rf"<{inner}(?:{found}{inner})*+>"
    return found


ANGLED = in_angles("[^<>]*+")
FIELD = re.compile(rf"((?:[^,\[<]++|\[[^\]]*+\]?|{ANGLED}|<)*+)(?:,|\Z)")
MOST = (1 << 63) - 1
DIGITS = frozenset("0123456789")  # str.isdigit accepts hundreds more
WHOLE = re.compile(r"[0-9]+")
NUMBER = r"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)"
DIMS = re.compile(r"((?:(?:[0-9]+|\?|-1)\s*+x\s*+)++)(.*)$", re.DOTALL)


class BadType(Exception):
    """An error in a spelling, at [start, end) inside it."""

    def __init__(
        self, slug: str, message: str, start: int, end: int, help: str | None = None
    ) -> None:
        super().__init__(message)
        self.slug, self.message, self.help = slug, message, help
        self.start, self.end = start, end


class ForeignElement(BadType):
    """An element type of another level or dialect; the type around it is kept as written."""


class Parts:
    """The text between angle brackets, `at` characters into the spelling."""

    def __init__(self, body: str, at: int) -> None:
        self.body, self.at = body, at

    @cached_property
    def fields(self) -> list[tuple[str, int]]:
        """The text between commas outside of brackets, stripped, with its offset."""
        found: list[tuple[str, int]] = []
        end = 0
        for match in FIELD.finditer(self.body):
            if found and match.start() == end == len(self.body) and self.body[-1:] != ",":
                break  # the pattern matches the end of the text twice
            piece, end = match[1], match.end()
            lead = len(piece) - len(piece.lstrip())
            found.append((piece.strip(), self.at + match.start() + lead))
        return found

    def keyed(
        self, keys: Iterable[str], after: int = 0, end: int | None = None
    ) -> Iterator[tuple[str, str, int]]:
        """Yield the fields `key = value` from `after` to `end`: key, value, the value's offset."""
        seen: set[str] = set()
        for text, at in self.fields[after:end]:
            key, equals, value = text.partition("=")
            bare = key.strip()
            if not equals or bare not in keys:
                raise unknown(bare or text, keys, at, "a key of this type")
            if bare in seen:
                raise BadType("syntax-error", f"duplicate key {bare}", at, at + len(text))
            seen.add(bare)
            yield bare, value.strip(), at + len(text) - len(value.lstrip())


def unknown(word: str, options: Iterable[str], at: int, what: str) -> BadType:
    """Return the error about a word that is none of `options`."""
    listed = list(options)
    help = did_you_mean(word.lower(), listed) or f"one of: {', '.join(listed)}"
    return BadType("unknown-word", f"{word!r} is not {what}", at, at + len(word), help)


def number(text: str, at: int, what: str = "a number") -> int:
    """Return a number from 0 to 2^63 - 1, decimal or hexadecimal; BadType for other text."""
    if not re.fullmatch(NUMBER, text):
        message = f"expected {what}, found {text!r}" if text else f"expected {what}"
        raise BadType("syntax-error", message, at, at + max(len(text), 1))
    value = int(text, 16 if text[:2].lower() == "0x" else 10) if len(text) < 25 else MOST + 1
    if not 0 <= value <= MOST:
        message = f"{what} must be from 0 to 2^63 - 1"
        raise BadType("syntax-error", message, at, at + len(text))
    return value


def word_of(kind: type[W], text: str, at: int) -> W:
    """Return the member of `kind` that `text` spells, quoted or not."""
    bare = text.strip('"')
    member = kind.named(bare)
    if member is None:
        raise unknown(bare, [w.text for w in kind], at, f"a value of {kind.mlir}")
    return member


def element_named(word: str, at: int) -> DType:
    """Return the element type that `word` names."""
    dtype = dtype_named(word)
    if dtype is None and re.fullmatch(FOREIGN_ELEMENT, word):
        message = f"{word!r} is not an element type of tiles"
        raise ForeignElement("unknown-type", message, at, at + len(word))
    if dtype is None:
        close = nearest(word.lower(), SPELLINGS)
        help = f"did you mean {SPELLINGS[close[0]]}?" if close else "f16, bf16, f32, i8, i32, ..."
        message = f"{word!r} is not an element type" if word else "missing element type"
        raise BadType("unknown-type", message, at, at + max(len(word), 1), help)
    return dtype


def number_list(text: str, at: int, count: int, what: str) -> tuple[int, ...]:
    """Return the numbers of `[2, 3]`, exactly `count`."""
    inner = text.removeprefix("[").removesuffix("]")
    found = [part.strip() for part in inner.split(",")]
    if text[:1] != "[" or text[-1:] != "]" or len(found) != count:
        message = f"{what} is a list of {count} numbers"
        raise BadType("syntax-error", message, at, at + max(len(text), 1))
    return tuple(number(part, at + text.find(part)) for part in found)


def element_word(word: str) -> str:
    """Return the name of the element type in `?x4xf16`."""
    match = DIMS.match(word)
    return match[2].strip() if match else ""


def extents(word: str, at: int) -> tuple[tuple[int | None, ...], DType]:
    """Return the extents and the element type of `?x4xf16`."""
    match = DIMS.match(word)
    if match is None:
        help = "write the extents and the element type: 16x16xf16"
        message = f"{word!r} has no extents"
        raise BadType("syntax-error", message, at, at + max(len(word), 1), help)
    dims = [d.strip() for d in match[1].split("x")[:-1]]
    shape = tuple(None if d in ("?", "-1") else number(d, at, "an extent") for d in dims)
    return shape, element_named(match[2].strip(), at + match.start(2))
