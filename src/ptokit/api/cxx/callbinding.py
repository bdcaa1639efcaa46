"""From the words of a call to a page with its operands and attributes: which form C++ means."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from ptokit.api.cxx.callforms import Form, forms
from ptokit.api.cxx.calloperands import (
    Chosen,
    Given,
    Number,
    PipeHandle,
    Placed,
    PlacedConv,
    PlacedGroup,
    PlacedPointer,
    PlacedTile,
    PlacedView,
    Reported,
)
from ptokit.api.cxx.callwords import IDLE
from ptokit.api.kernel.scalarkinds import signed_kind
from ptokit.diagnostics.diagnostic import error
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind, ScalarType, Type
from ptokit.isa.model.words import ShortF32
from ptokit.values.dtypes import DType, f32
from ptokit.values.enumerations import Word
from ptokit.values.formats import rounded
from ptokit.values.layouts import Shape

Value: TypeAlias = "Placed | int | float | tuple[Placed | int | float, ...]"
KINDS: dict[type, tuple[Kind, ...]] = {
    PlacedTile: (Kind.TILE, Kind.ANY, Kind.ENTRY),
    PlacedView: (Kind.GLOBAL, Kind.ANY, Kind.ENTRY),
    PlacedGroup: (Kind.GLOBAL,),
    PlacedConv: (Kind.CONV, Kind.ANY),
    PlacedPointer: (Kind.PTR, Kind.ANY),
    Reported: (Kind.TILE,),
    PipeHandle: (Kind.HANDLE,),
    Number: (Kind.INDEX, Kind.SCALAR),
}
NEUTRAL = "DEFAULT"  # a word that chooses what a page does anyway


@dataclass(eq=False, slots=True)
class CxxCall:
    """An instruction on operands that are data; calls with the same words are one object."""

    page: type[Instr]
    operands: Mapping[str, Value]
    attrs: Mapping[str, object]
    unlike: str = ""  # the types that the kernel gives, where chips move others
    stated: Mapping[str, Value] | None = None  # the operands that it gives there


def bind(name: str, values: Sequence[Given], target: Target) -> CxxCall:
    """Return the call that a C++ name and its values mean; PtoError where no form takes them."""
    reasons: list[str] = []
    each = (_fitted(form, values, reasons) for form in forms().get(name, ()))
    found = [call for call in each if call is not None]
    if found:
        return found[0] if len(found) == 1 else min(found, key=partial(_foreign, target=target))
    given = ", ".join(map(shown, values)) or "nothing"
    if name not in forms():
        raise error("unknown-op", f"unknown instruction {name}", seen=f"it is called with {given}")
    raise error(
        "operand-count" if len(reasons) == 1 else "operand-kind",
        f"{name}: no overload takes these arguments",
        seen=f"{given}; {'; '.join(dict.fromkeys(reasons))}",
        help=f"`ptokit explain {name.lower()}` lists the forms",
    )


def _foreign(call: CxxCall, target: Target) -> tuple[bool, int, int]:
    """Say how far a form is from what the target has: for these memories, then these types."""
    types = {name: getattr(value, "type", UNKNOWN) for name, value in call.operands.items()}
    env = environment(call.page, types, call.attrs, target)
    wrong = [rule.slug for rule in call.page.rules_on(target) if rule.holds(env) is False]
    return not call.page.exists_on(target), wrong.count("location"), wrong.count("element-type")


def as_moved(call: CxxCall, target: Target) -> CxxCall:
    """Return the call on the types that the chip moves, where headers assert that they differ."""
    if call.page.moved_types is None:
        return call
    kinds = (PlacedTile, PlacedView, PlacedConv)
    placed = {n: v for n, v in call.operands.items() if isinstance(v, kinds)}
    types = {n: v.type for n, v in placed.items()}
    numbers = {n: v for n, v in call.operands.items() if isinstance(v, int | float)}
    others = call.page.moved_types({**call.attrs, **numbers, **types}, target)
    if not others:
        return call
    operands, attrs = dict(call.operands), dict(call.attrs)
    for name, kind in others.items():
        if name in types:
            operands[name] = placed[name]._replace(type=kind)
        else:
            attrs[name] = kind
    differ = [
        name
        for name, kind in others.items()
        if name in types
        and (name != "src" or not isinstance(types["dst"], ConvTileType))
        and not _as_large(types[name], kind, alone=len(others) == 1)
    ]
    if all(others[n] == types[n] or _is_half(types[n], others[n]) for n in differ):
        differ = []
    given = " and ".join(f"{name} is {types[name]}" for name in differ)
    return CxxCall(call.page, operands, attrs, given, call.operands)


def shortening(call: CxxCall, short: ShortF32 | None) -> CxxCall:
    """Return the call of a product in the mode of the core, which is about f32 alone."""
    attr = next((a for a in call.page.attrs if a.kind is ShortF32), None)
    tiles = (v for v in call.operands.values() if isinstance(v, PlacedTile))
    if attr is None or short is None or any(tile.type.dtype is not f32 for tile in tiles):
        return call
    return replace(call, attrs={**call.attrs, attr.name: short})


def _as_large(one: Type, other: Type, *, alone: bool) -> bool:
    """True where only the elements of a tile differ, or `alone` the strides of a view."""
    if isinstance(one, TileType) and isinstance(other, TileType):
        return one.dtype != other.dtype and replace(one, dtype=other.dtype) == other
    if not (alone and isinstance(one, GlobalType) and isinstance(other, GlobalType)):
        return False
    return replace(one, stride=other.stride) == other


def _is_half(one: Type, whole: Type) -> bool:
    """True of the tile of each vector core where both receive a half: headers want it so."""
    if not (isinstance(one, TileType) and isinstance(whole, TileType) and one.valid.static):
        return False
    (rows, cols), (r, c) = one.valid, (one.rows, one.cols)
    down = replace(one, rows=2 * r, valid=Shape(2 * (rows or 0), cols))
    across = replace(one, cols=2 * c, valid=Shape(rows, 2 * (cols or 0)))
    return whole in (down, across)


def shown(value: Given) -> str:
    """Say what an argument is."""
    match value:
        case PlacedTile() | PlacedView() | PlacedConv():
            return str(value.type)
        case Number():
            return str(value.value)
        case Chosen():
            return f"{value.enumeration}::{value.label}"
        case DType():
            return str(value)
        case PlacedPointer():
            return f"a pointer to {value.dtype}"
        case Reported():
            return f"{value.length} numbers of type {value.dtype}"
        case PipeHandle():
            return "a FIFO"
        case PlacedGroup():
            return f"a group of {len(value.views)} views"


def _fitted(form: Form, values: Sequence[Given], reasons: list[str]) -> CxxCall | None:
    """Return the call in this form, None with a reason where it does not fit."""
    page = form.page
    words = [v for v in values if isinstance(v, Chosen | DType) or _chooses(v)]
    operands = [v for v in values if not any(v is word for word in words)]
    try:
        roots = [v.root for v in operands if isinstance(v, PlacedGroup)]
        attrs = _attributes(form, words, roots)
        bound = _assigned(form, operands)
        found = dict(_operands(form, bound))
        return CxxCall(page, found | {twin: found[one] for one, twin in form.twins}, attrs)
    except Misfit as reason:
        reasons.append(f"{page.form or page.summary().rstrip('.')}: {reason}")
        return None


class Misfit(Exception):
    """A form does not take these arguments: why."""


def _chooses(value: Given) -> bool:
    """True of a number that chooses: one of the template, or a bool."""
    return isinstance(value, Number) and (value.template or value.boolean)


def _attributes(form: Form, words: Sequence[Given], roots: Sequence[int]) -> dict[str, object]:
    """Return the attributes that words choose; Misfit where one is of another form.

    `roots` are the numbers of the roots of groups: an attribute is the root's number.
    """
    numbered = (a.name for a in form.page.attrs if a.required and a.kind is int)
    found: dict[str, object] = dict(zip(numbered, roots, strict=False))
    left = list[Given](words)
    numbers = [w for w in left if isinstance(w, Number)]
    for number, given in zip(form.numbers, numbers, strict=False):
        if given.value != number:
            raise Misfit(f"its first template argument is {number}")
        left.remove(given)
    if len(numbers) < len(form.numbers):
        raise Misfit(f"its first template argument is {form.numbers[0]}")
    for choice in form.choices:
        word = next(
            (w for w in left if isinstance(w, Chosen) and w.enumeration == choice.enumeration), None
        )
        texts = None if word is None else choice.attributes(word.label)
        if word is None or texts is None:
            if not choice.label.groups and not choice.sets:
                raise Misfit(f"{choice.enumeration}::{choice.label.pattern} is missing")
            if word is not None:
                raise Misfit(f"it has no {choice.enumeration}::{word.label}")
            continue
        left.remove(word)
        attrs = {a.name: a for a in form.page.attrs}
        found |= {name: _parsed(attrs[name], text) for name, text in texts.items()}
        if not texts:
            found |= _of_constant(form, word)
    free = list(form.attrs)
    for word in left:
        attr = _attribute_of(free, word)
        if attr is None:
            if _idle(word):
                continue
            raise Misfit(f"nothing takes {shown(word)}")
        found[attr.name] = _chosen(attr, word)
        free = [a for a in free if a is not attr]
    for attr in form.page.attrs:
        if attr.name in form.left_out and attr.required and issubclass(attr.kind, Word):
            found.setdefault(attr.name, next(iter(attr.kind)))
    lacking = [a.name for a in form.page.attrs if a.required and a.name not in found]
    if lacking:
        raise Misfit(f"{', '.join(lacking)} is missing")
    return found


def _of_constant(form: Form, word: Chosen) -> Iterator[tuple[str, object]]:
    """Yield the attribute that says what a word does which the form states."""
    for attr in form.page.attrs:
        if issubclass(attr.kind, Word) and attr.kind.cpp_type == word.enumeration:
            member = attr.kind.named(word.label)
            yield from ((attr.name, member),) if member is not None else ()


def _idle(word: Given) -> bool:
    """True of a word that changes nothing where a page has no attribute for it."""
    if isinstance(word, Chosen):
        return word.label == NEUTRAL or word.enumeration in IDLE
    return isinstance(word, DType)


def _parsed(attr: Attr, text: str) -> object:
    """Return the value of an attribute that text says."""
    if issubclass(attr.kind, Word):
        member = attr.kind.named(text)
        if member is None:
            raise Misfit(f"{attr.name} has no {text}")
        return member
    return text == "true" if attr.kind is bool else int(text) if attr.kind is int else text


def _attribute_of(free: Iterable[Attr], word: Given) -> Attr | None:
    """Return the attribute that a word is for."""
    for attr in free:
        if not issubclass(attr.kind, Word):
            if attr.kind is str and isinstance(word, DType):
                return attr
            if attr.kind in (bool, int) and isinstance(word, Number):
                return attr
        elif isinstance(word, Chosen):
            if _same(attr.kind.cpp_type, word.enumeration) and attr.kind.named(word.label):
                return attr
        elif isinstance(word, Number) and not attr.kind.cpp_type:
            return attr
    if isinstance(word, Chosen):  # C++ names numbers that a page only counts
        return next((a for a in free if a.kind is int), None)
    return None


def _same(known: str, given: str) -> bool:
    """True of one enumeration by two names: a scalar form may have its own."""
    known = known.rpartition("::")[2]
    return (
        known == given
        or known == given.replace("SAlgorithm", "Algorithm")
        or ((known, given) == ("RecipAlgorithm", "DivAlgorithm"))
    )


def _chosen(attr: Attr, word: Given) -> object:
    if issubclass(attr.kind, Word):
        label = word.label if isinstance(word, Chosen) else str(getattr(word, "value", word))
        found = attr.kind.named(label)
        if found is None:
            raise Misfit(f"{attr.name} has no {label}")
        return found
    if attr.kind is str:
        return getattr(word, "cpp", str(word))
    number = word.number if isinstance(word, Chosen) else getattr(word, "value", 0)
    return bool(number) if attr.kind is bool else number


def _assigned(form: Form, values: Sequence[Given]) -> list[tuple[Operand, Given]]:
    """Give each value its operand; what is optional is left out where it does not fit."""
    reported = [n for n, v in enumerate(values) if isinstance(v, Reported)]
    order = list(form.operands)
    if form.reported is not None and reported:
        order.insert(reported[0], form.reported)
    elif reported:
        values = [*_spread(values)]
    found = _in_order(order, values)
    if found is None:
        needed = [o.name for o in order if o.required]
        raise Misfit(f"it takes ({', '.join(o.name for o in order)}), {len(needed)} at least")
    return found


def _spread(values: Sequence[Given]) -> Iterator[Given]:
    """Yield values with the numbers of an array in its place."""
    for value in values:
        if isinstance(value, Reported):
            yield from (Number(number, False, False) for number in value.numbers())
        else:
            yield value


def _in_order(
    order: Sequence[Operand], values: Sequence[Given]
) -> list[tuple[Operand, Given]] | None:
    if not order:
        return None if values else []
    first, rest = order[0], order[1:]
    if not first.required and first.kind is Kind.SCALAR:  # indices behind it come first
        numbers = sum(isinstance(v, Number) for v in values)
        if numbers <= sum(o.kind in (Kind.SCALAR, Kind.INDEX) for o in rest):
            return _in_order(rest, values)
    if values and _takes(first, values[0]):
        found = _in_order(rest, values[1:])
        if found is not None:
            return [(first, values[0]), *found]
    if not first.required or first.many:
        return _in_order(rest, values)
    return None


def _takes(operand: Operand, value: Given) -> bool:
    """True where an operand is of the kind of a value; groups are for lists of views alone."""
    alike = operand.kind in KINDS.get(type(value), ())
    return alike and (operand.many or not isinstance(value, PlacedGroup))


def _operands(form: Form, bound: Sequence[tuple[Operand, Given]]) -> Iterator[tuple[str, Value]]:
    tiles = ((o, v) for o, v in bound if isinstance(v, PlacedTile | PlacedConv))
    dtypes = {o.name: v.type.dtype for o, v in tiles}
    for operand, value in bound:
        if isinstance(value, Number):
            kind = signed_kind(form.page, operand, dtypes)
            yield operand.name, _number(operand, value.value, kind)
        elif isinstance(value, PlacedGroup):
            yield operand.name, value.views
        else:
            assert not isinstance(value, Chosen | DType)
            yield operand.name, value


def _number(operand: Operand, value: float, kind: ScalarType) -> int | float:
    """Return a number as its operand has it: C++ converts to the type of the parameter."""
    if operand.kind is Kind.INDEX:
        return int(value)
    if kind.dtype is None:
        return int(value)
    if kind.is_float:
        return rounded(float(value), kind.dtype) if kind.bits < 32 else float(value)
    if isinstance(value, float) and operand.scalar is not None and kind.bits == 64:
        return int.from_bytes(struct.pack("f", value), "little")  # a scale is the bits of a float
    return _wrapped(int(value), kind.bits, signed=kind.dtype.signed)


def _wrapped(value: int, bits: int, *, signed: bool) -> int:
    whole = value & ((1 << bits) - 1)
    return whole - (1 << bits) if signed and whole >> (bits - 1) else whole
