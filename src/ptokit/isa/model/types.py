"""The types of values other than data: pointers, scalars, and types a page left out or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ptokit.isa.model.dtypes import DTYPES, DType, i64, u8
from ptokit.isa.model.tiles import ConvTileType, GlobalType, MultiTileType, TileType


@dataclass(frozen=True)
class PtrType:
    """A pointer to global memory, or, as `space` says, to the memory of a location."""

    dtype: DType
    space: str = "gm"

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

    def __str__(self) -> str:
        return self.name

    @property
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


@dataclass(frozen=True)
class ArrayType:
    """An array of the scalar unit: so many numbers, or event ids (of type `index`)."""

    element: ScalarType
    count: int

    def __str__(self) -> str:
        if self.element == INDEX:
            return f"!pto.eventid_array<{self.count}>"
        return f"!pto.local_array<{self.count}x{self.element}>"


@dataclass(frozen=True)
class Elided:
    """A type the text leaves out: `!pto.tile<...>`, `!pto.tile_buf<...>`, `dtype`, or nothing."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


@dataclass(frozen=True)
class OpaqueType:
    """A type this version does not know, kept as written."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


Type: TypeAlias = (
    "TileType | GlobalType | ConvTileType | PtrType | ScalarType | ArrayType | Elided | OpaqueType"
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
    ANY = "value"

    def accepts(self, given: Type) -> bool:
        """Whether a value of type `given` may stand here; elided types may where they fit."""
        if self is Kind.ANY:
            return True
        match given:
            case MultiTileType():
                return self is Kind.MULTI
            case TileType():
                return self is Kind.TILE
            case GlobalType():
                return self is Kind.GLOBAL
            case ConvTileType():
                return self is Kind.CONV
            case PtrType():
                return self is Kind.PTR
            case ArrayType():
                return self is Kind.ARRAY
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
    Kind.ANY: Elided(""),
}


def kind_of_elided(spelling: str) -> Kind:
    """The kind of value whose type is elided as `spelling`."""
    if "view" in spelling or "memref" in spelling:
        return Kind.GLOBAL
    return next((k for k, e in ELISIONS.items() if e.spelling == spelling), Kind.TILE)


Tile, MultiTile, Global, Conv, Ptr, Index, Scalar, Numbers, Any_ = (
    Kind.TILE,
    Kind.MULTI,
    Kind.GLOBAL,
    Kind.CONV,
    Kind.PTR,
    Kind.INDEX,
    Kind.SCALAR,
    Kind.ARRAY,
    Kind.ANY,
)
