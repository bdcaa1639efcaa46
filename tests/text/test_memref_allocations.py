"""Memrefs that a function allocates: tiles, or text that is kept."""

from __future__ import annotations

import re

import numpy as np
import pytest
from readback import reads_back

import ptokit as pto
from every import every

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


@every("made", ["memref.alloc()", "memref.alloca()"])
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


PART = """\
func.func @f(%v: memref<64x32xf32, #pto.address_space<gm>>, %w: V, %row: index) {
  %p = memref.subview %v[%row, 0] [16, 32] STEPS : memref<64x32xf32, #pto.address_space<gm>> to P
  %a = memref.alloc() : A
  pto.tload ins(%p : P) outs(%a : A)
  pto.tstore ins(%a : A) outs(%w : V)
  return
}
"""
STRIDED = "memref<16x32xf32, strided<[32, 1], offset: ?>, #pto.address_space<SPACE>>"


def part(steps: str = "[1, 1]") -> str:
    text = PART.replace("STEPS", steps).replace("V", V)
    for name, space in (("P", "gm"), ("A", "vec")):
        text = re.sub(rf"\b{name}\b", STRIDED.replace("SPACE", space), text)
    return text


def test_a_part_of_a_buffer_of_global_memory_is_a_part_of_a_view(engine: str) -> None:
    program, x = pto.loads(part()), np.arange(2048, dtype=np.float32).reshape(64, 32)
    assert reads_back(part())
    assert [d for d in program.check("a5") if d.is_error or d.slug == "foreign-op"] == []
    out = program.run(v=x, w=np.zeros((16, 32), np.float32), row=8, engine=engine)["w"]
    assert np.array_equal(out, x[8:24])


def test_a_part_outside_of_its_buffer_is_refused() -> None:
    program = pto.loads(part().replace("[%row, 0] [16", "[60, 0] [16"))
    assert "window-out-of-bounds" in {d.slug for d in program.check("a5")}


@every("steps", ["[2, 1]", "[%row, 1]"])
def test_a_part_with_steps_leaves_rows_out(steps: str, engine: str) -> None:
    text = part(steps).replace(
        "strided<[32, 1], offset: ?>, #pto.address_space<gm>",
        "strided<[?, 1], offset: ?>, #pto.address_space<gm>",
    )
    program, x = pto.loads(text), np.arange(2048, dtype=np.float32).reshape(64, 32)
    assert reads_back(text)
    assert [d for d in program.check("a5") if d.is_error or d.slug == "foreign-op"] == []
    out = program.run(v=x, w=np.zeros((16, 32), np.float32), row=2, engine=engine)["w"]
    assert np.array_equal(out, x[2:34:2])


@every("steps", ["[4, 1]", "[1, 2]", "[-1, 1]"])
def test_a_part_with_steps_stays_in_its_buffer(steps: str) -> None:
    wrong = {d.slug for d in pto.loads(part(steps).replace("[%row", "[4")).check("a5")}
    assert wrong & {"window-out-of-bounds", "operand-value"}


def test_lines_that_lie_apart_are_no_tile() -> None:
    program = pto.loads(
        part().replace(
            "[32, 1], offset: ?>, #pto.address_space<vec",
            "[64, 1], offset: ?>, #pto.address_space<vec",
        )
    )
    assert "foreign-op" in {d.slug for d in program.check("a5")}
