"""Run-time numbers: linear sums of terms, so that equal numbers have equal forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import prod
from types import CodeType
from typing import Any, NoReturn, Protocol, TypeAlias, TypeGuard, cast

from ptokit.api.kernel.callplaces import SOURCELESS, refused, user_frame
from ptokit.ir.module import Value
from ptokit.isa.model.types import I1, INDEX, ScalarType
from ptokit.launch.settings import recording
from ptokit.values.host import is_scalar

MOST_FACTORS = 16  # largest exponent of a power
WORDS = "pto.range, &, |, pto.min, pto.max, pto.where"
ADVICE = f"Python's while, and, or, not, min, range and int need the number now: use {WORDS}"


class RunTimeNumber:
    """A number of the program: a sum of values times integers, plus a constant.

    `kind` is its type; only numbers of type index have more than one term.
    """

    __slots__ = ("const", "kind", "shown", "terms")

    def __init__(
        self, terms: Mapping[Value, int], const: int = 0, kind: ScalarType = INDEX
    ) -> None:
        self.terms, self.const, self.kind = terms, const, kind
        self.shown = ""  # the text of a condition

    @classmethod
    def of(cls, value: Value, kind: ScalarType = INDEX) -> RunTimeNumber:
        """Return the number that a value of the program holds."""
        return cls({value: 1}, 0, kind)

    def __repr__(self) -> str:
        if self.shown:
            return self.shown
        parts = [f"%{v.name}" if n == 1 else f"{n} * %{v.name}" for v, n in self.terms.items()]
        return " + ".join([*parts, *([str(self.const)] if self.const else [])])

    def refuse(self, *_: object) -> NoReturn:
        """Raise the error for an operation that needs the number now."""
        code = user_frame().f_code
        why = SOURCELESS.get(code)
        if why is not None:
            help = f"{why}: ptokit records `if` and pto.range of a function from its source, "
            help += f"so put {code.co_name} into a file, and load it anew when the file changes"
            raise refused("run-time-number", f"{self!r} is not known while recording", help)
        helper = code.co_name.isidentifier() and not _recorder().sees(code)
        advice = f"put @pto.inline on {code.co_name}, or use {WORDS}" if helper else ADVICE
        raise refused("run-time-number", f"{self!r} is not known while recording", advice)

    __bool__ = __index__ = __int__ = __float__ = __iter__ = __round__ = refuse  # type: ignore[assignment]  # raises for any arguments
    __hash__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = refuse  # type: ignore[assignment]  # raises for any arguments
    __xor__ = __rxor__ = __rpow__ = __matmul__ = __trunc__ = __floor__ = __ceil__ = refuse  # type: ignore[assignment]  # raises for any arguments

    def __format__(self, form: str) -> str:
        return repr(self)

    def __abs__(self) -> Number:
        return extreme("max", self, -self)

    def __divmod__(self, other: Number) -> tuple[Number, Number]:
        return self // other, self % other

    def __pow__(self, times: object) -> Number:
        if not isinstance(times, int) or not 0 <= times <= MOST_FACTORS:
            self.refuse()
        return prod([self] * times)

    def __add__(self, other: Number) -> Number:
        return combined(self, 1, other, 1) if _linear(self, other) else computed("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        return (
            combined(self, 1, other, -1) if _linear(self, other) else computed("sub", self, other)
        )

    def __rsub__(self, other: Number) -> Number:
        return (
            combined(other, 1, self, -1) if _linear(self, other) else computed("sub", other, self)
        )

    def __neg__(self) -> Number:
        return 0 - self

    def __pos__(self) -> Number:
        return self

    def __mul__(self, other: Number) -> Number:
        if _linear(self) and isinstance(other, int):
            return combined(self, other, 0, 0)
        return computed("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        return self.refuse() if _linear(self) else computed("truediv", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        return self.refuse() if _linear(self) else computed("truediv", other, self)

    def __floordiv__(self, other: Number) -> Number:
        if isinstance(other, int) and other > 0 and self.divides(other):
            return _made({v: n // other for v, n in self.terms.items()}, self.const // other)
        return computed("floordiv", self, other)

    def __rfloordiv__(self, other: Number) -> Number:
        return computed("floordiv", other, self)

    def __mod__(self, other: Number) -> Number:
        if isinstance(other, int) and other > 0 and self.divides(other):
            return self.const % other
        return self - self // other * other

    def __rmod__(self, other: Number) -> Number:
        return other - other // self * self

    def __and__(self, other: Number) -> Number:
        return computed("and", self, other)

    def __or__(self, other: Number) -> Number:
        return computed("or", self, other)

    __rand__, __ror__ = __and__, __or__

    def __lt__(self, other: Number) -> Condition:
        return compared("<", self, other)

    def __le__(self, other: Number) -> Condition:
        return compared("<=", self, other)

    def __gt__(self, other: Number) -> Condition:
        return compared(">", self, other)

    def __ge__(self, other: Number) -> Condition:
        return compared(">=", self, other)

    def __eq__(self, other: object) -> Any:  # Any: a condition, for checkers a bool
        return compared("==", self, other)  # type: ignore[arg-type]  # `compared` checks the type

    def __ne__(self, other: object) -> Any:  # Any: as above
        return compared("!=", self, other)  # type: ignore[arg-type]  # `compared` checks the type

    def divides(self, by: int) -> bool:
        """Return whether the terms, without the constant, are multiples of `by`."""
        return _linear(self) and all(n % by == 0 for n in self.terms.values())


Number: TypeAlias = "int | float | RunTimeNumber"
Condition: TypeAlias = "bool | RunTimeNumber"


class Arithmetic(Protocol):
    """The operations of a recorder on numbers."""

    def arithmetic(self, symbol: str, a: Number, b: Number) -> Number: ...
    def comparison(self, sign: str, a: Number, b: Number) -> Value: ...
    def sees(self, code: CodeType) -> bool: ...
    def selection(self, condition: RunTimeNumber, yes: Number, no: Number) -> Number: ...


def _recorder() -> Arithmetic:
    return cast(Arithmetic, recording.get())


def is_number(given: object) -> TypeGuard[Number]:
    """Return whether it is a number of Python, of NumPy or of the program."""
    return isinstance(given, RunTimeNumber | int | float) or is_scalar(given)


def _linear(*numbers: Number) -> bool:
    """Return whether all are integers, so that their sums are sums of terms."""
    return all(
        n.kind is INDEX if isinstance(n, RunTimeNumber) else isinstance(n, int) for n in numbers
    )


def _made(terms: Mapping[Value, int], const: int) -> Number:
    terms = {value: n for value, n in terms.items() if n}
    return RunTimeNumber(terms, const) if terms else const


def combined(a: Number, p: int, b: Number, q: int) -> Number:
    """Return p * a + q * b."""
    terms: dict[Value, int] = {}
    const = 0
    for number, factor in ((a, p), (b, q)):
        if isinstance(number, RunTimeNumber):
            const += factor * number.const
            for value, n in number.terms.items():
                terms[value] = terms.get(value, 0) + factor * n
        else:
            const += factor * operator.index(number)  # type: ignore[arg-type]  # linear numbers are integers
    return _made(terms, const)


def require_whole(given: object, what: str) -> None:
    """Raise TypeError unless the value is an integer."""
    fraction = given.kind.is_float if isinstance(given, RunTimeNumber) else False
    if fraction or not (isinstance(given, RunTimeNumber) or hasattr(given, "__index__")):
        raise TypeError(f"{what} integers, got {given!r}")


def difference(a: Number, b: Number) -> Number | None:
    """Return a - b if both are integers."""
    return combined(a, 1, b, -1) if _linear(a, b) else None


def computed(symbol: str, a: Number, b: Number) -> Number:
    """Return the result of an instruction on two numbers."""
    if not (is_number(a) and is_number(b)):
        return NotImplemented
    return _recorder().arithmetic(symbol, a, b)


SIGNS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def compared(sign: str, a: Number, b: Number) -> Condition:
    """Return a comparison of a and b, which is static if their difference is."""
    if not (is_number(a) and is_number(b)):
        return NotImplemented
    rest = difference(a, b)
    if isinstance(rest, int):
        return SIGNS[sign](rest, 0)
    made = RunTimeNumber.of(_recorder().comparison(sign, a, b), I1)
    made.shown = f"{a!r} {sign} {b!r}"
    return made


def extreme(symbol: str, a: Number, b: Number) -> Number:
    """Return the smaller or the larger of two numbers."""
    if not isinstance(a, RunTimeNumber) and not isinstance(b, RunTimeNumber):
        return min(a, b) if symbol == "min" else max(a, b)
    rest = difference(a, b)
    if isinstance(rest, int):
        return a if (rest <= 0) == (symbol == "min") else b
    return _recorder().arithmetic(symbol, a, b)


def chosen(condition: object, yes: Number, no: Number) -> Number:
    """Return `yes` if the condition holds, else `no`."""
    if not isinstance(condition, RunTimeNumber):
        return yes if condition else no
    return _recorder().selection(condition, yes, no)


def cdiv(a: int, b: int) -> int:
    """Return a / b, rounded up."""
    for number in (a, b):
        require_whole(number, "pto.cdiv(a, b) takes")
    if not isinstance(b, RunTimeNumber) and b == 0:
        raise ValueError("pto.cdiv(a, b) divides by b, and b is 0")
    return (a + b - 1) // b
