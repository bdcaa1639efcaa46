"""The builder: from a page, operands and attributes by name to an op, whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ptokit.diagnostics.diagnostic import error
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Block, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.types import I64, INDEX, Elided, Kind, ScalarType, Type

F32 = ScalarType("f32")


def new_op(
    page: type[Instr],
    operands: Mapping[str, Sequence[Value]],
    attrs: Mapping[str, object] | None = None,
    *,
    results: Sequence[Value] = (),
    regions: Sequence[Block] = (),
    spans: dict[str, Span] | None = None,
) -> Op:
    """The op of `page` on these values; an operand without any is absent."""
    bound = {
        name: tuple(values) if page.operand(name).many else values[0]
        for name, values in operands.items()
        if values
    }
    lacking = _needed(page) - bound.keys()
    assert not lacking, f"{page.mnemonic()} without {lacking}"
    return Op(page, bound, dict(attrs or {}), [*results], [*regions], spans or {})


@cache
def _needed(page: type[Instr]) -> frozenset[str]:
    """The inputs that it cannot do without."""
    inputs = (o for o in page.operands if o.role is Role.IN and not o.many)
    return frozenset(o.name for o in inputs if o.required)


@cache
def constant_page() -> type[Instr]:
    """The page of an op that is a number; without one, numbers stand in no text."""
    for page in walk():
        if page.asm.shape == "constant":
            return page
    raise error("unknown-op", "a number cannot be a result", help="name a value")


@cache
def allocation(kind: Kind = Kind.TILE) -> type[Instr]:
    """The page whose result is a new tile, or a new convolution tile."""
    makers = (page for page in walk() if ALLOCATES in page.traits)
    return next(page for page in makers if page.results()[0].kind is kind)


def instance(
    page: type[Instr], given: Mapping[str, Any], attrs: Mapping[str, object]
) -> tuple[Op, dict[Value, Any]]:  # Any: handles and numbers
    """An op on handles and numbers by operand name, and what its values stand for."""
    env: dict[Value, Any] = {}
    bound: dict[str, list[Value]] = {}
    for operand in page.operands:
        known = given.get(operand.name)
        for number, thing in enumerate(known if operand.many and known else (known,)):
            if thing is not None:
                name = f"{operand.name}{number}" if operand.many else operand.name
                value = Value(name, type_of(operand, thing))
                env[value] = thing
                bound.setdefault(operand.name, []).append(value)
    return new_op(page, bound, attrs), env


def type_of(operand: Operand, given: Any) -> Type:  # Any: as above
    """The type of what an operand is given: a handle's own, a number's as the operand has it."""
    if not isinstance(given, int | float):
        return getattr(given, "type", Elided(""))
    if operand.kind is Kind.INDEX:
        return INDEX
    if operand.scalar is not None:
        return ScalarType(operand.scalar)
    return F32 if isinstance(given, float) else I64
