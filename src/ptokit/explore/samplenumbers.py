"""Sample numbers: small ones, and those near constants that the text compares or combines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from random import Random
from typing import TypeAlias

from ptokit.explore.openvalues import depending, from_memory
from ptokit.explore.pathconditions import constants_of
from ptokit.ir.module import Func, Op
from ptokit.machine.execute import whole_number

Numbers: TypeAlias = "tuple[tuple[str, int], ...]"  # arguments, by name
NEARBY = range(8)  # added to a number, or used instead of one
MOST_TOGETHER = 64  # limit for all combinations of small numbers
MOST_BOUNDS = 40  # numbers from constants of the text
MOST_FAR = 320  # combinations of one bound and small numbers
MIXTURES = 40  # random combinations
LARGEST_BOUND = 1 << 16
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
