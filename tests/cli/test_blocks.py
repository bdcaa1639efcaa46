"""A grid of blocks: global memory is shared, everything else is each block's own."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from every import every
from ptokit.launch import settings

GEMM = pto.load(ROOT / "examples" / "gemm_grid.pto")
ONE = """\
  %view = pto.make_tensor_view %x, shape = [4, 16], strides = [16, 1] \
: !pto.tensor_view<4x16xf32>
  %block = pto.get_block_idx
  %row = arith.index_cast %block : i64 to index
"""
TILE = "!pto.tile_buf<vec, 1x16xf32>"
VIEW = "!pto.partition_tensor_view<1x16xf32>"


def program(body: str) -> pto.Program:
    """A function on %x, 4x16, with its block's number in %row."""
    return pto.loads(f"func.func @f(%x: !pto.ptr<f32>) {{\n{ONE}{body}  return\n}}\n")


def part(name: str, row: str) -> str:
    sizes = "offsets = [%ROW, 0], sizes = [1, 16]".replace("ROW", row)
    return f"  %{name} = pto.partition_view %view, {sizes} : !pto.tensor_view<4x16xf32> -> {VIEW}\n"


def load(view: str, tile: str) -> str:
    return f"  pto.tload ins(%{view} : {VIEW}) outs(%{tile} : {TILE})\n"


def store(tile: str, view: str) -> str:
    return f"  pto.tstore ins(%{tile} : {TILE}) outs(%{view} : {VIEW})\n"


ALLOC = f"  %t = pto.alloc_tile : {TILE}\n"
X = np.arange(64, dtype=np.float32).reshape(4, 16)


@pytest.fixture(scope="module")
def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {name: rng.standard_normal((1024, 1024)).astype(np.float16) for name in "ab"}


@pytest.mark.parametrize("blocks", [1, 3, 8, 11])
def test_any_number_of_blocks_multiplies_the_same(
    matrices: dict[str, np.ndarray], blocks: int
) -> None:
    done = GEMM.execute(matrices, target="a5", blocks=blocks)
    a, b = (matrices[name].astype(np.float64) for name in "ab")
    bound = 1024 * 2.0**-24 * (np.abs(a) @ np.abs(b)).max()
    assert np.abs(done.outputs["c"] - a @ b).max() <= bound
    assert sum(done.instructions.values()) == 3344  # whoever does the work


def test_blocks_run_in_ascending_order_on_shared_memory() -> None:
    text = part("here", "row") + (
        "  %next = arith.addi %row, 1 : index\n" + part("there", "next") + ALLOC
    )
    shift = program(text + load("here", "t") + store("t", "there"))
    found = shift.run(x=X, blocks=3)["x"]
    assert np.array_equal(found, np.broadcast_to(X[0], (4, 16)))  # row 0 went down block by block
    assert np.array_equal(X, np.arange(64).reshape(4, 16))


def test_a_block_does_not_see_what_another_left_in_its_memory() -> None:
    first = (
        "  %is_first = arith.cmpi eq, %row, 0 : index\n  scf.if %is_first {\n"
        + load("here", "t")
        + "  }\n"
    )
    text = part("here", "row") + ALLOC + first + store("t", "here")
    assert np.array_equal(program(text).run(x=X)["x"], X)
    done = program(text).execute({"x": X}, blocks=2)
    (found,) = done.warnings
    assert found.slug == "undefined-store"
    assert "16 elements, first (0, 0) of %here in block 1" in str(found.seen)
    read = f"  %x0 = pto.tgetval ins(%t, 0 : {TILE}, index) outs : f32\n"
    with pytest.raises(pto.PtoError) as caught:
        program(text + read).run(x=X, blocks=2)
    (found,) = caught.value.diagnostics
    assert found.slug == "uninitialised-read"
    assert [n.message for n in found.notes] == ["in block 1"]


@every("blocks", [0, -1, 65536, 10**30])
def test_a_launch_has_some_blocks(blocks: int) -> None:
    with pytest.raises(ValueError, match="1 to 65535"):
        program("").run(x=X, blocks=blocks)


def test_engines_are_named() -> None:
    assert set(settings.ENGINES) == {"reference", "native"}
    with pytest.raises(ValueError, match="reference, native"):
        program("").run(x=X, engine="fast")


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.ENGINES, "native", "ptokit.nowhere")
    with pytest.raises(ValueError, match="native needs"):
        program("").run(x=X, engine="native")
