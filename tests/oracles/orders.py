"""The orders of sums as the chips' documents tell them, one row or column at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles.formats import FORMATS, Array

Order = Callable[[list[Array]], Array]  # of single elements, or of registers lane by lane


def chain(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def tree(parts: list[Array]) -> Array:
    """vcadd: pairs of neighbours, level by level; a lone one passes unchanged."""
    while len(parts) > 1:
        parts = [chain(parts[n : n + 2]) for n in range(0, len(parts), 2)]
    return parts[0]


def pairs(parts: list[Array]) -> Array:
    """The binary order: a lone last one goes to the last sum that was made."""
    while len(parts) > 1:
        made = [parts[n] + parts[n + 1] for n in range(0, len(parts) - 1, 2)]
        if len(parts) % 2:
            made[-1] = made[-1] + parts[-1]
        parts = made
    return parts[0]


def elements(line: Array) -> list[Array]:
    return [line[n : n + 1] for n in range(len(line))]


def chunks(line: Array) -> list[Array]:
    """Registers of 256 bytes; the last may be part of one."""
    size = 256 // line.itemsize
    return [line[n : n + size] for n in range(0, len(line), size)]


def on_a5(line: Array) -> Array:
    """acc = +0; acc = acc + tree(chunk)."""
    return chain([np.zeros(1, line.dtype), *(tree(elements(c)) for c in chunks(line))])


def on_a2a3(line: Array) -> Array:
    """Whole registers in pairs, what is left to the first of them, then the tree of the lanes."""
    every = chunks(line)
    if len(every) == 1:
        return tree(elements(line))
    rest = every.pop() if len(every[-1]) < len(every[0]) else None
    if len(every) == 1:
        sums = [every[0].copy()]
    else:
        sums = [every[n] + every[n + 1] for n in range(0, len(every) - 1, 2)]
        if len(every) % 2:
            sums[0] = sums[0] + every[-1]
    if rest is not None:
        sums[0][: len(rest)] += rest
    return tree(elements(pairs(sums)))


def multiplied(line: Array, size: int) -> Array:
    """The products of lines of `size` bytes, lane by lane; lanes without an element have 1."""
    lanes = size // line.itemsize
    product = np.ones(lanes, line.dtype)
    for n in range(0, len(line), lanes):
        part = line[n : n + lanes]
        product[: len(part)] = product[: len(part)] * part
    return product


def product_on_a5(line: Array) -> Array:
    """Each lane by the one half of the lanes further on."""
    product = multiplied(line, 256)
    while len(product) > 1:
        product = np.multiply(*np.split(product, 2))
    return product


def product_on_a2a3(line: Array) -> Array:
    """The lanes of 32 bytes from the left: f16 in f32."""
    lanes = multiplied(line, 32).astype(np.float32)
    return np.multiply.accumulate(lanes)[-1:].astype(line.dtype)


def grouped(line: Array) -> Array:
    """vcgadd: the tree of each 32 bytes."""
    return np.concatenate([tree(elements(line[n : n + 8])) for n in range(0, len(line), 8)])


def halves(line: Array) -> Array:
    """h_i = g_i + g_{i+8} in each sixteen."""
    parts = line.reshape(-1, 2, 8)
    return (parts[:, 0] + parts[:, 1]).reshape(-1)


# The a2a3 code paths of whole tiles of exactly these extents, one step after the other.
SPECIAL: dict[tuple[int, int], list[Callable[[Array], Array]]] = {
    (64, 128): [grouped, halves, grouped],
    (32, 256): [grouped, halves, halves, grouped],
    (16, 512): [grouped, grouped, grouped],
    (8, 1024): [grouped, grouped, halves, grouped],
}


def special(steps: list[Callable[[Array], Array]]) -> Callable[[Array], Array]:
    def summed(line: Array) -> Array:
        for step in steps:
            line = step(line)
        return line

    return summed


@np.errstate(all="ignore")
def summed(rows: Array, dtype: str, order: Callable[[Array], Array]) -> Array:
    """One sum for each row, every step rounded to the element type."""
    sums = [order(np.ascontiguousarray(row)) for row in rows]
    return np.stack(sums) if sums else np.zeros((0, 1), FORMATS[dtype][1])
