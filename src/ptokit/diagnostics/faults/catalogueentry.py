"""An entry of the catalogue of diagnostics."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """`title` follows the instruction's name in a message; `text` is the page.

    `repeated`: chips compute something else than the engines, so a run says it again.
    """

    title: str
    text: str
    repeated: bool = False
