"""The TextMate grammar of the text: the spellings of operations, types and words, off the pages."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ptokit.isa.index import index, pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import BRANCHES, CALLS, REGIONS, TERMINATOR
from ptokit.text.read.cursor import BUILTIN, FUNC
from ptokit.values.dtypes import DTYPES
from ptokit.values.enumerations import BLayout, Loc, PadValue, SLayout, Word

CONTROL = {TERMINATOR, CALLS, BRANCHES}
NAME = r"[A-Za-z_$.-][\w$.-]*|\d+"
AROUND = ("to", "step", "iter_args", "else", "do", "case", "default", "ins", "outs", "attributes")
SCALARS = ("index", "i1", "none", "dtype")
HEADS = ("private", "public", "nested")


def grammar() -> str:
    """The grammar as the JSON that editors read."""
    return json.dumps(_grammar(), indent=2) + "\n"


def _grammar() -> dict[str, object]:
    repository: dict[str, object] = {
        "comment": {"patterns": [
            _match(r"//.*$", "comment.line.double-slash"),
            _match(r"^\s*#(?!pto[.<])(?![A-Za-z_]\w*\s+=\s).*$", "comment.line.number-sign"),
            _match(r"(?<=\s)#\s.*$", "comment.line.number-sign"),
        ]},
        "string": {
            "name": "string.quoted.double.pto", "begin": '"', "end": '"|$',
            "patterns": [_match(r"\\.", "constant.character.escape")],
        },
        "function": {
            "match": rf"({FUNC.replace('.', '[.]')})(?:\s+({_any(HEADS)}))?\s+(@(?:{NAME}))",
            "captures": _captures(
                "keyword.declaration", "storage.modifier", "entity.name.function"
            ),
        },
        "symbol": _match(rf"@(?:{NAME})", "entity.name.function"),
        "module": _match(r"\bmodule\b", "keyword.declaration"),
        "label": _match(rf"\^(?:{NAME})", "entity.name.label"),
        "value": _match(rf"%(?:{NAME})(?:#\d+)?", "variable.other"),
        "attribute": {
            "begin": r"(#pto(?:[.]\w+)*)\s*(<)", "end": ">",
            "beginCaptures": {"1": {"name": "entity.name.type.pto"}},
            "patterns": [
                {"include": "#attribute"}, {"include": "#number"},
                _match(r"[A-Za-z_]\w*", "constant.language"),
            ],
        },
        "alias": _match(r"#[A-Za-z_]\w*", "entity.name.type"),
        "type": {"patterns": [
            {
                "begin": rf"(![A-Za-z_][\w$.]*|\b(?:{BUILTIN}))(<)", "end": ">",
                "beginCaptures": {"1": {"name": "entity.name.type.pto"}},
                "patterns": [{"include": f"#{one}"} for one in
                             ("type", "attribute", "field", "extent", "element", "number")],
            },
            _match(r"![A-Za-z_][\w$.]*", "entity.name.type"),
            {"include": "#element"},
        ]},
        "field": {"patterns": [
            _match(r"\b[a-z_]\w*(?=\s*=)", "variable.parameter"),
            _match(rf"\b(?:{_any(_words_of_types())})\b(?!\s*=)", "constant.language"),
        ]},
        "extent": {
            "match": rf"((?:(?:\d+|[?])x)+)({_any(_elements())})?",
            "captures": _captures("constant.numeric", "storage.type"),
        },
        "element": _match(rf"\b(?:{_any(_elements())})\b(?![.\w])", "storage.type"),
        "words": {
            "match": rf"(<)({_any(_bare_words())})(>)",
            "captures": {"2": {"name": "constant.language.pto"}},
        },
        "control": _match(rf"(?<![\w.%@!#])(?:{_any(_names(control=True))})(?![\w.])",
                          "keyword.control"),
        "operation": _match(
            rf"(?<![\w.%@!#])(?:{_any(_names(control=False))})(?![\w.])(?!\s*=)",
            "support.function",
        ),
        "unknown": _match(r"(?<![\w.%@!#<])[a-z_]\w*(?:[.]\w+)+", "entity.name.function"),
        "keyword": _match(rf"\b(?:{_any(AROUND)})\b", "keyword.other"),
        "key": _match(rf"\b(?:[A-Za-z_][\w.]*(?=\s*=[^=])|(?:{_any(_clauses())})\b(?=\s*[\[(%=<]))",
                      "variable.parameter"),
        "number": {"patterns": [
            _match(r"(?<![\w.%@])-?0x[0-9a-fA-F]+", "constant.numeric.hex"),
            _match(r"(?<![\w.%@])-?\d+(?:[.]\d*)?(?:[eE][-+]?\d+)?\b", "constant.numeric"),
            _match(r"\b(?:true|false|unit)\b", "constant.language"),
        ]},
        "operator": _match(r"->|=(?!=)|[:]", "keyword.operator"),
    }  # fmt: skip
    order = (
        *("comment", "string", "function", "symbol", "module", "label", "value", "attribute"),
        *("words", "type", "keyword", "control", "key", "operation", "unknown", "number"),
        *("alias", "operator"),
    )
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "PTO",
        "scopeName": "source.pto",
        "fileTypes": ["pto"],
        "patterns": [{"include": f"#{name}"} for name in order],
        "repository": repository,
    }


def _match(pattern: str, name: str) -> dict[str, object]:
    return {"match": pattern, "name": f"{name}.pto"}


def _captures(*names: str) -> dict[str, object]:
    return {str(n): {"name": f"{name}.pto"} for n, name in enumerate(names, 1)}


def _any(words: Iterable[str]) -> str:
    """An expression for any of these words, the longest first."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(word.replace(".", "[.]").replace("?", "[?]") for word in ordered)


def _names(*, control: bool) -> list[str]:
    """The spellings of operations: those of control flow, or the others."""
    found: set[str] = set()
    for spelling, forms in index().items():
        if any(_controls(page) for page in forms) is control:
            found |= {spelling for _ in forms}
            found |= {name for page in forms for name in _dotted(page)}
    return sorted(found)


def _controls(page: type[Instr]) -> bool:
    return bool(CONTROL & {*page.traits} or REGIONS in page.uses)


def _dotted(page: type[Instr]) -> Iterable[str]:
    """The names of an operation as text has them, with their dots."""
    for name in (page.name, *page.asm.names):
        yield f"{page.asm.dialect}.{name}"
        if page.asm.dialect == "pto":
            yield from (name, name.replace("_", "."))
    if page.asm.name:
        yield page.asm.name


def _elements() -> list[str]:
    return [*(name for d in DTYPES for name in (d.name, *d.aliases)), *SCALARS]


def _words_of_types() -> list[str]:
    """The words that fields of a tile type have."""
    kinds: tuple[type[Word], ...] = (Loc, BLayout, SLayout, PadValue)
    return [text for kind in kinds for word in kind for text in (word.text, word.cpp, *word.short)]


def _bare_words() -> list[str]:
    """The words that stand alone between angle brackets."""
    kinds = {a.kind for p in pages() for a in p.attrs if issubclass(a.kind, Word)}
    return [word.text for kind in kinds for word in kind]


def _clauses() -> list[str]:
    """The words before operands."""
    return [o.key for p in pages() for o in p.operands if o.key]
