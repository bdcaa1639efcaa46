"""The static knowledge about a program's values: numbers and refined types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ptokit.analysis.ranges import Fact, Range
from ptokit.ir.module import Op, Value
from ptokit.isa.formula.formulas import ABSENT, UNKNOWN, Env, Many
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.environment import ByName, call, environment, none_if_unknown
from ptokit.isa.lang.hooks import parameters
from ptokit.isa.lang.instr import Operand, Role
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Elided, OpaqueType, Type


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
        kind = self.type_of(value)
        if isinstance(kind, Elided | OpaqueType):
            return UNKNOWN
        if operand.in_memory:
            return kind
        return UNKNOWN if self.blind else self.numbers.get(value, UNKNOWN)

    def environment(self, op: Op) -> ByName:
        """Return the type or number of each operand, with outputs in either form."""
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
        if any(isinstance(result.type, OpaqueType) for result in op.results):
            return
        refine = op.page.type_of
        if refine is not None and op.results:
            if _sources_known(op, env):
                kind = refine(**{name: _single(env[name]) for name in parameters(refine)})
                if kind is not None:
                    self.types[op.results[0]] = kind
            if self.varies(op, env):
                self.varying.add(op.results[0])
        elif op.page.folds:
            self._fold(op, env)

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

    def varies(self, op: Op, env: Env) -> bool:
        """Return whether an operand is a range, or has a type that depends on one."""
        if self.varying and any(value in self.varying for _, value in op.values()):
            return True
        return any(isinstance(number, Range) for number in _numbers(env))

    def _fold(self, op: Op, env: Env) -> None:
        results = {r.name: v for r, v in zip(op.page.results(), op.results, strict=False)}
        if any(isinstance(v.type, Elided | OpaqueType) for v in results.values()):
            return
        inputs = {k: None if v is ABSENT else v for k, v in env.items() if k not in results}
        if UNKNOWN in inputs.values():
            return
        try:
            found = _evaluated(op, {**inputs, **{n: v.type for n, v in results.items()}})
        except ZeroDivisionError:
            return  # reported at run time
        several = found if isinstance(found, tuple) else (found,)
        for value, number in zip(results.values(), several, strict=True):
            if number is not UNKNOWN and number is not None:  # None: the types do not determine it
                self.numbers[value] = number


def _evaluated(op: Op, values: Env) -> Fact | tuple[Fact, ...] | None:
    if not any(o.element for o in op.page.ins()):
        return call(op.page.run, values)
    from ptokit.analysis.folding import folded  # NumPy is slow to import

    return folded(op, values)


def _sources_known(op: Op, env: Env) -> bool:
    """Return whether the types of all tiles and views that the op reads are known."""
    return not any(o.in_memory and env[o.name] is UNKNOWN for o in op.page.ins())


def _numbers(env: Env) -> Iterator[object]:
    for value in env.values():
        yield from value.values if isinstance(value, Many) else (value,)


def _defined(op: Op) -> Iterator[str]:
    """Yield the operands that the results of an op stand for."""
    return (
        (name for name, _ in op.named_results()) if op.ssa else (o.name for o in op.page.results())
    )


def _single(value: object) -> object:
    """Return a number or a type; None for a range or an unknown value."""
    if isinstance(value, Many):
        return tuple(_single(v) for v in value.values)
    return None if isinstance(value, Range) else none_if_unknown(value)
