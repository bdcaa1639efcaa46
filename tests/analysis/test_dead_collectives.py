"""A partition made where one rank comes has the extents its type states, for the others too."""

from __future__ import annotations

from typing import Any

import numpy as np

import ptokit as pto
from oracles.ranks import MINE, THEIRS, among, job, rows

STARTS = [f"  %{name} = pto.partition_view" for name in ("mine", "all", "last", "theirs")]


def inside(text: str) -> str:
    """The program with its partitions in the branch of the root."""
    lines = text.splitlines()
    moved = [line for line in lines if line.startswith(tuple(STARTS))]
    assert len(moved) == len(STARTS)
    kept = [line for line in lines if line not in moved]
    place = kept.index("  scf.if %first {") + 1
    return "\n".join((*kept[:place], *moved, *kept[place:]))


def test_a_rank_that_never_comes_there_refuses_nothing(engine: str) -> None:
    made = job(among("tbroadcast", "last", ""), x=MINE, y=THEIRS)
    given: dict[str, Any] = {**made.arguments, "x@0": MINE.copy(), "x@1": THEIRS.copy()}
    program = pto.loads(inside(made.text))
    found = program.compile(target="a5", engine=engine, ranks=2).execute(given).outputs
    assert np.array_equal(found["x@1"], rows(MINE[2:], THEIRS[2:]))
