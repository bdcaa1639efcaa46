"""Timelines: those of the stream kernel that were computed by hand, and laws of all others."""

from __future__ import annotations

from pipes.stream import ADD, DRAIN, LOAD, PRIME, RIGHT, STORE, flag, stream

import pytest

import ptokit as pto
from ptokit.api.issued import issued
from ptokit.isa.model.targets import A2A3_TARGET
from ptokit.isa.model.words import MTE2, MTE3, Pipe, V
from ptokit.sim.costs.cost import Cost, Origin
from ptokit.sim.pipes.entries import PipeQueue, PipeWork
from ptokit.sim.pipes.scheduling import predicted
from ptokit.sim.pipes.timeline import Bar, Timeline

BODY = [*LOAD, *ADD, *STORE]
CYCLES = {MTE2: 100, V: 60, MTE3: 90}
BARRIER = "pto.barrier <PIPE_ALL>"
STAGES = [line for line in BODY if "flag" not in line]


def by_hand(work: PipeWork) -> Cost:
    """The durations of the manual: a load 100 cycles, an addition 60, a store 90."""
    return Cost(CYCLES[work.queue.pipe], Origin.ESTIMATED)


def timeline(text: str) -> Timeline:
    (issue,) = issued(pto.loads(text), A2A3_TARGET)
    found, stuck = predicted(issue.cores, A2A3_TARGET, issue.footprints.regions, by_hand)
    assert not stuck
    return found


def without(*lines: str) -> list[str]:
    return [line for line in BODY if line not in lines]


NO_RELEASE = without(flag("wait", "v2", "b"), flag("set", "v2", "b"))
STALE = without(flag("wait", "2v", "b"), flag("set", "2v", "b"))
SERIAL = [line for stage in STAGES for line in (stage, BARRIER)]


@pytest.mark.parametrize(
    ("prime", "body", "drain", "turns", "cycles"),
    [
        (*RIGHT, "%c0", 0),
        (*RIGHT, "%c1", 250),
        (*RIGHT, "%c4", 550),
        (PRIME, NO_RELEASE, [], "%c4", 550),
        (PRIME, STALE, DRAIN, "%c4", 420),
        (PRIME, BODY, [], "%c4", 550),
        ([], SERIAL, [], "%c4", 1000),
    ],
    ids=["no tile", "one", "four", "no release", "stale data", "no drain", "barriers"],
)
def test_the_cycles_of_the_manual(
    prime: list[str], body: list[str], drain: list[str], turns: str, cycles: int
) -> None:
    assert timeline(stream(prime, body, drain, turns)).cycles == cycles


def times(found: Timeline, pipe: Pipe) -> list[tuple[int, int]]:
    return [(e.ready, e.end) for e in found.queues[PipeQueue(0, pipe)] if isinstance(e, Bar)]


def test_the_bars_of_two_buffers() -> None:
    found = timeline(stream(*RIGHT, "%c4"))
    assert times(found, MTE2) == [(0, 100), (100, 200), (200, 300), (300, 400)]
    assert times(found, V) == [(100, 160), (200, 260), (300, 360), (400, 460)]
    assert times(found, MTE3) == [(160, 250), (260, 350), (360, 450), (460, 550)]


def test_one_buffer_lets_a_load_wait_for_the_addition() -> None:
    """Load, add, load, add ..., each store beside the load after: 4 * 160 + 90."""
    one = [line.replace("%b]", "%c0]") for line in BODY]
    text = stream(PRIME, one, DRAIN, "%c4").replace("remui %i, %c2", "muli %i, %c0")
    found = timeline(text)
    assert times(found, MTE2) == [(0, 100), (160, 260), (320, 420), (480, 580)]
    assert times(found, MTE3) == [(160, 250), (320, 410), (480, 570), (640, 730)]
    assert found.cycles == 730


def test_no_flags_at_all_means_the_order_of_the_data() -> None:
    found = timeline(stream([], STAGES, [], "%c4"))
    assert found.by_data
    assert found.cycles == 550
    assert times(found, MTE2) == times(timeline(stream(*RIGHT, "%c4")), MTE2)
