"""An entry of the catalogue of diagnostics."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """An entry: `title` follows the instruction's name in a message; `text` is the page.

    `repeated`: chips compute another result than the engines, so each run repeats the warning.
    """

    title: str
    text: str
    repeated: bool = False
