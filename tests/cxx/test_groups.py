"""Groups of feature maps that become weights: where chips look for each of them."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

pytestmark = needs_compiler
G, N, C1, H, W, C0, N1, N0 = 2, 3, 2, 2, 4, 8, 2, 2


@pytest.mark.parametrize("target", sampled(["a5", "a2a3"], 2))
def test_each_group_begins_where_blocks_of_images_do(target: str) -> None:
    """A group of src has n1 * n0 images there, of which n move; the others become 0.

    npu/a5/TTrans.hpp:645 and :651, npu/a2a3/TTrans.hpp:610-615.
    """
    a = np.arange(1, G * N1 * N0 * C1 * H * W * C0 + 1, dtype=np.float32)
    c = np.full_like(a, -1)
    start = {"a": a.copy(), "c": c.copy()}
    ran = kernels("groups", target).launch("weights", a, c)
    maps = a.reshape(G, N1 * N0, C1, H, W, C0).copy()
    maps[:, N:] = 0
    expected = maps.transpose(0, 2, 3, 4, 1, 5).ravel()
    assert np.array_equal(c, expected)
    assert [d for d in ran.races() if d.is_error] == []
    assert np.array_equal(again(ran, start, target)["c"], expected)
