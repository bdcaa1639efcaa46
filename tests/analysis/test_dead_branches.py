"""What is wrong in a branch that ranges of counters exclude ends no run."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

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
