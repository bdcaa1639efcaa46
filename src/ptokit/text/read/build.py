"""Construction of the op of a bound call: operands, types (which must agree), results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import new_op, type_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.asm import CLAUSES_SINCE, DIALECTS, LISTED_LAST, TYPED_LAST
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.traits import EXPOSES
from ptokit.isa.model.types import ELISIONS, Elided, Kind, OpaqueType, PtrType, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes
from ptokit.text.read.binding import UnknownOperandType, points
from ptokit.text.read.callreader import Call, Item
from ptokit.text.read.cursor import UNKNOWN
from ptokit.text.read.forms import fitting_form
from ptokit.text.read.names import Named, of_rank, pointer_to
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import Signature

Use = tuple[Value, int]  # the value of an operand, and its token


def build(p: Parser, forms: Sequence[type[Instr]], call: Call, results: list[Named]) -> Op:
    """Return the op that `call` writes, in the form of `forms` that fits."""
    sig, pairs = fitting_form(p, forms, call, len(results))
    operands: dict[str, tuple[Value, ...]] = {}
    spans = {"": p.span(call.at)}
    rebound: Value | None = None
    for slot, items in pairs:
        values = tuple(_value(p, slot, item) for item in items)
        if slot.role.value == "defined":  # a handle in outs(...): the name is redefined
            rebound = values[0]
            continue
        if items:
            operands[slot.name] = values
            spans[slot.name] = p.span(items[0].at, items[-1].at)
    keyed = {s.key or s.name for s, _ in pairs}
    valued = [(key, items) for key, items in call.keyed.items() if key not in keyed]
    for key in (key for key, items in valued if not items):
        raise p.wrong("attribute", f"{key}: missing value", call.at)
    given = [*call.attrs, *(_attribute(key, items) for key, items in valued)]
    op = new_op(sig.page, operands, regions=call.regions, spans=spans)
    if given:
        bind_attributes(p, op, given)
    if EXPOSES in sig.page.traits and any(map(_in_tiles, _types(op, call))):
        raise UnknownOperandType
    op.results = _results(p, op, sig, call, results, rebound)
    op.into = rebound
    if call.clause:
        op.dialect = CLAUSES_SINCE
    elif call.outs is not None and any(
        name in op.operands and word not in (LISTED_LAST, TYPED_LAST)
        for name, word in op.page.asm.words
    ):
        op.dialect = DIALECTS[0]
    else:
        op.dialect = _dialect(op.page, call)
    return op


def _types(op: Op, call: Call) -> Iterator[Type]:
    yield from (value.type for _, value in op.values())
    yield from (kind for kind, _ in call.results or ())


def _in_tiles(kind: Type) -> bool:
    """Return whether a pointer leads into tile memory, which only lowered text has."""
    return isinstance(kind, PtrType) and kind.space != "gm"


def _dialect(page: type[Instr], call: Call) -> str:
    """Return the version of the dialect that spells attributes so; "" if all versions do."""
    keys = {item.key for item in call.attrs}
    if page.asm.inside_until and call.outs and call.attrs:
        inside = any(item.at < call.outs[0].at for item in call.attrs)
        return DIALECTS[0] if inside else page.asm.inside_until
    if call.outs is not None and any(a.quoted for a in page.attrs):
        return CLAUSES_SINCE if any(a.quoted and a.key in keys for a in page.attrs) else DIALECTS[0]
    versioned = [a for a in page.attrs if a.newer and keys & {a.newer, a.key}]
    if call.outs is None or not versioned:
        return ""
    return CLAUSES_SINCE if versioned[0].newer in keys else DIALECTS[0]


def _attribute(key: str, items: list[Item]) -> Given:
    at = items[0].at
    return Given(key, at, items[0].number, at, at)


def _value(p: Parser, slot: Operand, item: Item) -> Value:
    """Return the value of an item, after comparing its type with the type written here."""
    value = item.value
    if value is None:
        given = item.type is not None and not isinstance(item.type, Elided)
        kind = item.type if given and item.type else type_of(slot, item.number)
        return p.names.literal(item.number, kind, item.at)
    if points(slot, value.type):
        value.type = pointer_to(value.type)
    if item.type is not None and item.type is not value.type:
        p.names.agree(value, item.type, item.type_at)
    if isinstance(value.type, Elided):
        p.names.serve(value, slot, item.at)
    elif p.names.flat:  # this line may be the only one with the type
        p.names.require(value, slot, item.at)
    return value


def _results(
    p: Parser,
    op: Op,
    sig: Signature,
    call: Call,
    results: list[Named],
    rebound: Value | None,
) -> list[Value]:
    into = call.outs is None or len(results) == len(sig.results) + len(sig.fresh)
    slots = (*sig.results, *(sig.fresh if results and into else ()))
    types = _result_types(p, slots, call)
    if call.outs is not None and not call.results:
        types = [
            op.bound(s.name)[0].type if op.bound(s.name) else t
            for s, t in zip(slots, types, strict=True)
        ]
    if not results:
        return [_unnamed(p, op, slots, types, rebound, call.at)] if slots else []
    expect_results(p, sig.page, len(slots), results)
    values = [p.names.define(n, kind, at) for (n, at), kind in zip(results, types, strict=True)]
    for slot, value in zip(slots, values, strict=True):
        p.names.serve(value, slot)
    return values


def expect_results(p: Parser, page: type[Instr], count: int, results: list[Named]) -> None:
    """Raise PtoError unless the op defines as many values as the text names."""
    p.require_count(page.mnemonic(), count, "result", len(results), results[0][1])


def finish(
    p: Parser, op: Op, results: list[Named], operands: Sequence[Use], types: Sequence[Type]
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
    op.results = defined(p, page, types, results)
    return op


def defined(
    p: Parser, page: type[Instr], kinds: Sequence[Type], results: list[Named]
) -> list[Value]:
    """Return the results of an op with these types, without names if the text has none."""
    if not results:
        return [p.names.anonymous(kind) for kind in kinds]
    expect_results(p, page, len(kinds), results)
    return [p.names.define(n, kind, at) for (n, at), kind in zip(results, kinds, strict=True)]


def _result_types(p: Parser, slots: Sequence[Operand], call: Call) -> list[Type]:
    """Return the written types of the results, or omitted ones."""
    written = call.results or []
    if not written:
        return [_without_type(s) for s in slots]
    if len(written) != len(slots):
        if not slots:  # destination first: the type repeats that of the destination
            return []
        p.require_types(len(slots), len(written), written[0][1], "result")
    for number, (kind, at) in enumerate(written):
        if slots[number].kind is Kind.PTR and p.texts[at][:7] == "memref<":
            written[number] = pointer_to(kind), at
    for slot, (kind, at) in zip(slots, written, strict=True):
        require_kind(p, slot, kind, at)
    lengths = {len(items) for items in call.keyed.values()}
    return [of_rank(kind, lengths) for kind, _ in written]


def _without_type(slot: Operand) -> Type:
    """Return the type of a result that text leaves out."""
    return ScalarType(slot.scalar) if slot.scalar else ELISIONS.get(slot.kind, UNKNOWN)


def require_kind(p: Parser, operand: Operand, kind: Type, at: int) -> None:
    """Raise PtoError if a known result type is not of the kind that the page declares."""
    if not operand.kind.accepts(kind) and not isinstance(kind, Elided | OpaqueType):
        message = f"{operand.name}: expected {operand.wanted}, got {kind}"
        raise p.wrong("type-mismatch", message, at)


def _unnamed(
    p: Parser, op: Op, slots: Sequence[Operand], types: list[Type], rebound: Value | None, at: int
) -> Value:
    """Return the result of a handle op that names none: the name of its handle means the result."""
    source = rebound
    if source is None and slots[0].kind is Kind.TILE:
        source = next((v for _, v in op.values() if Kind.TILE.accepts(v.type)), None)
    if source is None:
        return p.names.anonymous(types[0])
    kind = source.type if rebound is not None or types[0] == ELISIONS[Kind.TILE] else types[0]
    return p.names.rebind(source, kind, at)
