"""Merges of sorted runs, and sorts of blocks, for the reference: orders as column numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptokit.values.host import AnyArray

Keys: TypeAlias = AnyArray  # floats, or unsigned integers
Order: TypeAlias = NDArray[np.int64]


def block_order(keys: Keys, block: int) -> Order:
    """Return for each row the columns in ascending order of unsigned keys, by block, stable."""
    rows, cols = keys.shape
    room = -cols % block
    last = np.full((rows, room), np.iinfo(keys.dtype).max, keys.dtype)
    blocks = np.concatenate([keys, last], axis=1).reshape(rows * (cols + room) // block, block)
    order: Order = np.argsort(blocks, axis=1, kind="stable").reshape(rows, cols + room)
    order += np.arange(cols + room, dtype=np.int64) // block * block
    return order[:, :cols]


def merge_orders(keys: Keys, lengths: Sequence[int]) -> Order:
    """Return `merge_order` of each row."""
    if np.isnan(keys).any():
        return np.array([merge_order(line, lengths) for line in keys]).reshape(keys.shape)
    held, end = np.empty(keys.shape, keys.dtype), 0
    for length in lengths:
        start, end = end, end + length
        np.minimum.accumulate(keys[:, start:end], axis=1, out=held[:, start:end])
    return np.argsort(-held, axis=1, kind="stable")


def merge_order(keys: Keys, lengths: Sequence[int]) -> Order:
    """Return the columns of a row of runs in the order of their merge.

    Each step takes the greatest head, by `>` in order of the runs. So an element after a smaller
    one of its run is taken right after it: its key is the least so far. A NaN is never greater, and
    no key is greater than a NaN: a NaN blocks its run until the run is the first one left.
    """
    ends = np.cumsum(lengths)
    runs: list[Order] = [np.arange(end - n, end) for n, end in zip(lengths, ends, strict=True)]
    found: list[Order] = []
    for first in range(len(runs)):  # all runs before this one are empty
        held = [_held(keys[r], -np.inf if n else np.inf) for n, r in enumerate(runs[first:])]
        every = np.concatenate(runs[first:])
        order = np.argsort(-np.concatenate(held), kind="stable")
        count = int(np.flatnonzero(order < runs[first].size).max(initial=-1)) + 1
        taken: Order = every[order[:count]]
        found.append(taken)
        runs = [r[~np.isin(r, taken)] for r in runs]
    return np.concatenate(found)


def _held(keys: Keys, nan: float) -> Keys:
    """Return the keys that determine when the elements of a run are taken."""
    values = keys.astype(np.float64)
    return np.minimum.accumulate(np.where(np.isnan(values), nan, values))


def taken_first(order: Order, lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return how many elements of each run a merge has taken when some run is exhausted."""
    ends = np.cumsum(lengths)
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    lasts = [place[end - 1] for n, end in zip(lengths, ends, strict=True) if n]
    some = order[: min(lasts, default=-1) + 1]
    return np.bincount(np.searchsorted(ends, some, side="right"), minlength=len(lengths))


def distinct_batches(wanted: Order) -> Iterator[Order]:
    """Yield batches of positions without equal indices: first occurrences, second ones, ..."""
    left = np.arange(wanted.size)
    while left.size:
        first = np.unique(wanted[left], return_index=True)[1]
        yield left[first]
        left = np.delete(left, first)
