"""Gathers of runs: groups of columns whose elements lie side by side, such as channels of a map.

The place of each run is in a table: of compile-time numbers, or computed before the loops.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from ptokit.machine.evaluation import NumpyArray, scalar
from ptokit.machine.record.expressions import Apply, Known, Scalar, Taken, Traced
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL
from ptokit.values.enumerations import GatherOOB
from ptokit.values.host import AnyArray
from ptokit.values.layouts import known

LEAST = 16  # bytes of a run
NOWHERE = -(1 << 62)  # the place of a run that is not read: any negative number


Temporary: TypeAlias = "Callable[[Traced], Traced]"  # emits the loops that fill a temporary


class RunPlaces(NamedTuple):
    """Where each run of `size` columns begins in the table; negative: it is not read."""

    size: int
    begins: Traced
    whole: bool  # all runs are read


class RunKind(NamedTuple):
    """How an index changes within a group of columns.

    In a run each column has the index before it plus 1; else all columns have the same one.
    """

    run: bool
    even: bool  # the first is a multiple of the size of a group


class Runs:
    """The analysis of gathers for runs.

    `most` returns how many elements of so many bytes a run may have. `check` emits a check that a
    condition holds for all elements.
    """

    def __init__(self, most: Callable[[int], int], check: Callable[[Traced], None]) -> None:
        self.most, self.check = most, check
        self.known: dict[tuple[Traced, int], RunKind | None] = {}

    def places(self, node: Taken, temporary: Temporary) -> RunPlaces | None:
        """Return the places of the runs of a gather; None if its indices are no runs."""
        if node.outside is not GatherOOB.ERROR or node.dtype.packed or node.dtype is BOOL:
            return None
        size, least = self.most(node.dtype.size), max(LEAST // node.dtype.size, 2)
        while size >= least and not self._holds(node, size):
            size //= 2
        if size < least:
            return None
        begins: Traced = node.index
        if node.where_ is not None:
            begins = Apply("where", (node.where_, begins, _number(NOWHERE)), {})
        begins, last = _sampled(begins, size, {}), prod(node.over) - size
        numbers = _evaluated(begins, {})
        if numbers is not None:
            return _listed(numbers.values, size, last)
        if not isinstance(node.rows, int) and node.rows.upper is None:
            return None
        begins = temporary(_by_axes(begins, temporary, {}))
        before = begins.apply("ge", 0) | begins.equals(NOWHERE)
        self.check(cast(Traced, begins.apply("le", last) & before))
        return RunPlaces(size, begins, whole=node.where_ is None)

    def _holds(self, node: Taken, size: int) -> bool:
        """Return whether each group of indices is a run that is kept entirely or not at all."""
        if prod(node.over) < size:
            return False
        index = self._along(node.index, size)
        if index is None or not index.run:
            return False
        kept = RunKind(False, False) if node.where_ is None else self._along(node.where_, size)
        return kept is not None and not kept.run

    def _along(self, node: Traced, size: int) -> RunKind | None:
        key = node, size
        if key not in self.known:
            self.known[key] = self._found(node, size)
        return self.known[key]

    def _found(self, node: Traced, size: int) -> RunKind | None:
        if isinstance(node, Known):
            return _listed_kind(node, size)
        if isinstance(node, Scalar):
            divisor = abs(node.value) if isinstance(node.value, int) else node.value.multiple
            return RunKind(False, divisor % size == 0)
        if isinstance(node, Apply):
            kinds = [self._along(a, size) for a in node.args]
            if None not in kinds:
                return _combined(node, cast("list[RunKind]", kinds), size)
        return RunKind(False, False) if known(node.cols, 1) else None


def _listed_kind(node: Known, size: int) -> RunKind | None:
    """Return the kind of compile-time numbers; the last group may be shorter."""
    numbers: AnyArray = node.array.values
    first: AnyArray = np.repeat(numbers[:, ::size], size, axis=1)[:, : numbers.shape[1]]
    even = node.dtype == t.i64 and bool((first % size == 0).all())
    if (numbers == first).all():
        return RunKind(False, even)
    steps = [n % size for n in range(numbers.shape[1])]
    run = node.dtype == t.i64 and bool(np.array_equal(numbers - first, [steps]))
    return RunKind(True, even) if run else None


def _combined(node: Apply, kinds: list[RunKind], size: int) -> RunKind | None:
    """Return the kind of an operation on operands of known kinds."""
    runs, even = sum(kind.run for kind in kinds), [kind.even for kind in kinds]
    if not runs:
        more = all(even) if node.word in ("add", "sub") else node.word == "mul" and any(even)
        return RunKind(False, more)
    if node.dtype != t.i64 or runs > 1 or (not kinds[0].run and node.word != "add"):
        return None
    if node.word in ("add", "sub"):
        return RunKind(True, all(even))
    if node.word not in ("mod", "floordiv") or not all(even):
        return None
    return RunKind(node.word == "mod", node.word == "mod")  # by a multiple of the size


def _sampled(node: Traced, size: int, done: dict[Traced, Traced]) -> Traced:
    """Return an expression for the first column of each group."""
    if known(node.cols, 1):
        return node
    if node not in done:
        if isinstance(node, Known):
            done[node] = Known(NumpyArray(node.array.codes[:, ::size], node.dtype))
        else:
            assert isinstance(node, Apply), "an expression of a known kind"
            args = [_sampled(a, size, done) for a in node.args]
            done[node] = Apply(node.word, args, node.parameters)
    return done[node]


def _evaluated(node: Traced, done: dict[Traced, NumpyArray | None]) -> NumpyArray | None:
    """Return an expression of compile-time numbers; None for others."""
    if node not in done:
        result = node.array if isinstance(node, Known) else None
        if isinstance(node, Apply):
            args = [_evaluated(a, done) for a in node.args]
            if all(a is not None for a in args):
                first, *others = cast("list[NumpyArray]", args)
                result = cast(NumpyArray, first.apply(node.word, *others, **node.parameters))
        done[node] = result
    return done[node]


def _by_axes(node: Traced, temporary: Temporary, done: dict[Traced, Traced]) -> Traced:
    """Return an expression whose parts along one axis are computed before, each once."""
    if not isinstance(node, Apply):
        return node
    if node not in done:
        if known(node.rows, 1) or known(node.cols, 1):
            done[node] = temporary(node)
        else:
            args = [_by_axes(a, temporary, done) for a in node.args]
            done[node] = Apply(node.word, args, node.parameters)
    return done[node]


def _listed(places: AnyArray, size: int, last: int) -> RunPlaces | None:
    """Return places of compile-time numbers; None if some are outside, which the run reports."""
    kept = places != NOWHERE
    if (((places < 0) | (places > last)) & kept).any():
        return None
    table = np.where(kept, places, -1).astype(np.int32)
    return RunPlaces(size, Known(NumpyArray(table, t.i32)), whole=bool(kept.all()))


def _number(number: int) -> Known:
    return Known(scalar(number, t.i64))
