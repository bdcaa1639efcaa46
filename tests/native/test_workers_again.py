"""Threads that run blocks start again on the memories of the last run, which count as unwritten."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

import ptokit as pto
from ptokit import f32
from ptokit.engines.native import hostthreads


@pto.kernel(shapes="x[m, 8] y[m, 8]")
def first_rows(x: pto.In, y: pto.Out, rows: int) -> None:
    """The first rows of each eight; what is stored in the place of the others has no value."""
    for i in pto.grid(x.shape[0] // 8):
        part = pto.tile_vec(f32, 8, 8, valid=(rows, 8))
        pto.tload(part, pto.block(x, i * 8, 0, rows, 8))
        whole = pto.tile_vec(f32, 8, 8)
        pto.treshape(whole, part)
        pto.store(pto.block(y, i * 8, 0, 8, 8), whole)


def test_a_run_on_used_memories_finds_what_no_instruction_wrote() -> None:
    x, y = np.ones((32, 8), np.float32), np.zeros((32, 8), np.float32)
    program = first_rows.program(x, y, 8)
    executable = program.compile(blocks=4, engine="native")
    arrays = {"x": x, "y": y, "m": 32}
    with patch("os.cpu_count", return_value=2), patch.object(hostthreads, "LEAST", 0):
        runs = [executable.execute({**arrays, "rows": rows}) for rows in (8, 4, 4, 8)]
    unwritten = [[w.seen for w in run.warnings] for run in runs]
    assert unwritten[0] == unwritten[3] == []
    assert unwritten[1] == unwritten[2] != []
    assert [run.outputs["y"].sum() for run in runs] == [256, 128, 128, 256]
