"""Rules as conditions: the formulas of a page over numbers the running program knows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, TypeAlias

from ptokit.isa.formulas import ABSENT, UNKNOWN, Env, Expr, Field, Many, Missing, Node
from ptokit.isa.rules import Rule
from ptokit.sim.kernels.code import Int, NotNative, Truth

Condition: TypeAlias = "bool | Truth"


def holds(rule: Rule, env: Env) -> Condition:
    """Whether a rule holds, as far as that is known now."""
    if rule.condition is not None:
        met = _value(rule.condition, env)
        if met is ABSENT or met is False:
            return True
        result = _condition(_value(rule.formula, env))
        return result if met is True else either(_not(_condition(met)), result)
    return _condition(_value(rule.formula, env))


def both(a: Condition, b: Condition) -> Condition:
    if isinstance(a, bool):
        return b if a else False
    return a if b is True else (False if b is False else a & b)


def every(conditions: Iterable[Condition]) -> Condition:
    return reduce(both, conditions, True)


def _condition(value: Any) -> Condition:  # Any: what a formula gives
    if value is ABSENT:
        return True
    if isinstance(value, bool | Truth):
        return value
    raise NotNative("a rule that cannot be decided before the program runs, nor by it")


def _not(a: Condition) -> Condition:
    return ~a if isinstance(a, Truth) else not a


def either(a: Condition, b: Condition) -> Condition:
    if isinstance(a, bool):
        return True if a else b
    return True if b is True else (a if b is False else a | b)


def _value(expr: Expr, env: Env) -> Any:  # Any: what a formula gives
    if isinstance(expr, Field):
        return _field(expr, env)
    if not isinstance(expr, Node):
        return expr.eval(env)
    values = [_value(a, env) for a in expr.args]
    if expr.op in ("and", "or"):
        return _joined(expr.op, values)
    for missing in (ABSENT, UNKNOWN):
        if any(v is missing for v in values):
            return missing
    if expr.op == "not":
        return _not(_condition(values[0]))
    if expr.op == "in" and isinstance(values[0], Int):
        return reduce(either, (values[0] == option for option in values[1]), False)
    if any(isinstance(v, Many) for v in values):
        return _many(expr, values)
    return expr.function(*values)


def _field(expr: Field, env: Env) -> Any:  # Any: as above
    if expr.path and expr.path[-1] == "least":
        many = Field(expr.operand, expr.path[:-1]).eval(env)
        if isinstance(many, Many):
            return many if any(isinstance(v, Int) for v in many.values) else many.least
    return expr.eval(env)


def _joined(op: str, values: list[Any]) -> Any:  # Any: as above
    decisive = op == "or"
    if any(v is decisive for v in values):
        return decisive
    for missing in (ABSENT, UNKNOWN):
        if any(v is missing for v in values):
            return missing
    return reduce(either if decisive else both, map(_condition, values), not decisive)


def _many(expr: Node, values: list[Any]) -> Any:  # Any: as above
    """An operator on lists, element by element; a comparison holds for every element."""
    size = next(len(v.values) for v in values if isinstance(v, Many))
    rows = [v.values if isinstance(v, Many) else (v,) * size for v in values]
    found = [
        UNKNOWN if any(v is None or isinstance(v, Missing) for v in row) else expr.function(*row)
        for row in zip(*rows, strict=False)
    ]
    if expr.op in ("+", "-", "*"):
        return Many(tuple(found))
    return every(map(_condition, found))
