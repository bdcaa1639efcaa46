"""Aliases and liveness on small programs: what text order alone does not tell."""

from __future__ import annotations

import numpy as np

from ptokit.analysis.facts import facts_of
from ptokit.api.kernel.loading import loads
from ptokit.ir.module import Func, Value
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.text.read.reader import read

HEAD = "!t = !pto.tile_buf<vec, 16x32xf32>\nfunc.func @f(%a: !t, %b: !t, %n: index, %if: i1) {\n"
COUNTS = """
"""
LATE = """
  %v = pto.alloc_tile : !t
  scf.for %i = 0 to 2 step 1 {
    pto.tadd ins(%b, %b : !t, !t) outs(%v : !t)
    pto.treshape ins(%a : !t) outs(%v : !t)
  }"""


def func(body: str) -> Func:
    (found,) = read(f"{HEAD}{COUNTS}{body}\n}}\n", "t.pto").funcs
    return found


def value(of: Func, name: str) -> Value:
    return next(v for v in of.named() if v.name == name)


def interfering(of: Func, name: str) -> set[str]:
    tiles = facts_of(of).interference.tiles(facts_of(of).on(TARGETS["cpu"]).known)
    return {v.name for v in tiles[value(of, name)].interferes}


def test_an_argument_is_written_through_a_view_of_the_iteration_before(engine: str) -> None:
    assert [v.name for v in facts_of(func(LATE)).written_args] == ["a"]
    a, b = np.zeros((16, 32), np.float32), np.ones((16, 32), np.float32)
    program = loads(f"{HEAD}{COUNTS}{LATE}\n}}\n")
    given = {"a": a, "b": b, "n": 0, "if": 0}
    done = program.execute(given, engine=engine).outputs
    assert (done["a"] == 2).all()


REBOUND = """
  %u = scf.for %i = 0 to 3 step 1 iter_args(%x = %a) -> (!t) {
    pto.tadd ins(%x, %b : !t, !t) outs(%x : !t)
    pto.treshape ins(%b : !t) outs(%x : !t)
    scf.yield %a : !t
  }"""


def test_an_argument_of_a_loop_may_become_a_handle_on_another_tile(engine: str) -> None:
    """Each iteration begins with the tile that the one before yields."""
    assert [v.name for v in facts_of(func(REBOUND)).written_args] == ["a"]
    a, b = np.zeros((16, 32), np.float32), np.ones((16, 32), np.float32)
    given = {"a": a, "b": b, "n": 0, "if": 0}
    done = loads(f"{HEAD}{COUNTS}{REBOUND}\n}}\n").execute(given, engine=engine).outputs
    assert (done["a"] == 3).all()


def test_a_choice_of_two_views_does_not_make_them_one() -> None:
    """Only what is written is an output: a handle that may name either says so of both."""
    choice = """
      %c = scf.if %if -> (!t) {
        scf.yield %a : !t
      } else {
        scf.yield %b : !t
      }
      %d = pto.alloc_tile : !t
      pto.tmov ins(%c : !t) outs(%d : !t)
      pto.tmov ins(%d : !t) outs(%WRITTEN : !t)"""
    assert [v.name for v in facts_of(func(choice.replace("WRITTEN", "a"))).written_args] == ["a"]
    assert [v.name for v in facts_of(func(choice.replace("WRITTEN", "c"))).written_args] == [
        "a",
        "b",
    ]
    found = func(choice.replace("WRITTEN", "d"))
    classes = facts_of(found).classes
    assert classes.of(value(found, "a")) is classes.of(value(found, "b"))
    assert classes.of(value(found, "d")) is not classes.of(value(found, "c"))


def test_tiles_of_two_branches_share_bytes() -> None:
    """What one branch needs is not live in the other."""
    found = func("""
      %x = pto.alloc_tile : !t
      pto.tmov ins(%b : !t) outs(%x : !t)
      scf.if %if {
        %y = pto.alloc_tile : !t
        pto.tmov ins(%b : !t) outs(%y : !t)
        pto.tmov ins(%y : !t) outs(%a : !t)
      } else {
        pto.tmov ins(%x : !t) outs(%a : !t)
      }""")
    assert interfering(found, "y") == {"a", "b"}
    small = Target("small", "", like=TARGETS["cpu"], capacity={"UB": 3 * 2048})
    addresses = facts_of(found).on(small).placement.planned.addresses
    assert addresses[value(found, "x")] == addresses[value(found, "y")]


def test_a_tile_needed_in_the_next_iteration_interferes_with_those_of_this_one() -> None:
    found = func("""
      %x = pto.alloc_tile : !t
      pto.tmov ins(%b : !t) outs(%x : !t)
      scf.for %i = 0 to 2 step 1 {
        pto.tmov ins(%x : !t) outs(%a : !t)
        %y = pto.alloc_tile : !t
        pto.tmov ins(%a : !t) outs(%y : !t)
        pto.tmov ins(%y : !t) outs(%a : !t)
      }""")
    assert "x" in interfering(found, "y")
