"""A text in an editor: what the reader makes of it, and the name or word at a place."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ptokit.api.program import Program
from ptokit.diagnostics.source import Source
from ptokit.ir.module import AnyOp, Func, Value
from ptokit.text.read.cursor import Tokens
from ptokit.text.read.names import NameScope, Reading
from ptokit.text.read.reader import read_partly
from ptokit.tools.lsp.positions import TextPositions


class VisibleName(NamedTuple):
    """A value with the name that the text has for it, and where the name is visible."""

    name: str
    value: Value
    scope: NameScope


class EditedText:
    """One version of the text of a file; nothing changes it."""

    def __init__(self, path: str, version: int, at: TextPositions) -> None:
        self.path, self.version, self.at = path, version, at

    @property
    def text(self) -> str:
        return self.at.text

    @cached_property
    def reading(self) -> Reading:
        return read_partly(Source(self.path, self.text))

    @cached_property
    def program(self) -> Program | None:
        """The program, if all of the text can be read."""
        return None if self.reading.problems else Program(self.reading.module)

    @property
    def tokens(self) -> Tokens:
        return self.reading.tokens

    @property
    def funcs(self) -> list[Func]:
        return self.reading.module.funcs

    # tokens

    def token_at(self, offset: int) -> int | None:
        """The token that holds a character, or ends before it; None between tokens."""
        index = bisect_right(self.tokens.starts, offset) - 1
        for at in (index, index - 1):
            if at >= 0 and self.tokens.texts[at]:
                start, end = self.tokens.starts[at], self.tokens.end(at)
                if start <= offset <= end:
                    return at
        return None

    def begins_statement(self, at: int) -> int:
        """The first token of the statement, or of the line, that a token belongs to."""
        start = self.tokens.starts[at]
        line = self.at.starts[self.at.line_of(start)]
        while at > 0 and self.tokens.starts[at - 1] >= line:
            at -= 1
        return at

    # names

    @cached_property
    def _scopes(self) -> list[tuple[int, int, NameScope]]:
        starts = self.tokens.starts
        return [(starts[s.first], starts[s.last], s) for s in self.reading.scopes if s.values]

    def visible(self, offset: int) -> Mapping[str, VisibleName]:
        """The values that a name may mean at a place."""
        found: dict[str, VisibleName] = {}
        for first, last, scope in self._scopes:
            if first <= offset <= last:
                for name, value in scope.values.items():
                    if value.span is not None and value.span.start <= offset:
                        found.setdefault(name, VisibleName(name, value, scope))
        return found

    def named(self, at: int) -> VisibleName | None:
        """Return what the token `%name` means, where it is the name of a value."""
        name, start = self.tokens.texts[at][1:], self.tokens.starts[at]
        for first, last, scope in self._scopes:
            if first <= start < last:
                for known in (name, f"{name}#0"):
                    value = scope.values.get(known)
                    if value is not None and value.span is not None and value.span.start <= start:
                        return VisibleName(known, value, scope)
        return None

    # ops

    @cached_property
    def _ops(self) -> tuple[list[int], list[tuple[AnyOp, Func]]]:
        found = [
            (op.span.start, op, func)
            for func in self.funcs
            for op in func.walk()
            if op.span is not None and not any(value.literal for value in op.results)
        ]
        found.sort(key=lambda one: one[0])
        return [start for start, *_ in found], [(op, func) for _, op, func in found]

    def ops(self) -> Iterator[tuple[AnyOp, Func]]:
        """Every op of the text with its function, in text order."""
        yield from self._ops[1]

    def op_at(self, offset: int) -> tuple[AnyOp, Func] | None:
        """The op whose statement a place is in: the last one that begins on this line or before."""
        starts, ops = self._ops
        line = self.at.line_of(offset)
        first = bisect_left(starts, self.at.starts[line])
        last = bisect_right(starts, self.at.ends[line])
        number = min(max(bisect_right(starts, offset) - 1, first), last - 1)
        return ops[number] if first <= number < last else None
