"""Instructions that equal an earlier one, but for the addresses of their tiles.

Straight-line code has few kinds of instructions at many places. The body of an instruction runs
once for each kind, and its function is emitted once; each further instruction costs a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from ptokit.diagnostics.dataclass import dataclass, field, replace
from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.ir.module import Op
from ptokit.isa.lang.environment import ByName
from ptokit.isa.lang.traits import ALIASES
from ptokit.machine.memory import Elements
from ptokit.machine.record.definite import settled
from ptokit.machine.record.expressions import Known, Recording, WindowRead
from ptokit.machine.record.trace import TracedTile, TracedView, space_of
from ptokit.values.enumerations import Loc

Place: TypeAlias = "tuple[int, int]"  # a memory and an address
Parts: TypeAlias = "tuple[object, ...]"


class OpKind(NamedTuple):
    """The kind of an instruction: all but the places of its operands."""

    parts: Parts
    places: tuple[Place, ...]


class EmittedOp(NamedTuple):
    """The recording and the function of an instruction on operands at these places."""

    recording: Recording
    function: OpFunction
    places: tuple[Place, ...]

    def at(self, places: Sequence[Place]) -> tuple[Recording, OpFunction]:
        """Return the recording and the function for operands at other places."""
        there = dict(zip(self.places, (address for _, address in places), strict=True))

        def moved(cells: Elements) -> Elements:
            address = there[_place(cells)]
            return Elements(cells.memory, address, cells.dtype, cells.map, cells.origin, cells.end)

        old, function = self.recording, copy(self.function)
        reads = [WindowRead(moved(r.cells), r.row_span, r.col_span) for r in old.reads]
        stores = [replace(store, cells=moved(store.cells)) for store in old.stores]
        pointers = function.pointers.items()
        function.pointers = {key: (name, moved(cells)) for key, (name, cells) in pointers}
        return Recording(stores, reads, ends=old.ends), function


@dataclass
class EqualOps:
    """The instructions emitted so far, by kind."""

    emitted: dict[Parts, EmittedOp] = field(default_factory=dict[Parts, EmittedOp])
    types: dict[int, tuple[object, str]] = field(default_factory=dict[int, "tuple[object, str]"])

    def kind(self, op: Op, values: ByName) -> OpKind | None:
        """Return the kind of an instruction; None if one of its numbers is symbolic.

        None also if its body takes a resource or a type, or gives a handle.
        """
        if ALIASES in op.page.traits or op.page.uses or op.page.types:
            return None
        parts: list[object] = [op.page, op.name, repr(op.attrs)]
        places: list[Place] = []
        sizes: list[int] = []
        for name, _ in op.values():
            value: Any = values[name]  # Any: a handle or a number
            if isinstance(value, TracedTile | TracedView):
                found = self._view(value) if isinstance(value, TracedView) else self._tile(value)
                places.append(_place(value.elements))
                sizes.append(1 if isinstance(value, TracedView) else value.type.nbytes)
            else:
                found = _number(value)
            if found is None:
                return None
            parts += (name, *found)
        pairs = zip(combinations(places, 2), combinations(sizes, 2), strict=True)
        for ((space, first), (other, second)), (size, more) in pairs:
            apart = space != other or first + size <= second or second + more <= first
            parts.append(None if apart else second - first)
        return OpKind(tuple(parts), tuple(places))

    def keep(self, kind: OpKind, recording: Recording, function: OpFunction) -> None:
        """Keep an instruction for equal ones, if all that it touches starts where operands do."""
        cells = [x.cells for x in (*recording.reads, *recording.stores)]
        cells += [c for _, c in function.pointers.values()]
        symbolic = recording.guards or recording.after or function.numbers or function.whole
        if not symbolic and all(_place(c) in kind.places for c in cells):
            self.emitted[kind.parts] = EmittedOp(recording, function, kind.places)

    def _tile(self, tile: TracedTile) -> Parts | None:
        kind, cells = tile.type, tile.elements
        numbers = cells.address, cells.origin, *tile.valid, *kind.valid
        moves = tile.slot or tile.sizes or cells.map is not kind.map
        if moves or not all(type(n) is int for n in numbers):
            return None
        place = cells.address if kind.loc is not Loc.VEC else None  # the ends of L0 matter
        return self._text(kind), space_of(cells).number, *numbers[1:], tile.view, place

    def _view(self, view: TracedView) -> Parts | None:
        kind, cells = view.type, view.elements
        numbers = cells.address, cells.origin, *kind.shape, *(kind.stride or ())
        if view.since is not None or not all(type(n) is int for n in numbers) or not settled(cells):
            return None
        return self._text(kind), space_of(cells).number, *numbers[:2], repr(cells.map)

    def _text(self, kind: object) -> str:
        """Return a type as text, made once."""
        found = self.types.get(id(kind))
        if found is None:
            found = self.types[id(kind)] = kind, repr(kind)
        return found[1]


def _number(value: object) -> Parts | None:
    if isinstance(value, Known):
        return value.dtype.name, value.array.codes.shape, value.array.codes.tobytes()
    return (value,) if type(value) is int else None


def _place(cells: Elements) -> Place:
    return space_of(cells).number, cells.address
