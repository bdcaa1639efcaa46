"""Binding what was written to what a page declares: which form, which operand is which.

The forms of a mnemonic are tried in order; the first whose operands fit in number and kind wins.
Operands with a real default are filled before optional ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from ptokit.diagnostics import PtoError
from ptokit.isa.lang import Instr
from ptokit.isa.types import INDEX, Elided, Kind, OpaqueType, ScalarType, Type
from ptokit.text.attributes import Typed, attribute_of, unknown_attribute
from ptokit.text.call import Call, Item
from ptokit.text.cursor import Cursor, did_you_mean
from ptokit.text.signature import Signature, Slot, describe, signature

F32 = ScalarType("f32")
Pairs: TypeAlias = "list[tuple[Slot, list[Item]]]"
Reading: TypeAlias = "tuple[tuple[tuple[Slot, ...], list[Item]], ...]"


class Foreign(Exception):
    """An operand has a type this version does not know: nobody can say what the op means."""


def bind(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> tuple[Signature, Pairs]:
    """The form that fits, and its operands with what was written for them."""
    for page in forms:
        sig = signature(page)
        if call.attrs:
            _as_operands(sig, call)
            if not all(_known(page, g.key) for g in call.attrs):
                continue
        if call.types is not None:
            spread(cursor, sig, call, results)
        for reading in _readings(sig, call, results):
            pairs = _match(sig, reading, call)
            if pairs is not None:
                if call.keyed or call.index:
                    pairs.sort(key=lambda pair: pair[1][0].at if pair[1] else 0)
                return sig, pairs
    raise _misfit(cursor, forms, call, results)


def _known(page: type[Instr], key: str) -> bool:
    return "." in key or attribute_of(page, key) is not None


def _as_operands(sig: Signature, call: Call) -> None:
    """A number in the attributes may be an operand of the page: `{offset = 7 : i32}`."""
    for given in [*call.attrs]:
        value = given.value.value if isinstance(given.value, Typed) else given.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if attribute_of(sig.page, given.key) is None:
            flat = given.key.replace("_", "").lower()
            slot = next((s for s in sig.ins if s.name.replace("_", "") == flat), None)
            if slot is not None:
                call.attrs.remove(given)
                call.keyed[slot.key or slot.name] = [Item(given.value_at, None, value)]


def _readings(sig: Signature, call: Call, results: int) -> Iterator[Reading]:
    """The ways to read the items as operands, likeliest first."""
    if call.outs is not None:
        outs = sig.outs or (() if results else sig.results)
        yield (sig.ins, call.items), (outs, call.outs)
        return
    if results and results != len(sig.results) + len(sig.fresh):
        return
    if results or not sig.fresh:
        yield ((sig.ssa, call.items),)
        if len(sig.bare) < len(sig.ssa):  # an old value that is not given is undefined
            yield ((sig.bare, call.items),)
    if not results and sig.outs:
        if call.generic:
            needed = tuple(s for s in sig.ins if s.required)
            rest = tuple(s for s in sig.ins if not s.required)
            yield (((*sig.ins, *sig.outs), call.items),)
            yield (((*needed, *sig.outs, *rest), call.items),)
        yield (((*sig.outs, *sig.ins), call.items),)  # the destination first


def spread(cursor: Cursor, sig: Signature, call: Call, results: int) -> None:
    """Give the operands the types that stand after the colon."""
    types = call.types or []
    items = call.items
    every = sorted((*items, *call.index), key=lambda i: i.at) if call.index else items
    if call.results is None and _only_results(sig, call, results):
        call.results = types
        return
    if len(types) == 1 and not results and sig.fresh:  # one type for all tiles of a line
        kind, at = types[0]
        for item in items:
            if item.value is not None and Kind.TILE.accepts(item.value.type):
                item.type, item.type_at = kind, at
        return
    if len(types) > len(items) and len(types) != len(every):
        message = f"{len(every)} operands, but {len(types)} types"
        raise cursor.wrong("operand-count", message, types[0][1] - 1)
    chosen = every if len(types) == len(every) else items
    for item, (kind, at) in zip(chosen, types, strict=False):
        item.type, item.type_at = kind, at


def _only_results(sig: Signature, call: Call, results: int) -> bool:
    """Whether the types without an arrow are those of the results."""
    types = call.types or []
    if not sig.results or len(types) != len(sig.results):
        return False
    if sig.page.typed == () or not call.items:
        return True
    if sig.page.typed is not None or not results:
        return False
    first = sig.ins[0].kind if sig.ins else Kind.ANY
    return not first.accepts(types[0][0]) and sig.results[0].kind.accepts(types[0][0])


def _match(sig: Signature, reading: Reading, call: Call) -> Pairs | None:
    """Slots with their items, or None when number or kinds do not fit."""
    pairs: Pairs = []
    for slots, items in reading:
        places = slots
        if call.index or call.keyed or any(s.key for s in slots):
            named = _by_name(sig, slots, call)
            if named is None:
                return None
            pairs += named
            taken = {s.name for s, _ in named}
            places = tuple(s for s in slots if not s.key and s.name not in taken)
        placed = _placed(places, items)
        if placed is None:
            return None
        pairs += placed
    return pairs


def _by_name(sig: Signature, slots: tuple[Slot, ...], call: Call) -> Pairs | None:
    """Slots that keywords and brackets name."""
    pairs: Pairs = []
    for slot in slots:
        key = slot.key or slot.name
        if key in call.keyed:
            pairs.append((slot, call.keyed[key]))
        elif slot.key and slot.required:
            return None
    keys = {s.key or s.name for s in (*sig.ins, *sig.outs)}
    if any(k not in keys and attribute_of(sig.page, k) is None for k in call.keyed):
        return None
    named = {s.name for s, _ in pairs}
    bracketed = [s for s in slots if s.indexed and s.name not in named]
    if call.index and bracketed:
        if len(call.index) != len(bracketed):
            return None
        pairs += [(s, [item]) for s, item in zip(bracketed, call.index, strict=True)]
    elif call.index and not any(s.indexed for s in (*sig.ins, *sig.outs)):
        return None
    return pairs if all(_accepts(s, i) for s, group in pairs for i in group) else None


def _placed(places: tuple[Slot, ...], items: list[Item]) -> Pairs | None:
    """Slots with items by position: the first choice of optional ones whose kinds fit."""
    for chosen in _choices(places, len(items)):
        placed = _place(chosen, items)
        if all(_accepts(slot, item) for slot, group in placed for item in group):
            return placed
    return None


def _choices(places: tuple[Slot, ...], count: int) -> Iterator[Sequence[Slot]]:
    """Which slots are given when `count` items are: defaults before optional ones."""
    if count == len(places):
        yield places
        return
    spare = count - sum(1 for s in places if s.required and not s.many)
    if spare < 0:
        return
    if any(s.many for s in places):
        yield [s for s in places if s.required or s.many]
        return
    preferred = sorted((s for s in places if not s.required), key=lambda s: s.optional)
    for some in combinations(preferred, spare):
        names = {s.name for s in some}
        yield [s for s in places if s.required or s.name in names]


def _place(chosen: Sequence[Slot], items: list[Item]) -> Pairs:
    """Slots with their items; a list takes what the others leave."""
    extra = len(items) - len(chosen) + 1
    pairs: Pairs = []
    at = 0
    for slot in chosen:
        step = extra if slot.many else 1
        pairs.append((slot, items[at : at + step]))
        at += step
    return pairs


def _accepts(slot: Slot, item: Item) -> bool:
    return slot.kind is Kind.ANY or slot.kind.accepts(item_type(item))


def item_type(item: Item) -> Type:
    """The type of an item as far as one knows."""
    if item.value is None:
        return F32 if isinstance(item.number, float) else INDEX
    known = item.value.type
    return item.type if isinstance(known, Elided) and item.type is not None else known


def _misfit(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> PtoError | Foreign:
    """Why no form fits."""
    items = [*call.items, *call.index, *(i for g in call.keyed.values() for i in g)]
    if any(isinstance(item_type(i), OpaqueType) for i in (*items, *(call.outs or ()))):
        return Foreign()
    if results and call.outs is None:
        counts = [len(s.results) + len(s.fresh) for s in map(signature, forms)]
        if results not in counts:
            plural = "" if counts[0] == 1 else "s"
            message = f"{forms[0].mnemonic()} defines {counts[0]} value{plural}; {results} named"
            return cursor.wrong("operand-count", message, call.at)
    for given in call.attrs:
        if not any(_known(page, given.key) for page in forms):
            return unknown_attribute(cursor, forms[0], given)
    name = forms[0].mnemonic()
    for key in call.keyed:
        keys = [s.key for p in forms for s in signature(p).ssa if s.key]
        if key not in keys and not any(_known(p, key) for p in forms):
            message = f"{name} has no operand {key!r}"
            advice = did_you_mean(key, keys) or f"it takes {', '.join(keys) or 'none by name'}"
            return cursor.wrong("unknown-attribute", message, call.at, advice)
    return _wrong_kind(cursor, forms, call, results) or _wrong_count(cursor, forms, call)


def _wrong_count(cursor: Cursor, forms: Sequence[type[Instr]], call: Call) -> PtoError:
    name = forms[0].mnemonic()
    if call.outs is not None:
        takes = " or ".join(
            dict.fromkeys(
                f"ins({describe(s.ins)}) outs({describe(s.outs or s.results)})"
                for s in map(signature, forms)
            )
        )
        given = f"{len(call.items) + len(call.index)} and {len(call.outs)}"
    else:
        takes = " or ".join(dict.fromkeys(describe(signature(p).ssa) for p in forms))
        given = str(len(call.items) + len(call.index) + len(call.keyed))
    return cursor.wrong("operand-count", f"{name} takes {takes}; {given} given", call.at)


def _wrong_kind(
    cursor: Cursor, forms: Sequence[type[Instr]], call: Call, results: int
) -> PtoError | None:
    """The first operand of a kind its slot does not take, in the first form that fits in number."""
    for page in forms:
        sig = signature(page)
        for reading in _readings(sig, call, results):
            pairs = _by_number(reading, call)
            wrong = [(s, i) for s, group in pairs for i in group if not _accepts(s, i)]
            if wrong:
                return _kind_error(cursor, page, *wrong[0])
    return None


def _by_number(reading: Reading, call: Call) -> Pairs:
    """Slots with their items whatever their kinds; nothing where the numbers do not fit."""
    pairs: Pairs = []
    for slots, items in reading:
        bracketed = [s for s in slots if s.indexed] if call.index else []
        places = tuple(s for s in slots if not s.key and not (call.index and s.indexed))
        chosen = next(_choices(places, len(items)), None)
        if chosen is None or (bracketed and len(bracketed) != len(call.index)):
            return []
        pairs += _place(chosen, items)
        pairs += [(s, [i]) for s, i in zip(bracketed, call.index, strict=False)]
    return pairs


def _kind_error(cursor: Cursor, page: type[Instr], slot: Slot, item: Item) -> PtoError:
    what = cursor.texts[item.at]
    message = (
        f"{page.mnemonic()} takes a {slot.kind.value} as {slot.name}; {what} is {item_type(item)}"
    )
    return cursor.wrong("type-mismatch", message, item.at)
