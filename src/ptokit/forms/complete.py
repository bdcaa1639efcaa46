"""Inference of omitted types, from bound arrays and from the rules of pages for outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import call_error
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.instr import Like
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ALIASES, TileType
from ptokit.isa.model.types import INDEX, Elided, Kind, ScalarType, Type, kind_of_elided
from ptokit.isa.model.usual import rounded_up
from ptokit.values.arrays import Number
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.enumerations import VEC, Loc
from ptokit.values.host import AnyArray, is_of
from ptokit.values.layouts import ND, Shape


def dtype_of_array(array: AnyArray) -> DType | None:
    """Return the element type of an array, or None if ptokit has no such type."""
    return next((d for d in DTYPES if is_of(array, d)), None)


def enclosing(
    loc: Loc, dtype: DType, rows: int, cols: int, target: Target, model: TileType | None = None
) -> TileType:
    """Return a legal tile type at `loc` with this valid region: whole boxes and lines around it.

    `model` gives layout, fractal and pad if it has the same location.
    """
    layout, fractal = target.alias(loc) if loc in ALIASES else (ND, 512)
    kind = TileType(loc, dtype, rows, cols, Shape(rows, cols), layout, fractal)
    if model is not None and model.loc is loc:
        kind = replace(kind, layout=model.layout, fractal=model.fractal, pad=model.pad)
    return rounded_up(kind)


def complete(
    func: Func,
    target: Target,
    arrays: Mapping[str, object],
    numbers: Mapping[Value, Number],
    types: Mapping[str, Type],
) -> None:
    """Complete the types of arguments and outputs of `func`, in place."""
    for arg in func.args:
        given = arrays.get(arg.name)
        if isinstance(arg.type, TileType):
            arg.type = _sized(arg.type, given)
        if arg.name in types:
            arg.type = _stated(arg, types[arg.name])
        elif not isinstance(arg.type, Elided):
            continue
        elif arg in numbers:
            arg.type = INDEX if isinstance(given, int) else ScalarType("f32")
        elif given is not None and Kind.TILE.accepts(arg.type) and getattr(given, "ndim", 0) == 2:
            arg.type = _holding(cast(AnyArray, given), _location(func, arg), target) or arg.type
        _require_uses(func, arg)
    if types or any(func.elided()):
        _block(func.body, Facts(target, dict(numbers)), types)


def _require_uses(func: Func, arg: Value) -> None:
    """Raise PtoError if an argument's inferred type does not fit one of its uses."""
    ops = (op for op in func.body.walk() if isinstance(op, Op))
    uses = [(op, name) for op in ops for name, value in op.values() if value is arg]
    for op, name in uses:
        operand, kind = op.page.operand(name), arg.type
        whole = operand.scalar is not None and not ScalarType(operand.scalar).is_float
        broken = isinstance(kind, ScalarType) and kind.is_float and whole
        if broken or not operand.kind.accepts(kind):
            message = f"%{arg.name}: type mismatch of the given argument"
            rule = f"{name} of {op.name} takes {operand.scalar or operand.kind_name}"
            seen = f"the argument is {kind}"
            raise call_error("argument-type", message, op.span, rule=rule, seen=seen)


def _sized(kind: TileType, given: object) -> TileType:
    """Return an argument's type with the array's extents as its dynamic valid region."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if kind.valid.static or len(shape) != 2:
        return kind
    rows, cols = (n if m is None else m for n, m in zip(shape, kind.valid, strict=True))
    return replace(kind, valid=Shape(rows, cols))


def _stated(value: Value, kind: Type) -> Type:
    """Return the type given for a value; PtoError if it contradicts the value's own type."""
    own = value.type
    if isinstance(own, Elided):
        wanted = kind_of_elided(own.spelling)
        fits = (Kind.SCALAR if wanted is Kind.INDEX else wanted).accepts(kind)
        rule = f"%{value.name} is a {wanted.value}"
    else:
        fits, rule = kind == own, f"%{value.name} is {own}"
    if fits:
        return kind
    message = f"%{value.name}: type mismatch with the given type"
    seen = f"the given type is {kind}"
    raise call_error("argument-type", message, value.span, rule=rule, seen=seen)


def _holding(array: AnyArray, loc: Loc, target: Target) -> TileType | None:
    """Return the type of a tile for an array."""
    dtype = dtype_of_array(array)
    rows, cols = array.shape
    return None if dtype is None else enclosing(loc, dtype, rows, cols, target)


def _location(func: Func, value: Value) -> Loc:
    """Return the location that an operand requires of `value`; vec if none does."""
    for op in func.body.walk():
        if isinstance(op, Op):
            for name, used in op.values():
                fixed = op.page.operand(name).fixed_loc
                if used is value and fixed is not None:
                    return fixed
    return VEC


def _block(block: Block, facts: Facts, types: Mapping[str, Type]) -> None:
    for op in block.ops:
        if not isinstance(op, Op):
            continue
        for name, value in _outputs(op):
            if value.name in types:
                value.type = _stated(value, types[value.name])
            elif isinstance(value.type, Elided):
                value.type = _like(op, name, facts) or value.type
        facts.learn(op, facts.environment(op))
        for result in op.results:  # operands may determine the type of a handle
            if isinstance(result.type, Elided):
                result.type = facts.types.get(result, result.type)
        for region in op.regions:
            _block(region, facts, types)


def _outputs(op: Op) -> Iterator[tuple[str, Value]]:
    for position, operand in enumerate(op.page.outs()):
        bound = op.bound(operand.name) or tuple(op.results[position : position + 1])
        if bound:
            yield operand.name, bound[0]


def _like(op: Op, name: str, facts: Facts) -> TileType | None:
    like: Like | None = op.page.elided.get(name)
    if like is None or like.model is None:
        return None
    env = facts.environment(op)
    model, rows, cols = like.model.eval(env), like.rows.eval(env), like.cols.eval(env)
    if not (isinstance(model, TileType) and isinstance(rows, int) and isinstance(cols, int)):
        return None
    if like.whole:
        return replace(model, valid=Shape(rows, cols))
    dtype = like.dtype(model.dtype) if like.dtype else model.dtype
    if rows <= 0 or cols <= 0:
        return None
    return enclosing(like.loc or model.loc, dtype, rows, cols, facts.target, model)
