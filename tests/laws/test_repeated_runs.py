"""Vector functions of run-time sizes: later runs track no lanes, and find the same undefined ones.

The first run with given numbers follows which lanes are defined. A run with the same numbers does
not, unless data decide. Results and reports are those of a formula in NumPy, in both engines.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from native.tracking import tracked_memories
from ptokit import f32, lanes
from ptokit.machine.undefinedstore import UnwrittenWarning

Row: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
Formula: TypeAlias = Callable[[Row, Row, Mask], tuple[Row, Mask]]  # values, and which are defined
MOST = 256
SEEN = re.compile(r"(\d+) elements?, first \(0, (\d+)\)")
# elements that are loaded, and those that the vector function and the store work on
SIZES = ((0, 0), (1, 1), (63, 63), (64, 64), (65, 65), (200, 200), (0, 1), (64, 65), (63, 200))


@pto.vector
def doubled(x: pto.Tile, y: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        a = lanes.vlds(x, i)
        lanes.vsts(lanes.vadd(a, a, m), y, i, m)


@pto.vector
def with_sums(x: pto.Tile, y: pto.Tile, n: int) -> None:
    """Add the sum of each block of 64 elements to its elements, by a second loop over y."""
    every, head = lanes.pset_b32("PAT_ALL"), lanes.pge_b32("PAT_VL1")
    none, left = lanes.vbr(0.0, dtype=f32), n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        total = lanes.vcadd(lanes.vsel(lanes.vlds(x, i), none, m), every)
        total = lanes.vdup(lanes.vsel(total, none, head), every)
        lanes.vsts(total, y, i, m)
    left = n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        lanes.vsts(lanes.vadd(lanes.vlds(y, i), lanes.vlds(x, i), m), y, i, m)


@pto.vector
def larger(x: pto.Tile, y: pto.Tile, n: int) -> None:
    """Data choose between defined values, so nothing but the size decides what is defined."""
    left = n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        a = lanes.vlds(x, i)
        k = lanes.vcmps(a, 0.0, m, "gt")
        lanes.vsts(lanes.vsel(a, lanes.vmuls(a, -2.0, m), k), y, i, m)


def doubled_row(x: Row, _: Row, given: Mask) -> tuple[Row, Mask]:
    return x + x, given


def row_with_sums(x: Row, _: Row, given: Mask) -> tuple[Row, Mask]:
    blocks = [slice(i, i + 64) for i in range(0, x.size, 64)]
    parts = [
        (x[b] + x[b].sum(dtype=np.float32), np.full(x[b].size, given[b].all())) for b in blocks
    ]
    none = np.zeros(0, np.float32), np.zeros(0, np.bool_)
    values, known = zip(none, *parts, strict=True)
    return np.concatenate(values), np.concatenate(known)


def larger_row(x: Row, _: Row, given: Mask) -> tuple[Row, Mask]:
    return np.where(x > 0, x, -2 * x), given


def room(n: Any) -> pto.Tile:  # Any: a number of the run
    return pto.tile_vec(f32, 1, MOST, valid=(1, n))


def of_one(function: Callable[..., None]) -> Any:  # Any: a kernel
    """Return a kernel that loads n elements, and works on m of them."""

    @pto.kernel
    def kernel(x: pto.In, y: pto.In, z: pto.Out, n: int, m: int) -> None:
        a, c = room(n), room(m)
        pto.tload(a, pto.block(x, 0, 0, 1, n))
        function(a, c, m)
        pto.store(pto.block(z, 0, 0, 1, m), c)

    return kernel


@pto.vector
def chosen(x: pto.Tile, y: pto.Tile, z: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        a = lanes.vlds(x, i)
        lanes.vsts(lanes.vsel(a, lanes.vlds(y, i), lanes.vcmps(a, 0.0, m, "gt")), z, i, m)


@pto.vector
def stored(x: pto.Tile, _: pto.Tile, z: pto.Tile, n: int) -> None:
    left = n
    for i in pto.range(0, n, 64):
        m, left = lanes.plt_b32(left)
        a = lanes.vlds(x, i)
        lanes.vsts(a, z, i, lanes.vcmps(a, 0.0, m, "gt"))


def chosen_row(x: Row, y: Row, given: Mask) -> tuple[Row, Mask]:
    return np.where(x > 0, x, y), (x > 0) | given


def stored_row(x: Row, _: Row, __: Mask) -> tuple[Row, Mask]:
    return x, x > 0


def of_two(function: Callable[..., None]) -> Any:  # Any: a kernel
    """Return a kernel that loads m elements of x and n of y, and works on m."""

    @pto.kernel
    def kernel(x: pto.In, y: pto.In, z: pto.Out, n: int, m: int) -> None:
        a, b, c = room(m), room(n), room(m)
        pto.tload(a, pto.block(x, 0, 0, 1, m))
        pto.tload(b, pto.block(y, 0, 0, 1, n))
        function(a, b, c, m)
        pto.store(pto.block(z, 0, 0, 1, m), c)

    return kernel


@pto.kernel
def counted(x: pto.In, y: pto.In, z: pto.Out, n: int, m: int) -> None:
    """Double as many elements as the first one of y says."""
    a, c = room(m), room(m)
    pto.tload(a, pto.block(x, 0, 0, 1, m))
    doubled(a, c, cast(Any, y)[0])  # Any: a number of the run
    pto.store(pto.block(z, 0, 0, 1, m), c)


def run(kernel: Any, engine: str, x: Row, y: Any, n: int, m: int) -> tuple[bytes, list[str]]:
    """Return z and the warnings. Any: a kernel, an array."""
    z = np.full(MOST, -1, np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnwrittenWarning)
        kernel.on("a5", engine=engine)(x, y, z, n, m)
    return z.tobytes(), [str(one.message) for one in caught]


def require(kernel: Any, formula: Formula, x: Row, y: Row, n: int, m: int) -> None:
    """Require what the formula says of a run. Any: a kernel."""
    with np.errstate(all="ignore"):
        values, given = formula(x[:m], y[:m], np.arange(m) < n)
    expected = np.full(MOST, -1, np.float32)
    expected[:m] = np.where(given, values, 0)
    z, found = run(kernel, "native", x, y, n, m)
    assert z == expected.tobytes()
    missing = np.flatnonzero(~given)
    reported = [tuple(map(int, pair)) for text in found for pair in SEEN.findall(text)]
    assert reported == ([(missing.size, missing[0])] if missing.size else [])
    if m % 64:  # the reference takes longer
        assert (z, found) == run(kernel, "reference", x, y, n, m)


def whole_numbers(seed: int) -> Row:
    """Return numbers whose sums are exact."""
    return np.random.default_rng(seed).integers(-50, 50, MOST).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "formula"),
    [(doubled, doubled_row), (with_sums, row_with_sums), (larger, larger_row)],
)
def test_any_size(function: Callable[..., None], formula: Formula) -> None:
    kernel = of_one(function)
    for n, m in SIZES:
        for seed in range(3):
            require(kernel, formula, whole_numbers(seed), whole_numbers(9), n, m)


@pytest.mark.parametrize(("function", "formula"), [(chosen, chosen_row), (stored, stored_row)])
def test_data_decide(function: Callable[..., None], formula: Formula) -> None:
    """Runs without an undefined element say nothing of later data."""
    kernel, mixed = of_two(function), whole_numbers(1)
    for x in (abs(mixed) + 1, abs(mixed) + 1, mixed, abs(mixed) + 1, mixed):
        for n, m in ((100, 200), (200, 200)):
            require(kernel, formula, x, whole_numbers(2), n, m)


def test_a_number_of_an_array_decides() -> None:
    for count in (200, 200, 100, 200):
        size = np.full(MOST, count, np.int32)
        z, found = run(counted, "native", whole_numbers(1), size, 0, 200)
        assert len(found) == (count < 200)
        assert (z, found) == run(counted, "reference", whole_numbers(1), size, 0, 200)


def test_runs_without_undefined_lanes_are_not_tracked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, kernel, x = tracked_memories(monkeypatch, tmp_path), of_one(with_sums), whole_numbers(1)
    for sizes in ((63, 200), (63, 200), (100, 100), (100, 100), (65, 65), (65, 65), (63, 200)):
        run(kernel, "native", x, x, *sizes)
    assert found == [{"UB", "VF"}, set()]
