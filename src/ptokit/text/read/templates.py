"""What is remembered of a statement that others may repeat with other names."""

from __future__ import annotations

from typing import NamedTuple

from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import Type


class Template(NamedTuple):
    """A statement without its names; tokens are counted from its first one."""

    length: int
    page: type[Instr]
    attrs: dict[str, object]
    used: tuple[tuple[int, Type], ...]  # the type of the value that each token names
    results: tuple[tuple[int, Type], ...]
    operands: tuple[tuple[str, int | tuple[int, ...]], ...]
    spans: tuple[tuple[str, int, int], ...]  # from one token to another
