"""Types of packed pairs: text counts bytes of two elements, everything else counts elements."""

from __future__ import annotations

import numpy as np
import pytest
from readback import reads_back

import ptokit as pto
from every import every
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.text.types.spelling import spell
from ptokit.text.types.typereader import type_named

BOXED = (
    "loc={}, dtype={}, rows={}, cols={}, v_row={}, v_col={}, blayout={}, slayout={}, fractal=512"
)
ROW, COL, NONE = "row_major", "col_major", "none_box"
ELEMENTS = {  # extents in text, layouts; rows and columns in elements, valid ones
    ("vec", 16, 32, 8, 16, ROW, NONE): (16, 64, 8, 32),
    ("vec", 32, 16, 16, 8, COL, NONE): (64, 16, 32, 8),
    ("mat", 64, 32, 64, 32, COL, ROW): (64, 64, 64, 64),
    ("mat", 32, 64, 32, 64, ROW, COL): (64, 64, 64, 64),
    ("vec", 16, 32, "?", "?", ROW, NONE): (16, 64, None, None),
}
NAMES = ("!pto.f4E2M1x2", "!pto.f4E1M2x2")


@every("dtype", NAMES)
@every("spelled", ELEMENTS)
def test_tiles(spelled: tuple[object, ...], dtype: str) -> None:
    loc, *rest = spelled
    text = f"!pto.tile_buf<{BOXED.format(loc, dtype, *rest)}, pad=0>"
    kind = type_named(text)
    assert isinstance(kind, TileType)
    assert (kind.rows, kind.cols, *kind.valid) == ELEMENTS[spelled]  # type: ignore[index]
    assert kind.nbytes == kind.rows * kind.cols // 2
    assert spell(kind, "dps") == text


@every(
    ("text", "shape", "stride"),
    [
        ("!pto.tensor_view<4x32x!pto.f4E2M1x2>", (4, 64), None),
        ("!pto.partition_tensor_view<?x?x!pto.f4E2M1x2>", (None, None), None),
        ("!pto.tensor_view<2x4x32x!pto.f4E1M2x2, stride=128x32x1>", (2, 4, 64), (256, 64, 1)),
    ],
)
def test_views(text: str, shape: tuple[object, ...], stride: tuple[int, ...] | None) -> None:
    kind = type_named(text)
    assert isinstance(kind, GlobalType)
    assert (kind.shape, kind.stride) == (shape, stride)
    assert spell(kind, "dps") == text


def test_memrefs() -> None:
    kind = type_named("memref<16x32x!pto.f4E2M1x2, #pto.address_space<vec>>")
    assert isinstance(kind, TileType)
    assert (kind.rows, kind.cols) == (16, 64)


def test_an_odd_number_of_elements_has_a_type_of_one_element() -> None:
    kind = type_named("!pto.tile_buf<vec, 16x64xf4e2m1, valid=16x63>")
    assert isinstance(kind, TileType)
    assert (kind.dtype, kind.cols, kind.valid.cols) == (pto.f4e2m1x2, 64, 63)
    assert "dtype=f4e2m1, rows=16, cols=64, v_row=16, v_col=63" in spell(kind, "dps")
    assert type_named(spell(kind, "dps")) == kind


VIEW = "!pto.tensor_view<?x?x!pto.f4E2M1x2>"
PART = "!pto.partition_tensor_view<16x32x!pto.f4E2M1x2>"
OPEN = "!pto.tile_buf<vec, 16x32x!pto.f4E2M1x2, valid=?x?>"
PROGRAM = f"""\
func.func @f(%p: !pto.ptr<!pto.f4E2M1x2>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %doubled = arith.addi %n, %n : index
  %q = pto.addptr %p, %c32 : !pto.ptr<!pto.f4E2M1x2> -> !pto.ptr<!pto.f4E2M1x2>
  %v = pto.make_tensor_view %q, shape = [%c16, %doubled], strides = [%doubled, %c1] : {VIEW}
  %w = pto.partition_view %v, offsets = [%c0, %n], sizes = [%c16, %c32] : {VIEW} -> {PART}
  %t = pto.alloc_tile valid_row = %c16 valid_col = %c32 : {OPEN}
  pto.set_validshape %t, %c1, %n : {OPEN}
  %s = pto.subset %t[%c0, %c0] sizes [16, 32] : {OPEN}
  return
}}
"""


def test_what_makes_tiles_and_views_counts_pairs() -> None:
    module = reads_back(PROGRAM)
    assert pto.loads(PROGRAM).text("dps").count("arith.addi") == 1
    cpp = pto.loads(PROGRAM).text("cpp")
    assert "16, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>" in cpp
    assert "Shape<1, 1, 1, 16, 64>" in cpp
    assert " / 2;" in cpp  # a pointer of C++ points to bytes
    assert [value.name for func in module.funcs for value in func.args] == ["p", "n"]


@pytest.mark.parametrize("form", ["ssa", "as"])
def test_every_form_of_text_counts_them(form: str) -> None:
    tile = "!pto.tile_buf<vec, 16x32x!pto.f4E2M1x2>"
    text = f"pto.tmov ins(%a : {tile}) outs(%b : {tile})\n"
    again = pto.loads(pto.loads(text).text(form))
    kinds = {v.type for func in again.module.funcs for v in func.named()}
    assert {(k.rows, k.cols) for k in kinds if isinstance(k, TileType)} == {(16, 64)}


def test_a_matrix_of_32_bytes_is_legal_on_the_board() -> None:
    """It was refused: 32 columns are no box of 64 elements."""
    shapes = "64x32x!pto.f4E2M1x2, blayout=col_major, slayout=row_major>"
    text = f"%t = pto.alloc_tile : !pto.tile_buf<mat, {shapes}\n%u = pto.alloc_tile : "
    text += f"!pto.tile_buf<left, {shapes}\npto.tmov ins(%t : !pto.tile_buf<mat, {shapes}) "
    found = pto.loads(f"{text}outs(%u : !pto.tile_buf<left, {shapes})\n").check("a5")
    assert [d.slug for d in found if d.is_error] == []


def test_neighbours_are_side_by_side(engine: str) -> None:
    text = PROGRAM.replace("strides = [%doubled, %c1]", "strides = [%c1, %n]")
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(text).run(p=np.zeros(4096, np.uint8), n=32, engine=engine)
    (problem,) = caught.value.diagnostics
    assert (problem.slug, problem.rule) == ("layout", "strides.last == 1")


def test_packed_bytes_are_no_elements() -> None:
    with pytest.raises(pto.PtoError, match="an item of 8 bits is one element of 4 bits") as caught:
        pto.loads(PROGRAM).run(p=np.full(4096, 0x7A, np.uint8), n=32)
    assert "the largest item is 122" in str(caught.value.diagnostics[0].seen)
