"""Places and work that depend on the block, or on numbers: runs on others share other bytes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import in_turn
from ptokit.api.program import Program
from ptokit.explore.programslices import placing
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

T = "!pto.tile_buf<vec, 1x64xf32>"
MULTI = "!pto.multi_tile_buf<vec, 1x64xf32, count=2>"
V, P = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<1x64xf32>"
HEAD = f"""\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>ARGUMENT) \
attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c1 = arith.constant 1 : index
  %b = pto.get_block_idx -> i64
  %block = arith.index_cast %b : i64 to index
  %mb = pto.alloc_multi_tile addr = 0 : {MULTI}
  %t = pto.multi_tile_get %mb[0] : {MULTI} -> {T}
  %u = pto.multi_tile_get %mb[%c1] : {MULTI} -> {T}
  %v = pto.make_tensor_view %x, shape = [64, 64], strides = [64, %c1] : {V}
  %w = pto.make_tensor_view %y, shape = [64, 64], strides = [64, %c1] : {V}
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [%c1, 64] : {V} -> {P}
  %q = pto.partition_view %w, offsets = [%block, 0], sizes = [%c1, 64] : {V} -> {P}
  pto.texpands ins(0.5 : f32) outs(%t : {T})
  pto.texpands ins(0.5 : f32) outs(%u : {T})
  pto.barrier <PIPE_ALL>
"""
# the second tile is stored, and what the number picks is filled before
SLOT = f"""{HEAD}\
  %m = arith.remui %NUMBER, 2 : index
  %z = pto.multi_tile_get %mb[%m] : {MULTI} -> {T}
  pto.tload ins(%p : {P}) outs(%z : {T})
  pto.tstore ins(%u : {T}) outs(%q : {P})
  return
}}
"""
# the same by an address, of a tile
ADDRESS = f"""{HEAD}\
  %m = arith.minsi %NUMBER, 3 : index
  %bytes = arith.muli %m, 256 : index
  %at = arith.index_cast %bytes : index to i64
  %z = pto.alloc_tile addr = %at : {T}
  %s = pto.alloc_tile addr = 256 : {T}
  pto.tload ins(%p : {P}) outs(%z : {T})
  pto.tstore ins(%s : {T}) outs(%q : {P})
  return
}}
"""
# a row is stored, and another one loaded from the same array
ROWS = f"""{HEAD}\
  %three = arith.muli %NUMBER, 3 : index
  %row = arith.remui %three, 8 : index
  %r = pto.partition_view %w, offsets = [%row, 0], sizes = [%c1, 64] : {V} -> {P}
  %fixed = pto.partition_view %w, offsets = [5, 0], sizes = [%c1, 64] : {V} -> {P}
  pto.tstore ins(%t : {T}) outs(%r : {P})
  pto.tload ins(%fixed : {P}) outs(%u : {T})
  return
}}
"""
NUMBERS = {"block": "", "n": ", %n: index"}
PROGRAMS = [SLOT, ADDRESS, ROWS]


def program(text: str, number: str) -> Program:
    return pto.loads(text.replace("NUMBER", number).replace("ARGUMENT", NUMBERS[number]))


def in_one_block(made: Program, chip: str) -> list[pto.Diagnostic]:
    """What is found without that between blocks: a number gives all of them one row."""
    return [d for d in made.races(chip) if "make block" not in (d.help or "")]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("text", PROGRAMS, ids=["slot", "address", "rows"])
def test_places_that_meet_for_some_number_are_looked_at(text: str, number: str, chip: str) -> None:
    (found,) = in_one_block(program(text, number), chip)
    assert found.is_error == (number == "block" or text is not ROWS)
    assert number == "block" or any("with %n = " in note.message for note in found.notes)


@pytest.mark.parametrize(("of", "chip"), in_turn(product(NUMBERS, PROGRAMS), ["a2a3", "a5"]))
def test_they_are_synchronised(of: tuple[str, str], chip: str) -> None:
    number, text = of
    bare = text.replace("  pto.barrier <PIPE_ALL>\n", "")
    module = program(bare, number).module
    made = Program(run_passes(module, ["synchronise"], TARGETS[chip]))
    assert "_flag" in made.text()
    assert in_one_block(made, chip) == []
    x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
    for n in range(8):
        given: dict[str, Any] = {} if number == "block" else {"n": n}
        found = made.races(chip, blocks=8 if number == "block" else 1, x=x, y=y, **given)
        assert not [d for d in found if "block" not in (d.help or "")]


def test_places_that_never_meet_are_no_hazard() -> None:
    """One is even and the other one is odd, whatever the number is."""
    for number in NUMBERS:
        apart = SLOT.replace("tstore ins(%u", "tstore ins(%o").replace(
            "  pto.tload",
            f"""\
  %next = arith.addi %NUMBER, %c1 : index
  %k = arith.remui %next, 2 : index
  %o = pto.multi_tile_get %mb[%k] : {MULTI} -> {T}
  pto.tload""",
        )
        assert not [d for d in program(apart, number).races("a2a3") if d.slug == "hazard"]


# the sixth iteration loads what the loop stores in all of them
SIXTH = f"""{HEAD}\
  scf.for %i = 0 to %n step %c1 {{
    %beyond = arith.divui %i, 5 : index
    %z = pto.multi_tile_get %mb[%beyond] : {MULTI} -> {T}
    pto.tstore ins(%u : {T}) outs(%q : {P})
    pto.tload ins(%p : {P}) outs(%z : {T})
    pto.barrier <PIPE_ALL>
  }}
  return
}}
"""


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_a_loop_whose_end_is_not_known_iterates_seven_times(chip: str) -> None:
    (found,) = [d for d in program(SIXTH, "n").races(chip) if d.slug == "hazard"]
    assert any(note.message == "with %n = 7" for note in found.notes)


def test_what_all_accesses_add_to_one_pointer_leads_nowhere_else() -> None:
    """As each block has an element of its own, all blocks do the same."""
    own = """\
func.func @f(%x: !pto.ptr<i32>) {
  %c1 = arith.constant 1 : index
  %b = pto.get_block_idx -> i64
  %block = arith.index_cast %b : i64 to index
  %n = pto.load_scalar %x[%block] : !pto.ptr<i32> -> i32
  pto.store_scalar %n, %x[PLACE] : !pto.ptr<i32>, i32
  return
}
"""
    for place, leads in (("%block", False), ("%c1", True)):
        (func,) = pto.loads(own.replace("PLACE", place)).module.funcs
        assert bool(placing(func)) == leads


TILE = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=64, v_row=1, v_col=64, blayout=row_major, "
    "slayout=none_box, fractal=512, pad=0>"
)
VIEW, ROW = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<1x64xf32>"
ASKED = ("", "  %asked = pto.get_block_idx -> i64", "%asked : i64")
GIVEN = (", %__pypto_spmd_block_idx: i32", "", "%__pypto_spmd_block_idx : i32")


def copied(places: tuple[str, str, str]) -> str:
    """Each block copies every third row from its own on; the second one also copies the last."""
    argument, asking, number = places

    def copy(row: str) -> str:
        part = f"offsets = [{row}, 0], sizes = [1, 64] : {VIEW} -> {ROW}"
        name = row.removeprefix("%")
        return f"""
  %from_{name} = pto.partition_view %v, {part}
  %to_{name} = pto.partition_view %w, {part}
  %t_{name} = pto.alloc_tile addr = 0 : {TILE}
  pto.tload ins(%from_{name} : {ROW}) outs(%t_{name} : {TILE})
  pto.tstore ins(%t_{name} : {TILE}) outs(%to_{name} : {ROW})"""

    return f"""
func.func @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>{argument}) {{
{asking}
  %block = arith.index_cast {number} to index
  %c9 = arith.constant 9 : index
  %v = pto.make_tensor_view %x, shape = [10, 64], strides = [64, 1] : {VIEW}
  %w = pto.make_tensor_view %y, shape = [10, 64], strides = [64, 1] : {VIEW}
  scf.for %i = %block to %c9 step 3 {{{copy("%i")}
  }}
  %second = arith.cmpi eq, %block, 1 : index
  scf.if %second {{{copy("%c9")}
  }}
  return
}}
"""


@pytest.mark.parametrize("places", [ASKED, GIVEN])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_what_only_one_block_does_is_ordered(target: str, places: tuple[str, str, str]) -> None:
    program = pto.loads(copied(places))
    made = Program(run_passes(program.module, ["synchronise"], TARGETS[target]))
    arrays: dict[str, Any] = {name: np.ones((10, 64), np.float32) for name in "xy"}
    assert made.races(target, blocks=3, **arrays) == []
