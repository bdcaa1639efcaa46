"""The orders in which chips add floats: trees of neighbours, and registers by lane (dispute E33).

Counts may be known at run time only. Positions beyond the count then hold -0, which changes no sum.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptokit.values.arrays import Array, Cells, Term
from ptokit.values.dtypes import f16
from ptokit.values.scalars import is_known, most

REGISTER = 256  # bytes
GROUP = 8  # elements of f32 in 32 bytes
NOTHING = -0.0
LARGEST = 65504.0  # of f16
Add: TypeAlias = "Callable[[Array, Term], Array]"

# shapes of f32 tiles that a2a3 adds in groups of eight -> columns of the tree before that
IN_GROUPS = {(64, 128): 8, (32, 256): 8, (16, 512): 64, (8, 1024): 64}


def saturated(a: Array, b: Array | float) -> Array:
    """Return the sum; a sum of f16 that overflows becomes the largest finite number."""
    total = a + b
    return total.clamp(-LARGEST, LARGEST) if total.dtype == f16 else total


def tree(x: Array, count: int, add: Add = operator.add) -> Array:
    """Reduce every `count` rows to one: add neighbours, then neighbours of the sums, and so on."""
    while count > 1:
        x, count = add(x[0::2, :], x[1::2, :]), count // 2
    return x


def by_register(src: Cells, add: Add = operator.add) -> Array:
    """Return row sums: the trees of registers, from left to right, added to 0."""
    rows, cols = src.valid
    columns = _greatest(cols, src.cols)
    width = _lanes(src, columns)
    across = src[:rows, :cols].T.padded(-(-columns // width) * width, 0, NOTHING)
    sums = tree(across, width, add)
    if add is operator.add:
        return sums.fold("add", 0, 0).T
    total = add(sums[0:1, :], 0.0)
    for n in range(1, -(-columns // width)):
        total = add(total, sums[n : n + 1, :])
    return total.T


def lanewise(src: Cells, add: Add = operator.add) -> Array:
    """Return row sums: add registers lane by lane, in pairs, then the tree of the last register."""
    rows, cols = src.valid
    columns = _greatest(cols, src.cols)
    width = _lanes(src, columns)
    x = src[:rows, :cols].padded(-(-columns // width) * width, 1, NOTHING)
    parts = [x[:, n : n + width] for n in range(0, columns, width)]
    sums, whole = _pairs(parts, add), cols // (2 * width)
    for behind in (parts[2::2], parts[3::2]):  # registers outside pairs of whole registers
        sums[0] = _sum(add, sums[0], _chosen(src, behind, whole - 1))
    return tree(_neighbours(src, sums, most(whole, 1), add).T, width, add).T


def products_by_lane(src: Cells, size: int) -> Array:
    """Return the products of each row's lines of `size` bytes, lane by lane, from the left."""
    rows, cols = src.valid
    columns = _greatest(cols, src.cols)
    width = min(size // src.dtype.size, 1 << (columns - 1).bit_length())
    x = src[:rows, :cols].padded(-(-columns // width) * width, 1, 1)
    product = x[:, :width] * 1
    for n in range(width, columns, width):
        product = product * x[:, n : n + width]
    return product


def by_halves(x: Array) -> Array:
    """Multiply the first half of the columns by the second, and again, until one is left."""
    width = x.shape[1]
    while width > 1:
        width //= 2
        x = x[:, :width] * x[:, width : 2 * width]
    return x


def in_groups(src: Cells) -> Array | None:
    """Return row sums of a tile that a2a3 adds in groups; None for other or partial tiles."""
    rows, cols = src.valid
    width = IN_GROUPS.get((src.rows, src.cols))
    if width is None or rows != src.rows or cols != src.cols:
        return None
    sums = tree(src[:rows, :cols].T, width)
    groups = [sums[n : n + GROUP, :] for n in range(0, src.cols // width, GROUP)]
    while len(groups) > 1:
        groups = _pairs(groups)
    return tree(groups[0], GROUP).T


def in_pairs(x: Array, src: Cells) -> Array:
    """Return column sums: add neighbours, and a lone last row to the last pair, repeatedly."""
    count = src.valid.rows
    if not is_known(count):
        return _in_unknown_pairs(x, src)
    while count > 1:
        half = count // 2
        pairs = x[0 : 2 * half : 2, :] + x[1 : 2 * half : 2, :]
        if count % 2:
            last = src.iota(half, 1)[0].equals(half - 1)
            pairs = pairs + last.where(x[count - 1 : count, :], NOTHING)
        x, count = pairs, half
    return x


def _in_unknown_pairs(x: Array, src: Cells) -> Array:
    """Return the sums of `in_pairs` for a number of rows that is known at run time only."""
    count, size = src.valid.rows, 1 << (src.rows - 1).bit_length()
    x = x.padded(size, 0, NOTHING)
    while size > 2:
        size, odd, half = size // 2, count % 2, count // 2
        row, pairs = src.iota(size, 1)[0], x[0::2, :] + x[1::2, :]
        last = row.equals(half - 1 - (1 - odd) * 2 * size)  # none where count is even
        pairs = pairs + last.where(x[2::2, :].padded(size, 0, NOTHING), NOTHING)
        count = most(half, 1)
        x = (row < count).where(pairs, NOTHING)
    return tree(x, size)


def _greatest(count: int, limit: int) -> int:
    """Return the largest value that a count can have, at least 1."""
    return max(count, 1) if is_known(count) else limit


def _lanes(src: Cells, columns: int) -> int:
    """Return the elements of a register, or fewer for shorter rows, whose tree is the same."""
    return min(REGISTER // src.dtype.size, 1 << (columns - 1).bit_length())


def _neighbours(src: Cells, sums: list[Array], count: int, add: Add) -> Array:
    """Reduce the first `count` arrays to one: add neighbours, and a lone last array to its pair."""
    sums = _first(src, sums, count)
    while len(sums) > 1:
        pairs, odd, half = _pairs(sums, add), count % 2, count // 2
        for n, lone in enumerate(sums[2::2]):  # there is one where count is odd, for pair half - 1
            last = _chosen(src, [lone], half - 1 - n + (1 - odd) * len(sums))
            pairs[n] = _sum(add, pairs[n], last)
        count = most(half, 1)
        sums = _first(src, pairs, count)
    return sums[0]


def _pairs(arrays: Sequence[Array], add: Add = operator.add) -> list[Array]:
    """Return the sums of neighbours, and a lone last array."""
    return [_sum(add, *arrays[n : n + 2]) for n in range(0, len(arrays), 2)]


def _sum(add: Add, first: Array, second: Array | None = None) -> Array:
    return first if second is None else add(first, second)


def _chosen(src: Cells, arrays: Sequence[Array], number: int) -> Array | None:
    """Return the array of index `number`; None if there is none."""
    if is_known(number):
        return arrays[number] if 0 <= number < len(arrays) else None
    found: Array | None = None
    for n, array in enumerate(arrays):
        here = src.iota(1, 1)[0].equals(number - n)
        found = here.where(array, NOTHING if found is None else found)
    return found


def _first(src: Cells, arrays: list[Array], count: int) -> list[Array]:
    """Return the first `count` arrays; with a symbolic count all, with -0 beyond the count."""
    if is_known(count):
        return arrays[:count]
    number = src.iota(1, 1)[0]
    return [arrays[0], *((number < count - n).where(a, NOTHING) for n, a in enumerate(arrays) if n)]
