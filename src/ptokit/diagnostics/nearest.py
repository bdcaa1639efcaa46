"""Advice for a word that is not known."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 2000  # options that a word is compared with, the last ones: programs may have any number


def nearest(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The words of `known` that are most like `word`, if any are; capitals count for nothing."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    folded = {option.lower(): option for option in [*known][-MOST:]}
    return [folded[near] for near in get_close_matches(word.lower(), folded, count)]


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Names the nearest word."""
    near = nearest(word, known)
    return f"did you mean {near[0]}?" if near else None
