"""What a dry run takes where no number is known: trip counts, ways, and what memory holds.

Where it would be too long, loops of known extents lose most of their iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Any

from ptokit.engines.reference.interpreter import InterpretedFlow, RegionBody

HELD = (1 << 16, 16, 1, 0)  # what memory holds: extents, and indices of few
LENGTHS = (1 << 16, 3000)  # the second: no multiple of what loops take at once
INDICES = (16, 0)
MOST_TRIED = 120  # runs in which arrays hold different numbers


@dataclass(frozen=True)
class PathChoice:
    """What happens where a number is not known: the trip count of a loop, the way of a branch.

    `found` is what memory holds where a number comes from there; arrays of these names hold
    `index` instead, as those do that lead to parts of others. With a `period` loops keep their
    first and last iterations, so many to twice as many; what is left out is a multiple of it. With
    a `seed` each branch goes any way each time that its condition is computed. Branches on
    conditions of the names in `against` go the other way than `way`. Arrays
    that are `given` hold these numbers.
    """

    iterations: int = 1
    way: bool = True
    found: int = 0
    indices: tuple[str, ...] = ()
    index: int = 0
    period: int | None = None
    seed: int | None = None
    against: frozenset[str] = frozenset()
    given: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)

    def read_of(self, name: str) -> int:
        """What an array of this name holds."""
        return self.given.get(name, self.index if name in self.indices else self.found)


ALONE = PathChoice()


@dataclass
class HeldNumbers:
    """Contents of arrays with which a run was legal: kept, so that later runs need no search.

    `too_long`: a whole run exceeded the limit, so further samples begin with shortened loops.
    """

    known: PathChoice | None = None
    left: int = MOST_TRIED
    too_long: bool = False

    def choices(self, choice: PathChoice, sources: Sequence[str]) -> Iterator[PathChoice]:
        """Some arrays hold lengths, others indices, as those did with which a run was legal."""
        if self.known is not None:
            kept = replace(choice, indices=self.known.indices, index=self.known.index)
            yield from (replace(kept, found=found) for found in LENGTHS)
            return
        some = chain.from_iterable(combinations(sources, n) for n in range(1, len(sources)))
        for indices, found, index in product(some, LENGTHS, INDICES):
            if self.left == 0 or not choice.iterations:
                return
            self.left -= 1
            yield replace(choice, found=found, indices=indices, index=index)


@dataclass
class ChosenFlow(InterpretedFlow):
    """Loops and branches whose numbers are not known."""

    choice: PathChoice
    way: Callable[[], bool]

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[Any, ...], region: RegionBody
    ) -> tuple[Any, ...]:
        end = lower + self.choice.iterations * step
        return super().loop(lower, end, step, carried, region)

    def repeat(
        self, carried: tuple[Any, ...], before: RegionBody, after: RegionBody
    ) -> tuple[Any, ...]:
        for _ in range(self.choice.iterations):
            _, *passed = before(*carried)
            carried = after(*passed, repeats=True)
        return tuple(before(*carried)[1:])

    def branch(self, condition: int, regions: tuple[RegionBody, ...]) -> tuple[Any, ...]:
        return super().branch(self.way(), regions)


@dataclass
class ShortenedFlow(InterpretedFlow):
    """Loops of known extents without most of their iterations."""

    period: int

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[Any, ...], region: RegionBody
    ) -> tuple[Any, ...]:
        count = max(-(-(upper - lower) // step), 0)
        left_out = max(count // self.period - 1, 0) * self.period
        first = lower + (count - left_out) // 2 * step
        for induction in chain(
            range(lower, first, step), range(first + left_out * step, upper, step)
        ):
            carried = region(induction, *carried, repeats=True)
        return carried
