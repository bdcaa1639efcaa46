"""Comments and blank lines between statements: lists of lines, '' for a blank one."""

from __future__ import annotations

from collections.abc import Sequence


def trimmed(lines: list[str]) -> tuple[str, ...]:
    """The lines without blank ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return tuple(lines)


def spaced(lines: Sequence[str], first: bool) -> tuple[str, ...]:
    """The lines with single blank ones, and none at the start of a block (`first`)."""
    found: list[str] = []
    for line in lines:
        if line or (found[-1] if found else not first):
            found.append(line)
    return tuple(found)
