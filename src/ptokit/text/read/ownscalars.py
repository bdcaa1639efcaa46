"""Scalar operations in the newest dialect: a word after the operands gives the signedness.

They are pages of other dialects in another spelling. On values of the level below tiles they are
kept as opaque ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from ptokit.ir.module import Op, Raw
from ptokit.isa.index import lookup
from ptokit.isa.lang.asm import OwnName, own_names
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import I1, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import finish
from ptokit.text.read.callreader import FLAGS, flags, read_item, typed
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.shapes import reader_of
from ptokit.values.enumerations import Word

SIGNS = ("signed", "unsigned")
Forms: TypeAlias = "Sequence[tuple[type[Instr], OwnName]]"


@lru_cache(maxsize=4096)
def own_forms(name: str) -> Forms:
    """Return the pages that have `name` as their name in the newest dialect."""
    dialect, _, bare = name.strip('"').replace("_", ".").partition(".")
    return [
        (page, own)
        for page in (lookup(name.strip('"')) if dialect == "pto" else ())
        for own in own_names(page.own)
        if bare == own.name.replace("_", ".")
    ]


def on_numbers(p: Parser) -> bool:
    """Return whether the first operand is a number: some names also have a form on tiles."""
    value = p.names.table.get(p.texts[p.i + (p.texts[p.i] == "(")][1:])
    return value is not None and isinstance(value.type, ScalarType)


def read_own(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op lt %a, %b signed overflow<nsw> {key = value} : T -> U`; most parts are optional."""
    shape = forms[0][0].asm.shape
    if shape == "constant":
        return reader_of(forms[0][0])(p, [page for page, _ in forms], at, results)
    given: list[Given] = []
    if shape == "compare":
        word_at = p.i
        given.append(Given("", word_at, p.word("a predicate"), word_at, word_at))
    items = [read_item(p)]
    while p.accept(","):
        items.append(read_item(p))
    sign = _words(p, given, forms)
    p.expect(":")
    types = [kind for kind, _ in p.listed_types()]
    outcome = [kind for kind, _ in p.listed_types()] if p.accept("->") else types[-1:]
    page = _chosen(p, forms, sign, (types[-1], *outcome), at)
    if shape == "select":
        types = [I1, types[-1], types[-1]]
    elif shape == "in_full":
        types, outcome = types[:1] * len(items), [types[0], types[-1]]
    elif len(types) == 1:
        types *= len(items)
    p.require_types(len(items), len(types), at)
    pairs = zip(items, types, strict=True)
    values = [(typed(p, item, kind, p.i - 1), item.at) for item, kind in pairs]
    op = Op(page, spans={"": p.span(at)})
    bind_attributes(p, op, [_predicate(page, g, sign) for g in given])
    return finish(p, op, results, values, [I1] if shape == "compare" else outcome)


def own_generic(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read the op in generic form, where the signedness is an attribute."""
    from ptokit.text.read.generic import generic_call, read_generic, read_plain

    if forms[0][0].asm.shape == "constant":
        return read_generic(p, [page for page, _ in forms], at, results)
    call, _ = generic_call(p, at)
    said = next((g for g in call.attrs if g.key == "signedness"), None)
    text = str(said.value) if said else ""
    sign = next((s for s in reversed(SIGNS) if s in text), "")
    kinds = [kind for kind, _ in (*(call.types or ())[-1:], *(call.results or ()))]
    page = _chosen(p, forms, sign, kinds, call.at)
    call.attrs = [_predicate(page, g, sign) for g in call.attrs if g is not said]
    return read_plain(p, page, call, results)


def _words(p: Parser, given: list[Given], forms: Forms) -> str:
    """Read the words between operands and types; return the word of the signedness."""
    sign = ""
    while (text := p.texts[p.i]) != ":":
        if text in SIGNS and not sign:
            sign = text
            p.i += 1
        elif text in FLAGS:
            given.append(flags(p))
        elif text == "{":
            given += dictionary(p)
        elif text in ("round", "sat", "nosat"):
            given.append(_control(p, forms))
        else:
            p.fail("expected ':' and a type")
    return sign


def _control(p: Parser, forms: Forms) -> Given:
    """Read `round(z)` or `sat` of a conversion; UnknownOperandType for options of threads."""
    at, word = p.i, p.texts[p.i]
    p.i += 1
    if p.accept("("):
        word = f"{word}({p.texts[p.i]})"
        p.i += 1
        p.expect(")")
    for attr in (attr for page, _ in forms for attr in page.attrs):
        if issubclass(attr.kind, Word) and attr.kind.named(word):
            return Given(attr.key, at, Raw(word), at, p.i - 1)
    raise UnknownOperandType


def _chosen(p: Parser, forms: Forms, sign: str, kinds: Sequence[Type], at: int) -> type[Instr]:
    """Return the page of an operation on numbers of these types and this signedness."""
    if not kinds or not all(isinstance(kind, ScalarType) for kind in kinds):
        raise UnknownOperandType
    signs = sorted({s for _, own in forms for s in own.signs})
    if bool(sign) is not bool(signs):
        name = p.texts[at]
        message = f"{name} has no signed form" if sign else f"{name}: expected {' or '.join(SIGNS)}"
        raise p.wrong("syntax-error", message, at)
    bits = [kind.bits for kind in kinds if isinstance(kind, ScalarType)]
    for page, own in forms:
        if own.wider <= (bits[-1] > bits[0]) and (not sign or sign in own.signs):
            return page
    raise UnknownOperandType


def _predicate(page: type[Instr], given: Given, sign: str) -> Given:
    """Return the predicate of a comparison as the page spells it, with the sign as a letter."""
    if page.asm.shape != "compare" or given.key not in ("", page.attrs[0].key):
        return given
    kind = page.attrs[0].kind
    text = str(given.value)
    word = text.rpartition(" ")[2].rpartition("<")[2].rstrip(">")
    if issubclass(kind, Word):
        ways = (f"{letter}{word}" for letter in ("", sign[:1] or "o"))
        word = next((way for way in ways if kind.named(way)), word)
    return replace(given, key=page.attrs[0].key, value=Raw(word))
