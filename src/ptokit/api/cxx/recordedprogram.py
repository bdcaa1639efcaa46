"""A record as a program: one function for each launch, straight lines with addresses and flags.

Blocks that executed the same are told once: where numbers differ, they follow from the block's
index. Others stand in branches on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ptokit.analysis.cores import KIND
from ptokit.api.cxx.callbinding import CxxCall
from ptokit.api.cxx.calloperands import PipeHandle, PlacedTile, PlacedView
from ptokit.api.cxx.callrecord import CoreRecord, LaunchRecord
from ptokit.api.cxx.kernelpipes import OpenedPipe
from ptokit.api.cxx.recordvalues import Linear, NamedArray, RecordValues
from ptokit.diagnostics.source import Span
from ptokit.ir.editing import new_op, shaped
from ptokit.ir.module import Block, Func, Module, Op, Raw, Value
from ptokit.isa.index import pages
from ptokit.isa.lang.traits import REGIONS, TERMINATOR
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.values.enumerations import VEC

Numbers = tuple[int, ...]


class RecordedCalls(Protocol):
    """The record that a child sends back of its launches."""

    @property
    def calls(self) -> Sequence[CxxCall]: ...
    @property
    def pipes(self) -> Sequence[OpenedPipe]: ...
    @property
    def launches(self) -> Sequence[LaunchRecord]: ...


def program_of(
    recorded: RecordedCalls, lines: Mapping[int, Span | None], arrays: Mapping[int, NamedArray]
) -> Module:
    """Return the program; `arrays` are by their numbers, `lines` by places."""
    shapes = Shapes(recorded.calls)
    taken: dict[str, int] = {}
    funcs: list[Func] = []
    for launch in recorded.launches:
        name = _fresh(launch.name.partition("<")[0].rpartition("::")[2] or "kernel", taken)
        funcs.append(_Function(recorded, launch, shapes, lines, arrays).made(name))
    return Module(funcs, wrapped=False)


def _fresh(name: str, taken: dict[str, int]) -> str:
    count = taken.get(name, 0)
    taken[name] = count + 1
    return f"{name}_{count}" if count else name


class Shapes:
    """Calls without the numbers that may differ between blocks, each shape with a number."""

    def __init__(self, calls: Sequence[CxxCall]) -> None:
        self.calls = calls
        self._known: dict[object, int] = {}
        self._of: dict[int, int] = {}
        self._numbers: dict[int, Numbers] = {}

    def shape(self, call: int) -> int:
        if call not in self._of:
            key, numbers = _parts(self.calls[call])
            self._of[call] = self._known.setdefault(key, len(self._known))
            self._numbers[call] = numbers
        return self._of[call]

    def numbers(self, call: int) -> Numbers:
        """Return the numbers that a call has apart from its shape."""
        self.shape(call)
        return self._numbers[call]


def _parts(call: CxxCall) -> tuple[object, Numbers]:
    """Return what a call is, and its numbers: where views begin, and indices."""
    key: list[object] = [call.page]
    numbers: list[int] = []
    for name, value in call.operands.items():
        if isinstance(value, PlacedView):
            key.append((name, value.type, value.array))
            numbers.append(value.origin)
        elif isinstance(value, int) and call.page.operand(name).kind is Kind.INDEX:
            key.append((name, int))
            numbers.append(value)
        else:
            key.append((name, value))
    key += call.attrs.items()
    return tuple(key), tuple(numbers)


@dataclass(frozen=True)
class AlikeCores:
    """Calls that some cores executed alike: their numbers by block and lane, their places."""

    cores: tuple[CoreRecord, ...]
    numbers: tuple[tuple[Linear, ...], ...]


def parts_of(cores: Sequence[CoreRecord], shapes: Shapes) -> Iterator[AlikeCores]:
    """Group cores that executed the same instructions on numbers that follow from their places."""
    groups: dict[object, list[CoreRecord]] = {}
    for core in cores:
        groups.setdefault(tuple(map(shapes.shape, core.calls)), []).append(core)
    for group in groups.values():
        left = sorted(group, key=lambda core: core.place[:1] + core.place[2:3])
        while left:
            count, linear = _longest(left, shapes)
            yield AlikeCores(tuple(left[:count]), linear)
            left = left[count:]


def _longest(
    cores: Sequence[CoreRecord], shapes: Shapes
) -> tuple[int, tuple[tuple[Linear, ...], ...]]:
    """Return how many of the first cores have numbers that follow from their places, and these."""
    found = _linear(cores, shapes)
    if found is not None:
        return len(cores), found
    low, high = 1, len(cores) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _linear(cores[:middle], shapes) is None:
            high = middle - 1
        else:
            low = middle
    found = _linear(cores[:low], shapes)
    assert found is not None
    return low, found


def _linear(group: Sequence[CoreRecord], shapes: Shapes) -> tuple[tuple[Linear, ...], ...] | None:
    """Return the numbers of each call as they follow from block and lane; None: they do not."""
    places = [(core.place.block, core.place.lane) for core in group]
    known: dict[Numbers, tuple[Linear, ...] | None] = {}
    found: list[tuple[Linear, ...]] = []
    for column in zip(*(core.calls for core in group), strict=True):
        if column not in known:
            rows = zip(*map(shapes.numbers, column), strict=True)
            each = [_fitted(places, row) for row in rows]
            known[column] = None if None in each else tuple(e for e in each if e is not None)
        linear = known[column]
        if linear is None:
            return None
        found.append(linear)
    return tuple(found)


def _fitted(places: Sequence[tuple[int, int]], row: Numbers) -> Linear | None:
    """Return base, step by block and step by lane of numbers, None where they are not such."""
    first, start = places[0], row[0]
    by_block = by_lane = 0
    for (block, lane), number in zip(places, row, strict=True):
        if lane == first[1] and block != first[0]:
            by_block, rest = divmod(number - start, block - first[0])
            if rest:
                return None
            break
    for (block, lane), number in zip(places, row, strict=True):
        if block == first[0] and lane != first[1]:
            by_lane = (number - start) // (lane - first[1])
            break
    base = start - by_block * first[0] - by_lane * first[1]
    fits = all(
        base + by_block * block + by_lane * lane == number
        for (block, lane), number in zip(places, row, strict=True)
    )
    return Linear(base, by_block, by_lane) if fits else None


def _moves_nothing(call: CxxCall) -> bool:
    """True of a hint to the cache; where a view has no element: text has no such view."""
    if any(isinstance(v, PipeHandle) and v.number < 0 for v in call.operands.values()):
        return True
    views = (value for value in call.operands.values() if isinstance(value, PlacedView))
    return any(0 in view.type.shape for view in views)


def _end(recorded: RecordedCalls, launch: LaunchRecord) -> int:
    """Return where in vec the last tile of a launch ends."""
    calls = (recorded.calls[n] for n in {n for core in launch.cores for n in core.calls})
    values = (value for call in calls for value in call.operands.values())
    tiles = (v for v in values if isinstance(v, PlacedTile) and v.type.loc is VEC)
    return max((tile.address + tile.type.nbytes for tile in tiles), default=0)


class _Function:
    """Makes the function of one launch."""

    def __init__(
        self,
        recorded: RecordedCalls,
        launch: LaunchRecord,
        shapes: Shapes,
        lines: Mapping[int, Span | None],
        arrays: Mapping[int, NamedArray],
    ) -> None:
        self.recorded, self.launch, self.shapes, self.lines = recorded, launch, shapes, lines
        self.values = RecordValues(recorded.pipes, arrays, _end(recorded, launch))

    def made(self, name: str) -> Func:
        """Return the function."""
        kinds = (CUBE, VECTOR) if self.launch.mixed else (VECTOR,)
        bodies = {kind: [*self._body(kind)] for kind in kinds}
        ops: list[Op] = []
        for kind, body in bodies.items():
            ops += [self._section(kind, body)] if self.launch.mixed else body
        ends = (p for p in pages() if TERMINATOR in p.traits and p.asm.dialect == "func")
        last = next(ends, None)
        end = [] if last is None else [new_op(last, {})]
        block = Block(self.values.arguments(), [*self.values.head, *ops, *end])
        attrs: dict[str, object] = {}
        if self.launch.as_cube:
            attrs[KIND] = Raw(f"#pto.kernel_kind<{CUBE.text}>")
        return Func(name, block, attrs=attrs)

    @staticmethod
    def _section(kind: KernelKind, body: Iterable[Op]) -> Op:
        sections = (p for p in pages() if p.asm.shape == "section" and p.core is kind)
        page = next(p for p in sections if REGIONS in p.uses)
        return new_op(page, {}, regions=[Block([], [*body])])

    def _body(self, kind: KernelKind) -> Iterator[Op]:
        """Yield what cores of a kind execute; parts of some cores in branches."""
        cores = [core for core in self.launch.cores if core.place.kind is kind]
        parts = [*parts_of(cores, self.shapes)]
        for part in parts:
            with self.values.part() as addresses:
                ops = [*self._ops(part)]
            ops = [*addresses, *ops] if ops else []
            if len(parts) == 1:
                yield from ops
            elif ops:
                yield self._branch(part, ops)

    def _ops(self, part: AlikeCores) -> Iterator[Op]:
        core = part.cores[0]
        for number, place, numbers in zip(core.calls, core.places, part.numbers, strict=True):
            call = self.recorded.calls[number]
            if not _moves_nothing(call):
                yield self._op(call, numbers, self.lines.get(place))

    def _op(self, call: CxxCall, numbers: Sequence[Linear], span: Span | None) -> Op:
        left = list(numbers)
        operands: dict[str, Sequence[Value]] = {}
        for name, value in call.operands.items():
            given = left.pop(0) if self._differs(call, name, value) else None
            operand = call.page.operand(name)
            values = value if isinstance(value, tuple) and operand.many else (value,)
            operands[name] = [self.values.value(call, operand, v, given) for v in values]
        attrs = {k: v for k, v in call.attrs.items() if v is not None}
        results = self.values.results(call)
        spans = {} if span is None else {"": span}
        return new_op(call.page, operands, attrs, results=results, spans=spans)

    @staticmethod
    def _differs(call: CxxCall, name: str, value: object) -> bool:
        index = call.page.operand(name).kind is Kind.INDEX
        return isinstance(value, PlacedView) or (isinstance(value, int) and index)

    def _branch(self, part: AlikeCores, ops: Sequence[Op]) -> Op:
        """Return a branch that only these cores take."""
        cores = {(core.place.block, core.place.lane) for core in part.cores}
        condition, page = self.values.where(cores, self.launch), shaped("if")
        taken = {page.ins()[0].name: (condition,)}
        return new_op(page, taken, regions=[Block([], [*ops])])
