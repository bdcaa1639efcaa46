"""The act that makes an op of a call: the choice of the page, operands, types and results.

The pages of a mnemonic are tried in order; the first whose operands fit in number and kind wins.
The types that text gives for one value must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import new_op, type_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.asm import CLAUSES_SINCE, DIALECTS, LISTED_LAST, TYPED_LAST
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.traits import EXPOSES
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import ELISIONS, Elided, Kind, OpaqueType, PtrType, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes, require_no_slip
from ptokit.text.read.binding import (
    Pairs,
    UnknownOperandType,
    accepts,
    as_operands,
    give_types,
    has_attribute,
    item_type,
    match,
    missing,
    of_another_level,
    points,
    readings,
    spelled,
)
from ptokit.text.read.callreader import Call, Item
from ptokit.text.read.cursor import UNKNOWN, Cursor
from ptokit.text.read.names import Named, of_rank, pointer_to
from ptokit.text.read.parser import Parser
from ptokit.text.read.signature import Signature, describe, signature
from ptokit.values.enumerations import Loc

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


def fitting_form(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> tuple[Signature, Pairs]:
    """Return the page that fits, and its operands with the items for them.

    A page whose enumeration lacks a written member loses against one that has it. A page with
    result types other than those written is taken only if no other page fits.
    """
    likely, selected = _likeliest(forms, call)
    named = forms[0].mnemonic()  # pages of another mnemonic come last
    others = [page for page in forms if page not in likely and page.mnemonic() != named]
    for some in (likely, others):
        found = _fit(cursor, some, selected, forms, call, results)
        if found is not None:
            return found
    raise _misfit(cursor, likely, call, results)


def _fit(
    cursor: Cursor,
    forms: Sequence[type[Instr]],
    selected: Sequence[type[Instr]],
    every: Sequence[type[Instr]],
    call: Call,
    results: int,
) -> tuple[Signature, Pairs] | None:
    """Return the first of `forms` that fits; `every` has all pages of the mnemonic."""
    fitting: tuple[Signature, Pairs] | None = None
    meant = [g for g in call.attrs if any(has_attribute(page, g.key) for page in every)]
    written = call.results
    for page in forms:
        sig = signature(page)
        if selected and page.asm.selected:
            call.attrs = [g for g in call.attrs if g.key != page.asm.selected[0]]
        if call.attrs:
            as_operands(sig, call)
            if not all(has_attribute(page, g.key) for g in call.attrs if g in meant):
                continue
        if missing(page, call):
            continue
        if call.types is not None:
            call.results = written  # another form may have changed it
            give_types(cursor, sig, call, results)
        for reading in readings(sig, call, results):
            pairs = match(sig, reading, call)
            if pairs is not None:
                if call.keyed or call.index:
                    pairs.sort(key=lambda pair: pair[1][0].at if pair[1] else 0)
                if len(forms) == 1 or _gives(sig, call):
                    return sig, pairs
                fitting = fitting or (sig, pairs)
    return fitting


def _likeliest(
    forms: Sequence[type[Instr]], call: Call
) -> tuple[Sequence[type[Instr]], Sequence[type[Instr]]]:
    """Return the pages to try, the most likely first, and those that an attribute selects."""
    named = [page for page in forms if page.mnemonic() == forms[0].mnemonic()]
    if len(forms) > 1 and call.attrs:
        forms = _by_words(forms, call)
    selected = [p for p in forms if p.asm.selected and _selected(p, call)]
    if call.keyed:  # perhaps only a page of another mnemonic has the keyword
        return forms, selected
    typed = call.apart and [p for p in forms if _typed_last(p, call) or _in_place(p, call)]
    by_place = [p for p in typed or () if p not in named]
    return selected or [*by_place, *(p for p in forms if p in named)] or named, selected


def _by_words(forms: Sequence[type[Instr]], call: Call) -> Sequence[type[Instr]]:
    """Return the pages with all written attributes and members; else those without members last."""
    every = [p for p in forms if all(has_attribute(p, g.key) and spelled(p, g) for g in call.attrs)]
    lacking = [p for p in forms if not all(spelled(p, g) for g in call.attrs)]
    return every or [*(p for p in forms if p not in lacking), *lacking]


def _selected(page: type[Instr], call: Call) -> bool:
    """Return whether the text has the attribute value that selects this page, in any spelling."""
    return any((g.key, _bare(str(g.value))) == page.asm.selected for g in call.attrs)


def _bare(word: str) -> str:
    """Return the bare word: `inplace` for `"inplace"` and `#pto.tfillpad_mode<in_place>`."""
    return word.strip('">').rpartition("<")[2].replace("_", "")


def _typed_last(page: type[Instr], call: Call) -> bool:
    """Return whether a required operand stands last in text, with a type of its own."""
    words, last = dict(page.asm.words), item_type(call.items[-1]) if call.items else None
    # a tile in vec may be scratch of another form, a tile elsewhere is the operand
    wanted = Loc.VEC if isinstance(last, TileType) and last.loc is Loc.VEC else None
    return any(
        words.get(slot.name) == TYPED_LAST
        and slot.required
        and (wanted is None or slot.fixed_loc in (None, wanted))
        for slot in signature(page).ins
    )


def _in_place(page: type[Instr], call: Call) -> bool:
    """Return whether the tiles have the locations that operands of the page require."""
    wanted = {o.fixed_loc for o in page.ins() if o.fixed_loc is not None}
    types = map(item_type, call.items)
    locs = [t.loc for t in types if isinstance(t, TileType)]
    return bool(wanted) and all(locs.count(loc) == 1 for loc in wanted)


def _gives(sig: Signature, call: Call) -> bool:
    """Return whether results may have the types written for them."""
    written = zip((*sig.results, *sig.fresh), call.results or (), strict=False)
    return all(slot.kind is Kind.ANY or slot.accepts(kind) for slot, (kind, _) in written)


def _misfit(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> PtoError | UnknownOperandType:
    """Return the error if no page fits."""
    items = [*call.items, *call.index, *(i for g in call.keyed.values() for i in g)]
    if any(of_another_level(item_type(i)) for i in (*items, *(call.outs or ()))):
        return UnknownOperandType()
    if results and call.outs is None:
        counts = [len(s.results) + len(s.fresh) for s in map(signature, forms)]
        if results not in counts:
            defined = counted(counts[0], "result")
            message = f"{forms[0].mnemonic()}: expected {defined}, got {results}"
            return cursor.wrong("operand-count", message, call.at)
    for given in call.attrs:
        if not any(has_attribute(page, given.key) for page in forms):
            require_no_slip(cursor, forms[0], given)
    name = forms[0].mnemonic()
    needed = [missing(page, call) for page in forms]
    if all(needed):
        return cursor.wrong("syntax-error", f"{name}: missing attribute {needed[0][0]}", call.at)
    for key in call.keyed:
        keys = [s.key for p in forms for s in signature(p).ssa if s.key]
        if key not in keys and not any(has_attribute(p, key) for p in forms):
            message = f"{name} has no operand {key!r}"
            advice = did_you_mean(key, keys) or f"it takes {', '.join(keys) or 'none by name'}"
            return cursor.wrong("unknown-attribute", message, call.at, advice)
    return _wrong_kind(cursor, forms, call, results) or _wrong_count(cursor, forms, call)


def _wrong_count(cursor: Cursor, forms: Sequence[type[Instr]], call: Call) -> PtoError:
    name, first = forms[0].mnemonic(), signature(forms[0])
    for key, items in call.keyed.items():
        slots = [s for p in forms for s in signature(p).ssa if s.key == key]
        if len(items) != 1 and not any(s.many for s in slots):
            message = f"{name}: expected 1 operand as {key}, got {len(items)}"
            return cursor.wrong("operand-count", message, items[0].at if items else call.at)
    if call.outs is None and first.fresh and len(call.items) in (len(first.ssa), len(first.bare)):
        outs = ", ".join(s.name for s in first.fresh)
        message = f"{name} writes {outs}: name a result, or give outs(%{first.fresh[0].name} : T)"
        return cursor.wrong("operand-count", message, call.at)
    if call.outs is not None:
        takes = " or ".join(
            dict.fromkeys(
                f"ins({describe(_before(s))}) outs({describe(_written(s))})"
                for s in map(signature, forms)
            )
        )
        inputs = counted(len(call.items) + len(call.index), "input")
        given = f"{inputs} and {counted(len(call.outs), 'output')}"
    else:
        takes = " or ".join(dict.fromkeys(describe(signature(p).ssa) for p in forms))
        given = counted(len(call.items) + len(call.index) + len(call.keyed), "operand")
    return cursor.wrong("operand-count", f"{name}: expected {takes}, got {given}", call.at)


def _before(sig: Signature) -> list[Operand]:
    """Return the inputs inside `ins(...)`."""
    asm = sig.page.asm
    return [s for s in sig.ins if s.key not in asm.behind and s.name not in asm.outs]


def _written(sig: Signature) -> list[Operand]:
    """Return the operands inside `outs(...)`."""
    return [*(sig.outs or sig.results), *(s for s in sig.ins if s.name in sig.page.asm.outs)]


def _wrong_kind(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> PtoError | None:
    """Return the error about an operand of a wrong kind, for the first page that fits in number."""
    for page in forms:
        sig = signature(page)
        for reading in readings(sig, call, results):
            pairs = match(sig, reading, call, lambda slot, item: True) or []
            for slot, item in ((s, i) for s, group in pairs for i in group):
                if not accepts(slot, item):
                    return _kind_error(cursor, page, slot, item)
    return None


def _kind_error(cursor: Cursor, page: type[Instr], slot: Operand, item: Item) -> PtoError:
    wanted = f"expected {slot.wanted} as {slot.name}"
    message = f"{page.mnemonic()}: {wanted}, got {item_type(item)}"
    return cursor.wrong("type-mismatch", message, item.at)
