"""A dry run: the scalar part of a program executes, and its instructions are only issued.

Unknown arguments and numbers from memory are samples. A loop whose extent depends on a sample has a
chosen trip count; a branch, or a selection between two tiles or views, goes a chosen way.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field
from functools import partial
from random import Random
from typing import Any

from ptokit.analysis.fifos import Fifo
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.engines.reference.interpreter import InterpretedFlow, Interpreter, Step, execution
from ptokit.explore.pathconditions import (
    ChosenFlow,
    Condition,
    PathChoice,
    PathCondition,
    ShortenedFlow,
)
from ptokit.explore.programslices import deciding, is_issued, picking, source
from ptokit.ir.module import AnyOp, Op, Value
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import FLAGS, PRINTS
from ptokit.isa.model.words import Pipe
from ptokit.machine.arguments import Env
from ptokit.machine.execute import ReadyOp, moves
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.tile import GlobalView, Tile
from ptokit.order.footprints import Templates
from ptokit.order.group import GroupedCore
from ptokit.order.issue import Issue, Way
from ptokit.order.schedule import Wait
from ptokit.records import dataclass

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
