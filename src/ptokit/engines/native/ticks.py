"""Ticks: twenty times a second a compiled program calls back, and may be ended there.

Python runs signal handlers between its own instructions only, in the main thread. So a thread asks
the programs that run to call back at their next iteration of a loop: there handlers run, and limits
of time are looked at. Between two ticks an iteration costs a load and a branch.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

from ptokit.engines.native.plan import TICK

PERIOD = 0.05  # seconds
LAST_TICKS = 20  # with nothing that runs, then the thread ends
_running: dict[int, Any] = {}  # frames, NumPy arrays
_threads: list[Thread] = []  # the one that ticks, or none


@contextmanager
def ticking(frame: Any) -> Generator[None]:  # Any: a NumPy array
    """Inside, the program with this frame is asked to call back."""
    try:
        _running[id(frame)] = frame
        if not (_threads and _threads[0].is_alive()):  # a forked process has none either
            thread = Thread(target=_tick, name="ptokit-ticks", daemon=True)
            _threads[:] = [thread]
            with suppress(RuntimeError):  # Python ends: no thread can start
                thread.start()
        yield
    finally:
        _running.pop(id(frame), None)


def _tick() -> None:
    idle = 0
    while True:
        time.sleep(PERIOD)
        for frame in list(_running.values()):
            frame[TICK] = 1
        idle = 0 if _running else idle + 1
        if idle == LAST_TICKS:
            mine = _threads[:]
            _threads.clear()  # first, so that who comes now starts another
            if not _running:
                return
            _threads[:], idle = mine, 0
