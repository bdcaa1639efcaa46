"""Footprints: the byte regions that an executed instruction accesses, and their overlaps.

The accesses to each operand follow from types and numbers (`analysis.effects`), so they are
computed once for each op and kind of operands; then only addresses are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from ptokit.analysis.effects import MOST_BYTES, ByteRanges, effects, marked
from ptokit.analysis.known import Facts
from ptokit.ir.module import Op, Value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Type
from ptokit.isa.model.words import CUBE, VECTOR, AccToVecMode, KernelKind, Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.coreplace import CorePlace
from ptokit.machine.execute import Core
from ptokit.machine.memory import Elements, Memory
from ptokit.machine.record.definite import mark_window, over_bytes
from ptokit.machine.record.isolated import spanned
from ptokit.machine.tile import GlobalView, Matrix, Placed, Pointer, Tile
from ptokit.values.enumerations import BUFFERS, MAT, VEC

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"
SMALLEST_BUCKET = 512  # bytes: the index of a memory sorts regions into buckets of this, or larger


class MemorySpace(NamedTuple):
    """One memory: a memory of one core, or a global memory that all cores reach."""

    name: str
    core: int | None = None  # None: all cores reach it
    number: int = 0  # tells arrays of one name apart


@dataclass(eq=False, slots=True)
class ByteRegion:
    """`count` lines of `width` bytes, one every `pitch` bytes, or irregular byte `ranges`.

    `near` lists the overlapping regions. Two regions that are only read are not listed.
    """

    space: MemorySpace
    start: int
    stop: int
    width: int
    pitch: int
    ranges: Ranges
    written: bool = False
    near: list[ByteRegion] = field(default_factory=list["ByteRegion"])

    def overlaps(self, other: ByteRegion) -> bool:
        """Return whether the two regions share a byte."""
        if self.stop <= other.start or other.stop <= self.start:
            return False
        if self.pitch and self.pitch == other.pitch:
            ahead = (other.start - self.start) % self.pitch
            if self.width <= ahead and ahead + other.width <= self.pitch:
                return False  # columns beside one another
        return any(True for _ in _common(self.ranges, other.ranges))

    def common(self, other: ByteRegion) -> tuple[int, int]:
        """Return the first run of bytes that both regions contain, as (start, stop)."""
        return next(_common(self.ranges, other.ranges))


def _common(a: Ranges, b: Ranges) -> Iterator[tuple[int, int]]:
    """Yield the intersections of two ascending lists of disjoint ranges."""
    i = j = 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low < high:
            yield low, high
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1


class ByteRegions:
    """All regions that a run accesses, each once, with their overlapping neighbours."""

    def __init__(self) -> None:
        self._known: dict[tuple[MemorySpace, int, Ranges], ByteRegion] = {}
        self._buckets: dict[MemorySpace, tuple[int, dict[int, list[ByteRegion]]]] = {}

    def at(self, space: MemorySpace, address: int, ranges: Ranges) -> ByteRegion:
        """Return the region of `ranges`, which are counted from `address`."""
        key = space, address, ranges
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _placed(space, address, ranges)
            self._enter(found)
        return found

    def _enter(self, region: ByteRegion) -> None:
        size, buckets = self._buckets.setdefault(
            region.space, (max(SMALLEST_BUCKET, region.stop - region.start), {})
        )
        for number in range(region.start // size, (region.stop - 1) // size + 1):
            buckets.setdefault(number, []).append(region)
        for other in self._in_same_buckets(region):
            if other.written and other.overlaps(region):
                region.near.append(other)
                other.near.append(region)

    def _in_same_buckets(self, region: ByteRegion) -> Iterator[ByteRegion]:
        """Yield the other regions in the buckets of `region`, each once."""
        size, buckets = self._buckets[region.space]
        first = region.start // size
        for number in range(first, (region.stop - 1) // size + 1):
            for other in buckets[number]:
                if other is not region and number == max(first, other.start // size):
                    yield other

    def write(self, region: ByteRegion) -> None:
        """Mark the region as written and enter the regions that overlap it as neighbours."""
        if region.written:
            return
        region.written = True
        known = {id(other) for other in region.near}
        for other in self._in_same_buckets(region):
            if id(other) not in known and other.overlaps(region):
                region.near.append(other)
                other.near.append(region)


def _placed(space: MemorySpace, address: int, ranges: Ranges) -> ByteRegion:
    placed = tuple((address + a, address + b) for a, b in ranges)
    (start, end), stop, pitch = placed[0], placed[-1][1], 0
    width = end - start
    if len(placed) > 1:
        pitch = placed[1][0] - start
        even = all(
            (a, b) == (start + n * pitch, start + n * pitch + width)
            for n, (a, b) in enumerate(placed)
        )
        pitch = pitch if even else 0
    return ByteRegion(space, start, stop, width, pitch, placed)


Shape: TypeAlias = "tuple[object, ...]"  # all that an op's ranges depend on
Templates: TypeAlias = dict[tuple[Op, Shape], "FootprintTemplate"]


@dataclass
class _Run(Facts):
    """Facts of a run: the types of handles with their current extents."""

    def type_of(self, value: Value) -> Type:
        return self.types.get(value, value.type)


class FootprintTemplate(NamedTuple):
    """The bytes that an op accesses, relative to its operands; None: all of the memory."""

    pipe: Pipe | None
    reads: tuple[tuple[Value, Ranges | None], ...]
    writes: tuple[tuple[Value, Ranges | None], ...]
    operands: tuple[tuple[str, Type], ...]
    drains: tuple[bool, bool] = (False, False)  # every pipe, before it and behind it
    lanes: tuple[int, ...] = (0,)  # vector cores whose UB the cube writes

    @property
    def on_nothing(self) -> bool:
        """Return whether an operand has no elements."""
        return any(0 in _extents(kind) for _, kind in self.operands)


def _extents(kind: Type) -> Iterable[object]:
    if isinstance(kind, TileType):
        return kind.valid
    return kind.shape if isinstance(kind, GlobalType) else ()


@dataclass
class Footprints:
    """The footprints of one launch; `arrays` are the memories that all cores reach.

    Launches of the same functions may share their `templates`.
    """

    target: Target
    templates: Templates = field(default_factory=Templates)
    regions: ByteRegions = field(default_factory=ByteRegions)
    pipes: dict[object, Pipe] = field(default_factory=dict[object, Pipe])
    arrays: dict[int, MemorySpace] = field(default_factory=dict[int, MemorySpace])
    homes: dict[MemorySpace, MemorySpace] = field(default_factory=dict[MemorySpace, MemorySpace])
    kept: list[Memory] = field(
        default_factory=list[Memory]
    )  # keeps ids unique: no later array gets the id of an earlier one

    def template(self, op: Op, env: Env) -> FootprintTemplate:
        """Return the accesses of the op for operands with the current shapes."""
        shape = tuple(_shape(env.get(value)) for _, value in op.values())
        key = op, shape
        found = self.templates.get(key)
        if found is None:
            found = self.templates[key] = self._template(op, env)
        return found

    def pipe(self, op: Op, kind: KernelKind | None = None) -> Pipe:
        """Return the queue of an op, given its types and the kind of core."""
        key = id(op), kind
        if key not in self.pipes:
            env = {**Facts(self.target).environment(op), "core": kind}
            self.pipes[key] = op.page.pipe_of(env) or Pipe.S
        return self.pipes[key]

    def placed(
        self,
        some: tuple[tuple[Value, Ranges | None], ...],
        env: Env,
        core: Core,
        number: int,
        lanes: tuple[int, ...] = (0,),
    ) -> tuple[ByteRegion, ...]:
        """Return the regions of operand ranges, at the addresses of the handles."""
        found: list[ByteRegion] = []
        for value, ranges in some:
            handle = env[value]
            for space in self.spaces(handle.memory, core, number, lanes):
                if ranges is None:
                    found.append(self.regions.at(space, 0, ((0, max(handle.memory.size, 1)),)))
                else:
                    found.append(self.regions.at(space, first_byte(*place_of(handle)), ranges))
        return tuple(found)

    def spaces(
        self, memory: Memory, core: Core, number: int, lanes: tuple[int, ...]
    ) -> Iterator[MemorySpace]:
        """Yield the spaces of `memory`: of core `number`, of all, or the UB of each lane."""
        space = self._space(memory, core, number)
        several = space.core is not None and memory.name == SPACES[VEC]
        for one in (space._replace(number=lane) for lane in lanes) if several else (space,):
            yield self.homes.get(one, one)

    def launched(self, places: Sequence[CorePlace]) -> None:
        """Let the cores of a block reach each other's memories, if a core has one of the units.

        What the cube writes to UB is the UB of a vector core; what a vector core writes to L1 is
        the L1 of the cube.
        """
        self.homes.clear()
        if not self.target.kinds:
            return
        cubes = {_block_of(place): n for n, place in enumerate(places) if place.kind is CUBE}
        for number, place in enumerate(places):
            cube = cubes.get(_block_of(place))
            if place.kind is VECTOR and cube is not None:
                ub, l1 = SPACES[VEC], SPACES[MAT]
                self.homes[MemorySpace(ub, cube, place.lane)] = MemorySpace(ub, number)
                self.homes[MemorySpace(SPACES[BUFFERS[place.lane]], cube)] = MemorySpace(ub, number)
                self.homes[MemorySpace(l1, number)] = MemorySpace(l1, cube)

    def _space(self, memory: Memory, core: Core, number: int) -> MemorySpace:
        if core.owns(memory) and memory.name in self.target.capacity:
            return MemorySpace(memory.name, number)
        if id(memory) not in self.arrays:
            self.kept.append(memory)
            self.arrays[id(memory)] = MemorySpace(memory.name, None, len(self.arrays))
        return self.arrays[id(memory)]

    def _template(self, op: Op, env: Env) -> FootprintTemplate:
        facts = _Run(self.target)
        for _, value in op.values():
            handle = env.get(value)
            if isinstance(handle, Matrix):
                facts.types[value] = handle.type
            elif isinstance(handle, int):
                facts.numbers[value] = handle
        for value in op.results:
            if isinstance(env.get(value), Matrix):
                facts.types[value] = env[value].type
        found = effects(op, facts)
        whole = {value: ByteRanges(((0, _size(env[value])),)) for value in found.scratch}
        reads, writes = {**found.reads, **whole}, {**found.writes, **whole}
        for value in _kept(op, facts):
            kept = reads.pop(value, ByteRanges())
            writes[value] = _without(writes[value], kept)
        types = tuple((name, facts.type_of(value)) for name, value in op.values())
        drains = _drains(op, facts)
        touched = _bytes(reads, env), _bytes(writes, env)
        return FootprintTemplate(found.pipe, *touched, types, drains, _lanes(op))


def _block_of(place: CorePlace) -> tuple[int | None, int]:
    return place.rank, place.block


def _kept(op: Op, facts: Facts) -> Iterator[Value]:
    """Yield the tile whose bytes the body reads only to keep them unchanged."""
    if op.page.keeps is not None:
        source, target, where = op.page.keeps
        values = {*op.bound(source.name), *op.bound(target.name)}
        if len(values) == 1 and where.eval(facts.environment(op)) is True:
            yield from values


def _without(some: ByteRanges, others: ByteRanges) -> ByteRanges:
    """Return the bytes of `some` that are not in `others`."""
    if some.ranges is None or others.ranges is None:
        return some
    left = list(some.ranges)
    for low, high in others.ranges:
        parts = (((a, min(b, low)), (max(a, high), b)) for a, b in left)
        left = [(a, b) for pair in parts for a, b in pair if a < b]
    return ByteRanges(tuple(left))


def _lanes(op: Op) -> tuple[int, ...]:
    """Return the vector cores whose UB a cube instruction writes, from its attribute."""
    if AccToVecMode.SINGLE_VEC1 in op.attrs.values():
        return (1,)
    both = {AccToVecMode.DUAL_SPLIT_M, AccToVecMode.DUAL_SPLIT_N}
    return (0, 1) if any(word in both for word in op.attrs.values()) else (0,)


def _drains(op: Op, facts: Facts) -> tuple[bool, bool]:
    """Return whether an instruction waits for all pipes before, and whether all wait after it."""
    page, env = op.page, facts.environment(op) if op.page.drains_before else {}
    before = any(
        facts.target.follows((name,)) and condition.eval(env) is True
        for name, condition in page.drains_before.items()
    )
    return before, facts.target.follows(page.drains_behind)


def _bytes(some: Mapping[Value, ByteRanges], env: Env) -> tuple[tuple[Value, Ranges | None], ...]:
    """Return the ranges of each operand that has bytes."""
    handles = ((v, env.get(v), ranges) for v, ranges in some.items())
    found = ((v, _ranges(h, r)) for v, h, r in handles if isinstance(h, Matrix | Pointer))
    return tuple((v, ranges) for v, ranges in found if ranges != ())


def _shape(handle: object) -> object:
    if isinstance(handle, Tile):
        here = handle.elements.map
        return handle.type, None if here is handle.type.map else here
    if isinstance(handle, Matrix):
        return handle.type
    return handle if isinstance(handle, int) else None


def place_of(handle: Placed) -> tuple[int, int, int]:
    """Return the address of a handle, the elements before its first one, and bits per element.

    For the template of a handle, slots of the record stand for numbers.
    """
    if isinstance(handle, Pointer):
        return 0, handle.offset, handle.dtype.bits
    return handle.elements.address, handle.elements.origin, handle.elements.dtype.bits


def first_byte(address: int, origin: int, bits: int) -> int:
    """Return the byte at which the first element begins."""
    return address + origin * bits // 8


def _size(handle: Matrix) -> int:
    kind = handle.type
    return (spanned(kind) or 0) if isinstance(kind, GlobalType) else int(kind.nbytes)


def _ranges(handle: Placed, found: ByteRanges) -> Ranges | None:
    """Return the byte ranges of a handle; a window of a tile uses the layout of the whole tile."""
    if found.ranges is None and isinstance(handle, GlobalView):
        return _of_view(handle)
    if found.ranges is None and isinstance(handle, Tile):
        return ((0, _size(handle)),)
    if isinstance(handle, GlobalView) or not isinstance(handle, Tile) or found.ranges == ():
        return found.ranges
    if handle.elements.map is handle.type.map or handle.contiguous():
        return found.ranges
    return _of_window(handle.elements, handle.type)


def _of_view(view: GlobalView) -> Ranges:
    """Return the bytes of a view's elements; one range around all of them if the view is huge."""
    size = _size(view)
    if size > MOST_BYTES:
        return ((0, size),)
    axes = view.elements.map
    shadow = np.zeros(size, np.uint8)
    here = Elements(view.memory, 0, view.dtype, axes)
    mark_window(over_bytes(shadow, here), range(axes.rows.extent), range(axes.cols.extent))
    return marked(shadow)


def _of_window(elements: Elements, kind: TileType) -> Ranges:
    """Return the bytes of the valid region of a window, in the layout of the whole tile."""
    axes = elements.map
    rows = min(kind.valid.rows or 0, axes.rows.extent)  # sampled extents may be too large
    cols = min(kind.valid.cols or 0, axes.cols.extent)
    here = Elements(elements.memory, 0, elements.dtype, elements.map)
    shadow = np.zeros(elements.dtype.nbytes(elements.map.span), np.uint8)
    mark_window(over_bytes(shadow, here), range(rows), range(cols))
    return marked(shadow)
