"""Formulas evaluated fast: as closures, how far they are from a wanted value, what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

from ptokit.isa.dtypes import DType
from ptokit.isa.formulas import (
    ABSENT,
    COMPARISONS,
    OPERATORS,
    UNKNOWN,
    Const,
    Expr,
    Field,
    Node,
    Value,
)
from ptokit.isa.rules import Rule

Env: TypeAlias = "dict[str, Any]"  # Any: types, numbers, words
Evaluate: TypeAlias = "Callable[[Env], Value]"


@cache
def holds(rule: Rule) -> Evaluate:
    """`rule.holds` as a closure: what is unknown does not fail."""
    formula = compiled(rule.formula)
    condition = None if rule.condition is None else compiled(rule.condition)

    def check(env: Env) -> bool:
        if condition is not None:
            met = condition(env)
            if met is False or met is ABSENT:
                return True
        return formula(env) is not False

    return check


@cache
def compiled(expr: Expr) -> Evaluate:
    """`expr.eval` as a closure: the same answers, faster."""
    if isinstance(expr, Const):
        constant = expr.value
        return lambda env: constant
    if isinstance(expr, Field):
        return _reader(expr.operand, expr.path)
    if not isinstance(expr, Node):
        return expr.eval
    parts = tuple(compiled(a) for a in expr.args)
    if expr.op in ("and", "or"):
        return _three_valued(parts, decided=expr.op == "or")
    last = expr.args[-1]
    return _applied(expr.op, parts, (last.value,) if isinstance(last, Const) else ())


def _reader(name: str, path: tuple[str, ...]) -> Evaluate:
    if path == ("given",):
        return lambda env: env[name] is not ABSENT

    def read_one(env: Env) -> Value:
        value = env[name]
        if value is ABSENT or value is UNKNOWN:
            return value
        value = getattr(value, step)
        return UNKNOWN if value is None else value

    def read(env: Env) -> Value:
        value = env[name]
        for step in path:
            if value is ABSENT or value is UNKNOWN:
                return value
            value = getattr(value, step)
        return UNKNOWN if value is None else value

    step = path[0] if path else ""
    return read_one if len(path) == 1 else read


def _three_valued(parts: tuple[Evaluate, ...], *, decided: bool) -> Evaluate:
    def evaluate(env: Env) -> Value:
        result: Value = not decided
        for part in parts:
            value = part(env)
            if value is decided:
                return decided
            if value is ABSENT or (value is UNKNOWN and result is not ABSENT):
                result = value
        return result

    return evaluate


def _equal(a: Value, b: Value) -> bool:
    """Element types are single objects: comparing their fields is slow."""
    return a is b if type(a) is DType and type(b) is DType else bool(a == b)


def _differ(a: Value, b: Value) -> bool:
    return not _equal(a, b)


def _among(value: Value, options: tuple[Value, ...]) -> bool:
    return any(_equal(value, o) for o in options)


QUICK: dict[str, Callable[..., Value]] = {
    "==": _equal,
    "!=": _differ,
    "in": _among,
}


def _applied(op: str, parts: tuple[Evaluate, ...], constants: tuple[Value, ...]) -> Evaluate:
    """An operator on parts; with `constants` the second of two is that constant."""
    function = QUICK.get(op, OPERATORS[op][1])
    first, second = parts[0], parts[-1]

    def one(env: Env) -> Value:
        value = first(env)
        return value if value is ABSENT or value is UNKNOWN else function(value)

    def with_constant(env: Env) -> Value:
        value = first(env)
        return value if value is ABSENT or value is UNKNOWN else function(value, constants[0])

    def two(env: Env) -> Value:
        left, right = first(env), second(env)
        if left is ABSENT or right is ABSENT:
            return ABSENT
        return UNKNOWN if left is UNKNOWN or right is UNKNOWN else function(left, right)

    return one if len(parts) == 1 else with_constant if constants else two


def distance(expr: Expr, env: Env, want: bool) -> float:
    """0 where the formula has the wanted value, else how far it is from it, roughly."""
    if isinstance(expr, Node):
        if expr.op == "not":
            return distance(expr.args[0], env, not want)
        if expr.op in ("and", "or"):
            each = [distance(a, env, want) for a in expr.args]
            return sum(each) if (expr.op == "and") is want else min(each)
    if compiled(expr)(env) is want:
        return 0
    return 1 + (_gap(expr, env) if isinstance(expr, Node) and expr.op in COMPARISONS else 0)


def _gap(expr: Node, env: Env) -> float:
    left, right = (compiled(a)(env) for a in expr.args)
    if isinstance(left, int) and isinstance(right, int):
        apart = abs(left - right)
        return apart / (apart + 64) / 2
    return 0


def suggested(expr: Expr, env: Env, now: int) -> Iterator[int]:
    """Values that would balance a comparison or a remainder in the formula."""
    for child in expr.children():
        yield from suggested(child, env, now)
    if not isinstance(expr, Node) or len(expr.args) != 2:
        return
    try:
        left, right = (compiled(a)(env) for a in expr.args)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return
    if type(left) is not int or type(right) is not int:
        return
    if expr.op == "%" and right > 0:
        low = now - now % right
        yield from (low, low + right, right, 2 * right, now + 1, now + 2, right // 2, right // 4)
    elif expr.op in COMPARISONS:
        apart = right - left
        yield from (now + apart, now - apart, now + apart + 1, now + apart - 1)
        yield from (right, right + 1, right - 1)
