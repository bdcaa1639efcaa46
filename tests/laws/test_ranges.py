"""Ranges hold every result: each word of arithmetic against the numbers themselves, one by one."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptokit.analysis.ranges import MAYBE, Range, between, high, low, step
from ptokit.isa.pages import arith
from ptokit.values.scalars import bitwise, choice, wrapped

Number = Any  # an int or a Range: bodies are typed for ints
ARITH: Mapping[str, Any] = vars(arith)  # Any: numbers and ranges, in and out
OPERATORS: Mapping[str, Any] = vars(operator)
SCALARS = (
    *("quotient", "least", "most", "quotient_up", "quotient_down", "remainder"),
    *("ceiling", "shifted_right", "below"),
)
WORDS = ("add", "sub", "mul", "floordiv", "mod", *SCALARS)
BITS = ("xor", "shl", "ashr", "lshr", "udiv", "urem")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def number(first: int, by: int, count: int) -> Number:
    return between(first, first + by * count, by if count else 1)


numbers = st.builds(number, st.integers(-40, 40), st.integers(1, 9), st.integers(0, 6))


def members(number: Number) -> range:
    return range(low(number), high(number) + 1, step(number) or 1)


@pytest.mark.parametrize("name", WORDS)
@given(a=numbers, b=numbers)
def test_every_result_is_in_the_range(name: str, a: Number, b: Number) -> None:
    word = ARITH[name] if name in SCALARS else OPERATORS[name]
    if 0 in members(b):
        b = 3
    result = word(a, b)
    assert all(word(x, y) in members(result) for x in members(a) for y in members(b))


@pytest.mark.parametrize("name", BITS)
@given(a=numbers, b=numbers)
def test_every_result_on_bits_is_in_the_range(name: str, a: Number, b: Number) -> None:
    if 0 in members(b) and name in ("udiv", "urem"):
        b = 3
    result = bitwise(name, a, b)
    assert all(bitwise(name, x, y) in members(result) for x in members(a) for y in members(b))


@pytest.mark.parametrize("name", COMPARISONS)
@given(a=numbers, b=numbers)
def test_what_is_decided_holds_for_all(name: str, a: Number, b: Number) -> None:
    word = OPERATORS[name]
    result = word(a, b)
    if result is not MAYBE:
        assert all(word(x, y) is result for x in members(a) for y in members(b))


@given(a=numbers, bits=st.sampled_from([1, 4, 8]), yes=numbers, no=numbers)
def test_widths_and_choices(a: Number, bits: int, yes: Number, no: Number) -> None:
    assert all(wrapped(x, bits) in members(wrapped(a, bits)) for x in members(a))
    condition: Number = Range(0, 1)
    chosen = choice(condition, yes, no)
    assert all(x in members(chosen) for side in (yes, no) for x in members(side))
