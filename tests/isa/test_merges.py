"""Merges of records: rows that hold no whole group, and the room of scratch."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

ROW, PART = "!pto.tile_buf<vec, 1x{}xf32>", "!pto.tile_buf<vec, 1x256xf32, valid=1x128>"


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


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("valid", [1, 3, 32, 65, 129, 255, 256, 300, 511, 512])
def test_a_row_without_a_whole_group_stays(valid: int, engine: str) -> None:
    whole = ROW.format(512)
    row = whole.replace("f32", f"f32, valid=1x{valid}")
    program = pto.loads(
        f"%n = arith.constant 64 : i32\n"
        f"%z = arith.constant 0 : index\n"
        f"%p = pto.subview %a[%z, %z] sizes [1, 512] : {whole} -> {row}\n"
        f"%q = pto.subview %d[%z, %z] sizes [1, 512] : {whole} -> {row}\n"
        f"pto.tmrgsort ins(%p, %n : {row}, i32) outs(%q : {row})\n"
    )
    values = np.concatenate([np.arange(n + 32, n, -1.0) for n in (50, 10, 90, 30, 7, 9, 60, 70)])
    a, d = records(values), np.full((1, 512), 5, np.float32)
    found = program.run(target="a5", engine=engine, a=a, d=d)["d"]
    merged = valid // 256 * 256
    for start in range(0, merged, 256):
        part = values[start // 2 : start // 2 + 128]
        assert (found[0, start : start + 256 : 2] == sorted(part, reverse=True)).all()
    assert (found[0, merged:] == 5).all()


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_scratch_of_a_merge_has_room_for_what_is_valid(target: str, engine: str) -> None:
    row, counts = ROW.format(512), "!pto.tile_buf<vec, 1x16xi16, valid=1x4>"
    names, kinds = "%a, %b, %c, %e, %t", ", ".join([*[PART] * 4, row])
    program = pto.loads(
        f"pto.tmrgsort ins({names} {{exhausted = false}} : {kinds})"
        f" outs(%d, %x : {row}, {counts})\n"
    )
    lists = {n: np.sort(np.arange(i, 256, 4.0))[::-1] for i, n in enumerate("abce")}
    given = {n: records(values) for n, values in lists.items()}
    empty = np.zeros((1, 512), np.float32)
    given |= {"t": empty, "d": empty}
    found = program.execute(
        {**given, "x": np.zeros((1, 4), np.int16)}, target=target, engine=engine
    ).outputs["d"]
    assert (np.asarray(found)[0, ::2] == np.arange(255, -1, -1.0)).all()


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_scratch_of_a_merge_is_not_smaller(target: str) -> None:
    part, short, counts = (
        ROW.format(128),
        ROW.format(320),
        "!pto.tile_buf<vec, 1x16xi16, valid=1x4>",
    )
    kinds = ", ".join([part, part, part, short])
    text = f"pto.tmrgsort ins(%a, %b, %c, %t {{exhausted = false}} : {kinds})"
    program = pto.loads(f"{text} outs(%d, %x : {part}, {counts})\n")
    assert {d.slug for d in program.check(target) if d.is_error} == {"shape"}
