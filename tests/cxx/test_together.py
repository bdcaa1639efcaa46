"""Collectives of ranks that are in one process: against NumPy and the record."""

from __future__ import annotations

import numpy as np
from launched import again, kernels, needs_compiler

pytestmark = needs_compiler
RNG = np.random.default_rng(31)


def test_collectives_of_a_group() -> None:
    parts, news = (RNG.random((3, 4, 64), np.float32) for _ in range(2))
    same, whole = RNG.random((4, 64), np.float32), np.zeros((3, 4, 64), np.float32)
    given = {"parts": parts, "all": whole, "most": whole[0], "news": news}
    given |= {"same": same, "spread": whole}
    arrays = {name: array.copy() for name, array in given.items()}
    ran = kernels("together", "a5").launch("together", *arrays.values())
    wanted = {"all": parts, "most": parts.max(0), "parts": news, "spread": np.stack([same] * 3)}
    record = again(ran, given, "a5")
    assert [n for n, array in wanted.items() if array.tobytes() != arrays[n].tobytes()] == []
    assert [n for n, array in wanted.items() if array.tobytes() != record[n].tobytes()] == []
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []
