"""Flags that are awaited above the line that raises them: only the queue of that pipe waits."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ptokit as pto
from native.textorder import flag
from ptokit.engines.reference.interpreter import OpExecution

CHIPS = pytest.mark.parametrize("target", ["a2a3", "a5"])
TILE = "!pto.tile_buf<vec, 8x32xf32>"
PART = "!pto.partition_tensor_view<8x32xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"


LOAD = f"pto.tload ins(%p : {PART}) outs(%t : {TILE})"
ADD = f"pto.tadds ins(%t, 1.0 : {TILE}, f32) outs(%u : {TILE})"
STORE = f"pto.tstore ins(%u : {TILE}) outs(%q : {PART})"
ALL = "pto.barrier <PIPE_ALL>"


def program(*lines: str) -> pto.Program:
    """A tile is loaded, added to and stored, in the order of these lines."""
    body = "\n  ".join(lines)
    shape = "shape = [8, 32], strides = [32, 1]"
    return pto.loads(f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %t = pto.alloc_tile addr = 0 : {TILE}
  %u = pto.alloc_tile addr = 1024 : {TILE}
  %from = pto.make_tensor_view %x, {shape} : {VIEW}
  %to = pto.make_tensor_view %y, {shape} : {VIEW}
  %p = pto.partition_view %from, offsets = [0, 0], sizes = [8, 32] : {VIEW} -> {PART}
  %q = pto.partition_view %to, offsets = [0, 0], sizes = [8, 32] : {VIEW} -> {PART}
  {body}
  return
}}
""")


BACKWARDS = (
    *(flag("wait", "V", "MTE3"), STORE),
    *(flag("wait", "MTE2", "V"), ADD, flag("set", "V", "MTE3")),
    *(LOAD, flag("set", "MTE2", "V"), ALL),
)
X: Any = np.arange(256, dtype=np.float32).reshape(8, 32)
Y: Any = np.zeros((8, 32), np.float32)


@CHIPS
def test_what_waits_is_done_when_its_flag_is_up(target: str, engine: str) -> None:
    made = program(*BACKWARDS)
    found = made.run(target=target, engine=engine, x=X, y=Y)["y"]
    np.testing.assert_array_equal(found, X + 1)
    assert not any(d.is_error for d in made.races(target))
    (verdict,) = made.verdicts(target)
    assert verdict.diagnostics == ()


@pytest.mark.parametrize(
    "lines",
    [
        (flag("wait", "MTE2", "V"), ADD),  # nobody raises it
        (flag("wait", "MTE2", "S"), LOAD, flag("set", "MTE2", "S")),  # the issue itself waits
        (flag("wait", "MTE2", "V"), ALL, LOAD, flag("set", "MTE2", "V")),
        (  # each waits for the other one
            *(flag("wait", "MTE2", "V"), flag("set", "V", "MTE2")),
            *(flag("wait", "V", "MTE2"), flag("set", "MTE2", "V")),
        ),
    ],
)
def test_a_wait_without_end_is_an_error(lines: tuple[str, ...], engine: str) -> None:
    with pytest.raises(pto.PtoError, match="event-not-set") as caught:
        program(*lines).run(target="a2a3", engine=engine, x=X, y=Y)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    span = found.span
    assert "wait_flag" in span.source.text[span.start : span.end]
    assert any(d.slug == "pipe-deadlock" for d in program(*lines).races("a2a3"))


def test_what_the_check_warns_of_is_not_asked_at_every_execution() -> None:
    """A2/A3 have no buffers that pipes acquire: types alone say so."""
    held = (f"pto.{word}_buf[#pto.pipe_event_type<TVEC>, 5]" for word in ("get", "rls"))
    made = program(*held, *BACKWARDS)
    assert [d.slug for d in made.check("a2a3")] == 2 * ["not-on-target"]
    with patch.object(OpExecution, "execute", side_effect=AssertionError("it was asked")):
        assert not made.execute({"x": X, "y": Y}, target="a2a3", engine="native").warnings
    assert not made.execute({"x": X, "y": Y}, target="a2a3", engine="reference").warnings
