"""The generic form of MLIR: `"pto.op"(%a, %b) <{...}> ({...}) {...} : (T, U) -> V`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from ptokit.diagnostics.printable import counted
from ptokit.ir.editing import new_op
from ptokit.ir.module import Op, Value
from ptokit.ir.strings import symbol_name
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.traits import BRANCHES
from ptokit.isa.model.types import I1, INDEX, OpaqueType
from ptokit.text.read.attributes import Typed, bind_attributes, dictionary
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.blocks import with_successors
from ptokit.text.read.build import build, defined, expect_results
from ptokit.text.read.callreader import Call, Item, read_item, read_signature
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.regions import cases_in_text_order, check_regions
from ptokit.text.read.signature import Signature, signature

FEW = 4  # operands that may stand in any order
LISTED = r"(?:array<i(?:32|64):|\[)([^>\]]*)[>\]]"
TYPED = r":\s*\w+"
SHAPES_OF_CALLS = {"op", "part", "called", "configured", "worded"}
SEGMENTS = ("operandSegmentSizes", "operand_segment_sizes", "resultSegmentSizes")


def read_generic(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read the op in generic form; its name, the token at `at`, is before the cursor."""
    if forms[0].asm.shape == "switch" or any(f.asm.shape == "memref_part" for f in forms):
        raise UnknownOperandType  # attributes assign values to operands: keep the op as text
    call, labels = generic_call(p, at, branches=BRANCHES in forms[0].traits)
    if (listing := _listing(forms, call)) is not None:
        return _of_groups(p, listing, call, results, _with_listed(p, listing, call))
    segments = next((g for g in call.attrs if g.key in SEGMENTS), None)
    call.attrs = [g for g in call.attrs if g.key not in SEGMENTS]
    if BRANCHES in forms[0].traits:
        return with_successors(p, read_plain(p, forms[0], call, results), labels)
    if forms[0].asm.shape == "constant":
        return _constant(p, forms[0], call, results)
    if segments is not None:
        return _segmented(p, forms, call, results, _sizes(str(segments.value)))
    if SHAPES_OF_CALLS & {forms[0].asm.shape}:
        return build(p, forms, call, results)
    if forms[0].asm.shape == "call":
        op, attr = read_plain(p, forms[0], call, results), forms[0].attrs[0].name
        op.attrs[attr] = symbol_name(str(op.attrs[attr]))
        return op
    if forms[0].asm.shape == "cases":
        cases_in_text_order(p, op := read_plain(p, forms[0], call, results), at)
        return op
    return read_plain(p, forms[0], call, results)


def generic_call(p: Parser, at: int, *, branches: bool = False) -> tuple[Call, int]:
    """Read the parts after the name; also return the token where labels may stand."""
    call = Call(at, generic=True)
    opened = p.i
    p.expect("(")
    call.items += [read_item(p) for _ in p.elements(")", opened)]
    for item in (item for item in call.items if item.value is None):
        raise p.wrong("syntax-error", "operands in generic form are values, not numbers", item.at)
    labels = p.i
    if p.texts[labels] == "[" and branches:
        p.skip_balanced()
    if p.texts[p.i] == "<":
        opened = p.i
        p.i += 1
        call.attrs += dictionary(p)
        p.expect(">", opened)
    if p.texts[p.i] == "(":
        opened = p.i
        p.i += 1
        call.regions += [p.region([]) for _ in p.elements(")", opened)]
    if p.texts[p.i] == "{":
        call.attrs += dictionary(p)
    read_signature(p, call)
    return call, labels


def _listing(forms: Sequence[type[Instr]], call: Call) -> type[Instr] | None:
    """Return the page one of whose list operands is given by an attribute, as extents are."""
    keys = {g.key for g in call.attrs}
    of = (page for page in forms for slot in signature(page).ssa if slot.many and slot.key in keys)
    return next(of, None)


def _with_listed(p: Parser, page: type[Instr], call: Call) -> list[tuple[Operand, list[Item]]]:
    """Return the operands in the order of the page; an attribute lists some as numbers."""
    _agree(p, call)
    given = {g.key: g for g in call.attrs}
    call.attrs = [g for g in call.attrs if g.key not in SEGMENTS]
    groups: list[tuple[Operand, list[Item]]] = []
    rest = list(call.items)
    for slot in signature(page).ins:
        listed = given.get(slot.key or "") if slot.many else None
        if listed is None:
            count = len(rest) if slot.many else 1
            groups.append((slot, rest[:count]))
            del rest[:count]
            continue
        call.attrs.remove(listed)
        at = listed.value_at
        numbers = [p.names.literal(n, INDEX, at) for n in _sizes(str(listed.value))]
        groups.append((slot, [Item(at, number, None) for number in numbers]))
    if not rest and _fit(groups):
        return groups
    message = f"{page.mnemonic()}: no form takes these operands"
    raise p.wrong("operand-count", message, call.at)


def _sizes(text: str) -> list[int]:
    """Return the numbers of `array<i32: 1, 0, 2>` or `dense<[1, 0, 2]> : vector<3xi32>`."""
    listed = re.search(LISTED, text)
    return (
        [int(n) for n in re.findall(r"[0-9]{1,9}", re.sub(TYPED, "", listed[1]))] if listed else []
    )


def _segmented(
    p: Parser, forms: Sequence[type[Instr]], call: Call, results: list[Named], sizes: list[int]
) -> Op:
    """Read operands with segment sizes, one size for each operand of the page."""
    _agree(p, call)
    for page in forms:
        sig = signature(page)
        needed = [s for s in sig.ins if s.required]
        rest = [s for s in sig.ins if not s.required]
        orders = [[*sig.ins, *sig.outs], [*needed, *sig.outs, *rest], *_called(page, sig)]
        if results:
            orders.append(list(sig.ins))
        for order in orders:
            for counts in _counts(len(order), sizes) if sum(sizes) == len(call.items) else ():
                groups = _groups(order, call.items, counts)
                if _fit(groups):
                    return _of_groups(p, page, call, results, groups)
    message = f"{forms[0].mnemonic()}: segment sizes do not match the operands"
    raise p.wrong("operand-count", message, call.at)


def _called(page: type[Instr], sig: Signature) -> list[list[Operand]]:
    """Return the order of operands in the page's own syntax, if it orders all of them."""
    slots, order = [*sig.ins, *sig.outs], page.asm.order
    if any(s.name not in order for s in slots):
        return []
    return [sorted(slots, key=lambda s: order.index(s.name))]


def _counts(operands: int, sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the sizes, then sizes with zeros inserted: other versions have other operands."""
    if len(sizes) == operands:
        yield tuple(sizes)
    given = [size for size in sizes if size]
    for places in combinations(range(operands), len(given)):
        at = dict(zip(places, given, strict=True))
        yield tuple(at.get(place, 0) for place in range(operands))


def _groups(
    order: Sequence[Operand], items: list[Item], sizes: Sequence[int]
) -> list[tuple[Operand, list[Item]]]:
    groups: list[tuple[Operand, list[Item]]] = []
    at = 0
    for slot, size in zip(order, sizes, strict=True):
        groups.append((slot, items[at : at + size]))
        at += size
    return groups


def _fit(groups: list[tuple[Operand, list[Item]]]) -> bool:
    return all(
        (slot.many or len(items) == 1 or (not items and not slot.required))
        and all(i.value is not None and slot.accepts(i.value.type) for i in items)
        for slot, items in groups
    )


def _of_groups(
    p: Parser,
    page: type[Instr],
    call: Call,
    results: list[Named],
    groups: list[tuple[Operand, list[Item]]],
) -> Op:
    operands: dict[str, tuple[Value, ...]] = {}
    spans = {"": p.span(call.at)}
    for slot, items in groups:
        operands[slot.name] = values = tuple(i.value for i in items if i.value is not None)
        for value in values:
            p.names.serve(value, slot)
        if values:
            spans[slot.name] = p.span(items[0].at, items[-1].at)
    return _completed(p, new_op(page, operands, spans=spans), call, results)


def read_plain(p: Parser, page: type[Instr], call: Call, results: list[Named]) -> Op:
    """Read an op of irregular syntax: operands in page order, or in an order that types allow."""
    slots = signature(page).ins
    written = signature(page).outs
    if written and len(call.items) == len(slots) + len(written) <= FEW:
        _agree(p, call)
        for order in permutations((*slots, *written)):
            groups = _groups(order, call.items, [1] * len(order))
            if _fit(groups):
                return _of_groups(p, page, call, results, groups)
    items = [i for i in call.items if i.value is not None]
    values = [i.value for i in items if i.value is not None]
    fixed = [s for s in slots if not s.many]
    if len(values) < len(fixed) or (len(values) > len(fixed) and len(fixed) == len(slots)):
        message = f"{page.mnemonic()}: expected {counted(len(fixed), 'operand')}, got {len(values)}"
        raise p.wrong("operand-count", message, call.at)
    _agree(p, call)
    operands = {slot.name: [value] for slot, value in zip(fixed, values, strict=False)}
    spans = {"": p.span(call.at)}
    spans |= {slot.name: p.span(item.at) for slot, item in zip(fixed, items, strict=False)}
    if values[len(fixed) :]:
        name = next(s.name for s in slots if s.many)
        operands[name] = values[len(fixed) :]
        spans[name] = p.span(items[len(fixed)].at, items[-1].at)
    return _completed(p, new_op(page, operands, spans=spans), call, results)


def _constant(p: Parser, page: type[Instr], call: Call, results: list[Named]) -> Op:
    """Read a constant; the type of the result determines the meaning of its number."""
    (attr,) = page.attrs
    given = next((g for g in call.attrs if g.key == attr.key), None)
    number = (
        given.value.value if given and isinstance(given.value, Typed) else given and given.value
    )
    if given is None or not isinstance(number, int | float) or not call.results:
        return read_plain(p, page, call, results)
    kind = call.results[0][0]
    number = int(number) if kind == I1 else p.names.number(number, kind, given.value_at)
    call.attrs.remove(given)
    op = read_plain(p, page, call, results)
    op.attrs[attr.name], op.spans[attr.name] = number, p.span(given.value_at)
    return op


def _agree(p: Parser, call: Call) -> None:
    for item, (kind, at) in zip(call.items, call.types or [], strict=False):
        if item.value is not None:
            p.names.agree(item.value, kind, at)


def _completed(p: Parser, op: Op, call: Call, results: list[Named]) -> Op:
    """Bind attributes, regions and results to the op."""
    bind_attributes(p, op, call.attrs)
    op.regions = call.regions
    types = [kind for kind, _ in call.results or []]
    if results:
        expect_results(p, op.page, len(types), results)
    if op.page.results() and not types:
        message = f"{op.name}: missing result type after `->`"
        raise p.wrong("operand-count", message, call.at)
    wrong = op.page.below and any(not op.page.operand(n).accepts(v.type) for n, v in op.values())
    if wrong or any(isinstance(kind, OpaqueType) for kind in types):
        raise UnknownOperandType
    op.results = defined(p, op.page, types, results)
    check_regions(p, op, call.at)
    return op
