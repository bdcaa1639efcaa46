"""Signals that end a command: it undoes what it began, says so in one line, and tells its parent.

The status is 128 and the number of the signal, as a shell's own.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

Handler: TypeAlias = "Callable[[int, FrameType | None], None] | signal.Handlers"
ENDING = (signal.SIGINT, signal.SIGTERM)


class Ended(BaseException):
    """A signal ends the command; not an Exception, so that nothing takes it for a fault."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}: nothing was written")
        self.status = 128 + number


def _first(number: int, frame: FrameType | None) -> None:
    """The first signal counts; what it began is not disturbed."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


@contextmanager
def raising() -> Generator[None]:
    """Inside, the first signal raises `Ended`, unless the command was started to ignore it."""
    heard = [n for n in ENDING if signal.getsignal(n) != signal.SIG_IGN]
    with _handled(dict.fromkeys(heard, _first)):
        yield


@contextmanager
def ignored() -> Generator[None]:
    """Inside, no signal ends the command."""
    with _handled(dict.fromkeys(ENDING, signal.SIG_IGN)):
        yield


@contextmanager
def _handled(handlers: dict[signal.Signals, Handler]) -> Generator[None]:
    """Inside, signals have these handlers; only the main thread has any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
