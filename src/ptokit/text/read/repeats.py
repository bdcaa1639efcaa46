"""Statements that differ from an earlier one in names alone: what was read of that one holds again.

Long programs repeat few statements many times. One that stands on a line of its own is remembered
by that line without its names; where values of the same types stand in the places of the earlier
ones, the new op is the earlier one with these values.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.traits import TERMINATOR
from ptokit.isa.model.types import Elided, OpaqueType
from ptokit.text.read.parser import Parser
from ptokit.text.read.templates import Template

NAME = re.compile(r"%[\w$.-]+")
MOST, LONGEST = 4096, 2000  # lines that are remembered, characters of one


class Noted(NamedTuple):
    """How much the parser had noted before a statement: one that adds to it is not remembered."""

    unnamed: int
    problems: int
    literals: int
    kinds: int
    completed: int
    undefined: int


def noted(p: Parser) -> Noted:
    n = p.names
    lengths = map(len, (n.unnamed, p.problems, n.literals, n.kinds, n.completed, n.undefined))
    return Noted(*lengths)


def line_of(p: Parser, start: int) -> str:
    """The line from a token on, without the names in it; empty if it is not looked at."""
    text, first = p.tokens.source.text, p.tokens.starts[start]
    end = text.find("\n", first)
    if end < 0 or end - first > LONGEST or p.names.flat:
        return ""
    return NAME.sub("%", text[first:end])


def repeated(p: Parser, start: int, line: str) -> Op | None:
    """The op of a statement that was read before, with the names of this one."""
    found = p.repeats.get(line)
    if found is None or not _ends(p, start + found.length):
        return None
    texts, table = p.texts, p.names.table
    values: dict[int, Value] = {}
    for at, kind in found.used:
        value = table.get(texts[start + at][1:])
        if value is None or (value.type is not kind and value.type != kind):
            return None
        values[at] = value
    if any(texts[start + at][1:] in table for at, _ in found.results):
        return None
    operands = {
        name: values[at] if isinstance(at, int) else tuple(values[i] for i in at)
        for name, at in found.operands
    }
    spans = {name: p.span(start + a, start + b) for name, a, b in found.spans}
    define = p.names.define
    results = [define(texts[start + at][1:], kind, start + at) for at, kind in found.results]
    p.i = start + found.length
    return Op(found.page, operands, dict(found.attrs), results, [], spans)


def _ends(p: Parser, at: int) -> bool:
    """Whether the statement before this token is over: what follows is surely none of its parts."""
    text = p.texts[at]
    return p.begins_line(at) and (text in ("", "}", "return") or text[0] == "%" or "." in text)


def remember(p: Parser, start: int, line: str, op: AnyOp, before: Noted) -> None:
    """Keep what was read, if all of it follows from the line and the types of what it names."""
    if not isinstance(op, Op) or op.regions or len(p.repeats) >= MOST or noted(p) != before:
        return
    if TERMINATOR in op.page.traits:  # what it ends decides whether it may
        return
    if any(alias in line for alias in p.aliases) or ("#" in line and p.tokens.attributes):
        return
    if _ends(p, p.i) and (made := _template(p, start, op)) is not None:
        p.repeats[line] = made


def _template(p: Parser, start: int, op: Op) -> Template | None:
    tokens = range(start, p.i)
    firsts = {p.tokens.starts[i]: i - start for i in tokens}
    lasts = {p.tokens.end(i): i - start for i in tokens}
    named = {i - start: p.names.table.get(p.texts[i][1:]) for i in tokens if p.texts[i][:1] == "%"}
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
        span = op.spans.get(name)
        first = None if span is None else firsts.get(span.start)
        if first is None or named.get(first) is not bound:
            return None
        operands.append((name, first))
    spans = [(n, firsts.get(s.start), lasts.get(s.end)) for n, s in op.spans.items()]
    known = tuple((n, a, b) for n, a, b in spans if a is not None and b is not None)
    if len(known) < len(spans) or "\n" in _text(p, start):
        return None
    results = tuple((at[0], v.type) for at, v in zip(made, op.results, strict=True))
    own = {at for at, _ in results}
    used = tuple((at, v.type) for at, v in named.items() if v is not None and at not in own)
    return Template(p.i - start, op.page, dict(op.attrs), used, results, tuple(operands), known)


def _text(p: Parser, start: int) -> str:
    return p.tokens.source.text[p.tokens.starts[start] : p.tokens.end(p.i - 1)]
