"""Going on after a statement that cannot be read: where the next one begins, what stays unknown.

Each broken statement is reported once and gives no further errors: the names that it defines are
known, of a type that agrees with every use.
"""

from __future__ import annotations

from ptokit.isa.index import lookup
from ptokit.text.read.cursor import CLOSING, FUNCS, UNKNOWN, Lost
from ptokit.text.read.parser import Parser

ENDS = ("=", ",", ":", ")", "]", "}")  # after a word that is no mnemonic


def skip(p: Parser, first: int) -> None:
    """Leave the broken statement that starts at token `first`; regions on the way are read."""
    define_results(p, first)
    start = p.i = max(first + 1, p.reached)
    opened: list[str] = []
    while text := p.texts[p.i]:
        if _ended(p, opened):
            break
        if text == "{" and begins_region(p, p.i):
            _region(p, start)
            start, opened = p.i, []
            continue
        if text in ("(", "[", "{"):
            opened.append(text)
        elif (
            text in (")", "]", "}") and not _closed(opened, text) and (p.depth or not p.names.flat)
        ):
            break
        p.i += 1
    while p.accept(";"):
        pass


def _ended(p: Parser, opened: list[str]) -> bool:
    """Whether another statement or a function begins at the cursor."""
    text = p.texts[p.i]
    if text in FUNCS or (text == ";" and not opened):
        return True
    return p.begins_line() and (text == "module" or begins(p, p.i, sure=bool(opened)))


def _region(p: Parser, start: int) -> None:
    """The region at the cursor, of a head that begins at token `start`."""
    p.names.open()
    p.guess(start, p.i)
    try:
        p.region([])
    except Lost:  # the brace may be wrong as well
        raise Lost(()) from None
    p.names.close()


def _closed(opened: list[str], text: str) -> bool:
    """Close the bracket; False if it is the brace of a block around the statement."""
    if text in (CLOSING[b] for b in opened):
        while CLOSING[opened.pop()] != text:
            pass
        return True
    return text != "}"


def define_results(p: Parser, first: int) -> None:
    """The names before `=`, of a directive or an alias: what they stand for is unknown."""
    if p.texts[first][:1] == "!":
        p.aliases.setdefault(p.texts[first], UNKNOWN)
    i = first + (p.texts[first][:1] == ".")
    while p.texts[i][:1] == "%":
        name, width = p.texts[i][1:], 1
        if p.texts[i + 1] == ":" and p.texts[i + 3] in ("=", ","):
            name, width = f"{name}#0", 3
        p.names.guess(name, i)
        i += width + 1
        if p.texts[i - 1] != ",":
            break


def begins(p: Parser, i: int, *, sure: bool) -> bool:
    """Whether the token, the first of its line, can be the first of a statement.

    `sure`: brackets are open, so that it may as well go on with the one before.
    """
    text, following = p.texts[i], p.texts[i + 1]
    first = text[:1]
    if first == "%":
        if not sure:
            return following in ("=", ":", ",")
        return p.begins_statement(i) and not _carries(p, i)
    if first == '"':
        return following == "("
    if first in ("^", "!", "."):
        return not sure or (first == "^" and following in ("(", ":"))
    if not (first.isalpha() or first == "_"):
        return False
    if sure:
        return following not in ENDS and bool(lookup(text))
    alone = not following or p.begins_line(i + 1)
    return "." in text or following[:1] == "%" or bool(lookup(text)) or alone


def _carries(p: Parser, i: int) -> bool:
    """Whether `%name = %other` stands there, as in a list of loop-carried values."""
    return p.texts[i + 1] == "=" and not (p.texts[i + 2][:1].isalpha() or p.texts[i + 2][:1] == '"')


def begins_region(p: Parser, i: int) -> bool:
    """Whether the brace opens a region, not a dictionary."""
    text, following = p.texts[i + 1], p.texts[i + 2]
    first = text[:1]
    if first in ("^", "%"):
        return True
    if first == '"':
        return following == "("
    if not (first.isalpha() or first == "_"):
        return False
    return following not in ("=", ",", "}", ":") or bool(lookup(text))
