"""Scales of factors of packed pairs: the assembler counts K as its text does (X41)."""

from __future__ import annotations

import pytest

import ptokit as pto
from ptokit.diagnostics.diagnostic import Severity

SCALES = "dtype=f8E8M0FNU, rows={rows}, cols={cols}, v_row={rows}, v_col={cols}, fractal=32"
MAJOR = "blayout={0}_major, slayout={0}_major"


def product(kind: str, k: int, scales: int) -> str:
    a = f"!pto.tile_buf<left, 32x{k}x{kind}, blayout=col_major, slayout=row_major>"
    b = f"!pto.tile_buf<right, {k}x64x{kind}, slayout=col_major>"
    c = "!pto.tile_buf<acc, 32x64xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    of_a, of_b = SCALES.format(rows=32, cols=scales), SCALES.format(rows=scales, cols=64)
    a_scale = f"!pto.tile_buf<loc=scaling, {of_a}, {MAJOR.format('row')}>"
    b_scale = f"!pto.tile_buf<loc=scaling, {of_b}, {MAJOR.format('col')}>"
    return f"""func.func @f(%a: {a}, %s: {a_scale}, %b: {b}, %t: {b_scale}, %c: {c}) {{
      pto.tmatmul.mx ins(%a, %s, %b, %t : {a}, {a_scale}, {b}, {b_scale}) outs(%c : {c})
      return
    }}"""


def severities(kind: str, k: int, scales: int) -> set[Severity]:
    found = pto.loads(product(kind, k, scales)).check("a5", judge="assembler")
    return {one.severity for one in found if one.slug == "shape"}


@pytest.mark.parametrize("kind", ["!pto.f4E2M1x2", "!pto.f4E1M2x2"])
def test_a_scale_for_each_32_pairs_is_what_the_assembler_takes(kind: str) -> None:
    assert severities(kind, 64, 4) == set()  # one for each 32 elements
    assert severities(kind, 64, 2) == {Severity.WARNING}
    assert Severity.ERROR in severities(kind, 64, 1) & severities(kind, 64, 8)


def test_elements_of_their_own_have_one_for_each_32() -> None:
    assert severities("f8E4M3FN", 64, 2) == set()
    assert Severity.ERROR in severities("f8E4M3FN", 128, 2)
