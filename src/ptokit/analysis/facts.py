"""Facts: the analyses of a function, each computed once on demand.

No other code constructs an analysis. Facts belong to their function (`ir.module.once`) and are
valid as long as the function does not change: a pass makes a new function, and a copy has no facts.
The reader, the recorders and `launch.bind` change functions in place, and use no facts before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ptokit.analysis.aliases import AliasClasses
from ptokit.analysis.checker import Checker
from ptokit.analysis.intervalanalysis import IntervalAnalysis
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import Interference, Liveness, LiveRanges
from ptokit.analysis.noalias import Pieces, sharing, stretches
from ptokit.analysis.placement import Placement
from ptokit.analysis.ranges import Fact
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Func, Op, Value, once
from ptokit.isa.model.targets import Target

if TYPE_CHECKING:
    from ptokit.analysis.firstuse import FirstUses

KEPT = 8  # number of targets and arguments with kept facts
T = TypeVar("T")


class FuncFacts:
    """The facts of a function that hold on every target."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self._on: dict[object, TargetFacts] = {}

    def on(self, target: Target, numbers: Mapping[Value, Fact] | None = None) -> TargetFacts:
        """Return the facts for a target and numbers as arguments."""
        given = dict(numbers or {})
        key = id(target), *((value, f"{n.__class__} {n!r}") for value, n in given.items())
        if key not in self._on:
            for old in [*self._on][: 1 - KEPT]:
                del self._on[old]
            self._on[key] = TargetFacts(self, target, given)
        return self._on[key]

    @cached_property
    def live(self) -> Liveness:
        return Liveness(self.func)

    @cached_property
    def interference(self) -> Interference:
        return Interference(self.func, self.live)

    @cached_property
    def classes(self) -> AliasClasses:
        """Return the classes of values that may name the same bytes, for any addresses."""
        return AliasClasses(self.interference)

    @property
    def written_args(self) -> tuple[Value, ...]:
        """Return the arguments that instructions write, directly or through handles."""
        written = self.interference.written
        return tuple(arg for arg in self.func.args if arg in written)

    @cached_property
    def first_uses(self) -> FirstUses:
        from ptokit.analysis.firstuse import FirstUses

        return FirstUses(self.func, self.live).swept()

    @cached_property
    def ranges(self) -> LiveRanges:
        return LiveRanges(self.func, self.live)

    def made(self, kind: Callable[[Func], T]) -> T:
        """Return an analysis that only few programs need."""
        return once(kind)(self.func)


facts_of = once(FuncFacts)


class TargetFacts:
    """The facts of a function on a target, with some numbers as arguments."""

    def __init__(self, base: FuncFacts, target: Target, numbers: dict[Value, Fact]) -> None:
        self.func, self.base, self.target, self.numbers = base.func, base, target, numbers

    @cached_property
    def checker(self) -> Checker:
        """Return the walk over the function with the rules of its pages."""
        checker = Checker(self.target, self.numbers)
        checker.func(self.func)
        return checker

    @property
    def known(self) -> Facts:
        """Return the abstract state of the walk: numbers, types, and undecided rules."""
        return self.checker.facts

    @cached_property
    def intervals(self) -> IntervalAnalysis:
        """Return the walk with ranges for loop counters."""
        intervals = IntervalAnalysis(self.target, self.numbers)
        intervals.func(self.func)
        return intervals

    @cached_property
    def proved(self) -> Facts:
        """Return the numbers and types that hold in every iteration."""
        facts = self.intervals.facts
        single: dict[Value, Fact] = {
            value: n for value, n in facts.numbers.items() if isinstance(n, int | float)
        }
        return Facts(self.target, single, facts.types)

    @cached_property
    def pieces(self) -> Pieces:
        """Return the bytes that handles name, as far as they are proved."""
        return stretches(self.func, self.proved)

    @cached_property
    def storage(self) -> AliasClasses:
        """Return the alias classes, with proved addresses."""
        return AliasClasses(self.base.interference, self.proved)

    @cached_property
    def placement(self) -> Placement:
        return Placement(self.base.interference, self.known, self._shorter)

    @cached_property
    def proved_placement(self) -> Placement:
        """Return the placement of a function that is checked without running."""
        return Placement(self.base.interference, self.proved, self._shorter)

    @property
    def _shorter(self) -> tuple[Callable[[], FirstUses], ...]:
        """Return the shorter and shorter lifetimes of tiles."""
        return lambda: self.base.first_uses, lambda: self.contents, lambda: self.in_place

    @cached_property
    def contents(self) -> FirstUses:
        from ptokit.analysis.contentliveness import ContentLiveness  # records bodies

        return ContentLiveness(self.func, self.base.live, self.target).swept()

    @cached_property
    def in_place(self) -> FirstUses:
        from ptokit.analysis.contentliveness import InPlaceLiveness

        return InPlaceLiveness(self.func, self.base.live, self.target).swept()

    def faults(self, *, running: bool = False) -> list[Diagnostic]:
        """Return everything wrong with the function that is known before it runs.

        `running`: without faults that concern the text alone.
        """
        early = {id(problem) for problem in self.checker.early if running}
        found = [problem for problem in self.checker.found if id(problem) not in early]
        shared = sharing(self.func, stretches(self.func, self.known), self.known)
        return [*found, *shared, *self.placement.faults()]

    def faults_of_run(self) -> list[Diagnostic]:
        """Return the faults of the function that end its run before it begins.

        Faults in regions that never run do not count; ranges of counters may exclude a region, too.
        """
        found = [problem for problem in self.faults(running=True) if problem.is_error]
        if not found:
            return []
        dead = (op for block in self.intervals.dead for op in block.walk() if isinstance(op, Op))
        never = {span for op in dead for span in op.spans.values()}
        never -= {problem.span for problem in self.intervals.found}  # with any numbers
        return [problem for problem in found if not problem.rule or problem.span not in never]
