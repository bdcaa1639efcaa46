"""A dry launch: the cores of a kernel run dry and concurrently, and wait for each other.

If a run would be too long, middle iterations of its long loops are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from itertools import chain

from ptokit.analysis.earlywaits import waits_apart
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.interpretedkernel import InterpretedKernel
from ptokit.engines.reference.interpreter import InterpretedMachine
from ptokit.engines.reference.launch import placed
from ptokit.explore.dryrun import DryRun, DryRunCache, DryRunLimits
from ptokit.explore.limits import HELD, MOST_ISSUED, MOST_SHORTENED, PERIODS, TRIP_COUNTS
from ptokit.explore.pathconditions import ALONE, Condition, HeldNumbers, PathChoice, conditions_of
from ptokit.explore.programslices import addresses, depending, from_memory, source, undecided
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.model.targets import Target
from ptokit.machine.arguments import Launch
from ptokit.machine.execute import Core
from ptokit.machine.launchoptions import Options
from ptokit.order.issue import Issue
from ptokit.order.schedule import Wait
from ptokit.records import dataclass
from ptokit.values.fixpipe import CPU_READING


@dataclass
class DryLaunch:
    """A kernel to be issued: a single-core function, block after block, or several cores."""

    bound: Launch
    target: Target
    blocks: int = 1
    most: int | None = None  # instructions; None: MOST_ISSUED, or MOST_SHORTENED
    trip_counts: Sequence[int] = TRIP_COUNTS  # of loops with unknown bounds
    mixed: bool = False  # also runs whose branches vary within the run
    held: HeldNumbers | None = None  # set if arrays may hold different numbers
    periods: tuple[int | None, ...] = (None, *PERIODS)  # the first: for the next attempt
    refused: list[PtoError] = field(default_factory=list[PtoError])  # the errors of skipped runs
    cache: DryRunCache = field(default_factory=DryRunCache)
    plan: Planned | None = None  # an address plan from a launch with other numbers
    in_memory: Mapping[str, int] = field(default_factory=dict[str, int])  # known contents, by array
    judged: bool = False  # the rules were checked when the instructions ran

    @cached_property
    def funcs(self) -> list[Func]:
        return self.bound.funcs

    @property
    def numbers(self) -> dict[str, int]:
        """Return the numeric arguments by name."""
        return {v.name: n for one in self.bound.every for v, n in one.numbers.items()}

    def with_numbers(self, numbers: Mapping[str, int]) -> DryLaunch:
        """Return the launch with other numbers for arguments and array contents."""
        own = {name: n for name, n in numbers.items() if name in self.numbers}
        return replace(
            self,
            bound=self.bound.with_numbers(own),
            refused=[],
            cache=self.cache.for_other_numbers(),
            plan=self.planned if self.lasts else None,
            in_memory={name: n for name, n in numbers.items() if name not in own},
        )

    def issue(
        self,
        choice: PathChoice = ALONE,
        unknown: frozenset[Value] = frozenset(),
        *,
        checks: bool = False,
    ) -> Issue:
        """Return the issue trace of one run.

        Entries are in program order, or in the order of separately waiting queues if cores would
        deadlock otherwise. `checks`: the run may be illegal. PtoError if a rule is broken, cores
        deadlock, or too many instructions are issued.
        """
        try:
            return self._issued(choice, unknown, checks)
        except PtoError as problem:
            endless = problem.diagnostics[0].slug == "deadlock"
            if not (endless and waits_apart(self.funcs, self.target)):
                raise
            waits = list[Wait]()
            found = self._issued(choice, unknown, checks, waits)
            if not all(wait.met() for wait in waits):
                raise
            return found

    @gc_disabled()
    def _issued(
        self,
        choice: PathChoice,
        unknown: frozenset[Value],
        checks: bool,
        apart: list[Wait] | None = None,
    ) -> Issue:
        most = self.most or (MOST_ISSUED if choice.period is None else MOST_SHORTENED)
        issue, limits = Issue(self.target, self.cache.templates), DryRunLimits(most)
        issue.chosen = bool(unknown) or choice.period is not None
        choice = replace(choice, given=self.in_memory)
        free = self._undecided if unknown else unknown
        conditions = self.conditions if unknown else dict[Value, Condition]()
        looks = checks and not self.judged
        made = partial(DryRun, issue, choice, unknown, free, conditions, looks, self.cache, apart)
        if self.bound.waits:
            self._kernel.launch(self.bound, self.bound.shared(), limits, (issue,), made)
            return issue
        one = self.bound.sole
        shared = one.shared()
        for index in range(self.blocks):
            core = Core(self.target, CPU_READING, index, self.blocks)
            issue.prepared(core, one.func.body)
            run = made(core, Facts(core.target, one.every_number), self.planned, limits)
            local = one.local(InterpretedMachine(core), self.planned.addresses)
            run.block(one.func.body)(shared | local)
        return issue

    @cached_property
    def conditions(self) -> Mapping[Value, Condition]:
        """Return the condition behind each truth value."""
        return {
            value: one
            for func in self.funcs
            for value, one in conditions_of(func, self.target).items()
        }

    @cached_property
    def _undecided(self) -> frozenset[Value]:
        return frozenset[Value]().union(*map(undecided, self.funcs))

    @cached_property
    def _sources(self) -> list[str]:
        """Return the names of the operands that numbers are read from."""
        every = [op for func in self.funcs for op in func.ops if isinstance(op, Op)]
        return [*dict.fromkeys(source(op) for op in every if from_memory(op))]

    @cached_property
    def planned(self) -> Planned:
        return self.plan or placed(self.bound.sole, self.target)

    @cached_property
    def lasts(self) -> bool:
        """Return whether tiles have the same addresses with any numbers."""
        if self.bound.waits:
            return False
        (func,) = self.funcs
        return depending(func).isdisjoint(addresses(func)) or self.planned == Planned()

    @cached_property
    def _kernel(self) -> InterpretedKernel:
        return InterpretedKernel(self.bound, Options(self.target, blocks=self.blocks))

    @property
    def together(self) -> bool:
        """Return whether cores of several blocks wait for each other."""
        return self.bound.waits and self._kernel.grids[0].together

    def first_legal(self, choice: PathChoice, unknown: frozenset[Value]) -> Iterator[Issue]:
        """Yield the run with the first memory content that breaks no rule, if there is one.

        PtoError if the run is too long even with shortened loops, so that its result is unknown.
        """
        sources = self._sources
        plain = [replace(choice, found=found) for found in (HELD if sources else HELD[:1])]
        split = self.held.choices(choice, sources) if self.held is not None else ()
        known = self.held is not None and self.held.known is not None
        for one in chain(split, plain) if known else chain(plain[:1], split, plain[1:]):
            try:
                issue = self._short_enough(one, unknown)
            except _Illegal as end:
                if self.periods[0] is None:  # cores may be shortened differently
                    self.refused.append(end.problem)
                continue
            if self.held is not None and one.indices:
                self.held.known = one
            yield issue
            return

    def _short_enough(self, choice: PathChoice, unknown: frozenset[Value]) -> Issue:
        """Return the whole run, or the longest shortened run within the limit.

        Later runs of this launch start with the same shortening.
        """
        held = self.held if self.most is None else None  # a small limit does not mean a long run
        if held is not None and held.too_long:
            self.periods = tuple(filter(None, self.periods))
        while True:
            try:
                return self.issue(replace(choice, period=self.periods[0]), unknown, checks=True)
            except PtoError as problem:
                if problem.diagnostics[0].slug != "instruction-limit":
                    raise _Illegal(problem) from problem
                if len(self.periods) == 1:
                    raise
                self.periods = self.periods[1:]
                if held is not None:
                    held.too_long = True


class _Illegal(Exception):
    """Raised if a sample breaks a rule."""

    def __init__(self, problem: PtoError) -> None:
        super().__init__()
        self.problem = problem
