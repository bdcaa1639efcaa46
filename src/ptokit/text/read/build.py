"""Construction of the op of a bound call: operands, types (which must agree), results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import new_op, type_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.asm import CLAUSES_SINCE, DIALECTS, LISTED_LAST, TYPED_LAST
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.traits import EXPOSES
from ptokit.isa.model.types import ELISIONS, Elided, Kind, OpaqueType, PtrType, Type
from ptokit.text.read.attributes import Given, bind_attributes
from ptokit.text.read.binding import UnknownOperandType, points
from ptokit.text.read.callreader import Call, Item
from ptokit.text.read.cursor import UNKNOWN, Cursor
from ptokit.text.read.forms import fitting_form
from ptokit.text.read.names import Names, of_rank, pointer_to
from ptokit.text.read.signature import Signature, Slot

Named = tuple[str, int]  # a written result: its name and its token


def build(
    cursor: Cursor, names: Names, forms: Sequence[type[Instr]], call: Call, results: list[Named]
) -> Op:
    """Return the op that `call` writes, in the form of `forms` that fits."""
    sig, pairs = fitting_form(cursor, forms, call, len(results))
    operands: dict[str, tuple[Value, ...]] = {}
    spans = {"": cursor.span(call.at)}
    rebound: Value | None = None
    for slot, items in pairs:
        values = tuple(_value(names, slot, item) for item in items)
        if slot.operand.role.value == "defined":  # a handle in outs(...): the name is redefined
            rebound = values[0]
            continue
        if items:
            operands[slot.name] = values
            spans[slot.name] = cursor.span(items[0].at, items[-1].at)
    keyed = {s.key or s.name for s, _ in pairs}
    valued = [(key, items) for key, items in call.keyed.items() if key not in keyed]
    for key in (key for key, items in valued if not items):
        raise cursor.wrong("attribute", f"{key}: missing value", call.at)
    given = [*call.attrs, *(_attribute(key, items) for key, items in valued)]
    op = new_op(sig.page, operands, regions=call.regions, spans=spans)
    if given:
        bind_attributes(cursor, op, given)
    if EXPOSES in sig.page.traits and any(map(_in_tiles, _types(op, call))):
        raise UnknownOperandType
    op.results = _results(cursor, names, op, sig, call, results, rebound)
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


def _value(names: Names, slot: Slot, item: Item) -> Value:
    """Return the value of an item, after comparing its type with the type written here."""
    value = item.value
    if value is None:
        given = item.type is not None and not isinstance(item.type, Elided)
        kind = item.type if given and item.type else type_of(slot.operand, item.number)
        return names.literal(item.number, kind, item.at)
    if points(slot, value.type):
        value.type = pointer_to(value.type)
    if item.type is not None and item.type is not value.type:
        names.agree(value, item.type, item.type_at)
    if isinstance(value.type, Elided):
        names.serve(value, slot.operand, item.at)
    elif names.flat:  # this line may be the only one with the type
        names.require(value, slot.operand, item.at)
    return value


def _results(
    cursor: Cursor,
    names: Names,
    op: Op,
    sig: Signature,
    call: Call,
    results: list[Named],
    rebound: Value | None,
) -> list[Value]:
    into = call.outs is None or len(results) == len(sig.results) + len(sig.fresh)
    slots = (*sig.results, *(sig.fresh if results and into else ()))
    types = _result_types(cursor, slots, call)
    if call.outs is not None and not call.results:
        types = [
            op.bound(s.name)[0].type if op.bound(s.name) else t
            for s, t in zip(slots, types, strict=True)
        ]
    if not results:
        return [_unnamed(names, op, slots, types, rebound, call.at)] if slots else []
    expect_results(cursor, sig.page, len(slots), results)
    values = [names.define(n, kind, at) for (n, at), kind in zip(results, types, strict=True)]
    for slot, value in zip(slots, values, strict=True):
        names.serve(value, slot.operand)
    return values


def expect_results(cursor: Cursor, page: type[Instr], count: int, results: list[Named]) -> None:
    """Raise PtoError unless the op defines as many values as the text names."""
    if len(results) != count:
        message = f"{page.mnemonic()}: expected {counted(count, 'result')}, got {len(results)}"
        raise cursor.wrong("operand-count", message, results[0][1])


def _result_types(cursor: Cursor, slots: Sequence[Slot], call: Call) -> list[Type]:
    """Return the written types of the results, or omitted ones."""
    written = call.results or []
    if not written:
        return [s.scalar or ELISIONS.get(s.kind, UNKNOWN) for s in slots]
    if len(written) != len(slots):
        if not slots:  # destination first: the type repeats that of the destination
            return []
        message = f"{counted(len(slots), 'result')}, but {counted(len(written), 'type')}"
        raise cursor.wrong("operand-count", message, written[0][1])
    for number, (kind, at) in enumerate(written):
        if slots[number].kind is Kind.PTR and cursor.texts[at][:7] == "memref<":
            written[number] = pointer_to(kind), at
    for slot, (kind, at) in zip(slots, written, strict=True):
        require_kind(cursor, slot.operand, kind, at)
    lengths = {len(items) for items in call.keyed.values()}
    return [of_rank(kind, lengths) for kind, _ in written]


def require_kind(cursor: Cursor, operand: Operand, kind: Type, at: int) -> None:
    """Raise PtoError if a known result type is not of the kind that the page declares."""
    if not operand.kind.accepts(kind) and not isinstance(kind, Elided | OpaqueType):
        message = f"{operand.name}: expected {operand.wanted}, got {kind}"
        raise cursor.wrong("type-mismatch", message, at)


def _unnamed(
    names: Names, op: Op, slots: Sequence[Slot], types: list[Type], rebound: Value | None, at: int
) -> Value:
    """Return the result of a handle op that names none: the name of its handle means the result."""
    source = rebound
    if source is None and slots[0].kind is Kind.TILE:
        source = next((v for _, v in op.values() if Kind.TILE.accepts(v.type)), None)
    if source is None:
        return names.anonymous(types[0])
    kind = source.type if rebound is not None or types[0] == ELISIONS[Kind.TILE] else types[0]
    return names.rebind(source, kind, at)
