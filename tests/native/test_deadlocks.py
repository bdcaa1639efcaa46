"""Where all cores that are left wait, one diagnostic names each of their lines, in both engines."""

from __future__ import annotations

import re
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from native.outcomes import refused
from native.pipekernel import BACK, FREE, POP, PUSH, TAKE, kernel, repeated

EMPTY, FULL, SIGNAL = "an entry of", "a free slot of", "signal"
LATE = "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]"
MEETS = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
GIVES = "pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}"
WAITS = {  # the kernel, and what is waited for, by line
    "nobody pops": (kernel(repeated(PUSH), ""), {PUSH: FULL}),
    "nobody pushes": (kernel("", POP), {POP: EMPTY}),
    "slots that are not given back": (
        kernel(repeated(PUSH), repeated(POP)),
        {POP: EMPTY, PUSH: FULL},
    ),
    "more pops than pushes": (kernel(PUSH, repeated(POP, FREE)), {POP: EMPTY}),
    "each waits for the other first": (
        kernel(f"{TAKE}\n{PUSH}", f"{POP}\n{BACK}"),
        {POP: EMPTY, TAKE: EMPTY},
    ),
    "both FIFOs are full": (
        kernel(repeated(PUSH, PUSH, TAKE), repeated(POP, FREE, BACK, BACK, BACK)),
        {BACK: FULL, PUSH: FULL},
    ),
    "an entry and a signal, each after the other": (
        kernel(f"pto.sync.wait <PIPE_V>, 3\n{PUSH}", f"{POP}\n{GIVES}"),
        {POP: EMPTY, "pto.sync.wait <PIPE_V>, 3": SIGNAL},
    ),
    "one core comes, and the other one waits for its entry": (
        kernel(f"{MEETS}\n{PUSH}", f"{POP}\n{MEETS}"),
        {POP: EMPTY, MEETS: "all cores"},
    ),
    "an entry that a held queue waits for": (
        kernel(
            "pto.wait_flag[<PIPE_M>, <PIPE_V>, <EVENT_ID0>]\n"
            f"{TAKE}\npto.set_flag[<PIPE_M>, <PIPE_V>, <EVENT_ID0>]\n"
            f"pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n{LATE}\n{PUSH}",
            f"{POP}\n{BACK}",
        ),
        {POP: EMPTY, TAKE: EMPTY, LATE: "event 0 of V -> MTE3"},
    ),
    "a signal that nobody gives": (
        kernel(f"{PUSH}\npto.sync.wait <PIPE_V>, %c3", f"{POP}\n{POP}"),
        {POP: EMPTY, "pto.sync.wait <PIPE_V>, %c3": SIGNAL},
    ),
}


@pytest.mark.parametrize("name", WAITS)
def test_every_waiting_line_is_named(name: str) -> None:
    text, waits = WAITS[name]
    said = deadlock(text)
    places = re.findall(r"^\s*\d+ \| +(.+)$", said, re.M)
    assert sorted(places) == sorted(waits)
    for what in (EMPTY, FULL, SIGNAL):
        assert said.count(what) == list(waits.values()).count(what)


def deadlock(text: str) -> str:
    """What both engines say on A5: there a slot is given back by the free, not by the pop."""
    problem = refused(text, {"x": np.zeros((16, 16), np.float32)}, target="a5")
    assert problem.slug == "deadlock"
    return problem.render()


def test_calls_of_one_function_are_told_apart() -> None:
    """Both cores wait in its line: each is followed by its own call."""
    wait, called = "pto.sync.wait <PIPE_V>, %n", "func.call @wait(%c3) : (index) -> ()"
    text = kernel(called, called)
    text += f"\nfunc.func private @wait(%n: index) {{\n  {wait}\n  return\n}}"
    said = deadlock(text)
    calls = [n for n, line in enumerate(text.splitlines(), 1) if called in line]
    shown = re.findall(r"^\s*(\d+) \|", said, re.M)
    waiting = text.splitlines().index(f"  {wait}") + 1
    assert [int(n) for n in shown] == [waiting, calls[1], waiting, calls[0]]


def test_every_core_of_a_launch_is_named() -> None:
    """Cores of several blocks that meet, but for one block."""
    text = """
func.func @f(%g: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %meets = arith.cmpi ne, %block, 1 : index
  scf.if %meets {
    pto.set_cross_block <PIPE_MTE3>, 3
    pto.wait_cross_block <PIPE_MTE3>, 3
  }
  return
}"""
    said = refused(text, {"g": np.zeros(1, np.int32)}, blocks=4).render()
    for block in (0, 2, 3):
        assert f"the vector core 0 of block {block} waits" in said
    assert "of block 1 waits" not in said


APART = f"""
func.func @f(%x: !pto.ptr<i32>) {{
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %first = arith.cmpi eq, %block, 0 : index
  pto.section.vector {{
    scf.if %first {{
      pto.sync.wait <PIPE_V>, 5
    }} else {{
      {MEETS}
    }}
  }}
  pto.section.cube {{
    pto.sync.wait <PIPE_M>, 4
  }}
  return
}}"""


def test_of_a_large_launch_each_line_is_told_once() -> None:
    """300 cores wait at three lines: a note for each would be longer than anybody reads."""
    said = refused(APART, {"x": np.zeros(1, np.int32)}, blocks=100).render()
    assert said.count("\n") < 30
    for line in (MEETS, "sync.wait <PIPE_V>, 5", "sync.wait <PIPE_M>, 4"):
        assert said.count(line) in (1, 2), said  # of the first one the others have a note
    assert "and 98 more wait here, pto.sync.wait" in said
    assert "and 197 more wait here, pto.syncall" in said


LATER = """
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
"""
ONLY_FIRST = f"""
  %begins = arith.cmpi eq, %block, 0 : index
  scf.if %begins {{
    {PUSH}
  }}
"""


def test_a_later_block_waits_for_ever(engine: str) -> None:
    """The first one ended well; both engines name the second one's core."""
    text = kernel(LATER + ONLY_FIRST, f"{POP}\n{FREE}")
    executable = pto.loads(text).compile(engine=engine, blocks=3, target="a5")
    for _ in range(2):
        with pytest.raises(pto.PtoError, match="the cube core of block 1 waits forever"):
            executable.run(x=np.ones((16, 16), np.float32))


def test_cores_that_only_queues_connect_switch_in_compiled_code() -> None:
    """None calls back to wait."""
    text = kernel(repeated(PUSH), repeated(POP, FREE))
    executable = pto.loads(text).compile(engine="native", blocks=2, target="a5")
    with patch("ptokit.engines.native.session.Worker._wait") as waits:
        executable.run(x=np.ones((16, 16), np.float32))
    waits.assert_not_called()
