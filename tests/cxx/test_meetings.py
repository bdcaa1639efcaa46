"""SYNCALL in launches of one kind of core: who waits, for how many, and who is told that none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.cxx.cxxkernel import CxxRun

pytestmark = needs_compiler
BLOCKS, N = 6, 64
A = np.arange(BLOCKS * N, dtype=np.float32).reshape(BLOCKS, N)


def launched(how: str, where: str, count: int, apart: int) -> tuple[CxxRun, dict[str, Any]]:
    """What a launch leaves, and what it began with. Any: arrays."""
    given = {"a": A, "b": np.zeros_like(A), "c": np.full_like(A, -1), "w": np.zeros(64, np.int32)}
    arrays = {name: array.copy() for name, array in given.items()}
    name = f"passed<{how}, TileType::{where}>"
    ran = kernels("meetings", "a2a3").launch(name, *arrays.values(), count, apart, blocks=BLOCKS)
    assert np.array_equal(arrays["c"][count:], given["c"][count:])
    handed = A[:count].reshape(-1, apart, N)
    assert np.array_equal(arrays["c"][:count], np.roll(handed, -1, axis=1).reshape(count, N))
    return ran, given


@pytest.mark.parametrize(
    ("how", "where"),
    [("HARD", "Vec"), *sampled([("BY_KIND", "Vec"), ("DEFAULT", "Vec"), ("BY_KIND", "Mat")], 2)],
)
def test_all_cores_of_the_kind_that_the_launch_has_wait(how: str, where: str) -> None:
    """Without arguments it is one of vector cores; a hard one ignores how many cores it is told
    to wait for (common/pto_instr.hpp:118-139).
    """
    ran, given = launched(how, where, BLOCKS, BLOCKS)
    assert [*ran.races()] == []
    expected = np.roll(A, -1, axis=0)
    assert np.array_equal(again(ran, given, "a2a3")["c"], expected)


@pytest.mark.parametrize("where", ["Vec", "Mat"])
@pytest.mark.parametrize("apart", sampled([2, 4], 2))
def test_only_so_many_cores_wait_as_the_meeting_counts(where: str, apart: int) -> None:
    """Each place in memory counts alone, up to so many cores (common/syncall_soft.hpp:112)."""
    ran, given = launched("SOME", where, 4, apart)
    if apart == 4:
        assert [*ran.races()] == []
        assert np.array_equal(again(ran, given, "a2a3")["c"][:4], np.roll(A[:4], -1, axis=0))


def test_a_meeting_of_more_cores_than_come_is_a_deadlock() -> None:
    with pytest.raises(pto.PtoError, match="4 of 5 have arrived") as problem:
        launched("TOO_MANY", "Vec", 4, 4)
    assert {d.slug for d in problem.value.diagnostics} == {"deadlock"}


@pytest.mark.parametrize(("where", "kind"), sampled([("Vec", "cube"), ("Mat", "vector")], 2))
def test_a_meeting_of_cores_that_the_launch_has_not_is_an_error(where: str, kind: str) -> None:
    """On chips such a call is nothing at all: no core waits (npu/a2a3/SyncAll.hpp:27)."""
    with pytest.raises(pto.PtoError, match=f"the launch has no {kind} cores") as problem:
        launched("OTHER", where, BLOCKS, BLOCKS)
    assert {d.slug for d in problem.value.diagnostics} == {"core"}
