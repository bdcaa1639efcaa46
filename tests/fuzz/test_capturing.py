"""A kernel that is captured computes what it computes when it is debugged: random kernels."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.capturing import made
from fuzz.scale import scaled

BATCH = 25  # kernels of one test
COUNT = 50 if scaled(1) == 1 else scaled(300)


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_captured_is_debugged(first: int) -> None:
    for seed in range(first, first + BATCH):
        kernel, text = made(seed)
        rng = np.random.default_rng(seed)
        x, y = rng.integers(-50, 50, (2, int(rng.integers(1, 20)), 8)).astype(np.int32)
        debugged, captured = y.copy(), y.copy()
        number = int(rng.integers(-2, 6))
        kernel.debug(x, debugged, number)
        engine = "native" if seed % BATCH == 0 else "reference"
        kernel.on(engine=engine)(x, captured, number)
        assert (debugged == captured).all(), f"seed {seed}, n = {number}\n{text}"
