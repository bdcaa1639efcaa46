"""What the first iteration of a loop writes, the others read: proven, or reported as undefined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import ptokit as pto
from ptokit.api.program import Program
from ptokit.engines.native.compile import compile_program
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.values.fixpipe import CPU_READING

TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=4, cols=8, v_row=?, v_col=8>"
MADE = f"pto.alloc_tile valid_row = %m : {TILE}"
LOST = f"pto.tadd ins(%never, %never : {TILE}, {TILE}) outs(%t : {TILE})"


class Case(NamedTuple):
    """Where the tile is lost in an iteration; `first` is the one that writes it."""

    first: int = 0
    before: str = ""
    behind: str = ""
    last: float = 4  # the elements after four iterations; 0: undefined
    proven: bool = True


CASES = {
    "kept": Case(),
    "written by the second": Case(first=1, last=3, proven=False),
    "lost before the branch": Case(before=LOST, last=0, proven=False),
    "lost behind the branch": Case(behind=LOST, last=0, proven=False),
}


def program(case: Case) -> Program:
    return pto.loads(f"""
func.func @f(%y: !pto.ptr<f32>, %m: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %first = arith.constant {case.first} : index
  %four = arith.constant 4 : index
  %eight = arith.constant 8 : index
  %unit = arith.constant 1.0 : f32
  %t = {MADE}
  %never = {MADE}
  %view = pto.make_tensor_view %y, shape = [%m, %eight], strides = [%eight, %one]
    : !pto.tensor_view<?x8xf32>
  scf.for %p = %zero to %four step %one {{
    {case.before}
    %begins = arith.cmpi eq, %p, %first : index
    scf.if %begins {{
      pto.texpands ins(%unit : f32) outs(%t : {TILE})
    }} else {{
      pto.tadds ins(%t, %unit : {TILE}, f32) outs(%t : {TILE})
    }}
    {case.behind}
  }}
  pto.tstore ins(%t : {TILE}) outs(%view : !pto.tensor_view<?x8xf32>)
  return
}}
""")


@pytest.mark.parametrize("name", CASES)
def test_later_iterations_find_what_the_first_one_wrote(name: str, engine: str) -> None:
    case, y = CASES[name], np.zeros((3, 8), np.float32)
    done = program(case).execute({"y": y, "m": 3}, engine=engine)
    assert (done.outputs["y"] == case.last).all()
    slugs = [w.slug for w in done.warnings]
    assert slugs == ([] if case.last else ["undefined-store"])


@pytest.mark.parametrize("name", CASES)
def test_a_shadow_is_kept_where_an_iteration_may_read_too_early(name: str) -> None:
    case, y, target = CASES[name], np.zeros((3, 8), np.float32), TARGETS["cpu"]
    bound = bind(program(case).func(), {"y": y, "m": 3}, target, {})
    session = compile_program(bound, target, CPU_READING, 1)
    assert ("UB" not in session.plan.tracked) == case.proven
