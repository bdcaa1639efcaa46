"""A dry run: the scalar part of a program runs, and its instructions are only issued.

The cores of a kernel run at once and wait for one another as they do in any run. Numbers that were
not given, and those that come out of memory, are samples; a loop whose extent depends on one has
a trip count that is chosen, a branch the way that is chosen, and so has a choice between two tiles
or views. Where a run would be too long, the middle of its long loops is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from random import Random
from typing import Any

from ptokit.analysis.aliases import repeats
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import ALIASES, FLAGS, FLOW, PRINTS, RESIZES
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.sim.arguments import Bound, BoundKernel, Env
from ptokit.sim.cores.group import GroupedCore
from ptokit.sim.execute import Core, ReadyOp, moves
from ptokit.sim.limits import RunLimits
from ptokit.sim.pipes.issuing import Issue, Turn, Way
from ptokit.sim.pipes.openvalues import (
    block_queries,
    computed_alike,
    depends,
    from_memory,
    picking,
    undecided,
)
from ptokit.sim.pipes.pathchoices import (
    ALONE,
    HELD,
    ChosenFlow,
    HeldNumbers,
    PathChoice,
    ShortenedFlow,
)
from ptokit.sim.pipes.runsalike import RunsAlike
from ptokit.sim.reference.interpretedkernel import InterpretedKernel
from ptokit.sim.reference.interpreter import (
    InterpretedFlow,
    InterpretedMachine,
    Interpreter,
    Step,
    execution,
)
from ptokit.sim.reference.launch import placed
from ptokit.sim.tile import Tile

TRIP_COUNTS = (3, 5, 2, 1, 0)  # of loops whose extent is not known
# what is left out of a long loop is a multiple of one of these: buffers, flags and slots that its
# iterations take in rotation go on with the same one
PERIODS = (240, 24, 12, 4)
MOST_ISSUED = 50_000  # instructions of one dry run
MOST_SHORTENED = 10_000  # and of one with shortened loops
FEW_ISSUED = 2_000  # beyond which compiled code, once it is made, is faster
HALF = 0.5
MOST_LED = 24  # runs that are led to what no other issues
MOST_MIXED = 24  # runs whose branches go any way
STALE = 4  # such runs without a turn that no run before has: they are enough
SCALAR_STORAGE = {Kind.ARRAY, Kind.STRUCT}


class DryRunLimits(RunLimits):
    """How much a dry run may issue: nobody asks for another number."""

    more = "arguments with which its loops iterate less often tell as much"


class DryRun(Interpreter):
    """Runs what makes numbers and handles, and issues the rest."""

    def __init__(
        self,
        issue: Issue,
        choice: PathChoice,
        unknown: frozenset[Value],
        free: frozenset[Value],
        checks: bool,
        alike: RunsAlike,
        *how: Any,
    ) -> None:
        """Any: as `Interpreter` takes it."""
        super().__init__(*how)
        self.alike, self.same = alike, (getattr(self.core, "kind", None), unknown, checks)
        self.issue, self.choice, self.unknown, self.free = issue, choice, unknown, free
        self.checks = checks
        self.random = None if choice.seed is None else Random(choice.seed)
        self.ways: dict[Value, bool] = {}  # of conditions, until they are computed again
        self.last: Way | None = None

    def flow(self, op: Op) -> InterpretedFlow:
        deciding = [value for value in _deciding(op) if value in self.unknown]
        if deciding:
            return ChosenFlow(self.choice, partial(self._way, deciding[0]))
        period = self.choice.period
        return InterpretedFlow() if period is None else ShortenedFlow(period)

    def ready(self, op: Op) -> ReadyOp:
        made, key = self.alike.ready, (op, self.same)
        if key not in made:
            made[key] = super().ready(op)
        return made[key]

    def counts(self, op: Op) -> bool:
        return id(op) not in self.alike.marks and super().counts(op)

    def _way(self, condition: Value) -> bool:
        if self.random is None:
            way = self.choice.way != (condition.name in self.choice.against)
        else:
            way = self.ways.setdefault(condition, self.random.random() < HALF)
        before, self.last = self.last, (id(condition), way)
        self.issue.turns.add((before, self.last))
        return way

    def _step(self, op: AnyOp) -> Step:
        step = self._kept(op)
        if self.random is None or self.unknown.isdisjoint(op.results):
            return step

        def computed(env: Env) -> None:
            for value in op.results:
                self.ways.pop(value, None)
            step(env)

        return computed

    def _kept(self, op: AnyOp) -> Step:
        """What is left of an op."""
        if not isinstance(op, Op):
            return execution(op, self)
        if isinstance(self.core, GroupedCore) and not CORES.isdisjoint(op.page.uses):
            return self._exchanged(op, execution(op, self))
        if FLAGS in op.page.uses:
            return self._noted(op, execution(op, self))
        if PRINTS in op.page.uses and not moves(op):
            return _silent
        if not (self.unknown & self.free).isdisjoint(picking(op)):
            return self._picked(op)
        return self._issued(op) if is_issued(op) else execution(op, self)

    def _picked(self, op: Op) -> Step:
        """Either of two tiles or views, as a branch would choose."""
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
        """Execute an exchange between cores as in any run; what is handed on has any content."""
        handed_on = [value for _, value in op.values()]

        def exchanged(env: Env) -> None:
            for value in handed_on:
                if isinstance(handle := env.get(value), Tile):
                    handle.memory.initialise()
            self.issue.before(op, env, self.core)
            step(env)
            self.issue.after(op, env, self.core)

        return exchanged

    def _issued(self, op: Op) -> Step:
        choice = self.choice
        found = choice.index if _source(op) in choice.indices else choice.found
        samples = {value: _sample(value, found) for value in op.results}

        def issued(env: Env) -> None:
            self.limits.before(op)
            self.issue.before(op, env, self.core)
            env.update(samples)
            self.issue.work(op, env, self.core)

        return issued


def _silent(env: Env) -> None:
    """What a program says while it runs is no part of what it issues."""


def is_issued(op: Op) -> bool:
    """Whether it goes into a queue."""
    return moves(op) and not ({ALIASES, RESIZES} & {*op.page.traits} or _keeps_numbers(op))


def _keeps_numbers(op: Op) -> bool:
    """Whether it is about arrays and structs of the scalar unit, which no other pipe reaches."""
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    return bool(kinds & SCALAR_STORAGE) and kinds <= SCALAR_STORAGE | {Kind.SCALAR, Kind.INDEX}


def _sample(value: Value, found: int) -> int | float:
    """A number of the type of a value."""
    return 1.0 if getattr(value.type, "is_float", False) else found


@dataclass
class DryLaunch:
    """A function of one core, block after block, or those of a kernel's cores, to be issued."""

    bound: Bound | BoundKernel
    target: Target
    blocks: int = 1
    most: int | None = None  # instructions; None: MOST_ISSUED
    mixed: bool = False  # branches go also different ways in one run, as if data decided each
    held: HeldNumbers | None = None  # where arrays may hold different numbers
    periods: tuple[int | None, ...] = (None, *PERIODS)  # the first: of the next run that is tried
    refused: list[PtoError] = field(default_factory=list[PtoError])  # why runs are left out
    alike: RunsAlike = field(default_factory=RunsAlike)

    @cached_property
    def funcs(self) -> list[Func]:
        cores = self.bound.cores.values() if isinstance(self.bound, BoundKernel) else [self.bound]
        return [bound.func for bound in cores]

    @gc_disabled()
    def issue(
        self,
        choice: PathChoice = ALONE,
        unknown: frozenset[Value] = frozenset(),
        *,
        checks: bool = False,
    ) -> Issue:
        """The entries of one run.

        `checks`: it may be no legal one. PtoError where a rule does not hold then, cores wait for
        ever, or too many instructions are issued.
        """
        most = (self.most or MOST_ISSUED) if choice.period is None else MOST_SHORTENED
        issue, limits = Issue(self.target, self.alike.templates), DryRunLimits(most)
        issue.chosen = bool(unknown) or choice.period is not None
        free = frozenset[Value]().union(*map(undecided, self.funcs)) if unknown else unknown
        made = partial(DryRun, issue, choice, unknown, free, checks, self.alike)
        if isinstance(self.bound, BoundKernel):
            self._kernel.interpreter = made
            self._kernel.launch(self.bound, self.bound.shared(), limits, (issue,))
            return issue
        shared = self.bound.shared()
        for index in range(self.blocks):
            core = Core(self.target, CPU_READING, index, self.blocks)
            issue.prepared(core, self.bound.func.body)
            run = made(core, Facts(core.target, self.bound.every_number), self._planned, limits)
            local = self.bound.local(InterpretedMachine(core), self._planned.addresses)
            run.block(self.bound.func.body)(shared | local)
        return issue

    @cached_property
    def _planned(self) -> Planned:
        assert isinstance(self.bound, Bound)
        return placed(self.bound, self.target)

    @cached_property
    def _kernel(self) -> InterpretedKernel:
        assert isinstance(self.bound, BoundKernel)
        return InterpretedKernel(self.bound, self.target, CPU_READING, self.blocks)

    @property
    def together(self) -> bool:
        """Whether cores of several blocks wait for one another."""
        return isinstance(self.bound, BoundKernel) and self._kernel.grid.together

    def first_legal(self, choice: PathChoice, unknown: frozenset[Value]) -> Iterator[Issue]:
        """The run with the first number in memory with which it breaks no rule, if there is one.

        PtoError if it is too long even with shortened loops: what it would show nobody knows.
        """
        every = [op for func in self.funcs for op in func.body.walk() if isinstance(op, Op)]
        sources = [*dict.fromkeys(_source(op) for op in every if from_memory(op))]
        plain = [replace(choice, found=found) for found in (HELD if sources else HELD[:1])]
        split = self.held.choices(choice, sources) if self.held is not None else ()
        known = self.held is not None and self.held.known is not None
        for one in chain(split, plain) if known else chain(plain[:1], split, plain[1:]):
            try:
                issue = self._short_enough(one, unknown)
            except _Illegal as end:
                if self.periods[0] is None:  # else cores may be shortened unlike
                    self.refused.append(end.problem)
                continue
            if self.held is not None and one.indices:
                self.held.known = one
            yield issue
            return

    def _short_enough(self, choice: PathChoice, unknown: frozenset[Value]) -> Issue:
        """The whole run, or the longest shortened one within the limit; later ones are as short."""
        while True:
            try:
                return self.issue(replace(choice, period=self.periods[0]), unknown, checks=True)
            except PtoError as problem:
                if problem.diagnostics[0].slug != "instruction-limit":
                    raise _Illegal(problem) from problem
                if len(self.periods) == 1:
                    raise
                self.periods = self.periods[1:]


class _Illegal(Exception):
    """A sample breaks a rule."""

    def __init__(self, problem: PtoError) -> None:
        super().__init__()
        self.problem = problem


def dry_runs(launch: DryLaunch) -> Iterator[Issue]:
    """What is issued on samples: unknown loops iterate 0 to 5 times, branches go either way.

    What memory holds is the largest number that is legal there: with 0 many tiles would be empty. A
    run that breaks a rule is left out; if none is left with several iterations, samples decide. In
    a mixed launch it is unknown, too, what a block does by its number; then the first is issued.
    """
    known, wider = _unknown(launch.funcs), _unknown(launch.funcs, any_block=True)
    if launch.mixed and any(decided(func, wider - known) for func in launch.funcs):
        yield from _on_choices(launch, wider)
    yield from _on_choices(launch, known)


def led_runs(launch: DryLaunch, begun: Collection[int]) -> Iterator[Issue]:
    """Runs of a block that is any, to what has not begun in others."""
    unknown, found = _unknown(launch.funcs, any_block=True), {*begun}
    for choice in _led(launch.funcs, unknown, found):
        for issue in launch.first_legal(choice, unknown):
            if not found.issuperset(new := issue.begun | issue.reached):
                found |= new
                yield issue


def _unknown(funcs: Sequence[Func], *, any_block: bool = False) -> frozenset[Value]:
    """The values that depend on arguments, on memory, and perhaps on which block it is."""
    known = frozenset(value for func in funcs for value in depending(func))
    asked = frozenset(v for func in funcs for v in block_queries(func) if any_block)
    return frozenset(v for func in funcs for v in depends(func, known | asked))


def _on_choices(launch: DryLaunch, unknown: frozenset[Value]) -> Iterator[Issue]:
    """The same where just these values are unknown."""
    several, turns, begun = False, set[Turn](), set[int]()
    led = (choice for choice in _led(launch.funcs, unknown, begun) if choice.against)
    for choice in chain(_choices(launch.funcs, unknown), led):
        for issue in launch.first_legal(choice, unknown):
            several |= choice.iterations > 1
            turns |= issue.turns
            begun |= issue.begun | issue.reached
            yield issue
    if not several:
        yield from launch.first_legal(ALONE, frozenset())
    if launch.mixed and turns:
        yield from _mixed(launch, unknown, turns)


def _led(
    funcs: Sequence[Func], unknown: frozenset[Value], begun: Collection[int]
) -> Iterator[PathChoice]:
    """Ways to what has not begun yet: behind one branch and not behind another inside it."""
    tried = set[frozenset[str]]()
    alike = {name: names for func in funcs for name, names in computed_alike(func).items()}
    for op, these in [one for func in funcs for one in _ways(func.body, unknown, frozenset())]:
        against = these.union(*(alike.get(name, ()) for name in these))
        if id(op) not in begun and against not in tried and len(tried) < MOST_LED:
            tried.add(against)
            yield PathChoice(TRIP_COUNTS[0], against=against)


def _ways(
    block: Block, unknown: frozenset[Value], against: frozenset[str]
) -> Iterator[tuple[Op, frozenset[str]]]:
    """What a block issues, each with the conditions that do not hold there."""
    for op in block.ops:
        if not isinstance(op, Op):
            continue
        if is_issued(op):
            yield op, against
        deciding = [value.name for value in _deciding(op) if value in unknown]
        again = any(repeats(op, region) for region in op.regions)
        for number, region in enumerate(op.regions):
            other = deciding[:1] if number and not again else ()
            yield from _ways(region, unknown, against.union(other))


def _mixed(launch: DryLaunch, unknown: frozenset[Value], turns: set[Turn]) -> Iterator[Issue]:
    """Runs whose branches follow one another as in none before, until there seem to be no more."""
    stale = 0
    for seed in range(MOST_MIXED):
        before = len(turns)
        choice = PathChoice(TRIP_COUNTS[seed % 2], seed=seed)
        for issue in launch.first_legal(choice, unknown):
            turns |= issue.turns
            if len(turns) > before:
                yield issue
        stale = 0 if len(turns) > before else stale + 1
        if stale == STALE:
            return


def idle(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Whether one choice alone is legal, or no loop iterates: other samples may do."""
    return (len(issues) == 1 and issues[0].chosen) or none_iterates(funcs, issues)


def none_iterates(funcs: Iterable[Func], issues: Sequence[Issue]) -> bool:
    """Whether loops whose extents are not known issue something, but not in these runs."""
    found = any(_issues(op) for func in funcs for op in _open(func, depending(func)))
    entries = (entry for issue in issues for core in issue.cores for entry in core)
    return found and not any(entry.iteration for entry in entries)


def _issues(op: Op) -> bool:
    """Whether it is a loop with something for a pipe in it."""
    again = (region for region in op.regions if repeats(op, region))
    return any(isinstance(one, Op) and moves(one) for region in again for one in region.walk())


def depending(func: Func) -> frozenset[Value]:
    """The values that depend on arguments, or on what is in memory."""
    return depends(func, frozenset(a for a in func.args if isinstance(a.type, ScalarType)))


def _choices(funcs: Iterable[Func], unknown: frozenset[Value]) -> list[PathChoice]:
    """All trip counts and ways, if there are loops and branches that depend on these values.

    What is one of two tiles or views is a branch, too.
    """
    flows = [op for func in funcs for op in _open(func, unknown)]
    loops = [op for op in flows if any(repeats(op, region) for region in op.regions)]
    ways = (True, False) if len(loops) < len(flows) else (True,)
    counts = TRIP_COUNTS if loops else TRIP_COUNTS[:1]
    return [PathChoice(n, way) for n in counts for way in ways] if flows else []


def decided(func: Func, values: frozenset[Value]) -> bool:
    """Whether a loop or a branch depends on one of these."""
    return any(True for _ in _open(func, values))


def _open(func: Func, values: frozenset[Value]) -> Iterator[Op]:
    """The loops and branches that depend on one of these."""
    free = values & undecided(func)
    for op in func.body.walk():
        if isinstance(op, Op):
            branches = FLOW in op.page.uses
            if not (values.isdisjoint(_deciding(op)) if branches else free.isdisjoint(picking(op))):
                yield op


def _deciding(op: Op) -> Iterator[Value]:
    """What an op with regions depends on, and what in them decides whether they run again."""
    ends = (region.terminator for region in op.regions)
    yield from (value for _, value in op.values())
    for end in ends:
        yield from (v for name, v in end.values() if name != "values") if end else ()


def _source(op: Op) -> str:
    """The name of what an op reads first."""
    return next((value.name for _, value in op.values()), "")
