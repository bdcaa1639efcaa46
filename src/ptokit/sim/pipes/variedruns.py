"""Runs of other blocks and on other numbers, where these decide what a program does.

They decide which instructions are reached, or which of them share bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, TypeAlias

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Func, Value
from ptokit.isa.pages.grid import launch_query
from ptokit.sim.execute import whole_number
from ptokit.sim.pipes.drylaunch import DryLaunch
from ptokit.sim.pipes.issue import Issue
from ptokit.sim.pipes.mayalias import (
    DependenceDistance,
    alias_pattern,
    branching,
    dependence_distances,
    placing,
)
from ptokit.sim.pipes.openvalues import block_queries, decided, depends
from ptokit.sim.pipes.pathchoices import ALONE
from ptokit.sim.pipes.pathruns import dry_runs

FEW_BLOCKS, MORE_BLOCKS = 3, 8  # the second: where blocks have places of their own
MOST_WORK = 1_500  # entries of so many blocks
MOST_VARIED = 500  # instructions of a run on other numbers
NEARBY = range(8)  # what is added to a number, or stands for it
LENGTHS = (7, 4)  # values of a number that only says how often a loop iterates
SMALL_MIXTURES = 16  # of small numbers alone
SAMPLE_MIXTURES = 12  # of small numbers and those of the sample
STALE_RUNS = 8  # after so many mixtures in a row with no new dependence or path no more are tried
PERIOD = 24  # long loops are shortened by a multiple of so many iterations
Numbers: TypeAlias = "tuple[tuple[str, int], ...]"  # arguments, by name


def varied_runs(
    launch: DryLaunch,
    given: Collection[Value],
    before: Sequence[Issue],
) -> Iterator[Issue]:
    """What other blocks issue, and the first ones on other numbers, where that is something else.

    `given`: the arguments that say which block it is.
    """
    places = {func: placing(func) for func in launch.funcs}
    ways = {func: frozenset(branching(func)) for func in launch.funcs}
    others = [*_other_blocks(launch, _Place(given, places), before)]
    yield from others
    if _leading(places, each_iteration=False) or sum(map(len, ways.values())) > 1:
        places = {func: places[func] | ways[func] for func in places}
    yield from _other_numbers(launch, _Place(given, places), [*before, *others])


@dataclass(frozen=True)
class _Place:
    """The numbers of each function that lead handles elsewhere; the arguments of the launch."""

    given: Collection[Value]
    places: Mapping[Func, frozenset[Value]]

    @property
    def by_block(self) -> bool:
        """Whether another block has places of its own."""
        return any(not p.isdisjoint(_by_block(f, self.given)) for f, p in self.places.items())


def _other_blocks(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """What each of other blocks than the first issues alone.

    Conflicts between blocks are not looked for: sample numbers and arrays say nothing of them.
    """
    blocks = _blocks_of_interest(launch, place, before)
    every = replace(launch, blocks=blocks, mixed=False, refused=[])
    if blocks == 1 or every.together:
        return
    patterns = {alias_pattern(issue) for issue in before}
    with suppress(PtoError):  # it is too long, or not legal
        for issue in dry_runs(every):
            for block in range(1, blocks):
                one = issue.alone(block)
                if one is not None and (pattern := alias_pattern(one)) not in patterns:
                    patterns.add(pattern)
                    yield one


def _blocks_of_interest(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> int:
    """How many blocks are looked at: with places of their own as many as are little work."""
    work = max(sum(map(len, issue.cores)) for issue in before)
    affordable = min(MOST_WORK // max(work, 1), MORE_BLOCKS)
    if affordable >= FEW_BLOCKS and place.by_block:
        return affordable
    by_flow = any(decided(func, _by_block(func, place.given)) for func in launch.funcs)
    return FEW_BLOCKS if by_flow else 1


def _by_block(func: Func, given: Collection[Value]) -> frozenset[Value]:
    """The values that depend on which block it is."""
    return depends(func, frozenset((*given, *block_queries(func)))) - depends(func, frozenset())


def _other_numbers(launch: DryLaunch, place: _Place, before: Sequence[Issue]) -> Iterator[Issue]:
    """Runs on numbers that lead handles elsewhere: with these, and nothing chosen."""
    names = _leading(place.places, each_iteration=False)
    if not names:
        return
    steered = len(names) > 1 or _leading(place.places, each_iteration=True)
    blocks = FEW_BLOCKS if place.by_block and not launch.together else 1
    varied = replace(launch, blocks=blocks, mixed=False, refused=[])
    varied.most, varied.periods = MOST_VARIED, (PERIOD,)
    seen = {*map(_shown, before)}
    distances = set[DependenceDistance]().union(*(one.distances for one in seen))
    paths = {one.path for one in seen}
    own = {name: launch.numbers[name] for name in names}
    stale = 0
    for numbers in _mixtures(own) if steered else _lengths(own):
        stale += 1
        for one in _exact(varied, numbers):
            if (new := _shown(one)) not in seen:
                stale = stale if new.distances <= distances and new.path in paths else 0
                distances |= new.distances
                paths.add(new.path)
                seen.add(new)
                yield one
        if stale == STALE_RUNS:
            break


class _Shown(NamedTuple):
    """What a run shows: which instructions depend on which, and which ops it comes to."""

    distances: frozenset[DependenceDistance]
    path: frozenset[int]


def _shown(issue: Issue) -> _Shown:
    path = frozenset(id(entry.op) for core in issue.cores for entry in core)
    return _Shown(frozenset(dependence_distances(issue)), path)


def _leading(places: Mapping[Func, frozenset[Value]], *, each_iteration: bool) -> list[str]:
    """The names of the arguments that decide where handles lead.

    `each_iteration`: in a loop, and not only by how often it iterates.
    """

    def led(func: Func, *by: Value) -> frozenset[Value]:
        return depends(func, frozenset(by), each_iteration=each_iteration)

    held = {func: led(func) for func in places}
    numbers = [(f, arg) for f in places for arg in f.args if whole_number(arg)]
    every = (
        arg.name
        for func, arg in numbers
        if not places[func].isdisjoint(led(func, arg) - held[func])
        and launch_query(arg.name) is None
    )
    return [*dict.fromkeys(every)]


def _lengths(numbers: Mapping[str, int]) -> Iterator[Numbers]:
    """What says only how often loops iterate."""
    yield from (tuple(dict.fromkeys(numbers, length).items()) for length in LENGTHS)


def _mixtures(numbers: Mapping[str, int]) -> Iterator[Numbers]:
    """Small numbers, and numbers near these: all the same, then any."""
    random = Random(0)
    for near in NEARBY:
        yield tuple(dict.fromkeys(numbers, near).items())
    for _ in range(SMALL_MIXTURES if len(numbers) > 1 else 0):
        yield tuple((name, random.choice(NEARBY)) for name in numbers)
    for near in NEARBY:
        yield tuple((name, number + near) for name, number in numbers.items())
    for _ in range(SAMPLE_MIXTURES if len(numbers) > 1 else 0):
        yield tuple(
            (name, random.choice((0, 0, number)) + random.choice(NEARBY))
            for name, number in numbers.items()
        )


def _exact(launch: DryLaunch, numbers: Numbers) -> Iterator[Issue]:
    """What each block issues with these numbers, if they are legal."""
    one = launch.with_numbers(dict(numbers))
    with suppress(PtoError):  # it is too long, or not legal
        for issue in one.first_legal(ALONE, frozenset()):
            issue.chosen = True  # nobody says that these numbers go together
            issue.given = [f"%{name} = {number}" for name, number in numbers]
            yield from filter(None, map(issue.alone, range(one.blocks)))
