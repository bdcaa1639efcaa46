"""`ptokit profile`: the table that it prints, the trace events that it writes, wrong calls."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from pipes.stream import DRAIN, PRIME, RIGHT, stream
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import ptokit as pto
from account.files import ROOT
from cli.commands import ptokit
from every import every

GEMM = str(ROOT / "examples" / "gemm.pto")
CLOCK = 1850  # cycles of a microsecond, as published
ROUNDING = 2e-6  # microseconds: two times are rounded to the sixth digit


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stream.pto").write_text(stream(*RIGHT))


def profile(*words: str) -> Result:
    return ptokit("profile", *words)


def test_the_table() -> None:
    """Eight loads of 242 cycles, one after another with two flags each, then the last tile."""
    lines = profile("stream.pto", "n=8", "--by-line").output.splitlines()
    assert lines[0] == "@stream on a2a3: 2053 cycles, 1.11 us predicted, 24 instructions"
    assert "MTE2  1936    94%  ###################" in lines
    assert "26    pto.tload            1936    94%" in lines
    assert "MTE3  33    pto.wait_flag_dyn  V     30    pto.tadd              8    1738" in lines
    assert "65536 bytes moved, 65536 of global memory; 8192 FLOP" in lines
    assert "26    pto.tload              8  1936       0      1936" in lines


def test_a_program_without_flags_says_so() -> None:
    lines = profile(GEMM, "--target", "a5").output.splitlines()
    assert lines[1] == "no synchronisation found; assuming data-dependence order"


@every(
    ("words", "message", "status"),
    [
        (["nix.pto"], "nix.pto: No such file or directory", 2),
        (["stream.pto"], "give n=NUMBER", 2),
        (["stream.pto", "n=1", "m=1"], "unknown argument 'm'", 2),
        (
            ["stream.pto", "n=1", "--target", "cpu"],
            "no times published for cpu: choose one of a2a3, a5",
            2,
        ),
        (["stream.pto", "n=1", "--blocks", "0"], "blocks", 2),
        (["stream.pto", "n=1", "--trace", "stream.pto"], "that is the kernel itself", 2),
        (["stream.pto", "n=1", "--trace", "no/such.json"], "No such file or directory", 2),
    ],
)
def test_a_wrong_call_is_one_message(words: list[str], message: str, status: int) -> None:
    result = profile(*words)
    assert message in result.output
    assert result.exit_code == status


def test_blocks_beyond_the_cores_of_the_chip_wait() -> None:
    """The cores of the chip share its memory: here they write through the L2 cache."""
    one, many = profile("stream.pto", "n=4"), profile("stream.pto", "n=4", "--blocks", "100")
    assert "at once" not in one.output
    lines = many.output.splitlines()
    assert lines[0].startswith("@stream on a2a3, 100 cores, 48 at once: ")
    assert "48 cores write global memory at once: 2008 bytes a cycle, 41.8 each" in lines


MEETING = """
func.func @meeting() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
  return
}
"""


def test_blocks_that_wait_for_one_another_need_a_core_each() -> None:
    Path("meeting.pto").write_text(MEETING)
    assert profile("meeting.pto", "--blocks", "48").exit_code == 0
    result = profile("meeting.pto", "--blocks", "49")
    assert result.exit_code == 1
    assert "its blocks wait for each other, and 49 blocks cannot run at once" in result.output
    assert "meeting.pto:3" in result.output
    assert "= seen: a2a3 has cores for 48" in result.output


def test_a_function_without_instructions_takes_no_time() -> None:
    Path("none.pto").write_text("func.func @none() {\n  return\n}\n")
    words = ["--blocks", "70", "--trace", "t.json", "--html", "t.html"]
    result = profile("none.pto", *words)
    assert result.output.startswith("@none on a2a3: 0 cycles, 0.00 us predicted, 0 instructions\n")
    assert json.loads(Path("t.json").read_text())["traceEvents"] == []


def test_queues_that_wait_for_ever_are_named() -> None:
    Path("stuck.pto").write_text(stream([], RIGHT[1], DRAIN))
    result = profile("stuck.pto", "n=4")
    assert result.exit_code == 1
    for flag in ("V -> MTE2, id 0", "MTE2 -> V, id 0", "V -> MTE3, id 0"):
        assert flag in result.output


AWAITED = """\
func.func @awaited(%n: !pto.ptr<i32>) {
  %v = pto.make_tensor_view %n, shape = [1, 1], strides = [1, 1] : !pto.tensor_view<1x1xi32>
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, 1]
       : !pto.tensor_view<1x1xi32> -> !pto.partition_tensor_view<1x1xi32>
  pto.comm.twait(%p, 2 : !pto.partition_tensor_view<1x1xi32>, i32) {cmp = #pto<wait_cmp ge>}
  return
}
"""


def test_a_signal_that_nobody_gave_is_named() -> None:
    Path("awaited.pto").write_text(AWAITED)
    result = profile("awaited.pto", "--target", "a5")
    assert (result.exit_code, "note: not given, and zeros here: %n" in result.output) == (1, True)
    np.save("arrived.npy", np.full(1, 2, np.int32))
    assert profile("awaited.pto", "n=arrived.npy", "--target", "a5").exit_code == 0


def test_arrays_that_nobody_gave_are_as_large_as_their_views() -> None:
    """The matrix of a large layer: 320 MB, of which the program loads a few lines."""
    Path("large.pto").write_text("""\
func.func @large(%w: !pto.ptr<f16>) {
  %v = pto.make_tensor_view %w, shape = [40000, 4096], strides = [4096, 1]
       : !pto.tensor_view<?x?xf16>
  %p = pto.partition_view %v, offsets = [39999, 0], sizes = [1, 4096]
       : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<1x4096xf16>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x4096xf16>
  pto.tload ins(%p : !pto.partition_tensor_view<1x4096xf16>)
       outs(%t : !pto.tile_buf<vec, 1x4096xf16>)
  return
}
""")
    result = profile("large.pto", "--target", "a5")
    assert result.output.startswith("@large on a5: ")


def test_arrays_that_nobody_gave_hold_what_data_leads_to() -> None:
    """The third number of %x tells of another, further on, where what is waited for lies."""
    Path("later.pto").write_text("""\
func.func @later(%x: !pto.ptr<i32>, %n: !pto.ptr<i32>) {
  %loaded = pto.load_scalar %x[2] : !pto.ptr<i32> -> i32
  %wide = arith.index_cast %loaded : i32 to index
  %at = arith.addi %wide, 100 : index
  %found = pto.load_scalar %x[%at] : !pto.ptr<i32> -> i32
  %offset = arith.index_cast %found : i32 to index
  %moved = pto.addptr %n, %offset : !pto.ptr<i32> -> !pto.ptr<i32>
  %v = pto.make_tensor_view %moved, shape = [1, 1], strides = [1, 1]
       : !pto.tensor_view<1x1xi32>
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, 1]
       : !pto.tensor_view<1x1xi32> -> !pto.partition_tensor_view<1x1xi32>
  pto.comm.tnotify(%p, %loaded : !pto.partition_tensor_view<1x1xi32>, i32)
      {notifyOp = #pto<notify_op atomic_add>}
  return
}
""")
    result = profile("later.pto", "--target", "a5")
    assert result.output.startswith("@later on a5: ")


def test_what_the_program_prints_is_no_part_of_its_profile() -> None:
    prints = str(ROOT / "tests" / "pto" / "prints.pto")
    assert profile(prints, "n=4").output.startswith("@prints on a2a3: ")


def test_a_run_that_is_longer_than_its_log_is_told_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its last instructions would be missing from the time."""
    for module in ("machine.execute", "engines.native.logwriting", "engines.native.mainfunction"):
        monkeypatch.setattr(f"ptokit.{module}.LOG_WORDS", 64)
    monkeypatch.setattr("ptokit.explore.exploration.FEW_ISSUED", 8)
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    result = profile("stream.pto", "n=8")
    assert result.exit_code == 1
    assert "the run is longer than a profile can hold" in result.output
    assert "fewer blocks or iterations" in result.output


# the trace events, by the published description of their format

REQUIRED = {
    "M": {"name": str, "pid": int, "args": dict},
    "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "dur": float},
    "s": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "id": int},
    "f": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "id": int, "bp": str},
}
NAMES = {
    **dict.fromkeys(("process_name", "thread_name"), "name"),
    **dict.fromkeys(("process_sort_index", "thread_sort_index"), "sort_index"),
}
Event = dict[str, Any]  # Any: what JSON holds


def events(*words: str) -> list[Event]:
    assert profile(*words, "--trace", "t.json").exit_code == 0
    return json.loads(Path("t.json").read_text())["traceEvents"]


CALLS = [
    ["stream.pto", "n=8"],
    ["stream.pto", "n=3", "--blocks", "2"],
    ["stream.pto", "n=1", "--blocks", "50"],
    [GEMM],
    ["stream.pto", "n=0"],
]


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_each_event_has_what_its_phase_requires(words: list[str]) -> None:
    found = events(*words)
    for event in found:
        for field, kind in REQUIRED[event["ph"]].items():
            assert isinstance(event[field], kind), event
        if event["ph"] == "M":
            assert [*event["args"]] == [NAMES[event["name"]]]
    times = [event["ts"] for event in found if event["ph"] != "M"]
    assert times == sorted(times)
    assert times[0] >= 0
    named = {(e["pid"], e.get("tid")) for e in found if e["ph"] == "M"}
    assert {(e["pid"], e["tid"]) for e in found if e["ph"] == "X"} <= named
    assert {(e["pid"], None) for e in found} <= named


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_slices_of_a_thread_come_one_after_another(words: list[str]) -> None:
    threads: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in events(*words):
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    for slices in threads.values():
        for one, two in pairwise(slices):
            assert one["ts"] + one["dur"] <= two["ts"] + ROUNDING


@pytest.mark.parametrize("words", CALLS[:4], ids=" ".join)
def test_each_arrow_leads_from_one_slice_to_a_later_one(words: list[str]) -> None:
    found = events(*words)
    slices: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in found:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    ends: dict[str, dict[int, Event]] = {"s": {}, "f": {}}
    for event in (e for e in found if e["ph"] in ends):
        assert event["id"] not in ends[event["ph"]]
        ends[event["ph"]][event["id"]] = event
        assert [
            s
            for s in slices[event["pid"], event["tid"]]
            if s["ts"] - ROUNDING <= event["ts"] <= s["ts"] + s["dur"] + ROUNDING
        ]
    assert ends["s"].keys() == ends["f"].keys() != set()
    for number, start in ends["s"].items():
        end = ends["f"][number]
        assert start["ts"] <= end["ts"]
        assert (start["pid"], start["tid"]) != (end["pid"], end["tid"])


def test_slices_are_the_instructions_and_the_flags() -> None:
    """Eight tiles: three instructions and eight flags each, four flags before and four after."""
    found = [event for event in events("stream.pto", "n=8") if event["ph"] == "X"]
    assert len([e for e in found if e["cat"] == "work"]) == 3 * 8
    assert len(found) == 11 * 8 + len(PRIME) + len(DRAIN)
    load = next(e for e in found if e["cat"] == "work")
    assert (
        load["args"] | {"file": "stream.pto", "line": 26, "cycles": 242, "bytes": 4096}
        == load["args"]
    )
    assert load["dur"] == pytest.approx(242 / CLOCK, abs=1e-6)
    last = max(e["ts"] + e["dur"] for e in found)
    assert last == pytest.approx(2053 / CLOCK, abs=1e-6)


def test_a_process_is_named_after_its_core() -> None:
    pair = str(ROOT / "tests" / "pto" / "pipes_by_handle.pto")
    names = {e["args"]["name"] for e in events(pair) if e["name"] == "process_name"}
    assert names == {"the cube core of block 0", "the vector core 0 of block 0"}


def test_python_sees_the_same_profile() -> None:
    found = pto.load("stream.pto").profile(target="a2a3", n=8)
    assert (found.cycles, round(found.microseconds, 2)) == (2053, 1.11)
    assert str(found) == profile("stream.pto", "n=8").output.rstrip("\n")
    (load,) = [row for row in found.by_line() if row.place == ("stream.pto", 26)]
    assert (load.times, load.busy, load.critical) == (8, 1936, 1936)
