"""The interpreter, which executes a function op by op through the bodies of the pages.

All that is known before the run is computed in advance: the rules that depend on run-time values,
the sources of operands, and the constants of attributes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias

from ptokit.analysis.fifos import Fifo
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import spoiled
from ptokit.analysis.placement import Planned
from ptokit.analysis.violation import (
    blamed,
    statically_reported,
    tolerated,
    tolerated_warning,
    unknown_op,
    unknown_type,
    violation,
)
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity, error
from ptokit.engines.reference.interpretedfifo import InterpretedFifoEnd
from ptokit.ir.module import AnyOp, Block, Op, OpaqueOp, Value
from ptokit.isa.formula.rules import doubtful
from ptokit.isa.lang.environment import ByName, Offer, environment
from ptokit.isa.lang.instr import CORES
from ptokit.isa.lang.traits import FIFO, FLOW, MACHINE, REGIONS, SIGNALS, Resource
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ArrayType, OpaqueType, StructType
from ptokit.machine.arguments import Env
from ptokit.machine.evaluation import NumpyArray
from ptokit.machine.execute import Core, ReadyOp, not_executed, refined, stated
from ptokit.machine.launchoptions import RunLimits
from ptokit.machine.memory import Memory
from ptokit.machine.observer import Observer
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Pointer, Tile, local_array
from ptokit.order.group import GroupedCore

Step: TypeAlias = "Callable[[Env], None]"
RegionBody: TypeAlias = "Callable[..., tuple[object, ...]]"


class InterpretedMachine:
    """A core as bodies see it: it makes handles on its memories, here for `value`.

    A handle at an address from the program must not overlap a tile in `planned`.
    """

    def __init__(
        self, core: Core, planned: Planned | None = None, value: Value | None = None
    ) -> None:
        self.core = core
        self.target = core.target
        self.planned = planned or Planned()
        self.value = value
        self.address_of, self.pointer_to = core.address_of, core.pointer_to

    def tile(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        """Return a handle on the bytes at `address` of the memory of the type's location."""
        for problem in self.planned.conflict(kind, address, self.target, self.value):
            raise PtoError(problem)
        return self._handle(kind, address)

    def _handle(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        memory = self.core.space(kind.loc)
        if isinstance(kind, ConvTileType):
            return ConvTile(kind, memory, address)
        return Tile(kind, memory, address)

    def new(self, kind: TileType | ConvTileType) -> Matrix:
        """Return a tile at the planned address of the value, with undefined content."""
        assert self.value is not None
        if isinstance(self.value.type, OpaqueType):  # the size is unknown
            raise PtoError(unknown_type(self.value, self.value.type))
        address = self.planned.addresses[self.value]
        return (self._handle if self.value in self.planned.over else self.fresh)(kind, address)

    @staticmethod
    def nowhere(kind: GlobalType) -> GlobalView:
        """Return a view without an address, until a pop gives it a slot."""
        known = replace(kind, stride=kind.stride or (1,) * kind.rank)
        return GlobalView(known, Memory.nothing(), 0)

    @staticmethod
    def array(kind: ArrayType | StructType) -> Pointer:
        """Return a new zeroed array or struct of the scalar unit."""
        return local_array(kind)

    def fresh(self, kind: TileType | ConvTileType, address: int) -> Matrix:
        """Return a new tile at a planned address, with undefined content."""
        handle = self._handle(kind, address)
        handle.memory.shadow[address : address + kind.nbytes] = 0
        return handle


class InterpretedFlow:
    """Loops and branches, executed by Python."""

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[object, ...], region: RegionBody
    ) -> tuple[object, ...]:
        for induction in range(lower, upper, step):
            carried = region(induction, *carried, repeats=True)
        return carried

    def repeat(
        self, carried: tuple[object, ...], before: RegionBody, after: RegionBody
    ) -> tuple[object, ...]:
        while True:
            condition, *passed = before(*carried)
            if not condition:
                return tuple(passed)
            carried = after(*passed, repeats=True)

    def branch(self, condition: int, regions: tuple[RegionBody, ...]) -> tuple[object, ...]:
        if condition:
            return regions[0]()
        return regions[1]() if len(regions) > 1 else ()


class Interpreter:
    """An interpreter that compiles blocks to lists of steps; `count` counts instructions.

    `checks`: rules that depend on values are checked.
    """

    checks = True

    def __init__(
        self,
        core: Core,
        facts: Facts,
        planned: Planned,
        limits: RunLimits,
        observers: Sequence[Observer] = (),
    ) -> None:
        self.core = core
        self.facts = facts
        self.planned = planned
        core.behind = planned.behind
        self.limits = limits
        self.observers = observers
        self.count = Counter[str]()

    def block(self, block: Block) -> Callable[[Env], tuple[object, ...]]:
        """Return a function that runs the block and returns its terminator's values."""
        steps = list[Step]()  # made at the first run, since few runs reach every branch
        passed = block.outcome

        def run(env: Env) -> tuple[object, ...]:
            if not steps:
                steps.extend(self._step(op) for op in block.ops if op is not block.terminator)
            for step in steps:
                step(env)
            return tuple(env[v] for v in passed)

        return run

    def ready(self, op: Op) -> ReadyOp:
        """Return the op with its undecided rules; facts about its results are recorded."""
        static = self.facts.environment(op)
        rules = op.page.rules_on(self.facts.target)
        open = (rule for rule, _ in doubtful(rules, static) if self.checks)
        made = ReadyOp(op, [r for r in open if not statically_reported(op, r, self.facts.target)])
        self.facts.learn(op, static)
        return made

    def counts(self, op: Op) -> bool:
        """Return whether the op counts towards the limit of instructions."""
        return op.page.reported

    def flow(self, op: Op) -> InterpretedFlow:
        """Return the control flow operations for the regions of an op."""
        return InterpretedFlow()

    def execution(self, op: AnyOp) -> Step:
        """Return the step of an op."""
        return execution(op, self)

    def fifo_end(self, op: Op, fifo: Fifo, core: GroupedCore) -> InterpretedFifoEnd:
        """Return the FIFO end for the body of an op."""
        return InterpretedFifoEnd(fifo, core)

    def ended(self) -> None:
        """Finish the function; the plain interpreter has nothing left to do."""

    def _step(self, op: AnyOp) -> Step:
        step, core = self.execution(op), self.core
        if not self.observers:
            return step

        def seen(env: Env) -> None:
            for observer in self.observers:
                observer.before(op, env, core)
            step(env)
            for observer in self.observers:
                observer.after(op, env, core)

        return seen

    def region(self, op: Op, block: Block) -> Callable[..., tuple[object, ...]]:
        """Return a region of `op` as a function of the environment and its arguments."""
        run, limits = self.block(block), self.limits

        def region(env: Env, *args: object, repeats: bool = False) -> tuple[object, ...]:
            for arg, value in zip(block.args, args, strict=True):
                env[arg] = copy(value) if isinstance(value, Matrix) else value  # see `define`
            for observer in self.observers:
                observer.entered(block.args, env, self.core)
            before = limits.used
            try:
                passed = run(env)
                if repeats:
                    limits.after(op, before)
                return passed
            except PtoError as problem:
                raise within(problem, block, args) from None

        return region


def execution(op: AnyOp, run: Interpreter) -> Step:
    """Return the step of an op."""
    if isinstance(op, OpaqueOp):
        return _refuse(replace(unknown_op(op), severity=Severity.ERROR))
    core = run.core
    if FIFO in op.page.uses and not (isinstance(core, GroupedCore) and op in core.ends):
        message = f"{op.name}: the FIFO of its handle is not known"
        help = "name the FIFO where it is set up"
        return _refuse(Diagnostic("fifo-mismatch", message, op.span, help=help))
    if op.page.run is None:
        return _refuse(not_executed(op))
    made = OpExecution(op, run)
    return made.number if made.ready.folds else made


class OpExecution:
    """A prepared op: the sources of its operands and its undecided rules."""

    def __init__(self, op: Op, run: Interpreter) -> None:
        self.op, self.page, self.run = op, op.page, run
        self.ready, self.limited = run.ready(op), run.counts(op)
        self.refine = op.page.type_of
        self.regions = tuple(run.region(op, r) for r in op.regions)
        self.waits = not CORES.isdisjoint(op.page.uses)
        self.spoiled = spoiled(op, run.facts)

    @cached_property
    def offer(self) -> Offer:
        """Return the resources for the body that do not depend on the operands."""
        if self.ready.standalone:
            return {}
        op, core = self.op, self.run.core
        machine = InterpretedMachine(core, self.run.planned, next(iter(op.results), None))
        found: dict[Resource, object] = {**core.offer(), MACHINE: machine}
        if FLOW in op.page.uses:
            found[FLOW] = self.run.flow(op)
        if isinstance(core, GroupedCore):
            if SIGNALS in op.page.uses:
                found[SIGNALS] = core.signals
            if op in core.ends:
                found[FIFO] = self.run.fifo_end(op, core.ends[op], core)
        return found

    def __call__(self, env: Env) -> None:
        values = self.operands(env)
        outcome = self.execute(values, tuple(partial(r, env) for r in self.regions))
        if self.op.results:
            self.define(env, outcome)

    def operands(self, env: Env) -> ByName:
        """Return the operands for rules and body, with the refined type of the result."""
        if self.limited:
            self.run.limits.before(self.op)
        values = self.ready.values(env)
        if self.ready.open or self.refine is not None:
            values |= self.checked(values)
        return values

    def number(self, env: Env) -> None:
        """Execute an op that only computes one number."""
        ready = self.ready
        values = ready.fixed.copy()
        for name, bound, _ in ready.inputs:
            values[name] = env[bound]  # type: ignore[index]  # no number is a list
        try:
            env[self.op.results[0]] = self.page.run(**values)
        except (ZeroDivisionError, PtoError):
            self.execute(values, ())

    def checked(self, values: ByName) -> ByName:
        """Evaluate the undecided rules; return the refined type of the result, if any."""
        target = self.run.facts.target
        seen = environment(self.page, {**self.ready.fixed, **values}, self.op.attrs, target)
        if self.ready.result is not None:
            seen[self.ready.result] = stated(self.op.results[0], target)
        for rule in self.ready.broken(seen):
            goes_on = tolerated(rule, seen)  # types were checked before the run
            made, where = tolerated_warning if goes_on else violation, blamed(self.op, rule)
            problem = made(self.page, rule, seen, where)
            if problem.is_error:
                raise PtoError(problem)
            self.run.core.warned.setdefault((self.op, rule), problem)
        if self.refine is None or self.ready.result is None:
            return {}
        return {self.ready.result: refined(self.refine, seen, target)}

    def execute(self, values: ByName, regions: tuple[RegionBody, ...] = ()) -> Any:
        """Run the body; return its outcome."""
        if self.waits and isinstance(self.run.core, GroupedCore):
            self.run.core.schedule.at(self.op.name, self.op.span)
        offer = {**self.offer, REGIONS: regions} if regions else self.offer
        try:
            outcome = self.ready.run(values, offer)
        except ZeroDivisionError:
            name = self.page.mnemonic()
            raise error("division-by-zero", f"{name}: division by zero", self.op.span) from None
        except PtoError as problem:
            raise problem.at(self.op.span) from None
        self.run.core.note_lost(self.op, values.values())
        if self.spoiled and not self.ready.does_nothing(values):
            for tile in map(values.get, self.spoiled):
                if isinstance(tile, Tile) and self.run.core.owns(tile.memory):
                    tile.spoil()
        if self.page.reported:
            self.run.count[self.page.mnemonic()] += 1
        return outcome

    def define(self, env: Env, outcome: Any) -> None:  # Any: what its page gives
        """Assign handles and numbers to the results."""
        several = outcome if len(self.op.results) > 1 or self.regions else (outcome,)
        for result, given in zip(self.op.results, several, strict=True):
            value = self._kept(given) if isinstance(given, NumpyArray) else given
            # a value passed out of a region keeps its name there: copy the handle
            another = result.resized or (self.regions and isinstance(value, Matrix))
            env[result] = value = copy(value) if another else value
            if isinstance(value, Matrix):
                value.label = f"%{result.name}"

    def _kept(self, given: NumpyArray) -> object:
        """Return the number of an array with one element, for the scalar unit."""
        try:
            return given.kept()
        except PtoError as problem:  # the element has no value
            raise problem.at(self.op.span) from None


def _refuse(problem: Diagnostic) -> Step:
    def step(env: Env) -> None:
        raise PtoError(problem)

    return step


def within(problem: PtoError, block: Block, args: tuple[object, ...]) -> PtoError:
    """Add the iteration to an error: 'with %k = 3'."""
    numbers = [
        f"%{a.name} = {v}" for a, v in zip(block.args, args, strict=True) if isinstance(v, int)
    ]
    if not numbers:
        return problem
    return problem.noted(f"with {', '.join(numbers)}")
