"""The verifier: it evaluates the rules of each page over a program, for one target at a time.

Rules on static facts are evaluated here. Rules on run-time values are deferred to the executor,
which evaluates the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias, cast

from ptokit.analysis.cores import OF_THREADS, outside_of_threads
from ptokit.analysis.known import Case, Facts
from ptokit.analysis.ranges import Fact
from ptokit.analysis.violation import (
    PARTS,
    blamed,
    broken,
    elided,
    statically_reported,
    tolerated,
    tolerated_warning,
    unknown_op,
    unknown_type,
    violation,
    without_effect,
)
from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import UNKNOWN, Env, Many
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.environment import arguments
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALIASES, FLOW, RECEIVES, REGIONS, THREADS
from ptokit.isa.model.globaltypes import VIEW_RULES, GlobalType
from ptokit.isa.model.targets import Target, type_rules
from ptokit.isa.model.tiles import BOX_RULES, TILE_RULES, ConvTileType, RegisterType, TileType
from ptokit.isa.model.types import Elided, OpaqueType, Type


class Checker:
    """A check of one function for one target that collects diagnostics in text order.

    The bodies of loops and branches run on the checker (`isa.pages.control.ControlFlow`). Dead code
    is checked for types only. `facts` collect the abstract state and, by op, the rules to evaluate
    at run time. `early` are the diagnostics in `found` that do not concern a run.
    """

    def __init__(self, target: Target, numbers: Mapping[Value, Fact] | None = None) -> None:
        self.facts = Facts(target, dict(numbers or {}))
        self.found: list[Diagnostic] = []
        self.early: list[Diagnostic] = []
        self.dead: set[Block] = set()  # dead regions
        self.rooms: set[Value] = set()  # tiles with partial boxes, which only name bytes
        self.whole: Func | None = None
        self.threads = False  # whether threads run the current code
        self.sound: dict[tuple[int, bool], Type] = {}  # types without faults: of a part, or whole

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
        case = self.facts.case(op)
        env = self.facts.in_case(op, case)
        for rule, outcome in self.doubts(op, case, env):
            self.judge(op, rule, env, outcome)
        if self.rooms:
            self.in_boxes(op)
        self.facts.learn_in_case(op, env, case)
        if op.attrs:
            self.attributes(op)
        by_host = op.page.in_thread is not None and not self.threads
        if by_host and self.whole is not None and self.whole.launched:
            self.found.append(outside_of_threads(op))
        for result in op.results:
            traits = op.page.traits
            part = bool(traits) and not PARTS.isdisjoint(traits)
            self.value(result, part, RECEIVED if RECEIVES in traits else None)
        if op.regions:
            self.control(op, env)

    def opaque(self, op: OpaqueOp) -> None:
        self.found.append(unknown_op(op, self.threads))

    def attributes(self, op: Op) -> None:
        """Report attributes that the page does not have."""
        if not op.attrs.keys() <= _attributes(op.page):
            self.found += without_effect(op)

    def doubts(self, op: Op, case: Case, env: Env) -> Iterable[tuple[Rule, object]]:
        """Return the rules that an op violates or that are unknown."""
        return case.doubts(env)

    def judge(self, op: Op, rule: Rule, env: Env, outcome: object) -> None:
        """Report a broken rule, or defer an undecided one."""
        again = self.facts.open.setdefault(op, [])
        reported = outcome is False and statically_reported(op, rule, self.facts.target)
        if not (reported or rule.early or rule in again):  # already deferred
            again.append(rule)
        if outcome is False:
            behind = tolerated(rule, env) and not self.stated(op, rule)
            made = tolerated_warning if behind else violation
            self.found.append(made(op.page, rule, env, blamed(op, rule)))
            self.early += self.found[-1:] if rule.early else ()

    def stated(self, op: Op, rule: Rule) -> bool:
        """Return whether a rule breaks by stated types alone; compilers ignore `?` extents."""
        unsettled = any(value in self.facts.types for _, value in op.values())
        if rule.slug != "shape" or not self.facts.target.chip or not unsettled:
            return True
        return rule.holds(self.facts.as_stated().environment(op)) is False

    def control(self, op: Op, env: Env) -> None:
        """Check an op with regions; its body decides when they run."""
        given = {k: v.values if isinstance(v, Many) else v for k, v in env.items()}
        regions = tuple(CheckedRegion(self, block) for block in op.regions)
        if op.page.run is None:
            self.unexecuted(regions)
            return
        before, self.threads = self.threads, self.threads or THREADS in op.page.traits
        outcome = op.page.run(**arguments(op.page, given, {REGIONS: regions, FLOW: self}))
        self.threads = before
        for result, number in zip(op.results, outcome, strict=False):
            self.facts.numbers[result] = number

    def unexecuted(self, regions: tuple[CheckedRegion, ...]) -> None:
        """Check the regions of an op that no engine executes: they may run or not."""
        for region in regions:
            self.maybe(region, *(UNKNOWN for _ in region.block.args))

    def loop(
        self, lower: Fact, upper: Fact, step: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        """Check the body of a loop for any iteration."""
        if isinstance(lower, int) and isinstance(upper, int) and lower >= upper:
            self.never(region)
        else:
            region()
        return ()

    def repeat(
        self, carried: tuple[Fact, ...], before: CheckedRegion, after: CheckedRegion
    ) -> tuple[Fact, ...]:
        """Check a loop with an unknown trip count for any iteration."""
        more, *passed = before(*(UNKNOWN for _ in carried))
        if isinstance(more, int) and not more:
            self.never(after)
        else:
            self.maybe(after, *(UNKNOWN for _ in passed))
        return tuple(UNKNOWN for _ in passed)

    def maybe(self, region: CheckedRegion, *numbers: Fact) -> None:
        """Check a region that may run or not."""
        region(*numbers)

    def branch(self, condition: Fact, regions: tuple[CheckedRegion, ...]) -> tuple[Fact, ...]:
        """Check every side of a branch that the condition does not exclude."""
        for number, region in enumerate(regions):
            if isinstance(condition, int) and bool(condition) == bool(number):
                self.never(region)
            else:
                region()
        return ()

    def never(self, region: CheckedRegion) -> None:
        """Check a region that never runs, for types only."""
        self.dead.add(region.block)
        before, self.facts.blind = self.facts.blind, True
        region()
        self.facts.blind = before

    def region(self, block: Block, numbers: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Check a region with these arguments; return the values that its terminator passes."""
        for arg in block.args:
            self.value(arg)
        self.facts.numbers.update(zip(block.args, numbers, strict=False))
        self.block(block)
        return tuple(self.facts.numbers.get(value, UNKNOWN) for value in block.outcome)

    def in_boxes(self, op: Op) -> None:
        """Report operands that need whole boxes but only name bytes."""
        wrong = {v: n for n, v in op.values() if not op.page.operand(n).storage}
        for value in wrong.keys() & self.rooms:
            kind = cast(TileType, self.facts.type_of(value))  # as it is storage
            label, where = f"{op.name}: %{value.name}", op.span_of(wrong[value])
            self.found += type_errors(kind, self.facts.target, label, where)

    def is_storage(self, value: Value, kind: Type) -> bool:
        """Return whether the value only names bytes, which need not be whole boxes."""
        target, func = self.facts.target, self.whole
        if not target.kinds or func is None or not isinstance(kind, TileType):
            return False
        return _broken_rule(kind, target, False) in BOX_RULES and value in readings(func)

    def value(self, value: Value, part: bool = False, elsewhere: str | None = None) -> None:
        """Check the type of a newly defined value, or of a `part` of another tile.

        `elsewhere` says where the value comes from, if not from an op that allocates it.
        """
        kind, before = self.facts.type_of(value), len(self.found)
        if (id(kind), part) in self.sound:
            return
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
        if len(self.found) == before:
            self.sound[id(kind), part] = kind


@cache
def _attributes(page: type[Instr]) -> frozenset[str]:
    return frozenset(attr.name for attr in page.attrs)


def readings(func: Func) -> set[Value]:
    """Return the values that name the bytes of other tiles, whatever their boxes are."""
    ops = (op for op in func.ops if isinstance(op, Op) and ALIASES in op.page.traits)
    named = ((op.page, n, v) for op in ops for n, v in (*op.values(), *op.named_results()))
    return {v for page, n, v in named if page.operand(n).storage and page.operand(n).written}


class CheckedRegion(NamedTuple):
    """A region, callable from the bodies of control flow pages."""

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
    """Yield the first broken rule on a tile or view type; see `Rule.of_allocations`."""
    if (rule := _broken_rule(kind, target, part)) is not None:
        found = broken(label, rule, {"tile": kind, "view": kind, "machine": target}, span)
        unasked = elsewhere is not None and rule.of_allocations
        yield replace(found, severity=Severity.WARNING, help=elsewhere) if unasked else found


@lru_cache(maxsize=1024)
def _broken_rule(kind: Stored, target: Target, part: bool) -> Rule | None:
    if isinstance(kind, GlobalType):
        return next((r for r in VIEW_RULES if r.holds({"view": kind}) is False), None)
    empty = isinstance(kind, TileType) and not (kind.rows > 0 and kind.cols > 0)
    own = TILE_RULES if isinstance(kind, TileType) and not isinstance(kind, RegisterType) else ()
    rules = tuple(r for r in (*own, *type_rules(target)) if not (part and r.slug == LINES))
    return next((r for r in rules if empty or r.holds({"tile": kind}) is False), None)


LINES = "tile-alignment"  # a rule on the whole tile, not on a window
GIVEN = "the assembler checks this for tiles allocated in the function; this tile is an argument"
RECEIVED = "the assembler checks this for tiles allocated in the function; this tile is popped"
