"""Statements of the level below tiles: `op %a, %p[%i], "WORD" group(%n) {key = value} : T -> U`.

Operands stand in the order of the page, then groups after a word, `word(%n, key = %m)`, and bare
words. `Asm.clauses` has them: (word, what stands inside), where `key=name` is an operand or an
attribute with a key; the clause ("", (name, *words)) is an attribute that is one of bare words.
An operand may also stand by its name, `name(%n)`, behind those that stand in order. Text that no
page of the mnemonic takes is kept as written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ptokit.ir.editing import type_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.types import INDEX, Kind, OpaqueType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, read_value
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import defined
from ptokit.text.read.callreader import Item, read_item
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import signature
from ptokit.text.types.parts import DIGITS

# an operand of a group with its key, if it has one, or a word
_Inner: TypeAlias = "tuple[str, Item] | Given"
_Fitting: TypeAlias = "tuple[list[tuple[Operand, Item]], list[Given]]"


@dataclass
class _RegisterStatement:
    """The parts of a statement, in text order."""

    items: list[tuple[Item, bool]] = field(default_factory=list[tuple[Item, bool]])  # in brackets?
    groups: list[tuple[str, list[_Inner]]] = field(default_factory=list[tuple[str, "list[_Inner]"]])
    bare: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    named: list[tuple[str, Item]] = field(default_factory=list[tuple[str, Item]])  # `name(%v)`
    words: list[Given] = field(default_factory=list[Given])  # strings between operands
    attrs: list[Given] = field(default_factory=list[Given])
    types: list[tuple[Type, int]] = field(default_factory=list[tuple[Type, int]])
    results: list[tuple[Type, int]] = field(default_factory=list[tuple[Type, int]])


def plain(page: type[Instr]) -> list[Operand]:
    """Return the operands that stand outside of groups, in text order."""
    grouped = {name for word, _ in page.asm.clauses for _, name in inside(page, word)}
    return [s for s in signature(page).ssa if s.name not in grouped]


def inside(page: type[Instr], word: str) -> list[tuple[str, str]]:
    """Return what stands in the group of a word: keys and names of operands and attributes."""
    names = dict(page.asm.clauses).get(word, ())
    parts = (name.rpartition("=") for name in names)
    return [(key, name) for key, _, name in parts] if word else []


def bare_words(page: type[Instr]) -> dict[str, Attr]:
    """Return the attribute that each bare word is a value of."""
    bare = (names for word, names in page.asm.clauses if not word)
    attrs = {a.name: a for a in page.attrs}
    return {word: attrs[name] for name, *words in bare for word in words}


def outcome(page: type[Instr]) -> list[Operand]:
    """Return the results in text order: registers, then numbers and pointers."""
    return [*(o for o in page.outs() if o.fresh), *page.results()]


def of_text(page: type[Instr]) -> bool:
    """Return whether programs have the form; others take the place of one that has pointers."""
    return all(o.kind not in (Kind.TILE, Kind.GLOBAL) for o in page.operands)


def synopsis(page: type[Instr]) -> str:
    """Return how text writes the operands and results of a page, without attributes and types."""
    given = [f"%{o.name}" for o in plain(page)]
    optional = [o.name for o in plain(page) if not o.required and o.name not in page.asm.brackets]
    listed = [n for n in given if n[1:] not in page.asm.brackets]
    text = ", ".join(f"[{n}]" if n[1:] in optional else n for n in listed)
    inner = ", ".join(n for n in given if n[1:] in page.asm.brackets)
    if inner:
        pointer = f"%{_before_brackets(page)}"
        text = text.replace(pointer, f"{pointer}[{inner}]", 1)
    for word, _ in page.asm.clauses:
        names = ", ".join(f"%{name}" for _, name in inside(page, word))
        text += f" {word}({names})" if word and grouped_required(page, word) else ""
    results = ", ".join(f"%{o.name}" for o in outcome(page))
    return f"{results} = {page.mnemonic()} {text}" if results else f"{page.mnemonic()} {text}"


def _before_brackets(page: type[Instr]) -> str:
    """Return the operand that stands before the brackets."""
    names = [o.name for o in plain(page)]
    return names[names.index(page.asm.brackets[0]) - 1]


def grouped_required(page: type[Instr], word: str) -> bool:
    """Return whether text needs the group of a word."""
    names = {name for _, name in inside(page, word)}
    return any(o.required for o in page.operands if o.name in names)


def read_lanes(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read a statement as the first of `forms` that takes its operands."""
    read = _parts(p, forms)
    for page in forms:
        fitting = _fitting(page, read)
        if fitting is not None:
            return _built(p, page, read, fitting, at, results)
    raise UnknownOperandType


def _parts(p: Parser, forms: Sequence[type[Instr]]) -> _RegisterStatement:
    read = _RegisterStatement()
    groups = {word for page in forms for word, _ in page.asm.clauses if word}
    bare = {word for page in forms for word in bare_words(page)}
    by_name = {o.name for page in forms for o in plain(page)}
    while True:
        text, after = p.texts[p.i], p.texts[p.i + 1]
        if text[:1] == "%" and not p.begins_statement():
            read.items.append((read_item(p), False))
        elif text == "[":
            opened = p.i
            p.i += 1
            read.items += [(read_item(p), True) for _ in p.elements("]", opened)]
        elif text[:1] == '"' and p.texts[p.i - 1] != '"':
            word_at = p.i
            read.words.append(Given("", word_at, read_value(p), word_at, word_at))
        elif text == "{":
            read.attrs += dictionary(p)
        elif after == "(" and text in groups:
            p.i += 2
            read.bare += [(text, p.i - 2)] if text in bare else []
            inner = [_inner(p) for _ in p.elements(")", p.i - 1)]
            read.groups.append((text, inner))
        elif after == "(" and text in by_name:
            p.i += 2
            read.named.append((text, read_item(p)))
            p.expect(")")
        elif text in bare:
            read.bare.append((text, p.i))
            p.i += 1
        elif not p.accept(","):
            break
    if p.texts[p.i] not in (":", "->", "}", ";", "") and not p.begins_line():
        if p.texts[p.i + 1] == "(":  # an operand by its name
            raise UnknownOperandType
        p.fail("expected an operand")
    if p.accept(":"):
        read.types = [*_types(p, groups | bare)]
    if p.accept("->"):
        read.results = p.listed_types()
    elif not (read.items or read.groups or read.bare):
        read.types, read.results = [], read.types
    return read


def _inner(p: Parser) -> _Inner:
    """Read an operand or a word of a group, perhaps with a key before it."""
    at, key = p.i, ""
    if p.texts[p.i + 1] == "=":
        key = p.texts[p.i]
        p.i += 2
    if p.texts[p.i][:1] == "%" or p.texts[p.i][:1] in DIGITS:
        return key, read_item(p)
    value_at, value = p.i, read_value(p)
    return Given(key, at, str(value), value_at, p.i - 1)


def _types(p: Parser, words: set[str]) -> Iterator[tuple[Type, int]]:
    """Read types with commas, of which some follow a word, `shape i64, i64, layout(i64)`."""
    grouped = p.texts[p.i] == "("
    if grouped:
        yield from p.listed_types()
        return
    while True:
        while p.texts[p.i] in words:
            p.i += 1
            p.accept(",")
        if p.texts[p.i] == "(":
            yield from p.listed_types()
        else:
            yield p.type(), p.i - 1
        if not p.accept(","):
            break


def _fitting(page: type[Instr], read: _RegisterStatement) -> _Fitting | None:
    """Return operands with their items, in text order, and attributes; None if they do not fit."""
    slots = plain(page)
    required = [o for o in slots if o.required]
    if not len(required) <= len(read.items) + len(read.named) <= len(slots):
        return None
    left = {o.name: o for o in slots[len(read.items) :]}
    by_name = [(left.pop(name, None), item) for name, item in read.named]
    if any(o.required for o in left.values()):
        return None
    if len(read.words) > len([a for a in page.attrs if a.quoted]):
        return None
    found, attrs = list[tuple[Operand, Item]](), list[Given]()
    for operand, (item, bracket) in zip(slots, read.items, strict=False):
        if bracket is not (operand.name in page.asm.brackets):
            return None
        found.append((operand, item))
    for operand, item in by_name:
        if operand is None:
            return None
        found.append((operand, item))
    bare = bare_words(page)
    for word, at in read.bare:
        if word not in bare:
            return None
        attrs.append(Given(bare[word].key, at, word, at, at))
    for word in dict.fromkeys(word for word, _ in read.groups):
        several = [inner for group, inner in read.groups if group == word]
        grouped = _in_group(page, word, several)
        if grouped is None:
            return None
        found += grouped[0]
        attrs += grouped[1]
    given = {o.name for o, _ in found}
    if any(o.required and not o.many and o.name not in given for o in grouped_operands(page)):
        return None
    if len(read.results) != len(results := outcome(page)):
        return None
    fits = (i.value is None or o.accepts(i.value.type) for o, i in found)
    gives = (o.kind.accepts(k) for o, (k, _) in zip(results, read.results, strict=True))
    return (found, attrs) if all(fits) and all(gives) else None


def grouped_operands(page: type[Instr]) -> list[Operand]:
    """Return the operands that stand in groups."""
    names = {name for word, _ in page.asm.clauses for _, name in inside(page, word)}
    return [o for o in page.operands if o.name in names]


def _in_group(page: type[Instr], word: str, several: Sequence[Sequence[_Inner]]) -> _Fitting | None:
    """Return what stands in the groups of one word; only a list may have several groups."""
    entries = inside(page, word)
    operands = {o.name: o for o in page.operands}
    attrs = {a.name: a for a in page.attrs}
    last = operands.get(entries[-1][1]) if entries else None
    many = last if last is not None and last.many else None
    if not entries or (len(several) > 1 and many is None):
        return None
    found, words = list[tuple[Operand, Item]](), list[Given]()
    left = [*entries]
    for part in (part for inner in several for part in inner):
        is_word = isinstance(part, Given)
        key = part.key if is_word else part[0]
        kinds = attrs if is_word else operands
        entry = next(((k, n) for k, n in left if k == key and n in kinds), None)
        if entry is None:
            return None
        if many is None or entry[1] != many.name:
            left.remove(entry)
        if is_word:
            words.append(replace(part, key=attrs[entry[1]].key))
        else:
            found.append((operands[entry[1]], part[1]))
    return found, words


def _built(
    p: Parser,
    page: type[Instr],
    read: _RegisterStatement,
    fitting: _Fitting,
    at: int,
    results: list[Named],
) -> Op:
    op = Op(page, spans={"": p.span(at)})
    operands, attrs = fitting
    listed = _with_types(page, operands)
    bare = [pair for pair in listed if not _index(*pair)]  # text may leave out types of indices
    unbracketed = [o for o in operands if o[0].name not in page.asm.brackets]
    fits = (o for o in (operands, listed, bare, unbracketed) if len(o) == len(read.types))
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
    bind_attributes(p, op, [*words, *attrs, *read.attrs])
    op.results = _results(p, page, read, results)
    return op


def _index(operand: Operand, item: Item) -> bool:
    """Return whether an item is an index."""
    return operand.kind is Kind.INDEX or (item.value is not None and item.value.type == INDEX)


def _with_types(
    page: type[Instr], operands: list[tuple[Operand, Item]]
) -> list[tuple[Operand, Item]]:
    """Return the operands whose types text lists, in the order of the types."""
    typed = page.asm.typed
    if typed is None:
        return [pair for pair in operands if pair[0].name not in page.asm.brackets]
    listed = [pair for pair in operands if pair[0].name in typed]
    return sorted(listed, key=lambda pair: typed.index(pair[0].name))


def _key(pair: tuple[Operand, Item]) -> int:
    return id(pair[1])


def _results(
    p: Parser, page: type[Instr], read: _RegisterStatement, results: list[Named]
) -> list[Value]:
    """Define the results; an op has those that every form of text defines first."""
    slots = outcome(page)
    made = defined(p, page, [kind for kind, _ in read.results], results)
    fresh = len(slots) - len(page.results())
    return [*made[fresh:], *made[:fresh]]


def words_of(page: type[Instr]) -> list[Attr]:
    """Return the attributes that text has as strings between the operands."""
    return [a for a in page.attrs if a.quoted]
