"""Instructions that equal an earlier one, but for the addresses of their tiles.

Straight-line code has few kinds of instructions at many places. The body of an instruction runs
once for each kind, and its function and the text of its call are emitted once. Each further
instruction costs a line, and needs proofs of windows that no equal instruction had before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from struct import pack
from typing import Any, NamedTuple, TypeAlias

from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.native.calllines import CallText
from ptokit.engines.native.mainfunction import LARGEST_MEMORY
from ptokit.engines.native.partviews import Views
from ptokit.ir.module import Op, Value
from ptokit.isa.lang.environment import ByName
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALIASES, FIXPIPE, TARGET
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.memory import Elements
from ptokit.machine.record.definite import PlacedFact, settled
from ptokit.machine.record.expressions import (
    AxisWindow,
    Recording,
    UndefineStore,
    WindowRead,
)
from ptokit.machine.record.trace import TracedTile, TracedView, space_of
from ptokit.values.enumerations import Loc

Place: TypeAlias = "tuple[int, int]"  # a memory and an address
Parts: TypeAlias = "tuple[object, ...]"
READINGS = {FIXPIPE, TARGET}  # resources that never change


class OpKind(NamedTuple):
    """The kind of an instruction: all but the places of its operands."""

    parts: Parts
    places: tuple[Place, ...]


class StaticOperand(NamedTuple):
    """An operand without symbolic numbers; `number`: of all about it but its place."""

    handle: object
    elements: Elements | None
    view: bool | None
    number: int
    place: Place | None
    size: int  # bytes behind the place that belong to the operand

    def holds(self, handle: object, elements: object, view: bool | None) -> bool:
        """Return whether the facts are about this handle as it is now."""
        return self.handle is handle and self.elements is elements and self.view is view


class EmittedOp(NamedTuple):
    """The recording and the function of an instruction on operands at these places.

    `facts` are windows that are read or written, with a number instead of the address.
    """

    recording: Recording
    function: OpFunction
    places: tuple[Place, ...]
    facts: tuple[PlacedFact, ...]
    spoiled: tuple[str, ...]  # the operands that hardware uses as scratch
    call: CallText

    @property
    def adds(self) -> bool:
        """True if the instruction makes nothing undefined."""
        return not any(isinstance(store, UndefineStore) for store in self.recording.stores)

    def facts_at(self, places: Sequence[Place]) -> list[PlacedFact]:
        """Return the windows of operands at other places."""
        return [(name, window, places[number][1]) for name, window, number in self.facts]

    def at(self, places: Sequence[Place]) -> Recording:
        """Return the recording for operands at other places."""
        there = dict(zip(self.places, (address for _, address in places), strict=True))
        old = self.recording
        reads = [
            WindowRead(_in_array(moved(r.cells, there)), r.row_span, r.col_span) for r in old.reads
        ]
        stores = [replace(s, cells=_in_array(moved(s.cells, there))) for s in old.stores]
        return Recording(stores, reads, ends=old.ends)


@dataclass
class EqualOps:
    """The instructions emitted so far, by kind."""

    emitted: dict[Parts, EmittedOp] = field(default_factory=dict[Parts, EmittedOp])
    types: dict[int, tuple[object, str]] = field(default_factory=dict[int, "tuple[object, str]"])
    operands: dict[Value, StaticOperand] = field(default_factory=dict[Value, StaticOperand])
    numbers: dict[Parts, int] = field(default_factory=dict[Parts, int])  # of parts of a kind
    eligible: dict[type[Instr], bool] = field(default_factory=dict[type[Instr], bool])
    arrays: set[int] = field(default_factory=set[int])  # the numbers of spaces with views
    refused: set[Parts] = field(default_factory=set[Parts])  # kinds that cannot be kept

    def kind(
        self, op: Op, env: Mapping[Value, object], views: Views, *, counted: bool
    ) -> OpKind | None:
        """Return the kind of an instruction; None if one of its numbers is symbolic.

        None also if its body takes a type or a resource that changes, or gives a handle.
        `counted`: see `CallWriter.counted`.
        """
        page = op.page
        if page not in self.eligible:
            others = {*page.uses} - READINGS
            self.eligible[page] = not (ALIASES in page.traits or others or page.types)
        if not self.eligible[page]:
            return None
        parts: list[object] = [page, repr(op.attrs) if op.attrs else "", counted]
        placed: list[tuple[Place, int]] = []
        for name, value in op.values():
            found = self._operand(value, env[value], views)
            if found is None or isinstance(op.operands[name], tuple):
                return None
            parts += name, found.number
            if found.place is not None:
                placed.append((found.place, found.size))
        arrays = [space for (space, _), _ in placed if space in self.arrays]
        parts += _distances(placed)
        if len({*arrays}) < len(arrays) or tuple(parts) in self.refused:
            return None
        return OpKind(tuple(parts), tuple(place for place, _ in placed))

    def keeps(self, kind: OpKind, recording: Recording, function: OpFunction) -> bool:
        """Return whether all that an instruction touches starts where operands do."""
        cells = [x.cells for x in (*recording.reads, *recording.stores)]
        cells += [c for _, c in function.pointers.values()]
        symbolic = recording.guards or recording.after or function.numbers or function.whole
        return bool(recording.stores and not symbolic) and all(
            _place(c) in kind.places for c in cells
        )

    def keep(
        self,
        kind: OpKind,
        recording: Recording,
        function: OpFunction,
        spoiled: list[str],
        call: CallText,
    ) -> EmittedOp:
        """Keep an instruction for equal ones; `call` is the text of its call."""
        facts: list[PlacedFact] = []
        for some in recording.reads:
            facts.append(self._fact(kind, some.cells, some.row_span, some.col_span))
        for store in recording.stores:
            if store.definite:
                name, window, place = self._fact(kind, store.cells, store.rows, store.cols)
                facts.append((name, window + 1, place))
        made = EmittedOp(recording, function, kind.places, tuple(facts), tuple(spoiled), call)
        self.emitted[kind.parts] = made
        return made

    def _fact(
        self, kind: OpKind, cells: Elements, rows: AxisWindow, cols: AxisWindow
    ) -> PlacedFact:
        """Return the memory of a window, its number, and that of its place."""
        text = repr((cells.dtype.name, cells.map, cells.origin, rows, cols))
        return space_of(cells).name, 2 * self._number(text), kind.places.index(_place(cells))

    def _operand(self, value: Value, handle: Any, views: Views) -> StaticOperand | None:
        """Return what is known of an operand (Any: a handle or a number)."""
        views.mark(value, handle)
        found, elements = self.operands.get(value), getattr(handle, "elements", None)
        view = getattr(handle, "view", None)
        if found is not None and found.holds(handle, elements, view):
            return found
        found = self._static(value, handle, elements, view)
        if found is not None:
            self.operands[value] = found
        return found

    def _static(self, value: Value, handle: Any, cells: Any, view: Any) -> StaticOperand | None:
        """Return an operand without symbolic numbers; None if it has some (Any: as above)."""
        size = 0
        if isinstance(handle, TracedTile):
            parts, size = self._tile(handle), handle.type.nbytes
        elif isinstance(handle, TracedView):
            parts = self._view(handle)
            size = cells.dtype.nbytes(cells.map.span) if parts else 0
            cells = handle.elements if parts is None else _from_start(cells)
        else:
            parts = _literal(handle)
            parts = None if parts is None else (self._text(value.type), *parts)
        if parts is None:
            return None
        place = _place(cells) if size else None
        return StaticOperand(
            handle, handle.elements if size else None, view, self._number(*parts), place, size
        )

    def _number(self, *parts: object) -> int:
        return self.numbers.setdefault(parts, len(self.numbers))

    def _tile(self, tile: TracedTile) -> Parts | None:
        kind, cells = tile.type, tile.elements
        numbers = cells.address, cells.origin, *tile.valid, *kind.valid
        moves = tile.slot or tile.sizes or cells.map is not kind.map
        moves = moves or space_of(cells).memory is not None
        if moves or kind.loc is Loc.REGISTER or not all(type(n) is int for n in numbers):
            return None
        place = cells.address if kind.loc is not Loc.VEC else None  # the ends of L0 matter
        return self._text(kind), space_of(cells).number, *numbers[1:], tile.view, place

    def _view(self, view: TracedView) -> Parts | None:
        kind, cells = view.type, view.elements
        numbers = cells.address, cells.origin, *kind.shape, *(kind.stride or ())
        if view.since is not None or not all(type(n) is int for n in numbers) or not settled(cells):
            return None
        space = space_of(cells)
        if space.memory is None or cells.address != 0 or cells.dtype.packed:
            return None
        if cells.dtype.nbytes(cells.origin + cells.map.span) > LARGEST_MEMORY:
            return None
        self.arrays.add(space.number)
        return self._text(kind), space.number, repr(cells.map)

    def _text(self, kind: object) -> str:
        """Return a type as text, made once."""
        found = self.types.get(id(kind))
        if found is None:
            found = self.types[id(kind)] = kind, repr(kind)
        return found[1]


def from_start(values: ByName) -> ByName:
    """Return operands for a body; views, which begin somewhere in an array, have its address."""
    found = dict(values)
    for name, value in values.items():
        if isinstance(value, TracedView):
            found[name] = view = copy(value)
            view.elements = _from_start(value.elements)
    return found


def _from_start(cells: Elements) -> Elements:
    """Return the elements of a view, counted from its first one."""
    start = cells.address + cells.dtype.nbytes(cells.origin)
    return Elements(cells.memory, start, cells.dtype, cells.map)


def moved(cells: Elements, there: Mapping[Place, Any]) -> Elements:
    """Return the same elements at another address, given for their place (Any: a Num)."""
    address = there[_place(cells)]
    return Elements(cells.memory, address, cells.dtype, cells.map, cells.origin, cells.end)


def _in_array(cells: Elements) -> Elements:
    """Return the elements of a view, counted from the first one of its array."""
    if space_of(cells).memory is None or cells.address % cells.dtype.size:
        return cells
    origin = cells.address // cells.dtype.size + cells.origin
    return Elements(cells.memory, 0, cells.dtype, cells.map, origin)


def _distances(placed: Sequence[tuple[Place, int]]) -> list[object]:
    """Return for each pair of places with sizes that overlap their distance, else None."""
    found: list[object] = []
    for number, ((space, first), size) in enumerate(placed):
        for (other, second), more in placed[:number]:
            apart = space != other or first + size <= second or second + more <= first
            found.append(None if apart else second - first)
    return found


def _literal(value: object) -> Parts | None:
    """Return a number that is known statically; numbers that are equal may differ in their bits."""
    if isinstance(value, NumpyArray):
        return value.dtype.name, value.codes.shape, value.codes.tobytes()
    if isinstance(value, float):
        return type(value), pack("<d", value)
    return (type(value), value) if isinstance(value, int) else None


def _place(cells: Elements) -> Place:
    return space_of(cells).number, cells.address
