"""Collectives of ranks whose view has no room for all parts: nothing behind it is touched."""

from __future__ import annotations

import pytest

import ptokit as pto
from oracles.ranks import ALL, MINE, ONE, THEIRS, among, job

SUM = "reduceOp = #pto<reduce_op sum>, "
SMALL = {  # what has no room, which member's part does not fit, where that part would end
    "gather": (among("tgather", "mine", ""), "%mine", 1, "4x8"),
    "scatter": (among("tscatter", "mine", ""), "%mine", 1, "4x8"),
    "gather into a row": (among("tgather", "row", "", kind=ONE), "%row", 0, "2x8"),
    "reduce": (among("treduce", "row", SUM, "%acc, ", kind=ONE), "%row", 0, "2x8"),
}


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("name", SMALL)
def test_no_room(name: str, engine: str) -> None:
    """It wrote, or read, the rows behind the view, which belong to others."""
    statements, view, member, end = SMALL[name]
    made = job(statements, x=MINE, y=THEIRS)
    with pytest.raises(pto.PtoError) as caught:
        pto.loads(made.text).compile(target="a5", engine=engine, ranks=2).execute(made.arguments)
    (problem,) = caught.value.diagnostics
    assert problem.slug == "shape"
    assert f"{view} has no room for the part of member {member}" in problem.message
    assert str(problem.seen).endswith(f"the part ends at {end}")


def test_a_broadcast_is_refused_before_it_runs() -> None:
    made = job(among("tbroadcast", "all", "", kind=ALL), x=MINE, y=THEIRS)
    assert "every member gets all of it" in str(pto.loads(made.text).check("a5"))
