"""Hovers: the words that are shown of what stands at a place."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from ptokit.ir.module import AnyOp, Func, Op
from ptokit.isa.index import lookup
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Elided, Type
from ptokit.tools.draw import layout_picture
from ptokit.tools.lsp.checking import CheckedProgram, TilePlace
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.markdown import code, escaped, form_page, manual


def hover(
    text: EditedText, checked: CheckedProgram | None, offset: int, language: str = "en"
) -> lsp.Hover | None:
    """The manual page of a word, or the type of a value and where the value lies."""
    at = text.token_at(offset)
    if at is None:
        return None
    word = text.tokens.texts[at]
    if word[:1] == "%":
        said = _value(text, checked, at)
    elif word[:1] == "!" and word in text.reading.aliases:
        said = _type(word, text.reading.aliases[word])
    elif word[:1] == "@":
        said = _function(text, word)
    else:
        said = _word(text, checked, at, offset, language)
    if said is None:
        return None
    span = text.tokens.span(at)
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, said)
    return lsp.Hover(content, text.at.range(span.start, span.end))


def _value(text: EditedText, checked: CheckedProgram | None, at: int) -> str | None:
    found = text.named(at)
    if found is None:
        return None
    value = found.value
    parts = [_type(f"%{found.name}", value.type)]
    offset = text.tokens.starts[at]
    if checked is not None and value.span is not None:
        op = text.op_at(value.span.start)
        where = text.op_at(offset) or op
        if where is not None:
            line = value.span.line
            placed = checked.placed(where[1].name, value.name, line)
            parts += _places(placed)
            if op is not None and op[0] is not where[0]:
                parts += [escaped(f"defined on line {line} by {op[0].name}")]
            parts += instruction(checked, *where)
    return "\n\n".join(parts)


def _type(name: str, kind: Type) -> str:
    """A type as it is spelled, of a tile with the picture of its layout."""
    if isinstance(kind, Elided):
        return code(f"{name}: type not known yet")
    head = code(f"{name}: {kind}")
    return f"{head}\n\n{code(layout_picture(kind), 'text')}" if isinstance(kind, TileType) else head


def _places(placed: list[TilePlace]) -> Iterator[str]:
    """Where a tile lies, and on which lines it is live."""
    for one in placed:
        tile = one.tile
        unknown = "at an address that only the run knows"
        at = unknown if tile.start is None else f"at {tile.start:#x}"
        end = "" if tile.end is None else f" to {tile.end - 1:#x}"
        given = "" if tile.explicit or tile.start is None else ", chosen by ptokit"
        live = f", live on lines {one.first} to {one.last}" if one.first and one.last else ""
        yield f"{one.target}: {one.memory} {at}{end} ({tile.nbytes:,} bytes{given}){live}"


def instruction(checked: CheckedProgram, op: AnyOp, func: Func) -> Iterator[str]:
    """The pipe of an instruction and how long it is predicted to keep the pipe busy."""
    for target, pipe, cycles in checked.cycles(op, func) if isinstance(op, Op) else ():
        time = "cycles depend on extents of the run" if cycles is None else f"{cycles:,} cycles"
        yield f"{escaped(op.name)} on {target}: {escaped(str(pipe))}, {time}"


def _function(text: EditedText, word: str) -> str | None:
    func = next((f for f in text.funcs if f"@{f.name}" == word), None)
    if func is None:
        return None
    args = "".join(f"\n  %{arg.name}: {arg.type}," for arg in func.args)
    results = f" -> ({', '.join(map(str, func.results))})" if func.results else ""
    remarks = "\n".join(line.lstrip("/# ") for line in func.comments.before)
    return f"{code(f'func.func {word}({args}{chr(10) if args else str()}){results}')}\n\n{remarks}"


def _word(
    text: EditedText, checked: CheckedProgram | None, at: int, offset: int, language: str
) -> str | None:
    """The page of a mnemonic with the facts of its instruction; else of a type or attribute."""
    word = text.tokens.texts[at]
    op = text.op_at(offset)
    name = word.strip('"')
    if lookup(name):
        if op is None or not isinstance(op[0], Op):
            page = manual(name, language)
        else:
            page = form_page(op[0].page, language)
        span = None if op is None else op[0].span
        mine = span is not None and span.start <= offset <= span.end
        facts = [*instruction(checked, *op)] if op and checked is not None and mine else []
        return "\n\n".join([*facts, *([page] if page else [])])
    return manual(word_in(text.text, offset), language)


def word_in(text: str, offset: int) -> str:
    """The word of letters, digits and dots around a place."""
    start = end = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_."):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] in "_."):
        end += 1
    return text[start:end].strip(".")
