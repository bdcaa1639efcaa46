"""Matrices: elements by row and column in a memory, as the bodies of pages index them.

A read may give undefined elements (`partlydefined`). A store keeps them undefined in the shadow of
the memory; an array of the host gets a documented value instead.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ptokit.diagnostics.diagnostic import error
from ptokit.machine.evaluation import NumpyArray, scalar
from ptokit.machine.memory import Codes, Elements, Index, Memory
from ptokit.machine.merging import distinct_batches
from ptokit.machine.partlydefined import (
    DOCUMENTED,
    LostElements,
    Mask,
    PartlyDefined,
    defined,
    first_taken,
    undefined,
)
from ptokit.values.arrays import Array, Term, Window, Windows, windows_of
from ptokit.values.dtypes import DType, i64
from ptokit.values.enumerations import GatherOOB
from ptokit.values.layouts import Axis, IndexMap


class KnownRegion(NamedTuple):
    """A valid region whose extents are known; unpacks to rows, cols."""

    rows: int
    cols: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}"


class Matrix:
    """Elements by row and column, with the attributes of the type; messages call it `label`."""

    _last: tuple[object, Elements, range, range] | None = None

    def __init__(self, kind: Any, elements: Elements, rows: int, cols: int) -> None:  # Any: a type
        self.type = kind
        self.elements = elements
        self.extent = KnownRegion(rows, cols)
        self.label = ""
        self.lost: list[
            LostElements
        ] = []  # undefined elements stored in an array of the host, since `lost_in` took them

    def __getattr__(self, name: str) -> Any:  # Any: a property of the type
        if name.startswith("_") or name == "type":
            raise AttributeError(name)
        return getattr(self.type, name)

    @property
    def dtype(self) -> DType:
        return self.elements.dtype

    @property
    def rows(self) -> int:
        return self.extent.rows

    @property
    def cols(self) -> int:
        return self.extent.cols

    @property
    def memory(self) -> Memory:
        return self.elements.memory

    def __getitem__(self, window: Windows) -> Array:
        rows, cols = self._window(window)
        if rows.step > 1 or cols.step > 1:
            return self._sampled(rows, cols)
        elements = self.elements
        missing = elements.unwritten(rows, cols)
        found = NumpyArray(elements.read(rows, cols), elements.dtype)
        return found if missing is None else _partly_read(self, rows, cols, found)

    def beyond(self, rows: range, cols: range) -> Mask | bool:
        """Return which elements of a window lie outside the valid region."""
        return False

    def _sampled(self, rows: range, cols: range) -> Array:
        """Return every step-th row and column."""
        return self._at(
            *np.meshgrid(np.array(rows, np.int64), np.array(cols, np.int64), indexing="ij")
        )

    def _at(self, rows: Index, cols: Index) -> Array:
        """Return the elements at row and column numbers given element by element."""
        missing = self.elements.taken_unwritten(rows, cols)
        found = NumpyArray(self.elements.take(rows, cols), self.dtype)
        return found if missing is None else _partly_taken(self, rows, cols, missing, found)

    def take(
        self, index: Array, outside: GatherOOB = GatherOOB.ERROR, where: Array | None = None
    ) -> Array:
        """Return the elements at row-major indices over the static shape, 0 where `where` fails."""
        assert isinstance(index, NumpyArray)
        if isinstance(index, PartlyDefined):
            return index.taken(lambda defined: self.take(defined, outside, where))
        wanted, count = index.values.astype(np.int64), self.rows * self.cols
        if where is not None:
            return self._taken_where(wanted, outside, where)
        if outside is GatherOOB.ERROR:
            self._require_indices(wanted, "gather-out-of-bounds", "read", "reads")
        inside = (wanted >= 0) & (wanted < count)
        held = np.mod(wanted, count) if outside is GatherOOB.WRAP else wanted.clip(0, count - 1)
        rows, cols = np.divmod(held, self.cols)
        self._require_inside(rows, cols)
        missing = self.elements.taken_unwritten(rows, cols)
        codes = self.elements.take(rows, cols)
        if outside is GatherOOB.ZERO:
            codes = np.where(inside, codes, 0).astype(codes.dtype)
        found = NumpyArray(codes, self.dtype)
        return found if missing is None else _partly_taken(self, rows, cols, missing, found)

    def _require_indices(self, wanted: Index, slug: str, done: str, does: str) -> None:
        """Raise PtoError if a row-major index lies outside the static shape."""
        count = self.rows * self.cols
        outside = (wanted < 0) | (wanted >= count)
        if outside.any():
            row, col = np.argwhere(outside)[0]
            raise error(
                slug,
                f"{self.label or 'an operand'} is {done} outside its {count} elements",
                seen=f"the index at ({row}, {col}) is {wanted[row, col]}",
                help=f"keep indices in bounds; hardware {does} unrelated bytes",
            )

    def _require_inside(self, rows: Index, cols: Index) -> None:
        """Raise PtoError if elements of a view lie behind the tile of which it is a view.

        A view has the declared shape of its source, so its last elements may lie outside.
        """
        if self.elements.past_end(rows, cols):
            raise error(
                "window-out-of-bounds",
                f"{self.label or 'a view'} exceeds the tile of which it is a view",
                seen=f"the view starts at byte {self.elements.address} of {self.memory.name} and "
                f"its tile ends at byte {self.elements.end}",
                help="use the elements inside the view's valid region only",
            )

    def _taken_where(self, wanted: Index, outside: GatherOOB, where: Array) -> Array:
        assert isinstance(where, NumpyArray)
        chosen = np.broadcast_to(where.codes != 0, wanted.shape)
        codes = np.zeros(wanted.shape, self.dtype.storage)
        picked = NumpyArray(wanted[chosen][None, :].view(np.uint64), i64)
        found = self.take(picked, outside)
        codes[chosen] = defined(found).codes[0]
        result = NumpyArray(codes, self.dtype)
        if not isinstance(found, PartlyDefined):
            return result
        mask = np.zeros(wanted.shape, np.bool_)
        mask[chosen] = found.undefined[0]
        return PartlyDefined(result, mask, found.refuse)

    def put(self, window: Windows, value: Array, where: Array) -> None:
        """Assign a window only where `where` holds; other elements stay."""
        rows, cols = self._window(window)
        shape = (len(rows), len(cols))
        unknown = np.broadcast_to(undefined(where), shape)
        keep = np.broadcast_to(defined(where).codes != 0, shape) | unknown
        new = np.broadcast_to(self._codes(defined(value)), shape)
        missing = unknown | keep & undefined(value)
        if self.memory.host:
            new = np.where(missing, DOCUMENTED, new).astype(new.dtype)
        self.elements.write_where(rows, cols, new, keep)
        self._stored(rows, cols, missing)

    def scatter(
        self, index: Array, value: Array, where: Array | None = None, word: str | None = None
    ) -> None:
        """Set elements at row-major indices over the static shape, one after another."""
        assert isinstance(index, NumpyArray)
        keep = np.ones(index.shape, bool)
        missing = np.broadcast_to(undefined(value), index.shape)
        if where is not None:
            unknown = np.broadcast_to(undefined(where), index.shape)
            keep = np.broadcast_to(defined(where).codes != 0, index.shape) | unknown
            missing = missing | unknown
        if isinstance(index, PartlyDefined) and (index.undefined & keep).any():
            index.refuse()
        wanted = defined(index).values.astype(np.int64)
        new = np.broadcast_to(self._codes(defined(value)), wanted.shape)
        chosen = np.where(keep, wanted, 0)
        self._require_indices(chosen, "scatter-out-of-bounds", "written", "overwrites")
        wanted, new, missing = wanted[keep], new[keep], missing[keep]
        rows, cols = np.divmod(wanted, self.cols)
        self._require_inside(rows, cols)
        for now in [slice(None)] if word is None else distinct_batches(wanted):
            codes, without = NumpyArray(new[now], self.dtype), missing[now]
            if word is not None:
                old = self._at(rows[now], cols[now])
                codes = defined(old).apply(word, codes)
                without = without | old.undefined if isinstance(old, PartlyDefined) else without
            self._put_taken(rows[now], cols[now], self._codes(codes), without)

    def _put_taken(self, rows: Index, cols: Index, codes: Codes, missing: Mask) -> None:
        """Store codes at row and column numbers, in order; `missing` elements are undefined."""
        if not missing.any():
            self.elements.put(rows, cols, codes)
            return
        if self.memory.host:
            codes = np.where(missing, DOCUMENTED, codes).astype(codes.dtype)
            self.lost.append(LostElements(int(missing.sum()), first_taken(missing, rows, cols)))
        self.elements.put(rows, cols, codes)
        if not self.memory.host:
            places = (rows * self.cols + cols)[::-1]
            last = rows.size - 1 - np.unique(places, return_index=True)[1]  # of each place
            lost = last[missing[last]]
            self.elements.undefine_taken(rows[lost], cols[lost])

    def constant(self, bits: int) -> Array:
        """Return a 1x1 array of this element type with these bits."""
        return NumpyArray(np.full((1, 1), bits, self.dtype.storage), self.dtype)

    def flat(self, width: int = 0) -> Matrix:
        """Return the whole storage as one row, in storage order, or as rows of `width` elements."""
        width = width or self.type.numel or 1  # a tile without rows has no elements
        rows, there = self.type.numel // width, (self.memory, self.elements.address)
        where = IndexMap(Axis(((rows, width),)), Axis(((width, 1),)))
        elements = Elements(*there, self.dtype, where, end=self.elements.end)
        return self._read_as(elements, rows, width)

    def _read_as(self, elements: Elements, rows: int, cols: int) -> Matrix:
        """Return the same storage as another matrix."""
        other = Matrix(self.type, elements, rows, cols)
        other.label, other.lost = self.label, self.lost
        return other

    def iota(self, rows: int, cols: int) -> tuple[Array, Array]:
        """Return row numbers (rows x 1) and column numbers (1 x cols)."""
        down, across = np.arange(rows, dtype=np.uint64), np.arange(cols, dtype=np.uint64)
        return NumpyArray(down[:, None], i64), NumpyArray(across[None, :], i64)

    def __setitem__(self, window: Windows, value: Term) -> None:
        rows, cols = self._window(window)
        codes = self._codes(defined(value))
        if not isinstance(value, PartlyDefined):
            self.elements.write(rows, cols, codes)
            return
        missing = np.broadcast_to(value.undefined, (len(rows), len(cols)))
        if self.memory.host:
            codes = np.where(missing, DOCUMENTED, codes).astype(codes.dtype)
        self.elements.write(rows, cols, codes)
        self._stored(rows, cols, missing)

    def _stored(self, rows: range, cols: range, missing: Mask) -> None:
        """Note which elements of a stored window are undefined."""
        if not missing.any():
            return
        if self.memory.host:
            row, col = np.argwhere(missing)[0]
            first = rows.start + int(row), cols.start + int(col)
            self.lost.append(LostElements(int(missing.sum()), first))
        else:
            self.elements.undefine(rows, cols, missing)

    def undefine(self, window: Windows) -> None:
        """Make the elements of a window undefined."""
        rows, cols = self._window(window)
        if rows and cols:
            self.elements.undefine(rows, cols)

    def _codes(self, value: Term) -> Codes:
        if isinstance(value, NumpyArray):
            assert value.dtype == self.dtype, f"a body stored {value.dtype} in {self.dtype}"
            return value.codes
        assert not isinstance(value, Array)
        return scalar(value, self.dtype).codes

    def _window(self, window: Windows) -> tuple[range, range]:
        last = self._last
        if last is not None and last[0] == window and last[1] is self.elements:
            return last[2], last[3]  # bodies use one window many times
        down, across = windows_of(window)
        rows, cols = _bounds(down, self.extent.rows), _bounds(across, self.extent.cols)
        if self.elements.end is not None and rows and cols:
            self._require_inside(np.array([rows[-1]]), np.array([cols[-1]]))
        self._last = window, self.elements, rows, cols
        return rows, cols


def _bounds(window: Window, extent: int) -> range:
    """Return the range of a window of an axis; rules have checked that it is inside."""
    if isinstance(window, int):
        window = slice(window, window + 1)
    start, stop = window.start or 0, extent if window.stop is None else window.stop
    assert 0 <= start <= stop <= extent, f"window {start}:{stop} of an extent of {extent}"
    return range(start, stop, window.step or 1)


def _partly_read(matrix: Matrix, rows: range, cols: range, found: NumpyArray) -> Array:
    """Return a window of a matrix with undefined elements."""
    missing = ~matrix.elements.written(rows, cols)
    first = _first(missing, rows, cols)
    if matrix.memory.refuses:
        raise _read_first(matrix, first)
    outside = not (missing & ~np.asarray(matrix.beyond(rows, cols))).any()
    return PartlyDefined(found, missing, partial(_refuse, matrix, first), outside=outside)


def _partly_taken(
    matrix: Matrix, rows: Index, cols: Index, missing: Mask, found: NumpyArray
) -> Array:
    """Return gathered elements of a matrix, some of which are undefined."""
    first = first_taken(missing, rows, cols)
    if matrix.memory.refuses:
        raise _read_first(matrix, first)
    return PartlyDefined(found, missing, partial(_refuse, matrix, first))


def _read_first(matrix: Matrix, first: tuple[int, int]) -> Exception:
    """Return the error for a tile that is read before it is written."""
    row, col = first
    return error(
        "uninitialised-read",
        f"{matrix.label or 'a tile'} is read before it is written",
        seen=f"element ({row}, {col}) of {matrix.type} was never written",
        help="write all elements that are read, or make the valid region smaller",
    )


def _refuse(matrix: Matrix, first: tuple[int, int]) -> NoReturn:
    row, col = first
    raise error(
        "uninitialised-read",
        f"{matrix.label or 'a tile'} has undefined elements that are read",
        seen=f"element ({row}, {col}) of {matrix.type} is undefined",
        help="write all elements that are read, or make the valid region smaller",
    )


def _first(mask: Mask, rows: range, cols: range) -> tuple[int, int]:
    """Return the first element of a window for which a mask holds."""
    row, col = np.argwhere(mask)[0]
    return rows.start + int(row), cols.start + int(col)
