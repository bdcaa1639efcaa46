"""How much a test tries: a sample in `make test`, more where PTOKIT_FUZZ says so.

PTOKIT_FUZZ is a factor: `make test-all` and `make fuzz` set 10, FACTOR=100 runs a hundred samples.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from ptokit.isa.lang.instr import Instr

S = TypeVar("S")
T = TypeVar("T")
ROOT = Path(__file__).parents[2]
FACTOR = int(os.environ.get("PTOKIT_FUZZ", "1"))


def scaled(sample: int) -> int:
    """`sample` in `make test`, that many times PTOKIT_FUZZ otherwise."""
    return sample * FACTOR


def sampled(matrix: Iterable[T], step: int) -> list[T]:
    """Every `step`-th row of a matrix of cases in `make test`; from PTOKIT_FUZZ = step on all."""
    return list(matrix)[:: max(1, step // FACTOR)]


def in_turn(rows: Iterable[S], columns: Sequence[T]) -> list[tuple[S, T]]:
    """Each row with one of the columns, in turn; with all of them in `make test-all`."""
    count = len(columns)
    pairs = [(row, columns[(n + k) % count]) for n, row in enumerate(rows) for k in range(count)]
    return sampled(pairs, count)


@cache
def edited() -> frozenset[str]:
    """Files of pages that differ from those of five commits ago; PTOKIT_CHANGED names others."""
    if "PTOKIT_CHANGED" in os.environ:
        return frozenset(os.environ["PTOKIT_CHANGED"].split())
    for since in ("HEAD~5", "HEAD"):
        asked = ["git", "diff", "--name-only", since, "--", "src/ptokit/isa/pages"]
        done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return frozenset(done.stdout.split())
    return frozenset()


def tried(all_pages: Iterable[type[Instr]], first: int, step: int = 3) -> list[type[Instr]]:
    """Every `step`-th page from the `first` on, and each whose file was changed lately.

    Laws that begin at different pages try each page at least once between them.
    """
    step = max(1, step // FACTOR)
    rows = enumerate(all_pages)
    return [p for n, p in rows if n % step == first % step or _file(p) in edited()]


def _file(page: type[Instr]) -> str:
    return f"src/{page.__module__.replace('.', '/')}.py"
