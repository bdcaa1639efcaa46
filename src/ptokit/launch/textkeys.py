"""Keys of programs by their text: a text that has run before need not be read to run again."""

from __future__ import annotations

from hashlib import sha256

from ptokit.machine import codefolder
from ptokit.machine.sources import fingerprint_without

TEXT = "text "  # the start of a key


def text_key(text: str) -> str:
    """Return the key of the program that a text is."""
    return f"{TEXT}{sha256(text.encode()).hexdigest()}"


def has_run(key: str) -> bool:
    """Return whether the text with this key has run: it has no errors."""
    found = codefolder.read(codefolder.name_of(key))  # a text that is only checked has no file
    return found is not None and found == _sources()


def note_run(key: str) -> None:
    """Note that the text with this key has run."""
    codefolder.write(codefolder.name_of(key), _sources())


def _sources() -> bytes:
    return codefolder.name_of(fingerprint_without()).encode()
