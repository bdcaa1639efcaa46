"""`shapes="x[rows, D] y[rows, D]"`: the names of extents, and the parser for this text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from ptokit.diagnostics.diagnostic import call_error, error
from ptokit.diagnostics.source import Source, Span
from ptokit.launch.settings import require_text

Extent: TypeAlias = "int | str"
Shapes: TypeAlias = "dict[str, tuple[Extent, ...]]"
ARRAY = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\[(?P<extents>[^\[\]]*)\]\s*,?")


def parsed(text: str, parameters: tuple[str, ...]) -> Shapes:
    """Return the extents of each array; PtoError points at a syntax error."""
    require_text("shapes", text)
    source, at = Source("shapes", text), 0
    found: Shapes = {}
    while text[at:].strip():
        match = ARRAY.match(text, at)
        if match is None:
            raise _wrong(source, at, len(text), "write name[extent, ...] for each array")
        name = match["name"]
        if name not in parameters or name in found:
            why = "is duplicated" if name in found else "is not an array of the kernel"
            raise _wrong(source, *match.span("name"), f"{name} {why}: {', '.join(parameters)}")
        found[name] = tuple(_extents(source, match))
        at = match.end()
    return found


def _extents(source: Source, match: re.Match[str]) -> list[Extent]:
    found: list[Extent] = []
    at = match.start("extents")
    for part in match["extents"].split(","):
        word = part.strip()
        start = at + len(part) - len(part.lstrip())
        at += len(part) + 1
        if word.isdecimal():
            found.append(int(word))
        elif word.isidentifier():
            found.append(word)
        else:
            raise _wrong(
                source, start, start + max(len(word), 1), "an extent is a name or a number"
            )
    return found


def _wrong(source: Source, start: int, end: int, help: str) -> Exception:
    return error("syntax-error", "invalid `shapes` string", Span(source, start, end), help=help)


def extents(shapes: Shapes, given: Mapping[str, tuple[Extent, ...]]) -> dict[str, int | str]:
    """Return the extent behind each name; CallError if two arrays disagree."""
    found: dict[str, tuple[Extent, str]] = {}
    for array, names in shapes.items():
        if array not in given:
            continue
        shape = given[array]
        if len(shape) != len(names):
            text = ", ".join(map(str, names))
            raise call_error(
                "argument-shape",
                f"{array} has {len(shape)} axes",
                seen=f"its shape is {shape}",
                help=f"the kernel takes {array}[{text}]",
            )
        for name, extent in zip(names, shape, strict=True):
            if isinstance(name, int):
                if extent != name:
                    message = f"{array} has extent {extent}, the kernel has {name}"
                    raise call_error("argument-shape", message, help="pass an array of that shape")
                continue
            before = found.setdefault(name, (extent, array))
            if before[0] != extent:
                message = f"{name} is {before[0]} in {before[1]} and {extent} in {array}"
                raise call_error("argument-shape", message, help="pass arrays whose extents agree")
    return {name: extent for name, (extent, _) in found.items()}
