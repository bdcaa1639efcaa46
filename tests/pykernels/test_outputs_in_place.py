"""A kernel writes contiguous outputs in place; after an error InOut arrays are as before."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.kernel.kernel import Kernel
from ptokit.engines.native.session import Worker
from ptokit.machine import memory

Array = Any  # Any: of NumPy's


@pto.kernel(shapes="table[V, D] ids[n] y[n, D]")
def embedding(table: pto.In, ids: pto.In, y: pto.InOut) -> None:
    width = table.shape[1]
    for i in pto.range(ids.shape[0]):
        row = pto.load(pto.block(table, ids[i], 0, 1, width))
        pto.store(pto.block(y, i, 0, 1, width), row + pto.load(pto.block(y, i, 0, 1, width)))


@pto.kernel(shapes="x[n, D] y[n, D]")
def mirrored(x: pto.In, y: pto.Out) -> None:
    rows, width = x.shape
    for i in pto.range(rows):
        pto.store(pto.block(y, rows - 1 - i, 0, 1, width), pto.load(pto.block(x, i, 0, 1, width)))


IDS = np.array([3, 0, 2, 1], np.int32)


def table() -> Array:
    return np.arange(64, dtype=np.float32).reshape(4, 16)


def ready() -> Array:
    """The second launch of a kind writes in place; here is the output of the first."""
    y = np.ones((4, 16), np.float32)
    embedding(table(), IDS, y)
    assert np.array_equal(y, table()[IDS] + 1)
    return y


def test_an_error_in_the_middle_changes_nothing() -> None:
    y = ready()
    before = y.copy()
    with pytest.raises(pto.PtoError, match="out-of-bounds"):
        embedding(table(), np.array([3, 0, 9, 1], np.int32), y)
    assert np.array_equal(y, before)
    embedding(table(), IDS, y)  # and the next launch goes on from there
    assert np.array_equal(y, before + table()[IDS])


def test_a_copy_is_kept_of_what_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """To begin again, an output that the kernel never reads needs no copy."""
    y, out = ready(), np.zeros((4, 16), np.float32)
    mirrored(table(), out)
    kept: list[Array] = []

    def copied(array: Array, over: Array = None) -> Array:
        kept.append(array)
        return array.copy()

    monkeypatch.setattr(memory, "copied", copied)
    mirrored(table(), out)
    assert not kept
    embedding(table(), IDS, y)
    assert len(kept) == 1
    assert np.may_share_memory(kept[0], y)


LIMITS = [  # one that is generous, and one that ends the run
    (embedding.on(max_instructions=10**6), embedding.on(max_instructions=9)),
    (embedding.on(timeout=10**6), embedding.on(timeout=1e-9)),
]


@pytest.mark.parametrize(("generous", "mean"), LIMITS)
def test_a_limit_changes_nothing(generous: Kernel[...], mean: Kernel[...]) -> None:
    y = ready()
    generous(table(), IDS, y)
    before = y.copy()
    with pytest.raises(pto.PtoError, match="limit"):
        mean(table(), IDS, y)
    assert np.array_equal(y, before)


def test_an_interrupt_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    y = ready()
    before, run = y.copy(), Worker.run

    def interrupted(worker: Worker) -> None:
        run(worker)
        assert not np.array_equal(y, before)
        raise KeyboardInterrupt

    monkeypatch.setattr(Worker, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        embedding(table(), IDS, y)
    assert np.array_equal(y, before)


def rows(n: int) -> Array:
    return np.arange(16 * n, dtype=np.float32).reshape(n, 16)


def over_itself() -> tuple[Array, Array]:
    x = rows(4)
    return x, x


def one_row_on() -> tuple[Array, Array]:
    x = rows(5)
    return x[:4], x[1:]


def strided() -> tuple[Array, Array]:
    return rows(4), np.zeros((4, 32), np.float32)[:, ::2]


def big_endian() -> tuple[Array, Array]:
    return rows(4), np.zeros((4, 16), ">f4")


def unaligned() -> tuple[Array, Array]:
    return rows(4), np.frombuffer(bytearray(257), np.uint8)[1:].view(np.float32).reshape(4, 16)


@pytest.mark.parametrize("made", [over_itself, one_row_on, strided, big_endian, unaligned])
def test_whatever_the_output_is_the_result_is_the_same(
    made: Callable[[], tuple[Array, Array]],
) -> None:
    """Overlapping arrays are read as they were before the launch."""
    for _ in range(3):
        x, y = made()
        expected = x[::-1].copy()
        mirrored(x, y)
        assert np.array_equal(y, expected)


def test_results_of_a_program_stay_when_it_runs_again() -> None:
    run = mirrored.program(rows(4), rows(4)).compile()
    results = [run.run(x=rows(4) + n, y=rows(4), n=4)["y"] for n in range(3)]
    assert all(np.array_equal(y, rows(4)[::-1] + n) for n, y in enumerate(results))


def test_a_launch_is_about_its_own_array_alone() -> None:
    """The array of an earlier launch gets nothing from later ones."""
    ready()
    early, late = np.zeros((4, 16), np.float32), np.zeros((4, 16), np.float32)
    embedding(table(), IDS, early)
    embedding(table() + 1, IDS, late)
    assert np.array_equal(early + 1, late)
    kept = ref(early)
    del early
    embedding(table(), IDS, late)
    gc.collect()
    assert kept() is None
