"""Opaque ops, which ptokit does not know: their end, their uses and definitions, their regions.

The text is kept as written. An op ends where the next statement starts: on a new line, outside of
brackets, at a token that can start one.
"""

from __future__ import annotations

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Block, OpaqueOp, Value
from ptokit.isa.model.types import Type
from ptokit.text.read.cursor import CLOSING, UNKNOWN
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.text.read.recovery import begins, begins_region

REGION = "\0"


def read_opaque(p: Parser, start: int, at: int, results: list[Named]) -> OpaqueOp:
    """Read the op whose mnemonic is the token at `at`."""
    reader = _Opaque(p, at)
    p.names.open()
    reader.read()
    p.names.close()
    end = p.i - 1
    types = _types(p, reader.arrow, reader.colon, end, len(results))
    values = [p.names.define(n, kind, i) for (n, i), kind in zip(results, types, strict=True)]
    name = p.texts[at].strip('"')
    span = p.span(at, end)
    return OpaqueOp(name, reader.text(end), values, reader.uses, span, regions=reader.regions)


class _Opaque:
    """The walk over the tokens of one opaque op."""

    def __init__(self, p: Parser, at: int) -> None:
        self.p, self.at = p, at
        self.uses: list[Value] = []
        self.regions: list[Block] = []
        self.pieces: list[str] = []
        self.from_ = p.tokens.starts[at]
        self.open: list[int] = []
        self.arrow: int | None = None  # the last -> or `to`, and the last :, outside of brackets
        self.colon: int | None = None

    def read(self) -> None:
        p = self.p
        p.i = self.at + 1
        while not self._ended():
            text = p.texts[p.i]
            if text == "{" and begins_region(p, p.i):  # calls this reader for inner ops
                self.pieces.append(p.tokens.source.text[self.from_ : p.tokens.starts[p.i]])
                self.regions.append(p.region([]))
                self.from_ = p.tokens.end(p.i - 1)
                continue
            if text in ("(", "[", "{"):
                self.open.append(p.i)
            elif self.open and text == CLOSING[p.texts[self.open[-1]]]:
                self.open.pop()
            elif text in (")", "]", "}"):
                p.fail("unmatched bracket", self.open[-1] if self.open else None)
            elif text == '"':
                p.fail("expected an operand")
            elif text[:1] == "%":
                self._name(p.i)
            elif not self.open and text in ("->", "to"):
                self.arrow = p.i
            elif not self.open and text == ":":
                self.colon = p.i
            p.i += 1
        if self.open:
            opened = self.open[-1]
            p.fail(f"expected {CLOSING[p.texts[opened]]!r}", opened)

    def _ended(self) -> bool:
        p = self.p
        text = p.texts[p.i]
        if not text:
            return True
        if self.open:
            return False
        if text in ("}", ";"):
            return True
        waits = p.texts[p.i - 1] in (":", ",", "->", "=")
        return not waits and p.begins_line() and begins(p, p.i, sure=False)

    def text(self, end: int) -> str:
        """Return the text, with a mark for each region."""
        last = self.p.tokens.source.text[self.from_ : self.p.tokens.end(end)]
        return REGION.join((*self.pieces, last))

    def _name(self, at: int) -> None:
        """Note a use, or define `%x = ...`, a name for the op's regions."""
        p = self.p
        name = p.texts[at][1:]
        known = p.names.table.get(name) or p.names.table.get(f"{name}#0")
        if p.texts[at + 1] == "=" and known is None:
            p.names.define(name, UNKNOWN, at)
        elif known is not None:
            self.uses.append(known)
        elif p.names.flat:
            self.uses.append(p.names.resolve(at))


def _types(p: Parser, arrow: int | None, colon: int | None, end: int, count: int) -> list[Type]:
    """Return the types of the results if the text ends with them, else unknown types."""
    unknown: list[Type] = [UNKNOWN] * count
    if not count:
        return unknown
    back = p.i
    for mark in (arrow, colon):
        if mark is None:
            continue
        p.i = mark + 1
        found: list[Type] = []
        try:
            grouped = p.accept("(")
            found.append(p.type())
            while p.accept(","):
                found.append(p.type())
            if grouped:
                p.expect(")")
            p.skip_location()
        except PtoError:
            found = []
        ended, p.i = p.i == end + 1, back
        part = mark is colon and any(str(kind).startswith("vector<") for kind in found)
        if len(found) == count and ended and not part:  # else perhaps an element of the vector
            return found
    return unknown
