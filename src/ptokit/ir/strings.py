"""Strings between quotes, and symbols `@name`: conversion from tokens to text and back.

Both follow the lexer of MLIR: `\\n`, `\\t`, `\\"`, `\\\\` and two hexadecimal digits for a byte.
"""

from __future__ import annotations

import re

ESCAPE = rb'\\([nt"\\]|[0-9a-fA-F]{2})'
ESCAPED = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}
SPELLED = {"\n": r"\n", "\t": r"\t", '"': r"\"", "\\": r"\\"}
SPECIAL = r'["\\\x00-\x1f\x7f\udc80-\udcff]'
SYMBOL = r"[A-Za-z_][A-Za-z0-9_$.]*"  # a name that needs no quotes
KEY = r"[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z_][A-Za-z0-9_$]*)*"


def unquoted(text: str) -> str:
    """Return the string that a quoted token means; bytes that are not UTF-8 become surrogates."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    raw = inner.encode("utf-8", "surrogateescape")
    raw = re.sub(ESCAPE, lambda m: ESCAPED.get(m[1]) or bytes.fromhex(m[1].decode()), raw)
    return raw.decode("utf-8", "surrogateescape")


def quoted(text: str) -> str:
    """Return the quoted token of a string."""
    return '"' + re.sub(SPECIAL, lambda m: SPELLED.get(m[0]) or _byte(m[0]), text) + '"'


def _byte(char: str) -> str:
    return f"\\{ord(char) & 0xFF:02X}"


def symbol(name: str) -> str:
    """Return the token of a symbol, with quotes where the name needs them."""
    return f"@{name if re.fullmatch(SYMBOL, name) else quoted(name)}"


def symbol_name(token: str) -> str:
    """Return the name that a symbol token means; text without `@` or quotes is the name."""
    name = token.removeprefix("@")
    return unquoted(name) if name[:1] == '"' else name


def key_token(name: str) -> str:
    """Return the token of an attribute's key, with quotes where the name needs them."""
    return name if re.fullmatch(KEY, name) else quoted(name)
