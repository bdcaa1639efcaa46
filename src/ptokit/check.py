"""The verifier: runs the rules of each page over a program, for one target at a time.

What the text tells is evaluated now; what depends on values known only at run time is left to the
executor, which evaluates the very same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ptokit.catalogue import CATALOGUE
from ptokit.diagnostics import Diagnostic, Note, Severity
from ptokit.ir import AnyOp, Block, Func, Module, Op, OpaqueOp, Value
from ptokit.isa.facts import environment
from ptokit.isa.formulas import UNKNOWN, Many, Missing, fields, seen
from ptokit.isa.lang import Instr, Operand
from ptokit.isa.rules import Rule
from ptokit.isa.targets import TARGETS, Target
from ptokit.isa.tiles import TILE_RULES, TileType
from ptokit.isa.types import Elided, Type
from ptokit.text.source import Span


@dataclass
class Facts:
    """What is known of values before the program runs: numbers, and types with more detail.

    `numbers` starts with the scalar arguments that were bound.
    """

    target: Target
    numbers: dict[Value, Any] = field(default_factory=dict[Value, Any])  # Any: int or float
    types: dict[Value, Type] = field(default_factory=dict[Value, Type])

    def type_of(self, value: Value) -> Type:
        kind = self.types.get(value, value.type)
        return self.target.resolve(kind) if isinstance(kind, TileType) else kind

    def of(self, operand: Operand, value: Value) -> Any:  # Any: what a rule may read
        """A tile's type, a scalar's number, or UNKNOWN."""
        kind = self.type_of(value)
        if isinstance(kind, Elided):
            return UNKNOWN
        return kind if operand.kind.name in DATA_KINDS else self.numbers.get(value, UNKNOWN)

    def environment(self, op: Op) -> dict[str, Any]:  # Any: what a rule may read
        """Operand name -> type or number, outputs in either form included."""
        given: dict[str, Any] = {}
        for operand in op.page.operands:
            bound = _bound(op, operand)
            values = tuple(self.of(operand, v) for v in bound)
            if operand.many:
                given[operand.name] = values
            elif values:
                given[operand.name] = values[0]
        return environment(op.page, given, op.attrs)

    def learn(self, op: Op, env: Mapping[str, Any]) -> None:
        """Refine result types and fold numbers."""
        refine = getattr(op.page, "type_of", None)
        if refine is not None and op.results:
            known = {k: none_if_unknown(v) for k, v in env.items()}
            self.types[op.results[0]] = call(refine, known)
        elif op.page.handle and len(op.results) == 1 and not op.regions:
            self._fold(op, env)

    def _fold(self, op: Op, env: Mapping[str, Any]) -> None:
        result = op.page.results()[0]
        if result.kind.name in DATA_KINDS:
            return
        inputs = {k: v for k, v in env.items() if k != result.name}
        if UNKNOWN in inputs.values():
            return
        try:
            body: Any = getattr(op.page, "run")  # noqa: B009 - declared by pages, not by Instr
            self.numbers[op.results[0]] = call(body, {**inputs, result.name: op.results[0].type})
        except ZeroDivisionError:
            pass  # reported when it runs


DATA_KINDS = frozenset({"TILE", "GLOBAL", "CONV", "PTR"})


def call(function: Any, available: Mapping[str, Any]) -> Any:  # Any: page hooks take what they name
    """Call a page's hook with the arguments it names."""
    code = function.__code__ if hasattr(function, "__code__") else function.__func__.__code__
    names = code.co_varnames[: code.co_argcount]
    return function(**{n: available[n] for n in names if n != "cls"})


def _bound(op: Op, operand: Operand) -> tuple[Value, ...]:
    values = op.bound(operand.name)
    if values:
        return values
    defined = op.page.outs() if op.ssa else op.page.results()
    names = [o.name for o in defined]
    if operand.name in names and names.index(operand.name) < len(op.results):
        return (op.results[names.index(operand.name)],)
    return ()


def none_if_unknown(value: Any) -> Any:  # Any: see Facts.of
    if isinstance(value, Many):
        return tuple(none_if_unknown(v) for v in value.values)
    return None if isinstance(value, Missing) else value


def violation(
    page: type[Instr], rule: Rule, env: Mapping[str, Any], target: Target, span: Span | None
) -> Diagnostic:
    """The diagnostic of a rule that does not hold under `env`."""
    return Diagnostic(
        slug=rule.slug,
        message=f"{page.mnemonic()}: {CATALOGUE[rule.slug].title}",
        span=span,
        severity=Severity.WARNING if rule.warning else Severity.ERROR,
        rule=str(rule.formula),
        when=None if rule.condition is None else str(rule.condition),
        seen=seen(rule.formula, env),
        help=rule.help or f"`ptokit explain {page.name}` lists what each target takes",
        targets=(target.name,),
    )


def blamed(op: Op, rule: Rule) -> Span | None:
    """Where to point: at the operand a rule speaks of first, an index before a tile."""
    mentioned = list(fields(rule.formula))
    for part in sorted(mentioned, key=lambda f: bool(f.path)):
        if part.operand in op.spans:
            return op.spans[part.operand]
    return op.span


def rules_for(page: type[Instr], target: Target) -> tuple[Rule, ...]:
    return tuple(r for r in page.all_rules if target.name in r.targets)


class Checker:
    """Checks one function for one target and collects diagnostics in text order."""

    def __init__(self, target: Target, numbers: Mapping[Value, Any] | None = None) -> None:
        self.facts = Facts(target, dict(numbers or {}))
        self.found: list[Diagnostic] = []

    def func(self, func: Func) -> None:
        for arg in func.args:
            self.value(arg)
        self.block(func.body)

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            self.found.append(unknown_op(op))
            return
        env = self.facts.environment(op)
        for rule in rules_for(op.page, self.facts.target):
            if rule.holds(env) is False:
                where = blamed(op, rule)
                self.found.append(violation(op.page, rule, env, self.facts.target, where))
        self.facts.learn(op, env)
        for result in op.results:
            self.value(result)
        for region in op.regions:
            for arg in region.args:
                self.value(arg)
            self.block(region)

    def value(self, value: Value) -> None:
        """Check the type of a newly defined value."""
        kind = self.facts.type_of(value)
        if isinstance(kind, Elided):
            self.found.append(elided(value))
        if isinstance(kind, TileType):
            self.found += tile_type_errors(kind, value.span, self.facts.target, f"%{value.name}")


def tile_type_errors(
    kind: TileType, span: Span | None, target: Target, label: str
) -> Iterator[Diagnostic]:
    """The first of the rules T1 to T7 that a tile type breaks."""
    env = {"tile": kind}
    for rule in TILE_RULES:
        if kind.rows > 0 and kind.cols > 0 and rule.holds(env) is not False:
            continue
        yield Diagnostic(
            slug=rule.slug,
            message=f"{label}: {CATALOGUE[rule.slug].title}",
            span=span,
            rule=str(rule),
            seen=seen(rule.formula, env),
            help=rule.help,
            targets=(target.name,),
        )
        return


def unknown_op(op: OpaqueOp) -> Diagnostic:
    from difflib import get_close_matches

    from ptokit.isa import pages

    names = [page.mnemonic() for page in pages()]
    close = get_close_matches(op.name if "." in op.name else f"pto.{op.name}", names, n=1)
    return Diagnostic(
        "unknown-op",
        f"{op.name}: {CATALOGUE['unknown-op'].title}",
        op.span,
        Severity.WARNING,
        help=f"did you mean {close[0]}?" if close else None,
    )


def elided(value: Value) -> Diagnostic:
    return Diagnostic(
        "type-elided",
        f"%{value.name}: {CATALOGUE['type-elided'].title}",
        value.span,
        Severity.WARNING,
        help="write the type out, or bind an array to it when running",
    )


def check_func(
    func: Func, target: Target, numbers: Mapping[Value, Any] | None = None
) -> list[Diagnostic]:
    """Everything wrong with a function on one target, as far as it is known before it runs."""
    from ptokit.place import check_addresses

    checker = Checker(target, numbers)
    checker.func(func)
    return checker.found + list(check_addresses(func, checker.facts))


def learned(func: Func, target: Target, numbers: Mapping[Value, Any]) -> Facts:
    """What a walk over the function finds out about its values."""
    checker = Checker(target, numbers)
    checker.func(func)
    return checker.facts


def check(module: Module, targets: Iterable[str]) -> list[Diagnostic]:
    """Everything wrong with a module; what several targets refuse alike is said once."""
    merged: dict[tuple[object, ...], Diagnostic] = {}
    for name in targets:
        for func in module.funcs:
            for found in check_func(func, TARGETS[name]):
                key = (found.slug, found.message, str(found.span), found.rule, found.seen)
                if key in merged:
                    both = dict.fromkeys((*merged[key].targets, *found.targets))
                    found = replace(merged[key], targets=tuple(both))
                merged[key] = found
    return list(merged.values())


__all__ = ["Checker", "Facts", "Note", "check", "check_func", "rules_for", "violation"]
