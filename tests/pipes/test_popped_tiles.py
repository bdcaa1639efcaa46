"""Tiles that lie in slots (A5): a pop moves nothing, and who uses the tile reads the slot.

They need no room of their own; the slots do, beside other tiles.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from account.files import ROOT
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes
from ptokit.tools.cli import main

T = "!pto.tile_buf<vec, 16x16xf32>"
A = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
V = "!pto.tensor_view<16x16xf32>"
ENDS = {"v3": "<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>", "3v": "<PIPE_MTE3>, <PIPE_V>, <EVENT_ID2>"}
ADD = f"pto.tadd ins(%t, %t : {T}, {T}) outs(%u : {T})"
STORE = f"pto.barrier <PIPE_MTE3>\n      pto.tstore ins(%t : {T}) outs(%v : {V})"
FREE = "pto.tfree(%pipe : !pto.pipe) {split = 0}"


def flag(ends: str) -> str:
    return f"pto.set_flag[{ENDS[ends]}]\n      pto.wait_flag[{ENDS[ends]}]"


def consumer(*lines: str, iterations: int = 5, slots: int = 2) -> str:
    """The cube pushes entries through two slots; the vector core pops each and does this."""
    body = "\n      ".join(lines)
    return f"""\
func.func @consumer(%y: !pto.ptr<f32>) {{
  %n = arith.constant {iterations} : index
  %v = pto.make_tensor_view %y, shape = [16, 16], strides = [16, 1] : {V}
  %b = pto.reserve_buffer {{name = "entries", size = {1024 * slots}, \
location = #pto.address_space<vec>, auto = true}} -> i32
  %pipe = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = {slots}}} \
(%b : i32) -> !pto.pipe
  pto.section.cube {{
    %acc = pto.alloc_tile : {A}
    scf.for %i = 0 to %n step 1 {{
      pto.tpush(%acc, %pipe : {A}, !pto.pipe) {{split = 0}}
    }}
  }}
  pto.section.vector {{
    %t = pto.declare_tile -> {T}
    %u = pto.alloc_tile : {T}
    scf.for %i = 0 to %n step 1 {{
      pto.tpop(%t, %pipe : {T}, !pto.pipe) {{split = 0}}
      {body}
    }}
    pto.barrier <PIPE_ALL>
  }}
  return
}}"""


def hazards(text: str) -> list[str]:
    found = [d for d in pto.loads(text).races("a5") if d.slug == "hazard"]
    return [f"{d.message.split(':')[0]}: {(d.rule or '').split(':')[0]}" for d in found]


def test_the_pipe_that_pops_needs_no_flag() -> None:
    """Whether it is V or MTE1: what follows in its queue starts when the entry is there."""
    assert hazards(consumer(ADD, FREE)) == []


def test_another_pipe_waits_for_the_pop() -> None:
    assert hazards(consumer(STORE, flag("3v"), FREE, iterations=1)) == [
        "pto.tstore: read after write, V -> MTE3"
    ]
    assert hazards(consumer(flag("v3"), STORE, flag("3v"), FREE)) == []


def test_a_slot_is_given_back_when_its_last_use_is_complete() -> None:
    """The pipe that popped gives it back: others are waited for before. Else it is filled anew."""
    early = consumer(flag("v3"), STORE, FREE)
    assert hazards(early) == ["pto.tpush: write after read, MTE3 -> FIX"]
    found, *_ = pto.loads(early).races("a5")
    assert found.help == "a flag MTE3 -> V: set after line 20, waited for before the slot is freed"
    assert hazards(consumer(flag("v3"), STORE, FREE, iterations=2)) == []  # it is not filled anew


def test_a_use_after_the_slot_is_given_back_is_found() -> None:
    late = consumer(FREE, ADD)
    assert hazards(late) == ["pto.tadd: read after write, FIX -> V"], "the cube was faster"
    assert pto.loads(late).races("a5")[0].help == "free the slot after line 18"


@pytest.mark.parametrize("name", ["both_kinds", "pipes_by_function"])
def test_synchronise_puts_no_barrier_between_a_pop_and_its_use(name: str) -> None:
    from account.files import ROOT
    from passes.stripped import synchronised

    program = synchronised(ROOT / "tests" / "pto" / f"{name}.pto", "a5")
    assert not isinstance(program, str)
    assert "pto.barrier" not in program.text()


OPEN = T.replace(">", ", valid=?x?>")
POPPED = {"tpop": "both_kinds", "tpop_from_aic": "pipes_by_function"}


@pytest.mark.parametrize("name", POPPED.values(), ids=POPPED)
def test_an_entry_whose_type_leaves_its_valid_region_open_is_whole(name: str, engine: str) -> None:
    """Front ends write `?` for every tile, and a pop's numbers only where they are smaller."""
    text = (ROOT / "tests" / "pto" / f"{name}.pto").read_text()
    for old, new in (
        ("declare_tile -> !T", f"declare_tile -> {OPEN}"),
        ("(%t, %pipe : !T", f"(%t, %pipe : {OPEN}"),
        ("ins(%t : !T) outs(%yv", f"ins(%t : {OPEN}) outs(%yv"),
        ("tpop_from_aic(%c8, %c16)", "tpop_from_aic"),
        ("outs(%upper : !P)", "outs(%yv : !V)"),
    ):
        text = text.replace(old, new)
    program = pto.loads(text)
    first, last = ("a" if name == "both_kinds" else "x"), "y"
    one = np.eye(16, dtype=np.float16 if first == "a" else np.float32)
    arrays = {first: one, last: np.zeros((16, 16), np.float32)}
    done = program.execute(arrays, target="a5", engine=engine)
    np.testing.assert_array_equal(done.outputs[last], one.astype(np.float32))


def test_each_vector_core_has_slots_of_its_own() -> None:
    """Each pops a half: what one of them writes into its tile is not what the other reads."""
    text = consumer(f"pto.tadd ins(%t, %t : {T}, {T}) outs(%t : {T})", FREE)
    halves = text.replace(T, T.replace("16x16", "8x16")).replace("split = 0", "split = 1")
    assert hazards(halves) == []


def test_a_profile_sizes_arrays_though_a_part_of_a_popped_tile_is_used(tmp_path: Path) -> None:
    """What an array needs is told by the views; the tile that is popped does not exist then."""
    text = (ROOT / "tests" / "pto" / "pipes_by_function.pto").read_text()
    rows = "!pto.tile_buf<vec, 8x16xf32>"
    part = f"%part = pto.subview %u[0, 0] sizes [8, 16] : !open -> {rows}"
    popped = "%u = pto.tpop_from_aic(%c8, %c16) {split = 0} -> !open\n"
    assert popped in text
    kernel = tmp_path / "part.pto"
    kernel.write_text(text.replace(popped, f"{popped}    {part}\n"))
    done = CliRunner().invoke(main, ["profile", str(kernel), "--target", "a5"])
    assert done.exit_code == 0, done.output


SIDE = 128  # of square tiles of f32: a quarter of UB
VIEW = "!pto.tensor_view<16x16xf32>"
PUSH = "    pto.tpush(%acc, %pipe : !A, !pto.pipe) {split = 0}\n"
START = "    %u = pto.alloc_tile : !T\n    %w = pto.alloc_tile : !T\n"
ENTRY = f"""    pto.tpop(%t, %pipe : !T, !pto.pipe) {{split = 0}}
    pto.tadd ins(%t, %t : !T, !T) outs(%u : !T)
    pto.tadd ins(%u, %t : !T, !T) outs(%w : !T)
    pto.tadd ins(%u, %w : !T, !T) outs(%u : !T)
    pto.tstore ins(%u : !T) outs(%yv : {VIEW})
    pto.tfree(%pipe : !pto.pipe) {{split = 0}}
"""


def kernel(entries: int, slots: int) -> pto.Program:
    """The vector core pops into tiles that are all declared first, beside two of its own."""
    text = (ROOT / "tests" / "pto" / "both_kinds.pto").read_text()
    head, _ = text.replace(PUSH, PUSH * entries).split("    %t = pto.declare_tile")
    declared = "".join(f"    %t{n} = pto.declare_tile -> !T\n" for n in range(entries))
    popped = "".join(re.sub(r"%t\b", f"%t{n}", ENTRY) for n in range(entries))
    text = f"{head}{declared}{START}{popped}  }}\n  return\n}}\n"
    text = text.replace("16x16", f"{SIDE}x{SIDE}").replace("constant 16", f"constant {SIDE}")
    text = text.replace("slot_size = 1024", f"slot_size = {4 * SIDE * SIDE}")
    text = re.sub(r"size = \d+, loc", f"size = {4 * SIDE * SIDE * slots}, loc", text)
    return pto.loads(re.sub(r"slot_num = \d+", f"slot_num = {slots}", text))


@pytest.mark.parametrize(("entries", "slots"), [(3, 1), (2, 2), (4, 1)])
def test_entries_lie_in_slots(entries: int, slots: int, engine: str) -> None:
    program = kernel(entries, slots)
    a, y = np.eye(SIDE, dtype=np.float16), np.zeros((SIDE, SIDE), np.float32)
    assert not program.check("a5")
    np.testing.assert_array_equal(program.run(target="a5", engine=engine, a=a, y=y)["y"], 5 * a)
    placed = Program(run_passes(program.module, ("place",), TARGETS["a5"]))
    np.testing.assert_array_equal(placed.run(target="a5", engine=engine, a=a, y=y)["y"], 5 * a)


def test_slots_that_do_not_fit_beside_tiles_are_an_error() -> None:
    (found,) = kernel(2, 3).check("a5")
    assert (found.slug, found.span is not None) == ("out-of-memory", True)
    assert str(found.seen) == "tiles leave no 196608 contiguous bytes of UB"
