"""Novelty of a run: overlaps of bytes, instructions and paths that no other run shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.explore.limits import FAR
from ptokit.explore.programslices import depending, depends, is_issued, open_flow
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import FLAGS
from ptokit.machine.execute import moves
from ptokit.order.footprints import ByteRegion, MemorySpace
from ptokit.order.issue import Issue
from ptokit.order.waiting import OF_ONE_CORE, Await, PipeWork, Post, QueueEntry

DependenceDistance: TypeAlias = "tuple[int, int, tuple[int, ...]]"  # two ops by id, iterations
Access: TypeAlias = "tuple[ByteRegion, bool, int]"  # region, is it written, op id


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


def unreached(funcs: Sequence[Func], issues: Collection[Issue]) -> list[Op]:
    """Return the instructions that no run issues on a tile that is not empty."""
    reached = set[int]().union(*(issue.reached for issue in issues))
    begun = set[int]().union(*(issue.begun for issue in issues))
    missing = [op for op in issued_ops(funcs) if id(op) not in reached]
    if not any(id(op) in begun for op in missing):
        return missing
    open = frozenset(value for func in funcs for value in _open_extents(func))
    return [
        op
        for op in missing
        if id(op) not in begun or not open.isdisjoint(value for _, value in op.values())
    ]


def _open_extents(func: Func) -> frozenset[Value]:
    """Return the values that depend on arguments or memory, and tiles resized by them."""
    open = depending(func)
    every = [[*op.values()] for op in func.ops if isinstance(op, Op) and op.page.resizes]
    resized = [values[0][1] for values in every if not open.isdisjoint(v for _, v in values)]
    return depends(func, open | {*resized})


def issued_ops(funcs: Sequence[Func]) -> Iterator[Op]:
    for func in funcs:
        for op in func.ops:
            if isinstance(op, Op) and is_issued(op) and FLAGS not in op.page.uses:
                yield op


def idle(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Return whether only one choice was legal, or no loop iterates: other samples may do more."""
    return (len(issues) == 1 and issues[0].chosen) or none_iterates(funcs, issues)


def none_iterates(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Return whether loops with unknown extents issue something, but not in these runs."""
    found = any(_issues(op) for func in funcs for op in open_flow(func, depending(func)))
    entries = (entry for issue in issues for core in issue.cores for entry in core)
    return found and not any(entry.iteration for entry in entries)


def _issues(op: Op) -> bool:
    """Return whether the op is a loop that contains issued instructions."""
    again = (region for region in op.regions if repeats(op, region))
    return any(isinstance(one, Op) and moves(one) for region in again for one in region.walk())
