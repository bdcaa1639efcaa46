"""The line of the user's Python that called ptokit, as a span for diagnostics."""

from __future__ import annotations

import inspect
import linecache
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from ptokit.diagnostics.source import Source, Span

PACKAGE = str(Path(__file__).parents[1])


def depth() -> int:
    """The level of the stack that `warnings.warn`, called by the caller, is to blame."""
    frame, outside, count = inspect.currentframe(), _outside(inspect.currentframe()), 0
    while frame is not None and frame is not outside:
        frame, count = frame.f_back, count + 1
    return count


def _outside(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside this package."""
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def known_name(file: str) -> str:
    """The name of a file as its author knows it: of the cell of a notebook, its number."""
    ipython: Any = sys.modules.get("IPython")  # Any: no dependency
    shell = ipython and ipython.get_ipython()
    cell = shell and shell.compile.format_code_name(file)
    return cell[1] if cell else file


def caller() -> Span | None:
    """The innermost frame outside this package; None when its source is not to be had."""
    frame = _outside(inspect.currentframe())
    if frame is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename)
    number = frame.f_lineno
    if not 0 < number <= len(lines):
        return None
    text, line = "".join(lines), lines[number - 1]
    start = sum(len(earlier) for earlier in lines[: number - 1])
    indent = len(line) - len(line.lstrip())
    source = Source(known_name(frame.f_code.co_filename), text)
    return Span(source, start + indent, start + len(line.rstrip()))
