"""The line of the user's Python that called ptokit, as a span for diagnostics."""

from __future__ import annotations

import inspect
import linecache
from pathlib import Path

from ptokit.text.source import Source, Span

PACKAGE = str(Path(__file__).parent)


def caller() -> Span | None:
    """The innermost frame outside this package; None when its source is not to be had."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    if frame is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename)
    number = frame.f_lineno
    if not 0 < number <= len(lines):
        return None
    text, line = "".join(lines), lines[number - 1]
    start = sum(len(earlier) for earlier in lines[: number - 1])
    indent = len(line) - len(line.lstrip())
    source = Source(frame.f_code.co_filename, text)
    return Span(source, start + indent, start + len(line.rstrip()))
