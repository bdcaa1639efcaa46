"""Advice for a word that is not known."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 500  # options that a word is compared with, the last ones


def nearest(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The words of `known` that are most like `word`, if any are."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    return get_close_matches(word, [*known][-MOST:], count)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Names the nearest word."""
    near = nearest(word, known)
    return f"did you mean {near[0]}?" if near else None
