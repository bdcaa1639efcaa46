"""Conflicts between blocks that exist for all arguments: two blocks access the same bytes.

An address that depends on no argument is the same in every run. An address that is the same in
every block conflicts with itself, whatever its value. Different arrays share no bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ptokit.analysis.aliases import repeats
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.mayalias import SHARED, Place, numbers_added
from ptokit.explore.openvalues import block_queries, deciding, depending, depends, leads_to
from ptokit.explore.pathruns import dry_runs
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import BY_INDEX, BY_SCALAR, POLLS
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.machine.execute import moves
from ptokit.order.issue import Issue
from ptokit.records import dataclass

BLOCKS = 3  # compared blocks
# two iterations are likely for any bound; the maximum is unknown
TRIP_COUNTS = (2, 1, 0)


@dataclass(frozen=True)
class SharedAccess:
    """The address of an instruction's access to bytes that all blocks reach.

    `exact`: the bytes are the same for all arguments. `places`: handles and offsets that are equal
    in every block.
    """

    exact: bool
    places: frozenset[Place]

    def meets(self, other: SharedAccess) -> bool:
        """Return whether a conflict of the two on samples exists on all arguments."""
        return (self.exact and other.exact) or not self.places.isdisjoint(other.places)


def asks_for_block(func: Func) -> bool:
    """Return whether a function is written for several independent blocks."""
    ops = [op for op in func.ops if isinstance(op, Op)]
    meet = any(POLLS in op.page.traits or not CORES.isdisjoint(op.page.uses) for op in ops)
    return not meet and any(True for _ in block_queries(func))


def launches_of_blocks(launch: DryLaunch) -> Iterator[Issue]:
    """Yield issue traces of several blocks, for conflicts that exist on all arguments."""
    every = replace(launch, blocks=BLOCKS, trip_counts=TRIP_COUNTS, mixed=False, refused=[])
    if every.together or not all(map(asks_for_block, launch.funcs)):
        return
    known = SharedAccesses(launch.funcs)
    if not known.every:
        return
    with suppress(PtoError):  # the run is too long, or not legal
        for issue in dry_runs(every):
            issue.certain = known.certain
            yield issue


class SharedAccesses:
    """The shared accesses of several functions, by instruction."""

    def __init__(self, funcs: Sequence[Func]) -> None:
        self.every = {id(op): one for func in funcs for op, one in _OfFunction(func).found()}

    def certain(self, first: AnyOp, second: AnyOp) -> bool:
        """Return whether a conflict of two instructions exists on all arguments."""
        one, other = self.every.get(id(first)), self.every.get(id(second))
        return one is not None and other is not None and one.meets(other)


class _OfFunction:
    """The instructions of a function that several blocks execute, whatever the arguments."""

    def __init__(self, func: Func) -> None:
        queries = frozenset(block_queries(func))
        args = frozenset(arg for arg in func.args if isinstance(arg.type, ScalarType))
        self.func = func
        self.in_memory = depends(func, frozenset())
        self.by_block = leads_to(func, queries)
        self.by_arguments = depends(func, args, each_iteration=True)
        self.open = depending(func)
        self.counting = leads_to(func, {*_counters(func, self.open)})

    def found(self) -> Iterator[tuple[Op, SharedAccess]]:
        yield from self._of(self.func.body, self.by_arguments)

    def _of(self, block: Block, varied: frozenset[Value]) -> Iterator[tuple[Op, SharedAccess]]:
        """Yield the accesses of a block; samples decide nothing about the values `varied`."""
        for op in block.ops:
            if isinstance(op, Op) and moves(op) and BY_INDEX not in op.page.traits:
                handles = [value for _, value in op.values() if isinstance(value.type, SHARED)]
                if handles and (one := self._access(op, handles, varied)) is not None:
                    yield op, one
            if isinstance(op, Op) and self._alike(op):
                picked = not self.counting.isdisjoint(deciding(op)) and not _iterates(op)
                inner = varied | self.counting if picked else varied  # in selected iterations
                for region in op.regions:
                    yield from self._of(region, inner)

    def _access(
        self, op: Op, handles: list[Value], varied: frozenset[Value]
    ) -> SharedAccess | None:
        used = [value for name, value in op.values() if not _is_data(op, name)]
        exact = varied.isdisjoint(used)
        same = self.by_block.isdisjoint(used) and self.in_memory.isdisjoint(used)
        places = ((handle, *numbers_added(op)) for handle in handles)
        return SharedAccess(exact, frozenset(places if same else ())) if exact or same else None

    def _alike(self, op: Op) -> bool:
        """Return whether a loop or branch has the same condition in all blocks on any arguments."""
        asked = {*deciding(op)}
        return self.in_memory.isdisjoint(asked) and not asked & self.open & self.by_block


def _counters(func: Func, open: frozenset[Value]) -> Iterator[Value]:
    """Yield the loop-carried values of loops whose ends depend on arguments."""
    for op in func.ops:
        if isinstance(op, Op) and _iterates(op) and not open.isdisjoint(deciding(op)):
            yield from (arg for region in op.regions for arg in region.args)


def _is_data(op: Op, name: str) -> bool:
    """Return whether an operand is data that the scalar unit writes, and no address."""
    return BY_SCALAR in op.page.traits and op.page.operand(name).kind is Kind.SCALAR


def _iterates(op: Op) -> bool:
    return any(repeats(op, region) for region in op.regions)
