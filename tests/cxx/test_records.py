"""A recorded program is legal text, has no race, and gives the bytes of the launch."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

pytestmark = needs_compiler


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_numbers_without_a_sign_and_empty_views(target: str, rows: int) -> None:
    a = np.arange(512, dtype=np.uint16).reshape(8, 64)
    c = np.zeros_like(a)
    ran = kernels("records", target).launch("bits", a, c, rows)
    assert np.array_equal(c, a | 40000)
    assert [*ran.check(), *ran.races()] == []
    assert ran.text().count("pto.tload") == (1 if rows == 0 else 2)
    (found,) = again(ran, {"a": a, "c": np.zeros_like(a)}, target).values()
    assert np.array_equal(found, c)


@pytest.mark.parametrize("blocks", [1, 2])
def test_vector_cores_that_differ(blocks: int) -> None:
    a = np.arange(128, dtype=np.float32)
    c = np.zeros_like(a)
    ran = kernels("lanes", "a5").launch("lanes", a, c, blocks=blocks)
    assert np.array_equal(c, np.concatenate([a[:64] + 1, a[64:] * 3]))
    assert "get_block_idx" not in ran.text()
    assert np.array_equal(again(ran, {"a": a, "c": c * 0}, "a5")["c"], c)
    if blocks == 1:
        assert [*ran.races()] == []
