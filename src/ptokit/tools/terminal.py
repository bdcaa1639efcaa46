"""Standard output and error on terminals: text from users is escaped, messages have colours.

Colours are omitted if NO_COLOR is set, or as `--color` says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

import click

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity
from ptokit.diagnostics.printable import printable
from ptokit.diagnostics.source import Paint, Part, unpainted


class TerminalStream:
    """A terminal that shows control characters and bidirectional marks as escapes.

    `plain` is the stream itself, for progress bars and colours.
    """

    def __init__(self, plain: TextIO) -> None:
        self.plain = plain

    def write(self, text: str) -> int:
        """Write text; return its length before escaping."""
        self.plain.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines of text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self.plain, name)


def drawing(stream: TextIO) -> TextIO:
    """Return the plain stream, for progress bars and colours."""
    return stream.plain if isinstance(stream, TerminalStream) else stream


# readable on dark and light backgrounds
OF_SEVERITY = {Severity.ERROR: "red", Severity.WARNING: "magenta", Severity.HINT: "cyan"}
OF_PART: dict[Part, str] = {"place": "blue", "label": "green"}


def colours(stream: TextIO) -> bool:
    """Return whether messages on this stream have colours: by `--color`, else on terminals."""
    context = click.get_current_context(silent=True)
    asked = None if context is None else context.color
    if asked is not None:
        return asked
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painting(severity: Severity) -> Paint:
    """Return a function that colours the parts of a message for a terminal."""

    def paint(part: Part, text: str) -> str:
        if part in ("head", "carets"):
            return click.style(text, fg=OF_SEVERITY[severity], bold=True)
        return click.style(text, fg=OF_PART[part]) if part in OF_PART else text

    return paint


_collected: ContextVar[list[Diagnostic]] = ContextVar("collected")


@contextmanager
def collecting() -> Generator[list[Diagnostic]]:
    """Inside, `show` appends diagnostics to this list and writes nothing."""
    found: list[Diagnostic] = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def show(found: Diagnostic | PtoError, *, err: bool = True, end: str = "\n") -> None:
    """Write a message to standard error or output, with colours if wanted."""
    stream = sys.stderr if err else sys.stdout
    every = found.diagnostics if isinstance(found, PtoError) else (found,)
    if (collected := _collected.get(None)) is not None:
        collected.extend(every)
        return
    painted = colours(stream)
    paints = (painting(d.severity) if painted else unpainted for d in every)
    text = "\n\n".join(d.render(paint) for d, paint in zip(every, paints, strict=True))
    file = drawing(stream) if painted else stream
    click.echo(text + end, file=file, color=painted, nl=False)


@contextmanager
def escaped_terminals() -> Generator[None]:
    """Escape the output of a command on terminals."""
    before = sys.stdout, sys.stderr
    for name, stream in zip(("stdout", "stderr"), before, strict=True):
        if stream is not None and stream.isatty():  # pyright: ignore[reportUnnecessaryComparison]
            setattr(sys, name, TerminalStream(stream))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
