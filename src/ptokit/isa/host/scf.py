"""The `scf` and `func` dialects: loops, branches, returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptokit.isa.lang import In, Instr
from ptokit.isa.types import Any_, Index, Scalar
from ptokit.isa.words import S

# What a region does when executed: block arguments in, yielded values out. Any: runtime values.
Region = Callable[..., tuple[Any, ...]]


class Control(Instr, abstract=True, dialect="scf", handle=True, pipe=S):
    """An op with regions: `run` receives them as functions."""


class For(Control, syntax="for"):
    """Run the region for each value from `lower` up to, not including, `upper` by `step`.

    Values named by iter_args pass from one iteration to the next; the last ones are the results.
    """

    cpp_text = "for (int64_t {iv} = {lower}; {iv} < {upper}; {iv} += {step})"
    lower = In(Index)
    upper = In(Index)
    step = In(Index)
    carried = In(Any_, (), many=True)

    rules = (step > 0,)

    @staticmethod
    def run(
        lower: int, upper: int, step: int, carried: tuple[Any, ...], regions: tuple[Region, ...]
    ) -> tuple[Any, ...]:
        for induction in range(lower, upper, step):
            carried = regions[0](induction, *carried)
        return carried


class If(Control, syntax="if"):
    """Run the first region where `condition` is 1, the second (if any) otherwise."""

    cpp_text = "if ({condition})"
    condition = In(Scalar)

    @staticmethod
    def run(condition: int, regions: tuple[Region, ...]) -> tuple[Any, ...]:
        if condition:
            return regions[0]()
        return regions[1]() if len(regions) > 1 else ()


class Terminator(Instr, abstract=True, handle=True, terminator=True, pipe=S, syntax="yield"):
    """Ends a region; its operands are what the region gives."""

    cpp_text = ""
    values = In(Any_, (), many=True)

    @staticmethod
    def run(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return values


class Yield(Terminator, dialect="scf"):
    """Pass values to the next iteration, or out of a branch."""


class Return(Terminator, dialect="func", spellings=("return",), asm="return"):
    """Leave the function."""
