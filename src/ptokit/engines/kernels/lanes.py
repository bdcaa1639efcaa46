"""Words of the body language as vector instructions on several lanes.

A lane holds the code of an element: f32 as float, truth as i1, all other types as an integer of the
element's width (4-bit codes as i8).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ptokit.engines.kernels.floatranges import FloatRanges
from ptokit.machine.record.code import Code, NotNative
from ptokit.machine.record.expressions import Apply, Known, Traced
from ptokit.values import dtypes as t
from ptokit.values.arrays import BOOL
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import Rounding
from ptokit.values.scalars import wrapped

NAN = "0x7FF8000000000000"  # the positive quiet NaN, as LLVM writes a float: in double
ROUND = {
    Rounding.RINT: "nearbyint",
    Rounding.NONE: "nearbyint",
    Rounding.FLOOR: "floor",
    Rounding.CEIL: "ceil",
    Rounding.TRUNC: "trunc",
    Rounding.ROUND: "round",
    Rounding.ODD: "trunc",  # then to the odd neighbour, see `_rint`
}
FLOATS = {t.f32: "float", t.f64: "double"}  # the types that lanes hold as floats
ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq"}


def element(dtype: DType) -> str:
    """Return the LLVM type of one lane."""
    if dtype is BOOL:
        return "i1"
    return FLOATS.get(dtype) or f"i{dtype.size * 8}"


def float_constant(value: float) -> str:
    """Return a float constant in LLVM's hexadecimal form."""
    return "0x" + struct.pack(">d", value).hex().upper()


class Lanes:
    """Instructions on `count` lanes."""

    def __init__(self, code: Code, count: int) -> None:
        self.code, self.count = code, count

    def type(self, kind: str) -> str:
        return kind if self.count == 1 else f"<{self.count} x {kind}>"

    def splat(self, kind: str, constant: str) -> str:
        """Return a constant in every lane."""
        return constant if self.count == 1 else f"splat ({kind} {constant})"

    def spread(self, kind: str, scalar: str) -> str:
        """Return a scalar value in every lane."""
        if self.count == 1 or scalar.startswith("splat"):
            return scalar
        one = self.code.let(f"insertelement {self.type(kind)} poison, {kind} {scalar}, i64 0")
        zeros = f"<{self.count} x i32> zeroinitializer"
        kinds = self.type(kind)
        return self.code.let(f"shufflevector {kinds} {one}, {kinds} poison, {zeros}")

    def vector(self, kind: str, scalars: Iterable[str]) -> str:
        """Return a vector of these scalars."""
        result = "poison"
        for number, one in enumerate(scalars):
            if self.count == 1:
                return one
            insert = f"insertelement {self.type(kind)} {result}, {kind} {one}, i64 {number}"
            result = self.code.let(insert)
        return result

    def one(self, kind: str, vector: str, number: int) -> str:
        """Return the value of one lane."""
        if self.count == 1:
            return vector
        return self.code.let(f"extractelement {self.type(kind)} {vector}, i64 {number}")

    def shuffle(self, kind: str, a: str, b: str, picks: Sequence[int]) -> str:
        """Return lanes selected by number from `a` followed by `b`."""
        kinds, mask = self.type(kind), ", ".join(f"i32 {p}" for p in picks)
        chosen = f"<{len(picks)} x i32> <{mask}>"
        return self.code.let(f"shufflevector {kinds} {a}, {kinds} {b}, {chosen}")

    def op(self, word: str, kind: str, *args: str) -> str:
        return self.code.let(f"{word} {self.type(kind)} {', '.join(args)}")

    def call(self, name: str, kind: str, *args: str) -> str:
        """Return the result of an intrinsic of one type."""
        kinds = self.type(kind)
        texts = ", ".join(f"{kinds} {value}" for value in args)
        return self.code.let(f"call {kinds} @llvm.{name}.{self.mangled(kind)}({texts})")

    def mangled(self, kind: str) -> str:
        """Return the type suffix of intrinsic names."""
        one = {"float": "f32", "double": "f64"}.get(kind, kind)
        return one if self.count == 1 else f"v{self.count}{one}"

    def select(self, condition: str, kind: str, yes: str, no: str) -> str:
        kinds = self.type(kind)
        return self.code.let(f"select {self.type('i1')} {condition}, {kinds} {yes}, {kinds} {no}")

    def convert(self, word: str, source: str, value: str, target: str) -> str:
        return self.code.let(f"{word} {self.type(source)} {value} to {self.type(target)}")

    def bits(self, kind: str, value: str, target: str) -> str:
        """Return the same bits as another lane type."""
        return value if kind == target else self.convert("bitcast", kind, value, target)

    def canonical(self, value: str, kind: str = "float") -> str:
        """Return the value with every NaN as the positive quiet NaN, since payloads vary by CPU."""
        nan = self.op("fcmp uno", kind, value, value)
        return self.select(nan, kind, self.splat(kind, NAN), value)

    def divided(self, kind: str, value: str, by: int, *, signed: bool = False) -> tuple[str, str]:
        """Return the floored quotient and the remainder by a positive constant."""
        if by & (by - 1) == 0:
            shift, mask = (self.splat(kind, str(n)) for n in (by.bit_length() - 1, by - 1))
            down = self.op("ashr" if signed else "lshr", kind, value, shift)
            return down, self.op("and", kind, value, mask)
        constant, word = self.splat(kind, str(by)), "s" if signed else "u"
        down = self.op(f"{word}div", kind, value, constant)
        rest = self.op(f"{word}rem", kind, value, constant)
        if not signed:
            return down, rest
        zero, less = self.splat(kind, "0"), self.splat(kind, "-1")
        short = self.op("icmp slt", kind, rest, zero)
        back, more = (self.select(short, kind, n, zero) for n in (less, constant))
        return self.op("add", kind, down, back), self.op("add", kind, rest, more)

    def counted(self, kind: str, first: str, more: int, step: int) -> str:
        """Return first + more, first + more + step, ...; what differs by `more` shares `first`."""
        numbers = [wrapped(more + step * n, int(kind[1:])) for n in range(self.count)]
        if not any(numbers):
            return self.spread(kind, first)
        listed = ", ".join(f"{kind} {n}" for n in numbers)
        added = f"<{listed}>" if self.count > 1 else str(numbers[0])
        return self.op("add", kind, self.spread(kind, first), added)


class Words:
    """The evaluation of expressions on lanes; `leaf` returns the lanes of a leaf."""

    def __init__(self, lanes: Lanes, leaf: Callable[[Traced], str], used: dict[Any, Any]) -> None:
        self.lanes, self.leaf = lanes, leaf
        self.used = used  # leaf -> access; the types are defined in higher files
        self.done: dict[Traced, str] = {}
        self.deferred: dict[Traced, str] = {}  # results whose NaNs are not canonical yet: see `raw`
        self.ranges = FloatRanges()

    def value(self, node: Traced) -> str:
        """Return the lanes of an expression."""
        if node not in self.done:
            result = self.raw(node) if isinstance(node, Apply) else self.leaf(node)
            if node in self.deferred and self.ranges.of(node).nan:
                result = self.lanes.canonical(result, element(node.dtype))
            self.done[node] = result
        return self.done[node]

    def raw(self, node: Traced) -> str:
        """Return lanes whose NaNs need not be canonical, for words that ignore payloads."""
        if node in self.done or not isinstance(node, Apply):
            return self.value(node)
        if node not in self.deferred:
            result = self._apply(node)
            (self.deferred if node in self.deferred else self.done)[node] = result
            return result
        return self.deferred[node]

    def above(self, index: Traced, last: int) -> str:
        """Return whether an index is negative or greater than `last`, in as few bits as it has."""
        if isinstance(index, Apply) and index.word == "cast":
            [source] = index.args
            most = (1 << source.dtype.bits - source.dtype.signed) - 1
            index = source if source.dtype.is_int and last <= most else index
        kind = element(index.dtype)
        limit = self.lanes.splat(kind, str(last))
        return self.lanes.op("icmp ugt", kind, self.value(index), limit)

    def _apply(self, node: Apply) -> str:
        word = getattr(self, f"_{node.word}", None)
        if word is not None:
            return word(node)
        if node.word in ORDERED:
            return self._compare(ORDERED[node.word], node.args)
        return self._integer(node)

    def _number(self, arg: Traced, dtype: DType) -> str:
        """Return values for arithmetic: narrow floats as float."""
        if dtype.is_int and dtype.packed:  # four bits with a sign
            four = self.lanes.splat("i8", "4")
            return self.lanes.op(
                "ashr", "i8", self.lanes.op("shl", "i8", self.value(arg), four), four
            )
        if dtype.is_int or dtype in FLOATS:
            return self.raw(arg)
        if dtype == t.bf16:  # the upper half of an f32, with any NaN payload
            lanes = self.lanes
            wide = lanes.convert("zext", "i16", self.value(arg), "i32")
            return lanes.bits(
                "i32", lanes.op("shl", "i32", wide, lanes.splat("i32", "16")), "float"
            )
        return self.raw(self._as(arg, t.f32))

    def _as(self, x: Traced, dtype: DType) -> Traced:
        found = x.cast(dtype)
        assert isinstance(found, Traced)
        return found

    def _arithmetic(self, node: Apply) -> str:
        dtype, kind = node.dtype, element(node.dtype)
        if dtype.is_int:
            if dtype.packed:
                raise NotNative("arithmetic on four-bit integers")
            args = [self._number(a, dtype) for a in node.args]
            return self.lanes.op(node.word, kind, *args)
        if dtype == t.bf16 and self.lanes.count % 2 == 0:
            return self._in_halves(node)
        args = [self._number(a, dtype) for a in node.args]
        result = self.lanes.op(f"f{node.word}", FLOATS.get(dtype, "float"), *args)
        return self._arithmetic_result(node, result)

    def _sqrt(self, node: Apply) -> str:
        """Return the square root; NaN for negative numbers.

        The select comes before the root: LLVM, which treats all NaNs as one, would remove a select
        after it.
        """
        lanes, kind = self.lanes, FLOATS.get(node.dtype, "float")
        number = self._number(node.args[0], node.dtype)
        none = lanes.op("fcmp ult", kind, number, lanes.splat(kind, float_constant(0.0)))
        number = lanes.select(none, kind, lanes.splat(kind, NAN), number)
        return self._arithmetic_result(node, lanes.call("sqrt", kind, number))

    def _div(self, node: Apply) -> str:
        return self._arithmetic(node) if node.dtype.is_float else self._quotients(node)[0]

    def _rem(self, node: Apply) -> str:
        return self._arithmetic(node) if node.dtype.is_float else self._quotients(node)[1]

    def _quotients(self, node: Apply) -> tuple[str, str]:
        """Return the truncated quotient and the remainder; 0 and no trap for a divisor of 0."""
        lanes, kind = self.lanes, element(node.dtype)
        x, by = (self._number(a, node.dtype) for a in node.args)
        sign = "s" if node.dtype.signed else "u"
        zero, one = lanes.splat(kind, "0"), lanes.splat(kind, "1")
        none = lanes.op("icmp eq", kind, by, zero)
        safe = lanes.select(none, kind, one, by)
        minus = lanes.op("icmp eq", kind, by, lanes.splat(kind, "-1"))
        if node.dtype.signed:  # the least integer by -1 overflows: negate, which wraps
            safe = lanes.select(minus, kind, one, safe)
        if kind in ("i8", "i16"):  # exact in f32; LLVM divides integers lane by lane
            a, b = (lanes.convert(f"{sign}itofp", kind, n, "float") for n in (x, safe))
            down = lanes.convert("fptosi", "float", lanes.op("fdiv", "float", a, b), "i32")
            down = lanes.convert("trunc", "i32", down, kind)
        else:
            down = lanes.op(f"{sign}div", kind, x, safe)
        if node.dtype.signed:
            down = lanes.select(minus, kind, lanes.op("sub", kind, zero, x), down)
        quotient = lanes.select(none, kind, zero, down)
        rest = lanes.op("sub", kind, x, lanes.op("mul", kind, quotient, by))
        return quotient, lanes.select(none, kind, zero, rest)

    def _in_halves(self, node: Apply) -> str:
        """Return bf16 arithmetic in pairs: each 32-bit lane holds an upper and a lower number."""
        wide, lanes = Lanes(self.lanes.code, self.lanes.count // 2), self.lanes
        pairs = [
            wide.code.let(f"bitcast {lanes.type('i16')} {self.value(a)} to {wide.type('i32')}")
            for a in node.args
        ]
        upper, below = wide.splat("i32", str(0xFFFF0000)), wide.splat("i32", "16")
        parts: list[str] = []
        for word, by in (("shl", below), ("and", upper)):
            numbers = [wide.bits("i32", wide.op(word, "i32", p, by), "float") for p in pairs]
            result = wide.op(f"f{node.word}", "float", *numbers)
            parts.append(self._rounded_up(wide, result))
        low = wide.op("lshr", "i32", parts[0], below)
        high = wide.op("and", "i32", parts[1], upper)
        both = wide.op("or", "i32", low, high)
        return wide.code.let(f"bitcast {wide.type('i32')} {both} to {lanes.type('i16')}")

    def _rounded_up(self, lanes: Lanes, value: str) -> str:
        """Return an f32 whose upper half is the nearest bf16, ties to even."""
        bits, one = lanes.bits("float", value, "i32"), lanes.splat("i32", "1")
        odd = lanes.op("lshr", "i32", bits, lanes.splat("i32", "16"))
        odd = lanes.op("and", "i32", odd, one)
        total = lanes.op("add", "i32", bits, lanes.splat("i32", str(0x7FFF)))
        nan = lanes.op("fcmp uno", "float", value, value)
        quiet = lanes.splat("i32", str(0x7FC00000))
        return lanes.select(nan, "i32", quiet, lanes.op("add", "i32", total, odd))

    def _arithmetic_result(self, node: Apply, result: str) -> str:
        """Return float lanes whose NaNs are made canonical when their bits are used."""
        if node.dtype not in FLOATS:
            return self.encoded(result, node.dtype)
        self.deferred[node] = result
        return result

    _add = _sub = _mul = _arithmetic

    def encoded(self, value: str, dtype: DType) -> str:
        """Return f32 lanes rounded to a narrower type."""
        number = Traced(t.f32, 2, 2)
        self.done[number] = value
        return self.value(self._as(number, dtype))

    def _integer(self, node: Apply) -> str:
        """Return a word that LLVM has for integers of every width."""
        signed, kind = node.dtype.signed, element(node.dtype)
        word = ("ashr" if signed else "lshr") if node.word == "shr" else node.word
        if word not in ("and", "or", "xor", "shl", "ashr", "lshr"):
            raise NotNative(f"the word {word}")
        halves = _halves(node)
        if halves is not None:
            return self._joined(*halves)
        args = [self.value(a) for a in node.args]
        if "sh" in word:
            return self._shifted(word, node, *args)
        return self.lanes.op(word, kind, *args)

    def _joined(self, low: Traced, high: Traced) -> str:
        """Return words whose halves are the bits of two expressions."""
        lanes, kind = self.lanes, element(low.dtype)
        picks = [n // 2 + n % 2 * lanes.count for n in range(2 * lanes.count)]
        if lanes.count == 1:
            both = Lanes(lanes.code, 2).vector(kind, (self.value(low), self.value(high)))
        else:
            both = lanes.shuffle(kind, self.value(low), self.value(high), picks)
        twice = Lanes(lanes.code, 2 * lanes.count).type(kind)
        wide = lanes.type(f"i{2 * low.dtype.bits}")
        return lanes.code.let(f"bitcast {twice} {both} to {wide}")

    def _shifted(self, word: str, node: Apply, value: str, by: str) -> str:
        """Return a shift by any unsigned amount; amounts from the width on shift out every bit."""
        lanes, kind, bits = self.lanes, element(node.dtype), node.dtype.bits
        amount = getattr(node.args[1], "source", node.args[1])
        known = amount.constant if isinstance(amount, Known) else None
        if known is not None and known < bits:
            return lanes.op(word, kind, value, by)
        over = lanes.op("icmp uge", kind, by, lanes.splat(kind, str(bits)))
        if word == "ashr":
            last = lanes.select(over, kind, lanes.splat(kind, str(bits - 1)), by)
            return lanes.op(word, kind, value, last)
        return lanes.select(over, kind, lanes.splat(kind, "0"), lanes.op(word, kind, value, by))

    def _floordiv(self, node: Apply) -> str:
        return self._divided(node)[0]

    def _mod(self, node: Apply) -> str:
        return self._divided(node)[1]

    def _divided(self, node: Apply) -> tuple[str, str]:
        """Return the floored quotient and the remainder by a positive constant."""
        x, divisor = node.args
        known = getattr(divisor, "source", divisor)
        by = int(known.array.values[0, 0]) if isinstance(known, Known) and known.constant else 0
        if by <= 0:
            raise NotNative("division by what is not a positive constant")
        number = self._number(x, node.dtype)
        return self.lanes.divided(element(node.dtype), number, by, signed=node.dtype.signed)

    def _compare(self, word: str, args: Sequence[Traced]) -> str:
        x = args[0]
        a, b = (self._number(arg, x.dtype) for arg in args)
        if x.dtype.is_float:
            return self.lanes.op(f"fcmp {word}", FLOATS.get(x.dtype, "float"), a, b)
        order = word[1:] if word == "oeq" else ("s" if x.dtype.signed else "u") + word[1:]
        return self.lanes.op(f"icmp {order}", element(x.dtype), a, b)

    def _max(self, node: Apply) -> str:
        return self._chosen("olt", node)

    def _min(self, node: Apply) -> str:
        return self._chosen("ogt", node)

    def _chosen(self, word: str, node: Apply) -> str:
        """Return the second argument if the comparison holds, else the first, bits unchanged."""
        x, y = node.args
        if self.ranges.never(Apply(word[1:], node.args, {})):
            return self._selected(node, [x])[0]
        second = self._compare(word, node.args)
        first, other = self._selected(node, [x, y])
        return self.lanes.select(second, element(node.dtype), other, first)

    def _where(self, node: Apply) -> str:
        condition, *codes = node.args
        if self.ranges.never(condition):
            return self._selected(node, codes[1:])[0]
        chosen = self._selected(node, codes)
        return self.lanes.select(self.value(condition), element(node.dtype), *chosen)

    def _selected(self, node: Traced, args: Sequence[Traced]) -> list[str]:
        """Return operands of which the result takes one; NaNs are made canonical after that.

        Bits of operands that are no results do not change, so all have to be results or numbers.
        """
        if node.dtype not in FLOATS:
            return [self.value(a) for a in args]
        raw = [self.raw(a) for a in args]
        if self.ranges.of(node).nan:
            if any(a not in self.deferred and self.ranges.of(a).nan for a in args):
                return [self.value(a) for a in args]
            self.deferred[node] = ""
        return raw

    def _isnan(self, node: Apply) -> str:
        x = node.args[0]
        number = self._number(x, x.dtype)
        return self.lanes.op("fcmp uno", FLOATS.get(x.dtype, "float"), number, number)

    def _rint(self, node: Apply) -> str:
        rounding = node.parameters.get("rounding", Rounding.RINT)
        number, lanes = self._number(node.args[0], node.dtype), self.lanes
        whole = lanes.call(ROUND[rounding], FLOATS.get(node.dtype, "float"), number)
        if rounding is Rounding.ODD:
            whole = self._odd(number, whole)
        return self._arithmetic_result(node, whole)

    def _odd(self, number: str, whole: str) -> str:
        """Return the odd one of the two whole numbers around a number that is not whole."""
        lanes, kind = self.lanes, "float"
        half = lanes.op("fmul", kind, whole, lanes.splat(kind, float_constant(0.5)))
        even = lanes.op("fcmp oeq", kind, lanes.call("trunc", kind, half), half)
        between = lanes.op("fcmp one", kind, number, whole)
        both = lanes.op("and", "i1", even, between)
        one = lanes.splat(kind, float_constant(1.0))
        step = lanes.call("copysign", kind, one, number)
        return lanes.select(both, kind, lanes.op("fadd", kind, whole, step), whole)

    def _bitcast(self, node: Apply) -> str:
        x = node.args[0]
        return self.lanes.bits(element(x.dtype), self.value(x), element(node.dtype))

    def _cast(self, node: Apply) -> str:
        """Return a conversion that the processor supports."""
        x = node.args[0]
        value, lanes, dtype = self.raw(x), self.lanes, node.dtype
        source, target = element(x.dtype), element(dtype)
        if dtype.is_int and x.dtype.is_int:
            if x.dtype.size == dtype.size and x.dtype is not BOOL:
                return value
            wider = x.dtype is BOOL or x.dtype.size < dtype.size
            word = "trunc" if not wider else "sext" if x.dtype.signed else "zext"
            return lanes.convert(word, source, value, target)
        if t.f64 in (x.dtype, dtype) and x.dtype.is_float:
            word = "fpext" if dtype == t.f64 else "fptrunc"
            return self._arithmetic_result(node, lanes.convert(word, source, value, target))
        if x.dtype.is_int:
            return lanes.convert("sitofp" if x.dtype.signed else "uitofp", source, value, target)
        if dtype.is_int:
            return self._truncated(value)
        if x.dtype == t.f16:
            half = lanes.bits("i16", value, "half")
            return self._arithmetic_result(node, lanes.convert("fpext", "half", half, "float"))
        half = lanes.bits("half", lanes.convert("fptrunc", "float", value, "half"), "i16")
        if "finite" in node.parameters:
            return half
        nan = lanes.op("fcmp uno", "float", value, value)
        return lanes.select(nan, "i16", lanes.splat("i16", "32256"), half)

    def _truncated(self, value: str) -> str:
        """Return f32 truncated to i32 modulo 2**32; NaN and infinities become 0.

        Every step is exact. Few processors convert vectors to 64 bits, so multiples of 2**32 are
        subtracted first.
        """
        lanes, kind = self.lanes, "float"

        def all_of(number: float) -> str:
            return lanes.splat(kind, float_constant(number))

        high = lanes.call("trunc", kind, lanes.op("fmul", kind, value, all_of(2.0**-32)))
        low = lanes.op("fsub", kind, value, lanes.op("fmul", kind, high, all_of(2.0**32)))
        for word, limit, step in (("oge", 2.0**31, -(2.0**32)), ("olt", -(2.0**31), 2.0**32)):
            over = lanes.op(f"fcmp {word}", kind, low, all_of(limit))
            moved = lanes.op("fadd", kind, low, all_of(step))
            low = lanes.select(over, kind, moved, low)
        number = lanes.op("fcmp ord", kind, low, low)
        return lanes.convert("fptosi", kind, lanes.select(number, kind, low, all_of(0.0)), "i32")


def _halves(node: Apply) -> tuple[Traced, Traced] | None:
    """Return the lower and the upper half of words: low | high << width; None if it is no such."""
    low, high = node.args if node.word == "or" else (node, node)
    if not (isinstance(high, Apply) and high.word == "shl" and node.dtype.size > 1):
        return None
    high, by = high.args
    amount, width = getattr(by, "source", by), node.dtype.bits // 2
    if not (isinstance(amount, Known) and amount.constant == width):
        return None
    found = [x.args[0] for x in (low, high) if isinstance(x, Apply) and x.word == "cast"]
    plain = all(x.dtype.is_int and not x.dtype.signed and x.dtype.bits == width for x in found)
    return (found[0], found[1]) if plain and len(found) == 2 else None
