"""The outline of a text, and the parts of it that fold."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from ptokit.ir.module import Func, Op
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import ScalarType
from ptokit.tools.lsp.editedtext import EditedText


def symbols(text: EditedText) -> list[lsp.DocumentSymbol]:
    """Aliases of types and functions; in a function what it names that leads to memory."""
    found = [*_aliases(text), *(_function(text, func) for func in text.funcs if func.span)]
    if any(func.flat for func in text.funcs):
        found += [one for func in text.funcs for one in _values(text, func)]
    return found


def _aliases(text: EditedText) -> Iterator[lsp.DocumentSymbol]:
    texts = text.tokens.texts
    for at, word in enumerate(texts):
        if word[:1] == "!" and texts[at + 1] == "=" and word in text.reading.aliases:
            span = text.tokens.span(at)
            kind = str(text.reading.aliases[word])
            yield _symbol(text, word, kind, lsp.SymbolKind.TypeParameter, (span[1], span[2]))


def _function(text: EditedText, func: Func) -> lsp.DocumentSymbol:
    assert func.span is not None
    at = text.token_at(func.span.start) or 0
    place = func.span.start, func.span.end
    end = text.tokens.end(body_end(text, at))
    args = ", ".join(f"%{arg.name}: {arg.type}" for arg in func.args)
    kind = lsp.SymbolKind.Function
    name = text.text[slice(*place)]
    return _symbol(text, name, f"({args})", kind, place, end, [*_values(text, func)])


def _values(text: EditedText, func: Func) -> Iterator[lsp.DocumentSymbol]:
    """Yield what an op defines that is no number."""
    for op in func.walk():
        for value in op.results if isinstance(op, Op) else ():
            if (
                value.span is not None
                and not value.literal
                and not isinstance(value.type, ScalarType)
            ):
                kind = lsp.SymbolKind.Variable
                if isinstance(value.type, TileType):
                    kind = lsp.SymbolKind.Array
                place = value.span.start, value.span.end
                yield _symbol(text, f"%{value.name}", str(value.type), kind, place)


def _symbol(
    text: EditedText,
    name: str,
    detail: str,
    kind: lsp.SymbolKind,
    place: tuple[int, int],
    end: int = 0,
    inside: list[lsp.DocumentSymbol] | None = None,
) -> lsp.DocumentSymbol:
    whole = text.at.range(place[0], max(end, place[1]))
    return lsp.DocumentSymbol(name, kind, whole, text.at.range(*place), detail, children=inside)


def body_end(text: EditedText, symbol: int) -> int:
    """The token that closes the body of a function; `symbol` is that of its name."""
    texts, at = text.tokens.texts, symbol + 1
    while texts[at] not in ("", "func.func"):
        if texts[at] == "{" and texts[at - 1] != "attributes":
            return closing(texts, at)
        at = closing(texts, at) + 1 if texts[at] in "({[" else at + 1
    return symbol


def closing(texts: list[str], at: int) -> int:
    """The bracket that closes the one at a token; the last token if there is none."""
    depth = 0
    while texts[at]:
        if texts[at] in ("(", "[", "{"):
            depth += 1
        elif texts[at] in (")", "]", "}"):
            depth -= 1
            if depth <= 0:
                return at
        at += 1
    return at - 1


def folds(text: EditedText) -> Iterator[lsp.FoldingRange]:
    """Yield what stands in braces on several lines, and comments of several lines."""
    tokens, line = text.tokens, text.at.line_of
    opened: list[int] = []
    for at, word in enumerate(tokens.texts):
        if word == "{":
            opened.append(line(tokens.starts[at]))
        elif word == "}" and opened:
            first, last = opened.pop(), line(tokens.starts[at]) - 1
            if last > first:
                yield lsp.FoldingRange(first, last)
    alone = [line(c.start) for c in tokens.comments if _alone(text, c.start)]
    while alone:
        first = last = alone.pop(0)
        while alone and alone[0] == last + 1:
            last = alone.pop(0)
        if last > first:
            yield lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind.Comment)


def _alone(text: EditedText, start: int) -> bool:
    """True if nothing stands before a comment on its line."""
    return not text.text[text.at.starts[text.at.line_of(start)] : start].strip()
