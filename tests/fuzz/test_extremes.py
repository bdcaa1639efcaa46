"""Programs of extreme numbers under both engines, in processes of their own.

A failing program is printed with its seed;
`PYTHONPATH=src python tests/fuzz/extremes.py SEED 1` runs it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from extremes import SECONDS, program

from forking import python
from fuzz.scale import FACTOR, scaled

PROGRAMS = scaled(10)
PARTS = min(2, FACTOR)  # one process each
EACH = -(-PROGRAMS // PARTS)
LARGEST = 1 << 30  # bytes that a process may have in memory
HERE = Path(__file__).parent


FOUND = (202738, 208572, 5011286, 7001051, 7006729)  # seeds that once found a fault


def searched(first: int, count: int) -> subprocess.CompletedProcess[str]:
    """The seeds from `first` on, run by a process."""
    return subprocess.run(
        [*python(), str(HERE / "extremes.py"), str(first), str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=SECONDS * (1 + count),
    )


@pytest.mark.parametrize("seed", FOUND)
def test_faults_that_were_found_stay_mended(seed: int) -> None:
    done = searched(seed, 1)
    assert done.returncode == 0
    assert "DIFFERENT" not in done.stdout


@pytest.mark.parametrize("part", range(PARTS))
def test_extreme_numbers_do_the_same(part: int) -> None:
    done = searched(part * EACH, EACH)
    lines = done.stdout.splitlines()
    seeds = [int(line.removeprefix("seed ")) for line in lines if line.startswith("seed ")]
    if done.returncode:
        text = program(seeds[-1]).text if seeds else ""
        pytest.fail(f"{seeds[-1:]} ended with {done.returncode}\n{done.stderr[-3000:]}\n{text}")
    assert "DIFFERENT" not in done.stdout, done.stdout[done.stdout.index("DIFFERENT") :]
    assert len(seeds) == EACH
    said = dict(line.split()[1:] for line in lines if line.startswith("said "))
    assert {"runs", "window-out-of-bounds"} <= said.keys(), said
    assert int(next(x.split()[1] for x in lines if x.startswith("peak "))) < LARGEST
