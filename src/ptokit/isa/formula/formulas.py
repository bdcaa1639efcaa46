"""Formulas: rules written as expressions over operands, kept as data.

`row + dst.valid.rows <= src.valid.rows` builds a tree; the checker evaluates it with three values
(true, false, unknown), the reference prints it, an error quotes it with the numbers in it. An
engine with symbolic numbers gets a condition instead of a value: it has & | ~.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import Any


class Missing(Enum):
    """The reason why a formula has no value."""

    UNKNOWN = "unknown"  # deferred to run time
    ABSENT = "absent"  # the formula mentions an optional operand that is absent

    def __str__(self) -> str:
        return self.value


UNKNOWN, ABSENT = Missing.UNKNOWN, Missing.ABSENT

# The value of a formula: a number, a type, a location or another property of an operand.
Value = Any  # Any: it has the operators that its formula needs
Env = Mapping[str, Value]
Evaluate = Callable[[Env], Value]


@dataclass(frozen=True)
class Many:
    """A list operand or a shape in a formula: `shape.count`, `offsets + sizes <= view.extents`."""

    values: tuple[Value, ...]

    @property
    def count(self) -> int:
        return len(self.values)

    @property
    def first(self) -> Value:
        return self.values[0] if self.values else UNKNOWN

    @property
    def last(self) -> Value:
        return self.values[-1] if self.values else UNKNOWN

    @property
    def outer(self) -> Many:
        """All values except the last two."""
        return type(self)(self.values[:-2])

    @property
    def alike(self) -> Value:
        """True if all values have the same text; types of views do so whatever their strides."""
        return UNKNOWN if any(map(_open, self.values)) else len({*map(str, self.values)}) <= 1

    @property
    def least(self) -> Least:
        """The smallest of the values."""
        return Least(self.values)

    def __add__(self, other: Many) -> Many:
        return Many(tuple(self._each(operator.add, other)))

    def __mul__(self, other: Many) -> Many:
        return Many(tuple(self._each(operator.mul, other)))

    def __le__(self, other: Many) -> Value:
        return _conjunction(self._each(operator.le, other))

    def __lt__(self, other: Many) -> Value:
        return _conjunction(self._each(operator.lt, other))

    def _each(self, function: Callable[..., Value], other: Many) -> list[Value]:
        return [
            UNKNOWN if _open(a) or _open(b) else function(a, b)
            for a, b in zip(self.values, other.values, strict=False)
        ]

    def __str__(self) -> str:
        texts = (str(v) if isinstance(v, int) else "?" for v in self.values)
        return f"[{', '.join(texts)}]"


@dataclass(frozen=True, eq=False)
class Static(Many):
    """Extents of a type: equal to a list if each extent that the type states is the list's."""

    def __eq__(self, other: object) -> Value:
        if not isinstance(other, Many):
            return NotImplemented
        stated = [(a, b) for a, b in zip(self.values, other.values, strict=False) if a is not None]
        return _conjunction([UNKNOWN if _open(b) else a == b for a, b in stated])

    __hash__ = Many.__hash__


@dataclass(frozen=True)
class Least:
    """The smallest of several values, some of which may be unknown."""

    values: tuple[Value, ...]

    def __ge__(self, other: Value) -> Value:
        return _conjunction([UNKNOWN if _open(v) else v >= other for v in self.values])

    def __str__(self) -> str:
        return str(min((v for v in self.values if isinstance(v, int)), default="?"))


def _open(value: Value) -> bool:
    return value is None or value is UNKNOWN or value is ABSENT


class Expr:
    """A node of a formula. Operators build larger formulas; `eval` evaluates one.

    `eval` gives the value under an environment (operand name -> bound value), UNKNOWN or ABSENT. It
    is a closure, compiled on first use, because rules are evaluated for every op.
    """

    __hash__ = object.__hash__

    @cached_property
    def eval(self) -> Evaluate:
        return self.compile()

    def compile(self) -> Evaluate:
        """Return the closure for `eval`."""
        raise NotImplementedError

    def children(self) -> tuple[Expr, ...]:
        return ()

    def __bool__(self) -> bool:
        raise TypeError(f"the formula `{self}` has no truth value: use &, |, ~ and `when`")

    def __add__(self, other: object) -> Expr:
        return Node("+", self, other)

    def __radd__(self, other: object) -> Expr:
        return Node("+", other, self)

    def __sub__(self, other: object) -> Expr:
        return Node("-", self, other)

    def __mul__(self, other: object) -> Expr:
        return Node("*", self, other)

    def __floordiv__(self, other: object) -> Expr:
        return Node("//", self, other)

    def __mod__(self, other: object) -> Expr:
        return Node("%", self, other)

    def __le__(self, other: object) -> Expr:
        return Node("<=", self, other)

    def __lt__(self, other: object) -> Expr:
        return Node("<", self, other)

    def __ge__(self, other: object) -> Expr:
        return Node(">=", self, other)

    def __gt__(self, other: object) -> Expr:
        return Node(">", self, other)

    # A formula compares as data: only here `==` and `!=` do not return a bool.
    def __eq__(self, other: object) -> Expr:  # type: ignore[override]  # builds a formula
        return Node("==", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]  # builds a formula
        return Node("!=", self, other)

    def __and__(self, other: Expr) -> Expr:
        return Node("and", self, other)

    def __or__(self, other: Expr) -> Expr:
        return Node("or", self, other)

    def __invert__(self) -> Expr:
        return Node("not", self)

    def isin(self, *options: object) -> Expr:
        """Return the formula that the value is one of `options`."""
        return Node("in", self, Const(options))


def _remainder(left: int, right: int) -> int:  # `operator.mod` has no types
    return left % right


def _quotient(left: int, right: int) -> int:
    return left // right


def _never(*_: Value) -> Value:
    raise AssertionError("`and` and `or` have three values: see _logical")


def _inverse(value: Value) -> Value:
    return not value if isinstance(value, bool) else ~value


def _contains(value: Value, options: tuple[Value, ...]) -> Value:
    return _disjunction(value == option for option in options)


# operator -> (binding strength for printing, function)
OPERATORS: dict[str, tuple[int, Callable[..., Value]]] = {
    "or": (1, _never),
    "and": (2, _never),
    "not": (3, _inverse),
    "in": (4, _contains),
    "==": (4, operator.eq),
    "!=": (4, operator.ne),
    "<=": (4, operator.le),
    "<": (4, operator.lt),
    ">=": (4, operator.ge),
    ">": (4, operator.gt),
    "+": (5, operator.add),
    "-": (5, operator.sub),
    "*": (6, operator.mul),
    "//": (6, _quotient),
    "%": (6, _remainder),
}
COMPARISONS = ("in", "==", "!=", "<=", "<", ">=", ">")


@dataclass(frozen=True, eq=False)
class Const(Expr):
    """A literal: a number, an element type, a location, or the options of `isin`."""

    value: Value

    def compile(self) -> Evaluate:
        return lambda env: self.value

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return "(" + ", ".join(str(v) for v in self.value) + ")"  # type: ignore[misc]  # of a `Value`
        return str(self.value)


class Field(Expr):
    """A property of an operand, `dst.valid.rows`; with an empty path the operand's own value."""

    def __init__(self, operand: str, path: tuple[str, ...] = (), root: Field | None = None) -> None:
        self._operand = operand  # a page's operand learns its name after its formulas are built
        self._root = self if root is None else root
        self.path = path

    @property
    def operand(self) -> str:
        return self._root._operand

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_"):
            raise AttributeError(name)
        return Field("", (*self.path, name), self._root)

    def compile(self) -> Evaluate:
        name, path = self.operand, self.path
        if path == ("given",):
            return lambda env: env.get(name, ABSENT) is not ABSENT
        if len(path) == 1:
            (only,) = path

            def property_of(env: Env) -> Value:
                value = env.get(name, ABSENT)
                if value is ABSENT or value is UNKNOWN:
                    return value
                value = getattr(value, only)
                return UNKNOWN if value is None else value

            return property_of

        def read(env: Env) -> Value:
            value = env.get(name, ABSENT)
            for step in path:
                if value is ABSENT or value is UNKNOWN:
                    return value
                value = getattr(value, step)
            return UNKNOWN if value is None else value

        return read

    def __str__(self) -> str:
        return ".".join((self.operand, *self.path))


class Computed(Expr):
    """A function of the values of other formulas; {0} in its text is the first of these."""

    def __init__(self, text: str, function: Callable[..., Value], *args: Expr) -> None:
        self.text, self.function, self.args = text, function, args

    def children(self) -> tuple[Expr, ...]:
        return self.args

    def compile(self) -> Evaluate:
        parts, function = [a.eval for a in self.args], self.function
        return lambda env: function(*(part(env) for part in parts))

    def __str__(self) -> str:
        return self.text.format(*self.args)


def formula(text: str) -> Callable[[Callable[..., Value]], Callable[..., Expr]]:
    """Make a function of values a formula on expressions: `@formula("pipe of {0}")`."""
    return lambda function: partial(Computed, text, function)


class SameStorage(Expr):
    """The formula that two operands are one tile: one value in text, one address at run time."""

    def __init__(self, left: Field, right: Field) -> None:
        self.left, self.right = left, right

    def children(self) -> tuple[Expr, ...]:
        return (self.left.address, self.right.address)

    def compile(self) -> Evaluate:
        def same(env: Env) -> Value:
            places = [getattr(part.eval(env), "place", None) for part in (self.left, self.right)]
            return UNKNOWN if None in places else places[0] == places[1]

        return same

    def __str__(self) -> str:
        return f"{self.left} and {self.right} are one tile"


class Node(Expr):
    """An operator applied to sub-formulas."""

    def __init__(self, op: str, *args: object) -> None:
        self.op = op
        self.args = tuple(a if isinstance(a, Expr) else Const(a) for a in args)
        self.strength, self.function = OPERATORS[op]

    def children(self) -> tuple[Expr, ...]:
        return self.args

    def compile(self) -> Evaluate:
        parts = tuple(a.eval for a in self.args)
        if self.op in ("and", "or"):
            decisive = self.op == "or"
            return _logical(decisive, parts)
        last = self.args[-1]
        if len(parts) == 2 and isinstance(last, Const) and not isinstance(last.value, Missing):
            return _with_constant(self.function, parts[0], last.value)
        return _applied(self.function, *parts)

    def __str__(self) -> str:
        right = self.strength + (self.op in ("-", "*", "//", "%"))  # keep the () of a * (b // c)
        texts = [_wrapped(a, right if i else self.strength) for i, a in enumerate(self.args)]
        if self.op == "not":
            return f"not {texts[0]}"
        if self.op == "in" and isinstance(self.args[1], Const) and len(self.args[1].value) == 1:
            return f"{texts[0]} == {self.args[1].value[0]}"
        return f" {self.op} ".join(texts)


def _conjunction(values: Iterable[Value]) -> Value:
    """Return the `and` of values in the three-valued logic of Kleene: one False decides."""
    return _decided(False, values)


def _disjunction(values: Iterable[Value]) -> Value:
    """Return the `or` of values in the three-valued logic of Kleene: one True decides."""
    return _decided(True, values)


def _decided(decisive: bool, values: Iterable[Value]) -> Value:
    """Combine values in three-valued logic, where one value equal to `decisive` decides.

    If no value decides, an absent operand makes the result ABSENT. A value may also be a symbolic
    condition of an engine; then the result is one too.
    """
    result: Value = not decisive
    for value in values:
        if value is decisive:
            return decisive
        if value is not (not decisive):
            result = _undecided(decisive, result, value)
    return result


def _logical(decisive: bool, parts: tuple[Evaluate, ...]) -> Evaluate:
    """Return the closure of `and` or `or` over parts, evaluated until one part decides."""
    neutral = not decisive

    def evaluate(env: Env) -> Value:
        result: Value = neutral
        for part in parts:
            value = part(env)
            if value is decisive:
                return decisive
            if value is not neutral:
                result = _undecided(decisive, result, value)
        return result

    return evaluate


def _undecided(decisive: bool, result: Value, value: Value) -> Value:
    """Combine a result with a value that is neither True nor False."""
    if result is ABSENT or value is ABSENT:
        return ABSENT
    if result is UNKNOWN or value is UNKNOWN:
        return UNKNOWN
    return value if result is (not decisive) else _joined(decisive, result, value)


def _joined(decisive: bool, a: Value, b: Value) -> Value:
    return a | b if decisive else a & b


def _applied(function: Callable[..., Value], first: Evaluate, *rest: Evaluate) -> Evaluate:
    """Return the closure of an operator on one or two parts: missing if a part is missing."""

    def one(env: Env) -> Value:
        value = first(env)
        return value if value is ABSENT or value is UNKNOWN else function(value)

    def two(env: Env) -> Value:
        left, right = first(env), rest[0](env)
        if left is ABSENT or right is ABSENT:
            return ABSENT
        return UNKNOWN if left is UNKNOWN or right is UNKNOWN else function(left, right)

    return two if rest else one


def _with_constant(function: Callable[..., Value], first: Evaluate, constant: Value) -> Evaluate:
    """Return the closure of an operator on a part and a constant: missing if the part is."""

    def one(env: Env) -> Value:
        value = first(env)
        return value if value is ABSENT or value is UNKNOWN else function(value, constant)

    return one


def _wrapped(expr: Expr, strength: int) -> str:
    inner = expr.strength if isinstance(expr, Node) else 9
    return f"({expr})" if inner < strength else str(expr)


def fields(expr: Expr) -> Iterator[Field]:
    """Yield every operand property that `expr` mentions, left to right."""
    if isinstance(expr, Field):
        yield expr
    for child in expr.children():
        yield from fields(child)


def operators(expr: Expr) -> set[str]:
    """Return every operator that occurs in `expr`."""
    own = {expr.op} if isinstance(expr, Node) else set[str]()
    return own.union(*(operators(c) for c in expr.children()))


def culprit(expr: Expr, env: Env) -> Expr:
    """Return the smallest part of a false formula that explains it: the first false conjunct."""
    if isinstance(expr, Node) and expr.op == "and":
        for child in expr.args:
            if child.eval(env) is False:
                return culprit(child, env)
    return expr


def seen(expr: Expr, env: Env) -> str:
    """Return the numbers of a false formula as text: 'row + dst.rows is 36 and src.rows is 32'."""
    expr = culprit(expr, env)
    if isinstance(expr, Node) and expr.op in COMPARISONS:
        parts: list[Expr] = [a for a in expr.args if not isinstance(a, Const)]
    else:
        parts = list(fields(expr))
    texts = dict.fromkeys(f"{part} is {_shown(part, env)}" for part in parts)
    return " and ".join(texts)


def _shown(expr: Expr, env: Env) -> str:
    """Return the value as text; a sum also shows its terms: '36 (4 + 32)'."""
    value = expr.eval(env)
    if not isinstance(expr, Node):
        return str(value)
    terms = f" {expr.op} ".join(str(a.eval(env)) for a in expr.args)
    return f"{value} ({terms})"
