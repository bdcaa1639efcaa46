"""Elements of 8 bits: which targets move them, of views too, and gather them at indices."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from every import every

PLAIN, SMALL = ("i8", "ui8"), ("!pto.hif8", "f8E4M3FN", "f8E5M2")
STORED = {"i8": np.int8, "ui8": np.uint8, "f8E4M3FN": ml_dtypes.float8_e4m3fn}
VIEW = "!pto.tensor_view<8x32x{}>"
TILE = "!pto.tile_buf<vec, 8x32x{}>"
MOVES = {
    "tload": "pto.tload ins(%v : {view}) outs(%t : {tile})",
    "tstore": "pto.tstore ins(%t : {tile}) outs(%v : {view})",
    "tprefetch": "pto.tprefetch ins(%v : {view}) outs(%t : {tile})",
}


def errors(text: str, target: str) -> set[str]:
    return {d.slug for d in pto.loads(text).check(target) if d.is_error}


@every("kind", [*PLAIN, *SMALL])
@every("move", MOVES)
def test_a2a3_moves_no_small_floats_of_views(move: str, kind: str) -> None:
    """The tile has plain bytes: what the view calls them decides."""
    view, tile = VIEW.format(kind), TILE.format("i8")
    text = f"""\
func.func @f(%p: !pto.ptr<{kind}>, %t: {tile}) {{
  %one = arith.constant 1 : index
  %high = arith.constant 8 : index
  %wide = arith.constant 32 : index
  %v = pto.make_tensor_view %p, shape = [%high, %wide], strides = [%wide, %one] : {view}
  {MOVES[move].format(view=view, tile=tile)}
  return
}}
"""
    assert errors(text, "a5") == set()
    assert errors(text, "a2a3") == ({"element-type"} if kind in SMALL else set())


def gather(kind: str, index: str) -> pto.Program:
    table, where = TILE.format(kind), TILE.format(index)
    return pto.loads(f"pto.tgather ins(%x, %k : {table}, {where}) outs(%y : {table})\n")


@every("kind", STORED)
def test_indices_of_32_bits_pass_the_assembler_only(kind: str) -> None:
    """The assembler takes them; what C++ makes of them reads the halves of each one."""
    assert not gather(kind, "i16").check("a5")
    found, zeros = gather(kind, "i32").check("a5", judge="assembler"), np.zeros((8, 32), np.uint8)
    assert not any(d.is_error for d in found)
    assert [d.slug for d in gather(kind, "i32").check("a5")] == ["element-type"]
    with pytest.raises(pto.PtoError, match="element"):
        gather(kind, "i32").run(
            target="a5", x=zeros.view(STORED[kind]), k=np.zeros((8, 32), np.int32)
        )
