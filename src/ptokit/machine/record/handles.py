"""Handles and the numbers in them: between the compiled program and the reference.

`mapped` rebuilds a handle with every number replaced. With the values of a stopped program it gives
the reference's own handle on the same bytes; with numbers from slots, a loop-carried handle. A
template is the reference's handle with slots for numbers and places for memories: it can be kept on
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
from ptokit.machine.convtile import ConvTile
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Coded, Int, Num
from ptokit.machine.record.trace import TracedConv, TracedPointer, TracedTile, TracedView
from ptokit.machine.tile import GlobalView, KnownRegion, Pointer, Tile
from ptokit.values.dtypes import DType
from ptokit.values.layouts import Axis, IndexMap, Shape

Mapping_ = Callable[[Num], Num]
Memories = Callable[[Any], Any]  # Any: a Space or a Memory


class FrameSlot(NamedTuple):
    """A number that is in the frame when the program runs."""

    number: int


NOWHERE = 1 << 62  # beyond any memory


class MemoryNumber(NamedTuple):
    """A memory by its number in the program, where a template has a memory."""

    number: int


REAL = {
    TracedTile: Tile,
    TracedView: GlobalView,
    TracedConv: ConvTile,
    TracedPointer: Pointer,
}
TRACED = {real: traced for traced, real in REAL.items()}


def mapped(
    value: Any,  # Any: a handle or a number
    number: Mapping_,
    memory: Memories | None = None,
    place: Mapping_ | None = None,
    classes: Mapping[Any, Any] = REAL,
) -> Any:
    """The handle or number with its numbers replaced; with `memory`, of another class.

    `place` replaces addresses and origins, if otherwise.
    """
    place = place or number
    if isinstance(value, Coded):
        return _float(number(value.bits), value.dtype)
    if isinstance(value, int | float | NumpyArray | Int | FrameSlot):
        return value if isinstance(value, int | float | NumpyArray) else number(value)  # type: ignore[arg-type]
    make: Any = value.__class__
    if memory is not None:
        make = classes.get(make, make)
    space: Any = value.memory if memory is None else memory(value.memory)
    if isinstance(value, Pointer):
        return make(value.dtype, space, place(value.offset), value.count, value.space)
    return _handle_in(space, value, make, number, place)


def _handle_in(space: Any, value: Any, make: Any, number: Mapping_, place: Mapping_) -> Any:
    """The handle in this memory, as one of class `make`."""
    kind: Any = _type(value.type, number)
    if make is GlobalView and all(isinstance(n, int) for n in (*kind.shape, *kind.stride)):
        view = GlobalView(kind, space, cast(int, place(value.origin)))  # of its true layout
        view.label = value.label
        return view
    handle: Any = make.__new__(make)
    handle.type, handle.label, handle.lost = kind, value.label, []
    extent: Any = map(number, value.extent)
    handle.extent = KnownRegion(*extent)
    if isinstance(value, Tile):
        valid: Any = map(number, value.valid)
        handle.valid = KnownRegion(*valid)
    old = value.elements
    where = old.map
    if where is not getattr(value.type, "map", None):
        where = IndexMap(_axis(where.rows, number), _axis(where.cols, number))
    elsewhere: Any = place(old.address), place(old.origin)
    handle.elements = Elements(space, elsewhere[0], old.dtype, where, elsewhere[1], old.end)
    if isinstance(value, TracedTile) and value.view:
        _keep_view(value, handle)
    return handle


def _float(bits: Any, dtype: DType) -> Coded | NumpyArray:  # Any: a number or a slot
    """A float whose code is known now is the reference's."""
    if not isinstance(bits, int):
        return Coded(bits, dtype)
    return NumpyArray(np.full((1, 1), bits % (1 << dtype.bits), dtype.storage), dtype)


def _keep_view(value: TracedTile, handle: Any) -> None:  # Any: of either class
    """A view stays one, although where its tile ends is not kept."""
    if isinstance(handle, TracedTile):
        handle.view = value.view
    else:
        handle.elements.end = NOWHERE


def numbers(value: Any) -> list[tuple[Num, bool]]:  # Any: a handle or a number
    """The numbers of a value in the order of `mapped`, and whether each may change as the program
    runs: its place, and what its type leaves open."""
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


def _type(kind: Any, number: Mapping_) -> Any:  # Any: a type
    if isinstance(kind, TileType):
        rows, cols = kind.valid.rows, kind.valid.cols
        if isinstance(rows, int) and isinstance(cols, int):
            return kind
        return replace(kind, valid=Shape(number(rows), number(cols)))  # type: ignore[arg-type]
    if isinstance(kind, GlobalType):
        shape = tuple(number(n) for n in kind.shape if n is not None)
        stride = tuple(number(n) for n in kind.stride or () if n is not None)
        return replace(kind, shape=shape, stride=stride)  # type: ignore[arg-type]
    return kind


def _axis(axis: Axis, number: Mapping_) -> Axis:
    digits: Any = tuple((number(count), number(step)) for count, step in axis.digits)
    return Axis(digits)


def traced(value: Any, space: Any) -> Any:  # Any: handles
    """The handle of an argument as a compiled program sees it."""
    return mapped(value, lambda n: n, lambda _: space, classes=TRACED)
