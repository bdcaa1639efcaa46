"""Statements whose syntax a format string describes, for their reader and for their printer.

In a format `%name` is an operand, `%*` all of them with commas, `$name` the type of an operand,
`$result` and `$last` those of the first and the last result, `{name}` an attribute, `<name>` one as
a bare word, `<>` bare words of any attributes, `{}` all other attributes. `?(...)` is left out if
nothing in it is given. The rest stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from ptokit.ir.module import Op, Raw
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.model.types import INDEX, Kind, ScalarType, Type
from ptokit.text.read.attributes import Given, bind_attributes, dictionary, read_value
from ptokit.text.read.build import Use, finish
from ptokit.text.read.callreader import FLAGS, Item, flags, read_item, typed
from ptokit.text.read.names import Named
from ptokit.text.read.parser import Parser
from ptokit.values.enumerations import Word

FORMATS = {
    "asserted": "%condition, {message}",
    "cast": "%value<>{} : $value to $result",
    "compare": "<predicate>, %lhs, %rhs{} : $lhs",
    "declared": "-> $result",
    "field": "%struct{path}?(, %value) : $struct?(, $value)?( -> $result)",
    "in_full": "%*{} : $result?(, $last)",
    "maintained": "?(all {space})?(%place single_cache_line : $place)",
    "memref_cast": "%src{} : $src to $result",
    "memref_part": "%src[%offsets] [%sizes] [%steps]{} : $src to $result",
    "moved": "%ptr, %offset : $ptr?( -> $result)",
    "printed": "ins({format}, %scalar : $scalar)",
    "recast": "%src to offset: [%offset], sizes: [%sizes], strides: [%strides]{} : $src to $result",
    "same": "%*{} : $result",
    "select": "%condition, %yes, %no : ?(i1, )$result",
    "tile_element": "ins(%src, %offset : $src, $offset) outs : $result",
}
PIECE = r"\?\((.*?)\)|([%$])(\w+|\*)|(\{)(\w*)\}|(<)(\w*)>|->|\w+|[^\w\s]|\s+"
POINTER = "!pto.ptr"
RESULTS = ("result", "last")


class FormatPart(NamedTuple):
    """A part of a format: its sign and the name after the sign, or text; or an optional group."""

    sign: str
    name: str
    text: str
    group: tuple[FormatPart, ...] = ()


@cache
def pieces(text: str) -> tuple[FormatPart, ...]:
    """Return the parts of a format."""
    found: list[FormatPart] = []
    for match in re.finditer(PIECE, text):
        group, sign, name, brace, attr, angle, word = match.groups()
        sign, name = sign or brace or angle or "", name or attr or word or ""
        found.append(FormatPart(sign, name, match[0], pieces(group) if group else ()))
    return tuple(found)


def read_formatted(p: Parser, forms: Sequence[type[Instr]], at: int, results: list[Named]) -> Op:
    """Read a statement by the format of its shape."""
    read = _FormattedStatement(p, forms)
    read.parts(pieces(FORMATS[forms[0].asm.shape]))
    return read.op(at, results)


class _FormattedStatement:
    """The parts of a statement that were read; `forms` are the pages that have all of them."""

    def __init__(self, p: Parser, forms: Sequence[type[Instr]]) -> None:
        self.p, self.forms = p, forms
        self.items: dict[str, Item] = {}
        self.types: dict[str, tuple[Type, int]] = {}  # each with the token where it ends
        self.given: list[Given] = []

    def parts(self, format: Sequence[FormatPart]) -> None:
        for piece in format:
            if piece.group:
                if self._follows(piece.group):
                    self.parts(piece.group)
            elif piece.sign == "%":
                self._operands(piece.name)
            elif piece.sign == "$":
                kind = self._stripped() if self.p.texts[self.p.i] == "<" else self.p.type()
                self.types[piece.name] = kind, self.p.i - 1
            elif piece.sign:
                self._attributes(piece)
            elif not piece.text.isspace():
                self.p.expect(piece.text)

    def _follows(self, group: Sequence[FormatPart]) -> bool:
        """Return whether the words at the start of an optional group stand here, or must."""
        if any(piece.sign == "$" and piece.name in self.items for piece in group):
            return True
        texts = self.p.texts[self.p.i :][: len(group)]
        words = [piece.text for piece in takewhile(lambda g: not g.sign, group)]
        words = [word for word in words if not word.isspace()]
        operand = self.p.at_operand() and not self.p.begins_statement()
        return texts[: len(words)] == words if words else operand

    def _operands(self, name: str) -> None:
        if name != "*":
            self._keep(name)
            self.items[name] = read_item(self.p)
            return
        for operand in _in_order(self.forms[0]):
            if self.items and not self.p.accept(","):
                break
            self.items[operand.name] = read_item(self.p)

    def _keep(self, name: str) -> None:
        """Keep the forms that have an operand or attribute of this name."""
        if len(self.forms) > 1:
            named = ((form, (*form.operands, *form.attrs)) for form in self.forms)
            self.forms = [form for form, fields in named if name in {f.name for f in fields}]

    def _attributes(self, piece: FormatPart) -> None:
        p, at = self.p, self.p.i
        if piece.name:
            self._keep(piece.name)
            key = next(a.key for a in self.forms[0].attrs if a.name == piece.name)
            bare = piece.sign == "<" and p.texts[at][:1] != '"'
            value = Raw(p.word(f"a {key}")) if bare else read_value(p)
            self.given.append(Given(key, at, value, at, p.i - 1))
        elif piece.sign == "<":
            while (attr := _worded(self.forms[0], p.texts[p.i])) is not None:
                self.given.append(Given(attr.key, p.i, Raw(p.texts[p.i]), p.i, p.i))
                p.i += 1
        else:
            self.given += [flags(p)] if p.texts[at] in FLAGS else []
            self.given += dictionary(p) if p.texts[p.i] == "{" else []

    def _stripped(self) -> Type:
        """Read a pointer type without its name: `<f32, gm>`."""
        p, opened = self.p, self.p.i
        while p.texts[p.i] not in (">", ""):
            p.i += 1
        p.expect(">", opened)
        base = p.tokens.starts[opened] - len(POINTER)
        return p.type_spelled(POINTER + "".join(p.texts[opened : p.i]), base)

    def op(self, at: int, results: list[Named]) -> Op:
        """Return the op, of the first form that accepts the types."""
        written = [(name, kind) for name, (kind, _) in self.types.items() if name in self.items]
        fits = (f for f in self.forms if all(f.operand(n).accepts(kind) for n, kind in written))
        page = next(fits, self.forms[0])
        op = Op(page, spans={"": self.p.span(at)})
        bind_attributes(self.p, op, self.given)
        operands = [o for o in _in_order(page) if o.name in self.items]
        values = [self._use(operand) for operand in operands]
        return finish(self.p, op, results, values, [*self._results(page)])

    def _use(self, operand: Operand) -> Use:
        """Return the value of an operand; one without a written type has the first type."""
        item = self.items[operand.name]
        kind, at = self.types.get(operand.name, (None, item.at))
        if kind is None and operand.scalar:
            kind = ScalarType(operand.scalar)
        elif kind is None and operand.kind is Kind.INDEX:
            kind = INDEX if item.value is None or item.value.elided else item.value.type
        elif kind is None:
            kind, at = next(iter(self.types.values()))
        return typed(self.p, item, kind, at), item.at

    def _results(self, page: type[Instr]) -> Iterator[Type]:
        """Yield the types of the results: the written one, the page's, or the first type."""
        for operand, name in zip(page.results(), RESULTS, strict=False):
            if name not in self.types and operand.scalar:
                yield ScalarType(operand.scalar)
            else:
                yield self.types.get(name, next(iter(self.types.values())))[0]


def _in_order(page: type[Instr]) -> list[Operand]:
    """Return the operands in text order."""
    return [page.operand(name) for name in page.asm.order] or list(page.ins())


def _worded(page: type[Instr], text: str) -> Attr | None:
    """Return the attribute that has the member `text`, which stands alone."""
    kinds = ((attr, attr.kind) for attr in page.attrs)
    return next((a for a, kind in kinds if issubclass(kind, Word) and kind.named(text)), None)
