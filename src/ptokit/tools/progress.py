"""A progress bar on standard error during the blocks of a launch, in either engine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, Thread

import click

from ptokit.machine.observer import Observer
from ptokit.tools.terminal import drawing

PERIOD = 0.1  # seconds
PATIENCE = 1.0  # seconds before a default bar appears


class Progress(Observer):
    """An observer that counts the completed blocks of a launch."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.done: Callable[[], int] = lambda: 0

    def begins(self, done: Callable[[], int]) -> None:
        """Keep the function that counts completed blocks."""
        self.done = done

    @contextmanager
    def shown(self, asked: bool | None) -> Generator[None]:
        """Show the bar during the body: if `asked`, or if None on a terminal after a second."""
        terminal = sys.stderr.isatty()
        if self.blocks == 1 or asked is False or not (asked or terminal):
            yield
            return
        ended = Event()
        show = self._bar if terminal else self._lines
        thread = Thread(target=show, args=(ended, 0.0 if asked else PATIENCE), daemon=True)
        thread.start()
        try:
            yield
            self.done = lambda: self.blocks
        finally:
            ended.set()
            thread.join()

    def _bar(self, ended: Event, patience: float) -> None:
        if ended.wait(patience):
            return
        with click.progressbar(
            length=self.blocks, label="blocks", show_pos=True, file=drawing(sys.stderr)
        ) as bar:
            while not ended.wait(PERIOD):
                bar.update(self.done() - bar.pos)
            bar.update(self.done() - bar.pos)

    def _lines(self, ended: Event, patience: float) -> None:
        """Print a line per second, if no bar can be drawn."""
        last, after = -1, time.monotonic() + patience
        while not ended.wait(PERIOD):
            if time.monotonic() >= after and (now := self.done()) != last:
                click.echo(f"{now} of {self.blocks} blocks", err=True)
                last, after = now, time.monotonic() + PATIENCE
        click.echo(f"{self.done()} of {self.blocks} blocks", err=True)
