"""Random kernels for both kinds of cores: tiles go back and forth in loops and branches."""

from __future__ import annotations

import random
from typing import Any

import ptokit as pto
from ptokit import f16

HIGH = 16
STATES = 3  # tiles of the vector core that live all the time
Step = tuple[Any, ...]  # Any: a word, numbers, further steps


@pto.kernel(shapes="x[S, H, H] w[S, H, H] flags[F] y[Y, H]")
def walked(
    x: pto.In, w: pto.In, flags: pto.In, y: pto.Out, n: int, *, steps: tuple[Step, ...]
) -> None:
    states = [pto.load(pto.block(x[i], 0, 0, HIGH, HIGH)) for i in range(STATES)]
    rights = [pto.load(pto.block(w[i], 0, 0, HIGH, HIGH), "mat").to("right") for i in range(STATES)]
    acc = pto.matmul(pto.load(pto.block(w[0], 0, 0, HIGH, HIGH), "mat").to("left"), rights[0])
    _walk(steps, states, rights, acc, flags, n)
    pto.copy(acc.to("vec"), out=states[0])
    for i in range(STATES):
        pto.store(pto.block(y, i * HIGH, 0, HIGH, HIGH), states[i])


@pto.inline
def _walk(
    steps: tuple[Step, ...], states: list[Any], rights: list[Any], acc: Any, flags: Any, n: Any
) -> None:
    """Any: tiles, arrays, numbers."""
    for word, *given in steps:
        if word == "for":
            for _ in pto.range(n if given[0] is None else given[0]):
                _walk(given[1], states, rights, acc, flags, n)
        elif word == "if":
            if flags[given[0]] > 0:
                _walk(given[1], states, rights, acc, flags, n)
            else:
                _walk(given[2], states, rights, acc, flags, n)
        elif word == "vector":
            pto.max(states[given[0]] * 0.5, states[given[1]], out=states[given[2]])
        elif word == "number":
            pto.copy(states[given[0]] + (0.5 + flags[given[1]] * 0.0), out=states[given[0]])
        else:
            _across(word, given, states, rights, acc)


def _across(word: str, given: list[int], states: list[Any], rights: list[Any], acc: Any) -> None:
    """A product of what the vector core has."""
    left = (states[given[0]] * 0.125).cast(f16).to("mat").to("left")
    if word == "sum":  # stays at the cube
        pto.tmatmul_acc(acc, acc, left, rights[given[1]])
        return
    product = pto.matmul(left, rights[given[1]])
    if word == "into":  # a tile that others use, too
        pto.tmov(states[given[2]], product)
    elif word == "later":  # two that are there at once
        first, second = product.to("vec"), acc.to("vec")
        pto.copy(second * 0.25 - first, out=states[given[2]])
    else:
        pto.copy(pto.exp(-pto.abs(product.to("vec"))), out=states[given[2]])


def steps(rng: random.Random, depth: int = 3) -> tuple[Step, ...]:
    """What a random kernel does."""

    def state() -> int:
        return rng.randrange(STATES)

    made: list[Step] = []
    for _ in range(rng.randint(1, 3)):
        word = rng.choice(("for", "if", "vector", "sum", "into", "later", "through"))
        if word == "for" and depth:
            made.append((word, rng.choice((None, 2)), steps(rng, depth - 1)))
        elif word == "if" and depth:
            made.append((word, rng.randrange(4), steps(rng, depth - 1), steps(rng, depth - 1)))
        elif word in ("for", "if", "vector"):
            made.append(("vector", state(), state(), state()))
        else:
            made.append((word, state(), state(), state()))
    return tuple(made)
