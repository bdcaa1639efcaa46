"""Numbers at the edges in calls: no exception of the inside, and no number cut to 64 bits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statemodules import module

import ptokit as pto
from every import every

ANY: Any = pto  # Any: calls that its types refuse
KERNEL = """
@pto.kernel
def kernel(x: pto.In, y: pto.Out, n: int):
    t = pto.load(pto.block(x, 0, 0, 1, 16))
    {}
    pto.store(pto.block(y, 0, 0, 1, 16), t)
"""
WRONG = {  # in a kernel that is recorded: what is said
    "z = pto.cdiv(8, 0)": "divides by b, and b is 0",
    "z = pto.cdiv(n, 0)": "divides by b, and b is 0",
    "z = pto.cdiv(8, 1.5)": "integers, got 1.5",
    "pto.print(1 << 63)": "at most 64 bits",
    "pto.print(10**400)": "at most 64 bits",
    "pto.muls(t, n + 10**400, out=t)": "at most 64 bits",
    "t = pto.extract(t, 10**400, 0, (1, 16))": "at most 64 bits",
    "t = pto.extract(t, float('nan'), 0, (1, 16))": "integer",
    "t = pto.extract(t, 0, 0, (float('nan'), 16))": r"expected \(rows, cols\)",
    "t = pto.extract(t, 0, 0, (1, 16, 1))": r"expected \(rows, cols\)",
    "t = pto.extract(t, 0, 0, (np.uint64(1 << 63), 16))": "larger than any memory|out-of-memory",
}
OF_RUN_TIME = ("n + 10", "print")  # `debug` computes and prints these as Python does


@pytest.mark.parametrize("line", WRONG)
@pytest.mark.parametrize("way", ["kernel", "debug"])
def test_a_number_at_an_edge_is_a_call_error(tmp_path: Path, line: str, way: str) -> None:
    if way == "debug" and any(part in line for part in OF_RUN_TIME):
        pytest.skip("Python has larger numbers than programs")
    kernel = module(tmp_path, KERNEL.format(line)).kernel
    x, y = np.ones((8, 16), np.float32), np.zeros((8, 16), np.float32)
    with pytest.raises((TypeError, ValueError, pto.PtoError), match=WRONG[line]) as problem:
        (kernel.debug if way == "debug" else kernel)(x, y, 3)
    assert "Python int too large" not in str(problem.value)
    assert not y.any()


@every("index", [1 << 63, -(1 << 63) - 1, 10**400, np.uint64(1 << 63)])
def test_an_index_beyond_any_array_is_out_of_bounds(index: int) -> None:
    tile = pto.tile("vec", "f32", 8, 16, data=np.ones((8, 16), np.float32))
    for key in (index, (0, index)):
        with pytest.raises(IndexError, match=re.escape(f"{index} is out of bounds")):
            tile[key]
        with pytest.raises(IndexError, match="out of bounds"):
            tile[key] = 1
    assert tile[:index].shape[0] in (0, 8)
    with pytest.raises(ValueError, match="b is 0"):
        pto.cdiv(8, 0)
    with pytest.raises(ValueError, match="at most 64 bits"):
        ANY.textract(tile, tile, 10**400)


@pto.kernel
def chosen(x: pto.In, y: pto.Out, n: int) -> None:
    row = pto.max(pto.min(n // 4 * 3 - n // 2, 7), 0)
    pto.store(pto.block(y, 0, 0, 1, 16), pto.load(pto.block(x, row, 0, 1, 16)))


def test_numbers_beyond_any_extent_have_code_of_their_own() -> None:
    """Code for usual numbers proves what an operation on larger numbers would break."""
    x, y = np.arange(128, dtype=np.float32).reshape(8, 16), np.zeros((1, 16), np.float32)
    for n in (5, 1 << 40, (1 << 40) + 4, 12, (1 << 63) - 1, -(1 << 63), -9, 9):
        chosen(x, y, n)
        assert (y[0] == x[max(min(n // 4 * 3 - n // 2, 7), 0)]).all(), n
