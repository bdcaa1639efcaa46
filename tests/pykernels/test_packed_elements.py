"""Kernels on elements of four bits: Python counts elements, the text of the kernel bytes of two."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import ptokit as pto

load: Any = pto.load  # Any: of an array or of a file, which parts of arrays leave open


def test_kernels_count_elements_and_print_pairs() -> None:
    @pto.kernel
    def copied(x: Any, y: Any) -> None:
        for row in pto.range(0, 32, 16):
            pto.store(y[row : row + 16, 64:128], load(x[row : row + 16, 64:128]))

    codes = np.random.default_rng(1).integers(0, 16, (32, 256)).astype(np.uint8)
    codes[codes == 8] = 0
    x = codes.view(ml_dtypes.float4_e2m1fn)
    text = copied.program(x, np.zeros_like(x)).text("dps")
    assert "16x32x!pto.f4E2M1x2" in text
    found = pto.loads(text).run(x=x, y=np.zeros_like(x))["y"]
    wanted = np.zeros_like(codes)
    wanted[:, 64:128] = codes[:, 64:128]
    assert np.array_equal(found.view(np.uint8), wanted)
    assert pto.loads(text).text("dps") == text
