"""Hints: flags and barriers without which nothing changes, in loops and branches as anywhere."""

from __future__ import annotations

from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, stream

import pytest

import ptokit as pto

BODY = [*LOAD, *ADD, *STORE]
ALL = "pto.barrier <PIPE_ALL>"
CHIPS = ["a2a3", "a5"]


def hints(text: str, chip: str) -> list[str]:
    """The lines without which nothing changes; there is no other finding."""
    lines, found = text.splitlines(), pto.loads(text).races(chip)
    assert {d.slug for d in found} <= {"redundant-synchronisation"}
    places = [span.line for d in found for span in (d.span, *(n.span for n in d.notes)) if span]
    return sorted(lines[place - 1].strip() for place in places)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("iterations", ["%c4", "%n"])
def test_a_barrier_too_many_is_a_hint_however_often_its_loop_iterates(
    iterations: str, chip: str
) -> None:
    assert hints(stream(*RIGHT, iterations), chip) == []
    body = [*BODY[:3], ALL, *BODY[3:]]
    assert hints(stream(PRIME, body, DRAIN, iterations), chip).count(ALL) == 1


@pytest.mark.parametrize("chip", CHIPS)
def test_flags_of_both_ways_of_a_branch_belong_together(chip: str) -> None:
    """A pair that nothing needs: set before the loop, waited for in both ways after it."""
    ends = "_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID7>]"
    put, take = f"pto.set{ends}", f"pto.wait{ends}"
    decided = "%few = arith.cmpi slt, %n, %c4 : index"
    branch = [decided, "scf.if %few {", take, "} else {", take, "}"]
    text = stream([*PRIME, put], BODY, [*branch, *DRAIN], "%c4")
    assert hints(text, chip) == sorted([put, take, take])


def test_a_barrier_that_a_target_does_without_is_no_hint_there() -> None:
    barrier, twice = "pto.barrier_sync[<TVEC>]", ADD[2].replace("%in, %in", "%out, %out")
    body = [*LOAD, *ADD[:3], barrier, twice, *ADD[3:], *STORE]
    for chip in CHIPS:
        assert hints(stream(PRIME, body, DRAIN, "%c4"), chip) == []
    again = [*LOAD, *ADD[:3], barrier, barrier, twice, *ADD[3:], *STORE]
    assert hints(stream(PRIME, again, DRAIN, "%c4"), "a2a3") == [barrier, barrier]
    assert hints(stream(PRIME, again, DRAIN, "%c4"), "a5") == []
