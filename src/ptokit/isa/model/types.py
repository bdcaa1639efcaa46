"""Types of values other than data: pointers, scalars, handles, and omitted or unknown types."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import prod
from typing import ClassVar, TypeAlias

from ptokit.isa.formula.formulas import Many
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, LogicalType, MultiTileType, RegisterType, TileType
from ptokit.values.dtypes import DTYPES, DType, i64, u8


@dataclass(frozen=True)
class PtrType:
    """A pointer to global memory, or, according to `space`, to the memory of a location.

    `element` is the spelling of its elements if `dtype` says less: `!pto.bf16x2`, 32 bits.
    """

    dtype: DType
    space: str = "gm"
    by_number: bool = False  # made from an integer address
    element: str = ""
    packed: PackedType | None = None  # its elements are pairs, fours or eights of numbers

    @property
    def offset(self) -> int | None:
        """None: the offset in elements from the start of its array is known at run time only."""
        return None

    def __str__(self) -> str:
        space = "" if self.space == "gm" else f", {self.space}"
        return f"!pto.ptr<{self.packed or self.element or self.dtype}{space}>"


@dataclass(frozen=True)
class ScalarType:
    """A number: `index`, `i1`, or any element type."""

    name: str
    arrays: ClassVar[int] = 0  # arrays in the type

    def __str__(self) -> str:
        return self.name

    @cached_property
    def is_float(self) -> bool:
        dtype = self.dtype
        return dtype is not None and dtype.is_float

    @property
    def part(self) -> ScalarType:
        """The type of the parts of a packed number, or this type."""
        return self

    @cached_property
    def dtype(self) -> DType | None:
        """The element type of the same name; None for `index` and `i1`."""
        return next((d for d in DTYPES if d.name == self.name), None)

    @cached_property
    def bits(self) -> int:
        """The width in bits; 64 for `index`."""
        return 1 if self.name == "i1" else 64 if self.dtype is None else self.dtype.bits

    @cached_property
    def element(self) -> DType:
        """The element type of an array that holds one such number."""
        return self.dtype or (u8 if self.name == "i1" else i64)

    @cached_property
    def nbytes(self) -> int:
        """The bytes of such a number in memory."""
        return self.element.size


@dataclass(frozen=True)
class PackedType(ScalarType):
    """Several numbers of one type in a register of a thread: `vector<2xf16>`.

    They are replaced by single numbers before a program runs.
    """

    of: ScalarType
    count: int

    @property
    def part(self) -> ScalarType:
        return self.of

    @cached_property
    def is_float(self) -> bool:
        return self.of.is_float

    @cached_property
    def bits(self) -> int:
        return self.of.bits * self.count


@dataclass(frozen=True)
class ArrayType:
    """An array of the scalar unit with its extents: numbers, or event ids (of type `index`)."""

    element: ScalarType
    shape: tuple[int, ...]
    arrays: ClassVar[int] = 1

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def rank(self) -> int:
        """The number of indices of an element."""
        return len(self.shape)

    @property
    def greatest(self) -> Many:
        """The indices of the last element."""
        return Many(tuple(extent - 1 for extent in self.shape))

    @property
    def unit(self) -> DType:
        """The type of the elements."""
        return self.element.element

    @cached_property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.offset(self.count)

    def offset(self, index: int) -> int:
        """Return the byte offset of element number `index`."""
        return index * self.unit.size

    def __str__(self) -> str:
        if self.element == INDEX:
            return f"!pto.eventid_array<{self.count}>"
        return f"!pto.local_array<{''.join(f'{n}x' for n in self.shape)}{self.element}>"


@dataclass(frozen=True)
class StructType:
    """A struct of the scalar unit, laid out as in C++.

    A field is a number, an array of numbers or another struct.
    """

    fields: tuple[Member, ...]
    unit: ClassVar[DType] = u8  # the element type of its storage
    count: ClassVar[None] = None

    def __str__(self) -> str:
        return f"!pto.struct<{', '.join(map(str, self.fields))}>"

    @property
    def arrays(self) -> int:
        """The number of arrays, with those of inner structs."""
        return sum(part.arrays for part in self.fields)

    @cached_property
    def align(self) -> int:
        """The alignment in bytes."""
        return max(map(_align, self.fields))

    @cached_property
    def nbytes(self) -> int:
        """The size in bytes."""
        return -(-self.offset(len(self.fields)) // self.align) * self.align

    def offset(self, index: int) -> int:
        """Return the byte offset of field number `index`; for the number of fields, the end."""
        end = 0
        for part in self.fields[:index]:
            end = -(-end // _align(part)) * _align(part) + part.nbytes
        step = _align(self.fields[index]) if index < len(self.fields) else 1
        return -(-end // step) * step

    def place(self, path: tuple[int, ...]) -> tuple[ScalarType, int] | None:
        """Return type and byte offset of the number at a path; None if no number is there."""
        return _place(self, path, 0)


Member: TypeAlias = "ScalarType | ArrayType | StructType"


def _place(found: Member, path: tuple[int, ...], start: int) -> tuple[ScalarType, int] | None:
    """Return `StructType.place` for a member that starts at byte `start`."""
    if isinstance(found, ScalarType):
        return None if path else (found, start)
    parts = found.fields if isinstance(found, StructType) else (found.element,) * found.count
    if not path or not 0 <= path[0] < len(parts):
        return None
    return _place(parts[path[0]], path[1:], start + found.offset(path[0]))


def _align(field: Member) -> int:
    """Return the alignment of a field in bytes."""
    match field:
        case StructType():
            return field.align
        case ArrayType():
            return field.element.nbytes
        case ScalarType():
            return field.nbytes


@dataclass(frozen=True)
class HandleType:
    """A handle without parameters, whose content belongs to the run time."""

    name: str

    def __str__(self) -> str:
        return f"!pto.{self.name}"


PIPE, SESSION, EVENT = (HandleType(n) for n in ("pipe", "async_session", "async_event"))
PREFETCHING = HandleType("prefetch_async_context")
HANDLES = {str(handle): handle for handle in (PIPE, SESSION, EVENT, PREFETCHING)}


@dataclass(frozen=True)
class Elided:
    """An omitted type: `!pto.tile<...>`, `!pto.tile_buf<...>`, `dtype`, or nothing."""

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
    """The kind of value that an operand takes."""

    TILE = "tile"
    MULTI = "multi-tile"
    GLOBAL = "global tensor view"
    CONV = "convolution tile"
    REGISTER = "register"  # of the level below tiles
    LOGICAL = "logical vector"  # in any number of registers
    PTR = "pointer"
    INDEX = "index"
    SCALAR = "scalar"
    ARRAY = "array of numbers"
    STRUCT = "struct"
    HANDLE = "handle"
    ENTRY = "tile or view"  # an entry of a FIFO
    ANY = "value"

    def accepts(self, given: Type) -> bool:
        """Return whether a value of type `given` may be the operand; omitted types if they fit."""
        if self is Kind.ANY:
            return True
        match given:
            case MultiTileType():
                return self is Kind.MULTI
            case LogicalType():
                return self is Kind.LOGICAL
            case RegisterType():
                return self is Kind.REGISTER
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


REGISTER_KINDS = frozenset((Kind.REGISTER, Kind.LOGICAL))
# the omitted type of each kind of value
ELISIONS: dict[Kind, Elided] = {
    Kind.TILE: Elided("!pto.tile<...>"),
    Kind.MULTI: Elided("!pto.multi_tile_buf<...>"),
    Kind.GLOBAL: Elided("!pto.partition_tensor_view<...>"),
    Kind.CONV: Elided("!pto.conv_tile<...>"),
    Kind.REGISTER: Elided("!pto.vreg<...>"),
    Kind.LOGICAL: Elided("!pto.vmi.vreg<...>"),
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
    """Return the kind of value whose omitted type is spelled `spelling`."""
    if "view" in spelling or "memref" in spelling:
        return Kind.GLOBAL
    return next((k for k, e in ELISIONS.items() if e.spelling == spelling), Kind.TILE)


Tile, MultiTile, Global, Conv, Ptr, Index, Scalar, Numbers, Struct, Handle, Entry, Any_, Lanes = (
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
    Kind.REGISTER,
)
Vector = Kind.LOGICAL
