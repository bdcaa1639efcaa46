"""Ticks: twenty times a second a thread asks running programs to call back, so they can end."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from threading import Thread

from ptokit.engines.native.frame import TICK
from ptokit.machine.memory import Index

PERIOD = 0.05  # seconds
LAST_TICKS = 20  # idle ticks after which the thread ends
_running: dict[int, Index] = {}  # frames
_ticking: list[Thread] = []  # the ticking thread, or empty


def start(frame: Index) -> None:
    """Ask the program with this frame to call back periodically, until `end`."""
    _running[id(frame)] = frame
    if not _ticking:
        thread = Thread(target=_tick, name="ptokit-ticks", daemon=True)
        _ticking[:] = [thread]
        with suppress(RuntimeError):  # Python ends: no thread can start
            thread.start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ticking.clear)  # a forked process has no thread


def end(frame: Index) -> None:
    """Ask the program no more."""
    _running.pop(id(frame), None)


def _tick() -> None:
    idle = 0
    while True:
        time.sleep(PERIOD)
        for frame in list(_running.values()):
            frame[TICK] = 1
        idle = 0 if _running else idle + 1
        if idle == LAST_TICKS:
            mine = _ticking[:]
            _ticking.clear()  # first, so that a new run starts another thread
            if not _running:
                return
            _ticking[:], idle = mine, 0
