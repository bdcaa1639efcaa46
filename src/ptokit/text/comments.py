"""Comments and blank lines between statements: lists of lines, '' for a blank one."""

from __future__ import annotations


def trimmed(lines: list[str]) -> tuple[str, ...]:
    """The lines without blank ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return tuple(lines)
