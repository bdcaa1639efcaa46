"""Places in the user's Python at which something was recorded; spans are computed on demand."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import re
import sys
from functools import cache
from types import CodeType, FrameType
from typing import NamedTuple, TypeAlias, TypeVar

import numpy

from ptokit.diagnostics.callsite import PACKAGE, known_name
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.diagnostics.source import Source, Span
from ptokit.launch.settings import recording

STATEMENT = re.compile(r"(?:while|if|elif|assert|for\s.+?\sin)\s+(.+?)\s*(?::\s*\n|:?$)")
# frames of functools, for cached properties, and of NumPy do not count as the user's
SOURCELESS: dict[CodeType, str] = {}  # functions that cannot be rewritten -> the reason
T = TypeVar("T")
OURS = (PACKAGE, functools.__file__, os.path.dirname(numpy.__file__))


# first and last line of an expression, first and last column in bytes
Columns: TypeAlias = "tuple[int | None, int | None, int | None, int | None]"


class CallPlace(NamedTuple):
    """A bytecode instruction in the innermost frame outside of ptokit."""

    code: CodeType
    at: int

    @property
    def columns(self) -> Columns:
        """Return the lines and columns of the expression."""
        return _positions(self.code)[self.at // 2]

    def span(self) -> Span | None:
        """Return the expression's text span, or its line; None without source."""
        line, end, col, stop = self.columns
        found = span_of(self.code.co_filename, line, end, col, stop)
        # older Pythons report the statement instead of its test
        test = found and STATEMENT.match(found.source.text, found.start, found.end)
        return Span(found.source, *test.span(1)) if found and test else found


def user_frame() -> FrameType:
    """Return the innermost frame outside of ptokit."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - the only way to a frame
    while _ours(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame


@cache
def _ours(name: str) -> bool:
    return name.startswith(OURS)


def here() -> CallPlace:
    """Return the current place in the user's Python."""
    frame = user_frame()
    return CallPlace(frame.f_code, frame.f_lasti)


@cache
def _positions(code: CodeType) -> list[Columns]:
    return list(code.co_positions())


@cache
def _lines(name: str, text: str) -> tuple[Source, list[int]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return Source(name, text), starts


def span_of(
    name: str, line: int | None, end: int | None, col: int | None, stop: int | None
) -> Span | None:
    """Return the span between two places of a file; columns count bytes, as in Python."""
    source, starts = _lines(known_name(name), "".join(linecache.getlines(name)))
    if line is None or not 0 < line < len(starts):
        return None
    if col is None or stop is None or end is None:
        text = source.line(line)
        return Span(
            source, starts[line - 1] + len(text) - len(text.lstrip()), starts[line - 1] + len(text)
        )
    first = starts[line - 1] + _characters(source.line(line), col)
    return Span(source, first, starts[end - 1] + _characters(source.line(end), stop))


def _characters(line: str, count: int) -> int:
    """Return the number of characters in `count` bytes of UTF-8."""
    return count if line.isascii() else len(line.encode()[:count].decode(errors="ignore"))


class CallSpans(dict[str, Span]):
    """The spans of an op: of its call, and of the argument for each operand.

    They are computed on demand, since a correct program needs none.
    """

    def __init__(self, place: CallPlace, names: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.place, self.names = place, names

    def __missing__(self, name: str) -> Span:
        found = self._found(name)
        if found is None:
            raise KeyError(name)
        self[name] = found
        return found

    def __contains__(self, name: object) -> bool:
        return (name == "" or name in self.names) and self.get(str(name)) is not None

    def get(self, name: str, default: T = None) -> Span | T:
        """Return the span of an operand, by default that of the call."""
        try:
            return self[name]
        except KeyError:
            return default

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[object, ...]:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: object) -> CallSpans:
        return self

    def _found(self, name: str) -> Span | None:
        whole = self.place.span()
        if name == "" or whole is None:
            return whole
        argument = _argument(whole, name, self.names)
        return argument or (whole if name in self.names else None)


def _argument(whole: Span, name: str, names: tuple[str, ...]) -> Span | None:
    """Return the span of a call's argument, by position or keyword, or of an operator's side."""
    text = whole.source.text[whole.start : whole.end]
    try:
        call = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return None
    if isinstance(call, ast.BinOp):
        given: dict[str, ast.expr] = dict(zip(names, (call.left, call.right), strict=False))
    elif isinstance(call, ast.Call):
        args = [*call.args]
        method = len(args) < len(names) and isinstance(call.func, ast.Attribute)
        if method and isinstance(call.func, ast.Attribute) and names[:1] == ("self",):
            args.insert(0, call.func.value)
        given = dict(zip(names, args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
    else:
        return None
    part = given.get(name)
    if part is None or part.end_lineno is None or part.end_col_offset is None:
        return None
    lines = f"({text})".splitlines(keepends=True)
    start = _offset(lines, part.lineno, part.col_offset)
    end = _offset(lines, part.end_lineno, part.end_col_offset)
    return Span(whole.source, whole.start + start - 1, whole.start + end - 1)


def _offset(lines: list[str], line: int, column: int) -> int:
    return sum(map(len, lines[: line - 1])) + _characters(lines[line - 1], column)


def refused(
    slug: str, message: str, help: str | None = None, place: CallPlace | None = None
) -> PtoError:
    """Return the error for something that a kernel must not do, at the place of the call."""
    place = place or here()
    problem, record = error(slug, message, place.span(), help=help), recording.get()
    if record is not None and record.sees(place.code):
        record.refused = problem
    return problem
