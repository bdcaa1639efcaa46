"""Statement syntax: the reader for each `shape` that a page's `asm` may have.

"op" covers instructions in every form, the other shapes are irregular. A page names its shape, so
no reader knows a mnemonic. `text/write/statements` has the printers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptokit.diagnostics.printable import counted
from ptokit.ir.module import Op, Raw, Value
from ptokit.ir.strings import symbol_name
from ptokit.isa.lang.instr import Attr, Instr
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I1, I64, INDEX, OpaqueType, PackedType, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, numeral, read_value
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.blocks import read_branch, read_switch
from ptokit.text.read.brackets import read_angled, read_bracketed, read_element
from ptokit.text.read.buffers import read_memref_cast, read_memref_part, read_recast
from ptokit.text.read.build import Named, build, expect_results
from ptokit.text.read.callreader import (
    FLAGS,
    Call,
    Item,
    flags,
    in_angles,
    read_call,
    read_item,
    read_signature,
    typed,
)
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
from ptokit.text.read.registerops import read_lanes
from ptokit.text.types.parts import BadType
from ptokit.text.types.tilereader import configured
from ptokit.values.enumerations import Word

Forms: TypeAlias = "Sequence[type[Instr]]"
Use: TypeAlias = "tuple[Value, int]"
POINTER = "!pto.ptr"
Read: TypeAlias = "Callable[[Parser, Forms, int, list[Named]], Op]"


def read_op(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read operands, attributes and types in any form."""
    call = Call(at) if p.begins_statement() else read_call(p, p.names, forms, at)
    return build(p, p.names, forms, call, results)


def read_same(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read as "op", with one type for all operands and the result."""
    call = read_call(p, p.names, forms, at)
    if call.types is None:
        p.fail("expected ':' and a type")
    if len(call.types) == 1:
        call.results = call.results or call.types
        call.types = call.types * max(len(call.items), 1)
    return build(p, p.names, forms, call, results)


def read_in_full(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %a, %b : T`, or `: T, i1` with the type of the second result."""
    op, items = Op(forms[0], spans={"": p.span(at)}), [read_item(p, p.names)]
    while p.accept(","):
        items.append(read_item(p, p.names))
    bind_attributes(p, op, promises(p))
    p.expect(":")
    kind = p.type()
    values = [typed_use(p, item, kind) for item in items]
    return finish(p, op, results, values, [kind, p.type() if p.accept(",") else kind])


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
    expect_results(p, op.page, 1, results)
    op.results = [p.names.define(n, kind, i) for n, i in results]
    return op


def read_compare(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op slt, %a, %b : index`; the result is i1."""
    op, word_at = Op(forms[0], spans={"": p.span(at)}), p.i
    word = p.texts[p.i]
    value = read_value(p) if word[:1] == '"' else Raw(p.word("a predicate"))
    key = op.page.attrs[0].key
    p.expect(",")
    lhs = read_item(p, p.names)
    p.expect(",")
    rhs = read_item(p, p.names)
    bind_attributes(p, op, [Given(key, word_at, value, word_at, word_at), *promises(p)])
    p.expect(":")
    kind = p.type()
    return finish(p, op, results, [typed_use(p, item, kind) for item in (lhs, rhs)], [I1])


def promises(p: Parser) -> list[Given]:
    """Read `fastmath<fast>` and `{...}` before the types."""
    found = [flags(p)] if p.texts[p.i] in FLAGS else []
    return found + (dictionary(p) if p.texts[p.i] == "{" else [])


def typed_use(p: Parser, item: Item, kind: Type) -> Use:
    """Return the value of an item whose type was just read, and the item's token."""
    return typed(p.names, item, kind, p.i - 1), item.at


def read_select(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %condition, %yes, %no : T`."""
    items: list[Item] = []
    for count in range(3):
        if count:
            p.expect(",")
        items.append(read_item(p, p.names))
    p.expect(":")
    kind = p.type()
    if p.accept(","):
        kind = p.type()
    values = [typed_use(p, i, wanted) for i, wanted in zip(items, (I1, kind, kind), strict=True)]
    return finish(p, Op(forms[0], spans={"": p.span(at)}), results, values, [kind])


def read_tile_element(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op ins(%tile, %offset : T, index) outs : U`."""
    p.expect("ins")
    p.expect("(")
    items = [read_item(p, p.names)]
    p.expect(",")
    items.append(read_item(p, p.names))
    values: list[Use] = []
    for item in items:
        p.expect("," if values else ":")
        values.append(typed_use(p, item, p.type()))
    p.expect(")")
    p.expect("outs")
    p.expect(":")
    return finish(p, Op(forms[0], spans={"": p.span(at)}), results, values, [p.type()])


def read_cast(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %a downward : T to U`."""
    op, item = Op(forms[0], spans={"": p.span(at)}), read_item(p, p.names)
    words: list[Given] = []
    while (attr := _worded(op.page, p.texts[p.i])) is not None:
        words.append(Given(attr.key, p.i, Raw(p.texts[p.i]), p.i, p.i))
        p.i += 1
    bind_attributes(p, op, [*words, *promises(p)])
    p.expect(":")
    given = typed_use(p, item, p.type())
    p.expect("to")
    return finish(p, op, results, (given,), [p.type()])


def _worded(page: type[Instr], text: str) -> Attr | None:
    """Return the attribute that has the member `text`, which stands alone."""
    kinds = ((attr, attr.kind) for attr in page.attrs)
    return next((a for a, kind in kinds if issubclass(kind, Word) and kind.named(text)), None)


def read_yield(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op`, `op %a, %b : T, U` or `op(%a, %b) : (T, U) -> ()`."""
    call = Call(at)
    first = p.i
    if p.texts[p.i] == "(" or (p.at_operand() and not p.begins_statement()):
        call = read_call(p, p.names, forms, at)
    elif p.texts[p.i] == ":":
        read_signature(p, call)
    if call.types is not None and len(call.types) != len(call.items):
        message = f"{counted(len(call.items), 'operand')}, but {counted(len(call.types), 'type')}"
        raise p.wrong("operand-count", message, first)
    return build(p, p.names, forms, call, results)


def finish(
    p: Parser,
    op: Op,
    results: list[Named],
    operands: Sequence[Use],
    types: Sequence[Type],
) -> Op:
    """Bind operands to the page's inputs in order, and define the results; return the op."""
    page = op.page
    slots = [page.operand(name) for name in page.asm.order] or page.ins()
    if len(operands) > len(slots) or any(o.required for o in slots[len(operands) :]):
        wanted = f"expected {counted(len(slots), 'operand')}, got {len(operands)}"
        raise p.wrong("operand-count", f"{page.mnemonic()}: {wanted}", p.i - 1)
    for slot, (value, at) in zip(slots, operands, strict=False):
        op.operands[slot.name] = value
        op.spans[slot.name] = p.span(at)
        if isinstance(value.type, OpaqueType):
            raise UnknownOperandType
        if not slot.accepts(value.type):
            wanted = f"expected {slot.wanted} as {slot.name}"
            message = f"{page.mnemonic()}: {wanted}, got {value.type}"
            raise p.wrong("type-mismatch", message, at)
    if results:
        expect_results(p, page, len(types), results)
    if any(isinstance(kind, OpaqueType) for kind in types):
        raise UnknownOperandType
    op.results = [p.names.define(n, kind, i) for (n, i), kind in zip(results, types, strict=False)]
    if not results:
        op.results = [p.names.anonymous(kind) for kind in types]
    return op


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
    extents = in_angles(p, p.names) if numbers else []
    opened = p.i
    p.expect("(")
    call.items += [read_item(p, p.names) for _ in p.elements(")", opened)]
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
        op.operands[number.name] = (typed(p.names, item, ScalarType("i32"), item.at),)
        op.spans[number.name] = p.span(item.at)
    if values:
        op.operands[passed.name] = tuple(values)
        op.spans[passed.name] = p.span(call.items[0].at, call.items[-1].at)
    kinds = [kind for kind, _ in call.results or ()]
    expect_results(p, page, len(kinds), results) if results else None
    op.results = [p.names.define(n, kind, i) for (n, i), kind in zip(results, kinds, strict=False)]
    op.results = op.results or [p.names.anonymous(kind) for kind in kinds]
    return op


def read_moved(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %p, %n : <f32> -> <f32>`, or with full types."""
    page = forms[0]
    moved = read_item(p, p.names)
    p.expect(",")
    by = read_item(p, p.names)
    value = p.names.literal(by.number, INDEX, by.at) if by.value is None else by.value
    if value.elided:
        p.names.agree(value, INDEX, by.at)
    p.expect(":")
    pointer = typed_use(p, moved, _stripped(p))
    kind = _stripped(p) if p.accept("->") else pointer[0].type
    return finish(p, Op(page, spans={"": p.span(at)}), results, (pointer, (value, by.at)), [kind])


def _stripped(p: Parser) -> Type:
    """Read a pointer type, perhaps without its name: `<f32, gm>`."""
    if p.texts[p.i] != "<":
        return p.type()
    opened = p.i
    while p.texts[p.i] not in (">", ""):
        p.i += 1
    p.expect(">", opened)
    base = p.tokens.starts[opened] - len(POINTER)
    return p.type_spelled(POINTER + "".join(p.texts[opened : p.i]), base)


def read_declared(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op -> T`."""
    p.expect("->")
    return finish(p, Op(forms[0], spans={"": p.span(at)}), results, (), [p.type()])


def read_field(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %s[0, 1] : S -> T` or `op %s[0], %x : S, T`."""
    items, path_at = [read_item(p, p.names)], p.i
    path = read_value(p)
    while p.accept(","):
        items.append(read_item(p, p.names))
    p.expect(":")
    values = [typed_use(p, items[0], p.type())]
    for item in items[1:]:
        p.expect(",")
        values.append(typed_use(p, item, p.type()))
    op = Op(forms[0], spans={"": p.span(at)})
    bind_attributes(p, op, [Given(op.page.attrs[0].key, path_at, path, path_at, p.i - 1)])
    return finish(p, op, results, values, [p.type()] if p.accept("->") else [])


def read_maintained(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op all #pto.name<A>` or `op %x single_cache_line : T`."""
    if p.accept("all"):
        op = Op(next(page for page in forms if page.attrs), spans={"": p.span(at)})
        word_at = p.i
        word = Given(op.page.attrs[0].key, word_at, read_value(p), word_at, p.i - 1)
        bind_attributes(p, op, [word])
        return finish(p, op, results, (), ())
    item = read_item(p, p.names)
    p.expect("single_cache_line")
    p.expect(":")
    value = typed_use(p, item, kind := p.type())
    places = [page for page in forms if not page.attrs]
    page = next((f for f in places if f.ins()[0].accepts(kind)), places[0])
    return finish(p, Op(page, spans={"": p.span(at)}), results, (value,), ())


def read_printed(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op ins("text", %x : T)`."""
    p.expect("ins")
    p.expect("(")
    op, text_at = Op(forms[0], spans={"": p.span(at)}), p.i
    text = Given(op.page.attrs[0].key, text_at, read_value(p), text_at, text_at)
    bind_attributes(p, op, [text])
    p.expect(",")
    item = read_item(p, p.names)
    p.expect(":")
    value = typed_use(p, item, p.type())
    p.expect(")")
    return finish(p, op, results, (value,), ())


def read_asserted(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op %condition, "text"`."""
    op = Op(forms[0], spans={"": p.span(at)})
    item = read_item(p, p.names)
    p.expect(",")
    text_at = p.i
    text = Given(op.page.attrs[0].key, text_at, read_value(p), text_at, text_at)
    bind_attributes(p, op, [text])
    return finish(p, op, results, [(typed(p.names, item, I1, item.at), item.at)], ())


def read_bound(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read as "op"; if the types are memrefs, `{config = ...}` is the layout of the result."""
    call = read_call(p, p.names, forms, at)
    kind, place = call.results[0] if call.results else (None, at)
    if isinstance(kind, TileType):
        call.results = [(_configured(p, kind, call.attrs, len(call.items) > 1), place)]
    return build(p, p.names, forms, call, results)


def read_addressed(p: Parser, forms: Forms, at: int, results: list[Named]) -> Op:
    """Read `op(%a) %rows, %cols {config = ...} : T` or `op() : T`.

    With several addresses the op is kept as an opaque op.
    """
    opened, items = p.i, list[Item]()
    p.expect("(")
    items += [read_item(p, p.names) for _ in p.elements(")", opened)]
    if len(items) > 1:
        raise UnknownOperandType
    while p.at_operand() or p.accept(","):
        items.append(read_item(p, p.names))
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
    "window": read_op,
    "bound": read_bound,
    "part": read_op,
    "recast": read_recast,
    "memref_part": read_memref_part,
    "memref_cast": read_memref_cast,
    "addressed": read_addressed,
    "op": read_op,
    "called": read_op,
    "configured": read_op,
    "worded": read_op,
    "same": read_same,
    "in_full": read_in_full,
    "tile_element": read_tile_element,
    "constant": read_constant,
    "compare": read_compare,
    "select": read_select,
    "cast": read_cast,
    "yield": read_yield,
    "for": read_for,
    "if": read_if,
    "cases": read_cases,
    "moved": read_moved,
    "declared": read_declared,
    "element": read_element,
    "field": read_field,
    "call": read_call_of,
    "branch": read_branch,
    "switch": read_switch,
    "asserted": read_asserted,
    "executed": read_executed,
    "while": read_while,
    "condition": read_condition,
    "section": read_section,
    "printed": read_printed,
    "maintained": read_maintained,
    "bracketed": read_bracketed,
    "lanes": read_lanes,
    "angled": read_angled,
}
