"""Kernels of the cube, and of both kinds of core, against NumPy and their records."""

from __future__ import annotations

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

import ptokit as pto
from fuzz.scale import in_turn, sampled
from ptokit.diagnostics.diagnostic import Judge

RNG = np.random.default_rng(3)
A = RNG.integers(-4, 5, (32, 64)).astype(np.float16)
B = RNG.integers(-4, 5, (64, 32)).astype(np.float16)
PRODUCT = A.astype(np.float32) @ B.astype(np.float32)

pytestmark = needs_compiler


@pytest.mark.parametrize(("which", "target"), in_turn([0, 1, 2], ["a2a3", "a5"]))
def test_products(which: int, target: str) -> None:
    c = np.zeros((32, 32), np.float32)
    ran = kernels("cube", target).launch("cube", which, A, B, c)
    assert np.array_equal(c, PRODUCT)
    assert np.array_equal(again(ran, {"a": A, "b": B, "c": c * 0}, target)["c"].reshape(32, 32), c)
    assert [d for d in ran.check() if d.is_error] == []
    assert [d.slug for d in ran.races() if d.is_error] == []


@pytest.mark.parametrize("target", sampled(["a2a3", "a5"], 2))
def test_a_fifo_between_cores(target: str) -> None:
    c, slots = np.zeros((32, 32), np.float32), np.zeros(4096, np.float32)
    ran = kernels("mixed", target).launch("mixed", 0, A, B, c, slots)
    assert np.array_equal(c, 2 * PRODUCT)
    given = {"a": A, "b": B, "c": c * 0, "slots": slots}
    assert np.array_equal(again(ran, given, target)["c"].reshape(32, 32), c)
    assert ran.text().count("pto.tpop") == 1  # both vector cores did the same
    assert [d for d in ran.check() if d.is_error] == []
    assert [d.slug for d in ran.races() if d.is_error] == []


SPLITS = [("UP_DOWN", "a2a3"), ("LEFT_RIGHT", "a5"), ("NO_SPLIT", "a2a3")]


@pytest.mark.parametrize(("split", "target"), sampled(SPLITS, 2))
def test_slots_of_global_memory(split: str, target: str) -> None:
    """Views without a place get one: the slot, or the part of it that a vector core has."""
    c, room = np.zeros((3, 32, 32), np.float32), np.zeros(2048, np.float32)
    ran = kernels("mixed", target).launch(f"slots<TileSplitAxis::TILE_{split}>", A, B, c, room)
    assert np.array_equal(c, [PRODUCT] * 3)
    assert [d for d in ran.races() if d.is_error] == []
    if split == "NO_SPLIT":  # text has one type for all entries
        assert [d for d in ran.check() if d.is_error] == []
        given = {"a": A, "b": B, "c": c * 0, "room": room}
        assert np.array_equal(again(ran, given, target)["c"].reshape(3, 32, 32), c)


@pytest.mark.parametrize("target", sampled(["a5", "a2a3"], 2))
def test_a_fifo_that_converts(target: str) -> None:
    c, slots = np.zeros(512, np.float32), np.zeros(4096, np.float32)
    ran = kernels("mixed", target).launch("mixed", 3, A, B, c, slots)
    assert np.array_equal(c.view(np.float16).reshape(32, 32), np.maximum(PRODUCT, 0))
    given = {"a": A, "b": B, "c": c * 0, "slots": slots}
    assert np.array_equal(again(ran, given, target)["c"], c)
    scaled = np.zeros(256, np.float32)
    kernels("mixed", target).launch("mixed", 4, A, B, scaled, slots)
    wanted = np.rint(PRODUCT / 4).clip(-128, 127)
    assert np.array_equal(scaled.view(np.int8).reshape(32, 32), wanted)


def test_each_vector_core_receives_half_of_what_is_valid() -> None:
    c, slots = np.zeros((32, 32), np.float32), np.zeros(4096, np.float32)
    kernels("mixed", "a5").launch("mixed", 5, A, B, c, slots)
    assert np.array_equal(c[:28], PRODUCT[:28])
    assert not c[28:].any()


def test_scalar_pipes_signal_other_cores_of_a5() -> None:
    """Code of boards lets them signal and wait (npu/a5/SyncAll.hpp:52-60); assemblers refuse."""
    a, c = np.arange(128, dtype=np.float32), np.zeros(256, np.float32)
    ran = kernels("mixed", "a5").launch("scalar_pipes", a, c)
    assert np.array_equal(c, [*a, *a[64:], *a[:64]])
    assert [d for d in ran.races() if d.is_error] == []
    refused = pto.loads(ran.text()).check("a5")
    assert {(d.slug, d.by) for d in refused if d.is_error} == {("attribute", (Judge.ASSEMBLER,))}


def test_bursts_below_the_instructions() -> None:
    """L1 has lines of 128 bytes, half of each 1.0; from the second on 32 bytes of a line of a."""
    c, slots = np.zeros(64, np.float32), np.zeros(4096, np.float32)
    ran = kernels("mixed", "a5").launch("mixed", 6, A, B, c, slots)
    moved = np.ones((8, 32), np.float16)
    moved[1:, :16] = A.reshape(-1, 64)[:7, :16]
    lines = moved.reshape(4, 64)[:, :18]  # a store of every second line of 64 bytes, 36 of them
    assert np.array_equal(c.view(np.float16).reshape(4, 32)[:, :18], lines)
    assert not c.view(np.float16).reshape(4, 32)[:, 18:].any()
    assert [*ran.races()] == []  # each vector core has an UB of its own


def test_signals_between_cores() -> None:
    c, slots = np.zeros((32, 32), np.float32), np.zeros(4096, np.float32)
    ran = kernels("mixed", "a2a3").launch("mixed", 2, A, B, c, slots)
    assert np.array_equal(c[:2], np.repeat([[1.0], [2.0]], 32, axis=1))
    assert not c[2:].any()
    assert np.array_equal(again(ran, {"c": c * 0}, "a2a3")["c"].reshape(32, 32), c)


def test_a_deadlock_has_the_line() -> None:
    c, slots = np.zeros((32, 32), np.float32), np.zeros(4096, np.float32)
    with pytest.raises(pto.PtoError) as problem:
        kernels("mixed", "a5").launch("mixed", 1, A, B, c, slots)
    (found,) = problem.value.diagnostics
    assert found.slug == "deadlock"
    assert found.span is not None
    assert "TPOP<Pipe" in found.span.source.line(found.span.line)
