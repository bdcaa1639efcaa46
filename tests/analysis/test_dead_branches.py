"""What never runs refuses nothing: branches that ranges exclude, ranks that never come there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from oracles.ranks import MINE, THEIRS, among, job, rows

TILE = "!pto.tile_buf<vec, 16x64xf32>"
TEXT = f"""func.func @f(%x: {TILE}, %y: {TILE}) {{
  scf.for %i = 0 to 4 step 1 {{
    %never = arith.cmpi sgt, %i, 9 : index
    scf.if %never {{
      pto.textract ins(%x, 0, 4096 : {TILE}, index, index) outs(%y : {TILE})
    }}
    pto.textract ins(%x, 0, 0 : {TILE}, index, index) outs(%y : {TILE})
  }}
  return
}}
"""


def test_check_and_run_agree_on_what_never_runs(engine: str) -> None:
    program = pto.loads(TEXT)
    assert program.check("cpu") == []
    x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    assert (program.run(x=x, y=y, engine=engine)["y"] == 1).all()


def test_a_branch_that_may_run_ends_the_run() -> None:
    program = pto.loads(TEXT.replace("%i, 9", "%i, 2"))
    assert [d.slug for d in program.check("cpu")] == ["window-out-of-bounds"]
    x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    with pytest.raises(pto.PtoError, match="the window is out of bounds"):
        program.run(x=x, y=y)


def test_tiles_without_room_are_refused_wherever_they_stand() -> None:
    large = "%t = pto.alloc_tile : !pto.tile_buf<vec, 1024x1024xf32>"
    large += f"\n      pto.tmov ins(%t : {TILE}) outs(%t : {TILE})".replace("16x64", "1024x1024")
    text = TEXT.replace("    scf.if %never {", f"    scf.if %never {{\n      {large}")
    program = pto.loads(text)
    refused = [d.slug for d in program.check("a5") if d.slug == "out-of-memory"]
    assert refused
    x, y = np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32)
    with pytest.raises(pto.PtoError) as problem:
        program.run(x=x, y=y, target="a5")
    assert [d.slug for d in problem.value.diagnostics] == refused


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
