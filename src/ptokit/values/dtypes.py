"""Element types: one row for each format that a tile may hold.

`storage` is the unsigned NumPy type that carries one element's bits; moves use nothing else.
Four-bit types are packed: two elements a byte, the even element in the low nibble. Sources: OCP MX
1.0 for the 8- and 4-bit floats, the published table of codes for hif8.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class NumberKind(Enum):
    """The interpretation of an element's bits."""

    FLOAT = "float"
    INT = "int"
    UINT = "uint"


@dataclass(frozen=True, repr=False)
class DType:
    """An element type of the ISA.

    `exponent`, `mantissa` and `bias` describe floats only; hif8 is tapered and has none.
    `inf` and `nan` say whether the format can hold them.
    """

    name: str
    bits: int
    kind: NumberKind
    cpp: str
    exponent: int = 0
    mantissa: int = 0
    bias: int = 0
    inf: bool = False
    nan: bool = False
    aliases: tuple[str, ...] = ()
    mlir: str = ""  # the name in DPS text, where it differs from `name`

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DType) and self._facts == other._facts)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> str | tuple[object, ...]:
        """Return the name of a type of the table: bodies compare types by identity."""
        if self is f64:
            return "f64"
        known = SPELLINGS.get(self.name) is self
        return (dtype_named, (self.name,)) if known else super().__reduce__()

    @property
    def is_float(self) -> bool:
        return self.kind is NumberKind.FLOAT

    @property
    def is_int(self) -> bool:
        return self.kind is not NumberKind.FLOAT

    @property
    def signed(self) -> bool:
        return self.kind is not NumberKind.UINT and self.name != "f8e8m0"

    @property
    def packed(self) -> bool:
        """True if two elements share a byte."""
        return self.bits == 4

    @cached_property
    def pairs(self) -> bool:
        """True if text counts pairs of elements, in types and allocations (dispute X41)."""
        return self.packed and self.is_float

    @cached_property
    def size(self) -> int:
        """Bytes of one addressable unit: `sizeof` of the C++ type (1 for packed types)."""
        return max(self.bits // 8, 1)

    def nbytes(self, count: int) -> int:
        """Return the bytes that `count` elements occupy."""
        return (count * self.bits + 7) // 8

    @cached_property
    def _facts(self) -> tuple[object, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def native(self) -> np.dtype[Any]:  # Any: as below
        """The NumPy type of this kind and size."""
        import numpy as np  # a check without a run does not need it

        return np.dtype(f"{self.kind.value[0]}{self.size}")

    @cached_property
    def plain(self) -> bool:
        """True if the bits of a value in `native` are its code."""
        return self in (f32, f64) or (self.is_int and not self.packed)

    @cached_property
    def storage(self) -> np.dtype[Any]:  # Any: the width is only known at run time
        import numpy as np

        return np.dtype(f"u{self.size}")


f32 = DType("f32", 32, NumberKind.FLOAT, "float", 8, 23, 127, True, True, ("float", "float32"))
f16 = DType("f16", 16, NumberKind.FLOAT, "half", 5, 10, 15, True, True, ("half", "float16"))
bf16 = DType("bf16", 16, NumberKind.FLOAT, "bfloat16_t", 8, 7, 127, True, True, ("bfloat16",))
i8 = DType("i8", 8, NumberKind.INT, "int8_t", aliases=("int8", "si8"))
u8 = DType("u8", 8, NumberKind.UINT, "uint8_t", aliases=("uint8",), mlir="ui8")
i16 = DType("i16", 16, NumberKind.INT, "int16_t", aliases=("int16", "si16"))
u16 = DType("u16", 16, NumberKind.UINT, "uint16_t", aliases=("uint16",), mlir="ui16")
i32 = DType("i32", 32, NumberKind.INT, "int32_t", aliases=("int32", "si32"))
u32 = DType("u32", 32, NumberKind.UINT, "uint32_t", aliases=("uint32",), mlir="ui32")
i64 = DType("i64", 64, NumberKind.INT, "int64_t", aliases=("int64", "si64"))
u64 = DType("u64", 64, NumberKind.UINT, "uint64_t", aliases=("uint64",), mlir="ui64")
i4 = DType("i4", 4, NumberKind.INT, "int4b_t", aliases=("int4", "si4"))
hif8 = DType(
    "hif8", 8, NumberKind.FLOAT, "hifloat8_t", 0, 0, 0, True, True, ("hifloat8",), "!pto.hif8"
)
f8e4m3 = DType(
    "f8e4m3",
    8,
    NumberKind.FLOAT,
    "float8_e4m3_t",
    4,
    3,
    7,
    False,
    True,
    ("float8_e4m3",),
    "f8E4M3FN",
)
f8e5m2 = DType(
    *("f8e5m2", 8, NumberKind.FLOAT, "float8_e5m2_t", 5, 2, 15, True, True),
    *(("float8_e5m2",), "f8E5M2"),
)
f8e8m0 = DType(
    "f8e8m0",
    8,
    NumberKind.FLOAT,
    "float8_e8m0_t",
    8,
    0,
    127,
    False,
    True,
    ("f8E8M0FNU", "float8_e8m0"),
    "!pto.f8E8M0",
)
f4e2m1x2 = DType(
    "f4e2m1x2",
    4,
    NumberKind.FLOAT,
    "float4_e2m1x2_t",
    2,
    1,
    1,
    aliases=("float4_e2m1x2", "f4E2M1FN", "f4e2m1", "float4_e2m1"),
    mlir="!pto.f4E2M1x2",
)
f4e1m2x2 = DType(
    "f4e1m2x2",
    4,
    NumberKind.FLOAT,
    "float4_e1m2x2_t",
    1,
    2,
    1,
    aliases=("float4_e1m2x2", "hifloat4x2", "f4e1m2", "float4_e1m2"),
    mlir="!pto.f4E1M2x2",
)

# No tile has f64: bodies compute in f64 where f32 would round too early.
f64 = DType("f64", 64, NumberKind.FLOAT, "double", 11, 52, 1023, True, True)

DTYPES: tuple[DType, ...] = (
    *(f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64),
    *(hif8, f8e4m3, f8e5m2, f8e8m0, f4e2m1x2, f4e1m2x2, i4),
)


def _spellings() -> dict[str, DType]:
    table: dict[str, DType] = {}
    for dtype in DTYPES:
        for word in (dtype.name, dtype.cpp, dtype.mlir or dtype.name, *dtype.aliases):
            bare = word.removeprefix("!pto.").lower()
            table[bare] = dtype
            table[bare.removesuffix("_t")] = dtype
    return table


SPELLINGS = _spellings()


def dtype_named(word: str) -> DType | None:
    """Return the element type that `word` spells in any text form or in C++, or None."""
    return SPELLINGS.get(word.removeprefix("!pto.").lower())
