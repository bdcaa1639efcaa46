"""Statements of the level below tiles: `op %a, %p[%i], "WORD" group(%n) {key = value} : T -> U`.

Operands stand in the order of the page, then groups of operands with a word before each. Text that
no page of the mnemonic takes is kept as written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ptokit.ir.editing import type_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.types import INDEX, Kind, OpaqueType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, read_value
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import Named, expect_results
from ptokit.text.read.callreader import Item, read_item
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import signature


@dataclass
class _RegisterStatement:
    """The parts of a statement, in text order."""

    items: list[tuple[Item, bool]] = field(default_factory=list[tuple[Item, bool]])  # in brackets?
    groups: list[tuple[str, list[Item]]] = field(default_factory=list[tuple[str, list[Item]]])
    words: list[Given] = field(default_factory=list[Given])  # strings between operands
    attrs: list[Given] = field(default_factory=list[Given])
    types: list[tuple[Type, int]] = field(default_factory=list[tuple[Type, int]])
    results: list[tuple[Type, int]] = field(default_factory=list[tuple[Type, int]])


def plain(page: type[Instr]) -> list[Operand]:
    """Return the operands that stand outside of groups, in text order."""
    grouped = {name for _, names in page.asm.clauses for name in names}
    return [s.operand for s in signature(page).ssa if s.name not in grouped]


def defined(page: type[Instr]) -> list[Operand]:
    """Return the results in text order: registers, then numbers and pointers."""
    return [*(o for o in page.outs() if o.fresh), *page.results()]


def read_lanes(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read a statement as the first of `forms` that takes its operands."""
    read = _parts(p, forms)
    for page in forms:
        operands = _operands(page, read)
        if operands is not None:
            return _built(p, page, read, operands, at, results)
    raise UnknownOperandType


def _parts(p: Parser, forms: Sequence[type[Instr]]) -> _RegisterStatement:
    read = _RegisterStatement()
    groups = {word for page in forms for word, _ in page.asm.clauses}
    while True:
        text, after = p.texts[p.i], p.texts[p.i + 1]
        if text[:1] == "%" and not p.begins_statement():
            read.items.append((read_item(p, p.names), False))
        elif text == "[":
            opened = p.i
            p.i += 1
            read.items += [(read_item(p, p.names), True) for _ in p.elements("]", opened)]
        elif text[:1] == '"' and p.texts[p.i - 1] != '"':
            word_at = p.i
            read.words.append(Given("", word_at, read_value(p), word_at, word_at))
        elif text == "{":
            read.attrs += dictionary(p)
        elif after == "(" and text in groups:
            p.i += 2
            inner = [read_item(p, p.names) for _ in p.elements(")", p.i - 1)]
            read.groups.append((text, inner))
        elif not p.accept(","):
            break
    if p.texts[p.i] not in (":", "->", "}", ";", "") and not p.begins_line():
        p.fail("expected an operand")
    if p.accept(":"):
        read.types = [*_types(p, groups)]
    if p.accept("->"):
        read.results = p.listed_types()
    elif not (read.items or read.groups):
        read.types, read.results = [], read.types
    return read


def _types(p: Parser, groups: set[str]) -> Iterator[tuple[Type, int]]:
    """Read types with commas, of which some follow the word of their group."""
    grouped = p.texts[p.i] == "("
    if grouped:
        yield from p.listed_types()
        return
    while True:
        while p.texts[p.i] in groups:
            p.i += 1
        yield p.type(), p.i - 1
        if not p.accept(","):
            break


def _operands(page: type[Instr], read: _RegisterStatement) -> list[tuple[Operand, Item]] | None:
    """Return the operands with their items, in text order; None if they do not fit the page."""
    slots = plain(page)
    required = [o for o in slots if o.required]
    if not len(required) <= len(read.items) <= len(slots):
        return None
    if len(read.words) > len([a for a in page.attrs if a.quoted]):
        return None
    found = list[tuple[Operand, Item]]()
    for operand, (item, bracket) in zip(slots, read.items, strict=False):
        if bracket is not (operand.name in page.asm.brackets):
            return None
        found.append((operand, item))
    names = dict(page.asm.clauses)
    given = set[str]()
    for word, items in read.groups:
        inner = [page.operand(n) for n in names.get(word, ())]
        if not inner or (word in given and not inner[-1].many):
            return None
        given.add(word)
        last = inner[-1]
        if last.many:
            inner += [last] * (len(items) - len(inner))
        if len(items) > len(inner) or any(o.required for o in inner[len(items) :]):
            return None
        found += zip(inner, items, strict=False)
    groups = ((page.operand(names[0]), word) for word, names in page.asm.clauses)
    if any(first.required and not first.many and word not in given for first, word in groups):
        return None
    fits = (i.value is None or o.accepts(i.value.type) for o, i in found)
    return found if all(fits) else None


def _built(
    p: Parser,
    page: type[Instr],
    read: _RegisterStatement,
    operands: list[tuple[Operand, Item]],
    at: int,
    results: list[Named],
) -> Op:
    op = Op(page, spans={"": p.span(at)})
    listed = [o for o in operands if o[0].name not in page.asm.brackets]
    bare = [o for o in listed if o[0].kind is not Kind.INDEX]  # text may leave out types of indices
    fits = (some for some in (operands, listed, bare) if len(some) == len(read.types))
    typed = next(fits, None)
    if typed is None:
        raise UnknownOperandType
    kinds = dict(zip(map(_key, typed), read.types, strict=False))
    bound = dict[str, list[Value]]()
    for pair in operands:
        operand, item = pair
        kind = kinds.get(_key(pair))
        if item.value is None:
            wanted = type_of(operand, item.number) if kind is None else kind[0]
            item.value = p.names.literal(item.number, wanted, item.at)
        elif kind is not None:
            p.names.agree(item.value, *kind)
        elif item.value.elided:
            p.names.agree(item.value, INDEX, item.at)
        if isinstance(item.value.type, OpaqueType):
            raise UnknownOperandType
        bound.setdefault(operand.name, []).append(item.value)
        op.spans[operand.name] = p.span(item.at)
    for name, values in bound.items():
        op.operands[name] = tuple(values) if page.operand(name).many else values[0]
    quoted = [a for a in page.attrs if a.quoted]
    words = [
        Given(a.key, w.at, w.value, w.value_at, w.end)
        for a, w in zip(quoted, read.words, strict=False)
    ]
    bind_attributes(p, op, [*words, *read.attrs])
    op.results = _results(p, page, read, results)
    return op


def _key(pair: tuple[Operand, Item]) -> int:
    return id(pair[1])


def _results(
    p: Parser, page: type[Instr], read: _RegisterStatement, results: list[Named]
) -> list[Value]:
    """Define the results; an op has those that every form of text defines first."""
    slots = defined(page)
    if len(read.results) != len(slots):
        raise UnknownOperandType
    if any(not s.kind.accepts(k) for s, (k, _) in zip(slots, read.results, strict=True)):
        raise UnknownOperandType
    if results:
        expect_results(p, page, len(slots), results)
        made = [
            p.names.define(name, kind, place)
            for (name, place), (kind, _) in zip(results, read.results, strict=True)
        ]
    else:
        made = [p.names.anonymous(kind) for kind, _ in read.results]
    fresh = len(slots) - len(page.results())
    return [*made[fresh:], *made[:fresh]]


def words_of(page: type[Instr]) -> list[Attr]:
    """Return the attributes that text has as strings between the operands."""
    return [a for a in page.attrs if a.quoted]
