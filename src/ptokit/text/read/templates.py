"""What is remembered of a statement that others may repeat with other names.

It is kept as it is when it is read, and taken apart when another one is like it: most have none.
"""

from __future__ import annotations

from typing import NamedTuple

from ptokit.ir.module import Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Type


class Seen(NamedTuple):
    """A statement that was read once: its tokens from `start` to before `end`, and its op."""

    start: int
    end: int
    op: Op


class Template(NamedTuple):
    """A statement without its names; tokens are counted from its first one."""

    length: int
    page: type[Instr]
    attrs: dict[str, object]
    used: tuple[tuple[int, Type], ...]  # the type of the value that each token names
    results: tuple[tuple[int, Type], ...]
    operands: tuple[tuple[str, int | tuple[int, ...]], ...]
    spans: tuple[tuple[str, int, int], ...]  # from one token to another
    dialect: str
