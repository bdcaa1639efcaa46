"""A dry run: the scalar part of a program runs, and its instructions are only issued.

Numbers that nobody has given, and those that come out of memory, are samples; a loop whose extent
depends on one takes a number of turns that is chosen, a branch the way that is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from ptokit.analysis.aliases import repeats
from ptokit.analysis.known import Facts
from ptokit.analysis.placement import Planned
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, FLAGS, FLOW, PRINTS, RESIZES
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, GlobalType, TileType
from ptokit.isa.model.types import Kind, PtrType, ScalarType, Type
from ptokit.numerics.fixpipe import CPU_READING
from ptokit.sim.arguments import Bound, Env
from ptokit.sim.execute import Core, moves
from ptokit.sim.limits import RunLimits
from ptokit.sim.pipes.issuing import Issue
from ptokit.sim.reference.interpreter import (
    InterpretedFlow,
    InterpretedMachine,
    Interpreter,
    RegionBody,
    Step,
    execution,
)
from ptokit.sim.reference.launch import placed

TURNS = (3, 5, 2, 1, 0)  # of loops whose extent is not known
MOST_ISSUED = 200_000  # instructions of one dry run
MIXED = 20  # further samples, of several numbers
SCALAR_STORAGE = {Kind.ARRAY, Kind.STRUCT}
HELD = (1 << 16, 16, 1, 0)  # what memory holds: extents, and indices of few
SAMPLES = (1024, 256, 64, 16, 4, 1)  # stand for an integer that nobody has given


@dataclass(frozen=True)
class TurnChoice:
    """What happens where a number is not known: the turns of a loop, the way of a branch.

    `found` is what memory holds where a number comes from there.
    """

    turns: int = 1
    way: bool = True
    found: int = 0


ALONE = TurnChoice()


@dataclass
class _ChosenFlow(InterpretedFlow):
    """Loops and branches whose numbers are not known."""

    choice: TurnChoice

    def loop(
        self, lower: int, upper: int, step: int, carried: tuple[Any, ...], region: RegionBody
    ) -> tuple[Any, ...]:
        end = lower + self.choice.turns * step
        return super().loop(lower, end, step, carried, region)

    def repeat(
        self, carried: tuple[Any, ...], before: RegionBody, after: RegionBody
    ) -> tuple[Any, ...]:
        for _ in range(self.choice.turns):
            _, *passed = before(*carried)
            carried = after(*passed, repeats=True)
        return tuple(before(*carried)[1:])

    def branch(self, condition: int, regions: tuple[RegionBody, ...]) -> tuple[Any, ...]:
        return super().branch(self.choice.way, regions)


class DryRunLimits(RunLimits):
    """How much a dry run may issue: nobody asks for another number."""

    more = "arguments with which its loops turn less often tell as much"


class DryRun(Interpreter):
    """Runs what makes numbers and handles, and issues the rest."""

    def __init__(
        self, issue: Issue, choice: TurnChoice, unknown: frozenset[Value], checks: bool, *how: Any
    ) -> None:
        """Any: as `Interpreter` takes it."""
        super().__init__(*how)
        self.issue, self.choice, self.unknown = issue, choice, unknown
        self.checks = checks

    def flow(self, op: Op) -> InterpretedFlow:
        known = self.unknown.isdisjoint(_deciding(op))
        return InterpretedFlow() if known else _ChosenFlow(self.choice)

    def _step(self, op: AnyOp) -> Step:
        if not isinstance(op, Op):
            return execution(op, self)
        if FLAGS in op.page.uses:
            return self._noted(op, execution(op, self))
        if PRINTS in op.page.uses and not moves(op):
            return _silent
        if not moves(op) or {ALIASES, RESIZES} & {*op.page.traits} or _keeps_numbers(op):
            return execution(op, self)
        return self._issued(op)

    def _noted(self, op: Op, step: Step) -> Step:
        def noted(env: Env) -> None:
            self.issue.before(op, env, self.core)
            step(env)

        return noted

    def _issued(self, op: Op) -> Step:
        samples = {value: _sample(value, self.choice.found) for value in op.results}

        def issued(env: Env) -> None:
            self.limits.before(op)
            self.issue.before(op, env, self.core)
            env.update(samples)
            self.issue.work(op, env, self.core)

        return issued


def _silent(env: Env) -> None:
    """What a program says while it runs is no part of what it issues."""


def _keeps_numbers(op: Op) -> bool:
    """Whether it is about arrays and structs of the scalar unit, which no other pipe reaches."""
    kinds = {op.page.operand(name).kind for name, _ in op.values()}
    return bool(kinds & SCALAR_STORAGE) and kinds <= SCALAR_STORAGE | {Kind.SCALAR, Kind.INDEX}


def _sample(value: Value, found: int) -> int | float:
    """A number of the type of a value."""
    return 1.0 if getattr(value.type, "is_float", False) else found


def dry_run(
    bound: Bound,
    target: Target,
    blocks: int,
    choice: TurnChoice = ALONE,
    unknown: frozenset[Value] = frozenset(),
    planned: Planned | None = None,
    *,
    checks: bool = False,
) -> Issue:
    """The entries of a function of one core, block after block.

    `checks`: the run may be no legal one. PtoError where a rule does not hold then, or too many
    instructions are issued.
    """
    issue, planned, shared = Issue(target), planned or placed(bound, target), bound.shared()
    limits = DryRunLimits(MOST_ISSUED)
    for index in range(blocks):
        core = Core(target, CPU_READING, index, blocks)
        issue.prepared(core, bound.func.body)
        facts = Facts(core.target, bound.every_number)
        run = DryRun(issue, choice, unknown, checks, core, facts, planned, limits)
        local = bound.local(InterpretedMachine(core), planned.addresses)
        run.block(bound.func.body)(shared | local)
    return issue


def dry_runs(bound: Bound, target: Target, blocks: int) -> Iterator[Issue]:
    """What the function issues on samples: unknown loops turn 0 to 5 times, branches go either way.

    What memory holds is the largest number that is legal there: with 0 many tiles would be empty. A
    run that breaks a rule is left out; where none is left the samples decide.
    """
    scalars = {arg for arg in bound.func.args if isinstance(arg.type, ScalarType)}
    unknown, planned = depends(bound.func, frozenset(scalars)), placed(bound, target)
    legal = False
    for choice in _choices(bound.func, unknown):
        held = (replace(choice, found=found) for found in HELD)
        for issue in _first_legal(bound, target, blocks, held, unknown, planned):
            legal = True
            yield issue
    if not legal:
        held = (TurnChoice(found=found) for found in HELD)
        yield from _first_legal(bound, target, blocks, held, frozenset(), planned)


def _first_legal(
    bound: Bound,
    target: Target,
    blocks: int,
    choices: Iterable[TurnChoice],
    unknown: frozenset[Value],
    planned: Planned,
) -> Iterator[Issue]:
    """The first of these runs that breaks no rule, if there is one."""
    for choice in choices:
        with suppress(PtoError):
            yield dry_run(bound, target, blocks, choice, unknown, planned, checks=True)
            return


def _choices(func: Func, unknown: frozenset[Value]) -> list[TurnChoice]:
    """All turns and ways, as far as there are loops and branches that depend on these values."""
    flows = [*_open(func, unknown)]
    loops = [op for op in flows if any(repeats(op, region) for region in op.regions)]
    ways = (True, False) if len(loops) < len(flows) else (True,)
    turns = TURNS if loops else TURNS[:1]
    return [TurnChoice(n, way) for n in turns for way in ways] if flows else []


def samples(args: Sequence[Value], *, whole: bool) -> Iterator[dict[str, Any]]:
    """Arguments that nobody has given: the first that are legal will do. Any: arrays and numbers.

    Front ends pass the index of the block last, or before the number of blocks. With `whole` arrays
    are None, to be as large as what the program views of them.
    """
    numbers = [arg.name for arg in args if isinstance(arg.type, ScalarType)]
    arrays = {arg.name: _sampled_array(arg, whole) for arg in args if arg.name not in numbers}
    real = {arg.name: 1.0 for arg in args if getattr(arg.type, "is_float", False)}
    for number in SAMPLES if numbers else SAMPLES[:1]:
        every = arrays | dict.fromkeys(numbers, number)
        yield every | real
        yield every | dict.fromkeys(numbers[-1:], 0) | real
        yield every | dict(zip(numbers[-2:], (0, 1), strict=False)) | real
    random = Random(0)
    for _ in range(MIXED if len(numbers) > 1 else 0):
        yield arrays | {name: random.choice((0, *SAMPLES)) for name in numbers} | real


def _sampled_array(arg: Value, whole: bool) -> Any:  # Any: an array
    kind = arg.type
    if not isinstance(kind, PtrType):
        return _blank(kind)
    return None if whole else np.zeros(1, f"V{kind.dtype.size}")


def _blank(kind: Type) -> Any:  # Any: as above
    """An array for an argument that is a tile or a view of known extents."""
    if not isinstance(kind, TileType | GlobalType | ConvTileType):
        return None
    extents = [*kind.valid] if isinstance(kind, TileType) else [*kind.shape]
    known = [extent for extent in extents if extent is not None]
    return np.zeros(known, f"V{kind.dtype.size}") if known == extents else None


def decided(func: Func, values: frozenset[Value]) -> bool:
    """Whether a loop or a branch depends on one of these."""
    return any(True for _ in _open(func, values))


def _open(func: Func, values: frozenset[Value]) -> Iterator[Op]:
    """The loops and branches that depend on one of these."""
    for op in func.body.walk():
        if isinstance(op, Op) and FLOW in op.page.uses and not values.isdisjoint(_deciding(op)):
            yield op


def _deciding(op: Op) -> Iterator[Value]:
    """What an op with regions depends on, and what in them decides whether they run again."""
    ends = (region.terminator for region in op.regions)
    yield from (value for _, value in op.values())
    for end in ends:
        yield from (v for name, v in end.values() if name != "values") if end else ()


def depends(func: Func, unknown: frozenset[Value]) -> frozenset[Value]:
    """The values that may depend on these, or on what is in memory."""
    found = set(unknown)
    before = -1
    while len(found) > before:  # until nothing is added: loops carry values back
        before = len(found)
        _depends(func.body, found)
    return frozenset(found)


def _depends(block: Block, found: set[Value]) -> None:
    for op in block.ops:
        inputs = [v for _, v in op.values()] if isinstance(op, Op) else []
        if isinstance(op, Op) and _from_memory(op):
            found.update(op.results)
        for region in op.regions:
            if not found.isdisjoint(inputs):
                found.update(region.args)
            _depends(region, found)
            if not found.isdisjoint(region.outcome):
                found.update((*region.args, *op.results))
        if not found.isdisjoint(inputs):
            found.update(op.results)


def _from_memory(op: Op) -> bool:
    return moves(op) and any(r.kind is Kind.SCALAR for r in op.page.results())
