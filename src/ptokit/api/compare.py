"""Comparison of an output with an expected array: where and by how much they differ."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.rich import Rich
from ptokit.forms.complete import dtype_of_array
from ptokit.launch.hostmemory import host_array
from ptokit.values.dtypes import DType
from ptokit.values.host import AnyArray, codes_of, numpy_dtype, values_of

Place: TypeAlias = "tuple[int, ...]"
# default absolute and relative tolerance; other types: equal
TOLERANCE = {"f32": 1e-4, "f16": 1e-2}
ULPS = {"bf16": 1}


@dataclass(frozen=True)
class Comparison(Rich):
    """The result of a comparison; it is true if the arrays match, and prints the differences.

    `first` is the index of the first element outside the tolerance, `largest` that of the largest
    `error`, `farthest` that of the largest distance in `ulps`: the number of values of the format
    in between, for finite elements.
    """

    name: str
    tolerance: str
    count: int
    differing: int
    first: Place | None
    pairs: dict[Place, tuple[str, str]]
    error: float
    largest: Place | None
    ulps: int
    farthest: Place | None

    def __bool__(self) -> bool:
        return not self.differing

    def __str__(self) -> str:
        head = f"{self.name}: {self.differing} of {self.count} elements differ"
        if not self.differing:
            head = f"{self.name}: all {self.count} elements are as expected"
        lines = [f"{head}   ({self.tolerance})"]
        if self.first is not None:
            lines.append(f"  first           {self._at(self.first)}")
        if self.largest is not None:
            lines.append(f"  largest error   {self._at(self.largest)}: {self.error:.6g}")
        if self.farthest is not None:
            lines.append(f"  largest in ulp  {self._at(self.farthest)}: {self.ulps} ulp")
        return "\n".join(lines)

    def _at(self, place: Place) -> str:
        found, wanted = self.pairs[place]
        return f"[{', '.join(map(str, place))}] is {found}, expected {wanted}"


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a comparison; a tolerance that states nothing depends on the element type.

    `ulp` is a number of units in the last place and stands alone.
    """

    rtol: float | None = None
    atol: float | None = None
    ulp: int | None = None

    def require(self, before: str = "") -> None:
        """ValueError unless errors can be compared with it; `before` stands before the names."""
        require_tolerance(f"{before}rtol", self.rtol)
        require_tolerance(f"{before}atol", self.atol)
        require_tolerance(f"{before}ulp", self.ulp)
        if self.ulp is not None and (self.rtol is not None or self.atol is not None):
            raise ValueError(f"{before}ulp excludes {before}rtol and {before}atol: choose one")

    def __bool__(self) -> bool:
        return self != Tolerance()


def compare(
    found: AnyArray,
    expected: AnyArray,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    ulp: int | None = None,
    name: str = "the array",
    dtype: DType | None = None,
) -> Comparison:
    """Compare an output with an array of the same extents and element type.

    An element is as expected if |found - expected| <= atol + rtol * |found|, or both are NaN. Where
    neither is given, both are 1e-4 for f32 and 1e-2 for f16, bf16 may be one unit in the last place
    away, and other types are equal; one that is not given beside the other is 0. With `ulp` an
    element may be that many units in the last place away, instead. `dtype` is the element type
    where NumPy has none. ValueError if extents or element types differ.
    """
    tolerance = Tolerance(rtol, atol, ulp)
    tolerance.require()
    return paired(found, expected, name, dtype).compared(name, tolerance)


def paired(found: object, expected: object, name: str, dtype: DType | None) -> ArrayPair:
    """Both arrays as elements of one type; ValueError if extents or element types differ."""
    first, second = (_array(a, what) for a, what in ((found, name), (expected, "expected")))
    dtype = dtype or dtype_of_array(first)
    if dtype is None:
        raise ValueError(f"{name}: unsupported element type {first.dtype}")
    codes, golden = (_codes(a, dtype, name) for a in (first, second))
    if codes.shape != golden.shape:
        shapes = ("x".join(map(str, a.shape)) or "none" for a in (codes, golden))
        raise ValueError("{}: shape mismatch: got {}, expected {}".format(name, *shapes))
    return ArrayPair(codes, golden, dtype)


def require_tolerance(name: str, value: float | None) -> None:
    """Raise an error unless the tolerance is a finite number >= 0."""
    if value is None:
        return
    if not isinstance(value, Real):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        raise TypeError(f"{name} is {value!r}: expected a number >= 0")
    if not 0 <= (value if isinstance(value, int) else float(value)) <= sys.float_info.max:
        raise ValueError(f"{name} is {value}: expected a number >= 0")


def _array(given: object, name: str) -> AnyArray:
    try:
        return host_array(given)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from None


def _codes(array: AnyArray, dtype: DType, name: str) -> AnyArray:
    if numpy_dtype(dtype) is None and array.dtype == np.float32:
        from ptokit.values.formats import encode

        return encode(array, dtype)
    try:
        return codes_of(array, dtype)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}") from None


class ArrayPair:
    """The found and the expected elements, with their errors."""

    def __init__(self, found: AnyArray, wanted: AnyArray, dtype: DType) -> None:
        self.shape, self.dtype = found.shape, dtype
        self.found, self.wanted = (values_of(c.reshape(-1), dtype) for c in (found, wanted))
        if dtype.is_float:
            self._measure_floats(*(_ordered(c.reshape(-1), dtype) for c in (found, wanted)))
        else:
            self._measure_integers()

    def _measure_floats(self, found: AnyArray, wanted: AnyArray) -> None:
        """Compute errors of finite elements; `found` and `wanted` are ordinals of the values."""
        x, y = (v.astype(np.float64) for v in (self.found, self.wanted))
        self.same = (x == y) | (np.isnan(x) & np.isnan(y))
        self.finite = np.isfinite(x) & np.isfinite(y)
        x, y = (np.where(self.finite, v, 0) for v in (x, y))
        self.size, self.error = np.abs(x), np.abs(x - y)
        self.ulps = np.where(self.finite, np.abs(found - wanted), 0)

    def _measure_integers(self) -> None:
        """Compute errors of integers, which are exact in 64 unsigned bits."""
        x, y = (v.astype(np.int64).view(np.uint64) for v in (self.found, self.wanted))
        self.same, self.finite = x == y, np.ones(x.shape, np.bool_)
        self.size = np.abs(self.found.astype(np.float64))
        self.error = self.ulps = np.where(self.found > self.wanted, x - y, y - x)

    def compared(self, name: str, within: Tolerance) -> Comparison:
        """Return the differences that exceed a tolerance."""
        wrong, tolerance = self.wrong(within)
        differing = int(np.count_nonzero(wrong))
        largest = int(self.error.argmax()) if self.error.any() else None
        farthest = int(self.ulps.argmax()) if self.dtype.is_float and self.ulps.any() else None
        first = int(wrong.argmax()) if differing else None
        shown = {n for n in (first, largest, farthest) if n is not None}
        pairs = {self.place(n): (str(self.found[n]), str(self.wanted[n])) for n in shown}
        first, error, far = map(self._some, (first, largest, farthest))
        worst = 0.0 if largest is None else float(self.error[largest])
        ulps = 0 if farthest is None else int(self.ulps[farthest])
        return Comparison(
            name, tolerance, wrong.size, differing, first, pairs, worst, error, ulps, far
        )

    def wrong(self, within: Tolerance) -> tuple[NDArray[np.bool_], str]:
        """Which elements differ, and by what measure."""
        rtol, atol = within.rtol, within.atol
        most = within.ulp if within else ULPS.get(self.dtype.name)
        if most is not None:
            return ~self.same & ~(self.finite & (self.ulps <= most)), f"at most {most} ulp"
        if rtol is None and atol is None:
            rtol = atol = TOLERANCE.get(self.dtype.name, 0.0)
        rtol, atol = rtol or 0.0, atol or 0.0
        near = self.error <= atol + rtol * self.size
        text = f"tolerance {atol:g} + {rtol:g} * |found|" if rtol or atol else "exact"
        return ~self.same & ~(self.finite & near), text

    def _some(self, number: int | None) -> Place | None:
        return None if number is None else self.place(number)

    def place(self, number: int) -> Place:
        """Return the index of an element, given its number in row-major order."""
        return tuple(int(n) for n in np.unravel_index(number, self.shape))


def _ordered(codes: AnyArray, dtype: DType) -> NDArray[np.int64]:
    """Return the ordinals of values of a float type."""
    if dtype.bits <= 8:  # few values: sort them, since not all types have a leading sign bit
        values = values_of(np.arange(1 << dtype.bits).astype(dtype.storage), dtype)
        known = np.unique(values.astype(np.float32))
        return np.searchsorted(known, values_of(codes, dtype).astype(np.float32))
    whole = codes.astype(np.int64)
    magnitude = whole & ((1 << (dtype.bits - 1)) - 1)
    return np.where(whole >> (dtype.bits - 1) & 1, -magnitude, magnitude)
