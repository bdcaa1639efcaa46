"""What the array words say of NaN, signs of zero and order, on the reference's arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from ptokit.machine.evaluation import NumpyArray
from ptokit.values.arrays import Array
from ptokit.values.dtypes import (
    DType,
    bf16,
    f16,
    f32,
    i8,
    i32,
    u8,
)
from ptokit.values.formats import decode, encode

Codes: TypeAlias = "NDArray[np.unsignedinteger[Any]]  # Any: the width follows the element type"
QUIET = 0x7FC00000


def array(codes: object, dtype: DType) -> NumpyArray:
    return NumpyArray(np.atleast_2d(np.array(codes, dtype.storage)), dtype)


def numbers(values: object, dtype: DType) -> NumpyArray:
    return NumpyArray(encode(np.atleast_2d(np.array(values, np.float64)), dtype), dtype)


def codes(found: Array) -> list[list[int]]:
    assert isinstance(found, NumpyArray)
    return found.codes.tolist()


def values(found: Array) -> list[list[float]]:
    assert isinstance(found, NumpyArray)
    return decode(found.codes, found.dtype).tolist()


def test_invalid_operations_give_the_positive_quiet_nan() -> None:
    infinite = numbers([np.inf, -np.inf], f32)
    assert codes(infinite - infinite) == [[QUIET] * 2]
    assert codes(infinite * 0.0) == [[QUIET] * 2]
    column = NumpyArray(infinite.codes.T, f32)
    assert codes(numbers([1, 1], f32).matmul(column)) == [[QUIET]]


@pytest.mark.parametrize("dtype", [f16, bf16], ids=repr)
def test_a_number_takes_the_type_before_it_is_used(dtype: DType) -> None:
    third = decode(encode(np.array([1 / 3]), dtype), dtype)[0]
    wanted = encode(np.array([np.float32(100) * third]), dtype)[0]
    assert codes(numbers([100], dtype) * (1 / 3)) == [[wanted]]


def test_numbers_convert_like_casts() -> None:
    assert values(array([1], i32) + 1.9) == [[2]]
    assert values(array([1], u8) + 511) == [[0]]
    assert values(array([1], i8) - 1.9) == [[0]]


def test_a_fold_has_an_axis_and_a_start() -> None:
    x = numbers([[1, 2, 3], [40, 50, 60]], f32)
    assert values(x.fold("add", 0)) == [[41, 52, 63]]
    assert values(x.fold("add", 1)) == [[6], [150]]
    assert values(x.fold("mul", 1, 10)) == [[60], [1200000]]
    assert values(x.fold("min", 0, 45)) == [[1, 2, 3]]
    assert values(x.fold("max", 0, 45)) == [[45, 50, 60]]
    zero = numbers([-0.0], f32)
    assert codes(zero.fold("add", 1)) == [[0x80000000]]
    assert codes(zero.fold("add", 1, 0)) == [[0]]
    halves = numbers([[0.5, 0.5, 3]], bf16)
    assert values(halves.fold("mul", 1, 1)) == [[0.75]]
    none = NumpyArray(np.zeros((0, 2), np.uint32), f32)
    assert values(none.fold("add", 0, 7)) == [[7, 7]]


def test_a_number_is_one_element_of_the_type() -> None:
    assert codes(numbers([1, 2], f16).number(1 / 3)) == codes(numbers([1 / 3], f16))
    assert values(array([7], u8).number(-1)) == [[255]]
