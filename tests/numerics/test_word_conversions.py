"""Conversions in simple words against their definition, on arrays that refuse any other word."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from every import every
from fuzz.scale import sampled
from ptokit.machine.evaluation import NumpyArray
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL, Array, Term
from ptokit.values.conversions import converted
from ptokit.values.dtypes import DTYPES, DType
from ptokit.values.enumerations import Rounding
from ptokit.values.formats import convert

Codes = NDArray[np.unsignedinteger[Any]]  # Any: the width follows the element type
INTS = [dtype for dtype in DTYPES if dtype.is_int and not dtype.packed]
ARITHMETIC = ("add", "sub", "mul")
CHOICES = ("max", "min", "lt", "gt", "le", "ge", "eq")


class Strict(NumpyArray):
    """An array that knows only the words `converted` may use, and counts those that work."""

    count = 0

    def apply(self, word: str, *others: Term, **parameters: Any) -> Array:  # Any: per word
        self.check(word, *others, **parameters)
        Strict.count += word != "bitcast"
        result = super().apply(word, *others, **parameters)
        assert isinstance(result, NumpyArray)
        return Strict(result.codes, result.dtype)

    def check(self, word: str, *others: Term, **parameters: Any) -> None:  # Any: per word
        types = {o.dtype for o in others if isinstance(o, Array)}
        if word == "where":
            assert self.dtype is BOOL
            assert len(types) == 1
        elif word == "cast":
            self.check_cast(**parameters)
        elif word == "bitcast":
            assert parameters["dtype"].size == self.dtype.size
        elif word in ("isnan", "rint"):
            assert self.dtype is t.f32
            assert parameters.get("rounding", Rounding.RINT) is Rounding.RINT
        elif word in ("shl", "shr"):
            (amount,) = others
            assert self.dtype in INTS
            assert isinstance(amount, int)
            assert 0 <= amount < self.dtype.bits
        else:
            assert types <= {self.dtype}
            assert self.dtype in INTS or (self.dtype is t.f32 and word in (*ARITHMETIC, *CHOICES))
            assert word in (*ARITHMETIC, *CHOICES, "and", "or")
            assert word not in ARITHMETIC or self.dtype.bits >= 32

    def check_cast(self, dtype: DType, rounding: Rounding, saturate: bool) -> None:
        assert rounding is Rounding.NONE
        assert not saturate
        if self.dtype is t.f32:
            values = self.values.astype(np.float64)
            assert dtype is t.i32
            assert np.all((np.rint(values) == values) & (values >= -(2.0**31)) & (values < 2.0**31))
        else:
            assert self.dtype in INTS
            assert dtype in INTS or (dtype is t.f32 and self.dtype in (t.i32, t.u32))


def edges(dtype: DType) -> Codes:
    """Every code of a narrow type; of a wide one those about which a rounding could err."""
    if dtype.bits <= 16:
        return np.arange(1 << dtype.bits).astype(dtype.storage)
    random = np.random.default_rng(dtype.bits)
    codes = random.integers(0, 1 << dtype.bits, 4000, np.uint64)
    shorter = codes >> random.integers(0, dtype.bits, 4000, np.uint64)
    structured = floats() if dtype.is_float else integers(dtype)
    return np.concatenate([codes, shorter, structured]).astype(dtype.storage)


def floats() -> Codes:
    """Of every binade of f32 the first, the middle and the last steps of each shorter mantissa."""
    tails = {1 << k for k in range(23)} | {3 << k for k in range(22)} | {5 << k for k in range(21)}
    near = {n + d & 0x7FFFFF for n in tails | {0, 1 << 22} for d in (-1, 0, 1)}
    near |= {0x7FFFFF - n for n in near}
    magnitudes = np.add.outer(np.arange(256) << 23, np.array(sorted(near))).reshape(-1)
    return np.append(magnitudes, magnitudes | 1 << 31).astype(np.uint32)


def integers(dtype: DType) -> Codes:
    """Numbers with few bits set, and their neighbours, of both signs."""
    powers = [1 << k for k in range(dtype.bits)]
    sums = {a + b + c for a, b in product(powers, [0, *powers]) for c in (-1, 0, 1)}
    ends = {a - (a >> k) + d for a in powers for k in range(8, 28) for d in (-1, 0, 1)}
    every = [n % (1 << dtype.bits) for m in sums | ends for n in (m, -m)]
    return np.unique(np.array(every, dtype.storage))


def ours(codes: Codes, src: DType, dst: DType, rounding: Rounding, saturate: bool) -> Codes:
    result = converted(Strict(codes[None, :], src), dst, rounding, saturate)
    assert isinstance(result, NumpyArray)
    assert result.dtype == dst
    return result.codes[0]


@every(("src", "dst"), sampled(product(DTYPES, DTYPES), 5), ids=repr)
def test_words_say_what_the_formats_define(src: DType, dst: DType) -> None:
    codes = edges(src)
    for rounding, saturate in product(Rounding, (False, True)):
        found = ours(codes, src, dst, rounding, saturate)
        expected = convert(codes, src, dst, rounding, saturate)
        wrong = np.flatnonzero(found != expected)
        assert not wrong.size, (
            rounding,
            saturate,
            wrong.size,
            [tuple(hex(c[i]) for c in (codes, found, expected)) for i in wrong[:5]],
        )


@every(
    ("src", "dst", "most"),
    [
        (t.f32, t.bf16, 8),
        (t.bf16, t.f32, 4),
        (t.f32, t.f16, 18),
        (t.f16, t.f32, 11),
        (t.f32, t.f8e4m3, 18),
        (t.f8e4m3, t.f32, 9),
        (t.i32, t.f32, 1),
        (t.u8, t.f32, 2),
    ],
    ids=repr,
)
def test_frequent_conversions_take_few_words(src: DType, dst: DType, most: int) -> None:
    Strict.count = 0
    ours(np.zeros(1, src.storage), src, dst, Rounding.RINT, False)
    assert Strict.count <= most
