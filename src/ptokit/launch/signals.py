"""Signals that end a command: the command cleans up, prints one line and reports the signal.

The exit status is 128 plus the number of the signal, as in a shell.
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
    """Raised if a signal ends the command; not an Exception, so that no `except` catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(f"ended by {signal.Signals(number).name}: nothing was written")
        self.status = 128 + number


def _first(number: int, frame: FrameType | None) -> None:
    """Raise `Ended` for the first signal, and ignore later ones during the clean-up."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


@contextmanager
def raising() -> Generator[None]:
    """Let the first signal raise `Ended`, unless the command was started to ignore it."""
    heard = [n for n in ENDING if signal.getsignal(n) != signal.SIG_IGN]
    with _handled(dict.fromkeys(heard, _first)):
        yield


@contextmanager
def ignored() -> Generator[None]:
    """Ignore the signals that end a command."""
    with _handled(dict.fromkeys(ENDING, signal.SIG_IGN)):
        yield


@contextmanager
def _handled(handlers: dict[signal.Signals, Handler]) -> Generator[None]:
    """Install signal handlers for the body; only the main thread has any."""
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
