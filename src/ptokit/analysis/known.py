"""The static knowledge about a program's values: numbers and refined types.

Programs have many instructions on operands of the same types. What their page says about these
types is worked out once for all of them, see `Case`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from typing import TypeAlias, cast

from ptokit.analysis.ranges import Fact, Range
from ptokit.ir.module import Op, Value
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Env, Many, Missing
from ptokit.isa.formula.formulas import Value as Outcome
from ptokit.isa.formula.rules import Rule, doubtful
from ptokit.isa.lang.environment import ByName, call, environment
from ptokit.isa.lang.hooks import parameters
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Elided, OpaqueType, Type
from ptokit.values.enumerations import Word

Doubts: TypeAlias = "tuple[tuple[Rule, Outcome], ...]"
MOST_CASES, MOST_TYPES = 4096, 64


class Case:
    """Instructions of one page on operands of the same types, judged once for a target.

    `env` is their environment, in which operands that are numbers are unknown: `numbers` are these
    operands, each with its position among the results, or -1; `typed`: their types are known.
    `attrs` are the attributes that are not part of the case. `sources`: the types of all tiles and
    views that are read are known. `kept` are types that exist as long as the case, because it is
    known by their identities. `same` are the numbers and attributes that no instruction has changed
    so far: rules that ask for no others are evaluated once.
    """

    def __init__(self, op: Op, facts: Facts) -> None:
        self.page, self.env = op.page, facts.named(op)
        values = [*op.results, *(value for _, value in op.values())]
        self.kept = [value.type for value in values], [facts.types.get(value) for value in values]
        places = {name: at for at, name in enumerate(_defined(op))}
        places = {n: at for n, at in places.items() if at < len(op.results)}
        bound = places | {name: -1 for name, values in op.operands.items() if values != ()}
        operands = ((op.page.operand(name), at) for name, at in bound.items())
        self.numbers = tuple((o.name, o, at) for o, at in operands if not o.in_memory)
        names = (name for name, given in op.attrs.items() if not isinstance(given, SETTLED))
        self.attrs = tuple(name for name in names if name in self.env)
        self.slots = frozenset((*(name for name, *_ in self.numbers), *self.attrs))
        self.opaque = any(isinstance(result.type, OpaqueType) for result in op.results)
        ins = [o for o in op.page.ins() if o.in_memory]
        self.sources = not any(self.env[o.name] is UNKNOWN for o in ins)
        self.results = {r.name: v.type for r, v in zip(op.page.results(), op.results, strict=False)}
        self.typed = not any(isinstance(kind, UNTYPED) for kind in chain(*self.kept))
        self.same: dict[str, Outcome] | None = None
        self._sorted: tuple[Doubts, tuple[Rule, ...]] = (), ()
        refine = self.page.type_of
        self._asked = () if refine is None else parameters(refine)
        self._refined: dict[object, Type | None] = {}

    def doubts(self, env: Env) -> Doubts:
        """Return the rules that are violated or unknown for the numbers in `env`."""
        rules = self.page.rules_on(self.env["machine"])
        if self.same is None:
            self.same = {name: env[name] for name in self.slots}
            self._sorted = tuple(doubtful(rules, env)), ()
        elif any([not _equal(value, env[name]) for name, value in self.same.items()]):
            self.same = {n: value for n, value in self.same.items() if _equal(value, env[n])}
            self._sorted = self._sorted_rules(rules, env)
        settled, others = self._sorted
        if not others:
            return settled
        found = tuple(doubtful(others, env))
        several = (*settled, *found)
        return tuple(sorted(several, key=lambda d: rules.index(d[0]))) if settled else found

    def _sorted_rules(self, rules: tuple[Rule, ...], env: Env) -> tuple[Doubts, tuple[Rule, ...]]:
        """Return the doubts about rules that ask for nothing that changes, and the other rules."""
        changing = self.slots.difference(self.same or ())
        watched, doubts, others = _Watched(env, changing), list[Doubts](), list[Rule]()
        for rule in rules:
            watched.asked = False
            found = tuple(doubtful((rule,), watched))
            if watched.asked:
                others.append(rule)
            else:
                doubts.append(found)
        return tuple(chain.from_iterable(doubts)), tuple(others)

    def refined(self, env: Env) -> Type | None:
        """Return the type that the page infers for the result."""
        refine = self.page.type_of
        assert refine is not None
        values = tuple([_single(env[name]) for name in self._asked if name in self.slots])
        if values in self._refined:
            return self._refined[values]
        found = refine(**{name: _single(env[name]) for name in self._asked})
        if all(map(_is_plain, values)):
            if len(self._refined) >= MOST_TYPES:
                self._refined.clear()
            self._refined[values] = found
        return found

    @cached_property
    def fixed(self) -> ByName | None:
        """The values for the body except numbers; None if the body cannot be evaluated."""
        inputs = {k: v for k, v in self.env.items() if k not in self.results}
        unknown = any(v is UNKNOWN for k, v in inputs.items() if k not in self.slots)
        if unknown or any(isinstance(kind, Elided | OpaqueType) for kind in self.results.values()):
            return None
        return {k: None if v is ABSENT else v for k, v in inputs.items()} | self.results

    def inputs(self, env: Env) -> ByName | None:
        """Return the values for the body; None if one of them is not known."""
        if (values := self.fixed) is None:
            return None
        values = values.copy()
        for name in self.slots:
            if name in self.results:
                continue
            if (value := env[name]) is UNKNOWN:
                return None
            values[name] = None if value is ABSENT else value
        return values


class _Watched(Mapping[str, Outcome]):
    """An environment that notes whether something asks for one of the operands `slots`."""

    def __init__(self, env: Env, slots: frozenset[str]) -> None:
        self.env, self.slots, self.asked = env, slots, False

    def __getitem__(self, name: str) -> Outcome:
        self.asked |= name in self.slots
        return self.env[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.env)

    def __len__(self) -> int:
        return len(self.env)


@cache
def cases() -> dict[tuple[object, ...], Case]:
    """Return the cases by everything they depend on: types by identity, numbers not at all.

    The cache is cleared when it is full.
    """
    return {}


UNTYPED = (Elided, OpaqueType)
NO_NUMBER = (Range, Missing)
SETTLED = (Word, str, bool)  # values of attributes that are part of a case


def _equal(one: Outcome, other: Outcome) -> bool:
    """Return whether a rule cannot tell two values apart; ranges may be equal and differ."""
    if isinstance(one, Many) and isinstance(other, Many):
        alike = len(one.values) == len(other.values)
        return alike and all(map(_equal, one.values, other.values))
    return one is other or (type(one) is int and type(other) is int and one == other)


def _is_plain(value: object) -> bool:
    """Return whether a value equals no value of another type."""
    several = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    return all(v is None or type(v) is int for v in several)


@dataclass
class Facts:
    """The abstract state before the program runs: numbers, and types with more detail.

    `numbers` starts with the scalar arguments that were bound; a number may be a Range. `varying`
    are values whose types depend on a range. `open` has by op the rules that are, or may be,
    broken. `blind`: the code never runs, so only its types are checked.
    """

    target: Target
    numbers: dict[Value, Fact] = field(default_factory=dict[Value, Fact])
    types: dict[Value, Type] = field(default_factory=dict[Value, Type])
    varying: set[Value] = field(default_factory=set[Value])
    open: dict[Op, list[Rule]] = field(default_factory=dict[Op, "list[Rule]"])
    blind: bool = False

    def as_stated(self) -> Facts:
        """Return the same numbers with the types that the text states."""
        return replace(self, types={})

    def type_of(self, value: Value) -> Type:
        kind = value.type if value.resized else self.types.get(value, value.type)
        return self.target.resolve_any(kind)

    def of(self, operand: Operand, value: Value) -> Type | Fact:
        """Return a tile's type, a scalar's number, or UNKNOWN."""
        if not operand.in_memory:
            return self.number(value, UNKNOWN)
        kind = value.type if value.resized else self.types.get(value, value.type)
        return UNKNOWN if isinstance(kind, UNTYPED) else self.target.resolve_any(kind)

    def number(self, value: Value, unknown: Missing) -> Fact:
        """Return a scalar's number, or `unknown`."""
        kind = value.type if value.resized else self.types.get(value, value.type)
        known = not (self.blind or isinstance(kind, UNTYPED))
        return self.numbers.get(value, unknown) if known else unknown

    def environment(self, op: Op) -> ByName:
        """Return the type or number of each operand, with outputs in either form."""
        return self.in_case(op, self.case(op))

    def in_case(self, op: Op, case: Case) -> ByName:
        """Return the environment of an op of this case, with the numbers of its operands."""
        env = case.env.copy()
        number = self.number if self.blind or not case.typed else self.numbers.get
        for name, operand, at in case.numbers:
            values = op.operands[name] if at < 0 else op.results[at]
            if isinstance(values, Value):
                env[name] = number(values, UNKNOWN)
            elif operand.many:
                env[name] = Many(tuple([number(value, UNKNOWN) for value in values]))
            else:
                env[name] = number(values[0], UNKNOWN)
        for name in case.attrs:
            given = op.attrs[name]
            env[name] = ABSENT if given is None else given
        return env

    def case(self, op: Op) -> Case:
        """Return what all instructions like this one have in common."""
        types = self.types
        key: list[object] = [op.page, id(self.target), *op.operands]
        for bound in (*op.operands.values(), (*op.results,)):
            if isinstance(bound, Value):
                key.append(id(bound.type))
                if bound in types and not bound.resized:
                    key.append(-id(types[bound]))
                continue
            key.append(len(bound))
            for value in bound:
                key.append(id(value.type))
                if value in types and not value.resized:
                    key.append(-id(types[value]))
        for name, given in op.attrs.items():
            key.append(name)
            if isinstance(given, SETTLED):
                key += given.__class__, given
        known = cases()
        if (found := known.get(wanted := tuple(key))) is None:
            if len(known) >= MOST_CASES:
                known.clear()
            found = known[wanted] = Case(op, Facts(self.target, types=types))
        return found

    def named(self, op: Op) -> ByName:
        """Return the environment of an op, worked out anew."""
        given: dict[str, object] = {o.name: () for o in op.page.operands if o.many}
        bound = dict(zip(_defined(op), op.results, strict=False)) | op.operands
        for name, values in bound.items():
            operand = op.page.operand(name)
            if isinstance(values, Value):
                given[name] = self.of(operand, values)
            elif values:
                several = tuple(self.of(operand, v) for v in values)
                given[name] = several if operand.many else several[0]
        for name, operand in op.page.types.items():
            bound = op.results if operand.role is Role.RESULT else op.bound(operand.name)
            known = bound and not isinstance(bound[0].type, Elided | OpaqueType)
            given[name] = bound[0].type if known else UNKNOWN
        return environment(op.page, given, op.attrs, self.target)

    def learn(self, op: Op, env: Env) -> None:
        """Refine result types and fold numbers."""
        self.learn_in_case(op, env, self.case(op))

    def learn_in_case(self, op: Op, env: Env, case: Case) -> None:
        """Refine result types and fold numbers of an op of this case."""
        if case.opaque:
            return
        if op.page.type_of is not None and op.results:
            if case.sources and (kind := case.refined(env)) is not None:
                self.types[op.results[0]] = kind
            if self.varies(op, [env[name] for name in case.slots]):
                self.varying.add(op.results[0])
        elif op.page.folds and (inputs := case.inputs(env)) is not None:
            self._fold(op, inputs)

    def folding(self, op: Op) -> Callable[[], None]:
        """Return a function that folds an op again, for the numbers that its operands have then."""
        (first, *others), names = op.results, op.page.results()
        if others or any(o.many or o.element or o.in_memory for o in op.page.operands):
            return lambda: self.learn(op, self.environment(op))
        given = {n: None if v is ABSENT else v for n, v in self.environment(op).items()}
        given[names[0].name] = first.type

        def fold() -> None:
            now = {n: self.numbers.get(v, UNKNOWN) for n, v in op.values()}
            self.forget(first)
            with suppress(ZeroDivisionError):  # reported at run time
                if UNKNOWN not in now.values():
                    self.numbers[first] = call(op.page.run, given | now)

        return fold

    def forget(self, value: Value) -> None:
        """Drop the facts of a value that is about to be redefined."""
        self.numbers.pop(value, None)
        self.types.pop(value, None)
        self.varying.discard(value)

    def varies(self, op: Op, numbers: Iterable[Outcome]) -> bool:
        """Return whether one of an op's numbers is a range, or a type depends on one."""
        if self.varying and any(value in self.varying for _, value in op.values()):
            return True
        for number in numbers:
            for each in number.values if isinstance(number, Many) else (number,):
                if isinstance(each, Range):
                    return True
        return False

    def _fold(self, op: Op, inputs: Env) -> None:
        try:
            found = _evaluated(op, inputs)
        except ZeroDivisionError:
            return  # reported at run time
        several = found if isinstance(found, tuple) else (found,)
        for value, number in zip(op.results, several, strict=True):
            if number is not UNKNOWN and number is not None:  # None: the types do not determine it
                self.numbers[value] = number


def _evaluated(op: Op, values: Env) -> Fact | tuple[Fact, ...] | None:
    if not _has_elements(op.page):
        return call(op.page.run, values)
    from ptokit.analysis.folding import folded  # NumPy is slow to import

    return folded(op, values)


@cache
def _has_elements(page: type[Instr]) -> bool:
    """Return whether an input is an element of a tile or of memory."""
    return any(o.element for o in page.ins())


def _defined(op: Op) -> Iterator[str]:
    """Yield the operands that the results of an op stand for."""
    return (
        (name for name, _ in op.named_results()) if op.ssa else (o.name for o in op.page.results())
    )


def _single(value: object) -> object:
    """Return a number or a type; None for a range or an unknown value."""
    if isinstance(value, Many):
        return tuple([_single(v) for v in value.values])
    return None if isinstance(value, NO_NUMBER) else value
