"""How much a test tries: a sample in `make test`, more where PTOKIT_FUZZ says so.

PTOKIT_FUZZ is a factor: `make test-all` and `make fuzz` set 10, FACTOR=100 runs a hundred samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")
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
