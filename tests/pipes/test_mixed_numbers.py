"""Numbers decide which branches a program takes: each race that some of them show is found.

The oracle is every mixture of small numbers, each executed for itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pipes.branchyprograms import PART, READ, TILE, VIEW, BranchyProgram, OrderedProgram
from typing import Any, TypeAlias

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import scaled
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.variedruns import HeldContent, MemoisedLaunch
from ptokit.isa.model.targets import TARGETS
from ptokit.launch.bind import bind
from ptokit.machine.arguments import Launch
from ptokit.order.hazards import Findings, find
from ptokit.passes.pipeline import run_passes

Finding: TypeAlias = "tuple[str, int, int]"  # a slug and two lines
BLOCKS = 4
SLUGS = {"hazard", "flag-set-twice", "flag-left", "pipe-deadlock"}

SMALL = 5 if scaled(1) > 1 else 3  # numbers that an argument is


def shown(program: Program, chip: str, numbers: tuple[int, ...]) -> Iterator[Finding]:
    """What a run of each block on such numbers finds."""
    target, array = TARGETS[chip], np.zeros((64, 64), np.float32)
    given = {"x": array, "y": array.copy(), **dict(zip("nm", numbers, strict=True))}
    bound = bind(program.entry_named(None), given, target, {})
    issue = DryLaunch(Launch.of(bound), target, BLOCKS).issue()
    for block in range(BLOCKS):
        one = issue.alone(block)
        assert one is not None
        yield from _findings(find(one.cores, target, one.footprints.regions))


def _findings(found: Findings) -> Iterator[Finding]:
    for hazard in found.hazards:
        yield "hazard", _line(hazard.first.op), _line(hazard.second.op)
    for slug, posts in (("flag-set-twice", found.posted_twice), ("flag-left", found.left)):
        yield from ((slug, _line(post.op), 0) for post in posts)


def _line(of: Any) -> int:  # Any: an op, a note or a diagnostic
    return of.span.line


def reported(program: Program, chip: str) -> set[Finding]:
    """What is reported without arguments, of one block."""
    return {_named(found) for found in program.races(chip) if found.slug in SLUGS}


def _named(found: Diagnostic) -> Finding:
    hazard = found.slug == "hazard"
    first, second = (_line(found.notes[0]), _line(found)) if hazard else (_line(found), 0)
    return found.slug, first, second


def all_shown(program: Program, chip: str, numbers: int) -> set[Finding]:
    every = product(range(numbers), repeat=2)
    return {finding for mixed in every for finding in shown(program, chip, mixed)}


@pytest.mark.parametrize("seed", range(5, 5 + scaled(1)))
def test_what_any_mixture_of_small_numbers_shows_is_found(seed: int) -> None:
    chip = ("a2a3", "a5")[seed % 2]
    text = BranchyProgram(seed).text()
    expected = all_shown(pto.loads(text), chip, SMALL)
    assert expected - reported(pto.loads(text), chip) == set()
    read = pto.loads(BranchyProgram(seed).text(read=True))
    lines = len(READ.splitlines())
    moved = {(slug, *(line + lines if line else 0 for line in two)) for slug, *two in expected}
    assert moved - reported(read, chip) == set()


@pytest.mark.parametrize("seed", range(scaled(1)))
def test_limits_refuse_the_runs_that_exceed_them(seed: int) -> None:
    """Whether a run is too long may be known before it starts: the whole runs are the oracle."""
    program, target = pto.loads(BranchyProgram(seed + 40).text()), TARGETS["a2a3"]
    array = np.zeros((64, 64), np.float32)
    given = {"x": array, "y": array, "n": 0, "m": 0}
    launch = DryLaunch(Launch.of(bind(program.entry_named(None), given, target, {})), target)
    whole, *limited = (MemoisedLaunch.of(launch, most, ()) for most in (100_000, 1, 8, 16, 32))
    assert whole is not None
    for numbers in product((0, 1, 3, 7), repeat=2):
        some = dict(zip("nm", numbers, strict=True))
        issue = whole.issue(0, some, HeldContent(()))
        used = whole.limits.used
        for one in filter(None, limited):
            short = one.issue(0, some, HeldContent(())) is not None
            assert short == (issue is not None and used <= (one.limits.most or 0))


# of the one numbered 63 only other blocks than the first come to a loop, with some numbers
@pytest.mark.parametrize("seed", [63, *range(scaled(1) - 1)])
def test_every_way_to_order_pipes_is_followed(seed: int) -> None:
    """Flags with computed ids, events, buffers of A5, windows, tiles that take turns."""
    chip = ("a2a3", "a5")[seed % 2]
    text = OrderedProgram(seed, chip).text()
    if not any(found.is_error for found in pto.loads(text).check(chip)):
        expected = all_shown(pto.loads(text), chip, 4)
        assert expected - reported(pto.loads(text), chip) == set()


@pytest.mark.parametrize("seed", range(1, 1 + scaled(1)))
def test_whatever_numbers_decide_is_in_order(seed: int) -> None:
    """The flags and barriers of such a program dropped, and found anew."""
    chip = ("a2a3", "a5")[seed % 2]
    lines = BranchyProgram(seed + 100).text().splitlines()
    bare = "\n".join(line for line in lines if "_flag" not in line and "barrier" not in line)
    made = run_passes(pto.loads(bare).module, ["synchronise"], TARGETS[chip])
    assert all_shown(pto.loads(Program(made).text()), chip, SMALL) == set()


# the tile is stored too soon where the first number is large and the second is not
FAR = """\
func.func @far(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %m: index) {
  %v = pto.make_tensor_view %x, shape = [64, 64], strides = [64, 1] : VIEW
  %w = pto.make_tensor_view %y, shape = [64, 64], strides = [64, 1] : VIEW
  %p = pto.partition_view %v, offsets = [0, 0], sizes = [1, 64] : VIEW -> PART
  %q = pto.partition_view %w, offsets = [0, 0], sizes = [1, 64] : VIEW -> PART
  %t = pto.alloc_tile : TILE
  %some = arith.CONDITION : index
  %few = arith.cmpi ne, %m, 1 : index
  scf.if %some {
    pto.tload ins(%p : PART) outs(%t : TILE)
  }
  scf.if %few {
    pto.barrier <PIPE_ALL>
  }
  scf.if %some {
    pto.tstore ins(%t : TILE) outs(%q : PART)
  }
  return
}
"""
REACHED = [
    "cmpi sgt, %n, 100",
    "cmpi eq, %n, 100",
    "divsi %n, 3 : index\n  %some = arith.cmpi eq, %third, 100",
    "addi %n, 3 : index\n  %some = arith.cmpi eq, %third, 100",
    "remsi %n, 100 : index\n  %some = arith.cmpi eq, %third, 64",
]
NEVER = [
    "remui %n, 3 : index\n  %some = arith.cmpi sgt, %third, 3",
    "remui %n, 3 : index\n  %some = arith.cmpi slt, %third, 0",
    "remsi %n, 3 : index\n  %some = arith.cmpi sge, %third, 3",
    "andi %n, 3 : index\n  %some = arith.cmpi slt, %third, 0",
    "minsi %n, 3 : index\n  %some = arith.cmpi eq, %third, 64",
]


def far(condition: str) -> Program:
    text = FAR.replace("CONDITION", condition).replace("VIEW", VIEW).replace("PART", PART)
    chain = text.replace("%some = arith", "%third = arith", 1) if "%third" in condition else text
    return pto.loads(chain.replace("TILE", TILE))


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_numbers_that_the_text_compares_with_are_tried(chip: str) -> None:
    for condition in REACHED:
        (found,) = [d for d in far(condition).races(chip) if d.slug == "hazard"]
        assert found.is_error
    for condition in NEVER:
        assert not [d for d in far(condition).races(chip) if d.slug == "hazard"], condition


def test_a_finding_names_what_memory_holds() -> None:
    text = far("cmpi sge, %n, 64").text()
    read = text.replace("%n: index, %m: index", "%a: !pto.ptr<i32>, %b: !pto.ptr<i32>")
    read = read.replace("  %some", f"{READ}  %some", 1)
    (found,) = [d for d in pto.loads(read).races("a2a3") if d.slug == "hazard"]
    assert "1 in %b" in found.notes[-1].message


# the buffer takes turns, and the first number says which of its flags is set
TURNS = FAR.replace("  %some = arith.CONDITION : index\n", "").split("  %few")[0]


@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_flags_whose_ids_are_computed_are_told_apart(chip: str) -> None:
    text = (
        f"""{TURNS}\
  %two = arith.addi 1, 1 : index
  %id = arith.remui %n, %two : index
  %other = arith.remui %m, %two : index
  pto.tload ins(%p : PART) outs(%t : TILE)
  pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %id]
  pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %OTHER]
  pto.tstore ins(%t : TILE) outs(%q : PART)
  return
}}
""".replace("VIEW", VIEW)
        .replace("PART", PART)
        .replace("TILE", TILE)
    )
    assert not pto.loads(text.replace("OTHER", "id")).races(chip)
    slugs = {d.slug for d in pto.loads(text.replace("OTHER", "other")).races(chip)}
    assert "pipe-deadlock" in slugs
