"""Advice for an unknown word: the known word that is most similar."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 2000  # compare only the last options: a program may have any number of names


def nearest(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Return the words of `known` that are most similar to `word`, ignoring case; perhaps none."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    folded = {option.lower(): option for option in [*known][-MOST:]}
    return [folded[near] for near in get_close_matches(word.lower(), folded, count)]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return a question that names the nearest word, or None if no word is similar."""
    near = nearest(word, known)
    return f"did you mean {near[0]}?" if near else None
