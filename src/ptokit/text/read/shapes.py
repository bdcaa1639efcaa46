"""Statement syntax: the reader for each `shape` that a page's `asm` may have.

"op" covers instructions in every form, the other shapes are irregular: `formatted` has those that a
format string describes. A page names its shape, so no reader knows a mnemonic.
`text/write/statements` has the printers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptokit.diagnostics.printable import counted
from ptokit.ir.module import Op, Value
from ptokit.ir.strings import symbol_name
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I1, I64, INDEX, OpaqueType, PackedType, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, numeral
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.blocks import read_branch, read_switch
from ptokit.text.read.brackets import read_angled, read_bracketed, read_element
from ptokit.text.read.buffers import read_memref_cast, read_memref_part, read_recast
from ptokit.text.read.build import build, defined, finish
from ptokit.text.read.callreader import (
    Call,
    Item,
    in_angles,
    read_call,
    read_item,
    read_signature,
    typed,
)
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.regions import (
    read_cases,
    read_condition,
    read_executed,
    read_for,
    read_if,
    read_section,
    read_while,
)
from ptokit.text.types.parts import BadType
from ptokit.text.types.tilereader import configured

Forms: TypeAlias = "Sequence[type[Instr]]"
Use: TypeAlias = "tuple[Value, int]"
POINTER = "!pto.ptr"
Read: TypeAlias = "Callable[[Parser, Forms, int, list[Named]], Op]"


def read_op(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read operands, attributes and types in any form."""
    call = Call(at) if p.begins_statement() else read_call(p, forms, at)
    return build(p, forms, call, results)


def read_same(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read as "op", with one type for all operands and the result."""
    call = read_call(p, forms, at)
    if call.types is None:
        p.fail("expected ':' and a type")
    if len(call.types) == 1:
        call.results = call.results or call.types
        call.types = call.types * max(len(call.items), 1)
    return build(p, forms, call, results)


def read_constant(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op 5 : index`, `op 1.0 : f32` or `op true`."""
    page = forms[0]
    if p.texts[p.i] == "{":
        dictionary(p)
    value_at = p.i
    text = p.texts[value_at]
    p.i += 1
    if text[:6] == "dense<":
        return _dense(p, forms, at, results, text)
    truth = text in ("true", "false")
    number = int(text == "true") if truth else numeral(text)
    if number is None:
        p.i = value_at
        p.fail("expected a number of at most 64 bits")
    kind: Type = I1
    if p.accept(":"):
        kind = p.type()
    elif not truth:
        p.fail("expected ':' and a type")
    if isinstance(kind, OpaqueType):
        raise UnknownOperandType
    if isinstance(kind, ScalarType):
        number = p.names.number(number, kind, value_at)
    name = page.attrs[0].name
    op = Op(page, attrs={name: number}, spans={"": p.span(at), name: p.span(value_at)})
    return finish(p, op, results, (), [kind])


def _dense(p: Parser, forms: Forms, at: int, results: list[Named], text: str) -> Op:
    """Read the rest of `op dense<0> : vector<4xi16>` or `op dense<[1.0, 2.0]> : vector<2xf16>`."""
    p.expect(":")
    kind = p.type()
    if isinstance(kind, TileType):
        op = Op(next(page for page in forms if not page.attrs), spans={"": p.span(at)})
    elif isinstance(kind, PackedType):
        page = next(page for page in forms if page.attrs and page.attrs[0].kind is tuple)
        found = [numeral(part.strip()) for part in text[6:-1].strip(" []").split(",")]
        parts = [p.names.number(n, kind.of, at) for n in found if n is not None]
        parts *= kind.count if len(parts) == 1 else 1
        if None in found or len(parts) != kind.count:
            p.fail(f"expected {kind.count} numbers")
        name, spans = page.attrs[0].name, {"": p.span(at)}
        op = Op(page, attrs={name: tuple(parts)}, spans={**spans, name: p.span(at + 1)})
    else:
        raise UnknownOperandType
    op.results = defined(p, op.page, [kind], results)
    return op


def read_yield(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op`, `op %a, %b : T, U` or `op(%a, %b) : (T, U) -> ()`."""
    call = Call(at)
    first = p.i
    if p.texts[p.i] == "(" or (p.at_operand() and not p.begins_statement()):
        call = read_call(p, forms, at)
    elif p.texts[p.i] == ":":
        read_signature(p, call)
    if call.types is not None:
        p.require_types(len(call.items), len(call.types), first)
    return build(p, forms, call, results)


def read_call_of(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op @name(%a, %b) : (T, U) -> V`, or a launch of threads.

    Threads: `op @name<<<%x, %y, %z>>>(%a) : (T) -> ()`.
    """
    page = forms[0]
    name = p.texts[p.i]
    if name[:1] != "@" or len(name) < 2:
        p.fail("expected a function name, @name")
    p.i += 1
    call = Call(at)
    *numbers, passed = page.operands
    extents = in_angles(p) if numbers else []
    opened = p.i
    p.expect("(")
    call.items += [read_item(p) for _ in p.elements(")", opened)]
    if p.texts[p.i] == ":":
        read_signature(p, call)
    values = [item.value for item in call.items if item.value is not None]
    if len(values) != len(call.items) or len(call.types or ()) != len(values):
        message = f"{counted(len(call.items), 'operand')}, but {len(call.types or ())} types"
        raise p.wrong("operand-count", message, opened)
    for value, (kind, place) in zip(values, call.types or (), strict=True):
        p.names.agree(value, kind, place)
    attr = page.attrs[0].name
    spans = {"": p.span(at), attr: p.span(opened - 1)}
    op = Op(page, attrs={attr: symbol_name(name)}, spans=spans)
    if len(extents) != len(numbers):
        message = f"expected {counted(len(numbers), 'extent')}, got {len(extents)}"
        raise p.wrong("operand-count", message, opened - 1)
    for number, item in zip(numbers, extents, strict=True):
        op.operands[number.name] = (typed(p, item, ScalarType("i32"), item.at),)
        op.spans[number.name] = p.span(item.at)
    if values:
        op.operands[passed.name] = tuple(values)
        op.spans[passed.name] = p.span(call.items[0].at, call.items[-1].at)
    op.results = defined(p, page, [kind for kind, _ in call.results or ()], results)
    return op


def read_bound(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read as "op"; if the types are memrefs, `{config = ...}` is the layout of the result."""
    call = read_call(p, forms, at)
    kind, place = call.results[0] if call.results else (None, at)
    if isinstance(kind, TileType):
        call.results = [(_configured(p, kind, call.attrs, len(call.items) > 1), place)]
    return build(p, forms, call, results)


def read_addressed(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op(%a) %rows, %cols {config = ...} : T` or `op() : T`.

    With several addresses the op is kept as an opaque op.
    """
    opened, items = p.i, list[Item]()
    p.expect("(")
    items += [read_item(p) for _ in p.elements(")", opened)]
    if len(items) > 1:
        raise UnknownOperandType
    while p.at_operand() or p.accept(","):
        items.append(read_item(p))
    given = dictionary(p) if p.texts[p.i] == "{" else []
    p.expect(":")
    kind = p.type()
    if isinstance(kind, OpaqueType | GlobalType):  # a kernel allocates no global memory
        raise UnknownOperandType
    if isinstance(kind, TileType):
        if kind.apart:  # no allocation has rows that are not contiguous
            raise UnknownOperandType
        kind = _configured(p, kind, given, len(items) > 1)
    kinds = (I64, INDEX, INDEX)
    values = [
        (p.names.literal(i.number, k, i.at) if i.value is None else i.value, i.at)
        for i, k in zip(items, kinds, strict=False)
    ]
    for (value, place), wanted in zip(values, kinds, strict=False):
        p.names.agree(value, wanted, place) if value.elided else None
    op = Op(forms[0], spans={"": p.span(at)})
    bind_attributes(p, op, given)
    return finish(p, op, results, values, [kind])


def _configured(p: Parser, kind: TileType, attrs: list[Given], dynamic: bool) -> TileType:
    """Return the type with the layout of the attribute `config`, if given."""
    config = next((given for given in attrs if given.key == "config"), None)
    if config is None:
        return kind
    attrs.remove(config)
    try:
        return configured(kind, str(config.value), dynamic=dynamic)
    except BadType as bad:
        raise p.wrong(bad.slug, bad.message, config.value_at, help=bad.help) from None


SHAPES: dict[str, Read] = {
    **dict.fromkeys(("op", "called", "configured", "part", "window", "worded"), read_op),
    "bound": read_bound,
    "recast": read_recast,
    "memref_part": read_memref_part,
    "memref_cast": read_memref_cast,
    "addressed": read_addressed,
    "same": read_same,
    "constant": read_constant,
    "yield": read_yield,
    "for": read_for,
    "if": read_if,
    "cases": read_cases,
    "element": read_element,
    "call": read_call_of,
    "branch": read_branch,
    "switch": read_switch,
    "executed": read_executed,
    "while": read_while,
    "condition": read_condition,
    "section": read_section,
    "bracketed": read_bracketed,
    "angled": read_angled,
}


def reader_of(page: type[Instr]) -> Read:
    """Return the reader of the shape of a page; readers of rare shapes are imported here."""
    shape = page.asm.shape
    if shape in SHAPES:
        return SHAPES[shape]
    if shape == "lanes":
        from ptokit.text.read.registerops import read_lanes

        return read_lanes
    from ptokit.text.read.formatted import read_formatted

    return read_formatted
