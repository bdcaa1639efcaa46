"""Operand binding: the assignment of written items to the operands of a page.

Operands with a default are filled before optional operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import F32
from ptokit.isa.lang.asm import LISTED_LAST
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import INDEX, Elided, Kind, OpaqueType, ScalarType, Type
from ptokit.text.read.attributes import Given, Typed, attribute_of, member
from ptokit.text.read.callreader import Call, Item
from ptokit.text.read.cursor import Cursor
from ptokit.text.read.signature import Signature
from ptokit.values.enumerations import Word

Pairs: TypeAlias = "list[tuple[Operand, list[Item]]]"
Fits: TypeAlias = "Callable[[Operand, Item], bool]"
Reading: TypeAlias = "tuple[tuple[tuple[Operand, ...], list[Item]], ...]"


class UnknownOperandType(Exception):
    """An operand has a type that ptokit does not know, so the op is kept as an opaque op."""


def of_another_level(kind: Type) -> bool:
    """Return whether no page takes a type: an opaque type, or a buffer of lowered text."""
    return isinstance(kind, OpaqueType) or bool(getattr(kind, "written", ""))


def missing(page: type[Instr], call: Call) -> list[str]:
    """Return the keys of required attributes that are not given."""
    needed = [a for a in page.attrs if a.required]
    if not needed:
        return []
    given = {a.name for g in call.attrs if (a := attribute_of(page, g.key)) is not None}
    return [a.key for a in needed if a.name not in given and a.key not in call.keyed]


def has_attribute(page: type[Instr], key: str) -> bool:
    return "." in key or attribute_of(page, key) is not None


def spelled(page: type[Instr], given: Given) -> bool:
    """Return whether a value for an attribute of the page is a member of its enumeration."""
    attr = attribute_of(page, given.key)
    if attr is None or not issubclass(attr.kind, Word):
        return True
    value = given.value.value if isinstance(given.value, Typed) else given.value
    return member(attr.kind, value) is not None


def as_operands(sig: Signature, call: Call) -> None:
    """Bind numbers among the attributes to operands of the page: `{offset = 7 : i32}`."""
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


def readings(sig: Signature, call: Call, results: int) -> Iterator[Reading]:
    """Yield the ways to read the items as operands, the most likely first."""
    if call.outs is not None:
        outs = sig.outs or (() if results else sig.results)
        late = tuple(s for s in sig.ins if s.name in sig.page.asm.outs)
        ins = tuple(s for s in parameter_last(sig, call.items) if s.name not in sig.page.asm.outs)
        yield (ins, call.items), ((*outs, *late), call.outs)
        return
    if results and results != len(sig.results) + len(sig.fresh):
        return
    if results or not sig.fresh:
        yield ((sig.ssa, call.items),)
        if len(sig.bare) < len(sig.ssa):  # an absent old value is undefined
            yield ((sig.bare, call.items),)
    if not results and sig.outs:
        if call.generic:
            needed = tuple(s for s in sig.ins if s.required)
            rest = tuple(s for s in sig.ins if not s.required)
            yield (((*sig.ins, *sig.outs), call.items),)
            yield (((*needed, *sig.outs, *rest), call.items),)
        yield (((*sig.outs, *sig.ins), call.items),)  # the destination first


def parameter_last(sig: Signature, items: list[Item]) -> tuple[Operand, ...]:
    """Return the inputs; a fix-pipe parameter comes last where the types of the items say so."""
    words = dict(sig.page.asm.words)
    late = [s.name for s in sig.ins if s.name in words and s.kind is Kind.SCALAR]
    moved = tuple(sorted(sig.ins, key=lambda s: s.name in late))
    names = [s.name for s in sig.ins]
    if not late or len(items) != len(moved) or [s.name for s in moved] == names:
        return sig.ins
    first, last = item_type(items[names.index(late[0])]), item_type(items[-1])
    if words[late[0]] == LISTED_LAST:
        older = (last == INDEX and first != INDEX) or (_of_64_bits(first) and not _of_64_bits(last))
        return sig.ins if older else moved
    return moved if first == INDEX and last != INDEX else sig.ins


def _of_64_bits(kind: Type | None) -> bool:
    """Return whether a type is an integer as wide as a parameter of the fix-pipe."""
    return isinstance(kind, ScalarType) and kind != INDEX and kind.bits == 64


def give_types(cursor: Cursor, sig: Signature, call: Call, results: int) -> None:
    """Assign the types after the colon to the operands, or to the results."""
    types = call.types or []
    items = call.items
    every = sorted((*items, *call.index), key=lambda i: i.at) if call.index else items
    if call.results is None and _only_results(sig, call, results):
        call.results = types
        return
    behind = types[len(sig.results) :]  # types of keyed operands: `addr = %a : T, i64`
    keyed = [item for group in call.keyed.values() for item in group]
    if len(behind) == 1 < len(keyed):  # one type for all valid extents
        keyed = [item for key, group in call.keyed.items() if key != "addr" for item in group]
        behind = behind * len(keyed)
    if call.results is None and not items and sig.results and len(keyed) == len(behind):
        call.results = types[: len(sig.results)]
        items, types = keyed, behind
    if sig.page.asm.uniform and results and not call.results:  # `: T` types results, too
        call.results = [t for t in types if Kind.TILE.accepts(t[0])][:1] * results
        if len(types) == 1:
            items = [i for i, s in zip(items, sig.ssa, strict=False) if s.kind is Kind.TILE]
            types = types * len(items)
    elif len(types) == 1 and not results and sig.fresh:  # one type for all tiles of a line
        kind, at = types[0]
        for item in items:
            if item.value is not None and Kind.TILE.accepts(item.value.type):
                item.type, item.type_at = kind, at
        return
    elif call.results is None and 0 < results == len(types) - len(items) and not call.index:
        types, call.results = types[: len(items)], types[len(items) :]  # `: T, U` includes results
    named = [item for item in items if item.value is not None]
    if len(types) < len(items) > len(named) == len(types):
        items = named  # a number has the type of its operand
    numbers = len(types) < len(items) > len(named) and sig.page.asm.typed is None
    if numbers or (len(types) > len(items) and len(types) != len(every)):
        message = f"{counted(len(every), 'operand')}, but {counted(len(types), 'type')}"
        raise cursor.wrong("operand-count", message, call.at)
    chosen = every if len(types) == len(every) else items
    for item, (kind, at) in zip(chosen, types, strict=False):
        item.type, item.type_at = kind, at


def _only_results(sig: Signature, call: Call, results: int) -> bool:
    """Return whether types without an arrow belong to the results."""
    types = call.types or []
    if not sig.results or len(types) != len(sig.results):
        return False
    if sig.page.asm.typed == () or not call.items:
        return True
    if sig.page.asm.typed is not None or not results:
        return False
    first = sig.ins[0].kind if sig.ins else Kind.ANY
    return not first.accepts(types[0][0]) and sig.results[0].kind.accepts(types[0][0])


def match(sig: Signature, reading: Reading, call: Call, fits: Fits | None = None) -> Pairs | None:
    """Return slots with their items, or None if the number does not match, or an item not `fits`.

    By default an item fits if the slot accepts its kind.
    """
    fits = fits or accepts
    pairs: Pairs = []
    brackets = sig.page.asm.brackets
    for slots, items in reading:
        places = slots
        if call.index or call.keyed or any(s.key for s in slots):
            named = _by_name(sig, slots, call, fits)
            if named is None:
                return None
            pairs += named
            taken = {s.name for s, _ in named}
            taken |= {s.name for s in slots if s.key or (call.index and s.name in brackets)}
            places = tuple(s for s in slots if s.name not in taken)
        placed = _placed(places, items, fits)
        if placed is None:
            return None
        pairs += placed
    return pairs


def _by_name(sig: Signature, slots: tuple[Operand, ...], call: Call, fits: Fits) -> Pairs | None:
    """Return the slots that keywords and brackets name, with their items; None on a mismatch."""
    pairs: Pairs = []
    for slot in slots:
        key = slot.key or slot.name
        if key in call.keyed:
            if len(call.keyed[key]) != 1 and not slot.many:
                return None
            pairs.append((slot, call.keyed[key]))
        elif slot.key and slot.required:
            return None
    keys = {s.key or s.name for s in (*sig.ins, *sig.outs)}
    if any(k not in keys and attribute_of(sig.page, k) is None for k in call.keyed):
        return None
    named = {s.name for s, _ in pairs}
    brackets = sig.page.asm.brackets
    bracketed = [s for s in slots if s.name in brackets and s.name not in named]
    if call.index and bracketed:
        given = len(call.index)
        if given > len(bracketed) or any(s.required for s in bracketed[given:]):
            return None
        pairs += [(s, [item]) for s, item in zip(bracketed, call.index, strict=False)]
    elif call.index and not brackets:
        return None
    return pairs if all(fits(s, i) for s, group in pairs for i in group) else None


def _placed(places: tuple[Operand, ...], items: list[Item], fits: Fits) -> Pairs | None:
    """Return slots with items by position, for the first choice of optional slots that matches."""
    for chosen in choices(places, len(items)):
        placed = place(chosen, items)
        if all(fits(slot, item) for slot, group in placed for item in group):
            return placed
    return None


def choices(places: tuple[Operand, ...], count: int) -> Iterator[Sequence[Operand]]:
    """Yield the slots that `count` items fill: those with a default before optional ones."""
    if count == len(places):
        yield places
        return
    spare = count - sum(1 for s in places if s.required and not s.many)
    if spare < 0:
        return
    if any(s.many for s in places):
        yield [s for s in places if s.required or s.many]
        return
    preferred = sorted((s for s in places if not s.required), key=lambda s: s.default is None)
    for some in combinations(preferred, spare):
        names = {s.name for s in some}
        yield [s for s in places if s.required or s.name in names]


def place(chosen: Sequence[Operand], items: list[Item]) -> Pairs:
    """Return slots with their items; a list takes all items that no other slot takes."""
    extra = len(items) - len(chosen) + 1
    pairs: Pairs = []
    at = 0
    for slot in chosen:
        step = extra if slot.many else 1
        pairs.append((slot, items[at : at + step]))
        at += step
    return pairs


def accepts(slot: Operand, item: Item) -> bool:
    kind = item_type(item)
    return slot.kind is Kind.ANY or slot.accepts(kind) or points(slot, kind)


def points(slot: Operand, kind: Type) -> bool:
    """Return whether a memref of no stated memory is the argument for a pointer."""
    written = kind.written if isinstance(kind, GlobalType) else ""
    return slot.kind is Kind.PTR and bool(written) and "address_space" not in written


def item_type(item: Item) -> Type:
    """Return the type of an item, as far as it is known."""
    if item.value is None:
        usual = F32 if isinstance(item.number, float) else INDEX
        return item.type if isinstance(item.type, ScalarType) else usual
    known = item.value.type
    return item.type if isinstance(known, Elided) and item.type is not None else known
