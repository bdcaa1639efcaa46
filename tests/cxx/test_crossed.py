"""Inserts into L1 between tiles of unlike layouts: as the code of A5 addresses them (C66)."""

from __future__ import annotations

import numpy as np
from launched import kernels, needs_compiler

pytestmark = needs_compiler
RNG = np.random.default_rng(12)


def test_boxes_lie_in_zn_as_those_of_the_transpose() -> None:
    p, v = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((32, 64), (32, 16)))
    c = np.zeros((64, 16), np.float32)
    ran = kernels("crossed", "a5").launch("product", p, v, c)
    assert np.array_equal(c, p.T.astype(np.float32) @ v.astype(np.float32))
    (warning,) = ran.warnings
    assert (warning.slug, warning.span is not None) == ("layout", True)
    assert [d for d in ran.races() if d.is_error] == []


def test_lines_stay_lines() -> None:
    a = RNG.integers(-99, 99, (32, 64)).astype(np.float16)
    c = np.zeros_like(a)
    ran = kernels("crossed", "a5").launch("lines", a, c)
    assert np.array_equal(c, a)
    assert {d.slug for d in ran.warnings} == {"layout"}
