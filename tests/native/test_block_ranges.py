"""Blocks that run apart: what ranges of them wrote, put together in order, is the whole."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import ptokit as pto
from native.test_blocks_in_order import MEETINGS, ROWS, Floats, load, program, store
from ptokit.engines.native.blockrange import Sizes, divided, run_range
from ptokit.engines.native.compile import CompiledFunction
from ptokit.machine.limits import RunLimits
from ptokit.machine.patches import Patch
from ptokit.order.sharedbytes import blocks_meet, shared_bytes

BLOCKS = 16
APART = {
    "they share nothing": load("here") + store("over"),
    "they meet in part": load("here") + store("near"),
}
OVER = "  %over = pto.partition_view %vy, offsets = [%r, %c0], sizes = [%c8, %c16] : "
VIEWS = "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x?xf32>\n"


def text(body: str) -> str:
    return program(OVER + VIEWS + body)


def by_ranges(text: str, arrays: dict[str, Floats], edges: list[int]) -> dict[str, bytes]:
    """The outputs, and how many instructions ran."""
    made = pto.loads(text).compile(blocks=edges[-1])
    bound, function = made.prepared(arrays)
    assert isinstance(function, CompiledFunction)
    assert divided(function, bound, RunLimits()) == frozenset()
    whole, count = bound.shared(), Counter[str]()
    memories = {arg.name: whole[arg].memory for arg in bound.written}
    sizes: Sizes | None = None
    for first, last in pairwise(edges):
        done = run_range(function, bound, RunLimits(), range(first, last), sizes)
        sizes = done.grown if sizes is None else sizes
        count += done.count
        for name, patch in done.written.items():
            if name in done.grown and not first:
                memories[name].grow(*done.grown[name])
            patch.onto(memories[name].data)
    assert count == made.execute(arrays).instructions
    return {name: memory.data.tobytes() for name, memory in memories.items()}


@pytest.mark.parametrize("edges", [[0, 16], [0, 1, 2, 16], [0, 5, 10, 16]])
@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("given", [True, False])
def test_ranges_make_the_whole(name: str, edges: list[int], given: bool) -> None:
    """Some elements are written as they were: those too are put over what came before."""
    x = np.random.default_rng(1).integers(0, 3, (ROWS, 16)).astype(np.float32)
    arrays = {"x": x, "y": np.ones_like(x)} if given else {"x": x}
    expected = (
        pto.loads(text(APART[name])).execute(arrays, engine="reference", blocks=BLOCKS).outputs["y"]
    )
    assert by_ranges(text(APART[name]), arrays, edges)["y"] == expected.tobytes()


@pytest.mark.parametrize("name", MEETINGS)
def test_blocks_that_keep_an_order_stay_together(name: str) -> None:
    """It is known before they run, or found where two ranges meet."""
    x = np.ones((ROWS, 16), np.float32)
    made = pto.loads(program(MEETINGS[name])).compile(blocks=4)
    bound, function = made.prepared({"x": x, "y": x})
    assert isinstance(function, CompiledFunction)
    shared = divided(function, bound, RunLimits())
    if shared is None:
        return
    spans = (range(0, 1), range(1, 3), range(3, 4))
    done = [run_range(function, bound, RunLimits(), span, None, shared) for span in spans]
    parts = [shared_bytes(one.logs, one.kept) or {} for one in done]
    meet = blocks_meet(parts, dict.fromkeys(shared, x.nbytes))
    assert meet == (name != "they share nothing")


def test_a_patch_is_of_bits() -> None:
    data, shadow = np.array([0x12, 0x34, 0x56, 0x78], np.uint8), np.array([0, 15, 240, 255], "u1")
    patch = Patch.of(data, shadow)
    onto = np.full(4, 0xAA, np.uint8)
    patch.onto(onto)
    assert onto.tolist() == [0xAA, 0xA4, 0x5A, 0x78]
    assert patch.nbytes == 3


@pytest.mark.parametrize("size", [0, 5, 4096, 4097, 20000])
def test_a_patch_has_every_mark(size: int) -> None:
    random = np.random.default_rng(size)
    data = random.integers(0, 256, size, np.uint8)
    for rate in (0.0, 0.0001, 0.3, 1.0):
        shadow = (random.random(size) < rate) * np.uint8(255)
        onto = np.zeros(size, np.uint8)
        Patch.of(data, shadow).onto(onto)
        assert np.array_equal(onto, data & shadow)
