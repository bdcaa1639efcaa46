"""Entries of several sizes: compiled code assumes that they fill their tiles, and checks it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from native.pipekernel import BACK, FREE, POP, kernel
from native.tracking import tracked_memories
from pykernels.cases import chapter

TAKE = "pto.tpop(%u, %down : !T, !pto.pipe) {split = 0}"
STORE = "pto.tstore ins(%u : !T) outs(%v : !V)"


def pushed(rows: int) -> str:
    """Push the first rows of `%t`."""
    kind = "!pto.tile_buf<vec, 16x16xf32, valid=?x16>"
    return f"""%n{rows} = arith.constant {rows} : index
    %p{rows} = pto.alloc_tile valid_row = %n{rows} : {kind}
    pto.tadds ins(%t, %one : !T, f32) outs(%p{rows} : {kind})
    pto.tpush(%p{rows}, %up : {kind}, !pto.pipe) {{split = 0}}"""


@pytest.fixture
def tracked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[set[str]]:
    """The memories with a shadow, of each function that is compiled; none is cached."""
    return tracked_memories(monkeypatch, tmp_path)


@pytest.mark.parametrize("sizes", [(16, 3), (3, 16)])
def test_a_smaller_entry_leaves_the_rest_of_its_tile(
    sizes: tuple[int, int], tracked: list[set[str]]
) -> None:
    """The code is compiled again, with shadows; slots have none, so a rest is not pushed there."""
    pushes = "\n".join(map(pushed, sizes))
    vector = f"%one = arith.constant 1.0 : f32\n{pushes}\n{TAKE}\n{STORE}"
    program = pto.loads(kernel(vector, f"{POP}\n{BACK}\n{FREE}\n{POP}\n{FREE}"))
    one, other = (
        program.compile(target="a5", engine=engine).execute({"x": np.ones((16, 16), np.float32)})
        for engine in ("reference", "native")
    )
    assert np.array_equal(one.outputs["x"], other.outputs["x"])
    assert [w.render() for w in one.warnings] == [w.render() for w in other.warnings]
    assert bool(other.interpreted) == (sizes[0] < 16)
    assert any(tracked)


def test_attention_on_two_cores_needs_no_shadow(tracked: list[set[str]]) -> None:
    flash = chapter("attention").flash
    q, k, v = (np.ones((192, 64), np.float16) for _ in "qkv")
    out = np.zeros((192, 64), np.float32)
    flash.on("a5")(q, k, v, out)
    assert np.allclose(out, 1)
    assert not any(tracked)
