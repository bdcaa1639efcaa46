"""Binding: host arrays and numbers to arguments, and outputs back to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import PtoError, call_error, error
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.scalars import wrapped
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, GlobalType, TileType
from ptokit.isa.model.types import Elided, Kind, PtrType, ScalarType, Type, kind_of_elided
from ptokit.numerics.host import codes_of, values_of
from ptokit.passes import func_to_dps
from ptokit.passes.complete import complete
from ptokit.sim.memory import Memory, aligned
from ptokit.sim.reference.interpreter import Env, Machine
from ptokit.sim.tile import ConvTile, GlobalView, Matrix, Pointer, Tile

AnyArray: TypeAlias = "NDArray[Any]"  # Any: a user's array


@dataclass
class Bound:
    """A function with complete types, ready to run on the values it was given."""

    func: Func
    arrays: Mapping[str, Any]  # Any: arrays and numbers
    numbers: dict[Value, Any]

    def shared(self) -> Env:
        """Numbers, and new handles on copies of the arrays: what all blocks have in common."""
        return {arg: self._global(arg) for arg in self.func.args if not _is_local(arg)}

    def _global(self, arg: Value) -> Any:  # Any: as in Env
        given, kind = self.arrays.get(arg.name), arg.type
        if isinstance(kind, PtrType):
            return Pointer(kind.dtype, _memory(arg, given, kind.dtype))
        return _tensor(arg, given, kind) if isinstance(kind, GlobalType) else self.numbers[arg]

    def local(self, machine: Machine, addresses: Mapping[Value, int]) -> Env:
        """Handles on the arguments that are tiles, in the memories of one core."""
        return {arg: self._tile(arg, machine, addresses[arg]) for arg in self.tiles()}

    def tiles(self) -> list[Value]:
        """The arguments that are tiles."""
        return [arg for arg in self.func.args if _is_local(arg)]

    def _tile(self, arg: Value, machine: Machine, address: int) -> Matrix:
        given, kind = self.arrays.get(arg.name), arg.type
        if isinstance(kind, ConvTileType):
            return _conv(arg, given, kind, machine.fresh(kind, address))
        assert isinstance(kind, TileType)
        handle = machine.fresh(machine.target.resolve(kind), address)
        handle.label = f"%{arg.name}"
        if given is not None:
            assert isinstance(handle, Tile)
            handle.assign(_codes(arg, given, kind, tuple(handle.valid)))
        return handle

    def looked_at(self) -> list[Value]:
        """Values that may be outputs: arguments that are written, a flat program's results."""
        return [*written(self.func), *(_results(self.func) if self.func.flat else ())]

    def outputs(self, env: Env) -> dict[str, AnyArray]:
        """Arrays by name: pointers and tiles that were written, and a flat program's results."""
        found: dict[str, AnyArray] = {}
        for value in self.looked_at():
            handle = env.get(value)
            if isinstance(handle, Tile | ConvTile) and handle.written():
                found[value.name] = values_of(handle.codes(), handle.dtype)
            elif isinstance(handle, Pointer):
                found[value.name] = _array(handle, self.arrays.get(value.name))
        return found


def _is_local(arg: Value) -> bool:
    return isinstance(arg.type, TileType | ConvTileType)


def _memory(arg: Value, given: Any, dtype: Any) -> Memory:
    """The bytes behind a pointer: a copy of the array, or room that grows for an output."""
    name = f"%{arg.name}"
    if given is None:
        memory = Memory.blank(name, 0)
        memory.growable = True
        return memory
    raw = _codes(arg, given, PtrType(dtype), None).reshape(-1)
    return Memory(name, aligned(raw.view(np.uint8).copy()), written=True)


def _conv(arg: Value, given: Any, kind: ConvTileType, handle: Matrix) -> Matrix:
    handle.label = f"%{arg.name}"
    if given is not None:
        assert isinstance(handle, ConvTile)
        handle.assign(_codes(arg, given, kind, kind.shape))
    return handle


def _tensor(arg: Value, given: Any, kind: GlobalType) -> GlobalView:
    codes = _codes(arg, given, kind, None)
    stride = tuple(int(np.prod(codes.shape[i + 1 :])) for i in range(codes.ndim))
    copy = aligned(codes.reshape(-1).view(np.uint8).copy())
    memory = Memory(f"%{arg.name}", copy, written=True)
    return GlobalView(GlobalType(kind.dtype, codes.shape, stride, kind.stated), memory, 0)


def _codes(arg: Value, given: Any, kind: Any, shape: tuple[int, ...] | None) -> AnyArray:
    """The array's element codes; PtoError where element type or shape are not the argument's."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise _mismatch(arg, f"%{arg.name} is an array", f"given {type(given).__name__}") from None
    try:
        codes = codes_of(array, kind.dtype)
    except ValueError:
        raise _mismatch(
            arg, f"%{arg.name} has elements of {kind.dtype}", f"the array has {array.dtype}"
        ) from None
    if shape is not None and array.shape != shape:
        wanted = "x".join(map(str, shape))
        raise _mismatch(
            arg,
            f"%{arg.name} has the valid region {wanted}",
            f"the array has shape {'x'.join(map(str, array.shape))}",
        )
    return codes


def _mismatch(arg: Value, rule: str, seen: str) -> PtoError:
    return call_error(
        "argument-type",
        f"%{arg.name}: {CATALOGUE['argument-type'].title}",
        arg.span,
        rule=rule,
        seen=seen,
        help="convert the array first, for example with numpy's astype or reshape",
    )


def _array(pointer: Pointer, given: Any) -> AnyArray:
    codes = pointer.memory.data.view(pointer.dtype.storage)
    values = values_of(codes, pointer.dtype)
    if given is not None:
        return values.reshape(np.asarray(given).shape)
    shape = pointer.memory.shape
    return values.reshape(shape) if shape and int(np.prod(shape)) == values.size else values


def bind(
    func: Func,
    arrays: Mapping[str, Any],  # Any: arrays and numbers
    target: Target,
    types: Mapping[str, Type],
) -> Bound:
    """Bind arguments by name; PtoError names the first that is missing, unknown or does not fit."""
    func = deepcopy(func)
    names = [arg.name for arg in func.args]
    for name in arrays:
        if name not in names:
            takes = ", ".join(names) or "none"
            raise call_error(
                "unknown-argument", f"there is no argument {name!r}", seen=f"it takes {takes}"
            )
    numbers = dict(_numbers(func, arrays))
    complete(func, target, arrays, numbers, types)
    _require(func, arrays)
    _require_types(func)
    converted = func_to_dps(func)
    return Bound(converted, arrays, _by_name(converted, numbers))


def _by_name(func: Func, numbers: Mapping[Value, Any]) -> dict[Value, Any]:
    named = {value.name: number for value, number in numbers.items()}
    return {arg: named[arg.name] for arg in func.args if arg.name in named}


def _numbers(func: Func, arrays: Mapping[str, Any]) -> Iterator[tuple[Value, int | float]]:
    """Scalar arguments and their values."""
    for arg in func.args:
        given = arrays.get(arg.name)
        if given is None or (isinstance(arg.type, Elided) and not isinstance(given, int | float)):
            continue
        if not Kind.SCALAR.accepts(arg.type):
            if isinstance(arg.type, Elided):
                rule = f"%{arg.name} is a {kind_of_elided(arg.type.spelling).value}"
                raise _mismatch(arg, rule, f"given the number {given}")
            continue
        number = _number(arg, given)
        _require_range(arg, number)
        yield arg, wrapped(number, 64) if isinstance(number, int) else number


def _number(arg: Value, given: Any) -> int | float:
    """A number of Python or NumPy as the argument's type takes it."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    number: object = given.item() if hasattr(given, "item") and not shape else given
    whole = isinstance(arg.type, ScalarType) and not arg.type.is_float
    if isinstance(number, int) or (isinstance(number, float) and not whole):
        return number
    seen = f"given {type(given).__name__}" + (f" of shape {shape}" if shape else "")
    raise _mismatch(arg, f"%{arg.name} is a number of type {arg.type}", seen)


def _require_range(arg: Value, given: Any) -> None:
    """Numbers fit their integer type."""
    dtype = arg.type.dtype if isinstance(arg.type, ScalarType) else None
    bits = 64 if dtype is None else dtype.bits
    if dtype is not None and dtype.is_float:
        return
    low = 0 if dtype is not None and not dtype.signed else -(1 << (bits - 1))
    if not low <= given < low + (1 << bits):
        raise _mismatch(arg, f"%{arg.name} is a number of type {arg.type}", f"given {given}")


def _require(func: Func, arrays: Mapping[str, Any]) -> None:
    outs = {*written(func), *_outputs(func)}
    for arg in func.args:
        if isinstance(arg.type, TileType) and not arg.type.valid.static:
            raise _open_region(arg, arrays.get(arg.name) is not None)
        if arrays.get(arg.name) is not None:
            continue
        if arg in outs and isinstance(arg.type, PtrType | TileType | ConvTileType):
            continue
        raise call_error(
            "missing-argument",
            f"%{arg.name}: {CATALOGUE['missing-argument'].title}",
            arg.span,
            seen=f"its type is {arg.type or 'not known'}",
            help=f"give {arg.name}=FILE.npy, or {arg.name}=NUMBER for a number",
        )


def _open_region(arg: Value, given: bool) -> PtoError:
    """An argument whose valid region no array tells."""
    return call_error(
        "argument-type" if given else "missing-argument",
        f"%{arg.name}: {CATALOGUE['argument-type' if given else 'missing-argument'].title}",
        arg.span,
        rule=f"the array of %{arg.name} has the rows and columns of its valid region",
        seen=f"its type is {arg.type}",
        help=f"give {arg.name} an array of two dimensions, or write the valid region out",
    )


def _require_types(func: Func) -> None:
    """Every argument, and every tile an instruction defines, must have a type by now."""
    results = (value for op in func.body.walk() for value in op.results)
    for value in (*func.args, *results):
        if isinstance(value.type, Elided):
            raise error(
                "type-elided",
                f"%{value.name}: {CATALOGUE['type-elided'].title}",
                value.span,
                help=f"write the type out, or give --type {value.name}=TYPE",
            )


def written(func: Func) -> list[Value]:
    """Arguments that some instruction writes, through whatever views and handles lead there."""
    roots: dict[Value, set[Value]] = {arg: {arg} for arg in func.args}
    found = set[Value]()
    for op in func.body.walk():
        if not isinstance(op, Op):
            continue
        outs = [v for operand in op.page.outs() for v in op.bound(operand.name)]
        if func.flat or not op.page.aliases:  # a handle that becomes another writes no byte
            found.update(*(roots[v] for v in outs if v in roots))
        if op.page.aliases or (op.page.handle and op.results):
            sources = [roots[v] for _, v in op.values() if v in roots and _names_memory(op, v)]
            for handle in (*op.results, *outs):
                roots[handle] = roots.get(handle, set()).union(*sources)
    return [arg for arg in func.args if arg in found]


def _outputs(func: Func) -> Iterator[Value]:
    """The operands that instructions write, or make handles of others: none needs to be given."""
    for op in func.body.walk():
        if isinstance(op, Op):
            yield from (v for operand in op.page.outs() for v in op.bound(operand.name))


def _names_memory(op: Op, value: Value) -> bool:
    return any(
        op.page.operand(name).kind in (Kind.PTR, Kind.GLOBAL, Kind.TILE, Kind.CONV)
        for name, used in op.values()
        if used is value
    )


def _results(func: Func) -> list[Value]:
    return [v for op in func.body.ops for v in op.results if isinstance(v.type, TileType)]


__all__ = ["Bound", "Matrix", "bind", "written"]
