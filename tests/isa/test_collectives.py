"""Collectives of ranks whose view has no room for all parts: nothing behind it is touched."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every
from oracles.ranks import ALL, MINE, ONE, THEIRS, among, job

SUM = "reduceOp = #pto<reduce_op sum>, "
SMALL = {  # what has no room, its rows, and how many it needs
    "gather": (among("tgather", "mine", ""), "dst", 2, 4),
    "scatter": (among("tscatter", "mine", ""), "src", 2, 4),
    "gather into a row": (among("tgather", "row", "", kind=ONE), "dst", 1, 4),
    "reduce": (among("treduce", "row", SUM, "%acc, ", kind=ONE), "dst", 1, 2),
}


@every("name", SMALL)
def test_no_room(name: str) -> None:
    """It would write, or read, the rows behind the view: assemblers take it, no run does."""
    statements, view, rows, needed = SMALL[name]
    made = job(statements, x=MINE, y=THEIRS)
    program = pto.loads(made.text)
    (problem,) = program.check("a5")
    assert (problem.slug, problem.is_error) == ("shape", True)
    assert not any(d.is_error for d in program.check("a5", judge="assembler"))
    assert f"{view}.along is {rows}" in str(problem.seen)
    assert f" is {needed}" in str(problem.seen)
    with pytest.raises(pto.PtoError, match=r"\[shape\]"):
        program.compile(target="a5", ranks=2).execute(made.arguments)


def test_members_of_one_dimension_lie_along_the_elements() -> None:
    kind = "!pto.partition_tensor_view<16xf32>"
    text = among("tgather", "line", "", kind=kind).replace("%mine, %theirs", "%line, %their")
    text = text.replace("!pto.partition_tensor_view<2x8xf32>", kind)
    (problem,) = pto.loads(job(text, x=MINE, y=THEIRS).text).check("a5")
    assert "dst.along is 16" in str(problem.seen)


def test_a_broadcast_is_refused_before_it_runs() -> None:
    made = job(among("tbroadcast", "all", "", kind=ALL), x=MINE, y=THEIRS)
    assert "use the same extents for every member" in str(pto.loads(made.text).check("a5"))
