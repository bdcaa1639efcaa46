"""Functions written in array words against double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from every import every
from ptokit.machine.evaluation import NumpyArray
from ptokit.values.dtypes import DType, bf16, f16, f32
from ptokit.values.formats import decode, encode
from ptokit.values.functions import exp, power

Codes = NDArray[np.unsignedinteger[Any]]  # Any: the width follows the element type
OVERFLOWS, VANISHES = 0x42B17218, 0xC2CFF1B5  # the first f32 whose exp is infinite, and 0


def of(codes: Codes, dtype: DType) -> Codes:
    result = exp(NumpyArray(codes[None, :], dtype))
    assert isinstance(result, NumpyArray)
    return result.codes[0]


def distances(codes: Codes, dtype: DType) -> NDArray[np.int64]:
    """How many codes lie between each result and the rounded exact one; NaN apart."""
    found = of(codes, dtype)
    with np.errstate(all="ignore"):
        values = decode(codes, dtype).astype(np.float64)
        wanted = encode(np.exp(values), dtype)
    numbers = ~np.isnan(values)
    assert np.all(found[~numbers] == encode(np.array([np.nan]), dtype)[0])
    return np.abs(found.astype(np.int64) - wanted)[numbers]  # results have no sign


@pytest.mark.parametrize(("dtype", "inexact"), [(f16, 2), (bf16, 0)], ids=["f16", "bf16"])
def test_exp_of_every_16_bit_float(dtype: DType, inexact: int) -> None:
    apart = distances(np.arange(1 << 16).astype(np.uint16), dtype)
    assert np.max(apart) <= 1
    assert np.count_nonzero(apart) == inexact


@pytest.mark.parametrize("sign", [0, 1 << 31], ids=["positive", "negative"])
def test_exp_of_f32_on_a_stride_and_near_its_ends(sign: int) -> None:
    every = np.arange(sign, sign + 0x7F800001, step=4999, dtype=np.uint32)
    end = VANISHES if sign else OVERFLOWS
    near = np.arange(end - 50_000, end + 50_000, dtype=np.uint32)
    middle = np.linspace(0.1, 87, 200_000).astype(np.float32).view(np.uint32) | np.uint32(sign)
    apart = np.concatenate([distances(part, f32) for part in (every, near, middle)])
    assert np.max(apart) == 1
    assert np.mean(apart) < 0.1


def test_exp_of_denormal_results() -> None:
    codes = np.linspace(-104, -87, 300_000).astype(np.float32).view(np.uint32)
    assert np.max(distances(codes, f32)) <= 1


def test_exp_is_exact_where_it_can_be() -> None:
    table = {
        0x00000000: 0x3F800000,  # 0
        0x80000000: 0x3F800000,  # -0
        0x00000001: 0x3F800000,
        0x7F800000: 0x7F800000,  # infinity
        0xFF800000: 0x00000000,  # -infinity
        0x7F7FFFFF: 0x7F800000,
        0xFF7FFFFF: 0x00000000,
        OVERFLOWS: 0x7F800000,
        VANISHES - 1: 0x00000001,
        VANISHES: 0x00000000,
        0xFFC12345: 0x7FC00000,  # NaN
        0x7F800001: 0x7FC00000,
    }
    found = of(np.array(list(table), np.uint32), f32)
    assert [hex(c) for c in found] == [hex(c) for c in table.values()]


def numbers(x: float, y: float) -> tuple[NumpyArray, NumpyArray]:
    return number(x, f32), number(y, f32)


def number(value: float, dtype: DType) -> NumpyArray:
    return NumpyArray(encode(np.array([[value]]), dtype), dtype)


def only(found: object) -> float:
    assert isinstance(found, NumpyArray)
    return float(decode(found.codes, found.dtype)[0, 0])


INFINITY, NAN = float("inf"), float("nan")
POWERS = (
    *((0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (-1.0, INFINITY, 1.0)),
    *((-8.0, 1 / 3, NAN), (-2.0, 3.0, -8.0), (-2.0, -2.0, 0.25), (-0.0, -3.0, -INFINITY)),
    *((-0.0, 3.0, -0.0), (0.0, -2.0, INFINITY), (0.5, INFINITY, 0.0), (0.5, -INFINITY, INFINITY)),
    *((-INFINITY, 3.0, -INFINITY), (-INFINITY, 0.5, INFINITY), (-INFINITY, -3.0, -0.0)),
    *((NAN, 1.0, NAN), (2.0, NAN, NAN), (2.0, 1e9, INFINITY), (2.0, -1e9, 0.0)),
)


@every(("x", "y", "wanted"), POWERS)
def test_powers_have_the_special_cases_of_c(x: float, y: float, wanted: float) -> None:
    found = only(power(*numbers(x, y)))
    assert np.array_equal([found], [wanted], equal_nan=True)
    assert np.isnan(wanted) or np.signbit(found) == np.signbit(wanted)
