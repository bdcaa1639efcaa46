"""The text of a growing LLVM function, and the symbolic numbers in it.

`Code` collects instructions; `Int` is a 64-bit number and `Truth` a condition known at run time
only. They have Python's operators, so that a page's body, its rules and the arithmetic of layouts
run on them unchanged and leave the instructions behind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from math import gcd
from typing import Any, TypeAlias

from ptokit.machine.evaluation import NumpyArray, scalar
from ptokit.machine.record import intervals
from ptokit.machine.record.intervals import EXTREMES, Limits
from ptokit.machine.record.linear import Bounds, LinearForm, combined, summand, summands
from ptokit.values.dtypes import DType
from ptokit.values.layouts import known
from ptokit.values.scalars import quotient, wrapped

Num: TypeAlias = "int | Int"
Condition: TypeAlias = "bool | Truth"

NAMES = re.compile(r"%\w+")
DISTINCT = ("add", "sub", "mul")  # other operations may give several blocks the same number
FEW = 1 << 48  # it has 2^16 multiples modulo 2^64, as many as a launch may have blocks
ALWAYS_OVERFLOWS = ("mul", str(EXTREMES[1]), "2")  # stands for a constant beyond 64 bits


class NotNative(Exception):
    """An instruction that cannot be compiled, so that the reference engine runs it."""


class Undecided(NotNative):
    """A body branches on a condition that is known at run time only."""

    def __init__(self, condition: Truth) -> None:
        super().__init__("a body asks for a condition that only the running program knows")
        self.condition = condition


class Code:
    """The lines of one function.

    `answers` are the values assumed for conditions on which Python branches; both are compiled.
    """

    def __init__(self, many: str = "", prefix: str = "") -> None:
        self.lines: list[str] = []
        self.prefix = prefix  # of all names
        self.many = many  # calling convention of functions that return several vectors
        self.kernels: dict[str, str] = {}  # called functions, by name
        self.names = 0
        self.block = "entry"
        self.answers: list[bool] = []
        self.asked = 0
        self.by_block: set[str] = set()  # numbers that differ between blocks of the launch
        self.known: dict[str, str] = {}  # pure instructions of the open block, by text
        self.unproven: dict[tuple[str, str, str], None] = {}  # operations that may overflow
        self.bounds = Bounds()

    def name(self, hint: str = "v") -> str:
        self.names += 1
        return f"{self.prefix}{hint}{self.names}"

    def let(self, text: str) -> str:
        """Name the result of an instruction; a pure one is written once per basic block."""
        if text in self.known:
            return self.known[text]
        name = f"%{self.name()}"
        self.lines.append(f"  {name} = {text}")
        distinct = self.by_block and text.startswith(DISTINCT)
        if distinct and not self.by_block.isdisjoint(NAMES.findall(text)):
            self.by_block.add(name)
        if not text.startswith(("load", "call", "alloca")):
            self.known[text] = name
        return name

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        """Start a basic block; results of earlier blocks may not dominate it, so forget them."""
        self.lines.append(f"{label}:")
        self.block, self.known = label, {}

    def jump(self, label: str) -> None:
        self.do(f"br label %{label}")

    def branch(self, condition: Truth | str, yes: str, no: str) -> None:
        text = condition.text if isinstance(condition, Truth) else condition
        self.do(f"br i1 {text}, label %{yes}, label %{no}")

    def fail(self, condition: str, after: str = "") -> None:
        """Branch to the label `failed` if the condition holds; else go on, at label `after`."""
        good = after or self.name("good")
        self.branch(condition, "failed", good)
        self.start(good)

    def overflow(self) -> str | None:
        """Return whether one of the unproven operations overflows; None if there are none."""
        found: str | None = None
        for word, left, right in self.unproven:
            pair = f"call {{i64, i1}} @llvm.s{word}.with.overflow.i64(i64 {left}, i64 {right})"
            flag = self.let(f"extractvalue {{i64, i1}} {self.let(pair)}, 1")
            found = flag if found is None else self.let(f"or i1 {found}, {flag}")
        self.unproven = {}
        return found

    @contextmanager
    def loop(self, count: Num, what: str, step: int = 1) -> Generator[Int]:
        """Write a loop over 0, step, 2 step, ... below `count`."""
        with self.iterations(Iterations(count, step), what) as index:
            yield index

    @contextmanager
    def iterations(self, iterations: Iterations, what: str) -> Generator[Int]:
        """Write a loop whose end and step may still change inside."""
        body, done, before = self.name("loop"), self.name("done"), self.block
        if isinstance(iterations.count, int):
            assert iterations.count > 0
            self.jump(body)
        else:
            self.branch(iterations.count > 0, body, done)
        self.start(body)
        index, where = f"%{self.name('i')}", len(self.lines)
        self.lines += "", ""
        yield Int(self, index, iterations.step)
        count, step = text(iterations.count), iterations.step
        after = self.let(f"add nuw nsw i64 {index}, {step}")
        self.lines[where] = f"  {index} = phi i64 [ 0, %{before} ], [ {after}, %{self.block} ]"
        self.lines[where + 1] = f"  ; for {index} in range(0, {count}, {step}): {what}"
        self.branch(self.let(f"icmp slt i64 {after}, {count}"), body, done)
        self.start(done)

    @contextmanager
    def when(self, condition: Truth | str | bool) -> Generator[None]:
        """Write instructions that run only if the condition holds."""
        condition = str(condition).lower() if isinstance(condition, bool) else condition
        yes, after = self.name("then"), self.name("after")
        self.branch(condition, yes, after)
        self.start(yes)
        yield
        self.jump(after)
        self.start(after)


@dataclass
class Iterations:
    """The end and the step of a loop."""

    count: Num
    step: int


def text(number: Num) -> str:
    """Return a number as an operand, modulo 2**64."""
    return str(wrapped(number, 64)) if isinstance(number, int) else number.text


class Truth:
    """A condition that is known at run time only."""

    def __init__(self, code: Code, text: str) -> None:
        self.code, self.text = code, text
        self.constant = {"true": True, "false": False}.get(text)  # as limits decide it

    def __bool__(self) -> bool:
        if self.constant is not None:
            return self.constant
        self.code.asked += 1
        if self.code.asked > len(self.code.answers):
            raise Undecided(self)
        return self.code.answers[self.code.asked - 1]

    def __and__(self, other: Condition) -> Condition:
        return (self if other else False) if isinstance(other, bool) else self._with("and", other)

    def __or__(self, other: Condition) -> Condition:
        return (other or self) if isinstance(other, bool) else self._with("or", other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Truth:
        if self.constant is not None:
            return Truth(self.code, str(not self.constant).lower())
        return Truth(self.code, self.code.let(f"xor i1 {self.text}, true"))

    def _with(self, word: str, other: Truth) -> Truth:
        for one, rest in ((self, other), (other, self)):
            if one.constant is not None:
                return one if one.constant is (word == "or") else rest
        return Truth(self.code, self.code.let(f"{word} i1 {self.text}, {other.text}"))

    def number(self) -> Num:
        if self.constant is not None:
            return int(self.constant)
        return Int(self.code, self.code.let(f"zext i1 {self.text} to i64"), upper=1, limits=(0, 1))


def every(conditions: Iterable[Condition]) -> Condition:
    """Return the conjunction of conditions."""
    total: Condition = True
    for condition in conditions:
        decided = getattr(condition, "constant", None)
        total = total & (condition if decided is None else decided)
    return total


class Int:
    """A 64-bit number known at run time only, with a known divisor, bound and limits.

    Numbers in rules and addresses are unbounded integers. `limits` are the least and the greatest
    possible value: an operation that may overflow is noted in `Code.unproven`, and a user of its
    result must first ask `Code.overflow`. A `proven` number cannot have overflowed.
    """

    def __init__(
        self,
        code: Code,
        text: str,
        multiple: int = 1,
        upper: int | None = None,
        limits: Limits = EXTREMES,
    ) -> None:
        self.code, self.text, self.multiple, self.upper = code, text, multiple, upper
        self.limits, self.proven = limits, True
        self.sum: tuple[Num, Num] | None = None  # the summands, if it is a sum
        self.form: LinearForm | None = None  # None: the number itself is a term

    def __repr__(self) -> str:
        return self.text

    def _make(
        self,
        word: str,
        a: Num,
        b: Num,
        multiple: int = 1,
        upper: int | None = None,
        limits: Limits = EXTREMES,
    ) -> Int:
        name = self.code.let(f"{word} i64 {text(a)}, {text(b)}")
        return Int(self.code, name, multiple, upper, limits)

    def _exactly(self, word: str, a: Num, b: Num, multiple: int) -> Int:
        """Return a sum, a difference or a product, and note a possible overflow."""
        low, high = intervals.exactly(word, limits_of(a), limits_of(b))
        form = combined(word, form_of(a), form_of(b))
        low = low if form is None else self.code.bounds.least(form, low)
        fits = EXTREMES[0] <= low and high <= EXTREMES[1]
        if any(isinstance(n, int) and not intervals.in_64_bits(n) for n in (a, b)):
            self.code.unproven[ALWAYS_OVERFLOWS] = None
        elif not fits:
            self.code.unproven[word, text(a), text(b)] = None
        limits = max(low, EXTREMES[0]), min(high, EXTREMES[1])
        result = self._make(word, a, b, multiple, limits=limits)
        result.proven = fits and all(n.proven for n in (a, b) if isinstance(n, Int))
        result.form = form if result.proven else None
        return result

    def __add__(self, other: Num) -> Num:
        if known(other, 0):
            return self
        total = self._exactly("add", self, other, gcd(self.multiple, _multiple(other)))
        total.sum = (self, other)
        return total

    __radd__ = __add__

    def __sub__(self, other: Num) -> Num:
        if isinstance(other, int):
            return self + -other
        return self._without(other)

    def _without(self, other: Int) -> Num:
        """Return a difference; common terms cancel, so that windows get constant lengths."""
        (mine, constant), (theirs, less) = summands(self), summands(other)
        if Counter(theirs) <= Counter(mine):
            rest = list((Counter(mine) - Counter(theirs)).elements())
            if not rest:
                return constant - less
            if len(rest) == 1 and constant == less and self.sum is not None:
                found = summand(self, rest[0])
                if found is not None:
                    return found
        return self._exactly("sub", self, other, gcd(self.multiple, other.multiple))

    def __rsub__(self, other: Num) -> Num:
        return self._exactly("sub", other, self, gcd(self.multiple, _multiple(other)))

    def __neg__(self) -> Num:
        return 0 - self

    def __mul__(self, other: Num) -> Num:
        if isinstance(other, int) and other in (0, 1):
            return self if other else 0
        product = self._exactly("mul", self, other, self.multiple * _multiple(other))
        if product.multiple & -product.multiple >= FEW:  # blocks may get equal numbers modulo 2^64
            self.code.by_block.discard(product.text)
        return product

    __rmul__ = __mul__

    def __floordiv__(self, other: Num) -> Num:
        """Divide by a positive constant, rounding down; NotNative for other divisors."""
        found = self._divided(other)
        if isinstance(found, Int) and isinstance(other, int) and other != 1 and self.proven:
            found.form = None
            self.code.bounds.quotient(found.text, form_of(self), other)
        return found

    def _divided(self, other: Num) -> Num:
        if not isinstance(other, int) or other <= 0:
            raise NotNative("division by a number that is not a positive constant")
        if other == 1:
            return self
        exact = self.multiple % other == 0
        multiple = self.multiple // other if exact else 1
        upper = None if self.upper is None else self.upper // other
        low, high = self.limits
        if other & (other - 1) == 0:
            word = "ashr exact" if exact else "ashr"
            limits = low // other, high // other
            return self._make(word, self, other.bit_length() - 1, multiple, upper, limits)
        limits = quotient(low, other), quotient(high, other)
        down = self._make("sdiv", self, other, multiple, upper, limits)
        if exact:
            return down
        short = (self - down * other) < 0
        assert isinstance(short, Truth)
        return down - short.number()

    def __mod__(self, other: Num) -> Num:
        if isinstance(other, int) and other > 0 and self.multiple % other == 0:
            return 0
        if isinstance(other, int) and other > 0 and other & (other - 1) == 0:
            return self._make("and", self, other - 1, upper=other - 1, limits=(0, other - 1))
        whole = self._make("mul", self // other, other)  # may wrap, but the remainder is right
        assert isinstance(other, int)
        return self._make("sub", self, whole, upper=other - 1, limits=(0, other - 1))

    def __rfloordiv__(self, other: Num) -> Num:
        raise NotNative("division by a number that only the running program knows")

    __rmod__ = __rfloordiv__

    def __divmod__(self, other: Num) -> tuple[Num, Num]:
        return self // other, self % other

    def _compare(self, word: str, other: object) -> Truth:
        if not isinstance(other, int | Int):
            raise NotNative("a number compared with something else")
        ends = (limits_of(n) if getattr(n, "proven", True) else EXTREMES for n in (self, other))
        answer = intervals.decided(word, *ends)
        if answer is None and all(n.proven for n in (self, other) if isinstance(n, Int)):
            answer = self.code.bounds.decided(word, form_of(self), form_of(other))
        if answer is not None:
            return Truth(self.code, str(answer).lower())
        return Truth(self.code, self.code.let(f"icmp {word} i64 {self.text}, {text(other)}"))

    def __lt__(self, other: Num) -> Truth:
        return self._compare("slt", other)

    def __le__(self, other: Num) -> Truth:
        return self._compare("sle", other)

    def __gt__(self, other: Num) -> Truth:
        return self._compare("sgt", other)

    def __ge__(self, other: Num) -> Truth:
        return self._compare("sge", other)

    def __eq__(self, other: object) -> Any:  # Any: a Truth, where Python expects a bool
        if isinstance(other, Int) and other.text == self.text:
            return True
        return self._compare("eq", other) if isinstance(other, int | Int) else False

    def __ne__(self, other: object) -> Any:  # Any: a Truth, where Python expects a bool
        same = self == other
        return ~same if isinstance(same, Truth) else not same

    def __hash__(self) -> int:
        return hash(self.text)

    def __and__(self, other: Num) -> Num:
        return self._make("and", self, other)

    def __or__(self, other: Num) -> Num:
        return self._make("or", self, other)

    __rand__, __ror__ = __and__, __or__

    def _pick(
        self,
        condition: Truth,
        yes: Num,
        no: Num,
        upper: int | None = None,
        limits: Limits | None = None,
    ) -> Num:
        if condition.constant is not None:
            return yes if condition.constant else no
        chosen = f"select i1 {condition.text}, i64 {text(yes)}, i64 {text(no)}"
        multiple = gcd(_multiple(yes), _multiple(no))
        limits = limits or intervals.around(limits_of(yes), limits_of(no))
        return Int(self.code, self.code.let(chosen), multiple, upper, limits)

    def least(self, other: Num) -> Num:
        uppers = self.upper, other if isinstance(other, int) else other.upper
        bounds = [b for b in uppers if b is not None]
        limits = intervals.pairwise(min, self.limits, limits_of(other))
        smaller = self <= other  # equal numbers are one another's least, too
        smaller = smaller if smaller.constant else self < other
        least = self._pick(smaller, self, other, min(bounds, default=None), limits)
        if smaller.constant is None and isinstance(least, Int):
            forms = (form_of(n) for n in (self, other) if isinstance(n, int) or n.proven)
            self.code.bounds.smallest(least.text, forms)
        return least

    def most(self, other: Num) -> Num:
        bounds = self.upper, other if isinstance(other, int) else other.upper
        upper = None if None in bounds else max(b for b in bounds if b is not None)
        limits = intervals.pairwise(max, self.limits, limits_of(other))
        larger = self >= other
        larger = larger if larger.constant else self > other
        return self._pick(larger, self, other, upper, limits)

    def quotient_of(self, a: Num, b: Num) -> Num:
        """Divide toward zero. Division by 0 gives an unspecified number; overflow wraps."""
        if isinstance(b, Int):
            minus, none = b == -1, b == 0
            down = self._make("sdiv", a, self._pick(minus | none, 1, b))
            return self._pick(minus, self._make("sub", 0, a), down)
        if b == 0:
            raise ZeroDivisionError
        return self._make("sub", 0, a) if b == -1 else self._make("sdiv", a, b)

    def bitwise(self, word: str, a: Num, b: Num) -> Num:
        """Return a bitwise operation; shifts are modulo 64, division by 0 as in `quotient_of`."""
        if word.endswith("shr") or word == "shl":
            b = b & 63
        elif word != "xor" and isinstance(b, Int):
            b = self._pick(b == 0, 1, b)
        elif word != "xor" and b == 0:
            raise ZeroDivisionError
        return self._make(word, a, b)

    def choice(self, yes: Any, no: Any, dtype: DType | None = None) -> Num | Coded:  # Any: numbers
        """Select one of two numbers; for floats by their codes."""
        test = self._compare("ne", 0)
        if dtype is None or not dtype.is_float:
            return self._pick(test, yes, no)
        return Coded(self._pick(test, coded(yes, dtype).bits, coded(no, dtype).bits), dtype)

    def wrapped(self, bits: int) -> Int:
        if bits == 64:  # modulo 2**64, of which only powers of two are known divisors
            divisor = min(self.multiple & -self.multiple, 1 << 63)
            return self if self.proven else Int(self.code, self.text, divisor)
        if bits == 1:
            return self._make("and", self, 1, upper=1, limits=(0, 1))
        half = 1 << (bits - 1)
        if self.proven and -half <= self.limits[0] and self.limits[1] < half:
            return self
        up = self._make("shl", self, 64 - bits)
        return self._make("ashr", up, 64 - bits, limits=(-half, half - 1))


@dataclass(frozen=True)
class Coded:
    """A float known at run time only, by its code."""

    bits: Num
    dtype: DType


def coded(number: Coded | NumpyArray | float, dtype: DType) -> Coded:
    """Return the number as a float of this type."""
    done = isinstance(number, Coded)
    return number if done else Coded(int(scalar(number, dtype).codes[0, 0]), dtype)


def form_of(number: Num) -> LinearForm:
    """Return a number as a linear form."""
    if isinstance(number, int):
        return LinearForm({}, number)
    return number.form or LinearForm({number.text: 1})


def limits_of(number: Num) -> Limits:
    return (number, number) if isinstance(number, int) else number.limits


def _multiple(number: Num) -> int:
    return abs(number) if isinstance(number, int) else number.multiple
