"""Element types by NumPy types of independent packages: codes, values, the quiet NaN of each."""

from __future__ import annotations

from typing import Any

import en_dtypes
import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # Any: one helper serves all element types

# name -> (bits, NumPy type of an independent package)
FORMATS: dict[str, tuple[int, Any]] = {
    "f32": (32, np.float32),
    "f16": (16, np.float16),
    "bf16": (16, ml_dtypes.bfloat16),
    "i8": (8, np.int8),
    "u8": (8, np.uint8),
    "i16": (16, np.int16),
    "u16": (16, np.uint16),
    "i32": (32, np.int32),
    "u32": (32, np.uint32),
    "i64": (64, np.int64),
    "u64": (64, np.uint64),
    "hif8": (8, en_dtypes.hifloat8),
    "f8e4m3": (8, ml_dtypes.float8_e4m3fn),
    "f8e5m2": (8, ml_dtypes.float8_e5m2),
    "f8e8m0": (8, ml_dtypes.float8_e8m0fnu),
    "f4e2m1x2": (4, ml_dtypes.float4_e2m1fn),
    "f4e1m2x2": (4, en_dtypes.float4_e1m2),
    "i4": (4, ml_dtypes.int4),
}
# what NaN becomes wherever it is computed
QUIET = {
    "f32": 0x7FC00000,
    "f16": 0x7E00,
    "bf16": 0x7FC0,
    "hif8": 0x80,
    "f8e4m3": 0x7F,
    "f8e5m2": 0x7E,
    "f8e8m0": 0xFF,
}


def bits_of(dtype: str) -> int:
    return FORMATS[dtype][0]


def is_float(dtype: str) -> bool:
    return dtype[0] in "fbh"


def storage_type(dtype: str) -> Any:  # Any: an unsigned NumPy type
    return np.dtype(f"u{max(bits_of(dtype) // 8, 1)}")


def typed(codes: Array, dtype: str) -> Array:
    """Codes as an array of the independent package's type, bit for bit."""
    return np.ascontiguousarray(codes.astype(storage_type(dtype))).view(FORMATS[dtype][1])


def codes_in(values: Array, dtype: str) -> Array:
    """The codes of values that have the element type already."""
    assert values.dtype == FORMATS[dtype][1], f"{values.dtype} is not {dtype}"
    codes = np.ascontiguousarray(values).view(storage_type(dtype))
    return codes & 15 if bits_of(dtype) == 4 else codes


def codes_of(values: Array, dtype: str) -> Array:
    """Values rounded by the independent package, as codes."""
    with np.errstate(all="ignore"):
        return values.astype(FORMATS[dtype][1]).view(storage_type(dtype))


def quieted(values: Array, dtype: str) -> Array:
    """Every NaN as the positive quiet one of the type."""
    if dtype not in QUIET:
        return values
    codes = codes_in(values, dtype)
    return typed(np.where(np.isnan(values), storage_type(dtype).type(QUIET[dtype]), codes), dtype)


def wrapped(whole: Array, dtype: str) -> Array:
    """Whole numbers (64 bits of any sign) as an integer type: the low bits."""
    low = np.ascontiguousarray(whole).view(np.uint64) & np.uint64((1 << bits_of(dtype)) - 1)
    return typed(low, dtype)
