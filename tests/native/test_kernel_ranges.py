"""Blocks of several cores that run apart: what ranges of them wrote, put together, is the whole."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from native.test_kernels_again import LEFT_OVER
from ptokit.engines.native.blockrange import divided
from ptokit.engines.native.compiledkernel import CompiledKernel
from ptokit.machine.launchoptions import RunLimits
from ptokit.order.executed import blocks_meet, shared_bytes

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
        "  %pipe = ",
        f"  %other = pto.partition_view %{to}, sizes = [16, 16] : !V -> !P\n  %pipe = ",
    )


OFFSETS = "offsets = [{}, 0]"
APART = {  # kernels on %x and %y, 64x16
    "they share nothing": LEFT_OVER,
    "they meet in part": stored("ys, " + OFFSETS.format("%block")),
    "the cores of each signal one another": beginning(*TOLD),
    "some fail": beginning(f"{THIRD}    scf.if %third {{ pto.trap }}", ""),
    "some wait for ever": beginning("", f"{THIRD}    scf.if %third {{ {TOLD[1]} }}"),
}
AGAIN = "pto.tload ins(%b : !P) outs(%t : !T)\n    pto.tstore ins(%t : !T) outs(%a : !P)\n"
SHARING = {  # blocks read and write an array
    "what the cube read is written": stored("xs, " + OFFSETS.format("%row")),
    "what the vector core wrote is read": LEFT_OVER.replace("  pto.tfree", AGAIN + "    pto.tfree"),
}
MEETING = {
    "what later blocks read is written": stored("xs, " + OFFSETS.format("%block")),
    "what earlier blocks wrote is read": LEFT_OVER.replace(
        "  pto.tfree", AGAIN.replace("%b", "%top") + "    pto.tfree"
    ).replace(
        "  %pipe = ",
        "  %top = pto.partition_view %ys, offsets = [0, 0], sizes = [16, 16] : !V -> !P\n"
        "  %pipe = ",
    ),
}
TOGETHER = {
    "blocks meet": beginning(*ALL),
    "the last one stays": stored("ys, " + OFFSETS.format("0")),
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


def parts_of(text: str, edges: list[int]) -> tuple[Any, list[Any], frozenset[str]]:
    """What ranges of blocks do, and the arrays that they read and write. Any: what was bound."""
    made = pto.loads(text, "k.pto").compile(blocks=BLOCKS, target="a5")
    bound, function = made.prepared(given())
    assert isinstance(function, CompiledKernel)
    shared = divided(function, bound, RunLimits())
    assert shared is not None
    spans = [range(*edge) for edge in pairwise(edges)]
    done = [function.run_range(bound, RunLimits(), span, None, shared) for span in spans]
    return bound, [(one, shared_bytes(one.logs, one.kept)) for one in done], shared


def by_ranges(text: str, edges: list[int]) -> object:
    """`outcome` of ranges of blocks, one after the other."""
    try:
        bound, parts, shared = parts_of(text, edges)
    except pto.PtoError as problem:
        return str(problem)
    memories: dict[str, Any] = bound.targets(bound.inputs)  # Any: memories
    assert not blocks_meet([p for _, p in parts], {n: memories[n].size for n in shared})
    count = Counter[str]()
    for done, others in parts:
        count += done.count
        patches = {**done.written, **{name: one.writes for name, one in others.items()}}
        for name, patch in patches.items():
            patch.onto(memories[name].data)
            assert patch.nbytes < memories[name].size or len(parts) == 1
    return {name: memory.data.tobytes() for name, memory in memories.items()}, count


@pytest.mark.parametrize("edges", [[0, 4], [0, 1, 2, 4], [0, 3, 4]])
@pytest.mark.parametrize("name", APART)
def test_ranges_make_the_whole(name: str, edges: list[int]) -> None:
    expected = outcome(APART[name], engine="reference", blocks=BLOCKS)
    assert isinstance(expected, str) == name.startswith("some"), expected
    assert by_ranges(APART[name], edges) == expected


@pytest.mark.parametrize("edges", [[0, 4], [0, 1, 2, 4]])
@pytest.mark.parametrize("name", SHARING)
def test_ranges_that_share_arrays_make_the_whole(name: str, edges: list[int]) -> None:
    """What only the cores of a block share."""
    assert by_ranges(SHARING[name], edges) == outcome(
        SHARING[name], engine="reference", blocks=BLOCKS
    )


@pytest.mark.parametrize("name", MEETING)
def test_ranges_that_meet_are_noticed(name: str) -> None:
    bound, parts, shared = parts_of(MEETING[name], [0, 1, 4])
    sizes = {n: memory.size for n, memory in bound.targets(bound.inputs).items() if n in shared}
    assert blocks_meet([part for _, part in parts], sizes)


@every("name", TOGETHER)
def test_blocks_that_stay_together(name: str) -> None:
    made = pto.loads(TOGETHER[name]).compile(blocks=BLOCKS, target="a5")
    bound, function = made.prepared(given())
    assert divided(function, bound, RunLimits()) is None


def test_nothing_is_dealt_out_that_is_counted_or_one() -> None:
    for blocks, limits in ((BLOCKS, RunLimits(99)), (1, RunLimits())):
        made = pto.loads(LEFT_OVER).compile(blocks=blocks, target="a5")
        bound, function = made.prepared(given())
        assert divided(function, bound, limits) is None
