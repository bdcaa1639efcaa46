"""The dry runs that together cover a program: trip counts and branch decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from ptokit.analysis.aliases import repeats
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import TRIP_COUNTS, DryLaunch
from ptokit.explore.looplengths import Lengths, LoopLengths
from ptokit.explore.openvalues import (
    block_queries,
    decided,
    deciding,
    depending,
    depends,
    is_issued,
    open_flow,
)
from ptokit.explore.pathconditions import ALONE, PathChoice, PathCondition
from ptokit.explore.purenumbers import rotation
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.order.issue import BranchPair, Issue

LONG = max(TRIP_COUNTS)  # longer loops are run only if they issue few instructions
MOST_DIRECTED = 24  # runs towards ops that no other run reaches
MOST_MIXED = 24  # runs with random branches
MOST_GIVEN = 10_000  # instructions of a run on computed trip counts
FEW_GIVEN = 2  # give up if no run on so many numbers is legal
STALE = 4  # stop after so many runs without a new sequence


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
    for op, path in [p for func in launch.funcs for p in _paths(func.body, unknown, nothing)]:
        if id(op) in begun or len(tried) == MOST_DIRECTED:
            continue
        against = frozenset(value.name for value in asked if path.decided(value) is False)
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
