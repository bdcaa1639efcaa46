"""Blocks that meet in global memory: the native engine runs them as if one after the other.

What ranges of others wrote, put together in order, is the whole. Where blocks write over parts of
one another no order is promised.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from every import every
from fuzz.scale import sampled
from ptokit.engines.native.blockrange import Sizes, divided
from ptokit.engines.native.compile import CompiledFunction
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.patches import Patch
from ptokit.order.executed import blocks_meet, shared_bytes

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

Floats = NDArray[np.float32]
T = "!pto.tile_buf<vec, 8x16xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<?x?xf32>"
ROWS = 256


def part(name: str, view: str, row: str) -> str:
    where = f"offsets = [%{row}, %c0], sizes = [%c8, %c16]"
    return f"  %{name} = pto.partition_view %{view}, {where} : {VIEW} -> {PART}\n"


def view(name: str, array: str) -> str:
    shape = "shape = [%rows, %c16], strides = [%c16, %c1]"
    return f"  %{name} = pto.make_tensor_view %{array}, {shape} : {VIEW}\n"


def program(body: str) -> str:
    """A function on %x and %y, 256x16, whose rows of eight start at %here, %there and %top."""
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 8, 16))
    return f"""func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
{numbers}  %rows = arith.constant {ROWS} : index
  %block = pto.get_block_idx
  %k = arith.index_cast %block : i64 to index
  %r = arith.muli %k, %c8 : index
  %s = arith.addi %r, %c8 : index
{view("vx", "x")}{view("vy", "y")}{part("here", "vx", "r")}{part("there", "vx", "s")}\
{part("top", "vy", "c0")}{part("near", "vy", "k")}  %t = pto.alloc_tile : {T}
{body}  return
}}
"""


def load(where: str) -> str:
    return f"  pto.tload ins(%{where} : {PART}) outs(%t : {T})\n"


def store(where: str, how: str = "") -> str:
    return f"  pto.tstore ins(%t : {T}) outs(%{where} : {PART}){how}\n"


ADD = " {atomicType = #pto.atomic_type<add>}"
RELU = f"  pto.trelu ins(%t : {T}) outs(%t : {T})\n"
MEETINGS = {
    "each reads what the one before wrote": load("here") + RELU + store("there"),
    "the last one stays": load("here") + store("top"),
    "they add to the same place": load("here") + store("top", ADD),
    "they add to places that overlap": load("here") + store("near", ADD),
    "each reads what the one before made of the sum": (
        load("top") + store("there") + load("here") + store("top", ADD)
    ),
    "the place of each is 0 modulo 2^64": (
        f"  %far = arith.constant {1 << 60} : index\n"
        "  %e = arith.muli %k, %c16 : index\n  %w = arith.muli %e, %far : index\n"
        + part("meet", "vy", "w")
        + load("here")
        + store("meet")
    ),
    "they share nothing": load("here") + RELU + store("here"),
}


@pytest.mark.parametrize("blocks", sampled([3, 2, 16, 31], 2))
@pytest.mark.parametrize("name", MEETINGS)
def test_blocks_run_in_ascending_order(name: str, blocks: int) -> None:
    random = np.random.default_rng(blocks)
    x, y = (random.standard_normal((ROWS, 16)).astype(np.float32) for _ in range(2))
    text = program(MEETINGS[name])
    for _ in range(3):  # threads may be lucky once
        expected, got = (run(text, e, blocks, x, y) for e in ("reference", "native"))
        assert expected == got


def run(text: str, engine: str, blocks: int, x: Floats, y: Floats) -> dict[str, bytes]:
    done = pto.loads(text).execute({"x": x, "y": y}, engine=engine, blocks=blocks)
    return {name: array.tobytes() for name, array in done.outputs.items()}


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
    memories, count = bound.targets(bound.shared()), Counter[str]()
    sizes: Sizes | None = None
    for first, last in pairwise(edges):
        done = function.run_range(bound, RunLimits(), range(first, last), sizes)
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
    done = [function.run_range(bound, RunLimits(), span, None, shared) for span in spans]
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


@every("size", [0, 5, 4096, 4097, 20000])
def test_a_patch_has_every_mark(size: int) -> None:
    random = np.random.default_rng(size)
    data = random.integers(0, 256, size, np.uint8)
    for rate in (0.0, 0.0001, 0.3, 1.0):
        shadow = (random.random(size) < rate) * np.uint8(255)
        onto = np.zeros(size, np.uint8)
        Patch.of(data, shadow).onto(onto)
        assert np.array_equal(onto, data & shadow)
