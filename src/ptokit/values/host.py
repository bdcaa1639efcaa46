"""Conversion of NumPy arrays to element codes and back, with ml_dtypes for the narrow floats."""

from __future__ import annotations

from functools import cache
from numbers import Integral
from sys import modules
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.values.dtypes import DType
from ptokit.values.formats import decode, encode

AnyArray: TypeAlias = "NDArray[Any]"  # Any: a user's array


NARROW = {  # names in ml_dtypes, whose import takes longer than a small program
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
    "f4e2m1x2": "float4_e2m1fn",
    "i4": "int4",
}


@cache
def numpy_dtype(dtype: DType) -> np.dtype[np.generic] | None:
    """Return the NumPy type of the same format; None for hif8 and f4e1m2x2, which have none."""
    if dtype.name in NARROW:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, NARROW[dtype.name]))
    if dtype.is_float and dtype.name not in ("f32", "f16"):
        return None
    return np.dtype(f"{dtype.kind.value}{dtype.bits}")


def is_of(array: AnyArray, dtype: DType) -> bool:
    """Return whether the array's element type is `dtype`.

    Types of libraries other than NumPy and ml_dtypes are recognised by name. (A NumPy type compares
    equal to None, hence the first test.)
    """
    if array.dtype.isbuiltin == 1 and dtype.name in NARROW:
        return False
    same = numpy_dtype(dtype)
    return (same is not None and array.dtype == same) or array.dtype.name in dtype.aliases


def is_raw(kind: np.dtype[np.generic], size: int) -> bool:
    """Return whether elements are `size` bytes without a meaning, and no records.

    (ml_dtypes' own types also have kind V; their scalar type tells them apart.)
    """
    return kind.type is np.void and kind.names is None and kind.itemsize == size


def native(array: AnyArray) -> AnyArray:
    """Return the array in the byte order of this machine: itself, or a copy."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def codes_of(array: AnyArray, dtype: DType) -> AnyArray:
    """Return the codes of an array whose element type is already `dtype`, bit for bit.

    Raw bits are accepted too: an unsigned or void array of the element's size, where four-bit types
    use a byte for each element. ValueError otherwise.
    """
    array = native(array)
    unsigned = dtype.is_float and array.dtype == dtype.storage
    if is_of(array, dtype) or unsigned or is_raw(array.dtype, dtype.size):
        return np.ascontiguousarray(array).view(dtype.storage)
    raise ValueError(f"the element type is {array.dtype}, not {dtype}")


def bits_of(array: AnyArray, dtype: DType) -> AnyArray:
    """Return `codes_of`; for a type that no library has, also from exact float32 values."""
    array = native(array)
    if numpy_dtype(dtype) is None and array.dtype == np.float32:
        codes = encode(array, dtype)
        if np.array_equal(decode(codes, dtype), array, equal_nan=True):
            return codes
    return codes_of(array, dtype)


def rounded_codes(array: AnyArray, dtype: DType) -> AnyArray:
    """Return the codes of the values of any numeric array, rounded half to even.

    ValueError if an integer is out of range, or the array is not numeric.
    """
    array = native(array)
    try:
        return codes_of(array, dtype)
    except ValueError:
        pass
    if array.dtype.kind not in "biuf" and not _is_narrow_float(array.dtype):
        raise ValueError(f"cannot make {dtype} elements of {array.dtype}")
    if array.dtype.kind not in "biuf" or array.dtype == np.float16:
        array = array.astype(np.float32)
    codes = encode(array, dtype)
    if dtype.is_int and not np.array_equal(decode(codes, dtype), array):
        raise ValueError(f"not all values fit {dtype}")
    return codes


def _is_narrow_float(kind: np.dtype[np.generic]) -> bool:
    return kind.kind == "V" and kind.type is not np.void and np.can_cast(kind, np.float32)


def is_masked(given: object) -> bool:
    """Return whether `given` is a masked array: there is none before `numpy.ma` is imported."""
    return "numpy.ma" in modules and isinstance(given, np.ma.MaskedArray)


def is_scalar(given: object) -> bool:
    """Return whether `given` is a real number of any library, but no text or date."""
    if is_masked(given) or not hasattr(given, "__float__") or getattr(given, "shape", None) != ():
        return False
    kind: Any = getattr(given, "dtype", None)  # Any: of any library
    numeric = getattr(kind, "kind", "f") in "biuf"
    return numeric or not isinstance(given, np.generic | np.ndarray) or _is_narrow_float(kind)


def values_of(codes: AnyArray, dtype: DType) -> AnyArray:
    """Return the values of codes in the NumPy type of their format, or float32 if there is none."""
    same = numpy_dtype(dtype)
    return decode(codes, dtype) if same is None else codes.view(same)


def in_memory(key: object) -> Any:  # Any: whatever NumPy takes as an index
    """Return the index unchanged; IndexError if a number in it is beyond any array."""
    for part in np.index_exp[key]:
        if isinstance(part, Integral) and not -(1 << 62) < int(part) < 1 << 62:
            raise IndexError(f"the index {part} is out of bounds: no array has so many elements")
    return key
