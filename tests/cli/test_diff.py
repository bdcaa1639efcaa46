"""`ptokit diff`: the worst elements, distances in units of the last place, and a map."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from commands import ptokit
from ml_dtypes import bfloat16

from every import every


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """64 x 96 of f32, of which the block of rows 16 to 31 and columns 32 to 47 differs."""
    x = np.random.default_rng(3).random((64, 96)).astype(np.float32) + 1
    y = x.copy()
    y[16:32, 32:48] += 0.5
    y[20, 40] = 7
    y[0, 0] = np.nextafter(x[0, 0], 2, dtype=np.float32)  # within the tolerance
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    return tmp_path / "y.npy", tmp_path / "x.npy"


def test_what_differs_and_where(pair: tuple[Path, Path], tmp_path: Path) -> None:
    picture = tmp_path / "map.svg"
    result = ptokit("diff", *pair, "--block", "16x16", "--svg", picture)
    assert result.exit_code == 1
    head, *_ = result.output.splitlines()
    assert "256 of 6144 elements differ" in head
    worst = result.output.partition("worst elements")[2].splitlines()[1]
    found, expected = (np.load(path) for path in pair)
    assert worst.split()[:4] == ["[20,", "40]", "7.0", str(expected[20, 40])]
    rows = [line.strip() for line in result.output.splitlines()[-4:]]
    assert rows == ["......", "..#...", "......", "......"]
    assert picture.read_text().count("100% differ") == 1
    counts = re.findall(r"^ +(\d+)(?: to \d+)? +(\d+)  #*$", result.output, re.M)
    assert sum(int(count) for _, count in counts) == found.size
    assert ("1", "1") in counts  # one element is one unit away
    assert ("0", str(found.size - 257)) in counts


def test_arrays_that_are_alike(pair: tuple[Path, Path]) -> None:
    same = ptokit("diff", pair[0], pair[0])
    assert (same.exit_code, same.output.count("\n")) == (0, 1)
    assert ptokit("diff", *pair, "--atol", "9").exit_code == 0


def test_raw_files_and_zeros(tmp_path: Path) -> None:
    raw = tmp_path / "a.bin"
    raw.write_bytes(np.zeros((4, 8), bfloat16).tobytes())
    assert ptokit("diff", f"{raw}:bf16:4x8", "zeros").exit_code == 0
    assert ptokit("diff", "zeros:f16:32", f"{raw}:f16:32").exit_code == 0


@every(
    ("words", "said"),
    [
        (("zeros:f32:2x2", "zeros:f32:2x3"), "shape mismatch"),
        (("a.npy", "zeros"), "a.npy: No such file"),
        (("zeros", "zeros"), "give element type and extents"),
        (("zeros:f32:2x2", "zeros", "--block", "0x3"), "expected rows and columns"),
        (("zeros:f32:2x2", "zeros", "--rtol", "-1"), "expected a number >= 0"),
    ],
)
def test_mistakes(words: tuple[str, ...], said: str) -> None:
    result = ptokit("diff", *words)
    assert (result.exit_code, said in result.output) == (2, True), result.output
