"""Ranges hold every result: each word of arithmetic against the numbers themselves, one by one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptokit.analysis.ranges import MAYBE, Range, between, high, low, step
from ptokit.isa.host.arith import bit_and, bit_or, quotient_up, remainder
from ptokit.isa.scalars import choice, least, most, quotient, wrapped

Number = Any  # an int or a Range: bodies are typed for ints
Binary = Callable[[Any, Any], Any]  # Any: numbers and ranges
WORDS: tuple[Binary, ...] = (
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod),
    *(quotient, quotient_up, remainder, least, most, bit_and, bit_or),
)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
numbers = st.builds(
    lambda first, by, count: between(first, first + by * count, by if count else 1),
    st.integers(-40, 40),
    st.integers(1, 9),
    st.integers(0, 6),
)


def members(number: Number) -> range:
    return range(low(number), high(number) + 1, step(number) or 1)


@pytest.mark.parametrize("word", WORDS, ids=lambda w: w.__name__)
@given(a=numbers, b=numbers)
def test_every_result_is_in_the_range(word: Binary, a: Number, b: Number) -> None:
    if 0 in members(b):
        b = 3
    result = word(a, b)
    assert all(word(x, y) in members(result) for x in members(a) for y in members(b))


@pytest.mark.parametrize("word", COMPARISONS, ids=lambda w: w.__name__)
@given(a=numbers, b=numbers)
def test_what_is_decided_holds_for_all(word: Binary, a: Number, b: Number) -> None:
    result = word(a, b)
    if result is not MAYBE:
        assert all(word(x, y) is result for x in members(a) for y in members(b))


@given(a=numbers, bits=st.sampled_from([1, 4, 8]), yes=numbers, no=numbers)
def test_widths_and_choices(a: Number, bits: int, yes: Number, no: Number) -> None:
    assert all(wrapped(x, bits) in members(wrapped(a, bits)) for x in members(a))
    chosen = choice(Range(0, 1), yes, no) if isinstance(yes, Range) else yes
    assert all(x in members(chosen) for x in members(yes))
