"""Tiles of scales that vector cores write into L1."""

from __future__ import annotations

import numpy as np
import pytest
from launched import kernels, needs_compiler

import ptokit as pto

pytestmark = needs_compiler
R, C, IN = 32, 4, 16


@pytest.mark.parametrize("row", [0, 16])
def test_boxes_of_scales_are_inserted_as_they_lie(row: int) -> None:
    """A row of boxes is one run of bytes (npu/a5/TInsert.hpp:620-624 and :313-318)."""
    a, b = np.arange(R * C, dtype=np.int8), np.arange(-IN * C, 0, dtype=np.int8)
    c = np.zeros_like(a)
    ran = kernels("scales", "a5").launch(f"inserted<{C}>", a, b, c, row)
    expected = a.copy()
    expected[row * C : (row + IN) * C] = b
    assert np.array_equal(c, expected)
    assert [d for d in (*ran.check(), *ran.races()) if d.is_error] == []


@pytest.mark.parametrize(("cols", "row"), [(2, 0), (C, 8)])
def test_parts_of_boxes_are_refused(cols: int, row: int) -> None:
    """The code moves lines as of a plain tile: of parts of boxes it makes other scales."""
    a, b = np.zeros(R * C, np.int8), np.zeros(IN * C, np.int8)
    with pytest.raises(pto.PtoError):
        kernels("scales", "a5").launch(f"inserted<{cols}>", a, b, np.zeros_like(a), row)
