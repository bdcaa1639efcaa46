"""The text of a program in canonical form, as `ptokit fmt` prints it, as edits of the old text."""

from __future__ import annotations

from lsprotocol import types as lsp

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.tools.lsp.editedtext import EditedText


def formatted(text: EditedText) -> list[lsp.TextEdit]:
    """Return what `fmt` changes, as one edit; nothing where the text cannot be read."""
    if text.program is None:
        return []
    try:
        wanted = text.program.text(text.program.form())
    except PtoError:  # it has no such form
        return []
    return differing(text, wanted)


def differing(text: EditedText, wanted: str) -> list[lsp.TextEdit]:
    """An edit of the lines between those at the start and at the end that stay as they are."""
    old, new = text.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    if old == new:
        return []
    first, most = 0, min(len(old), len(new))
    while first < most and old[first] == new[first]:
        first += 1
    last = 0
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    start = sum(map(len, old[:first]))
    end = len(text.text) - sum(map(len, old[len(old) - last :]))
    put = "".join(new[first : len(new) - last])
    return [lsp.TextEdit(text.at.range(start, end), put)]
