"""Where a name is defined and used: of a value, a function, an alias of a type, a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol import types as lsp

from ptokit.tools.lsp.editedtext import EditedText

Places = list[tuple[int, int]]
PACK = re.compile(r"#\d+$")  # one of several results that have a name together
NEW_NAMES = {"%": r"%?([A-Za-z_$.-][\w$.-]*|\d+)", "!": r"!?([A-Za-z_]\w*)", "@": r"@?([\w$.-]+)"}
NEW_NAMES["^"] = NEW_NAMES["@"].replace("@", r"\^")


@dataclass(frozen=True)
class NamedThing:
    """A name of a text: all its places, as offsets without the sign before it, and the first."""

    sign: str
    name: str
    places: Places
    defined: tuple[int, int] | None


def named_thing(text: EditedText, offset: int) -> NamedThing | None:
    """Return what the name at a place stands for, with its places."""
    at = text.token_at(offset)
    if at is None:
        return None
    word = text.tokens.texts[at]
    if word[:1] == "%" and len(word) > 1:
        return _value(text, at)
    if word[:1] == "@" and len(word) > 1:
        return _function(text, word)
    if word[:1] == "^":
        return _label(text, at)
    inner = _alias_at(text, at, offset)
    return None if inner is None else _alias(text, inner)


def _value(text: EditedText, at: int) -> NamedThing | None:
    found = text.named(at)
    if found is None or found.value.span is None:
        return None
    tokens, base = text.tokens, PACK.sub("", found.name)
    first = text.token_at(found.value.span.start)
    if first is None:
        return None
    inside = range(first, found.scope.last)
    of_name = [i for i in inside if PACK.sub("", tokens.texts[i]) == f"%{base}"]
    places = [(tokens.starts[i] + 1, tokens.starts[i] + 1 + len(base)) for i in of_name]
    return NamedThing("%", base, places, places[0] if places else None)


def _function(text: EditedText, word: str) -> NamedThing:
    tokens = text.tokens
    name = word[2:-1] if word[1:2] == '"' else word[1:]
    shift = 2 if word[1:2] == '"' else 1
    places: Places = []
    defined = None
    for i, token in enumerate(tokens.texts):
        if token == word:
            place = tokens.starts[i] + shift, tokens.starts[i] + shift + len(name)
            places.append(place)
            if any(f.span is not None and f.span.start == tokens.starts[i] for f in text.funcs):
                defined = defined or place
    return NamedThing("@", name, places, defined)


def _label(text: EditedText, at: int) -> NamedThing:
    """Labels are names of the function that they stand in."""
    tokens, word = text.tokens, text.tokens.texts[at]
    first = last = at
    while first > 0 and tokens.texts[first] != "func.func":
        first -= 1
    while tokens.texts[last] and tokens.texts[last] != "func.func":
        last += 1
    places = [
        (tokens.starts[i] + 1, tokens.end(i)) for i in range(first, last) if tokens.texts[i] == word
    ]
    heads = [
        (tokens.starts[i] + 1, tokens.end(i))
        for i in range(first, last)
        if tokens.texts[i] == word and text.begins_statement(i) == i
    ]
    return NamedThing("^", word[1:], places, heads[0] if heads else None)


def _alias_at(text: EditedText, at: int, offset: int) -> str | None:
    """The alias at a place, which may be inside the token of another type."""
    for name, (start, end) in _aliases_in(text, at):
        if start - 1 <= offset <= end:
            return name
    return None


def _aliases_in(text: EditedText, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The aliases that a token names, with the places of the names."""
    word, start = text.tokens.texts[at], text.tokens.starts[at]
    if "!" in word and word[:1] != '"':
        for m in re.finditer(r"!([A-Za-z_][\w$]*)(?![\w$.<])", word):
            if m[0] in text.reading.aliases:
                yield m[0], (start + m.start(1), start + m.end(1))


def _alias(text: EditedText, name: str) -> NamedThing:
    tokens = text.tokens
    places: Places = []
    defined = None
    for i, word in enumerate(tokens.texts):
        if name in word:
            places += (place for one, place in _aliases_in(text, i) if one == name)
        if word == name and tokens.texts[i + 1] == "=":
            defined = defined or places[-1]
    return NamedThing("!", name[1:], places, defined)


def definition(text: EditedText, uri: str, offset: int) -> lsp.Location | None:
    found = named_thing(text, offset)
    if found is None or found.defined is None:
        return None
    return lsp.Location(uri, text.at.range(*found.defined))


def references(text: EditedText, uri: str, offset: int, *, declared: bool) -> list[lsp.Location]:
    found = named_thing(text, offset)
    places = [] if found is None else found.places
    chosen = [p for p in places if declared or found is None or p != found.defined]
    return [lsp.Location(uri, text.at.range(*place)) for place in chosen]


def highlights(text: EditedText, offset: int) -> list[lsp.DocumentHighlight]:
    found = named_thing(text, offset)
    places = [] if found is None else found.places
    return [
        lsp.DocumentHighlight(
            text.at.range(*place),
            lsp.DocumentHighlightKind.Write
            if found is not None and place == found.defined
            else lsp.DocumentHighlightKind.Read,
        )
        for place in places
    ]


def renamed(text: EditedText, offset: int, name: str) -> list[lsp.TextEdit] | str:
    """The edits that rename what is at a place, or why there are none."""
    found = named_thing(text, offset)
    if found is None:
        return "there is no name here that the text defines"
    match = re.fullmatch(NEW_NAMES[found.sign], name)
    if match is None:
        return f"{name!r} is no name here: expected {found.sign}NAME"
    wanted = match[1]
    if wanted != found.name and _taken(text, found, wanted):
        return f"{found.sign}{wanted} is defined already"
    return [lsp.TextEdit(text.at.range(*place), wanted) for place in found.places]


def _taken(text: EditedText, found: NamedThing, wanted: str) -> bool:
    """True if another thing has the name, where this one is named."""
    if found.sign != "%":
        return f"{found.sign}{wanted}" in text.tokens.texts
    first, last = found.places[0][0], found.places[-1][1]
    for at, word in enumerate(text.tokens.texts):
        if word == f"%{wanted}" or PACK.sub("", word) == f"%{wanted}":
            other = _value(text, at)
            places = [(text.tokens.starts[at], 0)] if other is None else other.places
            if places[0][0] <= last and first <= places[-1][0]:
                return True
    return False
