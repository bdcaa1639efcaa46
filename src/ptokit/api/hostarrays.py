"""Tiles and tensors for Python: conversions to NumPy and other libraries, on top of handles.

Readers get values in logical order, whatever the layout: the valid region of a tile, all elements
of a convolution tile, the array of a tensor.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ptokit.diagnostics.above import above
from ptokit.diagnostics.callsite import depth
from ptokit.diagnostics.rich import Rich
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.launch.hostmemory import host_array, shares_bytes
from ptokit.machine import tile as handles
from ptokit.machine.memory import Memory
from ptokit.machine.undefinedstore import UnwrittenWarning
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Loc, Word
from ptokit.values.host import AnyArray, in_memory, rounded_codes, values_of
from ptokit.values.layouts import Layout

Handle = TypeVar("Handle", handles.Tile, handles.GlobalView, handles.ConvTile)
Key: TypeAlias = Any  # any index that NumPy accepts
Part: TypeAlias = Any  # NumPy's result: a scalar or an array
Operand: TypeAlias = "Tile | float"

CPU = (1, 0)  # DLPack's device type and number
OWN = "its own memory"
EDGE = 3  # rows and columns that `repr` shows at each end


class SupportsDLPack(Protocol):
    """An array of any library that implements DLPack."""

    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class HostArray(Rich, Generic[Handle]):
    """The protocol of `numpy.asarray`, DLPack, indexing and `repr`."""

    copies: ClassVar[bool] = True  # `numpy` returns new memory

    def __init__(self, handle: Handle) -> None:
        self.handle: Handle = handle

    @property
    def dtype(self) -> DType:
        """Return the element type."""
        return self.handle.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents of `numpy()`."""
        return self.numpy().shape

    def numpy(self) -> AnyArray:
        """Return the values in logical order."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Key) -> Part:
        """Return values, by NumPy's rules of indexing."""
        return self.numpy()[in_memory(key)]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        values = self.numpy()
        fresh = bool(copy) and not self.copies
        found = values.astype(values.dtype if dtype is None else dtype, copy=fresh)
        if copy is False and (self.copies or found is not values):
            raise ValueError(f"an array of {self.handle.type} is always a copy")
        return found

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:  # Any: a capsule
        """Return the values as a DLPack capsule on the CPU.

        BufferError for element types that DLPack does not have.
        """
        if copy is False and self.copies:
            raise BufferError(f"an array of {self.handle.type} is always a copy")
        asked = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        stated = {name: value for name, value in asked.items() if value is not None}
        try:
            return self.numpy().__dlpack__(stream=stream, **stated)  # type: ignore[arg-type]  # stubs of NumPy 1 lack the keywords
        except BufferError as problem:
            advice = "exchange the bits: numpy().view(numpy.uint16), for example"
            raise BufferError(f"{self.dtype}: {problem}; {advice}") from None

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU


class _Stored(HostArray[Handle]):
    """A tile or convolution tile: codes in bytes, some of which may have no value."""

    def numpy(self) -> AnyArray:
        """Return a copy of the values in logical order.

        Elements without a value read as 0, with an UnwrittenWarning; `written()` identifies them.
        """
        return self._warned(values_of(self._codes(), self.dtype), ...)

    def written(self) -> NDArray[np.bool_]:
        """Return which elements of `numpy()` have a value."""
        raise NotImplementedError

    def storage(self) -> NDArray[np.uint8]:
        """Return a copy of all bytes, in hardware order."""
        raise NotImplementedError

    def __getitem__(self, key: Key) -> Part:
        """Return a copy of values, by NumPy's rules; UnwrittenWarning as for `numpy`."""
        return self._warned(values_of(self._codes(), self.dtype), in_memory(key))

    def __setitem__(self, key: Key, value: ArrayLike) -> None:
        """Write elements from the host as `data` does, without checking rules.

        Numbers are rounded half to even. ValueError if integers do not fit the element type, or if
        shapes do not match.
        """
        codes, chosen, key = self._codes(), np.zeros(self.shape, np.bool_), in_memory(key)
        codes[key] = rounded_codes(host_array(value), self.dtype)
        chosen[key] = True
        self._put(codes, chosen)

    def _codes(self) -> AnyArray:
        raise NotImplementedError

    def _put(self, codes: AnyArray, chosen: NDArray[np.bool_]) -> None:
        raise NotImplementedError

    def _warned(self, values: AnyArray, key: Key) -> Part:
        """Return the values at `key`, with a warning if some of them were never written."""
        written = self.written()
        missing = np.size(written[key]) - np.count_nonzero(written[key])
        if missing:
            first = tuple(map(int, np.argwhere(~written)[0]))
            seen = f"{missing} elements of {self.handle.type} are undefined"
            advice = f"the first is {first}; see written()"
            warnings.warn(f"{seen}; {advice}", UnwrittenWarning, stacklevel=depth())
        return values[key]

    def __repr__(self) -> str:
        """Return type, address and some values; `--` is an element without a value."""
        values = values_of(self._codes(), self.dtype)
        lines = _picture(values, self.written())
        return (
            "\n".join([f"<{type(self).__name__} {self.handle.type} at {self._place()}", *lines])
            + ">"
        )

    def _place(self) -> str:
        memory = self.handle.memory
        return f"0x{self.handle.elements.address:x} of {memory.name}"


class Operators:
    """Python's operators on tiles; each is one instruction, whose page names the operator.

    The other operand is a tile, a column, a row, or a number. `.T` of a row or a column is a view.
    """

    def __add__(self, other: Operand) -> Tile:
        return above("value forms").operate("add", self, other)

    def __radd__(self, other: float) -> Tile:
        return above("value forms").operate("add", other, self)

    def __sub__(self, other: Operand) -> Tile:
        return above("value forms").operate("sub", self, other)

    def __rsub__(self, other: float) -> Tile:
        return above("value forms").operate("sub", other, self)

    def __mul__(self, other: Operand) -> Tile:
        return above("value forms").operate("mul", self, other)

    def __rmul__(self, other: float) -> Tile:
        return above("value forms").operate("mul", other, self)

    def __truediv__(self, other: Operand) -> Tile:
        return above("value forms").operate("truediv", self, other)

    def __rtruediv__(self, other: float) -> Tile:
        return above("value forms").operate("truediv", other, self)

    def __and__(self, other: Operand) -> Tile:
        return above("value forms").operate("and", self, other)

    def __or__(self, other: Operand) -> Tile:
        return above("value forms").operate("or", self, other)

    def __xor__(self, other: Operand) -> Tile:
        return above("value forms").operate("xor", self, other)

    def __lshift__(self, other: Operand) -> Tile:
        return above("value forms").operate("lshift", self, other)

    def __rshift__(self, other: Operand) -> Tile:
        return above("value forms").operate("rshift", self, other)

    def __neg__(self) -> Tile:
        return above("value forms").operate("neg", self)

    def __invert__(self) -> Tile:
        return above("value forms").operate("invert", self)

    def __abs__(self) -> Tile:
        return above("value forms").operate("abs", self)

    @property
    def T(self) -> Tile:
        """Return a row as the column of the same bytes, or a column as the row."""
        return above("value forms").reshaped(self)

    def to(
        self,
        loc: Loc | str,
        *,
        dtype: DType | str | DTypeLike | None = None,
        layout: Layout | str | None = None,
        quant: Tile | float | None = None,
        relu: Word | str | None = None,
        mode: Word | str | None = None,
        phase: Word | str | None = None,
    ) -> Tile:
        """Return the same elements in another memory; the keywords are those of the move."""
        words = stated(dtype=dtype, layout=layout, quant=quant, relu=relu, mode=mode, phase=phase)
        return above("value forms").moved(self, loc, **words)

    def cast(
        self,
        dtype: DType | str | DTypeLike,
        *,
        rmode: Word | str | None = None,
        sat_mode: Word | str | None = None,
        tmp: Tile | None = None,
    ) -> Tile:
        """Return the elements in another type; the tile itself if nothing changes."""
        return above("value forms").cast(
            self, dtype, **stated(rmode=rmode, sat_mode=sat_mode, tmp=tmp)
        )


def stated(**words: object) -> dict[str, Any]:  # Any: words, tiles and numbers
    """Return the keywords of a call that were given."""
    return {name: word for name, word in words.items() if word is not None}


class Tile(Operators, _Stored[handles.Tile]):
    """A tile with its own bytes, made by `ptokit.tile` or an alias such as `tile_left`.

    It is an array of its valid region: `numpy.asarray(tile)`, `tile[0, 0]`, DLPack. A copied or
    unpickled tile has bytes of its own, even if the original shares memory.
    """

    @property
    def type(self) -> TileType:
        """Return location, element type, extents, layout and valid region."""
        return self.handle.type

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents of the valid region."""
        return tuple(self.handle.valid)

    @property
    def valid(self) -> tuple[int, int]:
        """Return the rows and columns of the valid region."""
        return self.handle.valid.rows, self.handle.valid.cols

    @property
    def address(self) -> int:
        """Return the byte offset in its memory: 0 unless the tile was placed."""
        return self.handle.address

    def written(self) -> NDArray[np.bool_]:
        """Return which elements of the valid region have a value."""
        return self.handle.has_value()

    def storage(self) -> NDArray[np.uint8]:
        """Return a copy of all bytes of the tile, in hardware order."""
        return self.handle.bytes().copy()

    def _region(self) -> tuple[range, range]:
        rows, cols = self.valid
        return range(rows), range(cols)

    def _codes(self) -> AnyArray:
        return self.handle.codes()

    def _put(self, codes: AnyArray, chosen: NDArray[np.bool_]) -> None:
        self.handle.elements.write_where(*self._region(), codes, chosen)

    def __reduce__(self) -> tuple[object, ...]:
        return _tile_of, (self.type, self.storage(), self.handle.shadow().copy())


class LaneRegister(HostArray[handles.Tile]):
    """A vector register or a mask, while Python runs a vector function itself."""

    @property
    def type(self) -> TileType:
        """Return the element type and the number of lanes."""
        return self.handle.type

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.type.cols,)

    def numpy(self) -> AnyArray:
        """Return the lanes; those without a value are 0. Of a mask, which lanes it selects."""
        found = values_of(self.handle.codes(), self.dtype)[0]
        return found.astype(np.bool_) if str(self.type).startswith("!pto.mask") else found

    def __repr__(self) -> str:
        return f"<{self.type} {np.array2string(self.numpy(), threshold=8, edgeitems=3)}>"


class ConvTile(_Stored[handles.ConvTile]):
    """A convolution tile with its own bytes: an array with the extents of its layout."""

    @property
    def type(self) -> ConvTileType:
        """Return element type, extents and the unrolling of a feature map."""
        return self.handle.type

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents of the layout."""
        return self.type.shape

    @property
    def matrix(self) -> tuple[int, int]:
        """Return the rows and columns of the represented matrix: patches x their elements."""
        return self.type.matrix.rows or 0, self.type.matrix.cols or 0

    def written(self) -> NDArray[np.bool_]:
        """Return which elements have a value."""
        return self.handle.has_value().reshape(self.shape)

    def storage(self) -> NDArray[np.uint8]:
        """Return a copy of all bytes, in hardware order."""
        return self.handle.memory.data.copy()

    def _line(self) -> tuple[range, range]:
        return range(1), range(self.type.numel)

    def _codes(self) -> AnyArray:
        return self.handle.codes()

    def _put(self, codes: AnyArray, chosen: NDArray[np.bool_]) -> None:
        flat = (codes.reshape(1, -1), chosen.reshape(1, -1))
        self.handle.flat().elements.write_where(*self._line(), *flat)

    def __reduce__(self) -> tuple[object, ...]:
        return _conv_of, (self.type, self.storage(), self.handle.memory.shadow.copy())


class Tensor(HostArray[handles.GlobalView]):
    """A view of a NumPy array as global memory; stores write into the array."""

    copies = False

    def __init__(self, handle: handles.GlobalView, array: AnyArray) -> None:
        super().__init__(handle)
        self.array = array

    @property
    def type(self) -> GlobalType:
        """Return element type, extents and strides of the view."""
        return self.handle.type

    def require_stored(self) -> None:
        """Raise ValueError if elements of the view share bytes, so that a store would collide."""
        if shares_bytes(self.type.shape, self.type.stride or (), 1):
            seen = f"{self.type} has elements that share bytes"
            raise ValueError(f"{seen}, and a store would keep only one: view each once")

    def numpy(self) -> AnyArray:
        """Return the whole array."""
        return self.array

    def __setitem__(self, key: Key, value: ArrayLike) -> None:
        """Write into the array, by NumPy's rules."""
        self.array[key] = value

    def __repr__(self) -> str:
        return f"<Tensor {self.type}>"

    def __reduce__(self) -> tuple[object, ...]:
        return tensor_of, (self.type, self.handle.origin, self.array)


def _memory(data: AnyArray, shadow: AnyArray) -> Memory:
    """Return a memory with these bytes, aligned to a cache line."""
    memory = Memory.blank(OWN, data.size)
    memory.data[:], memory.shadow[:] = data, shadow
    return memory


def _tile_of(kind: TileType, data: AnyArray, shadow: AnyArray) -> Tile:
    return Tile(handles.Tile(kind, _memory(data, shadow), 0))


def _conv_of(kind: ConvTileType, data: AnyArray, shadow: AnyArray) -> ConvTile:
    return ConvTile(handles.ConvTile(kind, _memory(data, shadow), 0))


def tensor_of(kind: GlobalType, origin: int, array: AnyArray) -> Tensor:
    """Return the view of type `kind` that starts `origin` elements into the array."""
    memory = Memory("the array", array.reshape(-1).view(np.uint8), written=True, host=True)
    return Tensor(handles.GlobalView(kind, memory, origin), array)


def _picture(values: AnyArray, written: AnyArray) -> Iterator[str]:
    """Yield the first and last rows and columns as text lines."""
    wide = values.shape[-1] if values.ndim else 1
    values, written = values.reshape(-1, wide), written.reshape(-1, wide)
    rows, cols = _ends(values.shape[0]), _ends(wide)
    texts = [[_text(values, written, row, col) for col in cols] for row in rows]
    width = max((len(text) for row in texts for text in row), default=0)
    for row in texts:
        yield "  " + " ".join(text.rjust(width) for text in row)


def _ends(count: int) -> Sequence[int | None]:
    """Return the first and last indices, with None for omitted ones."""
    if count <= 2 * EDGE:
        return range(count)
    return [*range(EDGE), None, *range(count - EDGE, count)]


def _text(values: AnyArray, written: AnyArray, row: int | None, col: int | None) -> str:
    if row is None or col is None:
        return "..."
    return str(values[row, col]) if written[row, col] else "--"
