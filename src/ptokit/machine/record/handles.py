"""Handles and the numbers in them, between compiled programs and the reference engine.

`mapped` rebuilds a handle with every number replaced. With the values of a stopped program it gives
the reference's own handle on the same bytes; with numbers from slots, a loop-carried handle. A
template is the reference's handle with slots for numbers and for memories: it can be stored on
disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import Elements, Memory
from ptokit.machine.record.code import Coded, Int, Num
from ptokit.machine.record.trace import TracedConv, TracedPointer, TracedTile, TracedView
from ptokit.machine.tile import ConvTile, GlobalView, KnownRegion, Matrix, Pointer, Tile
from ptokit.values.dtypes import DType
from ptokit.values.layouts import Axis, IndexMap, Shape

Mapping_ = Callable[[Num], Num]
Memories = Callable[[Any], Any]  # Any: a Space or a Memory


class FrameSlot(NamedTuple):
    """A number in the frame of a running program."""

    number: int


NOWHERE = 1 << 62  # beyond any memory


class MemoryNumber(NamedTuple):
    """A memory by its number in the program, used in templates."""

    number: int


REAL = {
    TracedTile: Tile,
    TracedView: GlobalView,
    TracedConv: ConvTile,
    TracedPointer: Pointer,
}
TRACED = {real: traced for traced, real in REAL.items()}


def mapped(
    value: object,
    number: Mapping_,
    memory: Memories | None = None,
    place: Mapping_ | None = None,
    classes: Mapping[type, type] = REAL,
) -> Any:  # Any: a handle or a number, as `value`
    """Return the handle or number with its numbers replaced; with `memory`, in another class.

    `place` replaces addresses and origins, by default as `number` does.
    """
    place = place or number
    if isinstance(value, Coded):
        return _float(number(value.bits), value.dtype)
    if isinstance(value, int | float | NumpyArray):
        return value
    if isinstance(value, Int | FrameSlot):
        return number(value)  # type: ignore[arg-type]  # FrameSlot
    make: Any = value.__class__  # Any: a class of handles
    if memory is not None:
        make = classes.get(make, make)
    handle = cast("Matrix | Pointer", value)
    space = handle.memory if memory is None else memory(handle.memory)
    if isinstance(handle, Pointer):
        return make(handle.dtype, space, place(handle.offset), handle.count, handle.space)
    return _handle_in(space, handle, make, number, place)


def _handle_in(
    space: Memory, value: Matrix, make: type[Matrix], number: Mapping_, place: Mapping_
) -> Matrix:
    """Return the handle in this memory, in class `make`."""
    kind = _type(value.type, number)
    if make is GlobalView and all(isinstance(n, int) for n in (*kind.shape, *kind.stride)):
        view = GlobalView(kind, space, cast(int, place(value.elements.origin)))
        view.label = value.label
        return view
    handle: Any = make.__new__(make)  # Any: with numbers that types say are known
    handle.type, handle.label, handle.lost = kind, value.label, []
    handle.extent = _region(value.extent, number)
    if isinstance(value, Tile):
        handle.valid = _region(value.valid, number)
    old = value.elements
    if old.map is getattr(value.type, "map", None):
        where = kind.map  # that of its own type again, so that its numbers stay those of the type
    else:
        where = IndexMap(_axis(old.map.rows, number), _axis(old.map.cols, number))
    address, origin = cast(int, place(old.address)), cast(int, place(old.origin))
    handle.elements = Elements(space, address, old.dtype, where, origin, old.end)
    if isinstance(value, TracedTile) and value.view:
        _keep_view(value, handle)
    return handle


def _float(bits: Num, dtype: DType) -> Coded | NumpyArray:
    """Return a float by its code; a known code gives the reference's array."""
    if not isinstance(bits, int):
        return Coded(bits, dtype)
    return NumpyArray(np.full((1, 1), bits % (1 << dtype.bits), dtype.storage), dtype)


def _keep_view(value: TracedTile, handle: Matrix) -> None:
    """Mark a handle as a view of a part, although the end of its tile is not kept."""
    if isinstance(handle, TracedTile):
        handle.view = value.view
    else:
        handle.elements.end = NOWHERE


def numbers(value: object) -> list[tuple[Num, bool]]:
    """Return the numbers of a value in the order of `mapped`, each with a flag.

    The flag is True for a number that may change at run time: a place, or an open extent.
    """
    if isinstance(value, int | Int):
        return [(value, True)]
    if isinstance(value, Coded):
        return [(value.bits, True)]
    found: list[tuple[Num, bool]] = []

    def collect(number: Num, *, place: bool = False) -> Num:
        found.append((number, place or not isinstance(number, int)))
        return number

    mapped(value, collect, place=partial(collect, place=True))
    return found


def _type(kind: object, number: Mapping_) -> Any:  # Any: a type
    if isinstance(kind, TileType):
        rows, cols = kind.valid.rows, kind.valid.cols
        if isinstance(rows, int) and isinstance(cols, int):
            return kind
        return replace(kind, valid=Shape(number(rows), number(cols)))  # type: ignore[arg-type]  # Num
    if isinstance(kind, GlobalType):
        shape = tuple(number(n) for n in kind.shape if n is not None)
        stride = tuple(number(n) for n in kind.stride or () if n is not None)
        return replace(kind, shape=shape, stride=stride)  # type: ignore[arg-type]  # of Nums
    return kind


def _region(region: KnownRegion, number: Mapping_) -> KnownRegion:
    return KnownRegion(*cast("tuple[int, int]", tuple(map(number, region))))


def _axis(axis: Axis, number: Mapping_) -> Axis:
    digits = tuple((number(count), number(step)) for count, step in axis.digits)
    return Axis(cast("tuple[tuple[int, int], ...]", digits))


def traced(value: object, space: object) -> Any:  # Any: a handle or a number
    """Return the handle of an argument as a compiled program sees it."""
    return mapped(value, lambda n: n, lambda _: space, classes=TRACED)
