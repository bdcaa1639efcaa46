"""Profiles in Python: of programs and of kernels, on the target that is meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ptokit as pto


@pto.kernel(shapes="x[rows, 64] y[rows, 64]")
def doubled(x: pto.In, y: pto.Out, *, high: int = 8) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, high)):
        t = pto.load(pto.block(x, i * high, 0, high, width))
        pto.store(pto.block(y, i * high, 0, high, width), t + t)


X = np.ones((32, 64), np.float32)


def test_a_kernel_is_profiled_for_its_arrays_and_writes_nothing() -> None:
    found = doubled.profile(X, y := np.zeros_like(X), target="a2a3")
    assert not y.any()
    assert (found.func, len(found.timeline.bars)) == ("doubled", 3 * 4)
    assert found.timeline.bytes == 2 * X.nbytes
    assert found.timeline.flop == X.size
    files = {row.place[0] for row in found.by_line() if row.place is not None}
    assert files == {__file__}


def test_options_are_those_of_the_launch_unless_they_are_given() -> None:
    y = np.zeros_like(X)
    two = doubled.on("a5", blocks=2)
    found = two.profile(X, y).timeline
    assert (str(found.target), len({queue.core for queue in found.queues})) == ("a5", 2)
    assert len({queue.core for queue in two.profile(X, y, blocks=4).timeline.queues}) == 4
    assert str(two.profile(X, y, target="a2a3").timeline.target) == "a2a3"


def test_every_block_is_a_core_however_many() -> None:
    many = np.ones((800, 64), np.float32)
    found = doubled.profile(many, many, target="a5", blocks=100).timeline
    assert {queue.core for queue in found.queues} == {*range(100)}
    assert len(found.bars) == 3 * 100


def test_more_blocks_take_less_time() -> None:
    y = np.zeros_like(X)
    cycles = [doubled.profile(X, y, target="a5", blocks=n).cycles for n in (1, 2, 4)]
    assert cycles[0] > cycles[1] > cycles[2]


def test_lines_of_several_files_are_shown_with_them(tmp_path: Path) -> None:
    space: dict[str, Callable[[pto.Tile], pto.Tile]] = {}
    file = tmp_path / "helpers.py"
    file.write_text("def twice(t):\n    return t + t\n")
    exec(compile(file.read_text(), file, "exec"), space)
    twice = space["twice"]

    @pto.kernel
    def copied(x: pto.In, y: pto.Out) -> None:
        pto.store(y, twice(pto.load(x)))

    text = str(copied.profile(X, X, target="a5"))
    assert "helpers.py:2 " in text
    assert "test_profiles.py:" in text
    assert "test_profiles.py:" not in str(doubled.profile(X, X, target="a5"))


def test_by_default_the_current_target_or_the_first_with_times() -> None:
    y = np.zeros_like(X)
    assert str(doubled.profile(X, y).timeline.target) == "a2a3"
    with pto.target("a5"):
        assert str(doubled.profile(X, y).timeline.target) == "a5"


def test_a_target_without_times_is_a_wrong_call() -> None:
    with pytest.raises(ValueError, match="no times published for cpu: choose one of a2a3, a5"):
        doubled.profile(X, np.zeros_like(X), target="cpu")
    with pytest.raises(ValueError, match="a6"):
        doubled.profile(X, np.zeros_like(X), target="a6")


def test_run_time_extents_without_arrays_are_numbers_to_give() -> None:
    shape = pto.spec(pto.f32, ("rows", 64))
    with pytest.raises(pto.PtoError, match="give rows=NUMBER"):
        doubled.profile(shape, shape, target="a5")
    program = doubled.program(shape, shape)
    assert program.profile(target="a5", rows=32).cycles == doubled.on("a5").profile(X, X).cycles
