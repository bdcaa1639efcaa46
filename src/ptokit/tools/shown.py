"""Values of a running program for a reader: NumPy arrays and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ptokit.api import hostarrays
from ptokit.ir.module import Value
from ptokit.isa.model.types import ArrayType, Member, StructType
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.execute import Core
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile
from ptokit.order.group import GroupedCore
from ptokit.values.host import AnyArray, numpy_dtype, values_of


def place_shown(core: Core) -> str:
    """Return the block and core that a core runs; empty if there is only one."""
    if isinstance(core, GroupedCore):
        return "" if core.grid.alone else core.place.short
    return str(core.block_idx) if core.block_num > 1 else ""


def codes_shown(handle: Matrix) -> AnyArray:
    """Return the codes of a tile's valid region or of a view, row by row."""
    if isinstance(handle, Tile | ConvTile):
        return handle.codes()
    return handle.elements.read(range(handle.rows), range(handle.cols))


def array_of(value: object) -> Any:  # Any: a handle or a number; an array or a number
    """Return a copy of a tile, view or pointer as an array, masked where never written."""
    if isinstance(value, Tile):
        return _masked(values_of(value.codes(), value.dtype), hostarrays.Tile(value).written())
    if isinstance(value, ConvTile):
        written = hostarrays.ConvTile(value).written()
        return _masked(values_of(value.codes(), value.dtype), written)
    if isinstance(value, GlobalView):
        window = range(value.rows), range(value.cols)
        written = value.elements.written(*window)
        return _masked(values_of(codes_shown(value), value.dtype), written)
    if isinstance(value, Pointer):
        data = value.memory.data[: value.memory.size // value.dtype.size * value.dtype.size]
        return values_of(data.view(value.dtype.storage).copy(), value.dtype)
    return value.values[0, 0] if isinstance(value, NumpyArray) else value


def value_shown(value: Value, seen: object) -> Any:  # Any: as above
    """Return `array_of`; a struct as a NumPy record, a local array in its extents."""
    found, kind = array_of(seen), value.type
    if isinstance(kind, ArrayType) and found.size == kind.count:
        return found.reshape(kind.shape)
    if isinstance(kind, StructType) and found.size >= kind.nbytes:
        return found[: kind.nbytes].view(_record(kind))[0]
    return found


def _record(kind: StructType) -> np.dtype[np.void]:
    """Return NumPy's type of a struct, with fields named by number."""
    parts = [_part(field) for field in kind.fields]
    places = [kind.offset(n) for n in range(len(parts))]
    names = [str(n) for n in range(len(parts))]
    return np.dtype({"names": names, "formats": parts, "offsets": places, "itemsize": kind.nbytes})


def _part(field: Member) -> DTypeLike:
    if isinstance(field, StructType):
        return _record(field)
    if isinstance(field, ArrayType):
        return (_part(field.element), field.shape)
    return numpy_dtype(field.element) or field.element.storage


def _masked(values: AnyArray, written: NDArray[np.bool_]) -> AnyArray:
    return values if written.all() else np.ma.masked_array(values, ~written)
