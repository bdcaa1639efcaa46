"""Stores of one instruction in one walk: operands that several results use are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from ptokit.engines.kernels.lowering import gathers, leaves
from ptokit.engines.kernels.overlap import MUST_ALIAS, NO_ALIAS, Overlap
from ptokit.machine.memory import Elements
from ptokit.machine.record.expressions import WindowRead, WindowStore

TOGETHER = 4  # stores of a walk

Related: TypeAlias = "Callable[[Elements, Elements], Overlap]"


def walks(stores: Sequence[WindowStore], related: Related) -> list[list[WindowStore]]:
    """Return lowered stores in groups that one walk can write; the meaning stays the same.

    A store joins an earlier one if both walk alike and read the same operand, and if no store from
    that one on writes what it reads or writes, or reads what it writes.
    """
    groups: list[list[WindowStore]] = []
    for store in stores:
        for number, group in enumerate(groups):
            passed = chain(*groups[number:])
            if _joins(group, store, related) and all(_apart(s, store, related) for s in passed):
                group.append(store)
                break
        else:
            groups.append([store])
    return groups


def _joins(group: list[WindowStore], store: WindowStore, related: Related) -> bool:
    first = group[0]
    if len(group) == TOGETHER or not (_plain(first) and _plain(store)):
        return False
    alike = first.cells.dtype.size == store.cells.dtype.size and _walk(first) == _walk(store)
    return alike and any(
        related(a.cells, b.cells) is MUST_ALIAS for a in _reads(first) for b in _reads(store)
    )


def _plain(store: WindowStore) -> bool:
    """Return whether a store writes whole elements in order, without a condition."""
    alone = type(store) is not WindowStore or store.where is not None or store.cells.dtype.packed
    return not alone and not gathers(store.value)


def _walk(store: WindowStore) -> str:
    """Return the text of how a store moves through its storage."""
    return repr((store.cells.map, store.rows, store.cols))


def _reads(store: WindowStore) -> Iterator[WindowRead]:
    for part in store.parts:
        for leaf in leaves(part):
            if isinstance(leaf.source, WindowRead):
                yield leaf.source


def _apart(a: WindowStore, b: WindowStore, related: Related) -> bool:
    """Return whether two stores may change places."""
    both = ((a, b), (b, a))
    touched = [(w.cells, r.cells) for w, other in both for r in (other, *_reads(other))]
    return all(related(*pair) is NO_ALIAS for pair in touched)
