"""Numbers that decide what a program does: small ones, and those that its text compares with."""

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
NEARBY = range(8)  # what is added to a number, or stands for it
MOST_TOGETHER = 64  # mixtures of small numbers: all there are, where these are not more
MOST_BOUNDS = 40  # numbers that the text gives
MOST_FAR = 320  # mixtures of one bound and small numbers
MIXTURES = 40  # of any numbers
LARGEST_BOUND = 1 << 16
TRUTH = 1  # bits


def mixtures(own: Mapping[str, int], bounds: Sequence[int]) -> Iterator[Numbers]:
    """What numbers may be: small ones, each with each as far as these are few, and any mixed.

    `own`: those of the sample; `bounds`: others that may make a difference.
    """
    random, tried = Random(0), set[Numbers]()
    for some in chain(_small(len(own), random), _any([*own.values()], bounds, random)):
        numbers = tuple(zip(own, some, strict=True))
        if numbers not in tried:
            tried.add(numbers)
            yield numbers


def _small(count: int, random: Random) -> Iterator[Sequence[int]]:
    """All the same, then all mixtures of as many as give few enough."""
    yield from ([near] * count for near in NEARBY)
    most = next((n for n in reversed(NEARBY) if (n + 1) ** count <= MOST_TOGETHER), 0)
    every = [*product(range(most + 1), repeat=count)]
    random.shuffle(every)
    yield from every


def _any(own: Sequence[int], bounds: Sequence[int], random: Random) -> Iterator[Sequence[int]]:
    """Numbers near those of the sample; each bound with small ones for the others; any mixed."""
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
    """What lies next to numbers that unknown ones are compared or combined with."""
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
    """Whether it makes a number, no truth value and no handle."""
    return all(whole_number(v) and getattr(v.type, "bits", TRUTH) != TRUTH for v in op.results)
