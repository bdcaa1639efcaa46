"""The rows of the pair tables: the element types each path of a page takes, read off its rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, TypeAlias

from evaluation import Env
from space import Knob, Space, State
from witness import Constraint, Search, knobs_of

from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.instr import Instr, Path, Role
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.types import Kind
from ptokit.values.dtypes import DTYPES

TYPED = (Kind.TILE, Kind.GLOBAL, Kind.CONV)
About: TypeAlias = "list[tuple[frozenset[Knob], Rule]]"  # a rule and the knobs it depends on
MOST = 24  # rows tried where a path takes nearly everything


@dataclass(frozen=True)
class Row:
    """A path with the element types of its ends, and whether optional operands are given."""

    path: Path | None
    fixed: tuple[tuple[Knob, Any], ...]  # Any: a location, an element type, a bool

    def __str__(self) -> str:
        choices = " ".join(f"{name}.{word}={value}" for (name, word), value in self.fixed)
        return choices if self.path is None else f"{self.path} {choices}"


class Stages:
    """Knobs chosen one after the other, each with the rules that are decided from then on."""

    def __init__(self, found: Search, locs: State, chosen: list[Knob]) -> None:
        self.space, self.locs = found.space, locs
        about = [(frozenset(_knobs(self.space, r)), r) for r in found.rules]
        self.mentioned = {k for knobs, _ in about for k in knobs}
        self.order = [*chosen, *_free(self.space, about, {*locs, *chosen})]
        self.decided: list[list[Rule]] = []
        for depth in range(len(self.order) + 1):
            settled = {*locs, *self.order[:depth]}
            self.decided.append([r for knobs, r in about if knobs <= settled])
            about = [(knobs, r) for knobs, r in about if not knobs <= settled]

    def hold(self, chosen: State, env: Env) -> bool:
        """Whether the rules decided by the last knob hold."""
        return all(rule.holds(env) is not False for rule in self.decided[len(chosen)])

    def set_next(self, chosen: State, env: Env, value: Any) -> tuple[State, Env]:
        """The next knob at this value. Any: a value of any domain."""
        knob = self.order[len(chosen)]
        after = {**chosen, knob: value}
        return after, self.space.rebuilt(env, knob[0], {**self.space.start, **self.locs, **after})

    def extends(self, chosen: State, env: Env) -> bool:
        """Whether the knobs that are left can be set such that every rule holds."""
        if not self.hold(chosen, env):
            return False
        if len(chosen) == len(self.order):
            return True
        domain = self.space.domains[self.order[len(chosen)]]
        alike = [v for v in chosen.values() if v in domain]
        every = dict.fromkeys((*alike, *domain))
        return any(self.extends(*self.set_next(chosen, env, v)) for v in every)


def ends(page: type[Instr]) -> tuple[str, ...]:
    """The operands between which data moves: the first that is read, the first that is written."""
    typed = [o for o in page.operands if o.kind in TYPED]
    read = [o.name for o in typed if o.role is Role.IN][:1]
    return tuple(dict.fromkeys((*read, *[o.name for o in typed if o.written][:1])))


def rows(page: type[Instr], target: str) -> list[Row]:
    """Every row that the rules about locations and element types admit."""
    found = _search(page, target)
    paths = [p for p in page.paths if target in p.on] or [None]
    return [row for path in paths for row in _few(_rows_of(found, path), f"{path} {target}")]


@cache
def _search(page: type[Instr], target: str) -> Search:
    """One that knows only the rows before, whatever else was looked for."""
    return Search(page, TARGETS[target])


def _few(every: Iterator[Row], seed: str) -> list[Row]:
    found = list(every)
    return found if len(found) <= 4 * MOST else Random(seed).sample(found, MOST)


def _rows_of(found: Search, path: Path | None) -> Iterator[Row]:
    names = ends(found.page)
    locs: State = {}
    if path is not None:
        locs = {(names[0], "loc"): path.source, (names[1], "loc"): path.target}
    types: list[Knob] = [(n, "dtype") for n in names]
    optional = [k for k in found.space.domains if k[1] == "given"]
    stages = Stages(found, locs, [*types, *optional])
    domains = [DTYPES] * len(types)
    domains += [(False, True) if k in stages.mentioned else (False,) for k in optional]

    def settings(chosen: State, env: Env) -> Iterator[State]:
        if len(chosen) == len(domains):
            if stages.extends(chosen, env):
                yield chosen
        elif stages.hold(chosen, env):
            for value in domains[len(chosen)]:
                yield from settings(*stages.set_next(chosen, env, value))

    for chosen in settings({}, found.space.env({**found.space.start, **locs})):
        yield Row(path, tuple((locs | chosen).items()))


def _knobs(space: Space, rule: Rule) -> tuple[Knob, ...]:
    parts = [rule.formula] if rule.condition is None else [rule.formula, rule.condition]
    return knobs_of(space, *parts)


def _free(space: Space, about: About, chosen: set[Knob]) -> list[Knob]:
    """The types of the other operands, and what decides which types and operands are taken.

    These are the locations and attributes that stand beside them in a rule.
    """
    types = [(n, "dtype") for n, o in space.operands.items() if o.kind in TYPED]
    rows_of = [knobs for knobs, _ in about if any(word in ("dtype", "given") for _, word in knobs)]
    together = frozenset[Knob]().union(*rows_of)
    deciding = [k for k in space.domains if k[1] in ("loc", "value") and k in together]
    return [k for k in (*types, *deciding) if k not in chosen]


def witness_of(page: type[Instr], target: str, row: Row) -> State | None:
    """Operands of this row that meet every rule and are not empty."""
    found = _search(page, target)
    return found.matching(list(full(found.space)), f"row {row}", dict(row.fixed))


def full(space: Space) -> Iterator[Constraint]:
    """No operand is empty."""
    words = ("vrows", "vcols", *(f"n{i}" for i in range(6)))
    for name in space.operands:
        knobs = tuple(k for k in space.knobs(name) if k[1] in words)

        def cost(env: Env, name: str = name) -> float:
            kind = env[name]
            valid, shape = getattr(kind, "valid", None), getattr(kind, "shape", ())
            return float(0 in shape or (valid is not None and 0 in (valid.rows, valid.cols)))

        if knobs:
            yield Constraint(knobs, cost)
