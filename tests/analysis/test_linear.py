"""Checking takes as long as a program has lines, with as many tiles as it likes."""

from __future__ import annotations

import pytest

import ptokit as pto
from growth import growth

SMALL, LARGE = "!pto.tile_buf<vec, 1x32xf32>", "!pto.tile_buf<vec, 64x128xf32>"


def chain(count: int, kind: str) -> pto.Program:
    """A tile of its own for each sum, each read by the next one only."""
    lines = [f"%t0 = pto.alloc_tile : {kind}", "%x = arith.constant 1.0 : f32"]
    lines.append(f"pto.texpands ins(%x : f32) outs(%t0 : {kind})")
    for n in range(1, count):
        lines.append(f"%t{n} = pto.alloc_tile : {kind}")
        lines.append(f"pto.tadd ins(%t{n - 1}, %t{n - 1} : {kind}, {kind}) outs(%t{n} : {kind})")
    return pto.loads("\n".join(["func.func @f() {", *lines, "return", "}"]))


@pytest.mark.parametrize("kind", [SMALL, LARGE])
def test_many_tiles_are_checked_in_linear_time(kind: str) -> None:
    """Twelve times the tiles take about twelve times as long; 144 times if it were squared.

    All of the small tiles fit beside one another, the large ones share their bytes.
    """
    programs = {count: chain(count, kind) for count in (150, 1800)}
    assert growth(lambda count: programs[count].check("a5"), 150, 1800) < 40
