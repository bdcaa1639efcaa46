"""Results of one instruction that are stored in one walk are those of one store after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=32, v_row=16, v_col=32>"
WHOLE = TILE.replace("f32", "i32")


def text(op: str, ins: str, outs: str) -> str:
    """A function with one instruction on the tiles a, b (f32), m, n (i32)."""
    kinds = {"a": TILE, "b": TILE, "c": TILE, "d": TILE, "m": WHOLE, "n": WHOLE, "k": WHOLE}
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items())

    def listed(names: str) -> str:
        values = ", ".join(f"%{n}" for n in names.split())
        return f"{values} : {', '.join(kinds[n] for n in names.split())}"

    line = f"pto.{op} ins({listed(ins)}) outs({listed(outs)})"
    return f"func.func @f({arguments}) {{\n  {line}\n  return\n}}\n"


@pytest.mark.parametrize(
    ("op", "ins", "outs"),
    [
        ("tpartargmax", "a b m n", "c k"),
        ("tpartargmax", "a b m n", "a m"),  # each in its place
        ("tpartargmax", "a b m n", "b n"),
        ("tdeinterleave", "a b", "c d"),
        ("tdeinterleave", "a b", "a b"),  # reads what it overwrites
        ("tdeinterleave", "a b", "b c"),
        ("tinterleave", "a b", "c d"),
        ("tinterleave", "a b", "b a"),
        ("tpairreducesum", "a", "c"),
        ("tpairreducesum", "a", "a"),
    ],
)
def test_one_walk_does_what_several_do(op: str, ins: str, outs: str) -> None:
    rng = np.random.default_rng(5)
    arrays: dict[str, Any] = {
        n: rng.standard_normal((16, 32)).astype(np.float32) for n in "abcd"
    }  # Any: arrays
    arrays["a"][3, 5:9] = np.nan, np.inf, -0.0, np.nan
    arrays |= {n: rng.integers(-9, 9, (16, 32), np.int32) for n in "mnk"}
    program = pto.loads(text(op, ins, outs))
    one, two = (program.run(engine=e, **arrays) for e in ("reference", "native"))
    assert {n: x.tobytes() for n, x in one.items()} == {n: x.tobytes() for n, x in two.items()}
