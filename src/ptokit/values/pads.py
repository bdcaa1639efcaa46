"""The bits of each pad value for each element type."""

from __future__ import annotations

from dataclasses import dataclass

from ptokit.values.dtypes import DType, NumberKind, bf16, f16, f32
from ptokit.values.enumerations import PadValue

INFINITY = {f32: 0x7F800000, f16: 0x7C00, bf16: 0x7F80}


def pad_bits(pad: PadValue | CustomPad, dtype: DType, finite: bool = False) -> int:
    """Return the code of a pad value in `dtype`. Null and Zero are 0.

    Max and Min are the infinities of f32, f16 and bf16, or with `finite` the largest finite
    numbers, and the limits of integers of up to 32 bits; other types have 0. A custom pad gives its
    low bits.
    """
    if isinstance(pad, CustomPad):
        return pad.bits & ((1 << dtype.bits) - 1)
    if pad in (PadValue.NULL, PadValue.ZERO):
        return 0
    sign = 1 << (dtype.bits - 1)
    if dtype in INFINITY:
        return (INFINITY[dtype] - finite) | (sign if pad is PadValue.MIN else 0)
    if dtype.is_float or dtype.bits > 32:
        return 0
    largest = sign - 1 if dtype.kind is NumberKind.INT else 2 * sign - 1
    return largest if pad is PadValue.MAX else (sign if dtype.kind is NumberKind.INT else 0)


@dataclass(frozen=True)
class CustomPad:
    """A pad value given by its bits: float32 bits for 4-byte types, else the low 16 or 8 bits."""

    bits: int

    def __str__(self) -> str:
        return f"custom(0x{self.bits:08x})"

    @property
    def code(self) -> int:
        """The 64-bit value that stands for the pad in C++."""
        return (1 << 32) | self.bits
