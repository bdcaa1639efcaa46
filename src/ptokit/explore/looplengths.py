"""Numbers that give loops a wanted trip count, for loops whose bounds are computed from numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice, product
from typing import TypeAlias

from ptokit.analysis.aliases import repeats
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.explore.openvalues import (
    deciding,
    from_memory,
    is_issued,
    leads_to,
    loop_bounds,
    source,
)
from ptokit.explore.pathconditions import constants_of
from ptokit.explore.purenumbers import behind, computed, in_line
from ptokit.explore.samplenumbers import TRUTH, bounds_of
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import ScalarType
from ptokit.machine.arguments import Env
from ptokit.machine.execute import whole_number
from ptokit.records import dataclass

MOST_CANDIDATES = 160  # values of one number
MOST_CONSTANTS = 12  # constants of the text for these values
ROUNDS = 2  # passes over all numbers: a loop may depend on several
MOST_TRUTHS = 2  # arguments that are tried as true and false
MOST_FURTHER, LARGEST_FURTHER = 12, 512
LARGEST = 1 << 20  # upper end of the binary search
MOST_OPS = 1_000_000  # ops that compute bounds

Bounds: TypeAlias = "tuple[Value | int, Value | int, Value | int]"  # lower, upper, step
Lengths: TypeAlias = "dict[str, int]"  # arguments and arrays that bounds come from, by name


@dataclass
class LoopLengths:
    """Loops with bounds from arguments and memory, if flags depend on the iterations.

    Flags may depend on the number of the iteration or on the trip count. `funcs` are the functions
    of a launch.
    """

    funcs: Sequence[Func]
    target: Target
    blocks: int = 1

    @cached_property
    def names(self) -> list[str]:
        """Return the arguments and the arrays that the bounds are computed from."""
        every = (v for bounds in self._loops for v in behind(bounds, self._made))
        return [*dict.fromkeys(self._names[v] for v in every if v in self._names)]

    def of_all(self, counts: Sequence[int]) -> Iterator[tuple[int, Lengths]]:
        """Yield numbers that give all loops a trip count as near as possible, then single loops."""
        every = [*range(len(self._loops))]
        for count, known in product(counts, self._truths):
            found = self._nearest(count, every, known)
            trips = self._trips(found)
            apart = [[n] for n in every if trips is None or trips[n] != count]
            further = ((self._nearest(count, loops, known), loops) for loops in apart)
            for numbers, loops in ((found, every), *further):
                yield count, numbers
                if (whole := self._of_whole_parts(numbers)) != numbers:
                    yield count, whole
                if count == counts[0]:
                    yield from ((count, ends) for ends in self._extremes(numbers, loops))

    def further(self) -> Iterator[tuple[None, Lengths]]:
        """Yield numbers that may take rarer branches, such as a remainder or an empty remainder."""
        scaled = (a * count + by for a in self._constants for by in (1, -1) for count in (2, 1))
        near = (n for n in bounds_of(self.funcs) if n <= LARGEST_FURTHER)
        every = dict.fromkeys(chain(scaled, near))
        for number in [*every][:MOST_FURTHER]:
            yield from ((None, dict.fromkeys(self.names, number) | some) for some in self._truths)

    def _nearest(self, count: int, loops: Sequence[int], known: Lengths) -> Lengths:
        """Return the best numbers by coordinate descent, one number after another.

        `known` are truth values, which stay fixed.
        """
        best = dict.fromkeys(self.names, count) | known
        least = self._distance(best, count, loops)
        for name in [name for name in self.names if name not in known] * ROUNDS:
            for number in self._candidates(best, name, count, loops) if least else ():
                tried = {**best, name: number}
                if (far := self._distance(tried, count, loops)) < least:
                    best, least = tried, far
                if not least:
                    break
        return best

    def _distance(self, numbers: Lengths, count: int, loops: Sequence[int]) -> float:
        trips = self._trips(numbers)
        return float("inf") if trips is None else sum(abs(trips[n] - count) for n in loops)

    def _candidates(
        self, numbers: Lengths, name: str, count: int, loops: Sequence[int]
    ) -> Iterator[int]:
        """Yield values of a number that may give `count` iterations, then the least that does."""
        some = self._constants
        scaled = [count * a // b for b in (1, *some) for a in some]
        shifted = [n + sign * a for n in (count, *scaled) for a in (1, *some) for sign in (1, -1)]
        every = dict.fromkeys(n for n in (count, *range(count), *scaled, *shifted) if n >= 0)
        yield from islice(every, MOST_CANDIDATES)

        yield self._first(numbers, name, dict.fromkeys(loops, count))

    def _of_whole_parts(self, numbers: Lengths) -> Lengths:
        """Return larger numbers with the same trip counts: whole windows, if ends round up."""
        trips = self._trips(numbers)
        for name in [name for name in self.names if name not in self._truths[0]]:
            for part in reversed(self._constants):
                tried = {**numbers, name: -(-numbers[name] // part) * part}
                if trips and self._trips(tried) == trips:
                    numbers = tried
                    break
        return numbers

    def _extremes(self, numbers: Lengths, loops: Sequence[int]) -> Iterator[Lengths]:
        """Yield for each number the least and the greatest value with the same trip counts."""
        trips = self._trips(numbers)
        least = {n: trips[n] for n in loops} if trips else {}
        free = (name for name in self.names if name not in self._truths[0])
        for name in free if least else ():
            above = self._first(numbers, name, {loops[0]: least[loops[0]] + 1})
            if above < LARGEST:
                ends = self._first(numbers, name, least), above - 1
                yield from ({**numbers, name: number} for number in ends)

    def _first(self, numbers: Lengths, name: str, least: Mapping[int, int]) -> int:
        """Return the least value of a number that gives these loops at least these trip counts."""

        def enough(number: int) -> bool:
            trips = self._trips({**numbers, name: number})
            return trips is not None and all(trips[n] >= count for n, count in least.items())

        return bisect_left(range(LARGEST), True, key=enough)

    def _trips(self, numbers: Lengths) -> list[int] | None:
        """Return the trip count of each loop; None if one cannot be computed."""
        env: Env = {value: numbers[name] for value, name in self._names.items() if name in numbers}
        with suppress(PtoError):
            self._run(env)
            ends = [[v if isinstance(v, int) else env[v] for v in some] for some in self._loops]
            return [len(range(*bounds)) for bounds in ends] if all(e[2] for e in ends) else None
        return None

    @cached_property
    def _run(self) -> Callable[[Env], object]:
        ops = dict.fromkeys(op for op in self._made.values() if op in self._slice)
        return in_line(ops, self.target, self.blocks)

    @cached_property
    def _slice(self) -> set[Op]:
        every = (value for bounds in self._loops for value in behind(bounds, self._made))
        return {self._made[value] for value in every if value in self._made}

    @cached_property
    def _constants(self) -> list[int]:
        known = {v: n for func in self.funcs for v, n in constants_of(func).items()}
        some = dict.fromkeys(known[r] for op in self._slice for r in op.results if r in known)
        return sorted(n for n in some if n > 1)[:MOST_CONSTANTS]

    @cached_property
    def _names(self) -> dict[Value, str]:
        """Return the given numbers: arguments, and reads from arrays in global memory."""
        every = (arg for func in self.funcs for arg in func.args)
        found = {arg: arg.name for arg in every if whole_number(arg)}
        return found | {op.results[0]: source(op) for op in self._ops if _reads_number(op)}

    @cached_property
    def _truths(self) -> list[Lengths]:
        """Return all combinations of the arguments that are truth values."""
        every = (v.name for v, name in self._names.items() if name in self.names and not _counts(v))
        some = [*dict.fromkeys(every)][:MOST_TRUTHS]
        return [dict(zip(some, way, strict=True)) for way in product((0, 1), repeat=len(some))]

    @cached_property
    def _made(self) -> dict[Value, Op]:
        """Return the ops that compute numbers from the given ones, the block and constants."""
        return computed(self._ops, self._names)

    @cached_property
    def _loops(self) -> list[Bounds]:
        """Return the bounds of the loops, each once."""
        return [*dict.fromkeys(bounds for op, bounds in self._ended() if self._matters(op, bounds))]

    def _ended(self) -> Iterator[tuple[Op, Bounds]]:
        """Yield the loops whose bounds are unknown but can be computed."""
        for op in self._ops:
            counted = loop_bounds(op)
            for bounds in [counted] if counted else self._compared(op) if op.regions else ():
                known = all(
                    isinstance(v, int) or v in self._made or v in self._names for v in bounds
                )
                if known and any(v in self._names for v in behind(bounds, self._made)):
                    yield op, bounds

    def _compared(self, loop: Op) -> Iterator[Bounds]:
        """Yield the operands of a while loop's condition as bounds of a counter from 0."""
        again = any(repeats(loop, region) for region in loop.regions)
        inner = {v: op for op in loop.regions[0].ops if isinstance(op, Op) for v in op.results}
        asked = loop.regions[0].outcome[:1] if again else ()
        yield from ((0, v, 1) for v in behind(asked, inner) if v in self._made or v in self._names)

    def _matters(self, loop: Op, bounds: Bounds) -> bool:
        """Return whether flags depend on the iteration number or the trip count of a loop."""
        ends = (v for v in behind(bounds, self._made) if v in self._names)
        some = {*ends, *(arg for region in loop.regions for arg in region.args)}
        return any(_branches_by(func, leads_to(func, some)) for func in self.funcs)

    @cached_property
    def _ops(self) -> list[Op]:
        every = (op for func in self.funcs for op in func.ops)
        return [op for op in every if isinstance(op, Op)]


def _branches_by(func: Func, values: Collection[Value]) -> bool:
    """Return whether flags depend on a branch on one of these values.

    That is: flags in the branch, a handle that it selects, or instructions in the branch while the
    ids of flags depend on these values.
    """
    every = [op for op in func.ops if isinstance(op, Op)]
    flags = [op for op in every if FLAGS in op.page.uses]
    rotate = any(value in values for op in flags for _, value in op.values())
    for op in every:
        once = op.regions and not any(repeats(op, region) for region in op.regions)
        if not (once and any(value in values for value in deciding(op))):
            continue
        inner = (one for region in op.regions for one in region.walk())
        some = [one for one in inner if isinstance(one, Op) and is_issued(one)]
        handles = any(not isinstance(value.type, ScalarType) for value in op.results)
        if handles or (some and rotate) or any(FLAGS in one.page.uses for one in some):
            return True
    return False


def _reads_number(op: Op) -> bool:
    """Return whether the op reads an integer from an array in global memory."""
    return from_memory(op) and is_issued(op) and len(op.results) == 1 and _counts(op.results[0])


def _counts(value: Value) -> bool:
    """Return whether the value is an integer and no truth value."""
    return whole_number(value) and getattr(value.type, "bits", TRUTH) != TRUTH
