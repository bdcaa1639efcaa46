"""Checking takes as long as a program has lines, with as many tiles as it likes."""

from __future__ import annotations

import ptokit as pto
from growth import growth

T = "!pto.tile_buf<vec, 1x32xf32>"


def chain(count: int) -> pto.Program:
    """A tile of its own for each sum, each read by the next one only."""
    lines = [f"%t0 = pto.alloc_tile : {T}", "%x = arith.constant 1.0 : f32"]
    lines.append(f"pto.texpands ins(%x : f32) outs(%t0 : {T})")
    for n in range(1, count):
        lines.append(f"%t{n} = pto.alloc_tile : {T}")
        lines.append(f"pto.tadd ins(%t{n - 1}, %t{n - 1} : {T}, {T}) outs(%t{n} : {T})")
    return pto.loads("\n".join(["func.func @f() {", *lines, "return", "}"]))


def test_many_tiles_are_checked_in_linear_time() -> None:
    """Twelve times the tiles take about twelve times as long; 144 times if it were squared."""
    programs = {count: chain(count) for count in (150, 1800)}
    assert growth(lambda count: programs[count].check("a5"), 150, 1800) < 40
