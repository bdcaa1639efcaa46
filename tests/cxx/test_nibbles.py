"""Windows of packed pairs in UB: chips count bytes there, each of two elements."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

import ptokit as pto

pytestmark = needs_compiler
R, C = 16, 64
BYTES = np.arange(R * C, dtype=np.int64) * 37 % 251


def expected(which: int, row: int, col: int, start: np.ndarray) -> np.ndarray:
    """What is left of `start` (npu/a5/TExtract.hpp:676-698, :847, :919-922)."""
    found, x = start.copy(), BYTES.astype(np.int8)
    if which == 0:
        lines = x.reshape(R, C)[row : row + 8, col : col + 32]
        found[: lines.size] = lines.ravel()
    elif which == 1:
        found[0] = x.reshape(R, C)[row, col]
    else:
        found[0] = x.reshape(C // 32, R, 32)[col // 32, row, col % 32]
    return found


CASES = [(0, 0, 32), (0, 5, 0), (1, 4, 21), (1, 9, 13), (2, 5, 17), (2, 11, 40)]


@pytest.mark.parametrize(("which", "row", "col"), CASES)
def test_columns_of_packed_windows_are_bytes(which: int, row: int, col: int) -> None:
    a, b = BYTES.astype(np.int8), np.full(R * C, -7, np.int8)
    given = {"a": a.copy(), "b": b.copy(), "c": np.zeros_like(a)}
    ran = kernels("nibbles", "a5").launch("nibbles", which, a, b, (c := np.zeros_like(a)), row, col)
    assert np.array_equal(c, expected(which, row, col, b))
    assert ran.warnings == []
    assert np.array_equal(again(ran, given, "a5")["c"], c)


def test_lines_of_packed_windows_are_whole_blocks() -> None:
    """The move of lines takes blocks of 32 bytes (npu/a5/TExtract.hpp:870-881)."""
    a, b = BYTES.astype(np.int8), np.full(R * C, -7, np.int8)
    with pytest.raises(pto.PtoError) as problem:
        kernels("nibbles", "a5").launch("nibbles", 0, a, b, np.zeros_like(a), 0, 16)
    assert "offset-misaligned" in {d.slug for d in problem.value.diagnostics}
