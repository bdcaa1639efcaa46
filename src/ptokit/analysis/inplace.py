"""Elementwise instructions, whose output elements depend on inputs at the same place only.

Such an output may be written over an input at the same address, in any order of elements, and a
column may be computed as the row of the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from ptokit.analysis.effects import Attributes, Signature, rebuilt, signature_of, ways
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import scratch_of
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import NotNative
from ptokit.machine.record.expressions import (
    Apply,
    Known,
    Scalar,
    ScatterStore,
    Traced,
    Whole,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.isolated import Isolated

MASKS = ("pack", "bits")  # words that pack truth values into bits and unpack them
Pairs = frozenset[tuple[int, int]]


def in_place(op: Op, facts: Facts) -> set[tuple[Value, Value]]:
    """Return pairs of an output and an input that it may be written over.

    Empty for an instruction that uses scratch; pairs that the page keeps no-alias are excluded.
    """
    if any(op.bound(name) for name in scratch_of(op, facts.target)):
        return set()
    apart = [{v for o in some.operands for v in op.bound(o.name)} for some in op.page.apart]
    found = pointwise(op, facts)
    return {pair for pair in found if not any(set(pair) <= kept for kept in apart)}


def pointwise(op: Op, facts: Facts) -> set[tuple[Value, Value]]:
    """Return pairs of an output and an input of which it reads the same places only."""
    if not op.page.executes or op.page.declared:
        return set()
    values, signature = signature_of(op, facts)
    pairs = _pointwise(op.page, signature, tuple(sorted(op.attrs.items())), facts.target)
    return {(values[out], values[source]) for out, source in pairs}


@lru_cache(maxsize=4096)
def _pointwise(page: type[Instr], signature: Signature, attrs: Attributes, target: Target) -> Pairs:
    """Return the pairs by value number that hold on every path through the body."""
    op, numbers = rebuilt(page, signature, attrs)
    try:
        found = [set(_pairs(way)) for way in ways(op, target, numbers)]
    except NotNative:
        return frozenset()
    return frozenset(found[0].intersection(*found[1:])) if found else frozenset()


def _pairs(way: Isolated) -> Iterator[tuple[int, int]]:
    stores = way.recording.stores
    if [type(store) for store in stores] != [WindowStore] or not _of_elements(stores[0].parts):
        return
    values, (store,) = {id(space): value for value, space in way.spaces.items()}, stores
    out = values[id(store.cells.memory)]
    reads: dict[Value, list[WindowRead]] = {}
    for read in way.recording.reads:
        reads.setdefault(values[id(read.cells.memory)], []).append(read)
    for source, windows in reads.items():
        if source is not out and all(_same_place(read, store) for read in windows):
            yield int(out.name), int(source.name)


def _of_elements(parts: Iterable[Traced]) -> bool:
    """Return whether each element depends on elements at its own place only."""
    return all(isinstance(leaf, Known | Scalar | WindowRead) for leaf in _leaves(parts))


def _leaves(parts: Iterable[Traced], words: tuple[str, ...] = ()) -> Iterator[Traced]:
    """Yield the leaves under elementwise words, and under the given other words."""
    left, seen = [*parts], set[int]()
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen.add(id(part))
            if isinstance(part, Apply) or (isinstance(part, Whole) and part.word in words):
                left += part.args
            else:
                yield part


@lru_cache(maxsize=1024)
def elementwise(page: type[Instr], signature: Signature, attrs: Attributes) -> bool:
    """Return whether each written element depends on its own place alone.

    A bit of a mask has the place of the element that it stands for. The operands must have several
    rows and columns, because a broadcast over a single one would look elementwise.
    """
    op, numbers = rebuilt(page, signature, attrs)
    for target in TARGETS.values():
        try:
            found = [*ways(op, target, numbers)]
        except NotNative:
            continue
        stores = [store for way in found for store in way.recording.stores]
        return bool(stores) and all(map(_own_places, stores))
    return False


def _own_places(store: WindowStore) -> bool:
    """Return whether a store computes each element from its own place, or from numbers."""
    fixed = isinstance(store.rows.start, int) and isinstance(store.cols.start, int)
    if isinstance(store, ScatterStore) or not fixed:
        return False
    bits = any(isinstance(leaf, Whole) for leaf in _leaves(store.parts))
    return all(_at(store, leaf, bits) for leaf in _leaves(store.parts, MASKS))


def _at(store: WindowStore, leaf: Traced, bits: bool) -> bool:
    """Return whether a leaf is one number, or is read at the place of the store.

    With `bits`, the columns of the store are bytes of bits.
    """
    if isinstance(leaf, WindowRead):
        first = leaf.col_span.start == store.cols.start
        return leaf.row_span == store.rows and (leaf.col_span == store.cols or (bits and first))
    return isinstance(leaf, Scalar) or (isinstance(leaf, Known) and leaf.array.codes.size == 1)


def _same_place(read: WindowRead, store: WindowStore) -> bool:
    windows = (read.row_span, read.col_span) == (store.rows, store.cols)
    return windows and _layout(read.cells) == _layout(store.cells)


def _layout(cells: Elements) -> tuple[object, ...]:
    return cells.dtype.bits, repr(cells.map), cells.address, cells.origin
