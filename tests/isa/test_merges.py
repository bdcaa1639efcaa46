"""Merges of records: rows that hold no whole group, and the room of scratch."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

ROW = "!pto.tile_buf<vec, 1x{}xf32>"


def records(values: np.ndarray) -> np.ndarray:
    """A row of values, each with its place behind it."""
    out = np.zeros((1, 2 * len(values)), np.float32)
    out[0, ::2] = values
    out[0, 1::2] = np.arange(len(values), dtype=np.uint32).view(np.float32)
    return out


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_what_is_left_behind_the_last_group_stays(engine: str) -> None:
    row = ROW.format(320)
    program = pto.loads(
        f"%n = arith.constant 64 : i32\npto.tmrgsort ins(%a, %n : {row}, i32) outs(%d : {row})\n"
    )
    values = np.concatenate([np.arange(n + 32, n, -1.0) for n in (50, 10, 90, 30, 7)])
    a, d = records(values), np.full((1, 320), 5, np.float32)
    found = program.run(target="a5", engine=engine, a=a, d=d)["d"]
    assert (found[0, :256:2] == sorted(values[:128], reverse=True)).all()
    assert (found[0, 256:] == 5).all()
    assert [d.is_error for d in program.check("a5")] == [False]
    for target in ("cpu", "a2a3"):
        assert [d.slug for d in program.check(target) if d.is_error] == ["shape"]


def test_scratch_of_a_merge_is_not_smaller_than_what_is_valid() -> None:
    row, counts = ROW.format(512), "!pto.tile_buf<vec, 1x16xi16, valid=1x4>"
    part = "!pto.tile_buf<vec, 1x256xf32, valid=1x128>"
    for scratch, wrong in ((row, set[str]()), (ROW.format(256), {"shape"})):
        kinds = ", ".join([part, part, part, part, scratch])
        text = f"pto.tmrgsort ins(%a, %b, %c, %e, %t {{exhausted = false}} : {kinds})"
        program = pto.loads(f"{text} outs(%d, %x : {row}, {counts})\n")
        for target in ("cpu", "a2a3", "a5"):
            assert {d.slug for d in program.check(target) if d.is_error} == wrong
