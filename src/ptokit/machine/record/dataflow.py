"""Find whether the content of arrays decides which elements are defined.

If it does not, runs with the same numbers define the same elements. It decides where a mask that is
computed from it selects what is stored, where elements scatter to computed places, and through
numbers that the scalar unit read from a memory. A register that selects between two values is
harmless if a result counts as defined only where both are: see `chosen_by_data`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptokit.isa.model.targets import SPACES
from ptokit.machine.record.code import text
from ptokit.machine.record.expressions import (
    Apply,
    Recording,
    ScatterStore,
    Taken,
    Traced,
    Whole,
    WindowRead,
    WindowStore,
)
from ptokit.machine.record.trace import FRAME, space_of
from ptokit.values.enumerations import Loc

Source: TypeAlias = "str | None"  # the address of a register; None: another memory
REGISTERS = SPACES[Loc.REGISTER]


class DataFlow:
    """The registers that a function computes, from which registers and memories.

    `data` are those that hold data and select one of two values, as far as that is known.
    """

    def __init__(self, data: frozenset[Source] = frozenset()) -> None:
        self.data = data
        self.sources: dict[Source, set[Source]] = {}
        self.deciding: set[Source] = set()  # they select what is stored
        self.choosing: set[Source] = set()  # they select one of two values
        self.numbers = True  # the scalar unit has no number of a memory

    def apply(self, recording: Recording, *, lanes: bool) -> None:
        """Note what an instruction computes; `lanes`: on registers."""
        for store in recording.stores:
            self._store(store)
            if lanes:
                self.choosing.update(s for c in _conditions(store.value) for s in _sources(c))
                self.deciding.update(s for c in _places(store.value) for s in _sources(c))

    def _store(self, store: WindowStore) -> None:
        space = space_of(store.cells)
        if space.number == FRAME.number or space.name == REGISTERS:
            sources = {source for part in store.parts for source in _sources(part)}
            if space.number == FRAME.number:
                self.numbers &= not sources
            else:
                self.sources.setdefault(text(store.cells.address), set()).update(sources)
        if space.memory is None and isinstance(store, ScatterStore):
            self.deciding.add(None)
        if space.memory is None and store.where is not None:
            self.deciding.update(_sources(store.where))

    @property
    def _holding(self) -> set[Source]:
        """Return the registers that hold data, and None for the memories."""
        found: set[Source] = {None}
        more = True
        while more:
            new = {r for r, sources in self.sources.items() if sources & found} - found
            found |= new
            more = bool(new)
        return found

    @property
    def decides(self) -> bool:
        """Return whether data decide which elements are defined."""
        return not self.numbers or bool(self.deciding & self._holding)

    @property
    def chooses(self) -> frozenset[Source]:
        """Return the sources of data that select one of two values."""
        return frozenset(self.choosing & self._holding)

    def chosen_by_data(self, condition: Traced) -> bool:
        """Return whether `data` decide a condition."""
        return any(source in self.data for source in _sources(condition))


def _sources(expression: Traced) -> Iterator[Source]:
    """Yield the registers and memories of an expression; numbers of the program are neither."""
    for node in _parts(expression):
        if isinstance(node, WindowRead | Taken):
            space = space_of(node.cells)
            if space.name == REGISTERS:
                yield text(node.cells.address)
            elif space.number != FRAME.number:
                yield None


def _conditions(expression: Traced) -> Iterator[Traced]:
    """Yield the conditions of all selections in an expression."""
    for node in _parts(expression):
        if isinstance(node, Apply | Whole) and node.word == "where":
            yield node.args[0]


def _places(expression: Traced) -> Iterator[Traced]:
    """Yield the expressions that say which elements a gather or a compaction takes."""
    for node in _parts(expression):
        if isinstance(node, Taken):
            yield node.index
            yield from () if node.where_ is None else (node.where_,)
        elif isinstance(node, Whole) and node.word == "compact":
            yield node.args[1]


def _parts(expression: Traced) -> Iterator[Traced]:
    """Yield an expression and all its parts, each once."""
    left, seen = [expression], set[Traced]()
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        if isinstance(node, Apply | Whole):
            left += node.args
        elif isinstance(node, Taken):
            left += [node.index] if node.where_ is None else [node.index, node.where_]
