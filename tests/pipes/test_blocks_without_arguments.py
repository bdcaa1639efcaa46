"""Blocks that touch the same bytes whatever the arguments are, and what orders blocks: signals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import ptokit as pto

TILE, VIEW = "!pto.tile_buf<vec, 1x64xf32>", "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<1x64xf32>"
HEAD = f"""\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %which: !pto.ptr<i32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %number = pto.get_block_idx -> i64
  %block = arith.index_cast %number : i64 to index
  %many = pto.get_block_num -> i64
  %blocks = arith.index_cast %many : i64 to index
  %first = arith.cmpi eq, %block, %c0 : index
  %some = arith.cmpi sgt, %n, %c4 : index
  %own = arith.cmpi eq, %n, %block : index
  %word = pto.load_scalar %which[%block] : !pto.ptr<i32> -> i32
  %read = arith.index_cast %word : i32 to index
  %marked = arith.cmpi eq, %read, %c0 : index
  %half = arith.divui %block, %c2 : index
  %far = arith.muli %block, %c4 : index
  %end = arith.addi %far, %c4 : index
  %beyond = arith.addi %end, %c1 : index
  %least = arith.minsi %end, %n : index
  %v = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%c64, %c1] : {VIEW}
  %w = pto.make_tensor_view %y, shape = [%c64, %c64], strides = [%c64, %c1] : {VIEW}
  %z = pto.make_tensor_view %y, shape = [%c64, %c64], strides = [%n, %c1] : {VIEW}
  %from = pto.partition_view %v, offsets = [%block, %c0], sizes = [%c1, %c64] : {VIEW} -> {PART}
  %t = pto.alloc_tile addr = %zero : {TILE}
  pto.tload ins(%from : {PART}) outs(%t : {TILE})
  pto.barrier <PIPE_ALL>
""".replace("  %t =", "  %zero = arith.constant 0 : i64\n  %t =")


def stored(row: str, view: str = "w", more: str = "") -> str:
    where = f"offsets = [%{row}, %c0], sizes = [%c1, %c64] : {VIEW} -> {PART}"
    return (
        f"%to = pto.partition_view %{view}, {where}\n"
        f"pto.tstore ins(%t : {TILE}) outs(%to : {PART}){more}"
    )


def inside(head: str, body: str) -> str:
    return f"{head} {{\n{body}\n}}"


CONFLICTS = {
    "one row": stored("c0"),
    "a row that an argument gives": stored("n"),
    "a row of lines that an argument sets apart": stored("c0", "z"),
    "two blocks a row": stored("half"),
    "behind an argument": inside("scf.if %some", stored("c1")),
    "in a loop": inside("scf.for %i = %c0 to %n step %c1", stored("i")),
    "a row too many": inside("scf.for %i = %far to %beyond step %c1", stored("i")),
    "to the end": inside("scf.for %i = %block to %n step %c1", stored("i")),
    "a word that each increases": "%old = pto.load_scalar %which[%c1] : !pto.ptr<i32> -> i32\n"
    "%new = arith.addi %old, %word : i32\n"
    "pto.store_scalar %new, %which[%c1] : !pto.ptr<i32>, i32",
    "a word": "%word_here = arith.constant 1 : i32\n"
    "pto.store_scalar %word_here, %which[%c0] : !pto.ptr<i32>, i32",
}
CLEAN: dict[str, str] = {
    "own rows": stored("block"),
    "rows that an argument sets apart": stored("block", "z"),
    "rows from an argument on": "%at = arith.addi %block, %n : index\n" + stored("at"),
    "the first block": inside("scf.if %first", stored("c0")),
    "the block of an argument": inside("scf.if %own", stored("c0")),
    "the block that memory names": inside("scf.if %marked", stored("c0")),
    "rows that memory names": stored("read"),
    "own ranges": inside("scf.for %i = %far to %end step %c1", stored("i")),
    "own ranges up to an argument": inside("scf.for %i = %far to %least step %c1", stored("i")),
    "every so many rows": inside("scf.for %i = %block to %n step %blocks", stored("i")),
    "sums in any order": stored("c0", more=" {atomicType = #pto<atomic_type atomic_add>}"),
}


def of_four(length: str, body: str = "") -> str:
    """A loop over as many as four rows of a block, by the argument."""
    rows = "%row = arith.addi %far, %i : index\n" + (body or stored("row"))
    return f"{length}\n" + inside("scf.for %i = %c0 to %length step %c1", rows)


LENGTH = "%length = arith.minsi %n, %c4 : index"
UP_TO_TWO = "%length = arith.minsi %n, %c2 : index\n%two = arith.muli %block, %c2 : index"
NEXT = f"""\
%row = arith.addi %two, %i : index
{stored("row")}
%after = arith.addi %i, %c1 : index
%more = arith.cmpi slt, %after, %length : index
scf.if %more {{
  %next = arith.addi %two, %after : index
  %ahead = pto.partition_view %w, offsets = [%next, %c0], sizes = [%c1, %c64] : {VIEW} -> {PART}
  pto.tload ins(%ahead : {PART}) outs(%t : {TILE})
}}"""
INDEX = "!pto.tile_buf<vec, 1x8xi32, valid=1x1>"
CLEAN.update(
    {
        "as many rows as there are left": of_four(LENGTH),
        "a remainder of rows": of_four("%length = arith.remui %n, %c4 : index"),
        "as many rows as it is called with": of_four("%length = arith.addi %n, %c0 : index"),
        "the lesser number": of_four(
            "%few = arith.cmpi slt, %n, %c4 : index\n%length = arith.select %few, %n, %c4 : index"
        ),
        "those of its iterations": of_four(
            "%length = arith.addi %n, %c0 : index",
            "%mine = arith.cmpi slt, %i, %c4 : index\n" + inside("scf.if %mine", stored("row")),
        ),
        "while there are rows": f"""\
{LENGTH}
%gone = scf.while (%a = %c0) : (index) -> index {{
  %left = arith.cmpi slt, %a, %length : index
  scf.condition(%left) %a : index
}} do {{
^bb0(%i: index):
  %row = arith.addi %far, %i : index
{stored("row")}
  %next = arith.addi %i, %c1 : index
  scf.yield %next : index
}}""",
        "the next row, while there is one": UP_TO_TWO
        + "\n"
        + inside("scf.for %i = %c0 to %length step %c1", NEXT),
        "rows that a tile names": f"""\
%there = arith.constant 1024 : i64
%rows = pto.alloc_tile addr = %there : {INDEX}
pto.mscatter ins(%t, %rows : {TILE}, {INDEX}) outs(%w : {VIEW}) {{coalesce = #pto<coalesce row>}}
""",
    }
)


def conflicts(body: str, chip: str) -> list[pto.Diagnostic]:
    found = pto.loads(f"{HEAD}{body}\nreturn\n}}\n").races(chip)
    return [d for d in found if d.slug == "hazard" and "make block" in (d.help or "")]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("what", CONFLICTS)
def test_blocks_on_the_same_bytes(what: str, chip: str) -> None:
    found = conflicts(CONFLICTS[what], chip)
    assert found
    assert found[0].is_error
    assert "on block" in (found[0].seen or "")
    assert "on block" in found[0].notes[0].message


@pytest.mark.parametrize(("what", "chip"), [*product(CLEAN, ["a2a3", "a5"])])
def test_blocks_apart(what: str, chip: str) -> None:
    assert conflicts(CLEAN[what], chip) == []


def test_a_compiler_that_orders_pipes_does_not_order_blocks() -> None:
    unordered = HEAD.replace("  pto.barrier <PIPE_ALL>\n", "")
    for body, expected in ((CONFLICTS["one row"], True), (CLEAN["own rows"], False)):
        found = pto.loads(f"{unordered}{body}\nreturn\n}}\n").races("a2a3")
        assert ("hazard" in [d.slug for d in found]) == expected
        assert "not-synchronised" in [d.slug for d in found]


def test_a_function_that_asks_for_no_block_runs_on_one() -> None:
    text = HEAD.replace("pto.get_block_idx -> i64", "arith.constant 0 : i64")
    text = text.replace("pto.get_block_num -> i64", "arith.constant 1 : i64")
    body = CONFLICTS["one row"]
    assert "hazard" not in [d.slug for d in pto.loads(f"{text}{body}\nreturn\n}}\n").races("a5")]


def test_what_orders_blocks_is_not_redundant() -> None:
    meet = (
        "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>"
    )
    text = f"{HEAD}{stored('block')}\n{meet}\n{stored('c0').replace('%to', '%too')}\nreturn\n}}\n"
    found = pto.loads(text).races("a2a3")
    assert not [d for d in found if "pto.syncall" in d.message]


T = "!pto.tile_buf<vec, 8x64xf32>"
V, P = "!pto.tensor_view<8x64xf32>", "!pto.partition_tensor_view<8x64xf32>"
S = "!pto.partition_tensor_view<1xi32>"
ORDER = "pto.{}_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
BARRIER = "    pto.barrier <PIPE_ALL>\n"


def moved(source: str, result: str) -> str:
    return f"""\
    pto.tload ins(%{source}p : {P}) outs(%t : {T})
    {ORDER.format("set")}
    {ORDER.format("wait")}
    pto.tstore ins(%t : {T}) outs(%{result}p : {P})
"""


def part(name: str) -> str:
    return f"""\
  %{name}v = pto.make_tensor_view %{name}, shape = [8, 64], strides = [64, 1] : {V}
  %{name}p = pto.partition_view %{name}v, offsets = [0, 0], sizes = [8, 64] : {V} -> {P}
"""


TEXT = f"""\
func.func @f(%x: !pto.ptr<f32>, %room: !pto.ptr<f32>, %y: !pto.ptr<f32>, %flag: !pto.ptr<i32>)
    attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
{part("x")}{part("room")}{part("y")}\
  %fv = pto.make_tensor_view %flag, shape = [1], strides = [1] : !pto.tensor_view<1xi32>
  %fp = pto.partition_view %fv, offsets = [0], sizes = [1] : !pto.tensor_view<1xi32> -> {S}
  %t = pto.alloc_tile : {T}
  %block = pto.get_block_idx
  %number = arith.index_cast %block : i64 to index
  %first = arith.cmpi eq, %number, 0 : index
  scf.if %first {{
{moved("x", "room")}{BARRIER}\
    pto.comm.tnotify(%fp, 1 : {S}, i32) {{notifyOp = #pto<notify_op set>}}
  }} else {{
    pto.comm.twait(%fp, 1 : {S}, i32) {{cmp = #pto<wait_cmp ge>}}
{moved("room", "y")}\
  }}
  return
}}
"""


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_each_block_alone_has_no_hazard_and_nothing_too_many(chip: str) -> None:
    """Neither that the other block waits for the first, nor that its barrier is not needed."""
    assert not pto.loads(TEXT).races(chip)


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_store_that_nothing_orders_before_the_signal_is_found(chip: str) -> None:
    given: dict[str, Any] = {"flag": np.zeros(1, np.int32)}  # Any: arrays
    given |= {name: np.ones((8, 64), np.float32) for name in ("x", "room", "y")}
    assert not pto.loads(TEXT).races(chip, blocks=2, **given)
    (hazard,) = pto.loads(TEXT.replace(BARRIER, "")).races(chip, blocks=2, **given)
    assert hazard.slug == "hazard"
    assert "MTE3 -> MTE2" in str(hazard)
