"""The modules of a program, for which threads generate code at the same time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptokit.engines.native.entry import DECLARATIONS
from ptokit.machine.cache import LINKS, QUICK

MANY = 500  # lines that become several modules
LINES = 600  # of a module of functions; code for a further module takes 2 ms more
NAME = re.compile(r"@(\w+)")


def partition(
    kernels: Mapping[str, str], functions: Sequence[str], main: Sequence[str], *, once: bool
) -> list[str]:
    """Return the module of the main function, and those of the functions that it calls.

    Each one has the kernels that it calls. `once`: the code of `main` runs once per block.
    """
    if not LINKS or sum(map(_lines, (*functions, *main))) < MANY:
        return [_module([*functions, *main], kernels)]
    inline = [f for f in functions if _inline(f)]
    quick = QUICK if once and not any(map(_inline, (*inline, *main))) else ""
    called = [f.replace("define internal", "define", 1) for f in functions if not _inline(f)]
    first = quick + _module([*map(_declaration, called), *inline, *main], kernels)
    return [first, *(_module(group, kernels) for group in _groups(called, kernels))]


def _groups(functions: Iterable[str], kernels: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield functions in groups of about equal work; those with the same kernels are together."""
    group, lines = list[str](), 0
    for function in sorted(functions, key=lambda f: sorted(_called([f], kernels))):
        if lines >= LINES:
            yield group
            group, lines = [], 0
        group.append(function)
        lines += _lines(function)
    yield group


def _module(parts: Sequence[str], kernels: Mapping[str, str]) -> str:
    called = _called(parts, kernels)
    return "\n\n".join([*(k for n, k in kernels.items() if n in called), *parts, *DECLARATIONS])


def _called(parts: Iterable[str], kernels: Mapping[str, str]) -> set[str]:
    """Return the names of the kernels that these functions call, directly or indirectly."""
    found, new = set[str](), [*parts]
    while new:
        names = {name for text in new for name in NAME.findall(text) if name in kernels} - found
        found |= names
        new = [kernels[name] for name in names]
    return found


def _declaration(function: str) -> str:
    """Return what declares a function in other modules."""
    head = function[: function.index(")") + 1].replace("define", "declare", 1)
    return re.sub(r"( noalias)? %\w+", "", head)


def _inline(text: str) -> bool:
    return "alwaysinline" in text


def _lines(text: str) -> int:
    return text.count("\n")
