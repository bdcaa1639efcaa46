"""Overload resolution: the choice of the page that a call means, or the error if none fits.

The pages of a mnemonic are tried in order; the first whose operands fit in number and kind wins.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.diagnostics.printable import counted
from ptokit.isa.lang.asm import TYPED_LAST
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind
from ptokit.text.read.attributes import require_no_slip
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
    readings,
    spelled,
)
from ptokit.text.read.callreader import Call, Item
from ptokit.text.read.cursor import Cursor
from ptokit.text.read.signature import Signature, describe, signature
from ptokit.values.enumerations import Loc


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
