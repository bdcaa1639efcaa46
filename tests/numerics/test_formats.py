"""The formats against independent oracles: ml_dtypes, en_dtypes and a model in Fractions."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from every import every
from oracles.formats import FORMATS
from ptokit.values import dtypes as isa
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Rounding
from ptokit.values.formats import convert, decode, encode, integral, pack, unpack

Array = NDArray[Any]  # Any: one helper serves all element types

FLOATS = [dtype for dtype in isa.DTYPES if dtype.is_float]
# scalar types of three packages
ORACLES: dict[DType, Any] = {d: FORMATS[d.name][1] for d in FLOATS if d.name in FORMATS}
SMALL = [dtype for dtype in ORACLES if dtype.bits < 32]
WORDS = [dtype for dtype in SMALL if dtype.bits == 16]
BYTES = [dtype for dtype in SMALL if dtype.bits < 16]
SIGNED = [dtype for dtype in SMALL if dtype.signed]
INTS = [dtype for dtype in isa.DTYPES if dtype.is_int]
MODES = list(Rounding)
NEAREST = (Rounding.NONE, Rounding.RINT, Rounding.ROUND)


def all_codes(dtype: DType) -> Array:
    return np.arange(1 << dtype.bits).astype(dtype.storage)


@np.errstate(all="ignore")
def theirs(values: Array, dtype: DType) -> Array:
    """Codes by the oracle; any NaN is the positive one, hif8 has one zero."""
    codes = values.astype(ORACLES[dtype]).view(dtype.storage)
    return canonical(codes, dtype)


@np.errstate(all="ignore")
def canonical(codes: Array, dtype: DType) -> Array:
    nan = np.isnan(codes.view(ORACLES[dtype]).astype(np.float64))
    return np.where(nan, encode(np.array([np.nan]), dtype), codes)


@np.errstate(invalid="ignore")
def doubles(values: Array) -> NDArray[np.float64]:
    return values.astype(np.float64)


def same_values(left: Array, right: Array) -> bool:
    """Equal, NaN and the sign of zero included."""
    signs = np.signbit(left) == np.signbit(right)
    return bool(np.all((left == right) & signs | np.isnan(left) & np.isnan(right)))


@every("dtype", isa.DTYPES, ids=repr)
def test_every_element_type_has_an_oracle(dtype: DType) -> None:
    assert dtype.name in FORMATS, f"{dtype}: add a line to FORMATS of tests/oracles/formats.py"


# Decoding -------------------------------------------------------------------------------------


@every("dtype", SMALL, ids=repr)
def test_decode_agrees_with_the_oracle_on_every_code(dtype: DType) -> None:
    codes = all_codes(dtype)
    assert decode(codes, dtype).dtype == np.float32
    assert same_values(decode(codes, dtype), codes.view(ORACLES[dtype]).astype(np.float32))


def test_decode_of_words_is_a_view() -> None:
    codes = np.array([0x7FA12345, 0xFFFFFFFF, 1], np.uint32)
    for dtype, native in ((isa.f32, np.float32), (isa.i32, np.int32), (isa.u32, np.uint32)):
        values = decode(codes, dtype)
        assert values.dtype == native
        assert np.shares_memory(values, codes)
    assert decode(codes, isa.i32).tolist() == [0x7FA12345, -1, 1]


def test_nan_payloads_of_f32_survive_in_their_own_type_only() -> None:
    codes = np.array([0x7F800001, 0x7FA12345, 0xFFC00001], np.uint32)
    for mode in MODES:
        assert convert(codes, isa.f32, isa.f32, mode) is codes
        assert encode(decode(codes, isa.f32), isa.f32, mode).tolist() == [0x7FC00000] * 3


@every("dtype", SIGNED, ids=repr)
def test_every_nan_becomes_the_positive_quiet_nan_of_another_type(dtype: DType) -> None:
    codes = all_codes(dtype)
    nan = np.isnan(decode(codes, dtype))
    for into in (d for d in (isa.f32, *SIGNED) if d != dtype and d.nan):
        quiet = encode(np.array([np.nan]), into)[0]
        assert np.all(convert(codes, dtype, into)[nan] == quiet)


def test_the_high_nibble_of_a_packed_code_is_ignored() -> None:
    codes = np.arange(256).astype(np.uint8)
    for dtype in (isa.i4, isa.f4e2m1x2, isa.f4e1m2x2):
        assert np.array_equal(decode(codes, dtype), np.tile(decode(codes[:16], dtype), 16))
    assert decode(codes[:16], isa.i4).tolist() == [*range(8), *range(-8, 0)]
    assert decode(codes, isa.i4).dtype == np.int8


# Rounding to nearest, exhaustively ---------------------------------------------------------------


@every("dtype", SIGNED, ids=repr)
def test_every_code_survives_the_round_trip(dtype: DType) -> None:
    codes = canonical(all_codes(dtype), dtype)
    for values in (decode(codes, dtype), doubles(decode(codes, dtype))):
        for mode in MODES:
            assert np.array_equal(encode(values, dtype, mode), codes)


def against_the_oracle(values: Array, dtype: DType) -> None:
    """Skips what has no answer in fp4, and where ml_dtypes rounds its lowest e8m0 binade up."""
    with np.errstate(invalid="ignore"):
        known = np.isfinite(values) | dtype.nan
        if dtype == isa.f8e8m0:
            known &= ~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))
    got = encode(values, dtype)
    assert got.dtype == dtype.storage
    assert np.array_equal(got[known], theirs(values, dtype)[known])


@every("dtype", SMALL, ids=repr)
@every("source", WORDS, ids=repr)
def test_rint_agrees_with_the_oracle_on_every_word(source: DType, dtype: DType) -> None:
    codes = all_codes(source)
    values = decode(codes, source)
    against_the_oracle(values, dtype)
    assert np.array_equal(encode(values, dtype), encode(doubles(values), dtype))
    if source != dtype:
        assert np.array_equal(convert(codes, source, dtype), encode(values, dtype))


@every("dtype", SMALL, ids=repr)
def test_rint_agrees_with_the_oracle_on_random_f32(dtype: DType) -> None:
    bits = np.random.default_rng(7).integers(0, 1 << 32, 200_000, np.uint32)
    against_the_oracle(bits.view(np.float32), dtype)


@every("dtype", [isa.i8, isa.u8, isa.i16], ids=repr)
@every("source", WORDS, ids=repr)
def test_every_word_saturates_to_integers(source: DType, dtype: DType) -> None:
    codes = all_codes(source)
    info = np.iinfo(f"{dtype.kind.value[0]}{dtype.size}")
    whole = np.rint(np.nan_to_num(doubles(decode(codes, source))))
    got = decode(convert(codes, source, dtype, saturate=True), dtype)
    assert np.array_equal(got, np.clip(whole, info.min, info.max))


# Every mode against a model in exact fractions ---------------------------------------------------

HALF = Fraction(1, 2)


Number = TypeVar("Number", int, np.float32)


def choose(low: Number, up: Number, value: Fraction, low_odd: bool, mode: Rounding) -> Number:
    """The neighbour of `value` that `mode` asks for."""
    if low == up:
        return low
    below, above = value - Fraction(float(low)), Fraction(float(up)) - value
    inward, outward = (low, up) if value > 0 else (up, low)
    tie = outward if mode is Rounding.ROUND else up if low_odd else low
    nearest = tie if below == above else low if below < above else up
    odd = low if low_odd else up
    modes = {Rounding.FLOOR: low, Rounding.CEIL: up, Rounding.TRUNC: inward, Rounding.ODD: odd}
    return modes.get(mode, nearest)


@cache
@np.errstate(invalid="ignore")
def ladder(dtype: DType) -> list[Fraction]:
    """Finite magnitudes in ascending order, and one beyond: the value that would come next."""
    values = np.abs(all_codes(dtype).view(ORACLES[dtype]).astype(np.float64))
    steps = [Fraction(float(x)) for x in np.unique(values[np.isfinite(values)])]
    return [*steps, Fraction(49152) if dtype == isa.hif8 else 2 * steps[-1] - steps[-2]]


def model(value: Fraction, dtype: DType, mode: Rounding) -> float:
    steps, top = ladder(dtype), len(ladder(dtype)) - 2
    lower = min(bisect_right(steps, abs(value)) - 1, top)
    gap = (abs(value) - steps[lower]) / (steps[lower + 1] - steps[lower])
    tie_up = lower % 2 == 1 or mode is Rounding.ROUND or dtype == isa.hif8
    upward = {
        Rounding.FLOOR: value < 0 < gap,
        Rounding.CEIL: value > 0 < gap,
        Rounding.TRUNC: False,
        Rounding.ODD: lower % 2 == 0 < gap and lower < top,
    }.get(mode, gap > HALF or (gap == HALF and tie_up))
    if lower + upward <= top:
        size = float(steps[lower + upward])
    else:
        size = np.inf if dtype.inf else np.nan if dtype.nan else float(steps[top])
    return -size if value < 0 else size


def interesting(dtype: DType) -> NDArray[np.float64]:
    """Values on, halfway between and barely off the steps of a format, and far beyond it."""
    steps = [float(x) for x in ladder(dtype)]
    random = np.random.default_rng(3).integers(0, len(steps) - 1, 40).tolist()
    chosen = [0, 1, 2, len(steps) - 3, len(steps) - 2, *random]
    points = [x for i in chosen for x in (steps[i], (steps[i] + steps[i + 1]) / 2)]
    near = np.concatenate([points, np.nextafter(points, 0), np.nextafter(points, np.inf)])
    far = [0.3 * steps[1], 5e-324, 1e-40, 3e38, 1e300, 2 * steps[-1]]
    return np.concatenate([near, -near, far, np.negative(far)])


@every("mode", MODES)
@every("dtype", SIGNED, ids=repr)
def test_every_mode_rounds_once(dtype: DType, mode: Rounding) -> None:
    values = interesting(dtype)
    expected = np.array([model(Fraction(x), dtype, mode) for x in values.tolist()])
    got = decode(encode(values, dtype, mode), dtype)
    assert np.array_equal(got, expected, equal_nan=True)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) == values
    codes = encode(values[single].astype(np.float32), dtype, mode)
    assert np.array_equal(decode(codes, dtype), expected[single], equal_nan=True)


@every("mode", MODES)
@every("dtype", SIGNED, ids=repr)
def test_saturation_only_replaces_what_is_not_finite(dtype: DType, mode: Rounding) -> None:
    values = np.concatenate([interesting(dtype), [np.inf, -np.inf, np.nan]])
    plain = decode(encode(values, dtype, mode), dtype)
    top = float(ladder(dtype)[-2])
    expected = np.where(np.isfinite(plain), plain, np.copysign(top, values))
    expected[-1] = 0
    assert np.array_equal(decode(encode(values, dtype, mode, True), dtype), expected)


def test_infinity_stays_in_every_mode() -> None:
    values = np.array([np.inf, -np.inf])
    for dtype in (d for d in SIGNED if d.nan):
        for mode in MODES:
            got = decode(encode(values, dtype, mode), dtype)
            assert np.array_equal(got, values if dtype.inf else [np.nan] * 2, equal_nan=True)


def test_nan_becomes_the_positive_quiet_nan() -> None:
    quiet = {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0, "f8e4m3": 0x7F, "f8e5m2": 0x7E}
    quiet |= {"f8e8m0": 0xFF, "hif8": 0x80, "f4e2m1x2": 0, "f4e1m2x2": 0}
    for dtype in ORACLES:
        assert encode(np.array([np.nan, -np.nan]), dtype).tolist() == [quiet[dtype.name]] * 2


def test_e8m0_has_neither_zero_nor_sign() -> None:
    values = np.array([0.0, -0.0, -2.0, -np.inf, 1e-300, 2.0**127.4, 2.0**128, np.inf, np.nan])
    assert encode(values, isa.f8e8m0).tolist() == [255] * 4 + [0, 254] + [255] * 3
    assert encode(values, isa.f8e8m0, saturate=True).tolist() == [0] * 5 + [254] * 3 + [255]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_e8m0_rounds_to_a_power_of_two(kind: type[np.float32 | np.float64]) -> None:
    values = np.array([1.0, 1.25, 1.5, 1.75, 2.0, 3.5], kind)
    tiny = np.array([1.25 * 2.0**-127, 1.5 * 2.0**-127, 2.0**-126], kind)
    for mode, codes, lowest in (
        (Rounding.RINT, [127, 127, 128, 128, 128, 129], [0, 1, 1]),
        (Rounding.ROUND, [127, 127, 128, 128, 128, 129], [0, 1, 1]),
        (Rounding.FLOOR, [127, 127, 127, 127, 128, 128], [0, 0, 1]),
        (Rounding.TRUNC, [127, 127, 127, 127, 128, 128], [0, 0, 1]),
        (Rounding.CEIL, [127, 128, 128, 128, 128, 129], [1, 1, 1]),
        (Rounding.ODD, [127, 127, 127, 127, 128, 129], [1, 1, 1]),
    ):
        assert encode(values, isa.f8e8m0, mode).tolist() == codes
        assert encode(tiny, isa.f8e8m0, mode).tolist() == lowest


# One rounding ------------------------------------------------------------------------------------


def in_f32(value: Fraction, mode: Rounding) -> float:
    """`value`, whose neighbours are finite, in binary32."""
    start = np.float32(float(value))
    steps = [
        np.nextafter(start, np.float32(-np.inf)),
        start,
        np.nextafter(start, np.float32(np.inf)),
    ]
    low = max(x for x in steps if float(x) <= value)
    up = min(x for x in steps if float(x) >= value)
    return float(choose(low, up, value, bool(low.view(np.uint32) % 2), mode))


INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INT64, min_size=1), st.sampled_from(MODES))
def test_i64_to_f32_rounds_once(numbers: list[int], mode: Rounding) -> None:
    got = decode(encode(np.array(numbers, np.int64), isa.f32, mode), isa.f32)
    assert got.tolist() == [in_f32(Fraction(n), mode) for n in numbers]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.sampled_from(MODES))
def test_u64_to_f32_rounds_once(numbers: list[int], mode: Rounding) -> None:
    got = decode(encode(np.array(numbers, np.uint64), isa.f32, mode), isa.f32)
    assert got.tolist() == [in_f32(Fraction(n), mode) for n in numbers]


@given(hnp.arrays(np.float64, 20, elements=st.floats(-1e30, 1e30)), st.sampled_from(MODES))
def test_f64_to_f32_rounds_once(values: NDArray[np.float64], mode: Rounding) -> None:
    got = decode(encode(values, isa.f32, mode), isa.f32)
    assert got.tolist() == [in_f32(Fraction(x), mode) for x in values.tolist()]


@given(st.lists(INT64, min_size=1), st.sampled_from(MODES), st.sampled_from([isa.bf16, isa.f16]))
def test_i64_to_words_rounds_once(numbers: list[int], mode: Rounding, dtype: DType) -> None:
    got = decode(encode(np.array(numbers, np.int64), dtype, mode), dtype)
    assert got.tolist() == [model(Fraction(n), dtype, mode) for n in numbers]


def test_no_double_rounding() -> None:
    tie = 1 + 2.0**-8  # halfway in bf16; a hair above it is lost in binary32
    values = np.array([tie, tie + 2.0**-40, -tie - 2.0**-40])
    assert decode(encode(values, isa.bf16), isa.bf16).tolist() == [1, 1 + 2.0**-7, -1 - 2.0**-7]
    number = np.array([2**62 + 2**38 + 1, 2**62 + 2**38, 2**53 + 1], np.int64)
    assert decode(encode(number, isa.f32), isa.f32).tolist() == [2**62 + 2**39, 2**62, 2**53]


# Integers ----------------------------------------------------------------------------------------


def whole_number(value: Fraction, mode: Rounding) -> int:
    low = floor(value)
    return choose(low, ceil(value), value, low % 2 == 1, mode)


def bounds(dtype: DType) -> tuple[int, int]:
    span = 1 << dtype.bits
    return (-span // 2, span // 2 - 1) if dtype.signed else (0, span - 1)


def fitted(number: int, dtype: DType, saturate: bool) -> int:
    low, high = bounds(dtype)
    if saturate:
        return min(max(number, low), high)
    return (number - low) % (1 << dtype.bits) + low


HARD = [
    *(0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 7.5, 8.5, 127.5, 128.0, 255.5, 300.0, 65535.5),
    *(2.0**31, 2.0**32, 0.49999999999999994, 2.0**52 - 0.5, 2.0**53 + 2),
    *(2.0**63, 2.0**64, 3 * 2.0**63, 2.0**70 + 3e18),
]


@every("mode", MODES)
@every("dtype", INTS, ids=repr)
def test_floats_to_integers(dtype: DType, mode: Rounding) -> None:
    values = np.concatenate([HARD, np.negative(HARD)])
    rule = Rounding.TRUNC if mode is Rounding.NONE else mode
    for floats in (values, values.astype(np.float32)):
        numbers = [whole_number(Fraction(x), rule) for x in floats.tolist()]
        for saturate in (False, True):
            codes = encode(floats, dtype, mode, saturate)
            assert codes.dtype == dtype.storage
            assert decode(codes, dtype).tolist() == [fitted(n, dtype, saturate) for n in numbers]


@every("dtype", INTS, ids=repr)
def test_what_is_no_number_becomes_zero_or_a_limit(dtype: DType) -> None:
    values = np.array([np.nan, np.inf, -np.inf])
    low, high = bounds(dtype)
    assert decode(encode(values, dtype), dtype).tolist() == [0, 0, 0]
    assert decode(encode(values, dtype, saturate=True), dtype).tolist() == [0, high, low]


@every("dtype", INTS, ids=repr)
@every("source", INTS, ids=repr)
def test_integers_to_integers(source: DType, dtype: DType) -> None:
    low, high = bounds(source)
    numbers = [low, low + 1, low // 3, -1 if low else 1, 0, 1, 5, high // 3, high - 1, high]
    for saturate in (False, True):
        codes = encode(np.array(numbers), source) if high < 2**63 else np.array(numbers, np.uint64)
        got = convert(codes, source, dtype, saturate=saturate)
        assert got.dtype == dtype.storage
        assert decode(got, dtype).tolist() == [fitted(n, dtype, saturate) for n in numbers]


@every("mode", MODES)
def test_integral_keeps_the_sign_of_zero_and_what_is_no_number(mode: Rounding) -> None:
    values = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan])
    assert same_values(integral(values, mode), values)
    tiny = np.array([-0.25, -0.75], np.float32)
    assert integral(tiny, mode).dtype == np.float32
    assert np.all(np.signbit(integral(tiny, mode)))


# Conversions and packing -------------------------------------------------------------------------


@every("dtype", isa.DTYPES, ids=repr)
def test_a_type_to_itself_is_the_identity(dtype: DType) -> None:
    codes = np.random.default_rng(1).integers(0, 1 << dtype.bits, 99, np.uint64)
    codes = codes.astype(dtype.storage)
    assert np.array_equal(convert(codes, dtype, dtype, Rounding.ODD, True), codes)


def test_what_cannot_overflow_does_not_saturate() -> None:
    special = encode(np.array([np.inf, -np.inf, np.nan]), isa.f16)
    wide = convert(special, isa.f16, isa.bf16, saturate=True)
    assert wide.tolist() == [0x7F80, 0xFF80, 0x7FC0]
    assert convert(wide, isa.bf16, isa.f16, saturate=True).tolist() == [0x7BFF, 0xFBFF, 0]
    nan = np.array([0x7F], np.uint8)
    assert convert(nan, isa.f8e4m3, isa.f16, saturate=True).tolist() == [0x7E00]


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    for src in isa.DTYPES:
        codes = np.ones(shape, src.storage)
        for dst in isa.DTYPES:
            for mode in MODES:
                assert convert(codes, src, dst, mode).shape == shape


def test_strides_do_not_matter() -> None:
    values = np.linspace(-20, 20, 64, dtype=np.float32).reshape(8, 8)
    for dtype in isa.DTYPES:
        expected = encode(np.ascontiguousarray(values.T[::2]), dtype)
        assert np.array_equal(encode(values.T[::2], dtype), expected)
        values_of_copy = decode(np.ascontiguousarray(expected.T), dtype)
        assert np.array_equal(decode(expected.T, dtype), values_of_copy, equal_nan=True)


@given(hnp.arrays(np.uint8, st.integers(0, 9), elements=st.integers(0, 15)))
def test_pack_puts_the_even_element_low(codes: NDArray[np.uint8]) -> None:
    packed = pack(codes)
    padded = [*codes.tolist(), 0]
    assert packed.tolist() == [padded[i] + 16 * padded[i + 1] for i in range(0, codes.size, 2)]
    assert np.array_equal(unpack(packed, codes.size), codes)


def test_float16_values_are_floats_too() -> None:
    codes = all_codes(isa.f16)
    halves = codes.view(np.float16)
    for dtype in (isa.bf16, isa.f8e5m2, isa.i8):
        assert np.array_equal(encode(halves, dtype), encode(decode(codes, isa.f16), dtype))
