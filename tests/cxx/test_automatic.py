"""Automatic mode: ptokit places the tiles of a C++ kernel, and events set no flags."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.cxx.foundcompiler import found_compiler

SOURCE = Path(__file__).with_name("automatic.cpp")


@pytest.mark.parametrize("automatic", [True, False])
def test_tiles_without_addresses_lie_apart(automatic: bool) -> None:
    try:
        found_compiler()
    except pto.PtoError as problem:
        pytest.skip(str(problem))
    a = np.arange(320, dtype=np.float32).reshape(5, 64)
    b, c = np.ones_like(a), np.zeros_like(a)
    define = ["__PTO_AUTO__"] if automatic else []
    run = pto.cxx(SOURCE, target="a5", define=define).launch("add", c, a, b, 5)
    expected = a + b
    expected[0, 0] = expected[0, 1] + 5  # an element that the scalar unit computes
    assert np.array_equal(c, expected)
    assert ("pto.set_flag" in run.instructions()) is not automatic
    places = {
        line.split("addr = ")[1].split()[0] for line in run.text().splitlines() if "addr" in line
    }
    assert len(places) == 3
