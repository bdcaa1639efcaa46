"""Standard output and error where they are terminals: what users wrote is shown with escapes."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TextIO

from ptokit.diagnostics.printable import printable


class TerminalStream:
    """A terminal that shows control characters and bidirectional marks as escapes.

    `plain` is the stream itself, for what draws: progress bars, colours.
    """

    def __init__(self, plain: TextIO) -> None:
        self.plain = plain

    def write(self, text: str) -> int:
        """Write text, and count it as it was given."""
        self.plain.write(printable(text))
        return len(text)

    def writelines(self, lines: Any) -> None:  # Any: as io has it
        """Write lines of text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # Any: as io has it
        return getattr(self.plain, name)


def drawing(stream: TextIO) -> TextIO:
    """The stream for what draws."""
    return stream.plain if isinstance(stream, TerminalStream) else stream


@contextmanager
def escaped_terminals() -> Generator[None]:
    """Around a command: its output goes through escapes where a terminal shows it."""
    before = sys.stdout, sys.stderr
    for name, stream in zip(("stdout", "stderr"), before, strict=True):
        if stream is not None and stream.isatty():  # pyright: ignore[reportUnnecessaryComparison]
            setattr(sys, name, TerminalStream(stream))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
