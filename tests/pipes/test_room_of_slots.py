"""Tiles that lie in slots (A5) need no room of their own; the slots do, beside other tiles."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from ptokit.api.program import Program
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.pipeline import run_passes

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
