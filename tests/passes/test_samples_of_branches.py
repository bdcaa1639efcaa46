"""Branches that data decides: one run may take each of them, one after another."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import sampled
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

T, V, P = (
    "!pto.tile_buf<vec, 1x64xf32>",
    "!pto.tensor_view<?x?xf32>",
    ("!pto.partition_tensor_view<1x64xf32>"),
)
HEAD = f"""\
func.func @pick(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %which: !pto.ptr<i32>) {{
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, 1] : {V}
  %w = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, 1] : {V}
  %t = pto.alloc_tile : {T}
"""
# lines below 0 are filled, line 0 is doubled, others are copied: through one tile
TEXT = f"""{HEAD}\
  scf.for %i = 0 to %c8 step 1 {{
    %p = pto.partition_view %v, offsets = [%i, 0], sizes = [1, %c64] : {V} -> {P}
    %q = pto.partition_view %w, offsets = [%i, 0], sizes = [1, %c64] : {V} -> {P}
    %n = pto.load_scalar %which[%i] : !pto.ptr<i32> -> i32
    %below = arith.cmpi slt, %n, 0 : i32
    scf.if %below {{
      pto.texpands ins(0.5 : f32) outs(%t : {T})
    }} else {{
      pto.tload ins(%p : {P}) outs(%t : {T})
      %first = arith.cmpi eq, %n, 0 : i32
      scf.if %first {{
        pto.tadd ins(%t, %t : {T}, {T}) outs(%t : {T})
      }}
    }}
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""
WAYS = [[-1, 1, 0, -1, 0, 1, -1, 1], [1, 1, -1, -1, 0, 0, 1, 0], [0, -1, 1, 0, 1, -1, -1, 0]]
# a barrier of the program's own, of several that it needs
BARRED = f"""{HEAD}\
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  pto.tload ins(%p : {P}) outs(%t : {T})
  pto.tadd ins(%t, %t : {T}, {T}) outs(%t : {T})
  pto.barrier <PIPE_ALL>
  pto.tstore ins(%t : {T}) outs(%q : {P})
  return
}}
"""


def made(text: str, chip: str) -> Program:
    return Program(run_passes(pto.loads(text).module, ["synchronise"], TARGETS[chip]))


def found(program: Program, chip: str, which: list[int]) -> list[str]:
    x, y = np.ones((8, 64), np.float32), np.zeros((8, 64), np.float32)
    words = np.array(which, np.int32)
    return [d.slug for d in program.races(chip, x=x, y=y, which=words)]


def test_whatever_data_decides_is_in_order() -> None:
    for chip in ("a2a3", "a5"):
        program = made(TEXT, chip)
        assert [found(program, chip, which) for which in WAYS] == [[]] * len(WAYS)


def test_a_barrier_alone_is_no_synchronisation_of_a_whole_program() -> None:
    for chip in ("a2a3", "a5"):
        assert "hazard" in found(pto.loads(BARRED), chip, [0] * 8)
        program = made(BARRED, chip)
        assert found(program, chip, [0] * 8) == []
        assert program.text().count("<PIPE_ALL>") == 1
        assert made(program.text(), chip).text() == program.text()


# a line is copied page by page: a length says how far, a table where each page lies
PAGED = f"""\
func.func @paged(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %length: !pto.ptr<i32>, \
%table: !pto.ptr<i32>) {{
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, 1] : {V}
  %w = pto.make_tensor_view %y, shape = [4096, %c64], strides = [%c64, 1] : {V}
  %n = pto.load_scalar %length[0] : !pto.ptr<i32> -> i32
  %most = arith.index_cast %n : i32 to index
  %more = arith.addi %most, 63 : index
  %pages = arith.divsi %more, %c64 : index
  scf.for %i = 0 to %pages step 1 {{
    %from = arith.muli %i, %c64 : index
    %left = arith.subi %most, %from : index
    %cols = arith.minsi %left, %c64 : index
    %k = pto.load_scalar %table[%i] : !pto.ptr<i32> -> i32
    %page = arith.index_cast %k : i32 to index
    %t = pto.alloc_tile valid_col = %cols : !pto.tile_buf<vec, 1x64xf32, valid=1x?>
    %p = pto.partition_view %v, offsets = [%page, 0], sizes = [1, %cols] : {V} -> \
!pto.partition_tensor_view<1x?xf32>
    %q = pto.partition_view %w, offsets = [%i, 0], sizes = [1, %cols] : {V} -> \
!pto.partition_tensor_view<1x?xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<1x?xf32>)
         outs(%t : !pto.tile_buf<vec, 1x64xf32, valid=1x?>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 1x64xf32, valid=1x?>)
         outs(%q : !pto.partition_tensor_view<1x?xf32>)
  }}
  return
}}
"""


def test_a_length_in_memory_is_longer_than_a_table_is_wide() -> None:
    """With one number for both no run takes two pages: it leaves the array, or its tile."""
    for chip in ("a2a3", "a5"):
        program = made(PAGED, chip)
        x, y = np.ones((8, 64), np.float32), np.zeros((4096, 64), np.float32)
        length, table = np.array([200], np.int32), np.array([3, 0, 7, 1], np.int32)
        found = program.races(chip, x=x, y=y, length=length, table=table)
        assert [d.slug for d in found] == []


# the second tile is stored, and the other one or just that one is filled again before
SELECTED = f"""{HEAD.replace("%which: !pto.ptr<i32>", "%first: i1")}\
  %u = pto.alloc_tile : {T}
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  pto.tload ins(%p : {P}) outs(%t : {T})
  pto.texpands ins(0.5 : f32) outs(%u : {T})
  %one = arith.select %first, %t, %u : {T}
  pto.tload ins(%p : {P}) outs(%one : {T})
  pto.tstore ins(%u : {T}) outs(%q : {P})
  return
}}
"""


def test_either_of_two_tiles_is_in_order() -> None:
    for chip in ("a2a3", "a5"):
        program = made(SELECTED, chip)
        for first, stored in ((1, 0.5), (0, 1.0)):
            x, y = np.ones((8, 64), np.float32), np.zeros((8, 64), np.float32)
            assert [*program.races(chip, x=x, y=y, first=first)] == []
            assert (program.run(target=chip, x=x, y=y, first=first)["y"][0] == stored).all()


# two tiles take turns: one is loaded while the other one is stored
ROTATING = f"""{HEAD.replace("%which: !pto.ptr<i32>", "%n: index")}\
  %u = pto.alloc_tile : {T}
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  pto.tload ins(%p : {P}) outs(%t : {T})
  scf.for %i = 0 to %n step 1 {{
    %r = arith.remui %i, 2 : index
    %even = arith.cmpi eq, %r, 0 : index
    %now = arith.select %even, %t, %u : {T}
    %next = arith.select %even, %u, %t : {T}
    pto.tload ins(%p : {P}) outs(%next : {T})
    pto.tstore ins(%now : {T}) outs(%q : {P})
  }}
  return
}}
"""


def test_tiles_that_take_turns_still_do() -> None:
    """No load waits for the one before, which fills the other tile."""
    assert "<PIPE_MTE2>, <PIPE_MTE3>" in made(ROTATING, "a2a3").text()
    assert "barrier" not in made(ROTATING, "a2a3").text()


# what is filled behind one branch, and not behind another in it, is stored too soon
BEHIND = f"""{HEAD.replace("(%x", "(%n: index, %m: index, %x")}\
  %block = pto.get_block_idx -> i64
  %b = arith.index_cast %block : i64 to index
  %at = pto.load_scalar %which[0] : !pto.ptr<i32> -> i32
  %some = arith.cmpi sge, %n, %c8 : index
  %last = arith.cmpi eq, %n, %m : index
  %held = arith.cmpi eq, %at, 0 : i32
  %eighth = arith.cmpi eq, %b, %c8 : index
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  pto.barrier <PIPE_ALL>
  WAY
  return
}}
"""
TOO_SOON = f"pto.texpands ins(0.5 : f32) outs(%t : {T})\npto.tstore ins(%t : {T}) outs(%q : {P})\n"
WAYS_IN = [("some", "last"), ("last", "some"), ("some", "held"), ("held", "last"), ("eighth", "")]


def behind(first: str, second: str) -> str:
    inner = f"scf.if %{second} {{\n}} else {{\n{TOO_SOON}}}\n" if second else TOO_SOON
    return BEHIND.replace("WAY", f"scf.if %{first} {{\n{inner}}}")


def hazards_of_one_block(program: Program, chip: str) -> list[pto.Diagnostic]:
    """Without those between blocks, which all store the same line."""
    found = [d for d in program.races(chip) if d.slug == "hazard"]
    return [d for d in found if "make block" not in (d.help or "")]


@pytest.mark.parametrize(("first", "second"), WAYS_IN)
def test_what_only_some_way_through_branches_reaches_is_looked_at(first: str, second: str) -> None:
    program = pto.loads(behind(first, second))
    for chip in ("a2a3", "a5"):
        assert len(hazards_of_one_block(program, chip)) == 1
        text = Program(run_passes(program.module, ["synchronise"], TARGETS[chip])).text()
        assert "<PIPE_V>, <PIPE_MTE3>" in text
        assert text.count("<PIPE_ALL>") <= 1
        assert hazards_of_one_block(pto.loads(text), chip) == []


# two pairs of flags: what the first branch fills the second one stores, on a condition of its own
PAIRS = f"""{HEAD.replace("(%x", "(%n: index, %m: index, %x")}\
  %b = pto.get_block_idx -> i64
  %block = arith.index_cast %b : i64 to index
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [%block, 0], sizes = [1, %c64] : {V} -> {P}
  %less = arith.cmpi slt, %NAME, %c8 : index
  scf.if %less {{
    pto.tload ins(%p : {P}) outs(%t : {T})
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  }}
  %again = arith.cmpi slt, %NAME, %c8 : index
  %other = arith.cmpi slt, %m, %c8 : index
  scf.if %again {{
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }} else {{
    scf.if %other {{
      pto.tload ins(%p : {P}) outs(%t : {T})
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID1>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID1>]
      pto.tstore ins(%t : {T}) outs(%q : {P})
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize("name", ["n", "block"])
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_condition_that_is_computed_twice_holds_twice(name: str, chip: str) -> None:
    assert not pto.loads(PAIRS.replace("NAME", name)).races(chip)


COMPARED = [  # how the first branch and the second one ask for the same, or for the opposite
    ("slt, %NAME, %c8", "sge, %NAME, %c8", "else"),
    ("slt, %NAME, %c8", "sle, %c8, %NAME", "else"),
    ("slt, %NAME, %c8", "sgt, %c8, %NAME", "then"),
    ("slt, %NAME, %m", "sge, %NAME, %m", "else"),
    ("eq, %NAME, %m", "ne, %m, %NAME", "else"),
    ("ult, %NAME, %c8", "uge, %NAME, %c8", "else"),
]
# what the first branch fills is stored where the second condition tells the same
TWICE = f"""{HEAD.replace("(%x", "(%n: index, %m: index, %x")}\
  %b = pto.get_block_idx -> i64
  %block = arith.index_cast %b : i64 to index
  %at = pto.load_scalar %which[0] : !pto.ptr<i32> -> i32
  %held = arith.index_cast %at : i32 to index
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [%block, 0], sizes = [1, %c64] : {V} -> {P}
  %first = arith.cmpi FIRST : index
  scf.if %first {{
    pto.tload ins(%p : {P}) outs(%t : {T})
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  }} else {{
    pto.tload ins(%p : {P}) outs(%t : {T})
    pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID1>]
  }}
  %second = arith.cmpi SECOND : index
  scf.if %second {{
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }} else {{
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID1>]
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""


def compared(first: str, second: str, where: str, name: str) -> str:
    text = TWICE.replace("FIRST", first).replace("SECOND", second).replace("NAME", name)
    if where == "else":  # the second condition is the opposite
        before, after = text.split("%second {")
        after = after.replace("ID0", "ID2").replace("ID1", "ID0").replace("ID2", "ID1")
        text = f"{before}%second {{{after}"
    return text


@pytest.mark.parametrize("name", ["n", "block", "held"])
@pytest.mark.parametrize(("first", "second", "where"), sampled(COMPARED, 4))
def test_conditions_that_go_together_are_one(
    first: str, second: str, where: str, name: str
) -> None:
    other = {"else": "then", "then": "else"}[where]
    for chip in ("a2a3", "a5"):
        assert not pto.loads(compared(first, second, where, name)).races(chip)
        assert pto.loads(compared(first, second, other, name)).races(chip)


# what is less than 8 is less than 64: no run both loads and stores
IMPLIED = f"""{HEAD.replace("(%x", "(%n: index, %x")}\
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  pto.barrier <PIPE_ALL>
  %fewer = arith.cmpi slt, %n, %c8 : index
  scf.if %fewer {{
    pto.tload ins(%p : {P}) outs(%t : {T})
  }}
  %few = arith.cmpi slt, %n, %c64 : index
  scf.if %few {{
  }} else {{
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""


def test_a_condition_that_follows_from_another_holds() -> None:
    for chip in ("a2a3", "a5"):
        assert not [d for d in pto.loads(IMPLIED).races(chip) if d.is_error]
        crossed = IMPLIED.replace("slt, %n, %c64", "sge, %c8, %n")
        assert not [d for d in pto.loads(crossed).races(chip) if d.is_error]
        free = IMPLIED.replace("slt, %n, %c64", "sgt, %n, %c64")
        assert "hazard" in [d.slug for d in pto.loads(free).races(chip)]


# the barrier is left out and the tile stored: no run with all branches taken, or none, shows it
APART = f"""{HEAD.replace("%which: !pto.ptr<i32>", "%n: index, %m: index")}\
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, %c64] : {V} -> {P}
  %slow = arith.cmpi eq, %n, 1 : index
  %kept = arith.cmpi ne, %m, 1 : index
  pto.tload ins(%p : {P}) outs(%t : {T})
  scf.if %slow {{
    pto.barrier <PIPE_ALL>
  }}
  scf.if %kept {{
    pto.tstore ins(%t : {T}) outs(%q : {P})
  }}
  return
}}
"""


def test_a_branch_that_is_taken_while_another_one_is_not() -> None:
    for chip in ("a2a3", "a5"):
        (found,) = [d for d in pto.loads(APART).races(chip) if d.slug == "hazard"]
        assert found.is_error
        same = APART.replace("cmpi ne, %m", "cmpi eq, %n")
        assert not [d for d in pto.loads(same).races(chip) if d.slug == "hazard"]
        opposite = APART.replace("cmpi ne, %m", "cmpi ne, %n")
        assert [d for d in pto.loads(opposite).races(chip) if d.slug == "hazard"]
