"""Stores of instructions on registers: their defined elements and masks in each iteration.

Iterations differ in the defined elements, the masks and the numbers that an instruction reads. Of
iterations that agree in them, one is evaluated: as a rule a full one and a tail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import Codes
from ptokit.machine.partlydefined import undefined_in_result
from ptokit.machine.record.code import text
from ptokit.machine.record.expressions import (
    Apply,
    Known,
    Positions,
    Scalar,
    ScatterStore,
    Traced,
    UndefineStore,
    Whole,
    WindowRead,
    WindowStore,
)
from ptokit.values.arrays import BOOL
from ptokit.values.enumerations import Rounding
from ptokit.values.layouts import known

Mask: TypeAlias = "NDArray[np.bool_]"
Element = TypeVar("Element", bound=np.generic)
MOST_PATTERNS = 512
ALL: Mask = np.ones((1, 1), np.bool_)
PLAIN = {"rounding": Rounding.NONE, "saturate": False}  # recorded casts do not say it
BY_VALUES = ("compact", "sort", "merge", "count", "taken", "tally", "matmul", "pad")


class Unclear(Exception):
    """An instruction of which the defined elements are not determined here."""


class LeafContent(NamedTuple):
    """A window or a number: a row of elements for each iteration, or one for all of them."""

    defined: Mask
    codes: Codes | None  # None: not known


class StoredElements(NamedTuple):
    """The elements of a store, a row for each iteration or one for all; None: not known."""

    defined: Mask
    codes: Codes | None
    where: Mask | None
    decided: bool  # all elements of the mask are defined


class ElementFacts(NamedTuple):
    """An expression in one iteration: its defined elements, and its value if that is known."""

    defined: Mask
    value: NumpyArray | None


def stored(
    stores: Sequence[WindowStore], content: Callable[[Traced], LeafContent]
) -> list[StoredElements]:
    """Return the elements of each store; Unclear if that is not possible."""
    leaves: dict[Traced, LeafContent] = {}
    before = set[tuple[object, str]]()
    for store in stores:
        if isinstance(store, UndefineStore | ScatterStore) or store.cells.dtype.packed:
            raise Unclear
        for leaf in (leaf for part in store.parts for leaf in _leaves(part)):
            window = isinstance(leaf, WindowRead)
            if window and (leaf.cells.memory, text(leaf.cells.address)) in before:
                raise Unclear  # an element that the instruction itself may have written
            if leaf not in leaves:
                leaves[leaf] = content(leaf)
        before.add((store.cells.memory, text(store.cells.address)))
    if all(_by_element(part) for store in stores for part in store.parts):
        every = _Iteration(leaves, None)
        return [_of_store(store, every) for store in stores]
    first, places = _patterns(list(leaves.values()))
    rows = [
        [_of_store(store, _Iteration(leaves, row)) for store in stores] for row in first.tolist()
    ]
    return [_joined(list(of_store), places) for of_store in zip(*rows, strict=True)]


def _by_element(node: Traced) -> bool:
    """Return whether an expression computes a row, each element from elements beside it."""
    parts = node.args if isinstance(node, Apply) else ()
    return not isinstance(node, Whole) and known(node.rows, 1) and all(map(_by_element, parts))


def _leaves(node: Traced) -> Iterator[WindowRead | Scalar]:
    if isinstance(node, WindowRead | Scalar):
        yield node
    elif isinstance(node, Apply | Whole):
        for part in node.args:
            yield from _leaves(part)
    elif not isinstance(node, Known | Positions):
        raise Unclear


def _patterns(leaves: Sequence[LeafContent]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first iteration of each pattern, and for each iteration its pattern."""
    parts = [a for leaf in leaves for a in leaf if a is not None and len(a) > 1]
    if not parts:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    rows = max(map(len, parts))
    lines = [
        np.repeat(np.ascontiguousarray(p).view(np.uint8).reshape(len(p), -1), rows // len(p), 0)
        for p in parts
    ]
    every = np.ascontiguousarray(np.concatenate(lines, axis=1))
    whole = every.view(np.dtype((np.void, every.shape[1]))).reshape(-1)
    _, first, places = np.unique(whole, return_index=True, return_inverse=True)
    if first.size > MOST_PATTERNS:
        raise Unclear
    return first, places.reshape(-1)


def _joined(patterns: Sequence[StoredElements], places: NDArray[np.int64]) -> StoredElements:
    """Return the rows of all iterations, given those of each pattern."""

    def rows(parts: Sequence[Codes | None]) -> Codes | None:
        given = [part for part in parts if part is not None]
        return np.concatenate(given)[places] if len(given) == len(parts) else None

    defined, codes, where, decided = zip(*patterns, strict=True)
    found = rows(defined)
    assert found is not None
    return StoredElements(found, rows(codes), rows(where), all(decided))


def _of_store(store: WindowStore, iteration: _Iteration) -> StoredElements:
    """Return the elements that a store writes in one iteration, as a row."""
    rows, cols = store.rows.count, store.cols.count
    if not (isinstance(rows, int) and isinstance(cols, int)):
        raise Unclear
    value = iteration(store.value)

    def line(codes: Codes) -> Codes:
        shape = (len(codes), cols) if iteration.row is None else (rows, cols)
        whole = np.broadcast_to(codes, shape)
        return np.ascontiguousarray(whole).reshape(-1 if iteration.row is None else 1, rows * cols)

    codes = None if value.value is None else line(value.value.codes)
    if store.where is None:
        return StoredElements(line(value.defined), codes, line(ALL), True)
    keep = iteration(store.where)
    where = None if keep.value is None else line(keep.value.codes != 0)
    return StoredElements(line(value.defined), codes, where, bool(keep.defined.all()))


class _Iteration:
    """One iteration in which expressions are evaluated, or all of them, a row for each (None)."""

    def __init__(self, leaves: Mapping[Traced, LeafContent], row: int | None) -> None:
        self.leaves, self.row = leaves, row
        self.rows = max(
            (len(a) for leaf in leaves.values() for a in leaf if a is not None), default=1
        )
        self.done: dict[Traced, ElementFacts] = {}

    def __call__(self, node: Traced) -> ElementFacts:
        """Return what is known of an expression."""
        if node not in self.done:
            self.done[node] = self._of(node)
        return self.done[node]

    def _of(self, node: Traced) -> ElementFacts:
        match node:
            case Known():
                return ElementFacts(ALL, node.array)
            case WindowRead() | Scalar():
                return self._leaf(node, self.leaves[node])
            case Apply():
                return self._applied(node.word, [self(a) for a in node.args], node.parameters)
            case Whole():
                args = [_in_full(a, self(a)) for a in node.args]
                return self._applied(node.word, args, node.parameters)
            case _:  # positions
                return ElementFacts(ALL, None)

    def _leaf(self, node: WindowRead | Scalar, leaf: LeafContent) -> ElementFacts:
        if self.row is None:
            codes = None if leaf.codes is None else spread(leaf.codes, self.rows)
            value = None if codes is None else NumpyArray(codes, node.dtype)
            return ElementFacts(spread(leaf.defined, self.rows), value)
        shape = (1, 1)
        if isinstance(node, WindowRead):
            assert isinstance(node.rows, int)
            assert isinstance(node.cols, int)
            shape = node.rows, node.cols
        defined, codes = (
            None if a is None else a[self.row * len(a) // self.rows].reshape(shape) for a in leaf
        )
        assert defined is not None
        return ElementFacts(defined, None if codes is None else NumpyArray(codes, node.dtype))

    def _applied(
        self, word: str, args: Sequence[ElementFacts], parameters: Mapping[str, object]
    ) -> ElementFacts:
        value: NumpyArray | None = None
        arrays = [a.value for a in args if a.value is not None]
        if len(arrays) == len(args):
            how = PLAIN if word == "cast" else {}
            found = arrays[0].apply(word, *arrays[1:], **{**how, **parameters})
            assert isinstance(found, NumpyArray)
            value = found
        if word == "where" and args[0].value is None:
            return ElementFacts(args[0].defined & args[1].defined & args[2].defined, value)
        if word in BY_VALUES and len(arrays) < len(args):
            raise Unclear
        undefined = [~a.defined for a in args]
        values = [a.value if a.value is not None else _nothing(a) for a in args]
        return ElementFacts(~undefined_in_result(word, undefined, values, dict(parameters)), value)


def spread(rows: NDArray[Element], count: int) -> NDArray[Element]:
    """Return the rows of outer iterations for so many inner ones; one row stands for all."""
    return rows if len(rows) in (1, count) else np.repeat(rows, count // len(rows), axis=0)


def _in_full(node: Traced, facts: ElementFacts) -> ElementFacts:
    """Return the facts with one truth for each element."""
    rows, cols = node.rows, node.cols
    if not (isinstance(rows, int) and isinstance(cols, int)):
        raise Unclear
    return ElementFacts(np.broadcast_to(facts.defined, (rows, cols)), facts.value)


def _nothing(of: ElementFacts) -> NumpyArray:
    """Return an array in place of one whose values do not matter."""
    return NumpyArray(np.zeros(of.defined.shape, np.uint8), BOOL)
