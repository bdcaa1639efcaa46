"""Slots of a FIFO that are given back or pushed once too often, and views that have none yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from native.outcomes import refused
from native.pipekernel import FREE, HEAD, POP, PUSH, kernel, repeated

TILES = {
    "before the first pop": kernel(repeated(PUSH), f"{FREE}\n{repeated(POP)}"),
    "twice each": kernel(repeated(PUSH), repeated(POP, FREE, FREE)),
    "once more at the end": kernel(PUSH, f"{POP}\n{FREE}\n{FREE}"),
}
ALLOC = "pto.talloc(%e, %line : !V, !pto.pipe) {split = 0}"
COMMIT = "pto.tpush(%e, %line : !V, !pto.pipe) {split = 0}"
STORE = "pto.tstore ins(%t : !T) outs(%e : !V)"
RECEIVE = "pto.tpop(%e, %line : !V, !pto.pipe) {split = 0}"
LOAD = "pto.tload ins(%e : !V) outs(%m : !M)"
RETURN = "pto.tfree(%e, %line : !V, !pto.pipe) {split = 0}"
FILLED = repeated(ALLOC, STORE, COMMIT)


def of_views(vector: str, cube: str) -> str:
    """A kernel whose entries lie in global memory."""
    head = HEAD[: HEAD.index("  %up =")].replace("(%x", "(%room: !pto.ptr<f32>, %x")
    return f"""{head}
  %slots = pto.make_tensor_view %room, shape = [%c16, %c16], strides = [%c16, %c1] : !V
  %line = pto.initialize_l2g2l_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 2}} \
(%slots : !V) -> !pto.pipe
  pto.section.vector {{
    %t = pto.alloc_tile : !T
    pto.tload ins(%v : !V) outs(%t : !T)
    %e = pto.declare_global -> !V
    {vector}
  }}
  pto.section.cube {{
    %m = pto.alloc_tile : !M
    %e = pto.declare_global -> !V
    {cube}
  }}
  return
}}"""


VIEWS = {
    "given back before the pop": of_views(FILLED, f"{RETURN}\n{repeated(RECEIVE, LOAD)}"),
    "given back twice": of_views(FILLED, repeated(RECEIVE, LOAD, RETURN, RETURN)),
    "pushed, which nobody allocated": of_views(repeated(COMMIT), ""),
}


def said(text: str, target: str, **arrays: Any) -> pto.Diagnostic:
    return refused(text, {"x": np.ones((16, 16), np.float32), **arrays}, target=target)


def line(found: pto.Diagnostic) -> str:
    """The line that it is about."""
    assert found.span is not None
    return found.span.source.text.splitlines()[found.span.line - 1].strip()


@pytest.mark.parametrize("target", ["cpu", "a5"])
@pytest.mark.parametrize("name", TILES)
def test_a_slot_is_given_back_after_a_pop_and_once(name: str, target: str) -> None:
    found = said(TILES[name], target)
    assert (found.slug, line(found)) == ("fifo-mismatch", FREE)


@pytest.mark.parametrize("name", TILES)
def test_where_pops_give_slots_back_a_free_does_nothing(name: str, engine: str) -> None:
    pto.loads(TILES[name]).compile(target="a2a3", engine=engine).run(np.ones((16, 16), np.float32))


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_slot_in_global_memory_has_one_owner(name: str, target: str) -> None:
    found = said(VIEWS[name], target, room=np.zeros(512, np.float32))
    assert found.slug == "fifo-mismatch"
    assert line(found) in (RETURN, COMMIT)


@pytest.mark.parametrize("name", [STORE, LOAD])
def test_a_view_has_no_place_before_a_pipe_gives_it_one(name: str) -> None:
    """Compiled code wrote over its own numbers."""
    text = of_views(STORE, "") if name == STORE else of_views("", LOAD)
    found = said(text, "a5", room=np.zeros(512, np.float32))
    assert (found.slug, line(found)) == ("fifo-mismatch", name)
