"""Mutants of right synchronisations: each that has a race is found, none that has not is reported.

The oracles are random legal executions, bytes compared, and the order that follows from the queues,
both computed here (`schedules`) from what the cores issue.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from pipes.schedules import at_random, conflicts, in_order
from pipes.stream import RIGHT, stream
from random import Random

import pytest

import ptokit as pto
from ptokit.api.issued import issued
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.sim.pipes.entries import QueueEntry
from ptokit.sim.pipes.hazards import Findings, find

ROOT = Path(__file__).parents[2]
SYNCHRONISES = re.compile(r"(set_flag|wait_flag|record_event|wait_event|barrier)")
EVENT, PIPE = re.compile(r"EVENT_ID(\d)|%(b|c0|c1)\]"), re.compile(r"PIPE_(V|MTE2|MTE3|MTE1|M)\b")
# one barrier orders all that the flags of these do
HARMLESS = {"tails", "waits"}
FUZZ = int(os.environ.get("PTOKIT_FUZZ", "1"))
EXECUTIONS = 10 * FUZZ
OTHER = {"V": "MTE3", "MTE2": "V", "MTE3": "MTE2", "MTE1": "M", "M": "MTE1"}
PROGRAMS = {
    "stream": stream(*RIGHT, turns="%c4"),
    **{
        name: (ROOT / "tests" / "pto" / f"{name}.pto").read_text(encoding="utf-8")
        for name in ("qk", "tails", "waits")
    },
}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Each line that synchronises removed, moved by one, with another id, and other pipes."""
    lines = text.splitlines()
    for n, line in enumerate(lines):
        code = line.split("//")[0]
        if not SYNCHRONISES.search(code):
            continue
        yield f"{n + 1} removed", _joined(lines[:n], lines[n + 1 :])
        yield f"{n + 1} later", _joined(lines[:n], lines[n + 1 : n + 2], [line], lines[n + 2 :])
        yield f"{n + 1} earlier", _joined(lines[: n - 1], [line], lines[n - 1 : n], lines[n + 1 :])
        other = PIPE.sub(lambda m: f"PIPE_{OTHER[m[1]]}", code)
        yield f"{n + 1} of other pipes", _joined(lines[:n], [other], lines[n + 1 :])
        other = EVENT.sub(lambda m: "EVENT_ID6" if m[1] else "%c2]", code)
        yield f"{n + 1} with another id", _joined(lines[:n], [other], lines[n + 1 :])


def _joined(*parts: list[str]) -> str:
    return "\n".join(line for part in parts for line in part)


def issues_of(text: str, target: Target) -> Iterator[tuple[list[QueueEntry], Findings]]:
    for issue in issued(pto.loads(text), target):
        entries = list(issue.cores[0])
        yield entries, find(issue.cores, target, issue.footprints.regions)


def differs(entries: list[QueueEntry], target: Target, random: Random) -> bool:
    """Whether some legal execution reads or leaves other bytes than program order."""
    expected = in_order(entries)
    runs = (at_random(entries, target, random) for _ in range(EXECUTIONS))
    return any(found is not None and found != expected for found in runs)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_every_mutant_that_races_is_found_and_no_other(name: str, target: str) -> None:
    machine, random = TARGETS[target], Random(7)
    every = [("as it is", PROGRAMS[name]), *mutants(PROGRAMS[name])]
    chosen = every if FUZZ > 1 else every[:1] + random.sample(every, min(10, len(every)))
    races = 0
    for what, text in chosen:
        try:
            issues = [*issues_of(text, machine)]
        except PtoError:
            continue  # a mutant that is no program
        for entries, found in issues:
            open = conflicts(entries, machine)
            stuck = bool(found.stuck)
            if not stuck:
                assert bool(found.hazards) == bool(open), (name, what)
                assert found.hazards or not differs(entries, machine, random), (name, what)
            assert stuck == (at_random(entries, machine, random) is None), (name, what)
            if what == "as it is":
                assert not found, name
            races += bool(open)
    assert races or name in HARMLESS
