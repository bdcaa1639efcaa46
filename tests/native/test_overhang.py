"""A view has the declared shape of the tile it looks into, so its storage may reach past it.

Nothing may be written there, and what is read there is reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every

TILE = "!pto.tile_buf<vec, 16x32xf32>"
VIEW = "!pto.tile_buf<vec, 16x32xf32, valid=8x32>"
HEAD = """\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %in = pto.make_tensor_view %x, shape = [8, 32], strides = [32, 1] \
: !pto.tensor_view<8x32xf32>
  %out = pto.make_tensor_view %y, shape = [16, 32], strides = [32, 1] \
: !pto.tensor_view<16x32xf32>
"""
X = np.arange(256, dtype=np.float32).reshape(8, 32)


def ops(*lines: str) -> str:
    return HEAD + "".join(f"  {line}\n" for line in lines) + "  return\n}\n"


LOAD = f"pto.tload ins(%in : !pto.tensor_view<8x32xf32>) outs(%v : {VIEW})"
SUBVIEW = (
    f"pto.subview ins(%a, 8, 0 : {TILE}, index, index) outs(%v : {VIEW})",
    f"%v = pto.alloc_tile : {VIEW}",
)


@every("looped", [False, True])
def test_a_load_into_a_view_leaves_the_next_tile_alone(engine: str, looped: bool) -> None:
    """%a and %b lie side by side; the view of the lower half of %a ends inside %b."""
    fill = f"pto.texp ins(%b : {TILE}) outs(%b : {TILE})"
    body = [SUBVIEW[0], LOAD, fill]
    if looped:
        body = ["scf.for %i = 0 to 1 step 1 {", *body, "}"]
    head = f"func.func @f(%a: {TILE}, %b: {TILE}, %x: !pto.ptr<f32>) {{\n"
    text = ops(SUBVIEW[1], *body)
    text = head + text.split("\n", 1)[1].replace("%out = ", "%unused = ").replace("%y,", "%x,")
    zeros = np.zeros((16, 32), np.float32)
    found = pto.loads(text).run(a=zeros, b=zeros, x=X, engine=engine)
    assert (found["a"][:8] == 0).all()
    assert (found["a"][8:] == X).all()
    assert (found["b"] == 1).all()


def test_a_load_into_a_window_of_the_same_shape_leaves_the_next_tile_alone(engine: str) -> None:
    """%a and %b lie side by side; a window without a shape of its own has that of %a."""
    fill = f"pto.texp ins(%b : {TILE}) outs(%b : {TILE})"
    text = ops(f"%v = pto.subset %a[8, 0] sizes [8, 32] : {TILE}", LOAD, fill)
    text = text.split("\n", 1)[1].replace("%out = ", "%unused = ").replace("%y,", "%x,")
    text = f"func.func @f(%a: {TILE}, %b: {TILE}, %x: !pto.ptr<f32>) {{\n{text}"
    ones = np.ones((16, 32), np.float32)
    found = pto.loads(text).run(a=ones, b=ones, x=X, engine=engine)
    assert (found["a"][:8] == 1).all()
    assert (found["a"][8:] == X).all()
    assert (found["b"] > 2).all()


def test_a_load_into_a_view_at_the_end_of_memory(engine: str) -> None:
    """The tile is the last one of UB: the view's storage would end behind it."""
    text = ops(
        f"%a = pto.alloc_tile addr = 522240 : {TILE}",
        SUBVIEW[1],
        SUBVIEW[0],
        LOAD,
        f"pto.subview ins(%a, 8, 0 : {TILE}, index, index) outs(%w : {VIEW})",
        f"pto.tstore ins(%w : {VIEW}) outs(%part : !pto.partition_tensor_view<8x32xf32>)",
    ).replace(
        "  pto.subview ins(%a, 8, 0 : " + TILE + ", index, index) outs(%w",
        f"  %w = pto.alloc_tile : {VIEW}\n"
        "  %part = pto.partition_view %out, offsets = [0, 0], sizes = [8, 32]"
        " : !pto.tensor_view<16x32xf32> -> !pto.partition_tensor_view<8x32xf32>\n"
        "  pto.subview ins(%a, 8, 0 : " + TILE + ", index, index) outs(%w",
    )
    found = pto.loads(text).run(x=X, engine=engine)
    assert (found["y"].reshape(-1)[:256].reshape(8, 32) == X).all()


def test_a_gather_from_behind_the_source_of_a_view_is_reported(engine: str) -> None:
    """Index 256 of the view is the first element behind %a, and the first of another tile."""
    text = f"""\
func.func @f(%a: {TILE}, %at: !pto.tile_buf<vec, 8x32xi32>, %d: !pto.tile_buf<vec, 8x32xf32>,
             %t: !pto.tile_buf<vec, 8x32xi32>) {{
  %v = pto.alloc_tile : {VIEW}
  pto.subview ins(%a, 8, 0 : {TILE}, index, index) outs(%v : {VIEW})
  pto.tgather ins(%v, %at, %t : {VIEW}, !pto.tile_buf<vec, 8x32xi32>, !pto.tile_buf<vec, 8x32xi32>)\
 outs(%d : !pto.tile_buf<vec, 8x32xf32>)
  return
}}
"""
    given: dict[str, Any] = {"a": np.ones((16, 32), np.float32), "t": np.zeros((8, 32), np.int32)}
    inside, outside = (np.full((8, 32), n, np.int32) for n in (255, 256))
    program = pto.loads(text)
    found = program.run(at=inside, engine=engine, **given)
    assert (found["d"] == 1).all()
    with pytest.raises(pto.PtoError, match="exceeds the tile of which it is a view"):
        program.run(at=outside, engine=engine, **given)
