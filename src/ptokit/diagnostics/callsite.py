"""The line of the user's Python that called ptokit, as a span for diagnostics."""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Source, Span

P = ParamSpec("P")
R = TypeVar("R")
PACKAGE = str(Path(__file__).parents[1])
OURS = (PACKAGE, contextlib.__file__, functools.__file__)


def depth() -> int:
    """Return the `stacklevel` with which the caller of `depth` blames the user's line."""
    frame, outside, count = inspect.currentframe(), _outside(inspect.currentframe()), 0
    while frame is not None and frame is not outside:
        frame, count = frame.f_back, count + 1
    return count


def _outside(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame outside this package."""
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def door(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function for users: a PtoError keeps the user's frames and one of ptokit's."""

    @functools.wraps(function)
    def called(*args: P.args, **names: P.kwargs) -> R:
        try:
            return function(*args, **names)
        except PtoError as problem:
            raise problem.with_traceback(_of_users(problem.__traceback__))  # noqa: B904 - the same

    return called


def _of_users(found: TracebackType | None) -> TracebackType | None:
    """Return A traceback without the frames of this package, and of decorators in it."""
    if found is None:
        return None
    rest, frame = _of_users(found.tb_next), found.tb_frame
    if frame.f_code.co_filename.startswith(OURS):
        return rest
    return TracebackType(rest, frame, found.tb_lasti, found.tb_lineno)


def known_name(file: str) -> str:
    """Return the name of a file as its author knows it; for a notebook, the number of the cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell and shell.compile.format_code_name(file)
    return cell[1] if cell else file


def caller() -> Span | None:
    """Return the innermost line outside this package, or None if its source is not available."""
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
