"""Blocks of several cores that run apart: what ranges of them wrote, put together, is the whole."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from native.test_kernels_again import LEFT_OVER
from ptokit.sim.limits import RunLimits
from ptokit.sim.native.blockrange import divisible, run_range

BLOCKS = 4
TOLD = "pto.sync.set <PIPE_FIX>, 3 {ffts_mode = 2}", "pto.sync.wait <PIPE_MTE2>, 3"
ALL = ("pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>",) * 2
THIRD = """%c2 = arith.constant 2 : index
    %third = arith.cmpi eq, %block, %c2 : index
"""


def beginning(cube: str, vector: str) -> str:
    """The kernel, with something more at the start of what its cores do."""
    text = LEFT_OVER.replace("section.cube {", f"section.cube {{\n    {cube}")
    return text.replace("section.vector {", f"section.vector {{\n    {vector}")


def stored(to: str) -> str:
    """The kernel, whose blocks store somewhere else."""
    return LEFT_OVER.replace("outs(%b : !P)", "outs(%other : !P)").replace(
        "  %address",
        f"  %other = pto.partition_view %{to}, {'sizes = [%c16, %c16]'} : !V -> !P\n  %address",
    )


OFFSETS = "offsets = [%{}, %c0]"
APART = {  # kernels on %x and %y, 64x16
    "they share nothing": LEFT_OVER,
    "they meet in part": stored("ys, " + OFFSETS.format("block")),
    "the cores of each signal one another": beginning(*TOLD),
    "some fail": beginning(f"{THIRD}    scf.if %third {{ pto.trap }}", ""),
    "some wait for ever": beginning("", f"{THIRD}    scf.if %third {{ {TOLD[1]} }}"),
}
TOGETHER = {
    "blocks meet": beginning(*ALL),
    "each reads what another writes": stored("xs, " + OFFSETS.format("row")),
    "the last one stays": stored("ys, " + OFFSETS.format("c0")),
    "one prints": LEFT_OVER.replace("pto.tfree", "pto.tprint ins(%t : !T)\n    pto.tfree"),
}


def given() -> dict[str, Any]:  # Any: arrays
    x = np.random.default_rng(1).integers(-9, 9, (64, 16)).astype(np.float32)
    return {"x": x, "y": np.ones_like(x)}


def outcome(text: str, **how: Any) -> object:  # Any: options
    """Bytes and counts, or what is wrong."""
    try:
        done = pto.loads(text, "k.pto").execute(given(), target="a5", **how)
    except pto.PtoError as problem:
        return str(problem)
    return {name: array.tobytes() for name, array in done.outputs.items()}, done.instructions


def by_ranges(text: str, edges: list[int]) -> object:
    """`outcome` of ranges of blocks, one after the other."""
    made = pto.loads(text, "k.pto").compile(blocks=BLOCKS, target="a5")
    bound, function = made.prepared(given())
    assert divisible(function, bound, RunLimits())
    memories: dict[str, Any] = bound.targets(bound.inputs)  # Any: memories
    count = Counter[str]()
    try:
        for edge in pairwise(edges):
            done = run_range(function, bound, RunLimits(), range(*edge), None)
            count += done.count
            for name, patch in done.written.items():
                patch.onto(memories[name].data)
                assert patch.nbytes < memories[name].size or edge == (0, BLOCKS)
    except pto.PtoError as problem:
        return str(problem)
    return {name: memory.data.tobytes() for name, memory in memories.items()}, count


@pytest.mark.parametrize("edges", [[0, 4], [0, 1, 2, 4], [0, 3, 4]])
@pytest.mark.parametrize("name", APART)
def test_ranges_make_the_whole(name: str, edges: list[int]) -> None:
    expected = outcome(APART[name], engine="reference", blocks=BLOCKS)
    assert isinstance(expected, str) == name.startswith("some"), expected
    assert by_ranges(APART[name], edges) == expected


@pytest.mark.parametrize("name", TOGETHER)
def test_blocks_that_stay_together(name: str) -> None:
    made = pto.loads(TOGETHER[name]).compile(blocks=BLOCKS, target="a5")
    bound, function = made.prepared(given())
    assert not divisible(function, bound, RunLimits())


def test_nothing_is_dealt_out_that_is_counted_or_one() -> None:
    for blocks, limits in ((BLOCKS, RunLimits(99)), (1, RunLimits())):
        made = pto.loads(LEFT_OVER).compile(blocks=blocks, target="a5")
        bound, function = made.prepared(given())
        assert not divisible(function, bound, limits)
