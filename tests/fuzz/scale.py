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
from zlib import crc32

from ptokit.isa.lang.instr import Instr

S = TypeVar("S")
T = TypeVar("T")
ROOT = Path(__file__).parents[2]
FACTOR = int(os.environ.get("PTOKIT_FUZZ", "1"))
PARTS = max(1, 5 // FACTOR)  # of the cases of a test: `make test` runs one of them


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


def dealt(name: str, cases: Sequence[T], *, seldom: bool = False) -> Sequence[T]:
    """Every fifth case of the test of a name, at least one; the next commit runs others.

    A test that is run `seldom` has turns of its own: one case runs at one commit in five.
    """
    parts = PARTS if seldom else min(PARTS, len(cases))
    return cases[(_commits() + crc32(name.encode())) % parts :: parts]


@cache
def _commits() -> int:
    return int(_told("git", "rev-list", "--count", "HEAD") or 0)


def _told(*words: str) -> str | None:
    """What a command prints; None where it fails, as outside of a repository."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


@cache
def edited() -> frozenset[str]:
    """Files of pages that differ from those of five commits ago; PTOKIT_CHANGED names others."""
    if "PTOKIT_CHANGED" in os.environ:
        return frozenset(os.environ["PTOKIT_CHANGED"].split())
    for since in ("HEAD~5", "HEAD"):
        names = _told("git", "diff", "--name-only", since, "--", "src/ptokit/isa/pages")
        if names is not None:
            return frozenset(names.split())
    return frozenset()


def tried(all_pages: Iterable[type[Instr]], first: int, step: int = 3) -> list[type[Instr]]:
    """Every `step`-th page from the `first` on, and each whose file was changed lately.

    Laws begin at different pages, so that between them they try most.
    """
    step = max(1, step // FACTOR)
    rows = enumerate(all_pages)
    return [p for n, p in rows if n % step == first % step or is_edited(p)]


def is_edited(page: type[Instr]) -> bool:
    """Return whether the file of a page was changed lately."""
    return f"src/{page.__module__.replace('.', '/')}.py" in edited()
