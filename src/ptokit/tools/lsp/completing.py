"""Completion and signature help: operations, values, types, attributes and their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeAlias

from lsprotocol import types as lsp

from ptokit.isa.index import lookup, pages
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.text.read.signature import signature
from ptokit.tools.lsp.editedtext import EditedText
from ptokit.tools.lsp.markdown import manual
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import BLayout, Loc, SLayout, Word

Kind = lsp.CompletionItemKind
Maker: TypeAlias = "Callable[[EditedText, int, re.Match[str]], Iterator[lsp.CompletionItem]]"
OPERATION = re.compile(r"^\s*(?:%[^=]*=\s*)?([A-Za-z_][\w.]*)")
FIELDS = {"loc": Loc, "blayout": BLayout, "slayout": SLayout}
TILE_FIELDS = ("loc", "dtype", "rows", "cols", "v_row", "v_col", "blayout", "slayout", "fractal")


def completions(text: EditedText, offset: int) -> lsp.CompletionList:
    """Return what may stand at a place, by what stands before it on its line."""
    line = text.at.line_of(offset)
    before = text.text[text.at.starts[line] : offset]
    found: list[lsp.CompletionItem] = []
    if not re.match(r"\s*(//|#(?!pto))", before):
        for form, maker in MAKERS:
            match = form.search(before)
            if match is not None:
                found = [*maker(text, offset, match)]
                break
    return lsp.CompletionList(False, found)


def _item(
    text: EditedText, offset: int, begun: str, label: str, kind: Kind, **more: str
) -> lsp.CompletionItem:
    """An item that stands for what was begun before the cursor."""
    start = offset - len(begun)
    snippet = more.pop("snippet", "")
    edit = lsp.TextEdit(text.at.range(start, offset), snippet or label)
    form = lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText
    item = lsp.CompletionItem(label, kind=kind, text_edit=edit, insert_text_format=form)
    item.detail, item.sort_text = more.get("detail"), more.get("sort", label)
    item.data, item.filter_text = more.get("data"), label
    return item


def _nothing(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """Nothing is known of what may stand here."""
    return iter(())


# values


def _values(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The values in scope, those first that the operand takes, of them the last one defined."""
    slot = _slot(text, offset, match.start())
    for name, found in text.visible(offset - len(match[0])).items():
        kind = found.value.type
        fits = slot is not None and slot.accepts(kind)
        start = 0 if found.value.span is None else found.value.span.start
        order = f"{0 if fits else 1}{10**9 - start}"
        yield _item(text, offset, match[0], f"%{name}", Kind.Variable, detail=str(kind), sort=order)


def _slot(text: EditedText, offset: int, column: int) -> Operand | None:
    line = text.at.starts[text.at.line_of(offset)]
    found = operand_at(text.text[line : line + column])
    return None if found is None else next((s[n] for _, s, n in found if n < len(s)), None)


def operand_at(before: str) -> list[tuple[type[Instr], tuple[Operand, ...], int]] | None:
    """The forms of the operation on a line, the slots of the list at its end, and which is next."""
    match = OPERATION.match(before)
    forms = lookup(match[1]) if match else ()
    if match is None or not forms:
        return None
    rest = before[match.end() :]
    opened = max(rest.rfind("ins("), rest.rfind("outs("))
    inside = rest[opened:].partition("(")[2] if opened >= 0 else rest
    if ")" in inside or ":" in inside or "{" in inside:
        return None
    number = inside.count(",")
    found: list[tuple[type[Instr], tuple[Operand, ...], int]] = []
    for page in forms:
        parts = signature(page)
        slots = parts.bare if opened < 0 else parts.ins
        slots = parts.outs if opened >= 0 and rest[opened:].startswith("outs(") else slots
        found.append((page, slots, number))
    return found


# words, attributes


def _words(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The words of `#pto.family<`."""
    for kind in dict.fromkeys(a.kind for p in pages() for a in p.attrs):
        if issubclass(kind, Word) and kind.mlir == match[1]:
            yield from _members(text, offset, match[2], kind)


def _members(
    text: EditedText, offset: int, begun: str, kind: type[Word], spelled: bool = False
) -> Iterator[lsp.CompletionItem]:
    for word in kind:
        label = word.spelled if spelled else word.text
        detail = f"C++ {word.cpp}"
        yield _item(text, offset, begun, label, Kind.EnumMember, detail=detail, data=kind.mlir)


def _families(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    kinds = dict.fromkeys(a.kind for p in pages() for a in p.attrs)
    names = dict.fromkeys(k.mlir for k in kinds if issubclass(k, Word) and k.mlir)
    for name in names:
        snippet = f"#pto.{name}<$1>"
        yield _item(text, offset, match[0], f"#pto.{name}", Kind.Enum, snippet=snippet, data=name)


def _bracketed(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The words of an instruction that has them alone: `[<PIPE_V>, <`."""
    before = match.string
    operation = OPERATION.match(before)
    for page in lookup(operation[1]) if operation else ():
        words = [a.kind for a in page.attrs if issubclass(a.kind, Word)]
        number = before[: match.start()].count("<", operation.end() if operation else 0)
        if number < len(words):
            for word in words[number]:
                yield _item(text, offset, match[1], word.text, Kind.EnumMember)
            return


def _keys(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The keys of the attributes of the operation on the line."""
    for attr in _attrs_of(match.string):
        default = "" if attr.required or attr.default is None else f", default {attr.default}"
        words = " | ".join(attr.kind.options()) if issubclass(attr.kind, Word) else ""
        detail = f"{words or attr.kind.__name__}{default}"
        yield _item(
            text, offset, match[1], attr.key, Kind.Property, snippet=f"{attr.key} = $0",
            detail=detail,
        )  # fmt: skip


def _attribute(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The words that an attribute of the operation on the line may have."""
    for attr in _attrs_of(match.string):
        if attr.key == match[1] and issubclass(attr.kind, Word):
            yield from _members(text, offset, match[2], attr.kind, spelled=True)
        elif attr.key == match[1] and attr.kind is bool:
            for word in ("true", "false"):
                yield _item(text, offset, match[2], word, Kind.Keyword)


def _attrs_of(line: str) -> list[Attr]:
    operation = OPERATION.match(line)
    found = [a for page in (lookup(operation[1]) if operation else ()) for a in page.attrs]
    return [*{a.key: a for a in found}.values()]


# types


def _types(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """Aliases of the text, then the spellings of types."""
    for name, kind in text.reading.aliases.items():
        yield _item(
            text, offset, match[0], name, Kind.TypeParameter, detail=str(kind), sort=f"!{name}"
        )
    for name, snippet in _spellings().items():
        yield _item(
            text, offset, match[0], name, Kind.Struct, snippet=snippet, data=name.partition(".")[2]
        )


@cache
def _spellings() -> dict[str, str]:
    """Each type with a snippet of its first spelling in the manual."""
    from ptokit.tools.manual.topics import TYPES  # it imports the front end

    return {n.partition("<")[0]: n for _, n, *_ in TYPES.values() if n.startswith("!")}


def _field(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The values of a field of a tile type."""
    if match[1] == "dtype":
        for dtype in DTYPES:
            yield _item(text, offset, match[2], dtype.name, Kind.EnumMember, data=dtype.name)
    elif match[1] in FIELDS:
        yield from _members(text, offset, match[2], FIELDS[match[1]])


def _fields(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """The fields of a tile type, and the locations it may begin with."""
    for name in TILE_FIELDS:
        yield _item(text, offset, match[1], name, Kind.Field, snippet=f"{name}=$0")
    yield from _members(text, offset, match[1], Loc)


def _next(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    """A value in a list of operands, else a type."""
    end = re.compile("$").search(match.string)
    assert end is not None
    operands = operand_at(match.string) is not None and ":" not in match[0]
    yield from (_values if operands else _types)(text, offset, end)


# operations


def _functions(text: EditedText, offset: int, match: re.Match[str]) -> Iterator[lsp.CompletionItem]:
    for func in text.funcs:
        yield _item(text, offset, match[0], f"@{func.name}", Kind.Function)


def _operations(
    text: EditedText, offset: int, match: re.Match[str]
) -> Iterator[lsp.CompletionItem]:
    """The operations with their operands, named as the text names others."""
    form = "DPS" if "ins(" in text.text or text.text.count("= pto.") else "PTO-AS"
    named = match[1] is not None
    for name, summary, snippets in _snippets():
        snippet = snippets.get(form) or snippets.get("others") or name
        if named and "outs(" in snippet:
            continue
        if named:
            snippet = snippet.partition(" = ")[2] or snippet
        label = name if form == "DPS" or "." not in snippet else snippet.partition(" ")[0]
        yield _item(
            text, offset, match[2], label, Kind.Function, snippet=snippet, detail=summary, data=name
        )


@cache
def _snippets() -> tuple[tuple[str, str, dict[str, str]], ...]:
    """Each instruction with its text in each form, as a snippet."""
    from ptokit.tools.manual.instruction import forms  # it imports the front end

    found: dict[str, tuple[str, str, dict[str, str]]] = {}
    for page in pages():
        texts = {label: _snippet(text) for label, text in forms(page)}
        found.setdefault(page.mnemonic(), (page.mnemonic(), page.summary(), texts))
    return tuple(found.values())


def _snippet(text: str) -> str:
    """A form of the manual with a place to fill in for each operand and type."""
    count = 0

    def place(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"${{{count}:%{match[1]}}}" if match[1] else f"${{{count}:!T}}"

    return re.sub(r"%(\w+)|\.\.\.", place, text.replace("$", "\\$"))


def resolved(item: lsp.CompletionItem) -> lsp.CompletionItem:
    """The item with its manual page."""
    page = manual(str(item.data)) if item.data else None
    if page is not None:
        item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, page)
    return item


MAKERS: tuple[tuple[re.Pattern[str], Maker], ...] = (
    (re.compile(r"^\s*()%[\w$.-]*$"), _nothing),  # a new name
    (re.compile(r"%[\w$.#-]*$"), _values),
    (re.compile(r"#pto\.(\w+)<(\w*)$"), _words),
    (re.compile(r"#[\w.]*$"), _families),
    (re.compile(r"@[\w$.-]*$"), _functions),
    (re.compile(r"[<,]\s*(dtype|loc|blayout|slayout)\s*=\s*(\w*)$"), _field),
    (re.compile(r"!pto\.tile_buf<(?:[^<>]*,)?\s*(\w*)$"), _fields),
    (re.compile(r"(?<![\w.])![\w.]*$"), _types),
    (re.compile(r"<(\w*)$"), _bracketed),
    (re.compile(r"[{,]\s*(\w+)\s*=\s*([\w#.<]*)$"), _attribute),
    (re.compile(r"\{(?:[^{}]*,)?\s*(\w*)$"), _keys),
    (re.compile(r"(?:[:(,]|->)\s*$"), _next),
    (re.compile(r"^\s*(%[^=]*=\s*)?((?:[A-Za-z_][\w.]*)?)$"), _operations),
)


def signatures(text: EditedText, offset: int) -> lsp.SignatureHelp | None:
    """The operands of the operation on the line, and which of them is at the place."""
    before = text.text[text.at.starts[text.at.line_of(offset)] : offset]
    found = operand_at(before)
    if not found:
        return None
    found = [one for one in found if one[1]]
    several = [_signature(page, slots) for page, slots, _ in found]
    if not several:
        return None
    number = found[0][2]
    fits = next((n for n, (_, slots, _) in enumerate(found) if number < len(slots)), 0)
    return lsp.SignatureHelp(several, active_signature=fits, active_parameter=number)


def _signature(page: type[Instr], slots: tuple[Operand, ...]) -> lsp.SignatureInformation:
    label, parts = f"{page.mnemonic()} ", list[lsp.ParameterInformation]()
    for slot in slots:
        label += ", " if parts else ""
        word = f"{slot.name}: {slot.kind_name}"
        word = word if slot.required else f"[{word}]"
        place = len(label), len(label) + len(word)
        parts.append(lsp.ParameterInformation(place, slot.doc or None))
        label += word
    return lsp.SignatureInformation(label, page.summary(), parts)
