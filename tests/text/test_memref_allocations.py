"""Memrefs that a function allocates: tiles, or text that is kept."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from tests.text.test_real_files import reads_back

T = "memref<16x32xf32, #pto.address_space<vec>>"
V = "!pto.tensor_view<16x32xf32>"
TEXT = f"""\
func.func @f(%v: {V}, %w: {V}) {{
  %a = MADE : {T}
  pto.tload ins(%v : {V}) outs(%a : {T})
  pto.tadd ins(%a, %a : {T}, {T}) outs(%a : {T})
  pto.tstore ins(%a : {T}) outs(%w : {V})
  return
}}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("made", ["memref.alloc()", "memref.alloca()"])
def test_a_memref_of_a_tile_memory_is_a_tile(made: str, engine: str) -> None:
    text = TEXT.replace("MADE", made)
    assert reads_back(text)
    program, x = pto.loads(text), np.arange(512, dtype=np.float32).reshape(16, 32)
    assert [d for d in program.check("a5") if d.is_error] == []
    assert np.array_equal(program.run(v=x, w=np.zeros_like(x), engine=engine)["w"], 2 * x)


@pytest.mark.parametrize("kind", ["16x32xf32", "16x32xf32, #pto.address_space<gm>"])
def test_other_memories_are_kept_and_not_judged(kind: str) -> None:
    text = f"func.func @f() {{\n  %a = memref.alloc() : memref<{kind}>\n  return\n}}\n"
    program = pto.loads(text)
    assert [(d.slug, d.is_error) for d in program.check("cpu")] == [("foreign-op", False)]
    assert program.text("dps") == text
