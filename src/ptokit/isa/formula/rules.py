"""Rules: formulas with the targets and conditions under which they hold, and their slug.

A page lists formulas; `on` restricts them to targets, `when` to a condition, `named` gives a slug
and advice of its own. Without a name the slug follows from what the formula mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from typing import Any, TypeAlias

from ptokit.diagnostics.diagnostic import Judge
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Env, Expr, Value, fields, operators

ASSEMBLER, HEADERS, BOARDS = Judge
COMPILED = (HEADERS, BOARDS)  # for rules that the assembler does not check
CPU, A2A3, A5 = "cpu", "a2a3", "a5"
HARDWARE = (A2A3, A5)
# targets that inherit from A5
KIRIN, KIRIN9030, KIRINX90 = "kirin", "kirin9030", "kirinX90"
LEVEL12, LEVEL3 = "levels 1 and 2", "level 3"  # of a program: who assigns addresses
# traits of chips, which the declaration of a target lists
LEFT_ZZ, LEFT_NZ = "left tiles are zz", "left tiles are nz"
F16_SUMS, NO_WIDE_CASTS = "sums of f16", "no conversions of 64 bits"
SPACED_BIASES = "biases of f16 in four bytes each"

# what a formula mentions -> the slug of the diagnostic it raises, first match wins
ASPECTS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"address"}), "address-out-of-range"),
    (frozenset({"dtype"}), "element-type"),
    (frozenset({"layout", "blayout", "slayout", "fractal", "boxed"}), "layout"),
    (frozenset({"loc"}), "location"),
    (frozenset({"rows", "cols", "valid", "shape", "stride", "size", "c0"}), "shape"),
)


@dataclass(frozen=True, eq=False)
class Rule:
    """One constraint: on `targets`, where all `conditions` hold, `formula` must hold.

    The rule applies to targets of these names and to targets that inherit from them; None: to every
    target. The conditions are those of the surrounding `when`s, outermost first. `help` is the
    advice for a violation; `slug` names the diagnostic. Compilers look at types alone: where a type
    says `?`, only the weaker formula `enough` must hold, see `of_types`. With `of_allocations`, a
    violation is only a warning for a tile that the function does not allocate.
    """

    formula: Expr
    name: str = ""
    targets: tuple[str, ...] | None = None
    conditions: tuple[Expr, ...] = ()
    help: str | None = None
    warns: bool = False
    by: tuple[Judge, ...] = ()
    enough: Expr | None = None
    of_allocations: bool = False

    def __post_init__(self) -> None:
        if self.targets == ():
            raise TypeError(
                f"the rule `{self}` holds on no target: the targets named around it have none in "
                "common; take it out, or name targets that have it"
            )

    @cached_property
    def slug(self) -> str:
        """The slug of the diagnostic: `name`, or else that of what the formula mentions."""
        return self.name or slug_of(self.formula)

    @property
    def required(self) -> bool:
        """True if a run requires the rule: it neither warns nor belongs to the assembler alone."""
        return not (self.warns or self.early)

    @property
    def early(self) -> bool:
        """True for a rule of the assembler alone: it compares text, not numbers of a run."""
        return self.by == (ASSEMBLER,)

    def judged(self, judge: Judge | None) -> Rule:
        """Return the rule for one judge: it only warns if other judges alone refuse."""
        if judge is None or not self.by:
            return self
        return replace(self, warns=judge not in self.by)

    @cached_property
    def condition(self) -> Expr | None:
        """All conditions as one formula; None: the rule always applies."""
        return both(*self.conditions) if self.conditions else None

    def holds(self, env: Env) -> Value:
        """Return True, False, UNKNOWN (deferred to run time), or an engine's symbolic condition."""
        met = True if self.condition is None else self.condition.eval(env)
        if met is ABSENT or met is False:
            return True
        result = self.formula.eval(env) if met is True else self._implied.eval(env)
        return True if result is ABSENT else result

    @cached_property
    def _implied(self) -> Expr:
        assert self.condition is not None
        return ~self.condition | self.formula

    def __str__(self) -> str:
        if self.condition is None:
            return str(self.formula)
        return f"{self.formula}, when {self.condition}"


def doubtful(rules: Iterable[Rule], env: Env) -> Iterator[tuple[Rule, Value]]:
    """Yield the rules that are violated or unknown, each with its outcome.

    Consecutive rules of one `when` share one evaluation of its condition. Rules about valid regions
    do not apply to an operation on empty tiles: vector cores without a share of the work run the
    same instructions on empty tiles.
    """
    last, met, nothing = None, True, None
    for rule in rules:
        if conditions := rule.conditions:
            if (outer := conditions[0]) is not last:
                last, met = outer, outer.eval(env)
            if met is False or met is ABSENT:
                continue
        known = not conditions or (met is True and len(conditions) == 1)
        outcome = rule.formula.eval(env) if known else rule.holds(env)
        if outcome is UNKNOWN:
            outcome = holds_in_a_layout(rule, env)
        if outcome is True or outcome is ABSENT:
            continue
        nothing = idle(env) if nothing is None else nothing
        if nothing and any("valid" in f.path or "matrix" in f.path for f in fields(rule.formula)):
            continue
        yield rule, outcome


def holds_in_a_layout(rule: Rule, env: Env) -> Value:
    """Return what a rule says; True if it is unknown and legal in a layout of ambiguous views."""
    outcome = rule.holds(env)
    if outcome is UNKNOWN and any(rule.holds(e) is True for e in in_each_layout(env)):
        return True
    return outcome


def in_each_layout(env: Env) -> Iterator[Env]:
    """Yield the operands once for each layout of ambiguous views: one that is legal is enough."""
    ways = {name: _ways(value) for name, value in env.items()}
    several = {name: kinds for name, kinds in ways.items() if kinds}
    for kinds in product(*several.values()) if several else ():
        yield {**env, **dict(zip(several, kinds, strict=True))}


def _ways(value: object) -> tuple[object, ...]:
    """Return a view in each layout that its numbers imply; () for anything else."""
    kind: object = getattr(value, "type", value)  # of an engine's handle
    return getattr(kind, "in_each_layout", ()) if hasattr(type(kind), "matrix") else ()


def idle(env: Env) -> bool:
    """Return whether all tiles of an operation are known to be empty; without tiles, its views."""
    values = list[object](env.values())
    regions = [r for r in map(_valid, values) if r] or [r for r in map(_shape, values) if r]
    return bool(regions) and all(any(type(n) is int and n == 0 for n in r) for r in regions)


def _valid(value: object) -> tuple[object, ...]:
    """Return the extents of the valid region of a tile; () for anything else."""
    valid = getattr(value, "valid", None)
    return () if valid is None else (valid.rows, valid.cols)


def _shape(value: object) -> tuple[object, ...]:
    """Return the extents of a view; () for anything else."""
    return getattr(value, "shape", ()) if hasattr(type(value), "matrix") else ()


class RuleGroup:
    """Rules with something in common, such as a condition; made when a page is checked."""

    def __init__(self, items: Rules, **common: Any) -> None:  # Any: fields of `Rule`
        self.items = items
        self.common = common

    def __iter__(self) -> Iterator[Rule]:
        return rules_of(self)


Ruled: TypeAlias = "Expr | Rule | RuleGroup | Iterable[Ruled]"
Rules: TypeAlias = "Iterable[Ruled]"
COMMON = tuple(Rule.__annotations__)[1:]  # the fields that a group may give to its rules


def rules_of(items: Ruled, **outer: Any) -> Iterator[Rule]:  # Any: fields of `Rule`
    """Flatten formulas, rules and groups of them into rules with the fields `outer`."""
    match items:
        case Expr():
            yield Rule(items, **outer)
        case Rule():
            own = {name: getattr(items, name) for name in COMMON if getattr(items, name)}
            yield Rule(items.formula, **_within(outer, own))
        case RuleGroup():
            yield from rules_of(items.items, **_within(outer, items.common))
        case _:
            for item in items:
                yield from rules_of(item, **outer)


def _within(outer: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:  # Any: as above
    """Return the fields of rules in two groups: conditions add up, targets are the common ones."""
    fields = inner | outer
    if "conditions" in outer and "conditions" in inner:
        fields["conditions"] = outer["conditions"] + inner["conditions"]
    if "targets" in outer and "targets" in inner:
        fields["targets"] = _common(outer["targets"], inner["targets"])
    return fields


def on(targets: str | tuple[str, ...], *items: Ruled) -> RuleGroup:
    """Restrict rules to these targets and to targets that inherit from them."""
    return RuleGroup(items, targets=(targets,) if isinstance(targets, str) else targets)


def _common(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the narrower name of each related pair, such as "a5, level 3" for "a5"."""
    pairs = ((a, b) for b in others for a in names)
    found = (b if a == b or b.startswith(f"{a}, ") else a for a, b in pairs if _related(a, b))
    return tuple(dict.fromkeys(found))


def _related(a: str, b: str) -> bool:
    return a == b or b.startswith(f"{a}, ") or a.startswith(f"{b}, ")


def at(level: str, targets: tuple[str, ...], *items: Ruled) -> RuleGroup:
    """Restrict rules to these targets with this program level or this trait of the chip."""
    return on(tuple(f"{target}, {level}" for target in targets), *items)


def without(trait: str, targets: tuple[str, ...], *items: Ruled) -> RuleGroup:
    """Restrict rules to these targets, except targets that inherit from them and have the trait."""
    return on(tuple(f"{target}, not {trait}" for target in targets), *items)


def when(condition: Expr, *items: Ruled) -> RuleGroup:
    """Restrict rules to operands for which `condition` holds."""
    return RuleGroup(items, conditions=(condition,))


def named(slug: str, *items: Ruled, help: str | None = None) -> RuleGroup:
    """Give rules the slug `slug` and the advice `help`."""
    return RuleGroup(items, name=slug, **({} if help is None else {"help": help}))


def warns(*items: Ruled) -> RuleGroup:
    """Make rules warn instead of refuse."""
    return RuleGroup(items, warns=True)


def by(judges: Judge | tuple[Judge, ...], *items: Ruled) -> RuleGroup:
    """Let only these judges refuse programs that violate the rules."""
    return RuleGroup(items, by=(judges,) if isinstance(judges, Judge) else judges)


def of_allocations(*items: Ruled) -> RuleGroup:
    """Restrict rules to tiles that a function allocates; see `Rule`."""
    return RuleGroup(items, of_allocations=True)


def of_types(*items: Ruled, enough: Expr) -> RuleGroup:
    """Make violations through a `?` of a type a warning on chips, if `enough` holds.

    Elements of dst that are computed from undefined elements are then undefined.
    """
    return RuleGroup(items, enough=enough)


def either(*formulas: Expr) -> Expr:
    """Return the formula that at least one of the formulas holds."""
    return reduce(Expr.__or__, formulas)


def both(*formulas: Expr) -> Expr:
    """Return the formula that all of the formulas hold."""
    return reduce(Expr.__and__, formulas)


def slug_of(formula: Expr) -> str:
    """Return the slug for the properties that a formula mentions."""
    mentioned = list(fields(formula))
    if any(not f.path for f in mentioned):  # an index, a scalar or an attribute by its own value
        if "%" in operators(formula):
            return "offset-misaligned"
        return "window-out-of-bounds" if "+" in operators(formula) else "operand-value"
    words = {step for f in mentioned for step in f.path}
    for aspect, slug in ASPECTS:
        if words & aspect:
            return slug
    return "operand-value"
