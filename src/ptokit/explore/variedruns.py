"""Runs of other blocks and on other numbers, if these decide what a program does.

They may decide which instructions are reached, or which instructions access the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.drylaunch import DryLaunch
from ptokit.explore.mayalias import DependenceDistance, alias_pattern, branching, placing, shown
from ptokit.explore.memoisedruns import HeldContent, MemoisedLaunch
from ptokit.explore.openvalues import (
    block_queries,
    decided,
    depends,
    from_memory,
    leads_to,
    source,
)
from ptokit.explore.pathconditions import ALONE
from ptokit.explore.pathruns import dry_runs
from ptokit.explore.samplenumbers import Numbers, bounds_of, mixtures
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.pages.grid import launch_query
from ptokit.machine.execute import whole_number
from ptokit.order.issue import Issue
from ptokit.records import dataclass

FEW_BLOCKS, MORE_BLOCKS = 3, 8  # the second: if addresses depend on the block
MOST_WORK = 1_500  # entries of all these blocks
MOST_VARIED = 500  # instructions of a run on other numbers
LENGTHS = (7, 4)  # values of a number that only decides trip counts
MOST_MEMOISED = 60_000  # instructions of all runs of single blocks
MOST_EXACT = 44  # samples for cores that run concurrently
STALE_RUNS = 8  # stop after so many samples without a new dependence or path
PERIOD = 24  # iterations: long loops are shortened by a multiple


def varied_runs(
    launch: DryLaunch,
    given: Collection[Value],
    before: Sequence[Issue],
) -> Iterator[Issue]:
    """Yield traces of other blocks, and of other numbers, that differ from `before`.

    `given` are the arguments that hold the block number.
    """
    places = {func: placing(func) for func in launch.funcs}
    ways = {func: frozenset(branching(func)) for func in launch.funcs}
    others = [*_other_blocks(launch, _Place(given, places), before)]
    yield from others
    deciding = _address_args(places, each_iteration=False) or _deciding_arrays(ways)
    if deciding or sum(map(len, ways.values())) > 1:
        places = {func: places[func] | ways[func] for func in places}
    yield from _other_numbers(launch, _Place(given, places), [*before, *others])


@dataclass(frozen=True)
class _Place:
    """The numbers of each function that decide addresses, and the arguments of the launch."""

    given: Collection[Value]
    places: Mapping[Func, frozenset[Value]]

    @property
    def by_block(self) -> bool:
        """Return whether addresses depend on the block."""
        return any(not p.isdisjoint(_by_block(f, self.given)) for f, p in self.places.items())

    @property
    def decides_flow(self) -> bool:
        """Return whether branches or trip counts depend on the block."""
        return any(decided(func, _by_block(func, self.given)) for func in self.places)


def _other_blocks(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """Yield the traces of further blocks, each alone.

    Conflicts between blocks are not checked, since sample arguments say nothing about them.
    """
    blocks = _blocks_of_interest(launch, place, before)
    every = replace(launch, blocks=blocks, mixed=False, refused=[])
    if blocks == 1 or every.together:
        return
    patterns = {alias_pattern(issue) for issue in before}
    with suppress(PtoError):  # the run is too long, or not legal
        for issue in dry_runs(every):
            for block in range(1, blocks):
                one = issue.alone(block)
                if one is not None and (pattern := alias_pattern(one)) not in patterns:
                    patterns.add(pattern)
                    yield one


def _blocks_of_interest(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> int:
    """Return how many blocks to run: more if addresses depend on the block."""
    work = max(sum(map(len, issue.cores)) for issue in before)
    affordable = min(MOST_WORK // max(work, 1), MORE_BLOCKS)
    if affordable >= FEW_BLOCKS and place.by_block:
        return affordable
    return FEW_BLOCKS if place.decides_flow else 1


def _by_block(func: Func, given: Collection[Value]) -> frozenset[Value]:
    """Return the values that depend on the block."""
    return depends(func, frozenset((*given, *block_queries(func)))) - depends(func, frozenset())


def _other_numbers(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """Yield runs on other numbers that decide addresses, with no further choices."""
    names, arrays = (
        _address_args(place.places, each_iteration=False),
        _deciding_arrays(place.places),
    )
    steered = len(names) > 1 or _address_args(place.places, each_iteration=True) or arrays
    if not (names or arrays):
        return
    differ = place.by_block or place.decides_flow
    blocks = MORE_BLOCKS if differ and not launch.together else 1
    varied = replace(launch, blocks=blocks, mixed=False, refused=[])
    own = {name: launch.numbers[name] for name in names}
    if not steered:
        tried = _lengths(own)
    else:
        tried = mixtures(own | dict.fromkeys(arrays, 0), bounds_of(launch.funcs))
    every = MemoisedLaunch.of(varied, MOST_VARIED, arrays) if steered else None
    if every is not None:
        yield from _memoised(every, tried, arrays, before)
        return
    varied.blocks, varied.most, varied.periods = min(blocks, FEW_BLOCKS), MOST_VARIED, (PERIOD,)
    yield from _exact_runs(varied, (one[: len(own)] for one in tried), before)


def _memoised(
    launch: MemoisedLaunch, tried: Iterable[Numbers], arrays: Sequence[str], before: Sequence[Issue]
) -> Iterator[Issue]:
    """Yield new traces of the blocks on each of these numbers."""
    patterns, left = {alias_pattern(issue) for issue in before}, MOST_MEMOISED
    ways = ((), arrays) if arrays else ((),)
    for numbers, mixed, block in product(tried, ways, range(launch.blocks)):
        for found in launch.held:
            content = HeldContent(numbers, mixed, found)
            issue = launch.issue(block, dict(numbers), content)
            left -= launch.limits.used
            if issue is not None:
                break
        else:
            continue
        if (pattern := alias_pattern(issue)) not in patterns:
            patterns.add(pattern)
            issue.chosen = True  # the numbers may be inconsistent
            own = (f"%{name} = {n}" for name, n in numbers if name not in arrays)
            block_of = [f"in block {block}"] if launch.blocks > 1 else []
            issue.given = [*own, *content.given, *block_of]
            yield issue
        if left < 0:
            return


def _exact_runs(
    launch: DryLaunch, tried: Iterable[Numbers], before: Sequence[Issue]
) -> Iterator[Issue]:
    """Yield new traces for cores that run concurrently, from few runs."""
    seen = {*map(shown, before)}
    distances = set[DependenceDistance]().union(*(one.distances for one in seen))
    paths, stale = {one.path for one in seen}, 0
    for numbers in islice(tried, MOST_EXACT):
        stale += 1
        for one in _exact(launch, numbers):
            if (new := shown(one)) not in seen:
                stale = stale if new.distances <= distances and new.path in paths else 0
                distances |= new.distances
                paths.add(new.path)
                seen.add(new)
                yield one
        if stale == STALE_RUNS:
            break


def _address_args(places: Mapping[Func, frozenset[Value]], *, each_iteration: bool) -> list[str]:
    """Return the names of the arguments that decide addresses.

    `each_iteration`: only those that decide addresses within a loop, not merely by its trip count.
    """

    def dependents(func: Func, *by: Value) -> frozenset[Value]:
        return depends(func, frozenset(by), each_iteration=each_iteration)

    held = {func: dependents(func) for func in places}
    numbers = [(f, arg) for f in places for arg in f.args if whole_number(arg)]
    every = (
        arg.name
        for func, arg in numbers
        if not places[func].isdisjoint(dependents(func, arg) - held[func])
        and launch_query(arg.name) is None
    )
    return [*dict.fromkeys(every)]


def _deciding_arrays(places: Mapping[Func, frozenset[Value]]) -> list[str]:
    """Return the names of the arrays whose contents decide addresses."""
    found = dict[str, None]()
    for func, some in places.items():
        reads = defaultdict[str, set[Value]](set)
        for op in func.ops:
            if isinstance(op, Op) and from_memory(op):
                reads[source(op)].update(op.results)
        deciding = (
            name for name, values in reads.items() if not some.isdisjoint(leads_to(func, values))
        )
        found |= dict.fromkeys(deciding)
    return [*found]


def _lengths(numbers: Mapping[str, int]) -> Iterator[Numbers]:
    """Yield values for numbers that only decide trip counts."""
    yield from (tuple(dict.fromkeys(numbers, length).items()) for length in LENGTHS)


def _exact(launch: DryLaunch, numbers: Numbers) -> Iterator[Issue]:
    """Yield the trace of each block on these numbers, if they are legal."""
    one = launch.with_numbers(dict(numbers))
    with suppress(PtoError):  # the run is too long, or not legal
        for issue in one.first_legal(ALONE, frozenset()):
            issue.chosen = True  # the numbers may be inconsistent
            issue.given = [f"%{name} = {number}" for name, number in numbers]
            yield from filter(None, map(issue.alone, range(one.blocks)))
