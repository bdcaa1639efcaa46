"""How the time of some work grows with its size."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """How many times as long `work(large)` takes as `work(small)`.

    Processor seconds, which other programs do not change, the best of two of each, and never
    less than 2 ms for the small one. The collector of cycles is off: its time grows with
    everything that earlier tests left in memory.
    """

    def seconds(size: int) -> float:
        begin = time.process_time()
        work(size)
        return time.process_time() - begin

    gc.collect()
    gc.disable()
    try:
        short, long = (min(seconds(size) for _ in range(2)) for size in (small, large))
    finally:
        gc.enable()
    return long / max(short, 0.002)
