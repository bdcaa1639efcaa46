"""The numbers of sample runs: for arguments, for arrays, and for wanted trip counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, product
from math import prod
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np

from ptokit.analysis.aliases import repeats
from ptokit.analysis.facts import facts_of
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpreter import Interpreter
from ptokit.explore.limits import (
    COUNTS,
    LARGE,
    LARGEST,
    LARGEST_BOUND,
    LARGEST_FURTHER,
    LARGEST_SAMPLE,
    LONGEST_ROTATION,
    MIXED,
    MIXTURES,
    MOST_BOUNDS,
    MOST_CANDIDATES,
    MOST_CONSTANTS,
    MOST_FAR,
    MOST_FURTHER,
    MOST_OPS,
    MOST_TOGETHER,
    MOST_TRIALS,
    MOST_TRUTHS,
    NEARBY,
    ROUNDS,
    SAMPLES,
    SCALES,
)
from ptokit.explore.programslices import (
    SHARED,
    behind,
    computed,
    constants_of,
    deciding,
    depending,
    from_memory,
    is_issued,
    leads_to,
    loop_bounds,
    source,
)
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.traits import FLAGS
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import PtrType, ScalarType, Type
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core, whole_number
from ptokit.machine.launchoptions import RunLimits
from ptokit.values.fixpipe import CPU_READING
from ptokit.values.host import AnyArray


def samples(args: Sequence[Value], *, whole: bool) -> Iterator[dict[str, object]]:
    """Yield samples of arguments; the caller takes the first that are legal.

    Front ends pass the block index last, or before the number of blocks. With `whole`, arrays are
    None and get the size of the program's views.
    """
    numbers = [arg.name for arg in args if isinstance(arg.type, ScalarType)]
    arrays = {arg.name: _sampled_array(arg, whole) for arg in args if arg.name not in numbers}
    real = {arg.name: 1.0 for arg in args if getattr(arg.type, "is_float", False)}
    tried = set[tuple[object, ...]]()
    for given in _given(numbers, whole):
        every = dict(zip(numbers, given, strict=True)) | real
        if (key := tuple(every.values())) not in tried:
            tried.add(key)
            yield {**arrays, **every}


def _given(numbers: Sequence[str], whole: bool) -> Iterator[Sequence[int]]:
    """Yield numbers for these arguments, some of them more than once."""
    count = len(numbers)
    for number in SAMPLES if numbers else SAMPLES[:1]:
        yield [number] * count
        yield [*[number] * (count - 1), 0][:count]
        yield [*[number] * (count - 2), 0, 1][:count]
    if not whole:  # with extents as large the arrays would be, too
        yield from ([LARGE * (n == name) for n in numbers] for name in numbers)
    random = Random(0)
    for _ in range(MIXED if count > 1 else 0):
        yield [random.choice((0, *SAMPLES)) for _ in numbers]


def _sampled_array(arg: Value, whole: bool) -> AnyArray | None:
    kind = arg.type
    if not isinstance(kind, PtrType):
        return _blank(kind)
    return None if whole else np.zeros(1, f"V{kind.dtype.size}")


def _blank(kind: Type) -> AnyArray | None:
    """Return an array for an argument that is a tile or a view with known extents."""
    if not isinstance(kind, TileType | GlobalType | ConvTileType):
        return None
    extents = [*kind.valid] if isinstance(kind, TileType) else [*kind.shape]
    known = [extent for extent in extents if extent is not None]
    fits = known == extents and prod(known) * kind.dtype.size <= LARGEST_SAMPLE
    return np.zeros(known, f"V{kind.dtype.size}") if fits else None


Numbers: TypeAlias = "tuple[tuple[str, int], ...]"  # arguments, by name
TRUTH = 1  # bits


def mixtures(own: Mapping[str, int], bounds: Sequence[int]) -> Iterator[Numbers]:
    """Yield samples: small numbers in all combinations up to a limit, then random mixtures.

    `own` are the numbers of the sample run, `bounds` other numbers that may make a difference.
    """
    random, tried = Random(0), set[Numbers]()
    for some in chain(_small(len(own), random), _any([*own.values()], bounds, random)):
        numbers = tuple(zip(own, some, strict=True))
        if numbers not in tried:
            tried.add(numbers)
            yield numbers


def _small(count: int, random: Random) -> Iterator[Sequence[int]]:
    """Yield equal small numbers, then all combinations of a few small numbers."""
    yield from ([near] * count for near in NEARBY)
    most = next((n for n in reversed(NEARBY) if (n + 1) ** count <= MOST_TOGETHER), 0)
    every = [*product(range(most + 1), repeat=count)]
    random.shuffle(every)
    yield from every


def _any(own: Sequence[int], bounds: Sequence[int], random: Random) -> Iterator[Sequence[int]]:
    """Yield numbers near `own`, each bound with small numbers for the others, then mixtures."""
    yield from ([number + near for number in own] for near in NEARBY)
    yield from ([bound] * len(own) for bound in bounds)
    if len(own) == 1:
        return
    far = {*bounds, *own}
    every = [*product(range(len(own)), sorted(far), NEARBY)]
    for place, number, near in random.sample(every, min(len(every), MOST_FAR)):
        yield [number if n == place else near for n in range(len(own))]

    def one(number: int) -> int:
        some = NEARBY, (number, *(number + near for near in NEARBY)), bounds
        return random.choice(random.choice(some) or NEARBY)

    for _ in range(MIXTURES):
        yield [one(number) for number in own]


def bounds_of(funcs: Sequence[Func]) -> list[int]:
    """Return the numbers next to constants that unknown numbers are compared or combined with."""
    compared, combined = set[int](), set[int]()
    for func in funcs:
        constants, open = constants_of(func), depending(func)
        for op in func.ops:
            if isinstance(op, Op) and not (from_memory(op) or open.isdisjoint(op.results)):
                given = {constants[v] for _, v in op.values() if v in constants}
                (combined if _combines(op) else compared).update(given)
    pairs = [*product(compared, combined)]
    every = compared | combined | {a * b for a, b in pairs} | {a - b for a, b in pairs}
    near = {n + by for n in every for by in (-1, 0, 1)}
    kept = [number for number in sorted(near) if len(NEARBY) <= number <= LARGEST_BOUND]
    return sorted(Random(0).sample(kept, MOST_BOUNDS)) if len(kept) > MOST_BOUNDS else kept


def _combines(op: Op) -> bool:
    """Return whether the op makes integers, no truth value and no handle."""
    return all(whole_number(v) and getattr(v.type, "bits", TRUTH) != TRUTH for v in op.results)


def in_line(ops: Iterable[Op], target: Target, blocks: int = 1) -> Callable[[Env], object]:
    """Return a function that executes these ops in an environment; PtoError if an op fails."""
    core = Core(target, CPU_READING, 0, blocks)
    return Interpreter(core, Facts(target), Planned(), RunLimits(MOST_OPS)).block(Block(ops=[*ops]))


def rotation(funcs: Iterable[Func], target: Target) -> int:
    """Return the longest period in iterations after which flags, branches and tiles repeat."""
    found = 1
    for func in funcs:
        constants = constants_of(func)
        for op in func.ops:
            if isinstance(op, Op) and loop_bounds(op) is not None:
                found = max(found, *_periods(op.regions[0], constants, target), 1)
    return found


def _periods(block: Block, constants: Mapping[Value, int], target: Target) -> Iterator[int]:
    """Yield the periods of the numbers that depend on the loop counter and constants alone."""
    counter = block.args[0]
    ops = [op for op in block.walk() if isinstance(op, Op)]
    made, asked = computed(ops, {counter, *constants}), {v for op in ops for v in _asked(op)}
    turning = [v for v in made if v in asked and counter in behind((v,), made)]
    rows = list[Env]()
    if not turning:
        return
    run = in_line(dict.fromkeys(made.values()), target)
    with suppress(PtoError):
        for number in range(3 * LONGEST_ROTATION):
            rows.append({**constants, counter: number})
            run(rows[-1])
        for value in turning:
            yield _period([row[value] for row in rows])


def _asked(op: Op) -> Iterator[Value]:
    """Yield the operands that select a flag, a branch or a tile."""
    tiles = any(not isinstance(v.type, ScalarType | SHARED) for v in op.results)
    if op.regions or tiles or FLAGS in op.page.uses:
        yield from (value for _, value in op.values())


def _period(numbers: Sequence[int]) -> int:
    """Return the period of a sequence; 1 if there is none."""
    steps = range(1, LONGEST_ROTATION + 1)
    return next((n for n in steps if list(numbers[n:]) == list(numbers[:-n])), 1)


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


class _Branch(NamedTuple):
    """A branch; `flags`: it has flags or selects handles; `issues`: it issues something."""

    asked: Collection[Value]
    flags: bool
    issues: bool


def _branches_by(func: Func, values: frozenset[Value]) -> bool:
    """Return whether flags depend on a branch on one of these values.

    That is: flags in the branch, a handle that it selects, or instructions in the branch while the
    ids of flags depend on these values.
    """
    branches, ids = facts_of(func).made(_branches)
    rotate = not values.isdisjoint(ids)
    asking = (branch for branch in branches if not values.isdisjoint(branch.asked))
    return any(branch.flags or (branch.issues and rotate) for branch in asking)


def _branches(func: Func) -> tuple[list[_Branch], frozenset[Value]]:
    """Return the branches of a function, and the values that select flags."""
    found, ids = list[_Branch](), set[Value]()
    for op in func.ops:
        if not isinstance(op, Op):
            continue
        if FLAGS in op.page.uses:
            ids.update(value for _, value in op.values())
        if op.regions and not any(repeats(op, region) for region in op.regions):
            inner = (one for region in op.regions for one in region.walk())
            some = [one for one in inner if isinstance(one, Op) and is_issued(one)]
            handles = any(not isinstance(value.type, ScalarType) for value in op.results)
            flags = handles or any(FLAGS in one.page.uses for one in some)
            found.append(_Branch([*deciding(op)], flags, bool(some)))
    return found, frozenset(ids)


def _reads_number(op: Op) -> bool:
    """Return whether the op reads an integer from an array in global memory."""
    return from_memory(op) and is_issued(op) and len(op.results) == 1 and _counts(op.results[0])


def _counts(value: Value) -> bool:
    """Return whether the value is an integer and no truth value."""
    return whole_number(value) and getattr(value.type, "bits", TRUTH) != TRUTH


def trial_numbers(own: Collection[str], funcs: Sequence[Func]) -> Iterator[dict[str, int]]:
    """Yield small exact numbers, and extents of tiles, for all arguments alike."""
    near = [n for n in bounds_of(funcs) if n <= max(SCALES)]
    scaled = [scale * count for scale, count in product(SCALES, COUNTS)]
    every = chain(COUNTS, near[: MOST_TRIALS // 2], scaled)
    for number in [*dict.fromkeys(every)][:MOST_TRIALS] if own else ():
        yield dict.fromkeys(own, number)
