"""Witnesses: operands that meet every rule of a page, and operands that break exactly one.

A guided local search over the knobs of `space`. A goal is a list of constraints; each step takes a
broken one, tries the values that its own formula suggests for the knobs it mentions, and keeps the
best. Broken constraints grow heavier while the search is stuck. Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from random import Random
from typing import Any

from evaluation import Env, distance, suggested
from space import Knob, Space, State, illegal, limits, unwieldy

from fuzz.scale import sampled, scaled
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Expr, fields
from ptokit.isa.formula.rules import Rule, doubtful, idle
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import NOT_ON_TARGET, Instr
from ptokit.isa.model.targets import TARGETS, Target
from ptokit.isa.model.types import Kind

SIDES = ("rows", "cols")
CHOICES = ("fractal", "rank", "count")  # numbers that are one of a few
EXTENTS = tuple(f"n{i}" for i in range(6))
EMPTYING = ("vrows", "vcols", "rank", "given", *EXTENTS)  # to no elements
STEPS, STARTS, WALKS = 50, 8, 32


# --- constraints ---


LONG = 11  # of a page with more rules a sample is tried


@dataclass(eq=False)
class Constraint:
    """Something a witness must meet; `cost` is 0 where it does. `exprs` suggest values."""

    knobs: tuple[Knob, ...]
    cost: Callable[[Env], float]
    exprs: tuple[Expr, ...] = ()
    weight: float = 1
    known: dict[tuple[Any, ...], float] = field(default_factory=dict[tuple[Any, ...], float])

    @cached_property
    def about(self) -> tuple[Knob, ...]:
        """The knobs that the cost depends on: a location may decide a layout (the Left alias)."""
        layouts = (n for n, word in self.knobs if word == "layout")
        return tuple(dict.fromkeys((*self.knobs, *((n, "loc") for n in layouts))))

    def at(self, state: State, env: Callable[[], Env]) -> float:
        """The cost at a state; `env` is asked for only where the knobs have new values."""
        key = tuple([state.get(k) for k in self.about])
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.cost(env())
        return found


def _safely(cost: Callable[[Env], float]) -> Callable[[Env], float]:
    """Operands so odd that a property has no value meet nothing."""

    def safe(env: Env) -> float:
        try:
            return cost(env)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return 9

    return safe


def knobs_of(space: Space, *exprs: Expr) -> tuple[Knob, ...]:
    mentioned = (k for e in exprs for f in fields(e) for k in space.behind(f))
    return tuple(dict.fromkeys(mentioned))


def wanted(space: Space, expr: Expr, want: bool, weight: float = 1) -> Constraint:
    """The formula must have this very value: neither absent nor unknown."""
    check = expr.eval

    def cost(env: Env) -> float:
        return 0 if check(env) is want else max(1.0, distance(expr, env, want))

    return Constraint(knobs_of(space, expr), _safely(cost), (expr,), weight)


def kept(space: Space, rule: Rule) -> Constraint:
    """The rule must hold, be it because it does not apply."""
    exprs = (rule.formula,) if rule.condition is None else (rule.formula, rule.condition)

    def cost(env: Env) -> float:
        if rule.holds(env) is not False:
            return 0
        away = distance(rule.formula, env, True)
        if rule.condition is not None:
            away = min(away, distance(rule.condition, env, False))
        return max(1.0, away)

    return Constraint(knobs_of(space, *exprs), _safely(cost), exprs)


def busy(space: Space) -> Constraint:
    """Some tile or view has elements, so the operation has something to do."""
    extents = tuple(k for k in space.domains if k[1] in EMPTYING)
    return Constraint(extents, _safely(lambda env: float(idle(env))))


def legal_types(space: Space) -> Iterator[Constraint]:
    """Types meet their own rules; last, what is given up first: all fits into the memories."""
    words = ("loc", "dtype", "rows", "cols", "vrows", "vcols", "layout", "fractal", "given")
    words += ("rank", "n3", "n4")
    for name in (*space.tiles(), *(n for n, o in space.operands.items() if o.kind is Kind.GLOBAL)):
        knobs = tuple((name, w) for w in words if (name, w) in space.domains)

        def cost(env: Env, name: str = name) -> float:
            return illegal(env[name])

        yield Constraint(knobs, cost)
    words = ("loc", "dtype", "rows", "cols", "layout", "given")
    every = tuple(k for k in space.domains if k[1] in words)
    convs = [k for n, o in space.operands.items() if o.kind is Kind.CONV for k in space.knobs(n)]
    knobs = tuple(dict.fromkeys((*every, *convs)))
    yield Constraint(knobs, lambda env: unwieldy(env.values(), space.target))


# --- the search ---


@dataclass
class Search:
    """One page on one target: its constraints, and the good witnesses found so far."""

    page: type[Instr]
    target: Target
    pool: list[State] = field(default_factory=list[State])
    hints: dict[Rule, State] = field(default_factory=dict[Rule, State])  # from other targets

    def __post_init__(self) -> None:
        self.space = Space(self.page, self.target)
        self.rules = self.page.rules_on(self.target)
        self.keep = {rule: kept(self.space, rule) for rule in self.rules}
        self.types = tuple(legal_types(self.space))

    def good(self, rule: Rule) -> State | None:
        """A state in which every rule holds and this one applies."""
        aim = [wanted(self.space, rule.formula, True), *self._applies(rule)]
        return self.matching(aim, f"good {rule}", {})

    def bad(self, rule: Rule, near: State) -> State | None:
        """A state in which this rule is broken and every other one holds."""
        aim = [wanted(self.space, rule.formula, False, 2), *self._applies(rule)]
        keep = [c for r, c in self.keep.items() if r is not rule]
        starts = [near, *self._closest(aim, self.pool)]
        if rule in self.hints:
            starts.insert(0, self.hints[rule])
        large = any(limits(rule.formula))
        found = self._search(aim, keep, f"bad {rule}", starts, (), large=large)
        if found is None or any(doubtful([rule], self.space.env(found))):
            return found  # else its tiles are empty: rules about valid regions do not matter then
        aim.append(busy(self.space))
        states = (near, *self.pool, self.space.start)
        starts = self._closest(aim, [s for s in states if not idle(self.space.env(s))])
        return self._search(aim, keep, f"bad {rule}, busy", starts, (), large=large)

    def matching(self, aim: list[Constraint], label: str, fixed: State) -> State | None:
        """A state that meets every rule and these constraints, with these knobs as given."""
        starts = self._closest(aim, [{**s, **fixed} for s in (*self.pool, self.space.start)])
        found = self._search(aim, list(self.keep.values()), label, starts, tuple(fixed))
        if found is not None and found not in self.pool:
            self.pool.append(found)
        return found

    def meets(self, state: State) -> bool:
        """Whether every rule holds and the types are legal."""
        env = self.space.env(state)
        return not any(c.cost(env) for c in (*self.keep.values(), *self.types))

    def _applies(self, rule: Rule) -> list[Constraint]:
        return [] if rule.condition is None else [wanted(self.space, rule.condition, True, 2)]

    def _closest(self, aim: list[Constraint], states: list[State]) -> list[State]:
        """The states that miss the aim least; the states of the pool meet all else."""
        envs = [self.space.env(s) for s in states]
        costs = [sum(c.cost(env) for c in aim) for env in envs]
        random = Random(len(states))
        order = sorted(range(len(states)), key=lambda i: (costs[i], random.random()))
        return [states[i] for i in order[:STARTS]]

    def _search(
        self,
        aim: list[Constraint],
        keep: list[Constraint],
        label: str,
        starts: list[State],
        frozen: tuple[Knob, ...],
        *,
        large: bool = False,
    ) -> State | None:
        """The first walk that arrives; all but the first few may be unwieldy."""
        random = Random(f"{self.page.__name__} {self.target} {label}")
        for attempt in range(WALKS):
            fits = self.types if attempt < STARTS // 4 and not large else self.types[:-1]
            start, goal = starts[attempt % len(starts)], [*aim, *keep, *fits]
            found = Walk(self.space, goal, start, random, frozen).run(STEPS)
            if found is not None:
                return found
        return None


class Walk:
    """A local search from one state."""

    def __init__(
        self,
        space: Space,
        goal: list[Constraint],
        start: State,
        random: Random,
        frozen: tuple[Knob, ...],
    ) -> None:
        self.space, self.goal, self.random, self.frozen = space, goal, random, frozen
        self.state, self.env = dict(start), space.env(start)
        self.costs = [c.at(self.state, lambda: self.env) for c in goal]
        self.weights = [c.weight for c in goal]
        self.touching: dict[Knob, list[int]] = {k: [] for k in space.domains}
        for number, constraint in enumerate(goal):
            for knob in constraint.about:
                if knob in self.touching:
                    self.touching[knob].append(number)
        self.recent: list[Knob] = []

    @classmethod
    def holding(cls, found: Search, state: State, random: Random) -> Walk:
        """A walk from a state that meets every rule."""
        return cls(found.space, [*found.keep.values(), *found.types], state, random, ())

    def stays(self, move: Mapping[Knob, Any]) -> bool:
        """Take a move if every rule still holds."""
        _, costs = self._after(move, 0, 0)
        held = not any(costs.values())
        if held:
            self._take(move, costs)
        return held

    def run(self, steps: int) -> State | None:
        for _ in range(steps):
            broken = [i for i, cost in enumerate(self.costs) if cost]
            if not broken:
                return self.state
            self._step(self.random.choice(broken))
            broken = [i for i, cost in enumerate(self.costs) if cost]
        return None if any(self.costs) else self.state

    def _step(self, number: int) -> None:
        best: list[tuple[Mapping[Knob, Any], dict[int, float]]] = []
        least = float("inf")
        for move in self._moves(self.goal[number]):
            tabu = 0.6 if any(k in self.recent for k in move) else 0
            change, costs = self._after(move, tabu + 0.01 * len(move), least)
            if change < least - 1e-9:
                least, best = change, []
            if change <= least + 1e-9:
                best.append((move, costs))
        if not best:
            return
        if least >= 0:
            for i, cost in enumerate(self.costs):
                self.weights[i] += 1 if cost else 0
        move, costs = self.random.choice(best)
        self._take(move, costs)
        self.recent = [*self.recent, *move][-4:]

    def _take(self, move: Mapping[Knob, Any], costs: Mapping[int, float]) -> None:
        self.state.update(move)
        self.env = self._moved(move, self.state)
        for i, cost in costs.items():
            self.costs[i] = cost

    def _moved(self, move: Mapping[Knob, Any], state: State) -> Env:
        env = self.env
        for name in dict.fromkeys(k[0] for k in move):
            env = self.space.rebuilt(env, name, state)
        return env

    def _after(
        self, move: Mapping[Knob, Any], change: float, least: float
    ) -> tuple[float, dict[int, float]]:
        """How much worse the goal is missed after a move; not to the end if more than `least`.

        What is met now can only add, so it is asked last.
        """
        changed, made = {**self.state, **move}, list[Env]()

        def env() -> Env:
            if not made:
                made.append(self._moved(move, changed))
            return made[0]

        touched = dict.fromkeys(i for k in move for i in self.touching[k])
        after: dict[int, float] = {}
        for met in (False, True):
            for i in touched:
                if (self.costs[i] == 0) is met:
                    after[i] = self.goal[i].at(changed, env)
                    change += self.weights[i] * (after[i] - self.costs[i])
                    if met and change > least + 1e-9:
                        return change, after
        return change, after

    def _moves(self, constraint: Constraint) -> Iterator[dict[Knob, Any]]:
        for field_ in (f for e in constraint.exprs for f in fields(e)):
            if field_.path == ("made_of_boxes",):  # all of its extents, or none
                yield self.space.two_boxes(field_.operand, self.state)
        for knob in constraint.knobs:
            if knob in self.frozen:
                continue
            now = self.state[knob]
            for value in self._values(knob, constraint):
                if value == now and type(value) is type(now):
                    continue
                yield {knob: value}
                yield from self._together(knob, now, value)
                yield from self._traded(knob, value)

    def _together(self, knob: Knob, now: Any, value: Any) -> Iterator[dict[Knob, Any]]:
        """The same change on every operand that agrees, and on the valid region with the shape."""
        name, word = knob
        whole = word in SIDES and self.state.get((name, f"v{word}")) == now
        if whole and (name, f"v{word}") not in self.frozen:
            yield {knob: value, (name, f"v{word}"): value}
        if word == "layout" and (name, "fractal") in self.space.domains:
            yield {knob: value, (name, "fractal"): 32, (name, "cols"): 16, (name, "vcols"): 2}
        same = [k for k in self.space.domains if k[1] == word and self.state[k] == now]
        same = [k for k in same if k not in self.frozen]
        if len(same) > 1 and word not in ("value", "given", "loc"):
            yield dict.fromkeys(same, value)
            if whole:
                valid = [k for k in self.space.domains if k[1] == f"v{word}"]
                yield dict.fromkeys([*same, *(k for k in valid if self.state[k] == now)], value)

    def _traded(self, knob: Knob, value: Any) -> Iterator[dict[Knob, Any]]:
        """What one extent of a view gains another loses: as many elements as before."""
        now = self.state[knob]
        if knob[1] not in EXTENTS or not isinstance(now, int) or not isinstance(value, int):
            return
        for other in ((knob[0], word) for word in EXTENTS if word != knob[1]):
            before = self.state.get(other)
            if value and isinstance(before, int) and now * before % value == 0:
                yield {knob: value, other: now * before // value}

    def _values(self, knob: Knob, constraint: Constraint) -> list[Any]:
        domain, now = self.space.domains[knob], self.state[knob]
        if not isinstance(now, int) or isinstance(now, bool) or knob[1] in CHOICES:
            return list(domain)
        numbers = [n for n in domain if isinstance(n, int)]
        few = self.random.sample(numbers, min(5, len(numbers)))
        ideas = [v for e in constraint.exprs for v in suggested(e, self.env, now)]
        if not constraint.exprs:
            ideas = _near_shape(knob, self.env)
        least = min(numbers) if min(numbers) >= 0 else -(1 << 20)
        others = [n for n in domain if not isinstance(n, int)]
        return list(dict.fromkeys([*others, *(v for v in [*ideas, *few] if v >= least)]))


def _near_shape(knob: Knob, env: Env) -> list[int]:
    """Extents that are whole boxes and lines, few or enough for the valid region."""
    kind = env[knob[0]]
    if kind is ABSENT or kind is UNKNOWN or knob[1] not in ("rows", "cols", "vrows", "vcols"):
        return []
    side = knob[1].removeprefix("v")
    wanted = (getattr(kind, side), getattr(kind.valid, side) or 1)
    steps = dict.fromkeys((1, 2, 16, getattr(kind.box, side), kind.c0))
    return [k * -(-extent // k) for k in steps for extent in (1, *wanted)]


# What is legal where the rules are many is mostly legal where they are few.
HARDEST = ("a5", "a2a3", "cpu")


@cache
def search(page: type[Instr], target: str) -> Search:
    return Search(page, TARGETS[target])


def refusals(page: type[Instr], target: str) -> list[Rule]:
    """The rule of an instruction that a target lacks: nothing satisfies it there."""
    return [r for r in search(page, target).rules if r.slug == NOT_ON_TARGET]


@dataclass(frozen=True)
class Pair:
    """A good and a bad witness of a rule; None where none was found."""

    rule: Rule
    good: State | None
    bad: State | None


def _key(page: type[Instr], rule: Rule) -> tuple[object, ...]:
    """The same for rules of the same words about operands of the same kinds."""
    about = {f.operand for f in fields(rule.formula)}
    return str(rule), tuple((o.name, o.kind, o.role) for o in page.operands if o.name in about)


@cache
def _first() -> dict[tuple[object, ...], type[Instr]]:
    """The page that says a rule first; the members of a family share most of them."""
    found: dict[tuple[object, ...], type[Instr]] = {}
    for page in pages():
        for rule in page.all_rules:
            found.setdefault(_key(page, rule), page)
    return found


def tried(page: type[Instr], rules: Sequence[Rule]) -> Sequence[Rule]:
    """The rules to find witnesses of: in a sample those that no page before has."""
    if scaled(1) > 1:
        return rules
    new = [r for r in rules if _first().get(_key(page, r), page) is page] or rules[:1]
    return sampled(new, 6) if len(new) > LONG else new


@cache
def witnesses(page: type[Instr], target: str) -> tuple[Pair, ...]:
    """Both witnesses of every rule of a page on a target; in `make test` of a sample."""
    found = search(page, target)
    for stricter in HARDEST[: HARDEST.index(target)]:
        others = witnesses(page, stricter)
        found.hints |= {p.rule: p.bad for p in others if p.bad is not None}
        found.pool += [p.good for p in others if p.good is not None and p.rule in found.keep]
    found.pool = [s for s in found.pool if found.meets(s)]
    pairs: list[Pair] = []
    for rule in tried(page, found.rules):
        good = found.good(rule)
        bad = None if good is None else found.bad(rule, good)
        pairs.append(Pair(rule, good, bad))
    return tuple(pairs)
