"""Blocks that meet in global memory: the native engine runs them as if one after the other.

Not those that write over parts of one another: no order is promised there.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from fuzz.scale import sampled

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
