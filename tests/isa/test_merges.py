"""Merges of records: rows that hold no whole group, and the room of scratch."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every

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


@every("lengths", [(5, 130, 64, 1), (7, 6)])
def test_sorted_runs_of_any_length(lengths: tuple[int, ...]) -> None:
    """Ties go to the first run, zeros are equal; the merge stops where a run is used up."""
    rng, total = np.random.default_rng(len(lengths)), sum(lengths)
    special = [0.0, -0.0, np.inf, -np.inf, 1.5]
    runs = [rng.choice([*special, *rng.standard_normal(3)], n).astype("f4") for n in lengths]
    runs = [-np.sort(-run, kind="stable") for run in runs]
    names = "abce"[: len(lengths)]
    counts = "!pto.tile_buf<vec, 1x16xi16, valid=1x4>"
    *kinds, room = (f"!pto.tile_buf<vec, 1x512xf32, valid=1x{2 * n}>" for n in (*lengths, total))
    kinds = ", ".join([*kinds, room])
    inputs = ", ".join(f"%{name}" for name in (*names, "t"))
    text = f"pto.tmrgsort ins({inputs} {{exhausted = true}} : {kinds})"
    program = pto.loads(f"{text} outs(%d, %x : {room}, {counts})\n")
    given = {name: records(run) for name, run in zip(names, runs, strict=True)}
    blank = np.full((1, 2 * total), 5, np.float32)
    taken = np.zeros((1, 4), np.int16)
    found = program.run(*given.values(), blank, blank, taken, engine="native")
    each = [(-value, n, i) for n, run in enumerate(runs) for i, value in enumerate(run)]
    order = [(n, i) for _, n, i in sorted(each)]
    end = 1 + min(order.index((n, size - 1)) for n, size in enumerate(lengths))
    assert found["x"][0, : len(lengths)].tolist() == [
        sum(n == run for n, _ in order[:end]) for run in range(len(lengths))
    ]
    wanted = blank.copy()
    for place, (n, i) in enumerate(order[:end]):
        wanted[0, 2 * place : 2 * place + 2] = given[names[n]][0, 2 * i : 2 * i + 2]
    assert found["d"].tobytes() == wanted.tobytes()
