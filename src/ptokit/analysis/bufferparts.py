"""Parts of buffers that are kept as written: what MLIR asks of their numbers and types.

A part of a buffer in a memory of tiles keeps the lines of the whole, which no memref of a tile has:
it does not run. What its text says of static numbers is judged all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import OpaqueOp
from ptokit.isa.model.extents import times

LIST = r"\[([^\[\]]*)\]"
BUFFER = r"memref<((?:(?:\d+|\?)x)+)([^,<>]+)((?:<[^<>]*>|[^<>])*)>"
PART = re.compile(rf"%[\w$.#-]+\s*{LIST}\s*{LIST}\s*{LIST}\s*:\s*{BUFFER}\s*to\s*{BUFFER}")
STRIDES = re.compile(r"strided<\[([^\]]*)\]")
SPACE = re.compile(r"#pto\.address_space<\w+>")


class _Buffer(NamedTuple):
    """A memref: None stands for what only the run knows."""

    extents: list[int | None]
    element: str
    strides: list[int | None]
    space: str


def parts_wrong(op: OpaqueOp) -> Iterator[Diagnostic]:
    """What is wrong with a part of a buffer, if the op is one."""
    found = PART.search(op.text)
    if found is None:
        return
    offsets, sizes, steps = (_numbers(found[n]) for n in (1, 2, 3))
    source, result = (_buffer(*found.group(n, n + 1, n + 2)) for n in (4, 7))
    rank = len(source.extents)
    if not len(offsets) == len(sizes) == len(steps) == rank:
        message = f"{op.name}: {rank} extents, but not as many offsets, sizes and steps"
        yield Diagnostic("operand-count", message, op.span, help="one of each for each extent")
        return
    for start, size, step, extent in zip(offsets, sizes, steps, source.extents, strict=True):
        if None not in (start, size, step, extent) and start + (size - 1) * step >= extent:  # type: ignore[operator]
            seen = f"{size} elements from {start} on, {step} apart, of {extent}"
            message = f"{op.name}: the part leaves its buffer"
            yield Diagnostic("window-out-of-bounds", message, op.span, seen=seen)
    strides = [times(s, step) for s, step in zip(source.strides, steps, strict=True)]
    if len(result.extents) == rank and not (
        _agree(result.extents, sizes) and _agree(result.strides, strides)
    ):
        seen = f"sizes {_listed(sizes)} with strides {_listed(strides)}"
        message = f"{op.name}: the type of the part is not that of its numbers"
        yield Diagnostic("type-mismatch", message, op.span, seen=seen)
    if (result.element, result.space) != (source.element, source.space):
        message = f"{op.name}: a part keeps the elements and the memory of its buffer"
        yield Diagnostic("type-mismatch", message, op.span)


def _buffer(extents: str, element: str, more: str) -> _Buffer:
    sizes = _numbers(extents.rstrip("x").replace("x", ","))
    stated, space = STRIDES.search(more), SPACE.search(more)
    dense = [times(*sizes[n + 1 :]) for n in range(len(sizes))]
    strides = _numbers(stated[1]) if stated else dense
    return _Buffer(sizes, element.strip(), strides, space[0] if space else "")


def _numbers(text: str) -> list[int | None]:
    words = (word.strip() for word in text.split(",") if word.strip())
    return [int(word) if re.fullmatch(r"-?\d+", word) else None for word in words]


def _agree(stated: list[int | None], given: list[int | None]) -> bool:
    """Whether what the type states is what is given, as far as both are known."""
    return all(a is None or b is None or a == b for a, b in zip_longest(stated, given))


def _listed(numbers: list[int | None]) -> str:
    return f"[{', '.join('?' if n is None else str(n) for n in numbers)}]"
