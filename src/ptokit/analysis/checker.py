"""The verifier: runs the rules of each page over a program, for one target at a time.

What the text tells is evaluated now; what depends on values known only at run time is left to the
executor, which evaluates the very same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias, cast

from ptokit.analysis.cores import OF_THREADS
from ptokit.analysis.known import Facts
from ptokit.analysis.ranges import Fact
from ptokit.analysis.violation import (
    blamed,
    broken,
    elided,
    taken,
    told_before,
    tolerated,
    unknown_op,
    unknown_type,
    violation,
    without_effect,
)
from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import UNKNOWN, Env, Many
from ptokit.isa.formula.rules import Rule, doubtful
from ptokit.isa.lang.environment import arguments
from ptokit.isa.lang.traits import ALIASES, FLOW, RECEIVES, REGIONS, THREADS, WINDOW
from ptokit.isa.model.globaltypes import VIEW_RULES, GlobalType
from ptokit.isa.model.targets import Target, type_rules
from ptokit.isa.model.tiles import BOX_RULES, TILE_RULES, ConvTileType, TileType
from ptokit.isa.model.types import Elided, OpaqueType, Type


class Checker:
    """Checks one function for one target and collects diagnostics in text order.

    It executes control: bodies of loops and branches run on it (`isa.pages.control.ControlFlow`).
    Code that constants keep from running is checked for types only. `facts` keep what it learns,
    and by op the rules that the run has to look at again. `early` are those of `found` that do not
    concern a run.
    """

    def __init__(self, target: Target, numbers: Mapping[Value, Fact] | None = None) -> None:
        self.facts = Facts(target, dict(numbers or {}))
        self.found: list[Diagnostic] = []
        self.early: list[Diagnostic] = []
        self.dead: set[Block] = set()  # regions that never run
        self.rooms: set[Value] = set()  # tiles of parts of boxes: only their bytes count
        self.whole: Func | None = None
        self.threads = False  # whether what it looks at is run by threads

    def func(self, func: Func) -> None:
        self.threads, self.whole = OF_THREADS in func.attrs, func
        for arg in func.args:
            self.value(arg, elsewhere=None if func.flat else GIVEN)
        self.block(func.body)

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            self.opaque(op)
            return
        env = self.facts.environment(op)
        for rule, outcome in doubtful(self.rules(op), env):
            self.judge(op, rule, env, outcome)
        if self.rooms:
            self.in_boxes(op)
        self.facts.learn(op, env)
        if op.attrs:
            self.attributes(op)
        elsewhere = RECEIVED if RECEIVES in op.page.traits else None
        for result in op.results:
            self.value(result, WINDOW in op.page.traits, elsewhere)
        if op.regions:
            self.control(op, env)

    def opaque(self, op: OpaqueOp) -> None:
        self.found.append(unknown_op(op, self.threads))

    def attributes(self, op: Op) -> None:
        """Report those that its page does not have."""
        self.found += without_effect(op)

    def rules(self, op: Op) -> Iterable[Rule]:
        return op.page.rules_on(self.facts.target)

    def judge(self, op: Op, rule: Rule, env: Env, outcome: object) -> None:
        """A rule that does not hold, or of which it is not known."""
        again = self.facts.open.setdefault(op, [])
        told = outcome is False and told_before(op, rule, self.facts.target)
        if not (told or rule.early or rule in again):  # or of an earlier walk over the same region
            again.append(rule)
        if outcome is False:
            behind = tolerated(rule, env) and not self.stated(op, rule)
            made = taken if behind else violation
            self.found.append(made(op.page, rule, env, blamed(op, rule)))
            self.early += self.found[-1:] if rule.early else ()

    def stated(self, op: Op, rule: Rule) -> bool:
        """Whether a rule breaks by what types state; compilers do not look behind a `?`."""
        unsettled = any(value in self.facts.types for _, value in op.values())
        if rule.slug != "shape" or not self.facts.target.chip or not unsettled:
            return True
        return rule.holds(self.facts.as_stated().environment(op)) is False

    def control(self, op: Op, env: Env) -> None:
        """An op with regions: its body says when they run."""
        given = {k: v.values if isinstance(v, Many) else v for k, v in env.items()}
        regions = tuple(CheckedRegion(self, block) for block in op.regions)
        if op.page.run is None:
            before, self.threads = self.threads, self.threads or THREADS in op.page.traits
            self.unexecuted(regions)
            self.threads = before
            return
        outcome = op.page.run(**arguments(op.page, given, {REGIONS: regions, FLOW: self}))
        for result, number in zip(op.results, outcome, strict=False):
            self.facts.numbers[result] = number

    def unexecuted(self, regions: tuple[CheckedRegion, ...]) -> None:
        """The regions of an op that no engine executes: nobody knows when they run."""
        for region in regions:
            self.maybe(region, *(UNKNOWN for _ in region.block.args))

    def loop(
        self, lower: Fact, upper: Fact, step: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        """A loop, for any of its iterations."""
        if isinstance(lower, int) and isinstance(upper, int) and lower >= upper:
            self.never(region)
        else:
            region()
        return ()

    def repeat(
        self, carried: tuple[Fact, ...], before: CheckedRegion, after: CheckedRegion
    ) -> tuple[Fact, ...]:
        """A loop of which only the run knows how often it iterates, for any of its iterations."""
        more, *passed = before(*(UNKNOWN for _ in carried))
        if isinstance(more, int) and not more:
            self.never(after)
        else:
            self.maybe(after, *(UNKNOWN for _ in passed))
        return tuple(UNKNOWN for _ in passed)

    def maybe(self, region: CheckedRegion, *numbers: Fact) -> None:
        """A region that only the run knows to run."""
        region(*numbers)

    def branch(self, condition: Fact, regions: tuple[CheckedRegion, ...]) -> tuple[Fact, ...]:
        """A branch: every side, but for what the condition excludes."""
        for number, region in enumerate(regions):
            if isinstance(condition, int) and bool(condition) == bool(number):
                self.never(region)
            else:
                region()
        return ()

    def never(self, region: CheckedRegion) -> None:
        """Look at a region that never runs."""
        self.dead.add(region.block)
        before, self.facts.blind = self.facts.blind, True
        region()
        self.facts.blind = before

    def region(self, block: Block, numbers: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Walk over a region whose arguments are these numbers; what its terminator passes on."""
        for arg in block.args:
            self.value(arg)
        self.facts.numbers.update(zip(block.args, numbers, strict=False))
        self.block(block)
        return tuple(self.facts.numbers.get(value, UNKNOWN) for value in block.outcome)

    def in_boxes(self, op: Op) -> None:
        """Report storage where rows and columns count."""
        wrong = {v: n for n, v in op.values() if not op.page.operand(n).storage}
        for value in wrong.keys() & self.rooms:
            kind = cast(TileType, self.facts.type_of(value))  # as it is storage
            label, where = f"{op.name}: %{value.name}", op.span_of(wrong[value])
            self.found += type_errors(kind, self.facts.target, label, where)

    def is_storage(self, value: Value, kind: Type) -> bool:
        """Whether the value only names bytes that are not asked to be whole boxes."""
        target, func = self.facts.target, self.whole
        if not target.kinds or func is None or not isinstance(kind, TileType):
            return False
        return _broken_rule(kind, target, False) in BOX_RULES and value in readings(func)

    def value(self, value: Value, part: bool = False, elsewhere: str | None = None) -> None:
        """Check the type of a newly defined value, or of a `part` with the lines of another.

        `elsewhere` says where the value comes from, if not from an op that allocates it.
        """
        kind = self.facts.type_of(value)
        if self.is_storage(value, kind):
            self.rooms.add(value)
            return
        if isinstance(kind, Elided):
            self.found.append(elided(value))
        if isinstance(kind, OpaqueType) and not kind.foreign:
            self.found.append(unknown_type(value, kind))
        if isinstance(kind, Stored):
            target = self.facts.target
            why = elsewhere if target.kinds else None
            self.found += type_errors(kind, target, f"%{value.name}", value.span, part, why)


def readings(func: Func) -> set[Value]:
    """Values that name the bytes of others, whatever their boxes are."""
    ops = (op for op in func.ops if isinstance(op, Op) and ALIASES in op.page.traits)
    named = ((op.page, n, v) for op in ops for n, v in (*op.values(), *op.named_results()))
    return {v for page, n, v in named if page.operand(n).storage and page.operand(n).written}


class CheckedRegion(NamedTuple):
    """A region as control pages call it."""

    checker: Checker
    block: Block

    def __call__(self, *numbers: Fact) -> tuple[Fact, ...]:
        return self.checker.region(self.block, numbers)


Stored: TypeAlias = TileType | ConvTileType | GlobalType


def type_errors(
    kind: Stored,
    target: Target,
    label: str,
    span: Span | None,
    part: bool = False,
    elsewhere: str | None = None,
) -> Iterator[Diagnostic]:
    """The first rule of types of tiles and views that one breaks; see `Rule.of_allocations`."""
    if (rule := _broken_rule(kind, target, part)) is not None:
        found = broken(label, rule, {"tile": kind, "view": kind, "machine": target}, span)
        unasked = elsewhere is not None and rule.of_allocations
        yield replace(found, severity=Severity.WARNING, help=elsewhere) if unasked else found


@lru_cache(maxsize=1024)
def _broken_rule(kind: Stored, target: Target, part: bool) -> Rule | None:
    if isinstance(kind, GlobalType):
        return next((r for r in VIEW_RULES if r.holds({"view": kind}) is False), None)
    empty = isinstance(kind, TileType) and not (kind.rows > 0 and kind.cols > 0)
    own = TILE_RULES if isinstance(kind, TileType) else ()
    rules = tuple(r for r in (*own, *type_rules(target)) if not (part and r.slug == LINES))
    return next((r for r in rules if empty or r.holds({"tile": kind}) is False), None)


LINES = "tile-alignment"  # of the tile that a window is a part of
GIVEN = "the assembler checks this for tiles allocated in the function; this tile is an argument"
RECEIVED = "the assembler checks this for tiles allocated in the function; this tile is popped"
