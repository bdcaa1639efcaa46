"""Interval analysis of rules: one walk over a function, with ranges for loop counters.

A rule that is true over ranges holds in every iteration. A rule that breaks on constants is an
error. If the outcome depends on the iteration, `open` keeps the rule for `analysis.search`; if it
depends on a run-time number, `left` names the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ptokit.analysis.checker import CheckedRegion, Checker
from ptokit.analysis.ranges import EVERY, Fact, Range, counter_values, high, joined, low
from ptokit.analysis.violation import UNDEFINED, blamed, tolerated, violation
from ptokit.diagnostics.diagnostic import Judge, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.formula.formulas import UNKNOWN, Env, Expr, Many, SameStorage, fields
from ptokit.isa.formula.rules import Rule
from ptokit.isa.model.targets import Target

BEHIND = "the type has a `?`: the assembler accepts this, ptokit fails at run time"
GUARDED = "an enclosing condition or loop bound is not known statically"


class UndecidedRule(NamedTuple):
    """A rule that is deferred to run time, and the reason."""

    span: Span | None
    instruction: str
    rule: str
    why: str
    by: tuple[Judge, ...] = ()  # the judges that enforce the rule; empty: all

    def __str__(self) -> str:
        place = "" if self.span is None else f"{self.span}: "
        return f"{place}{self.instruction}: {self.rule}: {self.why}"

    def to_json(self) -> dict[str, object]:
        """Return the rule as JSON data."""
        place = {} if self.span is None else self.span.to_json()
        return {**place, "instruction": self.instruction, "rule": self.rule, "why": self.why}


class IntervalAnalysis(Checker):
    """A check of the rules of a function over ranges of its counters."""

    def __init__(self, target: Target, numbers: Mapping[Value, Fact] | None = None) -> None:
        super().__init__(target, numbers)
        self.open: dict[Op, list[Rule]] = {}
        self.left: list[UndecidedRule] = []
        self.guards = 0  # enclosing regions that a run-time condition guards

    def op(self, op: AnyOp) -> None:
        super().op(op)
        if isinstance(op, Op) and op.calls:
            why = f"@{op.choice} has no body"
            self.left.append(UndecidedRule(op.span, op.name, "the callee", why))

    def judge(self, op: Op, rule: Rule, env: Env, outcome: object) -> None:
        varies = self.facts.varies(op, env.values())
        if outcome is False and not varies and self.stated(op, rule):
            super().judge(op, rule, env, outcome)
        elif outcome is False and not varies:
            self.postponed(op, rule, env, UNDEFINED if tolerated(rule, env) else BEHIND)
        elif self.facts.blind or not rule.required or same_value(op, rule.formula):
            return
        elif varies and not self.guards:
            self.open.setdefault(op, []).append(rule)
        else:
            why = unknowns(op, rule, env) if outcome is UNKNOWN else ""
            self.left.append(undecided_rule(op, rule, why or GUARDED))

    def postponed(self, op: Op, rule: Rule, env: Env, why: str) -> None:
        """Report a broken rule that compilers do not check as a warning; a run fails at it."""
        found = violation(op.page, rule, env, blamed(op, rule))
        self.found.append(replace(found, severity=Severity.WARNING, help=why))
        if not self.facts.blind:
            self.left.append(undecided_rule(op, rule, GUARDED if self.guards else why))

    def loop(
        self, lower: Fact, upper: Fact, step: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        iterations = counter(lower, upper, step)
        if iterations is None:
            self.never(region)
            return carried
        around = widened(carried)
        passed = self.guarded((region,), iterations, *around, guard=iterations is UNKNOWN)[0]
        unknown = [UNKNOWN in (n, c) for n, c in zip(passed, around, strict=False)]
        return tuple(UNKNOWN if u else EVERY for u in unknown)

    def branch(self, condition: Fact, regions: tuple[CheckedRegion, ...]) -> tuple[Fact, ...]:
        if isinstance(condition, int):
            taken = regions[0] if condition else regions[1] if len(regions) > 1 else None
            for region in regions:
                if region is not taken:
                    self.never(region)
            return taken() if taken else ()
        ways = self.guarded(regions, guard=condition is UNKNOWN)
        return tuple(
            UNKNOWN if condition is UNKNOWN else joined(*n)
            for n in zip(*ways, strict=False)
            if len(n) > 1
        )

    def maybe(self, region: CheckedRegion, *numbers: Fact) -> None:
        self.guarded((region,), *numbers, guard=True)

    def guarded(
        self, regions: tuple[CheckedRegion, ...], *numbers: Fact, guard: bool
    ) -> list[tuple[Fact, ...]]:
        """Return the results of regions; with `guard`, a run-time condition decides if they run."""
        self.guards += guard
        passed = [region(*numbers) for region in regions]
        self.guards -= guard
        return passed


def counter(lower: Fact, upper: Fact, step: Fact) -> Fact | None:
    """Return the values of a loop counter as a range; None: no iteration; UNKNOWN: not known."""
    if not (isinstance(lower, int | Range) and isinstance(upper, int | Range)):
        return UNKNOWN
    if not isinstance(step, int) or step <= 0:
        return UNKNOWN
    if low(lower) >= high(upper):
        return None
    iterations = counter_values(lower, upper, step)
    return Range(iterations, iterations + step, step) if isinstance(iterations, int) else iterations


def widened(carried: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Return loop-carried values for any iteration: numbers become unbounded ranges."""
    return tuple(EVERY if isinstance(n, int | Range) else UNKNOWN for n in carried)


def same_value(op: Op, formula: Expr) -> bool:
    """Return whether a formula compares the storage of operands that are one value."""
    if not isinstance(formula, SameStorage):
        return False
    sides = [op.bound(side.operand) for side in (formula.left, formula.right)]
    return sides[0] == sides[1]


def undecided_rule(op: Op, rule: Rule, why: str) -> UndecidedRule:
    return UndecidedRule(blamed(op, rule), op.name, str(rule), why, rule.by)


def unknowns(op: Op, rule: Rule, env: Env) -> str:
    """Return the run-time numbers that decide the rule."""
    return "; ".join(dict.fromkeys(_unknown(op, rule, env)))


def _unknown(op: Op, rule: Rule, env: Env) -> Iterator[str]:
    for formula in (rule.formula, *((rule.condition,) if rule.condition is not None else ())):
        for field in fields(formula):
            bound, given = op.bound(field.operand), env.get(field.operand)
            several = given.values if isinstance(given, Many) else (given,)
            names = [f"%{v.name}" for v, n in zip(bound, several, strict=False) if n is UNKNOWN]
            if not names and bound and field.eval(env) is UNKNOWN:
                names = [f"{'.'.join(field.path)} of %{bound[0].name}"]
            yield from (f"{name} is not known statically" for name in names)
