"""How much a test tries: a sample in `make test`, more where PTOKIT_FUZZ says so.

PTOKIT_FUZZ is a factor: `make test-all` and `make fuzz` set 10, FACTOR=100 runs a hundred samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
FACTOR = int(os.environ.get("PTOKIT_FUZZ", "1"))


def scaled(sample: int) -> int:
    """`sample` in `make test`, that many times PTOKIT_FUZZ otherwise."""
    return sample * FACTOR


def sampled(matrix: Iterable[T], step: int) -> list[T]:
    """Every `step`-th row of a matrix of cases in `make test`; from PTOKIT_FUZZ = step on all."""
    return list(matrix)[:: max(1, step // FACTOR)]
