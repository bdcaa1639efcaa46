"""Semantic tokens: the kind of each token that follows from the program, not from its form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lsprotocol import types as lsp

from ptokit.ir.module import Value
from ptokit.isa.index import lookup
from ptokit.isa.model.types import ScalarType
from ptokit.text.read.cursor import IS_ATTRIBUTE
from ptokit.tools.lsp.editedtext import EditedText

KINDS = ("function", "parameter", "variable", "number", "type", "enumMember", "label", "property")
MODIFIERS = ("declaration", "readonly")
LEGEND = lsp.SemanticTokensLegend(KINDS, MODIFIERS)


def semantic_tokens(text: EditedText) -> lsp.SemanticTokens:
    """The tokens that have a kind, each by its distance from the one before it."""
    data: list[int] = []
    line = column = 0
    for start, end, kind, modifiers in _kinds(text):
        place = text.at.range(start, end)
        if place.start.line != place.end.line:
            continue
        if place.start.line > line:
            column = 0
        length = place.end.character - place.start.character
        data += (place.start.line - line, place.start.character - column, length, kind, modifiers)
        line, column = place.start.line, place.start.character
    return lsp.SemanticTokens(data)


def _kinds(text: EditedText) -> Iterator[tuple[int, int, int, int]]:
    """Yield the place of each token with its kind and modifiers, by number."""
    tokens, values = text.tokens, _values(text)
    arguments = {id(arg) for func in text.funcs for arg in func.args if not func.flat}
    for at, word in enumerate(tokens.texts):
        start, end, first = tokens.starts[at], tokens.end(at), word[:1]
        kind, modifiers = "", 0
        if first == "%":
            value = values(at)
            if value is None:
                continue
            number = isinstance(value.type, ScalarType)
            kind = "parameter" if id(value) in arguments else "variable"
            modifiers = 2 if number else 0
            modifiers |= value.span is not None and value.span.start == start
        elif first == "!" and word in text.reading.aliases:
            kind, modifiers = "type", tokens.texts[at + 1] == "="
        elif first == "@":
            kind = "function"
        elif first == "^":
            kind = "label"
        elif first == "#" and re.fullmatch(IS_ATTRIBUTE, word):
            kind = "enumMember"
        elif "." in word and first.isalpha() and lookup(word):
            kind = "function"
        if kind:
            yield start, end, KINDS.index(kind), int(modifiers)


def _values(text: EditedText) -> Callable[[int], Value | None]:
    """Return a function from tokens to the values that they name."""
    scopes: dict[str, list[tuple[int, int, Value]]] = {}
    starts = text.tokens.starts
    for scope in text.reading.scopes:
        for name, value in scope.values.items():
            if value.span is not None:
                place = value.span.start, starts[scope.last], value
                scopes.setdefault(name.partition("#")[0], []).append(place)

    def found(at: int) -> Value | None:
        name = text.tokens.texts[at][1:].partition("#")[0]
        start = starts[at]
        return next((v for a, b, v in scopes.get(name, ()) if a <= start < b), None)

    return found
