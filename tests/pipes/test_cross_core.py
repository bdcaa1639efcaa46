"""Hazards between cores: data through global memory and through FIFOs, and who signals whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import ptokit as pto
from ptokit.explore.exploration import launch_issues
from ptokit.isa.model.targets import TARGETS
from ptokit.order.hazards import Findings, find

V, T = "!pto.tensor_view<16x16xf32>", "!pto.tile_buf<vec, 16x16xf32>"
HALF, ROWS = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tensor_view<8x16xf32>"
L1 = "!pto.tile_buf<mat, 16x16xf32>"
SENT, AWAITED = "pto.sync.set <PIPE_MTE3>, 3 {ffts_mode = 2}", "pto.sync.wait <PIPE_MTE2>, 3"
# on A5 each vector core counts up a number of its own at the cube
SECOND = "\n    pto.wait_intra_block <PIPE_MTE2>, 19"
READY = {"a2a3": AWAITED, "a5": AWAITED + SECOND}
MEMORY = np.zeros(256, np.float32)


def flag(source: str, target: str) -> str:
    ends = f"<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID0>"
    return f"pto.set_flag[{ends}]\n    pto.wait_flag[{ends}]"


def handed_on(sent: str, awaited: str, between: str = flag("V", "MTE3")) -> str:
    """The vector core fills a tile and stores it; the cube core loads it."""
    return f"""\
func.func @handed_on(%g: !pto.ptr<f32>) {{
  %v = pto.make_tensor_view %g, shape = [16, 16], strides = [16, 1] : {V}
  pto.section.vector {{
    %t = pto.alloc_tile : {HALF}
    %lane = pto.get_subblock_idx
    %l = arith.index_cast %lane : i64 to index
    %first = arith.muli %l, 128 : index
    %p = pto.addptr %g, %first : !pto.ptr<f32> -> !pto.ptr<f32>
    %h = pto.make_tensor_view %p, shape = [8, 16], strides = [16, 1] : {ROWS}
    pto.texpands ins(2.0 : f32) outs(%t : {HALF})
    {between}
    pto.tstore ins(%t : {HALF}) outs(%h : {ROWS})
    {sent}
  }}
  pto.section.cube {{
    %m = pto.alloc_tile : {L1}
    {awaited}
    pto.tload ins(%v : {V}) outs(%m : {L1})
  }}
  return
}}"""


def found(text: str, target: str, **arrays: object) -> Findings:
    machine = TARGETS[target]
    (issue,) = launch_issues(pto.loads(text), machine, None, arrays)
    return find(issue.cores, machine, issue.footprints.regions)


def kinds(some: Findings) -> list[tuple[str, str, str, str]]:
    return [
        (h.kind.name, str(h.first.queue), str(h.second.queue), h.bytes[0]) for h in some.hazards
    ]


@pytest.mark.parametrize("target", READY)
def test_a_signal_after_the_store_orders_the_load(target: str) -> None:
    memory = np.zeros(256, np.float32)
    assert not found(handed_on(SENT, READY[target]), target, g=memory)


def early(source: str, target: str, *between: str) -> str:
    """A flag that is raised below what the pipe does which awaits it."""
    ends = f"<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID1>"
    return "\n    ".join((f"pto.wait_flag[{ends}]", *between, f"pto.set_flag[{ends}]"))


def held_up(sent: str, target: str, cube: Sequence[str]) -> set[str]:
    """The hazards where a flag below holds up the store and its signal, and the cube's lines."""
    text = handed_on("", "PLACE")
    store = next(line for line in text.splitlines() if "pto.tstore" in line)
    load = next(line for line in text.splitlines() if "pto.tload" in line)
    text = text.replace(store, early("V", "MTE3", store, sent)).replace(load, "")
    lines = [load if line == "load" else line for line in cube]
    found_there = found(text.replace("PLACE", early("FIX", "MTE2", *lines)), target, g=MEMORY)
    return {hazard.kind.name for hazard in found_there.hazards}


@pytest.mark.parametrize("target", READY)
def test_signals_that_flags_hold_up_belong_where_they_were_issued(target: str) -> None:
    assert held_up(SENT, target, [READY[target], "load"]) == set()
    assert "RAW" in held_up(SENT.replace("MTE3", "V"), target, [READY[target], "load"])


def test_a_signal_that_is_awaited_too_late_orders_nothing() -> None:
    assert held_up(SENT, "a5", ["load", READY["a5"]]) == {"WAR"}


@pytest.mark.parametrize("target", READY)
def test_a_signal_of_another_pipe_does_not(target: str) -> None:
    memory = np.zeros(256, np.float32)
    wrong = handed_on(SENT.replace("MTE3", "V"), READY[target])
    assert set(kinds(found(wrong, target, g=memory))) == {("RAW", "MTE3", "MTE2", "%g")}


def test_a_signal_of_one_vector_core_does_not_speak_for_the_other() -> None:
    some = found(handed_on(SENT, AWAITED), "a5", g=np.zeros(256, np.float32))
    assert [h.bytes for h in some.hazards] == [("%g", 512, 1024)]


def test_where_only_one_pipe_waits_it_must_be_the_one_that_loads() -> None:
    """A5 waits in the queue of a pipe; on A2/A3 the whole core waits."""
    memory = np.zeros(256, np.float32)
    assert not found(handed_on(SENT, AWAITED.replace("MTE2", "MTE1")), "a2a3", g=memory)
    text = handed_on(SENT, READY["a5"].replace("MTE2", "MTE1"))
    assert len(found(text, "a5", g=memory).hazards) > 0


def test_a_meeting_of_all_cores_drains_their_pipes() -> None:
    meeting = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
    assert not found(handed_on(meeting, meeting), "a5", g=np.zeros(256, np.float32))


PIPED = """\
func.func @piped(%g: !pto.ptr<f32>) {{
  %v = pto.make_tensor_view %g, shape = [16, 16], strides = [16, 1] : {V}
  pto.section.vector {{
    pto.aiv_initialize_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 2}} \
(c2v_consumer_buf = 0 : i32, v2c_consumer_buf = 0 : i32)
    %t = pto.alloc_tile : {T}
    scf.for %i = 0 to 5 step 1 {{
      {before}
      pto.texpands ins(2.0 : f32) outs(%t : {T})
      {filled}
      pto.tpush_to_aic(%t : {T}) {{split = 0}}
      {pushed}
    }}
    {after}
  }}
  pto.section.cube {{
    pto.aic_initialize_pipe {{dir_mask = 2, slot_size = 1024, slot_num = 2}} \
(c2v_consumer_buf = 0 : i32, v2c_consumer_buf = 0 : i32)
    scf.for %i = 0 to 5 step 1 {{
      %m = pto.tpop_from_aiv {{split = 0}} -> {L1}
      pto.tfree_from_aiv {{split = 0}}
    }}
  }}
  return
}}"""


def piped(*, waits: bool) -> str:
    """Five entries through two slots; the tile is filled again when it was pushed, or at once."""
    again = "<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>"
    put, wait = f"pto.set_flag[{again}]", f"pto.wait_flag[{again}]"
    here = {"before": wait, "pushed": put, "after": wait} if waits else {}
    text = PIPED.format(
        **{"before": "", "pushed": "", "after": "", "V": V, "T": T, "L1": L1} | here,
        filled=flag("V", "MTE3").replace("\n", "\n  "),
    )
    start = "    scf.for"
    return text.replace(start, f"    {put}\n{start}", 1) if waits else text


def test_entries_of_a_pipe_are_ordered_and_the_tile_pushed_is_not_filled_too_early() -> None:
    memory = np.zeros(256, np.float32)
    assert kinds(found(piped(waits=True), "a5", g=memory)) == []
    assert kinds(found(piped(waits=False), "a5", g=memory)) == [("WAR", "MTE3", "V", "UB")]


def inserted(sent: str, awaited: str) -> str:
    """Each vector core of A5 inserts half of a tile into L1, from which the cube extracts it."""
    boxes = "blayout=col_major, slayout=row_major"
    part, whole = (
        f"!pto.tile_buf<vec, 16x16xf16, {boxes}>",
        f"!pto.tile_buf<mat, 16x32xf16, {boxes}>",
    )
    left = f"!pto.tile_buf<left, 16x32xf16, {boxes}>"
    return f"""\
func.func @inserted() {{
  %at = arith.constant 0 : i64
  pto.section.vector {{
    %x = pto.alloc_tile addr = %at : {part}
    %m = pto.alloc_tile addr = %at : {whole}
    %lane = pto.get_subblock_idx
    %l = arith.index_cast %lane : i64 to index
    %col = arith.muli %l, 16 : index
    pto.texpands ins(2.0 : f16) outs(%x : {part})
    {flag("V", "MTE3")}
    pto.tinsert ins(%x, %c0, %col : {part}, index, index) outs(%m : {whole})
    {sent}
  }}
  pto.section.cube {{
    %m = pto.alloc_tile addr = %at : {whole}
    %l = pto.alloc_tile addr = %at : {left}
    {awaited}
    pto.tmov ins(%m : {whole}) outs(%l : {left})
  }}
  return
}}""".replace("%at = ", "%c0 = arith.constant 0 : index\n  %at = ", 1)


def test_vector_cores_write_the_l1_of_their_cube() -> None:
    sent = "pto.set_intra_block <PIPE_MTE3>, 3"
    first, second = (f"pto.wait_intra_block <PIPE_MTE1>, {n}" for n in (3, 19))
    assert not found(inserted(sent, f"{first}\n    {second}"), "a5")
    some = found(inserted(sent, first), "a5")
    assert [h.bytes for h in some.hazards] == [("L1", 512, 1024)]
    assert [h.times for h in found(inserted("", ""), "a5").hazards] == [2]
