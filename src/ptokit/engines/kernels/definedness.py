"""Which elements of a register are defined, computed lane by lane as its value is.

The reference propagates undefined elements through each operation (`machine.partlydefined`). The
same is said here as an expression over the shadows of the operands, so that compiled code stores it
beside the value and asks the reference for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import cast

from ptokit.machine.evaluation import scalar
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import text
from ptokit.machine.record.expressions import (
    Apply,
    Known,
    Positions,
    Recording,
    Scalar,
    ScatterStore,
    Taken,
    Traced,
    UndefineStore,
    Whole,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.trace import Space
from ptokit.values import dtypes as t
from ptokit.values.enumerations import GatherOOB

MOVES = ("transpose", "reshape", "window", "repeat")
CODES = {1: t.u8, 2: t.u16, 4: t.u32, 8: t.u64}  # types of shadows, by the bytes of an element


class NotSaid(Exception):
    """An operation whose undefined elements only the reference determines."""


class ShadowSpace(Space):
    """The shadow of a memory, as a memory that expressions read and write."""

    def __init__(self, of: Space) -> None:
        super().__init__((1 << 20) + of.number, f"shadow of {of.name}", of.recorder, of.size, None)
        self.of = of


class Definedness:
    """The expressions for which elements of an instruction's results are defined.

    Where conditions are `by_data` a selection is defined only if both values are.
    """

    def __init__(
        self, tracked: Callable[[Elements], bool], by_data: Callable[[Traced], bool]
    ) -> None:
        self.tracked, self.by_data = tracked, by_data
        self.spaces: dict[int, ShadowSpace] = {}
        self.done: dict[Traced, Traced | None] = {}
        self.before: set[tuple[object, str]] = set()  # what earlier stores write
        self.deciding: list[WindowRead] = []  # they must be defined: they select what is stored
        self.indices: list[Traced] = []  # where indices are defined: they must be everywhere

    def stores(self, recording: Recording) -> list[WindowStore]:
        """Return the stores with a store into the shadow behind each; NotSaid if impossible."""
        found = list[WindowStore]()
        for store in recording.stores:
            self.before = {(s.cells.memory, text(s.cells.address)) for s in found}
            found.append(store)
            if isinstance(store, UndefineStore) or not self.tracked(store.cells):
                continue
            if store.cells.dtype.packed:
                raise NotSaid
            if store.where is not None:
                self._decide(store.where)
            if isinstance(store, ScatterStore):
                self._scattered(store)
            cells, defined = self._shadow(store.cells), self(store.value)
            ones, none = (_number(n, cells.dtype) for n in (-1, 0))
            value = ones if defined is None else cast(Traced, defined.where(ones, none))
            found.append(replace(store, cells=cells, value=value))
        return found

    def _scattered(self, store: ScatterStore) -> None:
        """Note the indices of a scatter that must be defined; NotSaid if it combines elements."""
        if store.word is not None:
            raise NotSaid
        _reads(store.index)
        index, where = self(store.index), store.where
        if index is not None and where is not None:
            index = cast(Traced, where.where(index, _truth()))
        self.indices += [] if index is None else [index]

    def __call__(self, node: Traced) -> Traced | None:
        """Return where an expression is defined; None: everywhere."""
        if node not in self.done:
            self.done[node] = self._of(node)
        return self.done[node]

    def _decide(self, node: Traced) -> None:
        """Note the reads of an expression that selects elements to store."""
        self.deciding += [read for read in _reads(node) if self.tracked(read.cells)]

    def _of(self, node: Traced) -> Traced | None:
        match node:
            case Known() | Positions() | Scalar():
                return None
            case WindowRead() if not self.tracked(node.cells):
                return None
            case WindowRead() if not node.dtype.packed:
                if (node.cells.memory, text(node.cells.address)) in self.before:
                    raise NotSaid  # an element that the instruction itself may have written
                cells = self._shadow(node.cells)
                shadow = WindowRead(cells, node.row_span, node.col_span)
                return cast(Traced, shadow.equals(_number(-1, cells.dtype)))
            case Taken() if not node.cells.dtype.packed:
                return self._taken(node)
            case Whole(word="compact"):
                return self._compacted(*node.args)
            case Whole(word="count"):
                self._decide(node.first)
                return None
            case Apply(word="where"):
                return self._chosen(*node.args)
            case Apply():
                return _all(self(a) for a in node.args)
            case Whole() if node.word in MOVES:
                return self._whole(node, node.word, **node.parameters)
            case Whole(word="fold"):
                return self._whole(
                    node, "fold", word="min", axis=node.parameters["axis"], start=None
                )
            case _:
                raise NotSaid

    def _chosen(self, condition: Traced, yes: Traced, no: Traced) -> Traced | None:
        """Return where a selection is defined: where the element that it selects is."""
        of_condition, first, second = self(condition), self(yes), self(no)
        if first is None and second is None:
            return of_condition
        if self.by_data(condition):
            return _all((of_condition, first, second))
        first, second = (_truth() if one is None else one for one in (first, second))
        return _all((of_condition, cast(Traced, condition.where(first, second))))

    def _taken(self, node: Taken) -> Traced | None:
        """Return where gathered elements are defined: where those of the table are."""
        _reads(node.index)
        index = self(node.index)
        self.indices += [] if index is None else [index]
        if node.where_ is not None:
            self._decide(node.where_)
        if not self.tracked(node.cells):
            return None
        again = (node.cells.memory, text(node.cells.address)) in self.before
        if again or node.outside is GatherOOB.ZERO:
            raise NotSaid
        cells = self._shadow(node.cells)
        found = Taken(cells, node.over, node.index, node.outside, node.where_)
        full = cast(Traced, found.equals(_number(-1, cells.dtype)))
        return full if node.where_ is None else cast(Traced, node.where_.where(full, _truth()))

    def _compacted(self, values: Traced, keep: Traced) -> Traced | None:
        """Return where compacted elements are defined; those behind them are 0."""
        self._decide(keep)
        inner = self(values)
        if inner is None:
            return None
        missing = cast(Traced, inner.where(_number(0, t.u8), _number(1, t.u8)))
        return cast(Traced, missing.apply("compact", keep).equals(0))

    def _whole(self, node: Whole, operation: str, **how: object) -> Traced | None:
        """Return where the result of an operation on a matrix is defined, as bytes meanwhile."""
        inner = self(node.first)
        if inner is None:
            return None
        moved = cast(Traced, inner.cast(t.u8)).apply(operation, **how)
        return cast(Traced, moved.equals(1))

    def _shadow(self, cells: Elements) -> Elements:
        """Return the same elements of the shadow."""
        space = cast(Space, cells.memory)
        own = self.spaces.setdefault(space.number, ShadowSpace(space))
        dtype = CODES[cells.dtype.size]
        return Elements(own, cells.address, dtype, cells.map, cells.origin)  # type: ignore[arg-type]  # a Space stands for a memory


def _reads(node: Traced) -> list[WindowRead]:
    """Return the windows that an expression reads; NotSaid if elements are gathered."""
    if isinstance(node, WindowRead):
        return [node]
    if isinstance(node, Apply | Whole):
        return [read for part in node.args for read in _reads(part)]
    if not isinstance(node, Known | Positions | Scalar):
        raise NotSaid
    return []


def _number(number: int, dtype: t.DType) -> Known:
    return Known(scalar(number, dtype))


def _truth() -> Traced:
    return cast(Traced, _number(1, t.u8).equals(1))


def _all(parts: Iterator[Traced | None] | tuple[Traced | None, ...]) -> Traced | None:
    """Return where all of these hold; None: everywhere."""
    found = [part for part in parts if part is not None]
    return reduce(lambda a, b: cast(Traced, a & b), found) if found else None
