"""Binding of host arrays and numbers to arguments, with inference of their types."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, call_error, error
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.forms.complete import complete
from ptokit.forms.dps import executed_form
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Role
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, MultiTileType, TileType
from ptokit.isa.model.types import I1, Elided, Kind, PtrType, ScalarType, Type, kind_of_elided
from ptokit.isa.pages.grid import Query, launch_query
from ptokit.machine.arguments import Bound, all_known, mismatch
from ptokit.machine.slotnumber import whole_range
from ptokit.values.formats import rounded
from ptokit.values.scalars import wrapped

LARGEST_FLOAT = int(sys.float_info.max)


def require_named(names: Iterable[str], arrays: Iterable[str]) -> None:
    """Raise PtoError if a given name is not the name of an argument."""
    known = dict.fromkeys(names)
    for name in arrays:
        if name not in known:
            takes, near = f"it takes {', '.join(known) or 'none'}", did_you_mean(name, known)
            message = f"unknown argument {name!r}"
            raise call_error("unknown-argument", message, seen=takes, help=near)


@gc_disabled()
def bind(
    func: Func,
    arrays: Mapping[str, object],
    target: Target,
    types: Mapping[str, Type],
    slots: bool = False,
) -> Bound:
    """Bind arguments by name; PtoError names the first missing, unknown or mismatched argument."""
    body, blocks = deepcopy((func.body, func.blocks))
    func = replace(func, body=body, blocks=blocks)
    require_named([arg.name for arg in func.args], arrays)
    for arg, page in launch_arguments(func, arrays):
        func.args.remove(arg)
        func.body.ops.insert(0, Op(page, results=[arg], spans={"": arg.span} if arg.span else {}))
    numbers = dict(_numbers(func, arrays))
    open = {v.name for v, n in numbers.items() if slots and isinstance(n, int)}
    numbers = {v: n for v, n in numbers.items() if v.name not in open}
    complete(func, target, arrays, numbers, types)
    _require(func, arrays)
    _require_types(func)
    converted = executed_form(func, numbers)
    free = tuple(v for v in converted.args if v.name in open)
    written = facts_of(converted).written_args
    return Bound(converted, arrays, _by_name(converted, numbers), written, free)


def named_arguments(
    func: Func, given: Sequence[object], arrays: Mapping[str, object]
) -> Mapping[str, object]:
    """Return all arguments by name, given some by position in declaration order.

    PtoError if there are too many, or one is given both ways.
    """
    if not given:
        return arrays
    names = [arg.name for arg in func.args]
    if len(given) > len(names):
        seen = f"it takes {len(names)}: {', '.join(names)}" if names else "it takes none"
        many = "1 argument is given" if len(given) == 1 else f"{len(given)} arguments are given"
        raise call_error("unknown-argument", many, seen=seen)
    first = dict(zip(names, given, strict=False))
    for place, name in enumerate(first):
        if name in arrays:
            raise call_error(
                "argument-twice",
                f"%{name}: {CATALOGUE['argument-twice'].title}",
                func.args[place].span,
                seen=f"it is argument {place + 1} of {len(given)} given by position, and {name}=",
                help="remove one of them",
            )
    return first | dict(arrays)


def launch_arguments(func: Func, arrays: Mapping[str, object]) -> list[tuple[Value, type[Query]]]:
    """Return the arguments that the launch supplies, with the query that replaces each.

    These are scalar arguments with the name of a launch query that the caller did not give.
    """
    return [
        (arg, page)
        for arg in func.args
        if arrays.get(arg.name) is None
        and isinstance(arg.type, ScalarType)
        and not arg.type.is_float
        and (page := launch_query(arg.name)) is not None
    ]


def _by_name(func: Func, numbers: Mapping[Value, float]) -> dict[Value, float]:
    named = {value.name: number for value, number in numbers.items()}
    return {arg: named[arg.name] for arg in func.args if arg.name in named}


def _numbers(func: Func, arrays: Mapping[str, object]) -> Iterator[tuple[Value, int | float]]:
    """Yield the scalar arguments with their values."""
    for arg in func.args:
        given = arrays.get(arg.name)
        if given is None or (isinstance(arg.type, Elided) and not isinstance(given, int | float)):
            continue
        if not Kind.SCALAR.accepts(arg.type):
            if isinstance(arg.type, Elided):
                rule = f"%{arg.name} is a {kind_of_elided(arg.type.spelling).value}"
                raise mismatch(arg, rule, f"given the number {given}")
            continue
        number = _number(arg, given)
        _require_range(arg, number)
        if isinstance(arg.type, ScalarType) and arg.type.is_float:
            yield arg, rounded(number, arg.type.element)
        else:
            yield arg, wrapped(number, 64) if isinstance(number, int) else number


def _number(arg: Value, given: object) -> int | float:
    """Return a Python or NumPy number as the argument's type accepts it."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    item: Callable[[], object] | None = getattr(given, "item", None)
    number = given if item is None or shape else item()
    whole = isinstance(arg.type, ScalarType) and not arg.type.is_float
    rule = f"%{arg.name} is a number of type {arg.type}"
    fits = arg.type != I1 or number in (-1, 0, 1)  # -1 has all bits set
    if (isinstance(number, int) and fits) or (isinstance(number, float) and not whole):
        return number
    one = str(number) if isinstance(number, int | float) else type(given).__name__
    seen = f"given {one} of shape {shape}" if shape else f"given {one}"
    wanted = "true or false, or 1 or 0" if arg.type == I1 else "an integer"
    raise mismatch(arg, rule, seen, f"give {wanted if whole else 'a number'}")


def _require_range(arg: Value, given: float) -> None:
    """Raise an error if a number is out of range for its type."""
    holds = whole_range(arg.type)
    low, high = holds or (-LARGEST_FLOAT, LARGEST_FLOAT)
    if low <= given <= high or (holds is None and isinstance(given, float)):
        return
    rule = f"%{arg.name} is a number of type {arg.type}"
    help = f"its range is {low} to {high}" if holds else "write a float"
    raise mismatch(arg, rule, f"given {given}", help)


def _require(func: Func, arrays: Mapping[str, object]) -> None:
    given = all(arrays.get(arg.name) is not None for arg in func.args)
    outs = () if given else {*facts_of(func).written_args, *_outputs(func), *_workspaces(func)}
    for arg in func.args:
        inner = isinstance(arg.type, PtrType) and arg.type.space != "gm"
        if inner or isinstance(arg.type, MultiTileType):
            help = "define it inside the function, from a tile or an address"
            seen = f"its type is {arg.type}"
            raise call_error(
                "argument-type",
                f"%{arg.name}: {CATALOGUE['argument-type'].title}",
                arg.span,
                seen=seen,
                help=help,
            )
        if isinstance(arg.type, TileType) and not arg.type.valid.static:
            raise _open_region(arg, arrays.get(arg.name) is not None)
        if arrays.get(arg.name) is not None:
            continue
        if arg in outs and _sized(arg.type):
            continue
        raise call_error(
            "missing-argument",
            f"%{arg.name}: {CATALOGUE['missing-argument'].title}",
            arg.span,
            seen=f"its type is {arg.type or 'not known'}",
            help=_advice(arg),
        )


def _advice(arg: Value) -> str:
    """Return what the caller should give for an argument."""
    if Kind.SCALAR.accepts(arg.type):
        return f"give {arg.name}=NUMBER"
    extents = ":512" if isinstance(arg.type, PtrType) else ""
    return f"give {arg.name}=FILE.npy, {arg.name}=FILE.bin or {arg.name}=zeros{extents}"


def _open_region(arg: Value, given: bool) -> PtoError:
    """Return the error for an argument whose valid region no array determines."""
    return call_error(
        "argument-type" if given else "missing-argument",
        f"%{arg.name}: {CATALOGUE['argument-type' if given else 'missing-argument'].title}",
        arg.span,
        rule=f"the array of %{arg.name} has the shape of its valid region",
        seen=f"its type is {arg.type}",
        help=f"give {arg.name} an array of two dimensions, or write the valid region in the type",
    )


def _require_types(func: Func) -> None:
    """Raise an error if an argument or a defined tile still has no type."""
    for value in func.elided():  # unknown ops are reported by their own error
        raise error(
            "type-omitted",
            f"%{value.name}: {CATALOGUE['type-omitted'].title}",
            value.span,
            help=f"write the type out, or give --type {value.name}=TYPE",
        )


def _sized(kind: Type) -> bool:
    """Return whether an output needs no array, because its type or views determine its size."""
    static = isinstance(kind, GlobalType) and all_known(kind.shape) is not None
    return static or isinstance(kind, PtrType | TileType | ConvTileType)


def _workspaces(func: Func) -> set[Value]:
    """Return the pointers whose content the function never reads, which need no array.

    A handle on the memory of a pointer is not a read; an instruction that reads through it is.
    """
    read = set[Value]()
    for op in reversed(func.ops):
        if isinstance(op, OpaqueOp):
            read |= {*op.uses}
        elif read & {*op.results} or not _makes_handles(op):
            read |= {v for name, v in op.values() if op.page.operand(name).role is not Role.SCRATCH}
    return {arg for arg in func.args if isinstance(arg.type, PtrType)} - read


def _makes_handles(op: Op) -> bool:
    """Return whether the op only defines handles on global memory."""
    kinds = {operand.kind for operand in op.page.results()}
    return bool(kinds) and kinds <= {Kind.PTR, Kind.GLOBAL}


def _outputs(func: Func) -> Iterator[Value]:
    """Yield the operands that instructions write or redirect, which need not be given."""
    for op in func.ops:
        if isinstance(op, Op):
            yield from (v for operand in op.page.outs() for v in op.bound(operand.name))
