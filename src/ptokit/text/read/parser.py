"""Blocks and statements, with their comments; `operation` reads the op of each statement."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.diagnostics.printable import counted
from ptokit.diagnostics.source import Span
from ptokit.ir.editing import number_of, trimmed
from ptokit.ir.module import AnyOp, Block, Comments, Op, Value
from ptokit.isa.model.types import Type
from ptokit.text.read.cursor import FUNCS, Cursor, Enough, Lost, Tokens
from ptokit.text.read.names import Named, Names, NameScope

ReadOp: TypeAlias = "Callable[[Parser, Block], AnyOp | None]"
ReadBlocks: TypeAlias = "Callable[[Parser, list[Value], int, list[str]], Block]"
MOST = 20  # diagnostics of one text


class Parser(Cursor):
    """A cursor with the names of the current function, and the diagnostics so far.

    `operation` reads the op at the cursor, or reports a broken one and returns None. `blocks` reads
    a region up to its closing brace and returns its first block, which holds the rest.
    """

    def __init__(self, tokens: Tokens, operation: ReadOp, blocks: ReadBlocks) -> None:
        super().__init__(tokens)
        self.operation, self.blocks = operation, blocks
        self.scopes: list[NameScope] = []  # of functions before the one at the cursor
        self.names = Names(self, flat=False)
        self.problems: list[Diagnostic] = []
        self.broken: list[Block] = []  # blocks with a broken statement
        # the labelled blocks of the function or region at the cursor, found on first use
        self.labels: dict[str, Block] = {}
        self.body = 0  # the brace that opens the function or region
        self.reached = 0  # the end of the last statement or brace before the cursor

    def name_function(self, *, flat: bool) -> None:
        """Begin a function, whose names are its own."""
        self.past_scopes()
        self.names = Names(self, flat=flat)

    def past_scopes(self) -> list[NameScope]:
        """The scopes of the functions up to the cursor, those inside before those around them."""
        names = self.names
        self.scopes += (*names.past, NameScope(names.table, names.begins, self.i))
        return self.scopes

    # blocks

    def fill(self, block: Block, opened: int, before: list[str]) -> None:
        """Read statements up to the closing brace, or to the next label with its comments."""
        while before and not before[0]:
            before = before[1:]
        while self.texts[self.i] != "}" and self.texts[self.i][:1] != "^":
            if self.texts[self.i] in ("", *FUNCS):
                self._missing_brace(opened)
            before = self.statement(block, before)
        if self.texts[self.i] == "}":
            block.trailing = trimmed(before)

    def _missing_brace(self, opened: int) -> NoReturn:
        try:
            self.fail("expected an operation or '}'", opened)
        except PtoError as problem:
            raise Lost(problem.diagnostics) from None

    def region(
        self, args: list[tuple[Named, Type]], op: Op | None = None, remarks: Sequence[str] = ()
    ) -> Block:
        """Read `{ ... }` with block arguments. A comment after the brace belongs to the op.

        `remarks` are the comments before the brace, which go inside.
        """
        opened = self.i
        self.enter()
        self.expect("{")
        after, before = self.gap(self.i)
        if op is not None and op.comments.after is None and not op.regions:
            op.comments = Comments(after=after)
        elif after is not None:
            before = [after, *before]
        before = [*remarks, *before]
        self.names.open()
        self.reached = self.i
        try:
            values = [self.names.define(name, kind, at) for (name, at), kind in args]
            if values and self.texts[self.i][:1] == "^":
                message = "the arguments of this region are already named"
                raise self.wrong("syntax-error", message, self.i, "remove the label")
            values = values or self.label()
        except PtoError as problem:
            values = []
            self._without_arguments(problem, [at for (_, at), _ in args])
        if self.i > self.reached:  # after the label
            after, more = self.gap(self.i)
            before = [*before, *([after] if after else []), *more]
        block = self.blocks(self, values, opened, before)
        self.names.close()
        self.expect("}", opened)
        self.reached = self.i
        self.depth -= 1
        return block

    def _without_arguments(self, problem: PtoError, args: list[int]) -> None:
        """Report wrong arguments of a region, or a wrong label, and go on inside."""
        self.note(problem)
        for at in args:
            self.guess(at, at + 1)
        if self.texts[self.reached][:1] == "^":
            self.i = self.reached + 1
            while self.texts[self.i] not in ("", "}") and not self.begins_line():
                self.i += 1
            self.guess(self.reached, self.i)

    def label(self) -> list[Value]:
        """Read `^bb0(%a: T):` at the start of a block."""
        values: list[Value] = []
        if self.texts[self.i][:1] != "^":
            return values
        self.i += 1
        if self.accept("("):
            opened = self.i - 1
            for _ in self.elements(")", opened):
                at = self.i
                self.i += 1
                self.expect(":")
                kind = self.type()
                values.append(self.names.define(self.texts[at][1:], kind, at))
                self.skip_location()
        self.expect(":")
        return values

    # statements

    def statement(self, block: Block, before: list[str]) -> list[str]:
        """Read one op into `block`; return the comments on lines of their own after it."""
        first = self.i
        op = self.operation(self, block)
        if op is None:
            return []
        end = self.i
        if op.regions:  # comments after the first brace belong to the region
            end = next((i for i in range(first, end) if self.texts[i] == "{"), first) + 1
        inner = self.inside(first, end) if self.tokens.marks and isinstance(op, Op) else ()
        if op.regions and inner and op.comments.after == inner[-1] != self.gap(end)[0]:
            inner = inner[:-1]  # the comment belongs to the head of a switch, before `case`
        block.ops.append(op)
        if (number := number_of(op)) is not None:
            self.names.constants[op.results[0]] = number
        while self.texts[self.i] == ";":
            self.i += 1
        self.reached = self.i
        after, following = self.gap(self.i)
        if op.regions and after:
            following, after = [after, *following], None
        if before or inner or after:
            head = op.comments.after
            op.comments = Comments((*before, *inner), after or head)
        return following

    def note(self, problem: PtoError) -> None:
        """Add diagnostics to the report, one for each place."""
        known = {d.span for d in self.problems}
        self.problems += (d for d in problem.diagnostics if d.span not in known)
        if len(self.problems) >= MOST:
            raise Enough

    def give_up(self, problem: PtoError) -> NoReturn:
        """Report a problem and stop reading."""
        self.note(problem)
        raise Enough

    def require_count(self, who: str, wanted: int, what: str, got: int, at: int) -> None:
        """Raise PtoError unless there are as many as wanted."""
        if got != wanted:
            message = f"{who}: expected {counted(wanted, what)}, got {got}"
            raise self.wrong("operand-count", message, at)

    def require_types(self, items: int, types: int, at: int, what: str = "operand") -> None:
        """Raise PtoError unless there is a type for each item."""
        if items != types:
            message = f"{counted(items, what)}, but {counted(types, 'type')}"
            raise self.wrong("operand-count", message, at)

    def guess(self, first: int, last: int) -> None:
        """Define every undefined name in these tokens as a value of unknown type."""
        for i in range(first, last):
            if self.texts[i][:1] == "%":
                self.names.guess(self.texts[i][1:], i)

    def is_broken(self, block: Block) -> bool:
        return any(b is block for b in self.broken)

    def begins_statement(self, index: int | None = None) -> bool:
        """Return whether `%name` at the token, or at the cursor, starts `%name = ...`."""
        i = self.i if index is None else index
        while self.texts[i][:1] == "%" and self.texts[i + 1] == ",":
            i += 2
        if self.texts[i][:1] != "%":
            return False
        packed = self.texts[i + 1] == ":" and self.texts[i + 3] == "="
        return packed or self.texts[i + 1] == "="

    def token_of(self, span: Span | None, default: int) -> int:
        """Return the token that starts where `span` does."""
        return default if span is None else bisect_left(self.tokens.starts, span.start)

    # comments

    def inside(self, first: int, end: int) -> tuple[str, ...]:
        """Return comments between tokens of a statement or head of several lines, up to `end`."""
        return tuple(c.text for c in self.tokens.comments_in(first + 1, end))

    def gap(self, i: int) -> tuple[str | None, list[str]]:
        """Return the comment on the line before token `i`, and the comment lines between."""
        tokens = self.tokens
        start = tokens.end(i - 1) if i else 0
        stop = tokens.starts[i]
        if stop - start < 2:
            return None, []
        text = tokens.source.text
        comments = tokens.comments_in(i, i + 1) if tokens.marks else None
        if not comments:
            return None, [""] if text.count("\n", start, stop) > 1 else []
        after: str | None = None
        lines: list[str] = []
        at = start
        for comment in comments:
            breaks = text.count("\n", at, comment.start)
            if not breaks and i and after is None and not lines:
                after = comment.text
            else:
                lines += ["", comment.text] if breaks > 1 else [comment.text]
            at = comment.start + len(comment.text)
        if text.count("\n", at, stop) > 1:
            lines.append("")
        return after, lines
