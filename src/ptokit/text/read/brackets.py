"""Ops without operand lists, `op[<A>, <B>, %x]` and `op <A>`, and ops on an element."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ptokit.diagnostics.source import Span
from ptokit.ir.editing import new_op, type_of
from ptokit.ir.module import Op, Raw, Value
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import INDEX, Elided, Kind, OpaqueType, ScalarType, Type
from ptokit.text.read.attributes import FAMILY, Given, bind_attributes, dictionary, read_value
from ptokit.text.read.binding import UnknownOperandType, of_another_level
from ptokit.text.read.build import defined, expect_results
from ptokit.text.read.callreader import Item, read_item
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import signature

Parts: TypeAlias = "tuple[Op, list[Given]]"


def bracket_parts(page: type[Instr]) -> list[Attr | Operand]:
    """Return the parts required between the brackets: enumerations and numbers, then operands."""
    required = [a for a in page.attrs if a.required]
    return [*required, *(s for s in signature(page).ins if s.required)]


def bracket_rest(page: type[Instr]) -> list[Attr | Operand]:
    """Return the optional parts after them: numbers that the page orders, then operands."""
    placed = [a for a in page.attrs if not a.required and a.name in page.asm.order]
    return [*placed, *(s for s in signature(page).ins if not s.required)]


def _read_parts(p: Parser, page: type[Instr], at: int, results: list[Named]) -> Parts:
    operands: dict[str, list[Value]] = {}
    spans = {"": p.span(at)}
    given: list[Given] = []
    rest: list[Attr | Operand] = bracket_rest(page)
    for number, part in enumerate(bracket_parts(page)):
        if number:
            p.expect(",")
        _read_part(p, part, operands, spans, given)
    while rest and p.accept(","):
        value = p.texts[p.i][:1] == "%"
        part = next((r for r in rest if isinstance(r, Attr) is not value), None)
        if part is None:
            p.fail("expected a number" if value else "expected an operand")
        rest = [r for r in rest if r is not part]
        _read_part(p, part, operands, spans, given)
    if results:
        expect_results(p, page, 0, results)
    return new_op(page, operands, spans=spans), given


def _completed(p: Parser, op: Op, given: list[Given]) -> Op:
    """Bind the words, and the attributes after them, to the op."""
    given += dictionary(p) if p.texts[p.i] == "{" else []
    bind_attributes(p, op, given)
    return op


def _read_part(
    p: Parser,
    part: Attr | Operand,
    operands: dict[str, list[Value]],
    spans: dict[str, Span],
    given: list[Given],
) -> None:
    """Read one word, number or operand."""
    if isinstance(part, Attr):
        given.append(_word(p, part))
        return
    item = read_item(p)
    if item.value is None:
        value = p.names.literal(item.number, type_of(part, item.number), item.at)
    else:
        value = item.value
        p.names.serve(value, part, item.at)
    operands[part.name] = [value]
    spans[part.name] = p.span(item.at)


def _word(p: Parser, attr: Attr) -> Given:
    """Read a word of any family; for a string attribute the word is the value."""
    at = p.i
    value = read_value(p)
    if attr.kind is str:
        match = re.match(FAMILY, str(value))
        value = Raw(match[3] if match else str(value).strip("<>"))
    return Given(attr.key, at, value, at, p.i - 1)


def read_bracketed(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op[<A>, #pto.name<B>, %x]`, or the same without brackets."""
    opened = p.i
    bracket = p.accept("[")
    parts = _read_parts(p, forms[0], at, results)
    p.expect("]", opened) if bracket else None
    return _completed(p, *parts)


def read_angled(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op <A>`."""
    return _completed(p, *_read_parts(p, forms[0], at, results))


def with_types(page: type[Instr]) -> list[str]:
    """Return the operands whose types an op on an element lists: first the buffer."""
    order = page.asm.order
    handle = order[order.index(page.asm.brackets[0]) - 1]
    return [handle, *(n for n in order if n not in (handle, *page.asm.brackets))]


def _otherwise(op: Op, name: str) -> bool:
    """Return whether an element belongs to no known buffer, so that the op is kept as opaque."""
    kind, indices = op.bound(name)[0].type, op.bound(op.page.asm.brackets[0])
    written = str(getattr(kind, "written", ""))
    nowhere = bool(written) and "address_space" not in written
    return isinstance(kind, OpaqueType) or nowhere or (len(indices) > 2 and of_another_level(kind))


def element_type(kind: Type) -> Type:
    """Return the type of an element if text omits it: that of the buffer's elements, or index."""
    return ScalarType(kind.dtype.name) if isinstance(kind, TileType | GlobalType) else INDEX


def _indices(p: Parser, operand: Operand) -> tuple[tuple[Value, ...], Span]:
    """Read `[%i, %j]`."""
    opened = p.i
    p.expect("[")
    items = [read_item(p) for _ in p.elements("]", opened)]
    values: list[Value] = []
    for item in items:
        value = item.value or p.names.literal(item.number, type_of(operand, item.number), item.at)
        p.names.serve(value, operand, item.at)
        p.names.require(value, operand, item.at)
        values.append(value)
    return tuple(values), p.span(opened, p.i - 1)


def read_element(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read `op %a[%i] : T -> U`, `op %x, %a[%i] : T, U` or `op %a[%i], %x : T, U`."""
    page = forms[0]
    op = Op(page, spans={"": p.span(at)})
    items = _indexed(p, page, op)
    if p.texts[p.i] == "{":
        bind_attributes(p, op, dictionary(p))
    p.expect(":")
    typed = with_types(page)  # all forms have the same operands
    kinds: dict[str, tuple[Type, int]] = {}
    for number, name in enumerate(typed):
        if number and not p.accept(","):
            break  # inferred from the type of the handle
        kinds[name] = p.type(), p.i - 1
    op.page = page = _of_buffer(forms, op, items, kinds[typed[0]][0])
    for name, item in items.items():
        kind = kinds.get(name)
        if item.value is None:
            kind = kind or (type_of(page.operand(name), item.number), item.at)
            item.value = p.names.literal(item.number, kind[0], item.at)
        elif kind is not None:
            p.names.agree(item.value, *kind)
        op.operands[name] = item.value
    for name in typed:
        if page.operand(name).kind is Kind.PTR and of_another_level(op.bound(name)[0].type):
            raise UnknownOperandType
        if page.operand(name).kind is Kind.ENTRY and _otherwise(op, name):
            raise UnknownOperandType
        p.names.serve(op.bound(name)[0], page.operand(name))
        p.names.require(op.bound(name)[0], page.operand(name), items[name].at)
    if page.results():
        kind = p.type() if p.accept("->") else element_type(op.bound(typed[0])[0].type)
        op.results = defined(p, page, [kind], results)
    return op


def _of_buffer(
    forms: Sequence[type[Instr]], op: Op, items: Mapping[str, Item], written: Type
) -> type[Instr]:
    """Return the form that takes the buffer, by its type or by the type `written` for it."""
    name = with_types(op.page)[0]
    handle = items[name].value
    for page in forms:
        kind = written if handle is None or isinstance(handle.type, Elided) else handle.type
        if page.operand(name).accepts(kind):
            return page
    return op.page


def _indexed(p: Parser, page: type[Instr], op: Op) -> dict[str, Item]:
    """Read the operands, with indices in brackets; lists of indices go into the op at once."""
    items: dict[str, Item] = {}
    for name in page.asm.order:
        indexed, operand = name in page.asm.brackets, page.operand(name)
        if operand.many:
            op.operands[name], op.spans[name] = _indices(p, operand)
            continue
        if indexed or items:
            p.expect("[" if indexed else ",")
        items[name] = item = read_item(p)
        op.spans[name] = p.span(item.at)
        if indexed:
            if item.value is None:
                item.value = p.names.literal(item.number, type_of(operand, item.number), item.at)
            p.names.serve(item.value, operand, item.at)
            p.names.require(item.value, operand, item.at)
            p.expect("]")
    return items
