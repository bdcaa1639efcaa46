"""The first iteration of a counting loop: which conditions hold in it, whatever the arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ptokit.analysis.known import Facts
from ptokit.ir.module import Block, Op, Value
from ptokit.machine.record.definite import NamedWindow

MOST_COUNTED = 1 << 14  # iterations of which each is looked at
MOST_FOLLOWED = 1 << 10  # iterations whose numbers are computed one after another
NAME = re.compile(r"%\w+")
NUMBERED = re.compile(r"%[a-z]+(\d+)")


@dataclass(frozen=True)
class FirstIteration:
    """The first iteration; `lower` is its counter, `names` the number of names before the loop."""

    facts: Facts
    block: Block
    lower: int
    names: int

    def takes(self, condition: Value) -> bool:
        """Return whether a condition is known to hold in this iteration."""
        facts = Facts(self.facts.target, self.facts.numbers | {self.block.args[0]: self.lower})
        for op in self.block.ops:
            if isinstance(op, Op) and op.page.folds:
                facts.learn(op, facts.environment(op))
        number = facts.numbers.get(condition)
        return isinstance(number, int) and number != 0

    def fixed(self, window: NamedWindow) -> bool:
        """Return whether all numbers in the name of a window are computed before the loop."""
        found = [NUMBERED.fullmatch(name) for name in NAME.findall(str(window))]
        return all(name is not None and int(name[1]) <= self.names for name in found)


def numbers_of_iterations(
    facts: Facts, block: Block, turns: range, given: Sequence[object]
) -> dict[Value, NDArray[np.int64]]:
    """Return the counter of a loop in each iteration, and the integers that iterations pass on.

    `given` are the values that the first iteration gets. An integer is returned if the facts and
    the operations of the body determine it.
    """
    counter, *carried = block.args
    if turns[MOST_COUNTED:]:
        return {}
    found = {counter: np.asarray(turns, np.int64)}
    slots = {a: n for n, a in enumerate(carried) if isinstance(given[n], int)}
    if turns[MOST_FOLLOWED:] or not turns or not slots or block.terminator is None:
        return found
    passed = [v for _, v in block.terminator.values()]
    numbers = {a: cast(int, given[n]) for a, n in slots.items()}
    lists: dict[Value, list[int]] = {a: [] for a in slots}
    state = Facts(facts.target, dict(facts.numbers))
    ops = [state.folding(op) for op in _slice(block, [passed[n] for n in slots.values()])]
    for number in turns:
        for value, now in numbers.items():
            lists[value].append(now)
        state.numbers |= {counter: number, **numbers}
        for fold in ops:
            fold()
        after = {a: state.numbers.get(passed[slots[a]]) for a in numbers}
        lost = [a for a, n in after.items() if not isinstance(n, int)]
        for value in (*lost, *(a for a in carried if a not in after)):
            state.forget(value)
        numbers = {a: n for a, n in after.items() if isinstance(n, int)}
    return found | {a: np.asarray(lists[a], np.int64) for a in numbers}


def _slice(block: Block, wanted: Sequence[Value]) -> list[Op]:
    """Return the operations of a block, without regions, that numbers depend on, in order."""
    needed, found = set(wanted), list[Op]()
    for op in reversed(block.ops):
        if isinstance(op, Op) and op.page.folds and needed & {*op.results}:
            found.append(op)
            needed |= {v for _, v in op.values()}
    return found[::-1]
