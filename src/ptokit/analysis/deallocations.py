"""Deallocation faults: uses after the end of a buffer, and ends of buffers never allocated.

A may-analysis in text order; the regions of one op do not follow each other. A buffer that is
allocated before a loop and ends inside it ends again in the next iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from ptokit.analysis.aliases import Names, PointsTo, repeats, union
from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.traits import ALLOCATES, HANDLE

Place = tuple[int, ...]  # the numbers of the ops and of the regions that lead to an op


class _Storage(PointsTo):
    """The storage that the operands of each op name."""

    def __init__(self, func: Func) -> None:
        self.used: dict[AnyOp, frozenset[Value]] = {}
        super().__init__(func)

    def passed(self, op: AnyOp, names: Names) -> None:
        uses = op.uses if isinstance(op, OpaqueOp) else [v for _, v in op.values()]
        self.used[op] = union(names, uses)


def deallocations(func: Func) -> Iterator[Diagnostic]:
    """Yield warnings about the ends of buffers."""
    places = dict(_places(func.body, ()))
    ops = (op for op in places if isinstance(op, Op) and HANDLE in op.page.traits)
    ends = [op for op in ops if not op.page.resizes]
    if not ends:
        return
    storage, at = facts_of(func).made(_Storage), {place: op for op, place in places.items()}
    for end in ends:
        made = {value: storage.definitions.get(value) for value in storage.used[end]}
        for value, op in made.items():
            if not (isinstance(op, Op) and ALLOCATES in op.page.traits):
                message = f"{end.name}: %{value.name} is not allocated in this function"
                yield _warning(end, message, "deallocate only buffers that the function allocates")
        known = ((v, places[op]) for v, op in made.items() if op is not None and op in places)
        value = next((v for v, place in known if _ends_again(places[end], place, at)), None)
        if value is not None:
            message = f"{end.name}: %{value.name} is deallocated in each iteration of a loop"
            yield _warning(end, message, "deallocate after the loop")
            continue
        later = (op for op, place in places.items() if _follows(place, places[end]))
        use = next((op for op in later if storage.used[op] & made.keys()), None)
        if use is not None:
            value = next(v for v in made if v in storage.used[use])
            message = f"{use.name}: %{value.name} is used after its deallocation"
            found = _warning(use, message, "deallocate after the last use")
            yield replace(found, notes=(Note("deallocated here", end.span),))


def _places(block: Block, before: Place) -> Iterator[tuple[AnyOp, Place]]:
    for number, op in enumerate(block.ops):
        here = (*before, number)
        yield op, here
        regions = (_places(region, (*here, n)) for n, region in enumerate(op.regions))
        yield from chain.from_iterable(regions)


def _ends_again(end: Place, made: Place, at: Mapping[Place, AnyOp]) -> bool:
    """Return whether a loop contains the end of a buffer but not its allocation."""
    for depth in range(1, len(end), 2):
        op, inner = at[end[:depth]], end[: depth + 1]
        again = isinstance(op, Op) and repeats(op, op.regions[inner[-1]])
        if again and made[: len(inner)] != inner:
            return True
    return False


def _follows(place: Place, end: Place) -> bool:
    """Return whether an op runs after another one in text order."""
    first = next((n for n, (a, b) in enumerate(zip(place, end, strict=False)) if a != b), None)
    return first is not None and first % 2 == 0 and place[first] > end[first]


def _warning(op: AnyOp, message: str, help: str) -> Diagnostic:
    return Diagnostic("deallocation", message, op.span, Severity.WARNING, help=help)
