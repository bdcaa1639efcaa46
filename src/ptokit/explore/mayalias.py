"""May-alias: the unknown numbers that decide which bytes overlap, and the overlaps of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Hashable, Iterator
from itertools import chain
from typing import NamedTuple, TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.analysis.facts import facts_of
from ptokit.explore.openvalues import from_memory, keeps_numbers
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import ALLOCATES, FLAGS, FLOW
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.types import Kind, PtrType, ScalarType
from ptokit.machine.execute import moves
from ptokit.order.byteregions import ByteRegion, MemorySpace
from ptokit.order.entries import OF_ONE_CORE, Await, PipeWork, Post, QueueEntry
from ptokit.order.issue import Issue

DependenceDistance: TypeAlias = "tuple[int, int, tuple[int, ...]]"  # two ops by id, iterations
Access: TypeAlias = "tuple[ByteRegion, bool, int]"  # region, is it written, op id
Place: TypeAlias = "tuple[Value, ...]"  # a handle, and numbers that are added
FAR = 4  # iterations
ARRAY_SHAPE = "shape"  # the operand with the extents of an array, which is no address
SHARED = PtrType | GlobalType  # handles on memory that all cores reach


def placing(func: Func) -> frozenset[Value]:
    """Return the numbers that decide where handles point, if other handles may overlap.

    Also the numbers that select a flag. A handle on global memory counts if its memory is written
    and reached by another handle.
    """
    handles, places = _contested(func)
    return frozenset(
        number
        for op in func.ops
        if isinstance(op, Op) and FLOW not in op.page.uses and not keeps_numbers(op)
        for number in _places(op)
        if FLAGS in op.page.uses
        or not _all_shared(op)
        or not (handles if op.results else places).isdisjoint(_handles_of(op))
    )


def branching(func: Func) -> Iterator[Value]:
    """Yield the conditions of branches around instructions that are issued or order queues."""
    for op in func.ops:
        if not isinstance(op, Op) or any(repeats(op, region) for region in op.regions):
            continue
        inner = (one for region in op.regions for one in region.walk())
        if any(isinstance(one, Op) and moves(one) for one in inner):
            yield from (value for _, value in op.values())


def _places(op: Op) -> Iterator[Value]:
    """Yield the scalar operands of an op that are addresses. Data and extents are skipped."""
    handles = any(not isinstance(value.type, ScalarType) for value in op.results)
    new = ALLOCATES in op.page.traits
    for name, value in op.values():
        operand = op.page.operand(name)
        says = operand.kind is Kind.INDEX or (handles and isinstance(value.type, ScalarType))
        extent = name == ARRAY_SHAPE or (new and operand.counts)
        if says and not extent and not from_memory(op):
            yield value


def _handles_of(op: Op) -> list[Value]:
    """Return the handles that an op makes, or else those that it uses."""
    every = [*op.results] or [value for _, value in op.values()]
    return [value for value in every if not isinstance(value.type, ScalarType)]


def _all_shared(op: Op) -> bool:
    return all(isinstance(value.type, SHARED) for value in _handles_of(op))


def _contested(func: Func) -> tuple[frozenset[Value], frozenset[Value]]:
    """Return handles on written global memory that several handles reach.

    Second: handles on written global memory that is reached in several places, perhaps by one
    handle.
    """
    classes = facts_of(func).classes
    reached, written = defaultdict[Value, set[Place]](set), set[Value]()
    for op in func.ops:
        if not isinstance(op, Op) or not moves(op):
            continue
        outs = {value for operand in op.page.outs() for value in op.bound(operand.name)}
        for _, value in op.values():
            if isinstance(value.type, SHARED):
                reached[classes.of(value)].add((value, *numbers_added(op)))
                if value in outs:
                    written.add(classes.of(value))
    inner = (region.args for op in func.ops for region in op.regions)
    made = [*chain(func.args, *inner, *(op.results for op in func.ops))]
    places = {one for one in written if len(reached[one]) > 1}
    handles = {one for one in places if len({handle for handle, *_ in reached[one]}) > 1}

    def of(some: Container[Value]) -> frozenset[Value]:
        return frozenset(value for value in made if classes.of(value) in some)

    return of(handles), of(places)


def numbers_added(op: Op) -> Iterator[Value]:
    """Yield the operands that an instruction adds to the addresses of its handles."""
    return (value for name, value in op.values() if op.page.operand(name).kind is Kind.INDEX)


def alias_pattern(issue: Issue) -> Hashable:
    """Return the overlaps of a run: two runs with one pattern have the same hazards.

    The start of an array and arrays that are only read make no difference.
    """
    cores = [core for core in issue.cores if core]
    work = (entry for core in cores for entry in core if isinstance(entry, PipeWork))
    written = {region.space for entry in work for region in entry.writes}
    first = dict[Hashable, int]()

    def places(entry: QueueEntry) -> Iterator[Hashable]:
        if not isinstance(entry, PipeWork):
            yield from _named(entry)
            return
        for number, regions in enumerate((entry.reads, entry.writes)):
            for region in regions:
                space = region.space
                if space not in written:
                    continue
                origin = first.setdefault(space, region.start) if space.core is None else 0
                local = space.name if space.core is not None else space
                size = region.stop - region.start
                yield number, local, region.start - origin, size, len(region.ranges)

    return tuple(tuple((id(e.op), *places(e)) for e in core) for core in cores)


def dependence_distances(issue: Issue) -> set[DependenceDistance]:
    """Return the dependent pairs of instructions with their iteration distances."""
    found = set[DependenceDistance]()
    for core in issue.cores:
        last = defaultdict[MemorySpace, dict[Access, PipeWork]](dict)
        for entry in core:
            if not isinstance(entry, PipeWork):
                continue
            for region, writes in _accesses(entry):
                there = last[region.space]
                for (other, wrote, _), before in there.items():
                    if (writes or wrote) and (other is region or other.overlaps(region)):
                        found.add((id(before.op), id(entry.op), _iterations(before, entry)))
                there[region, writes, id(entry.op)] = entry
    return found


class Shown(NamedTuple):
    """The observations of a run: its dependences and the ops that it reaches."""

    distances: frozenset[DependenceDistance]
    path: frozenset[Hashable]


def shown(issue: Issue) -> Shown:
    path = frozenset(step for core in issue.cores for entry in core for step in _named(entry))
    return Shown(frozenset(dependence_distances(issue)), path)


def _named(entry: QueueEntry) -> Iterator[Hashable]:
    """Yield the op of an entry, and the channels that it uses in this run."""
    yield id(entry.op)
    tickets = (entry.ticket,) if isinstance(entry, Post) else ()
    for channel, _ in entry.tickets if isinstance(entry, Await) else tickets:
        yield channel._replace(core=0) if isinstance(channel, OF_ONE_CORE) else ()


def _accesses(entry: PipeWork) -> Iterator[tuple[ByteRegion, bool]]:
    """Yield the regions that an instruction accesses, and whether it writes them."""
    yield from ((region, False) for region in entry.reads)
    yield from ((region, True) for region in entry.writes)


def _iterations(before: PipeWork, after: PipeWork) -> tuple[int, ...]:
    """Return the iteration distance in the common loops, limited to +-`FAR`."""
    pairs = zip(before.iteration, after.iteration, strict=False)
    return tuple(max(-FAR, min(b - a, FAR)) for (_, a), (_, b) in pairs)
