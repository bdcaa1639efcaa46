"""Many small cases as one test, which by itself costs pytest 5 ms: a failure names its case."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def named(*case: object) -> Generator[None]:
    """Add the case to what goes wrong inside."""
    try:
        yield
    except BaseException as problem:
        problem.add_note(f"in the case {', '.join(map(str, case))}")
        raise
