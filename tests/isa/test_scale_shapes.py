"""Declared shapes of scales: only the assembler compares them with those of the factors."""

from __future__ import annotations

import ptokit as pto
from ptokit.diagnostics.diagnostic import Judge

A = "!pto.tile_buf<left, 1x{}xf8E4M3FN, valid=1x128, blayout=col_major, slayout=row_major>"
B = "!pto.tile_buf<right, 128x64xf8E4M3FN, slayout=col_major>"
SCALES = "!pto.tile_buf<scaleleft, 1x4xf8E8M0FNU, slayout=row_major, fractal=32>"
OTHERS = (
    "!pto.tile_buf<scaleright, 4x64xf8E8M0FNU, blayout=col_major, slayout=col_major, fractal=32>"
)
C = "!pto.tile_buf<acc, 16x64xf32, valid=1x64, blayout=col_major, slayout=row_major, fractal=1024>"


def program(columns: int) -> pto.Program:
    """A product of one row of 128 elements in so many declared columns."""
    kinds = ", ".join((A.format(columns), SCALES, B, OTHERS))
    names = "%a, %x, %b, %y"
    args = ", ".join(
        f"{name}: {kind}"
        for name, kind in zip(
            ("%a", "%x", "%b", "%y", "%c"),
            (A.format(columns), SCALES, B, OTHERS, C),
            strict=True,
        )
    )
    return pto.loads(
        f"func.func @f({args}) {{\n"
        f"  pto.tgemv.mx ins({names} : {kinds}) outs(%c : {C})\n  return\n}}\n"
    )


def test_a_row_may_be_longer_than_its_scales_reach() -> None:
    """Suite tmatmul_mx of A5 fills whole lines of L1, and its code does not look at scales."""
    for columns in (128, 512):
        errors = [d for d in program(columns).check("a5") if d.is_error and d.slug == "shape"]
        assert {d.by for d in errors} == ({(Judge.ASSEMBLER,)} if columns == 512 else set())
        hardware = program(columns).check("a5:as-hardware")
        assert [d.slug for d in hardware if d.is_error] == []
