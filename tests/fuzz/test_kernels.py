"""Random kernels under both engines, in processes of their own: a crash is a failure like others.

A failing kernel is printed with its seed;
`PYTHONPATH=src:tests/laws python tests/fuzz/kernels.py SEED 1` runs it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernels import kernel

from forking import python
from fuzz.onworkers import searched_on
from fuzz.scale import FACTOR, scaled

FIRST, KERNELS = 2, scaled(1)  # the ones before are refused, and take long
PARTS = min(2, FACTOR)  # one process each
EACH = -(-KERNELS // PARTS)
HERE = Path(__file__).parent
SCHEDULER = os.environ.get("FUZZ_SCHEDULER")


def searched(first: int, count: int) -> subprocess.CompletedProcess[str]:
    """The seeds from `first` on, run by a process, or by those of a cluster."""
    if SCHEDULER:
        return subprocess.CompletedProcess([], *searched_on(SCHEDULER, first, count))
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [*python(), str(HERE / "kernels.py"), str(first), str(count)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60 + 5 * count,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_random_kernels_do_the_same(part: int) -> None:
    done = searched(FIRST + part * EACH, EACH)
    lines = done.stdout.splitlines()
    seeds = [int(line.removeprefix("seed ")) for line in lines if line.startswith("seed ")]
    if done.returncode:
        program = kernel(seeds[-1]) if seeds else None
        text = "" if program is None else program.text
        pytest.fail(f"{seeds[-1:]} ended with {done.returncode}\n{done.stderr[-3000:]}\n{text}")
    assert "DIFFERENT" not in done.stdout, done.stdout[done.stdout.index("DIFFERENT") :]
    assert len(seeds) == EACH
    assert lines.count("refused") <= max(1, EACH // 4)  # what is refused tests nothing
