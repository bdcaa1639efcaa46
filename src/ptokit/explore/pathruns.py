"""The sample runs that cover the paths of a program, also over several blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.limits import (
    BLOCKS,
    COMPARED,
    COUNTS_OF_BLOCKS,
    FEW_GIVEN,
    LONG,
    MOST_DIRECTED,
    MOST_GIVEN,
    MOST_MIXED,
    STALE,
    TRIP_COUNTS,
)
from ptokit.explore.novelty import idle, issued_ops, unreached
from ptokit.explore.pathconditions import ALONE, PathChoice, PathCondition
from ptokit.explore.programslices import (
    SHARED,
    Place,
    block_queries,
    decided,
    deciding,
    depending,
    depends,
    is_issued,
    leads_to,
    numbers_added,
    open_flow,
)
from ptokit.explore.samplevalues import Lengths, LoopLengths, rotation
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import BY_INDEX, BY_SCALAR
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.machine.execute import moves
from ptokit.order.issue import BranchPair, Issue

Sample: TypeAlias = "Mapping[str, Any]"  # Any: an array, a number
Refused: TypeAlias = "tuple[Sample, PtoError]"


class Try(NamedTuple):
    """Functions and runs of them; `launch` is None for executed runs."""

    funcs: Sequence[Func]
    issues: Sequence[Issue]
    launch: DryLaunch | None = None


def tries(
    some: Iterable[Sample], launched: Callable[[Sample], DryLaunch], refused: list[Refused]
) -> Iterator[Try]:
    """Yield the dry runs on each sample; errors of samples without a legal run go to `refused`."""
    for sample in some:
        try:
            launch = launched(sample)
            issues = [*dry_runs(launch)]
        except PtoError as problem:
            refused.append((sample, problem))
        else:
            refused += [(sample, problem) for problem in launch.refused if not issues]
            yield Try(launch.funcs, issues, launch)


def most_telling(every: Iterable[Try]) -> Try | None:
    """Return the runs on the first sample that reach all instructions, else the best of few.

    On some samples a program is legal only because it does nothing: its loops do not iterate, its
    tiles are empty, or only one way of a branch is legal.
    """
    best: Try | None = None
    most, left = (False, 0), COMPARED
    for one in every:
        funcs, issues, _ = one
        if not issues:
            continue
        count = sum(1 for _ in issued_ops(funcs))
        score = not idle(funcs, issues), count - len(unreached(funcs, issues))
        if best is None or score > most:
            best, most = one, score
        left -= most[0]
        if most == (True, count) or not left:
            break
    return best


def dry_runs(launch: DryLaunch) -> Iterator[Issue]:
    """Yield issue traces of sample runs: unknown loops have 0 to 5 iterations, branches both ways.

    Loops also iterate until their buffers have rotated twice, if that is no long run. Memory holds
    the largest number that is legal, since 0 would make many tiles empty. Illegal runs are skipped;
    if no run with several iterations is legal, exact samples decide. In a mixed launch values that
    depend on the block number are unknown, too, and their runs come first.
    """
    if launch.trip_counts is TRIP_COUNTS:
        twice = 2 * rotation(launch.funcs, launch.target) + 1
        launch = replace(launch, trip_counts=(*TRIP_COUNTS, twice)) if twice > LONG else launch
    exact = [] if launch.mixed else _on_lengths(launch)
    if not exact:
        yield from _on_any_choices(launch)
        return
    chosen = [] if _all_shown(launch.funcs, exact) else [*_on_any_choices(launch)]
    yield from exact if _shown(chosen) <= _shown(exact) else chosen


def _on_any_choices(launch: DryLaunch) -> Iterator[Issue]:
    known, wider = _unknown(launch.funcs), _unknown(launch.funcs, any_block=True)
    if launch.mixed and any(decided(func, wider - known) for func in launch.funcs):
        yield from _on_choices(launch, wider)
    yield from _on_choices(launch, known)


def directed_runs(launch: DryLaunch, begun: Collection[int]) -> Iterator[Issue]:
    """Yield runs of any block that reach ops which have not begun in other runs."""
    unknown, found = _unknown(launch.funcs, any_block=True), {*begun}
    for choice in _directed_choices(launch, unknown, found):
        for issue in launch.first_legal(choice, unknown):
            if not found.issuperset(new := issue.begun | issue.reached):
                found |= new
                yield issue


def _on_lengths(launch: DryLaunch) -> list[Issue]:
    """Return runs on numbers that give loops their trip counts, if flags depend on iterations.

    These runs may not reach everything.
    """
    lengths = LoopLengths(launch.funcs, launch.target, launch.blocks)
    if not lengths.names:
        return []
    found, unknown = list[Issue](), _unknown(launch.funcs, given=lengths.names)
    tried, launch = list[Lengths](), replace(launch, most=MOST_GIVEN)
    for count, numbers in chain(lengths.of_all(launch.trip_counts), lengths.further()):
        given_up = len(tried) == FEW_GIVEN and not found
        if given_up or (count is None and _all_shown(launch.funcs, found)):
            break
        if numbers not in tried:
            tried.append(numbers)
            counts = launch.trip_counts[:1] if count is None else (count,)
            with suppress(PtoError):  # the run is too long
                one = replace(launch.with_numbers(numbers), trip_counts=counts)
                found += _on_choices(one, unknown)
    for issue in found:
        issue.chosen = True
    return found


def _all_shown(funcs: Sequence[Func], issues: Sequence[Issue]) -> bool:
    """Return whether these runs contain each instruction and each flag operation."""
    shown, every = _shown(issues), (op for func in funcs for op in func.ops)
    return all(id(op) in shown for op in every if isinstance(op, Op) and is_issued(op))


def _shown(issues: Sequence[Issue]) -> set[int]:
    shown = set[int]().union(*(issue.begun | issue.reached for issue in issues))
    return shown.union(id(one.op) for issue in issues for core in issue.cores for one in core)


def _unknown(
    funcs: Sequence[Func], *, any_block: bool = False, given: Collection[str] = ()
) -> frozenset[Value]:
    """Return the values that depend on arguments, on memory, and with `any_block` on the block."""
    known = frozenset(value for func in funcs for value in depending(func, given))
    asked = frozenset(v for func in funcs for v in block_queries(func) if any_block)
    return frozenset(v for func in funcs for v in depends(func, known | asked, given=given))


def _on_choices(launch: DryLaunch, unknown: frozenset[Value]) -> Iterator[Issue]:
    """Yield the runs in which exactly these values are unknown."""
    several, pairs, begun = False, set[BranchPair](), set[int]()
    directed = (choice for choice in _directed_choices(launch, unknown, begun) if choice.against)
    choices = _choices(launch, unknown)
    for choice in chain(choices, directed):
        legal = _not_long if choice.iterations > LONG else DryLaunch.first_legal
        for issue in legal(launch, choice, unknown):
            several |= choice.iterations > 1
            pairs |= issue.branch_pairs
            begun |= issue.begun | issue.reached
            yield issue
    if not several and (launch.trip_counts[:2] == TRIP_COUNTS[:2] or not choices):
        yield from launch.first_legal(ALONE, frozenset())
    if launch.mixed and pairs:
        yield from _mixed(launch, unknown, pairs)


def _not_long(launch: DryLaunch, choice: PathChoice, unknown: frozenset[Value]) -> Iterator[Issue]:
    with suppress(PtoError):  # the run is too long
        yield from replace(launch, most=MOST_GIVEN).first_legal(choice, unknown)


def _directed_choices(
    launch: DryLaunch, unknown: frozenset[Value], begun: Collection[int]
) -> Iterator[PathChoice]:
    """Yield choices that lead to ops not yet begun: inside one branch but outside a nested one."""
    tried = set[frozenset[str]]()
    asked = [value for value in launch.conditions if value in unknown]
    nothing = PathCondition(launch.conditions)

    @cache
    def excluded(path: PathCondition) -> frozenset[str]:
        return frozenset(value.name for value in asked if path.decided(value) is False)

    for op, path in [p for func in launch.funcs for p in _paths(func.body, unknown, nothing)]:
        if id(op) in begun or len(tried) == MOST_DIRECTED:
            continue
        against = excluded(path)
        if against not in tried:
            tried.add(against)
            yield PathChoice(launch.trip_counts[0], against=against)


def _paths(
    block: Block, unknown: frozenset[Value], path: PathCondition
) -> Iterator[tuple[Op, PathCondition]]:
    """Yield the issued ops of a block with their path conditions, without infeasible paths."""
    for op in block.ops:
        if not isinstance(op, Op):
            continue
        if is_issued(op):
            yield op, path
        asked = [value for value in deciding(op) if value in unknown]
        again = any(repeats(op, region) for region in op.regions)
        for number, region in enumerate(op.regions):
            inner = path.with_way(asked[0], not number) if asked and not again else path
            if inner is not None:
                yield from _paths(region, unknown, inner)


def _mixed(launch: DryLaunch, unknown: frozenset[Value], pairs: set[BranchPair]) -> Iterator[Issue]:
    """Yield runs with new sequences of branch decisions, until new ones become rare."""
    stale = 0
    for seed in range(MOST_MIXED):
        before = len(pairs)
        choice = PathChoice(launch.trip_counts[seed % 2], seed=seed)
        for issue in launch.first_legal(choice, unknown):
            pairs |= issue.branch_pairs
            if len(pairs) > before:
                yield issue
        stale = 0 if len(pairs) > before else stale + 1
        if stale == STALE:
            return


def _choices(launch: DryLaunch, unknown: frozenset[Value]) -> list[PathChoice]:
    """Return all trip counts and branch decisions for flow that depends on these values.

    A selection between two tiles or views counts as a branch.
    """
    flows = [op for func in launch.funcs for op in open_flow(func, unknown)]
    loops = [op for op in flows if any(repeats(op, region) for region in op.regions)]
    ways = (True, False) if len(loops) < len(flows) else (True,)
    counts = launch.trip_counts if loops else launch.trip_counts[:1]
    return [PathChoice(n, way) for n in counts for way in ways] if flows else []


def further_blocks(launch: DryLaunch, before: Collection[Issue]) -> Iterator[Issue]:
    """Yield runs of a block after the third that reach further instructions."""
    every = replace(launch, mixed=False, refused=[])
    if not every.together and unreached(launch.funcs, before):
        with suppress(PtoError):  # the run is too long
            begun = set[int]().union(*(issue.begun | issue.reached for issue in before))
            yield from directed_runs(every, begun)


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
    meet = any(not CORES.isdisjoint(op.page.uses) for op in ops)
    return not meet and any(True for _ in block_queries(func))


def launches_of_blocks(launch: DryLaunch) -> Iterator[Issue]:
    """Yield issue traces of several blocks, for conflicts that exist on all arguments."""
    every = replace(launch, blocks=BLOCKS, trip_counts=COUNTS_OF_BLOCKS, mixed=False, refused=[])
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
