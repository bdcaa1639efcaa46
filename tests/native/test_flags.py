"""Flags in compiled code: errors as the reference says, nothing left from one block to the next."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from native.outcomes import refused

PAIR = "[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"


def program(body: str) -> pto.Program:
    return pto.loads(f"""\
func.func @f(%x: !pto.ptr<f32>, %id: index) {{
{body}
  return
}}""")


X = {"x": np.zeros(4, np.float32), "id": 2}
LEFT_UP = program(f"  pto.set_flag{PAIR}")
IN_A_LOOP = f"""\
  scf.for %i = 0 to 3 step 1 {{
    pto.set_flag{PAIR}
    pto.wait_flag{PAIR}
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %i]
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %i]
  }}"""


def test_each_block_and_each_run_begins_with_flags_that_are_down() -> None:
    made = LEFT_UP.compile(engine="native", blocks=3)
    for _ in range(3):
        made.execute(X)


def test_flags_in_loops_call_nobody_back() -> None:
    from ptokit.engines.native.compile import compile_program
    from ptokit.isa.model.targets import CPU_TARGET
    from ptokit.machine.arguments import Bound
    from ptokit.values.fixpipe import CPU_READING

    bound = program(IN_A_LOOP).compile(engine="native").bound(X)
    assert isinstance(bound, Bound)
    assert not compile_program(bound, CPU_TARGET, CPU_READING, 1).plan.by_reference


@pytest.mark.parametrize(
    "body",
    [
        f"  pto.set_flag{PAIR}\n  pto.set_flag{PAIR}",
        f"  pto.wait_flag{PAIR}",
        f"  pto.set_flag{PAIR}\n  pto.wait_flag{PAIR}\n  pto.wait_flag{PAIR}",
        IN_A_LOOP.replace(f"    pto.wait_flag{PAIR}\n", ""),
        "  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %id]\n"
        "  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]",
    ],
)
def test_both_engines_report_the_same(body: str) -> None:
    assert refused(program(body), X).slug.startswith("event-")
