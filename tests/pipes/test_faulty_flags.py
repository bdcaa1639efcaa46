"""Mutants of right synchronisations: each that has a race is found, none that has not is reported.

Of every program of the tree: with the flags of its own, or those that `synchronise` finds. The
oracles are random legal executions, bytes compared, and the order that follows from the queues,
both computed here (`schedules`) from what the cores issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pipes.schedules import Launch, at_random, conflicts, in_order
from pipes.stream import RIGHT, stream
from random import Random
from zlib import crc32

import pytest

import ptokit as pto
from fuzz.scale import sampled, scaled
from passes.stripped import CHIPS, PATHS, orders, synchronised
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.exploration import kernels, launch_issues
from ptokit.isa.model.targets import TARGETS
from ptokit.order.hazards import find
from ptokit.order.issue import Issue
from ptokit.order.races import adds

SYNCHRONISES = re.compile(r"pto\.((set|wait)_flag|(record|wait)_event|barrier|(get|rls)_buf)\w*")
EVENT = re.compile(r"EVENT_ID(\d)|%(b|c0|c1)\]")
PIPE = re.compile(r"PIPE_(V|MTE2|MTE3|MTE1|M|FIX)\b")
OTHER = {"V": "MTE3", "MTE2": "V", "MTE3": "MTE2", "MTE1": "M", "M": "MTE1", "FIX": "M"}
RACING = {"race", "ranks"}  # as they are: a mistake, and transfers that a pipe may overlap
MOST = min(800, scaled(120))  # entries of a launch: the order that follows is worked out for all
EVERY = [("stream", chip) for chip in CHIPS] + [(str(p), c) for p in PATHS for c in CHIPS]


@cache
def synchronised_text(name: str, chip: str) -> str | None:
    """The program with flags; None: the chip does not take it, or nobody knows what it issues."""
    if name == "stream":
        return stream(*RIGHT, iterations="%c4")
    program = pto.load(name)
    if not any(orders(op) for func in program.module.funcs for op in func.walk()):
        made = synchronised(Path(name), chip)
        return None if isinstance(made, str) else made.text()
    legal = not any(d.is_error for d in program.check(chip))
    return Path(name).read_text(encoding="utf-8") if legal else None


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Each line that synchronises removed, alone and with those of the same words, moved by one,
    with another id, and of other pipes."""
    lines = text.splitlines()
    for n, line in enumerate(lines):
        code = line.split("//")[0]
        if not SYNCHRONISES.search(code):
            continue
        yield f"{n + 1} removed", _joined(lines[:n], lines[n + 1 :])
        words = code.partition("[")[2] or line
        yield f"{n + 1} and its like", "\n".join(one for one in lines if words not in one)
        yield f"{n + 1} later", _joined(lines[:n], lines[n + 1 : n + 2], [line], lines[n + 2 :])
        yield f"{n + 1} earlier", _joined(lines[: n - 1], [line], lines[n - 1 : n], lines[n + 1 :])
        other = PIPE.sub(lambda m: f"PIPE_{OTHER[m[1]]}", code)
        yield f"{n + 1} of other pipes", _joined(lines[:n], [other], lines[n + 1 :])
        other = EVENT.sub(lambda m: "EVENT_ID6" if m[1] else "%c2]", code)
        yield f"{n + 1} with another id", _joined(lines[:n], [other], lines[n + 1 :])


def _joined(*parts: list[str]) -> str:
    return "\n".join(line for part in parts for line in part)


def issues_of(text: str, chip: str) -> list[Issue]:
    """What its kernels issue; nothing of a mutant that is no program."""
    try:
        program = pto.loads(text)
        return [
            issue for f in kernels(program) for issue in launch_issues(program, TARGETS[chip], f)
        ]
    except PtoError:
        return []


def differs(launch: Launch, random: Random) -> bool:
    """Whether some legal execution reads or leaves other bytes than program order."""
    if any(adds(entry.op) for entry in launch.entries):
        return False  # to the same bytes in any order
    expected = in_order(launch)
    runs = (at_random(launch, random) for _ in range(min(200, scaled(3))))
    return any(found is not None and found != expected for found in runs)


def agree(issue: Issue, random: Random) -> bool:
    """Whether there is a race; the detector and both oracles say the same."""
    found = find(issue.cores, issue.target, issue.footprints.regions)
    launch = Launch(issue.cores, issue.target)
    stuck, open = bool(found.stuck), conflicts(launch)
    if not stuck:
        assert bool(found.hazards) == bool(open)
        assert found.hazards or not differs(launch, random)
    assert stuck == (at_random(launch, random) is None)
    return stuck or bool(open)


@pytest.mark.parametrize(("name", "chip"), sampled(EVERY, 35), ids=lambda word: Path(word).stem)
def test_every_mutant_that_races_is_found_and_no_other(name: str, chip: str) -> None:
    text, random = synchronised_text(name, chip), Random(crc32(f"{name} {chip}".encode()))
    if text is None:
        pytest.skip("the chip does not take it, or nobody knows what it issues")
    every = [*mutants(text)]
    chosen = random.sample(every, min(scaled(2), len(every)))
    for what, mutant in [("as it is", text), *chosen]:
        for issue in issues_of(mutant, chip):
            if sum(map(len, issue.cores)) <= MOST:
                races = agree(issue, random)
                assert not races or what != "as it is" or Path(name).stem in RACING, what
