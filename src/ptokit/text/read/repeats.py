"""A cache of statements: two statements that differ only in names are parsed once.

Programs repeat few statements many times. A statement on a line of its own is cached under that
line without its names, for all texts that the process reads. If values of the same types are at the
positions of the earlier ones, the new op is the earlier op with these values.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from typing import NamedTuple

from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.types import Elided, OpaqueType, Type
from ptokit.text.read.parser import Parser

NAME = re.compile(r"%[\w$.-]+")
NUMBER = re.compile(r"(?<= )[0-9]{1,9}(?= : (?:index|i32|i64)$)")  # fits its type
IN_STRING = re.compile(r'"[^"]*%')  # a format, no name
MOST, LONGEST = 4096, 2000  # cached lines, characters of one line


class Template(NamedTuple):
    """A statement without its names; tokens are counted from its first one."""

    length: int
    page: type[Instr]
    attrs: dict[str, object]
    used: tuple[tuple[int, Type], ...]  # the type of the value that each token names
    results: tuple[tuple[int, Type], ...]
    operands: tuple[tuple[str, int | tuple[int, ...]], ...]
    spans: tuple[tuple[str, int, int], ...]  # from one token to another
    dialect: str
    number: tuple[str, int] | None  # the attribute that is a number of the line, and its token


@cache
def templates() -> dict[str, Template]:
    """Return the cache of statements by line, which is cleared when it is full."""
    return {}


def notes_taken(p: Parser) -> tuple[int, ...]:
    """Return the sizes of the parser's notes: a statement that adds to them is not cached."""
    n = p.names
    counts = len(n.unnamed), len(p.problems), len(n.literals), len(n.kinds), len(n.completed)
    return (*counts, len(n.undefined))


def line_of(p: Parser, start: int) -> str:
    """Return the line from a token on, without names; empty if the line is not cacheable.

    Aliases of types and attributes may mean something else in another text.
    """
    text, first = p.tokens.source.text, p.tokens.starts[start]
    end = text.find("\n", first)
    if end < 0 or end - first > LONGEST or p.names.flat:
        return ""
    line = text[first:end]
    if '"' in line and IN_STRING.search(line):
        return ""
    line = NAME.sub("%", line)
    if p.aliases and any(alias in line for alias in p.aliases):
        return ""
    return "" if p.tokens.attributes and "#" in line else line


def repeated(p: Parser, start: int, line: str) -> Op | None:
    """Return the op of a cached statement with the names of this one, or None."""
    known = templates()
    found = known.get(line) or known.get(_without_number(line))
    if found is None or not _ends(p, start + found.length):
        return None
    texts, table = p.texts, p.names.table
    values: dict[int, Value] = {}
    for at, kind in found.used:
        value = table.get(texts[start + at][1:])
        if value is None or (value.type is not kind and value.type != kind):
            return None
        values[at] = value
    for at, _ in found.results:
        if texts[start + at][1:] in table:
            return None
    operands = {
        name: values[at] if isinstance(at, int) else tuple([values[i] for i in at])
        for name, at in found.operands
    }
    spans = p.tokens.spans(start, found.spans)
    define = p.names.define
    results = [define(texts[start + at][1:], kind, start + at) for at, kind in found.results]
    p.i = start + found.length
    attrs, dialect = dict(found.attrs), found.dialect
    if found.number:
        name, at = found.number
        attrs[name] = int(texts[start + at])
    return Op(found.page, operands, attrs, results, [], spans, dialect=dialect)


def _without_number(line: str) -> str:
    """Return the line of a constant without its number."""
    return NUMBER.sub("", line)


def _ends(p: Parser, at: int) -> bool:
    """Return whether the statement ends before this token."""
    text = p.texts[at]
    begins = text[:1] == "%" or "." in text or text in ("", "}", "return")
    return begins and p.begins_line(at)


def remember(p: Parser, start: int, line: str, op: AnyOp, before: tuple[int, ...]) -> None:
    """Cache the op if it depends only on the line and the types of the values that it names."""
    if not isinstance(op, Op) or op.regions or notes_taken(p) != before:
        return
    if TERMINATOR in op.page.traits:  # its legality depends on the region
        return
    if not _ends(p, p.i) or "\n" in _text(p, start):
        return
    made, known = _template(p, start, op), templates()
    if made is not None:
        if len(known) >= MOST:
            known.clear()
        known[line if made.number is None else _without_number(line)] = made


def _template(p: Parser, start: int, op: Op) -> Template | None:
    """Return the template of statements like this one, or None if a name is unknown."""
    table, words = p.names.table, p.texts[start : p.i]
    named = {i: table.get(text[1:]) for i, text in enumerate(words) if text[:1] == "%"}
    tokens = {name: _tokens(p, start, span) for name, span in op.spans.items()}
    places: dict[Value, list[int]] = {}
    for at, value in named.items():
        if value is None or value.literal or isinstance(value.type, Elided | OpaqueType):
            return None
        places.setdefault(value, []).append(at)
    made = [places.get(value, []) for value in op.results]
    if any(len(at) != 1 for at in made):
        return None
    operands: list[tuple[str, int | tuple[int, ...]]] = []
    for name, bound in op.operands.items():
        if isinstance(bound, tuple):
            at = [places.get(value, []) for value in bound]
            if any(len(each) != 1 for each in at):
                return None
            operands.append((name, tuple(each[0] for each in at)))
            continue
        place = tokens.get(name)
        if place is None or named.get(place[0]) is not bound:
            return None
        operands.append((name, place[0]))
    spans = tuple((name, *place) for name, place in tokens.items() if place is not None)
    if len(spans) < len(tokens):
        return None
    results = tuple((at[0], v.type) for at, v in zip(made, op.results, strict=True))
    own = {at for at, _ in results}
    used = tuple((at, v.type) for at, v in named.items() if v is not None and at not in own)
    parts = used, results, tuple(operands), spans, op.dialect, _number(op, words)
    return Template(p.i - start, op.page, dict(op.attrs), *parts)


def _number(op: Op, words: list[str]) -> tuple[str, int] | None:
    """Return the attribute of a constant that `NUMBER` matches, and its token."""
    if op.page.asm.shape != "constant" or len(words) < 3 or not NUMBER.search(" ".join(words)):
        return None
    return op.page.attrs[0].name, len(words) - 3


def _tokens(p: Parser, start: int, span: Span) -> tuple[int, int] | None:
    """Return the first and the last token of a span, counted from the statement's first one."""
    starts, end = p.tokens.starts, p.i
    first = bisect_left(starts, span.start, start, end)
    last = bisect_left(starts, span.end, first, end) - 1
    if first < end and starts[first] == span.start and p.tokens.end(last) == span.end:
        return first - start, last - start
    return None


def _text(p: Parser, start: int) -> str:
    return p.tokens.source.text[p.tokens.starts[start] : p.tokens.end(p.i - 1)]
