"""Blocks on the threads of the host: equal ranges of blocks, one for each processor."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
LEAST = 200e-6  # seconds of blocks that are worth threads: to start and await one takes a third


def pays(seconds: float) -> bool:
    """Return whether threads end blocks earlier that take so long on one thread."""
    return seconds >= LEAST


def dealt(blocks: range) -> list[range]:
    """Return the range of blocks of each processor; no range is empty."""
    count = min(len(blocks), os.cpu_count() or 1)
    edges = [blocks.start + len(blocks) * n // count for n in range(count + 1)]
    return [range(*edge) for edge in pairwise(edges)]


def at_once(works: Sequence[Callable[[], T]], stop: Callable[[], object]) -> list[T]:
    """Run the first of these works on this thread, each other one on a thread of its own.

    If one fails, `stop` is called, and the error of the first one is raised when all have ended.
    """
    rest = [_threads().submit(work) for work in works[1:]]
    try:
        return [works[0](), *(other.result() for other in rest)]
    except BaseException:  # perhaps an interrupt: the other threads still use the memories
        stop()
        for other in rest:
            other.exception()
        raise


@cache
def _threads() -> ThreadPoolExecutor:
    """Return a pool of threads that wait for launches; importing it takes 10 ms."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "ptokit")
