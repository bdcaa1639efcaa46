"""The first iteration of a counting loop: which conditions hold in it, whatever the arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptokit.analysis.known import Facts
from ptokit.ir.module import Block, Op, Value
from ptokit.machine.record.definite import NamedWindow

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
