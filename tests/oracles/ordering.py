"""Records of a value and an index, sorted and merged (C1.1, C1.2), one by one."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np

from oracles.formats import Array, bits_of, is_float, typed
from oracles.registry import Result, Seen, meaning

Pair = tuple[Any, int, int]  # Any: the value, its bits, its index


def standing(value: Any, bits: int, top: int) -> Any:  # Any: a number
    """What a value is compared by: a NaN of sign 0 is above all, one of sign 1 below."""
    if value != value:
        return (-2, -bits) if bits & top else (2, bits)
    return 0, float(value)


def sooner(top: int) -> Any:  # Any: a key for `sorted`
    def compare(a: Pair, b: Pair) -> int:
        x, y = standing(a[0], a[1], top), standing(b[0], b[1], top)
        return (x < y) - (x > y) or (a[2] > b[2]) - (a[2] < b[2])

    return cmp_to_key(compare)


@meaning("TSort32")
def sorted_blocks(dst: Seen, src: Seen, idx: Seen) -> Array:
    rows, cols = src.valid
    top, step = 1 << bits_of(src.dtype) - 1, 64 // bits_of(src.dtype)
    out = dst.codes.copy()
    indices = idx.codes[:rows, :cols] if idx.valid[0] != 1 else idx.codes[:1, :cols].repeat(rows, 0)
    for r in range(rows):
        for start in range(0, cols, 32):
            block = slice(start, min(start + 32, cols))
            values = src.all[r, block].astype(np.float64 if is_float(src.dtype) else np.int64)
            found = zip(
                values, map(int, src.codes[r, block]), map(int, indices[r, block]), strict=True
            )
            for n, (_, bits, index) in enumerate(sorted(found, key=sooner(top))):
                record = np.array([bits | index << 32], np.uint64).view(out.dtype)
                out[r, (start + n) * step : (start + n + 1) * step] = record
    return typed(out, dst.dtype)


def merge(lists: list[list[tuple[float, int]]]) -> tuple[list[int], list[int] | None]:
    """The records in order, and how many of each list were taken when one was exhausted."""
    heads, out, counts = [0] * len(lists), list[int](), None
    while any(h < len(run) for h, run in zip(heads, lists, strict=True)):
        best = -1
        for n, run in enumerate(lists):
            if heads[n] < len(run) and (best < 0 or run[heads[n]][0] > lists[best][heads[best]][0]):
                best = n
        out.append(lists[best][heads[best]][1])
        heads[best] += 1
        if counts is None and heads[best] == len(lists[best]):
            counts = list(heads)
    return out, counts


def records(src: Seen) -> list[tuple[float, int]]:
    """The values and the bits of the records in the valid columns of a row."""
    step = 64 // bits_of(src.dtype)
    codes = np.ascontiguousarray(src.codes[0, : src.valid[1] // step * step])
    values = typed(codes, src.dtype).astype(np.float64)[::step]
    return list(zip(values.tolist(), map(int, codes.view(np.uint64)), strict=True))


def placed(dst: Seen, found: list[int]) -> Array:
    """A row of records."""
    raw = np.array(found, np.uint64).view(dst.codes.dtype)
    return typed(raw[None, :], dst.dtype)


@meaning("TMrgSort")
def merged_blocks(dst: Seen, src: Seen, block_len: int) -> Array:
    every, run = records(src), block_len * bits_of(src.dtype) // 64
    whole = len(every) // (4 * run) * 4 * run  # what is left stays: on a5 alone there may be some
    runs = [every[n : n + run] for n in range(0, whole, run)]
    groups = [merge(runs[n : n + 4])[0] for n in range(0, len(runs), 4)]
    return placed(dst, [record for group in groups for record in group])


@meaning("TMrgSortLists", "TMrgSortPlanned")
def merged_lists(
    dst: Seen,
    executed: Seen,
    src0: Seen,
    src1: Seen,
    src2: Seen | None,
    src3: Seen | None,
    exhausted: bool,
) -> Result:
    lists = [records(src) for src in (src0, src1, src2, src3) if src is not None]
    room = dst.valid[1] * bits_of(dst.dtype) // 64
    out, counts = merge(lists)
    if not exhausted:
        return {"dst": placed(dst, out[:room])}
    numbers = np.array([[*(counts or []), 0, 0, 0, 0][:4]]).astype(executed.codes.dtype)
    taken = out[: sum(counts or [])][:room]
    return {"dst": placed(dst, taken), "executed": typed(numbers, executed.dtype)}
