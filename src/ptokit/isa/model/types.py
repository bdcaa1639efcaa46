"""The types of values other than data: pointers, scalars, and types a page left out or unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import prod
from typing import ClassVar, TypeAlias

from ptokit.isa.formula.formulas import Many
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, MultiTileType, TileType
from ptokit.values.dtypes import DTYPES, DType, i64, u8


@dataclass(frozen=True)
class PtrType:
    """A pointer to global memory, or, as `space` says, to the memory of a location."""

    dtype: DType
    space: str = "gm"
    by_number: bool = False  # made of an address

    @property
    def offset(self) -> int | None:
        """Where it points, in elements from the start of its array: only the run knows."""
        return None

    def __str__(self) -> str:
        return f"!pto.ptr<{self.dtype}{'' if self.space == 'gm' else f', {self.space}'}>"


@dataclass(frozen=True)
class ScalarType:
    """A number: `index`, `i1`, or any element type."""

    name: str
    arrays: ClassVar[int] = 0  # in it, as of an array and a struct

    def __str__(self) -> str:
        return self.name

    @cached_property
    def is_float(self) -> bool:
        dtype = self.dtype
        return dtype is not None and dtype.is_float

    @property
    def dtype(self) -> DType | None:
        """The element type of the same name; None for `index` and `i1`."""
        return next((d for d in DTYPES if d.name == self.name), None)

    @property
    def bits(self) -> int:
        """Its width; of `index` 64."""
        return 1 if self.name == "i1" else 64 if self.dtype is None else self.dtype.bits

    @property
    def element(self) -> DType:
        """The type of an array that holds one such number."""
        return self.dtype or (u8 if self.name == "i1" else i64)

    @property
    def nbytes(self) -> int:
        """The bytes of such a number in memory."""
        return self.element.size


@dataclass(frozen=True)
class ArrayType:
    """An array of the scalar unit by its extents: numbers, or event ids (of type `index`)."""

    element: ScalarType
    shape: tuple[int, ...]
    arrays: ClassVar[int] = 1

    @property
    def count(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def rank(self) -> int:
        """How many indices an element has."""
        return len(self.shape)

    @property
    def greatest(self) -> Many:
        """The indices of the last element."""
        return Many(tuple(extent - 1 for extent in self.shape))

    @property
    def unit(self) -> DType:
        """The type of its elements."""
        return self.element.element

    @property
    def nbytes(self) -> int:
        """The bytes it takes."""
        return self.offset(self.count)

    def offset(self, index: int) -> int:
        """Where element number `index` begins."""
        return index * self.unit.size

    def __str__(self) -> str:
        if self.element == INDEX:
            return f"!pto.eventid_array<{self.count}>"
        return f"!pto.local_array<{''.join(f'{n}x' for n in self.shape)}{self.element}>"


@dataclass(frozen=True)
class StructType:
    """Numbers of several types that the scalar unit keeps side by side, as C++ lays them out.

    A field is a number, an array of numbers or another struct.
    """

    fields: tuple[Member, ...]
    unit: ClassVar[DType] = u8  # as what its storage is declared
    count: ClassVar[None] = None

    def __str__(self) -> str:
        return f"!pto.struct<{', '.join(map(str, self.fields))}>"

    @property
    def arrays(self) -> int:
        """How many arrays it has, those of structs in it too."""
        return sum(part.arrays for part in self.fields)

    @property
    def align(self) -> int:
        """Where it begins, its address is a multiple of so many bytes."""
        return max(map(_align, self.fields))

    @property
    def nbytes(self) -> int:
        """The bytes it takes."""
        return -(-self.offset(len(self.fields)) // self.align) * self.align

    def offset(self, index: int) -> int:
        """Where field number `index` begins; of the number of fields: where the last one ends."""
        end = 0
        for part in self.fields[:index]:
            end = -(-end // _align(part)) * _align(part) + part.nbytes
        step = _align(self.fields[index]) if index < len(self.fields) else 1
        return -(-end // step) * step

    def place(self, path: tuple[int, ...]) -> tuple[ScalarType, int] | None:
        """The number at a path, and its byte offset; None where no number is."""
        return _place(self, path, 0)


Member: TypeAlias = "ScalarType | ArrayType | StructType"


def _place(found: Member, path: tuple[int, ...], start: int) -> tuple[ScalarType, int] | None:
    """`StructType.place` within a part that begins at `start`."""
    if isinstance(found, ScalarType):
        return None if path else (found, start)
    parts = found.fields if isinstance(found, StructType) else (found.element,) * found.count
    if not path or not 0 <= path[0] < len(parts):
        return None
    return _place(parts[path[0]], path[1:], start + found.offset(path[0]))


def _align(field: Member) -> int:
    """A field begins at a multiple of so many bytes."""
    match field:
        case StructType():
            return field.align
        case ArrayType():
            return field.element.nbytes
        case ScalarType():
            return field.nbytes


@dataclass(frozen=True)
class HandleType:
    """A handle without parameters: what it stands for is the runtime's affair."""

    name: str

    def __str__(self) -> str:
        return f"!pto.{self.name}"


PIPE, SESSION, EVENT = (HandleType(n) for n in ("pipe", "async_session", "async_event"))
PREFETCHING = HandleType("prefetch_async_context")
HANDLES = {str(handle): handle for handle in (PIPE, SESSION, EVENT, PREFETCHING)}


@dataclass(frozen=True)
class Elided:
    """A type the text leaves out: `!pto.tile<...>`, `!pto.tile_buf<...>`, `dtype`, or nothing."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True)
class OpaqueType:
    """A type that no page takes, kept as written: of another level or dialect, or unknown."""

    spelling: str
    foreign: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.spelling


Type: TypeAlias = (
    "TileType | GlobalType | ConvTileType | PtrType | Member | HandleType | Elided | OpaqueType"
)

INDEX = ScalarType("index")
I1, I32, I64 = ScalarType("i1"), ScalarType("i32"), ScalarType("i64")


class Kind(Enum):
    """What an operand may be."""

    TILE = "tile"
    MULTI = "multi-tile"
    GLOBAL = "global tensor view"
    CONV = "convolution tile"
    PTR = "pointer"
    INDEX = "index"
    SCALAR = "scalar"
    ARRAY = "array of numbers"
    STRUCT = "struct"
    HANDLE = "handle"
    ENTRY = "tile or view"  # of a pipe
    ANY = "value"

    def accepts(self, given: Type) -> bool:
        """Whether a value of type `given` may stand here; elided types may where they fit."""
        if self is Kind.ANY:
            return True
        match given:
            case MultiTileType():
                return self is Kind.MULTI
            case TileType():
                return self in (Kind.TILE, Kind.ENTRY)
            case GlobalType():
                return self in (Kind.GLOBAL, Kind.ENTRY)
            case ConvTileType():
                return self is Kind.CONV
            case PtrType():
                return self is Kind.PTR
            case ArrayType():
                return self is Kind.ARRAY
            case StructType():
                return self is Kind.STRUCT
            case HandleType():
                return self is Kind.HANDLE
            case ScalarType():
                return self is Kind.SCALAR or (self is Kind.INDEX and not given.is_float)
            case Elided("dtype"):
                return self in (Kind.INDEX, Kind.SCALAR)
            case Elided(""):
                return True
            case Elided(spelling):
                return self is kind_of_elided(spelling)
            case OpaqueType():
                return False


# how a value of a kind is elided
ELISIONS: dict[Kind, Elided] = {
    Kind.TILE: Elided("!pto.tile<...>"),
    Kind.MULTI: Elided("!pto.multi_tile_buf<...>"),
    Kind.GLOBAL: Elided("!pto.partition_tensor_view<...>"),
    Kind.CONV: Elided("!pto.conv_tile<...>"),
    Kind.PTR: Elided("!pto.ptr<...>"),
    Kind.INDEX: Elided("dtype"),
    Kind.SCALAR: Elided("dtype"),
    Kind.ARRAY: Elided("!pto.local_array<...>"),
    Kind.STRUCT: Elided("!pto.struct<...>"),
    Kind.HANDLE: Elided(""),
    Kind.ENTRY: Elided(""),
    Kind.ANY: Elided(""),
}


def kind_of_elided(spelling: str) -> Kind:
    """The kind of value whose type is elided as `spelling`."""
    if "view" in spelling or "memref" in spelling:
        return Kind.GLOBAL
    return next((k for k, e in ELISIONS.items() if e.spelling == spelling), Kind.TILE)


Tile, MultiTile, Global, Conv, Ptr, Index, Scalar, Numbers, Struct, Handle, Entry, Any_ = (
    Kind.TILE,
    Kind.MULTI,
    Kind.GLOBAL,
    Kind.CONV,
    Kind.PTR,
    Kind.INDEX,
    Kind.SCALAR,
    Kind.ARRAY,
    Kind.STRUCT,
    Kind.HANDLE,
    Kind.ENTRY,
    Kind.ANY,
)
