"""Messages name a tile as the statement does, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

TILE = "!pto.tile_buf<vec, 1x64xf32>"
TEXT = f"""func.func @f(%p: !pto.ptr<f32>) {{
  %inner = pto.alloc_tile : {TILE}
  %result = scf.for %i = 0 to 1 step 1 iter_args(%carried = %inner) -> ({TILE}) {{
    scf.yield %inner : {TILE}
  }}
  %v = pto.tgetval ins(%NAME, 0 : {TILE}, index) outs : f32
  return
}}
"""


@pytest.mark.parametrize("name", ["inner", "result"])
def test_a_tile_that_a_loop_passes_on_keeps_its_name(engine: str, name: str) -> None:
    program = pto.loads(TEXT.replace("NAME", name))
    with pytest.raises(pto.PtoError, match=f"%{name} has undefined elements that are read"):
        program.run(p=np.zeros(64, np.float32), engine=engine)


OPEN = "!pto.tile_buf<vec, 8x64xf32, valid=?x?>"
RESIZED = f"""func.func @f(%n: index) {{
  %open = pto.alloc_tile valid_row = %n valid_col = %n : {OPEN}
  pto.set_validshape %open, %n, %n : {OPEN}
  pto.tadd ins(%open, %open : {OPEN}, {OPEN}) outs(%open : {OPEN})
  %v = pto.tgetval ins(%open, %n : {OPEN}, index) outs : f32
  return
}}
"""


def test_a_tile_whose_valid_region_is_set_keeps_its_name(engine: str) -> None:
    with pytest.raises(pto.PtoError, match="%open has undefined elements that are read"):
        pto.loads(RESIZED).run(n=4, engine=engine)
