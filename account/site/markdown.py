"""Markdown from plain text: prose, tables, code."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

Page: TypeAlias = "tuple[str, Callable[[], str]]"  # its place on the site, and what writes it
CODE = re.compile(r"(`[^`\n]+`)")
SIGNS = re.compile(r"([*_\[\]|])")


def prose(text: str) -> str:
    """Text in which nothing but what stands between backticks is Markdown."""
    parts = CODE.split(text)
    return "".join(
        part.replace("|", r"\|") if place % 2 else SIGNS.sub(r"\\\1", html.escape(part, False))
        for place, part in enumerate(parts)
    )


def paragraphs(text: str) -> str:
    """Paragraphs as they are; lines that are indented further are kept as lines."""
    return "\n\n".join(
        code(part) if part.startswith("  ") else prose(part) for part in text.split("\n\n")
    )


def code(text: str, language: str = "text") -> str:
    """A block of code without trailing blanks."""
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def dedented(lines: Iterable[str]) -> str:
    """Lines of a manual page without their first two blanks."""
    return "\n".join(line.removeprefix("  ") for line in lines)
