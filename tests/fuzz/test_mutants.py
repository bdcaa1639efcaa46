"""Mutants of programs in processes of their own, with little memory: success or a PtoError, soon.

A failing mutant is printed with its seed;
`PYTHONPATH=src:tests/fuzz:tests/laws python tests/fuzz/mutants.py check SEED 1` tries it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from mutants import LARGEST, SLOWEST, mutant
from scale import scaled

from forking import python

HERE = Path(__file__).parent
SAMPLES = {"check": scaled(5), "run": scaled(2)}


def tried(group: str, first: int, count: int) -> subprocess.CompletedProcess[str]:
    """The seeds from `first` on, tried by a process."""
    return subprocess.run(
        [*python(), str(HERE / "mutants.py"), group, str(first), str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120 + SLOWEST * count,
    )


@pytest.mark.parametrize("group", SAMPLES)
def test_mutants_end_with_success_or_a_diagnostic(group: str) -> None:
    count = SAMPLES[group]
    done = tried(group, 0, count)
    lines = done.stdout.split("\n")
    seeds = [int(line.removeprefix("seed ")) for line in lines if line.startswith("seed ")]
    faults: list[str] = []
    for line, after in pairwise(lines):
        if after.startswith("FAULT"):
            faults.append(f"{line}\n{after}" if line.startswith("seed ") else after)
    last = mutant(seeds[-1]).decode(errors="replace") if seeds else ""
    assert done.returncode == 0, f"{group} {seeds[-1:]}: {done.stderr[-3000:]}\n{last}"
    assert not faults, "\n".join(faults)
    assert len(seeds) == count
    peak = next(line for line in lines if line.startswith("peak "))
    assert int(peak.split()[1]) << 20 < LARGEST


def test_mutants_are_many_and_reproducible() -> None:
    some = [mutant(seed) for seed in range(100)]
    assert some == [mutant(seed) for seed in range(100)]
    assert len(set(some)) > 90
