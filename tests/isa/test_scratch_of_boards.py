"""Scratch that the assembler refuses and C++ gives: a run takes any tile, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

ROWS, COLS = 4, 32


def vector(kind: str) -> str:
    return f"!pto.tile_buf<vec, {ROWS}x{COLS}x{kind}>"


NUMBER = ("%c", "i16")


def text(op: str, sources: dict[str, str], dtype: str, scratch: str) -> str:
    """Load the sources, compute with `scratch` and store."""
    views = {n: f"!pto.partition_tensor_view<{ROWS}x{COLS}x{k}>" for n, k in sources.items()}
    out = f"!pto.partition_tensor_view<{ROWS}x{COLS}x{dtype}>"
    heads = "".join(f"%{n}: {v}, " for n, v in views.items())
    loads = "".join(
        f"%t{n} = pto.alloc_tile : {vector(k)}\n"
        f"pto.tload ins(%{n} : {views[n]}) outs(%t{n} : {vector(k)})\n"
        for n, k in sources.items()
    )
    given = [(f"%t{n}", vector(k)) for n, k in sources.items()]
    given += [NUMBER] if op == "pto.tpows" else []
    given += [("%tmp", scratch)]
    given += [NUMBER] if op == "pto.tsels" else []
    names, types = (", ".join(part) for part in zip(*given, strict=True))
    return f"""func.func @f({heads}%y: {out}) {{
%c = arith.constant 3 : i16
{loads}%tmp = pto.alloc_tile : {scratch}
%d = pto.alloc_tile : {vector(dtype)}
{op} ins({names} : {types}) outs(%d : {vector(dtype)})
pto.tstore ins(%d : {vector(dtype)}) outs(%y : {out})
return
}}"""


BYTES = "!pto.tile_buf<vec, 1x32xu8>"
PROGRAMS = {
    "tpow": text("pto.tpow", {"a": "u16", "b": "u16"}, "u16", vector("u16")),
    "tpow, little": text("pto.tpow", {"a": "u16", "b": "u16"}, "u16", BYTES),
    "tpows": text("pto.tpows", {"a": "u16"}, "u16", BYTES),
    "tsel": text("pto.tsel", {"m": "u8", "a": "u16", "b": "u16"}, "u16", BYTES),
    "tsels": text("pto.tsels", {"m": "u8", "a": "u16"}, "u16", BYTES),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_boards_take_it_and_the_assembler_does_not(name: str) -> None:
    program = pto.loads(PROGRAMS[name])
    assert any(d.is_error for d in program.check("a2a3", judge="assembler"))
    for judge in ("headers", "hardware"):
        assert not [d for d in program.check("a2a3", judge=judge) if d.is_error]
    kinds = {"a": np.uint16, "b": np.uint16, "m": np.uint8, "y": np.uint16}
    given = {n: np.ones((ROWS, COLS), t) for n, t in kinds.items() if f"%{n}:" in PROGRAMS[name]}
    for engine in ("reference", "native"):
        assert program.execute(given, target="a2a3", engine=engine).outputs["y"].any()
