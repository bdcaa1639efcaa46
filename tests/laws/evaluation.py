"""Formulas under search: how far they are from a wanted value, what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ptokit.isa.formula.formulas import COMPARISONS, Expr, Node, Value

Env: TypeAlias = "dict[str, Any]"  # Any: types, numbers, words
Evaluate: TypeAlias = "Callable[[Env], Value]"


def distance(expr: Expr, env: Env, want: bool) -> float:
    """0 where the formula has the wanted value, else how far it is from it, roughly."""
    if isinstance(expr, Node):
        if expr.op == "not":
            return distance(expr.args[0], env, not want)
        if expr.op in ("and", "or"):
            each = [distance(a, env, want) for a in expr.args]
            return sum(each) if (expr.op == "and") is want else min(each)
    if expr.eval(env) is want:
        return 0
    return 1 + (_gap(expr, env) if isinstance(expr, Node) and expr.op in COMPARISONS else 0)


def _gap(expr: Node, env: Env) -> float:
    left, right = (a.eval(env) for a in expr.args)
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
        left, right = (a.eval(env) for a in expr.args)
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
