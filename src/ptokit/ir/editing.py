"""Helpers for passes: new ops, fresh names, renamed values, comments, and structural pages."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError, error
from ptokit.diagnostics.source import Span
from ptokit.ir.graph import inner_uses
from ptokit.ir.module import AnyOp, Binding, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.index import searched, walk
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.operands import STORED
from ptokit.isa.lang.traits import ALLOCATES, TERMINATOR
from ptokit.isa.model.tiles import TileType
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
    """Return an op of `page` on values by operand name; an operand without values is absent.

    AssertionError if a required input has no value.
    """
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
    """Return the names of the inputs that an op of the page must have."""
    inputs = (o for o in page.operands if o.role is Role.IN and not o.many)
    return frozenset(o.name for o in inputs if o.required)


@cache
def constant_page() -> type[Instr]:
    """Return the page of an op that defines a number; PtoError if no page does."""
    for page in searched("shapes", "constant"):
        if page.asm.shape == "constant":
            return page
    raise error("unknown-op", "a number cannot be a result", help="name a value")


def constant(value: Value, number: float, spans: dict[str, Span] | None = None) -> Op:
    """Return the op that defines a value as a number."""
    page = constant_page()
    return new_op(page, {}, {page.attrs[0].name: number}, results=[value], spans=spans)


def number_of(op: AnyOp) -> int | float | None:
    """Return the number that a constant defines; None for other ops, and for packed numbers."""
    if not isinstance(op, Op) or op.page.asm.shape != "constant" or not op.page.attrs:
        return None
    return op.choice if isinstance(op.choice, int | float) else None


@cache
def allocation(kind: Kind = Kind.TILE) -> type[Instr]:
    """Return the page whose result is a new tile, or a new convolution tile."""
    makers = (page for page in walk() if ALLOCATES in page.traits)
    return next(page for page in makers if page.results()[0].kind is kind)


def instance(
    page: type[Instr], given: Mapping[str, object], attrs: Mapping[str, object]
) -> tuple[Op, dict[Value, object]]:
    """Return an op on handles and numbers, and the handle or number of each of its values.

    `given` has handles and numbers by operand name.
    """
    env: dict[Value, object] = {}
    bound: dict[str, list[Value]] = {}
    for operand in page.operands:
        known = given.get(operand.name)
        every = cast("Sequence[object]", known) if operand.many and known else (known,)
        for number, thing in enumerate(every):
            if thing is not None:
                name = f"{operand.name}{number}" if operand.many else operand.name
                value = Value(name, type_of(operand, thing))
                env[value] = thing
                bound.setdefault(operand.name, []).append(value)
    return new_op(page, bound, attrs), env


def type_of(operand: Operand, given: object) -> Type:
    """Return the type of a value for an operand: a handle has its own, a number the operand's."""
    if not isinstance(given, int | float):
        return getattr(given, "type", Elided(""))
    if operand.kind is Kind.INDEX:
        return INDEX
    if operand.scalar is not None:
        return ScalarType(operand.scalar)
    return F32 if isinstance(given, float) else I64


DEEPEST = 100  # nested regions


def trimmed(lines: list[str]) -> tuple[str, ...]:
    """Return comments and blank lines ('') without the blank lines at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return tuple(lines)


def spaced(lines: Sequence[str], first: bool) -> tuple[str, ...]:
    """Return the lines with single blank lines, and none at the start of a block (`first`)."""
    found: list[str] = []
    for line in lines:
        if line or (found[-1] if found else not first):
            found.append(line)
    return tuple(found)


def terminator_of(op: Op) -> type[Instr]:
    """Return the page that ends the regions of `op`: the terminator of its dialect."""
    ends = (p for p in walk() if TERMINATOR in p.traits and len(p.operands) == 1)
    return next(p for p in ends if p.asm.dialect == op.page.asm.dialect)


def shaped(shape: str) -> type[Instr]:
    """Return the page whose text has this shape; PtoError if no page does."""
    for page in searched("shapes", shape):
        if page.asm.shape == shape:
            return page
    raise error("unknown-op", f"no instruction is a {shape!r}", help="write one block")


def is_tile(value: Value) -> bool:
    """Return whether the value is a tile, a convolution tile or a register."""
    return any(kind.accepts(value.type) for kind in STORED)


def is_loop(op: AnyOp) -> bool:
    """Return whether the op is a loop, that is, whether its region has arguments."""
    return bool(op.regions) and bool(op.regions[0].args)


def is_dynamic(value: Value) -> bool:
    """Return whether the valid region of the tile is known at run time only."""
    return isinstance(value.type, TileType) and not value.type.valid.static


def uses_of(op: AnyOp) -> list[Value]:
    """Return the values that an op uses, without those that only its regions use."""
    return list(op.uses) if isinstance(op, OpaqueOp) else [v for _, v in op.values()]


def replaced(binding: Binding, now: Mapping[Value, Value]) -> Binding:
    """Return the binding of an operand with each value replaced by its entry in `now`, if any."""
    if isinstance(binding, tuple):
        return tuple(now.get(v, v) for v in binding)
    return now.get(binding, binding)


def rewritten(block: Block, change: Callable[[AnyOp], Iterable[AnyOp]]) -> Block:
    """Return the block with each op replaced by `change(op)`; regions come before their op."""
    ops: list[AnyOp] = []
    for op in block.ops:
        if op.regions:
            op = replace(op, regions=[rewritten(region, change) for region in op.regions])
        ops += change(op)
    return replace(block, ops=ops)


def renamed(op: AnyOp, now: Mapping[Value, Value]) -> AnyOp:
    """Return the op with values replaced by `now`, in regions too; the op itself if none occurs."""
    if not now or not any(v in now for _, _, v in inner_uses(op)):
        return op
    regions = [replace(r, ops=[renamed(inner, now) for inner in r.ops]) for r in op.regions]
    if isinstance(op, OpaqueOp):
        return replace(op, uses=[now.get(v, v) for v in op.uses], regions=regions)
    operands = {name: replaced(bound, now) for name, bound in op.operands.items()}
    return replace(op, operands=operands, regions=regions)


@cache
def arithmetic_page(symbol: str, kind: Type) -> type[Instr] | None:
    """Return the page of an arithmetic operation on two numbers of a type, or None."""
    for page in searched("shapes", "same"):
        two = page.folds and page.asm.shape == "same" and len(page.ins()) == 2
        if two and page.operation() == symbol and page.ins()[0].accepts(kind):
            return page
    return None


class FreshNames:
    """A generator of names that no value of a function has."""

    def __init__(self, func: Func, nameless: Container[Value] = ()) -> None:
        self.taken = {v.name for v in func.named() if v not in nameless}
        self.last: dict[str, int] = {}  # the last number in use, by the name wanted

    def name(self, wanted: str) -> str:
        """Return `wanted`, or the first free name of `wanted_1`, `wanted_2`, ..."""
        name, count = wanted, self.last.get(wanted, 0)
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.last[wanted] = count
        self.taken.add(name)
        return name


def refuse(message: str, span: Span | None, help: str, *notes: Note) -> PtoError:
    """Return the error of a program that cannot be converted to another form."""
    return PtoError(Diagnostic("conversion", message, span, help=help, notes=notes))
