"""Ranges of f32 expressions hold all that the reference computes from numbers of every kind."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from ptokit.engines.kernels.floatranges import FloatRanges
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.record.expressions import Traced
from ptokit.values import dtypes as t
from ptokit.values.arrays import Array

LIMITS = (-65504.0, -128.0, -0.0, 0.0, 2.0**-149, 1.5, 255.0, 2.0**127)
NUMBERS = np.array([*LIMITS, 3e38, -3e38, np.inf, -np.inf, np.nan, -2.5, 127.5], np.float32)
Step = Callable[[Array, float], Array]
STEPS: tuple[Step, ...] = (
    lambda x, c: x.isnan().where(c, x),
    lambda x, c: x.maximum(c),
    lambda x, c: x.minimum(c),
    lambda x, c: (x > c).where(x, c),
    lambda x, c: (x <= c).where(c, x),
    lambda x, c: (x < c).where(x, x + c),
    lambda x, c: x + c,
    lambda x, c: x - c,
    lambda x, c: x * c,
    lambda x, _: x.rint(),
    lambda x, c: (x >= c).where(x * x, x),
)


@pytest.mark.parametrize("seed", range(8))
def test_results_lie_in_their_range(seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        steps = [(random.choice(STEPS), random.choice(LIMITS)) for _ in range(random.randint(1, 6))]
        symbolic: Array = Traced(t.f32, 2, NUMBERS.size)
        known: Array = NumpyArray(np.tile(NUMBERS, (2, 1)).view(np.uint32), t.f32)
        for step, number in steps:
            symbolic, known = step(symbolic, number), step(known, number)
        assert isinstance(symbolic, Traced)
        assert isinstance(known, NumpyArray)
        found, values = FloatRanges().of(symbolic), known.values
        assert found.nan or not np.isnan(values).any()
        numbers = values[~np.isnan(values)]
        assert (numbers >= found.low).all()
        assert (numbers <= found.high).all()


def test_what_a_clamp_leaves_is_no_nan_and_within_its_limits() -> None:
    x = Traced(t.f32, 2, 2)
    clamped = x.isnan().where(0.0, x).clamp(-128.0, 127.0)
    assert isinstance(clamped, Traced)
    found, ranges = FloatRanges().of(clamped), FloatRanges()
    assert (found.low, found.high, found.nan) == (-128.0, 127.0, False)
    never = [clamped < -128.0, clamped > 200.0, clamped.isnan()]
    assert all(isinstance(c, Traced) and ranges.never(c) for c in never)
    assert not ranges.never(x.apply("lt", 0.0))
