"""Error recovery: the start of the next statement after a broken one, and names left unknown.

Each broken statement is reported once. Its results are defined with a type that agrees with every
use, so that they cause no further errors.
"""

from __future__ import annotations

from ptokit.isa.index import lookup
from ptokit.text.read.cursor import CLOSING, FUNCS, UNKNOWN, Lost
from ptokit.text.read.parser import Parser

ENDS = ("=", ",", ":", ")", "]", "}")  # after a word that is no mnemonic


def skip(p: Parser, first: int) -> None:
    """Skip the broken statement that starts at token `first`; its regions are read."""
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
    """Return whether another statement or a function starts at the cursor."""
    text = p.texts[p.i]
    if text in FUNCS or (text == ";" and not opened):
        return True
    return p.begins_line() and (text == "module" or begins(p, p.i, sure=bool(opened)))


def _region(p: Parser, start: int) -> None:
    """Read the region at the cursor, whose head starts at token `start`."""
    p.names.open()
    p.guess(start, p.i)
    try:
        p.region([])
    except Lost:  # the brace itself may be wrong
        raise Lost(()) from None
    p.names.close()


def _closed(opened: list[str], text: str) -> bool:
    """Close the bracket; False for the closing brace of a block around the statement."""
    if text in (CLOSING[b] for b in opened):
        while CLOSING[opened.pop()] != text:
            pass
        return True
    return text != "}"


def define_results(p: Parser, first: int) -> None:
    """Define the names before `=`, also of a directive or an alias, as unknown."""
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
    """Return whether the token, the first of its line, can start a statement.

    `sure`: brackets are open, so the token may belong to the previous statement.
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
    """Return whether `%name = %other` stands here, as in a list of loop-carried values."""
    return p.texts[i + 1] == "=" and not (p.texts[i + 2][:1].isalpha() or p.texts[i + 2][:1] == '"')


def begins_region(p: Parser, i: int) -> bool:
    """Return whether the brace opens a region, not a dictionary."""
    text, following = p.texts[i + 1], p.texts[i + 2]
    first = text[:1]
    if first in ("^", "%"):
        return True
    if first == '"':
        return following == "("
    if not (first.isalpha() or first == "_"):
        return False
    return following not in ("=", ",", "}", ":") or bool(lookup(text))
