"""Arrays in a kernel: views whose extents may be run-time numbers; real arrays in `debug`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np

from ptokit.api.hostarrays import Tensor
from ptokit.api.kernel.callplaces import refused
from ptokit.api.kernel.pagesearch import page_called
from ptokit.api.kernel.recorded import RecordedView
from ptokit.api.kernel.recorder import Recorder, at_start, recorder
from ptokit.api.kernel.runtimenumbers import Number, RunTimeNumber, extreme, require_whole
from ptokit.api.tensors import tensor
from ptokit.ir.module import Value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import INDEX, ScalarType
from ptokit.isa.model.words import GlobalLayout
from ptokit.launch.settings import recording
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray

Slice: TypeAlias = "slice[Number | None, Number | None, object]"
DN = GlobalLayout.DN
PAIRED = (GlobalLayout.MX_A_ND, GlobalLayout.MX_B_DN)  # views of scales, with an axis of pairs


def _paired(
    layout: GlobalLayout | None, numbers: tuple[Number, ...], pair: Number
) -> tuple[Number, ...]:
    """Return extents or offsets of a view; for scales, the last axis is split into pairs."""
    return (*numbers[:-1], numbers[-1] // 2, pair) if layout in PAIRED else numbers


@dataclass(eq=False)
class ArrayBase:
    """An argument of a kernel: a pointer and its extents, or an array in `debug`."""

    name: str
    dtype: DType
    extents: tuple[Number, ...]
    pointer: Value | None = None
    array: AnyArray | None = None
    stored: bool = True  # whether instructions may store into it
    views: dict[object, Value] = field(default_factory=dict[object, Value])

    @cached_property
    def strides(self) -> tuple[Number, ...]:
        """Return the strides in C order, in elements, computed at the function's start."""
        found: list[Number] = [1]
        with at_start():
            for extent in self.extents[:0:-1]:
                found.insert(0, found[0] * extent)
        return tuple(found)

    def transposed(self, numbers: Sequence[Number]) -> tuple[Number, ...]:
        """Return a list with its last two numbers exchanged."""
        return (*numbers[:-2], *numbers[:-3:-1])

    def view(self, layout: GlobalLayout | None) -> Value:
        """Return the view of the whole array, made at the function's start on first use."""
        if layout not in self.views:
            self.views[layout] = self._viewed(recorder(), layout)
        return self.views[layout]

    def _viewed(self, record: Recorder, layout: GlobalLayout | None) -> Value:
        page = page_called("view", executes=False)
        assert page is not None
        assert self.pointer is not None
        extents, strides = self.extents, self.strides
        if layout is DN:
            extents, strides = self.transposed(extents), self.transposed(strides)
        extents = _paired(layout, extents, 2)
        strides = (*strides[:-1], 2, 1) if layout in PAIRED else strides
        with at_start():
            given = {"shape": record.numbers(extents), "strides": record.numbers(strides)}
            known = tuple(n if isinstance(n, int) else None for n in extents)
            kind = GlobalType(self.dtype, known)
            view = record.value(f"{self.name}_view", kind, record.head)
            attrs: dict[str, object] = {} if layout is None else {"layout": layout}
            record.emit(page, {"ptr": (self.pointer,), **given}, attrs, [view])
        return view


class KernelArray(RecordedView):
    """An argument of a kernel, or a part: a view whose extents may be run-time numbers.

    `axes` are the visible axes; an index removes one. `box` is the shape of the tile that a block
    of the view fills.
    """

    def __init__(
        self,
        base: ArrayBase,
        starts: tuple[Number, ...],
        sizes: tuple[Number, ...],
        axes: tuple[int, ...],
        *,
        layout: GlobalLayout | None = None,
        box: tuple[int, int] | None = None,
    ) -> None:
        self.base, self.starts, self.sizes, self.axes = base, starts, sizes, axes
        self.layout, self.box, self.name = layout, box, base.name

    @classmethod
    def whole(cls, base: ArrayBase) -> KernelArray:
        """Return a view of the whole argument."""
        rank = len(base.extents)
        return cls(base, (0,) * rank, base.extents, tuple(range(rank)))

    @property
    def dtype(self) -> DType:
        return self.base.dtype

    @property
    def shape(self) -> Any:  # Any: numbers, for checkers ints
        """Return the extents of the visible axes."""
        return tuple(self.sizes[axis] for axis in self.axes)

    @property
    def matrix(self) -> tuple[Number, Number]:
        """Return the extents of a tile for the view; a view with one axis is a row."""
        return (1, 1, *self.shape)[-2:]  # type: ignore[return-value]  # two numbers

    @property
    def T(self) -> KernelArray:
        """Return the view with its last two axes exchanged: a dn view."""
        transposed = self.base.transposed
        axes = (*self.axes[:-2], *self.axes[-2:])
        if len(self.axes) < 2 or self.axes[-2:] != (len(self.sizes) - 2, len(self.sizes) - 1):
            what = "only the last two axes of an array are transposed"
            raise ValueError(f"{what}: {self!r} is no matrix of both")
        starts, sizes = transposed(self.starts), transposed(self.sizes)
        layout = None if self.layout is DN else DN
        return KernelArray(self.base, starts, sizes, axes, layout=layout)

    def of(self, base: ArrayBase) -> KernelArray:
        """Return the same part of another array."""
        return KernelArray(base, self.starts, self.sizes, self.axes, layout=self.layout)

    def stated(self, layout: GlobalLayout) -> KernelArray:
        """Return the same part with a view that states this layout."""
        return KernelArray(self.base, self.starts, self.sizes, self.axes, layout=layout)

    def __repr__(self) -> str:
        extents = "x".join(map(str, self.shape))
        return f"<array {self.base.name} {self.dtype} {extents}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:  # Any: parts, or numbers
        return (self[i] for i in range(len(self)))

    def refuse(self, *_: object) -> NoReturn:
        """Raise the error for an operation that needs the elements."""
        help = "load a block of it: pto.load(pto.block(x, row, col, rows, cols)), or index one"
        raise refused("run-time-number", f"{self!r} is memory, not elements", help)

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __neg__ = __abs__ = refuse  # type: ignore[assignment]  # raises for any arguments
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = refuse
    __rtruediv__ = __floordiv__ = __pow__ = __matmul__ = __rmatmul__ = refuse
    __hash__ = object.__hash__

    def __getitem__(self, key: object) -> Any:  # Any: indices and slices; a part, or a number
        keys: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)  # type: ignore[assignment]  # a user's index
        if len(keys) > len(self.axes):
            raise IndexError(f"{self!r} has {len(self.axes)} axes, not {len(keys)}")
        for part in keys:
            for bound in _bounds(part):
                require_whole(bound, f"an index of {self.name} is made of")
        if len(keys) == len(self.axes) and not any(isinstance(k, slice) for k in keys):
            return self._element(keys)
        starts, sizes, axes = [*self.starts], [*self.sizes], [*self.axes]
        for axis, part in zip(self.axes, keys, strict=False):
            if isinstance(part, slice):
                first, end = _ends(cast("Slice", part), sizes[axis])
            else:
                first, end = part, part + 1
                axes.remove(axis)
            self._require_inside(first, end, sizes[axis])
            starts[axis], sizes[axis] = starts[axis] + first, end - first
        return KernelArray(self.base, tuple(starts), tuple(sizes), tuple(axes), layout=self.layout)

    def _require_inside(self, first: Number, end: Number, extent: Number) -> None:
        """Raise an error for bounds known to be outside an axis; negative indices are errors."""
        if any(isinstance(n, int) and n < 0 for n in (first, end)):
            help = f"count from the start: {extent!r} - 1 is the last one"
        elif isinstance(end, int) and isinstance(extent, int) and end > extent:
            help = "pto.block clips its window at the edge"
        else:
            return
        what = f"[{first!r}, {end!r}) is out of bounds of an axis of {extent!r} elements"
        raise refused("window-out-of-bounds", f"{self!r}: {what}", help)

    def require_stored(self) -> None:
        """Raise PtoError for a store into an argument that is an input."""
        if not self.base.stored:
            name = self.base.name
            help = f"annotate it `{name}: pto.Out`, or pto.InOut where the kernel reads it, too"
            what = f"{name} is annotated pto.In, but this stores into it"
            raise refused("store-into-input", what, help)

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError("a kernel writes arrays with pto.store(pto.block(...), tile)")

    def block(self, row: Number, col: Number, rows: int, cols: int) -> KernelArray:
        """Return the rows x cols block at (row, col) of the last two axes, clipped at the edge."""
        if len(self.axes) < 2 and (not self.axes or (row, rows) != (0, 1)):
            one = (
                "it is one row: pto.block(array, 0, col, 1, cols)" if self.axes else "pass two axes"
            )
            raise ValueError(f"{self!r} has no rows and columns: {one}")
        for number in (row, col, rows, cols):
            require_whole(number, "pto.block(array, row, col, rows, cols) takes")
        if any(
            type(n) in (int, bool) and n < 1 for n in (rows, cols)
        ):  # run-time numbers are not known
            help = "an array without elements needs no launch"
            raise refused("operand-value", f"a block of {rows}x{cols} has no elements", help)
        starts, sizes = [*self.starts], [*self.sizes]
        axes = self.axes[-2:]
        box = zip(axes, (row, col)[-len(axes) :], (rows, cols)[-len(axes) :], strict=True)
        for axis, first, count in box:
            extent = sizes[axis]
            known = isinstance(extent, int) and not isinstance(count, RunTimeNumber)
            whole = known and extent % count == 0 and _steps(first, count)
            sizes[axis] = count if whole else extreme("min", count, extent - first)
            starts[axis] = starts[axis] + first
        return KernelArray(
            self.base,
            tuple(starts),
            tuple(sizes),
            axes,
            layout=self.layout,
            box=(rows, cols),
        )

    @cached_property
    def value(self) -> Value:  # type: ignore[override]  # a property in the base class
        """Return the view of this part in the program."""
        record, view = recorder(), self.base.view(self.layout)
        whole = all(a is b for a, b in zip(self.sizes, self._extents(), strict=True))
        if whole and not any(isinstance(s, RunTimeNumber) or s for s in self.starts):
            return view
        page = page_called("part", executes=False)
        assert page is not None
        assert isinstance(view.type, GlobalType)
        sizes, starts = _paired(self.layout, self.sizes, 2), _paired(self.layout, self.starts, 0)
        known = tuple(n if isinstance(n, int) else None for n in sizes)
        part = record.value(
            self.base.name, replace(view.type, shape=known, partition=True, stride=None)
        )
        given = {"offsets": record.numbers(starts), "sizes": record.numbers(sizes)}
        record.emit(page, {"view": (view,), **given}, {}, [part])
        return part

    def _extents(self) -> tuple[Number, ...]:
        extents = self.base.extents
        return self.base.transposed(extents) if self.layout is DN else extents

    @property
    def handle(self) -> Any:  # type: ignore[override]  # Any: the simulator's, in `debug`
        return self._tensor.handle

    @cached_property
    def _tensor(self) -> Tensor:
        """Return the view of this part of a real array."""
        array, strides = self.base.array, self._strides()
        assert array is not None
        offset = sum(a * b for a, b in zip(self.starts, strides, strict=True))
        sizes: Any = _paired(self.layout, self.sizes, 2)  # Any: in `debug` all are known
        if self.layout in PAIRED:
            strides = (*strides[:-1], 2, 1)
        if 0 in sizes:
            raise ValueError(f"{self!r} is empty")
        return tensor(
            array, dtype=self.dtype, shape=sizes, stride=strides, offset=offset, layout=self.layout
        )

    def _strides(self) -> Any:  # Any: as above
        strides = self.base.strides
        return self.base.transposed(strides) if self.layout is DN else strides

    def _element(self, keys: Sequence[Number]) -> Number:
        """Load one element as a number."""
        places = [*self.starts]
        for axis, first in zip(self.axes, keys, strict=True):
            self._require_inside(first, first + 1, self.sizes[axis])
            places[axis] = places[axis] + first
        offset = sum(a * b for a, b in zip(places, self._strides(), strict=True))
        if recording.get() is None:
            assert self.base.array is not None
            return self.base.array.reshape(-1)[offset].item()
        return _loaded(self.base, offset)

    def numpy(self) -> AnyArray:
        """Return the array in `debug`; an error while recording."""
        array = self.base.array
        if array is None:
            raise refused(
                "run-time-number",
                f"the elements of {self.base.name} are not known while recording",
                "load a block of it: pto.load(pto.block(x, row, col, rows, cols))",
            )
        strides = [n * array.itemsize for n in self._strides()]
        flat = array.reshape(-1)
        first = sum(a * b for a, b in zip(self.starts, self._strides(), strict=True))
        shape = [self.sizes[a] for a in self.axes]
        steps = [strides[a] for a in self.axes]
        return np.lib.stride_tricks.as_strided(flat[first:], shape, steps)  # type: ignore[arg-type]  # extents are ints in `debug`


def _bounds(key: object) -> Iterator[object]:
    """Yield the numbers of an index or a slice."""
    every = (key.start, key.stop) if isinstance(key, slice) else (key,)  # type: ignore[union-attr]  # a user's index
    return (n for n in every if n is not None or not isinstance(key, slice))  # type: ignore[misc]  # a user's index


def _ends(part: Slice, extent: Number) -> tuple[Number, Number]:
    """Return the start and the end of a slice, which has no step."""
    if part.step not in (None, 1):
        raise ValueError("a part of an array has no step: iterate with pto.range(0, n, step)")
    first: Number = 0 if part.start is None else part.start
    end: Number = extent if part.stop is None else part.stop
    return first, end


def _steps(start: Number, count: int) -> bool:
    """Return whether a start is a multiple of the block's extent."""
    if isinstance(start, RunTimeNumber):
        return start.divides(count) and start.const % count == 0
    return start % count == 0


def _loaded(base: ArrayBase, offset: Number) -> RunTimeNumber:
    """Load an element of an argument as a number of the program."""
    record, page = recorder(), page_called("element", executes=False)
    assert page is not None
    assert base.pointer is not None
    kind = ScalarType(base.dtype.name)
    made = record.value(base.name, kind)
    given = {"ptr": (base.pointer,), "offset": (record.number(offset),)}
    record.emit(page, given, {}, [made])
    number = RunTimeNumber.of(made, kind)
    return number if kind.is_float else RunTimeNumber.of(record.number(number, INDEX))
