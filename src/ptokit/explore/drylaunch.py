"""Dry runs: the scalar part of a program executes, and its instructions are only issued.

Unknown arguments and numbers from memory are samples. A loop whose extent depends on a sample has a
chosen trip count; a branch, or a selection between two tiles or views, goes a chosen way. The cores
of a kernel run concurrently and wait for each other. If a run would be too long, middle iterations
of its long loops are skipped.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from random import Random
from typing import Any

from ptokit.analysis.earlywaits import waits_apart
from ptokit.analysis.fifos import Fifo
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.reference.engine import InterpretedKernel, placed
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.engines.reference.interpreter import (
    InterpretedFlow,
    InterpretedMachine,
    Interpreter,
    Step,
    execution,
)
from ptokit.explore.limits import HELD, MOST_ISSUED, MOST_SHORTENED, PERIODS, TRIP_COUNTS
from ptokit.explore.pathconditions import (
    ALONE,
    ChosenFlow,
    Condition,
    HeldNumbers,
    PathChoice,
    PathCondition,
    ShortenedFlow,
    conditions_of,
)
from ptokit.explore.programslices import (
    addresses,
    deciding,
    depending,
    from_memory,
    is_issued,
    picking,
    source,
    undecided,
)
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import FLAGS, PRINTS
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Env, Launch
from ptokit.machine.execute import Core, ReadyOp, moves
from ptokit.machine.launchoptions import Options, RunLimits
from ptokit.machine.tile import GlobalView, Tile
from ptokit.order.footprints import Templates
from ptokit.order.group import GroupedCore
from ptokit.order.issue import Issue, Way
from ptokit.order.schedule import Wait
from ptokit.values.fixpipe import CPU_READING

HALF = 0.5


@dataclass
class DryRunCache:
    """The prepared ops and the footprints of issued ops that all dry runs of one launch share.

    `marks` are the ids of barriers that were added for a check; limits do not count them.
    """

    marks: Container[int] = ()
    ready: dict[object, ReadyOp] = field(default_factory=dict[object, ReadyOp])
    templates: Templates = field(default_factory=Templates)

    def for_other_numbers(self) -> DryRunCache:
        """Return the state for other numbers: footprints stay valid, prepared ops do not."""
        return DryRunCache(self.marks, templates=self.templates)


class DryRunLimits(RunLimits):
    """The limits of a dry run."""

    more = "use arguments with fewer loop iterations"


class DryRun(Interpreter):
    """An interpreter that executes scalar and handle operations and issues the others."""

    def __init__(
        self,
        issue: Issue,
        choice: PathChoice,
        unknown: frozenset[Value],
        free: frozenset[Value],
        conditions: Mapping[Value, Condition],
        checks: bool,
        cache: DryRunCache,
        apart: list[Wait] | None,
        *how: Any,
    ) -> None:
        """Create the run; with `apart`, each queue waits alone and its waits are added there.

        `how` are the arguments of `Interpreter`.
        """
        super().__init__(*how)
        self.cache, self.same = cache, (getattr(self.core, "kind", None), unknown, checks)
        self.issue, self.choice, self.unknown, self.chosen = issue, choice, unknown, unknown & free
        self.apart = apart
        self.checks = checks
        self.random = None if choice.seed is None else Random(choice.seed)
        self.path = PathCondition(conditions)
        self.last: Way | None = None

    def flow(self, op: Op) -> InterpretedFlow:
        unknown = [value for value in deciding(op) if value in self.unknown]
        if unknown:
            return ChosenFlow(self.choice, partial(self._way, unknown[0]))
        period = self.choice.period
        return InterpretedFlow() if period is None else ShortenedFlow(period)

    def ready(self, op: Op) -> ReadyOp:
        made, key = self.cache.ready, (op, self.same)
        if key not in made:
            made[key] = super().ready(op)
        return made[key]

    def counts(self, op: Op) -> bool:
        return id(op) not in self.cache.marks and super().counts(op)

    def fifo_end(self, op: Op, fifo: Fifo, core: GroupedCore) -> InterpretedFifoEnd:
        whole = self.issue.waits_in(op) is Pipe.S or fifo.extents is None
        if self.apart is None or whole:
            return InterpretedFifoEnd(fifo, core)
        return IssuedFifoEnd(fifo, core, self.apart)

    def _way(self, condition: Value) -> bool:
        """Return the only possible value of a condition on this path, or else a chosen one."""
        way = self.path.decided(condition)
        if way is None:
            way = self._chosen(condition)
            self.path.assume(condition, way)
        before, self.last = self.last, (id(condition), way)
        self.issue.branch_pairs.add((before, self.last))
        return way

    def _chosen(self, condition: Value) -> bool:
        if self.random is not None:
            return self.random.random() < HALF
        return self.choice.way != (condition.name in self.choice.against)

    def _step(self, op: AnyOp) -> Step:
        step = self._kept(op)
        if self.random is None or self.unknown.isdisjoint(op.results):
            return step

        def computed(env: Env) -> None:
            for value in op.results:
                self.path.computed_again(value)
            step(env)

        return computed

    def _kept(self, op: AnyOp) -> Step:
        """Return the step that remains of an op in a dry run."""
        if not isinstance(op, Op):
            return execution(op, self)
        if isinstance(self.core, GroupedCore) and not CORES.isdisjoint(op.page.uses):
            return self._exchanged(op, execution(op, self))
        if FLAGS in op.page.uses:
            return self._noted(op, execution(op, self))
        if PRINTS in op.page.uses and not moves(op):
            return _silent
        if not self.chosen.isdisjoint(picking(op)):
            return self._picked(op)
        return self._issued(op) if is_issued(op) else execution(op, self)

    def _picked(self, op: Op) -> Step:
        """Return a step that selects one of two tiles or views, as a branch would."""
        condition, yes, no = (value for _, value in op.values())

        def picked(env: Env) -> None:
            env[op.results[0]] = env[yes if self._way(condition) else no]

        return picked

    def _noted(self, op: Op, step: Step) -> Step:
        def noted(env: Env) -> None:
            self.issue.before(op, env, self.core)
            step(env)

        return noted

    def _exchanged(self, op: Op, step: Step) -> Step:
        """Return a step that executes an exchange between cores; the entries have any content."""
        handed_on = [value for _, value in op.values()]

        def exchanged(env: Env) -> None:
            for value in handed_on:
                if isinstance(handle := env.get(value), Tile):
                    handle.memory.initialise()
                elif isinstance(handle, GlobalView):
                    _make_room(handle)
            self.issue.before(op, env, self.core)
            step(env)
            self.issue.after(op, env, self.core)

        return exchanged

    def _issued(self, op: Op) -> Step:
        found = self.choice.read_of(source(op))
        samples = {value: _sample(value, found) for value in op.results}

        def issued(env: Env) -> None:
            self.limits.before(op)
            self.issue.before(op, env, self.core)
            env.update(samples)
            self.issue.work(op, env, self.core)

        return issued


class IssuedFifoEnd(InterpretedFifoEnd):
    """A FIFO end whose waits are collected in `waits` instead of blocking the core."""

    def __init__(self, fifo: Fifo, core: GroupedCore, waits: list[Wait]) -> None:
        super().__init__(fifo, core)
        self.waits = waits

    def wait(self, cell: int, least: int) -> None:
        self.waits.append(self.wait_for(cell, least))
        self.tell_awaited(cell, least)


def _make_room(view: GlobalView) -> None:
    """Enlarge the sample array so that it contains this view."""
    _, end = view.elements.reach(range(view.rows), range(view.cols))
    view.memory.grow(view.dtype.nbytes(end), (view.rows, view.cols))
    view.memory.initialise()


def _silent(env: Env) -> None:
    """Ignore a print."""


def _sample(value: Value, found: int) -> int | float:
    """Return a number of the type of a value."""
    return 1.0 if getattr(value.type, "is_float", False) else found


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
