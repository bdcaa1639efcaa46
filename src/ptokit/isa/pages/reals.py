"""Scalar floats: `arith` and `math` on f16, bf16 and f32, and casts from and to them.

Bodies compute on arrays of one element, with the functions of tiles: a number and a tile of it give
the same bits. Types narrower than f32 are computed in f32 and rounded once.
"""

from functools import partial

from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import COMPARED, infix, signless
from ptokit.values import functions
from ptokit.values.functions import clear_sign, flip_sign

# a part of C++: if one operand is NaN the sum, which then is NaN
EITHER_NAN = "{lhs} != {lhs} || {rhs} != {rhs} ? {lhs} + {rhs} : "
TWO = "%a = arith.constant 1.5 : f32\n%b = arith.constant -0.25 : f32\n"
Real = partial(In, Scalar, real=True, element=True)  # a number, a float or else an integer
Whole = partial(In, Scalar, whole=True, element=True)


class BinaryReal(Instr, abstract=True, asm=Asm(dialect="arith", shape="same"), pipe=S):
    """result = lhs f rhs on floats of one type, rounded once."""

    disputes = ("X24",)
    example = f"{TWO}%n = NAME %a, %b : f32"
    result = Result(Scalar)
    lhs = Real()
    rhs = Real()

    def run(cls, lhs, rhs):
        return cls.f(lhs, rhs)


def ordered(first: Array, other: Array) -> Array:
    """Return whether `first` < `other`, with -0 less than 0."""
    signed = other.equals(0) & first.equals(0) & (1.0 / first < 1.0 / other)
    return (first < other) | signed


def lesser(a: Array, b: Array) -> Array:
    return ordered(b, a).where(b, a)


def greater(a: Array, b: Array) -> Array:
    return ordered(a, b).where(b, a)


def propagating(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return `f` with NaN if either operand is: their sum gives the quiet one."""
    return lambda a, b: (a.isnan() | b.isnan()).where(a + b, f(a, b))


def ignoring(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return `f` with the other operand if one is NaN."""
    return lambda a, b: b.isnan().where(a, a.isnan().where(b, f(a, b)))


def binary(
    name: str, own: str, f: Callable[..., Array], cpp: str, meaning: str, symbol: str = ""
) -> type[BinaryReal]:
    """Return the page of a row: C++ is an operator, or the call of a function."""
    asm = infix(cpp) if cpp in "+-*/" else in_cpp(f"{cpp}({{lhs}}, {{rhs}})")
    return table_row(BinaryReal, name, meaning, own=own, f=f, asm=asm, symbol=symbol)


FMIN, FMAX = (f"{EITHER_NAN}std::{name}" for name in ("fmin", "fmax"))
minimum, maximum = propagating(lesser), propagating(greater)
fmin, fmax = ignoring(lesser), ignoring(greater)
SMALLER, LARGER = (f"The {word} of two floats, -0 less than 0" for word in ("smaller", "larger"))
REMAINDER = "The remainder of truncated division, exact, with the sign of lhs; NaN for rhs 0."
QUOTIENT = "result = lhs / rhs, correctly rounded; infinity or NaN for rhs 0."

AddF = binary("AddF", "addf", operator.add, "+", "result = lhs + rhs")
SubF = binary("SubF", "subf", operator.sub, "-", "result = lhs - rhs")
MulF = binary("MulF", "mulf", operator.mul, "*", "result = lhs * rhs")
DivF = binary("DivF", "divf", Array.__truediv__, "/", QUOTIENT)
RemF = binary("RemF", "remf", Array.remainder, "std::fmod", REMAINDER)
MinimumF = binary("MinimumF", "minimum", minimum, FMIN, f"{SMALLER}; NaN if either is.", "min")
MaximumF = binary("MaximumF", "maximum", maximum, FMAX, f"{LARGER}; NaN if either is.", "max")
MinNumF = binary("MinNumF", "minf", fmin, "std::fmin", f"{SMALLER}; if one is NaN the other.")
MaxNumF = binary("MaxNumF", "maxf", fmax, "std::fmax", f"{LARGER}; if one is NaN the other.")


class PowF(
    BinaryReal,
    own="pow ->",
    f=functions.power,
    asm=in_cpp("std::pow({lhs}, {rhs})").over(Asm(dialect="math")),
):
    """lhs to the power rhs, as TPOW."""


class UnaryReal(Instr, abstract=True, asm=Asm(dialect="math", shape="same"), pipe=S):
    """result = f value on floats of one type."""

    example = "%a = arith.constant 1.5 : f32\n%n = NAME %a : f32"
    result = Result(Scalar)
    value = Real()

    def run(cls, value):
        return cls.f(value)


class NegF(UnaryReal, own="negf", f=flip_sign, asm=in_cpp("-{value}").over(Asm(dialect="arith"))):
    """The value with the other sign, NaN too."""


def unary(
    name: str, own: str, f: Callable[[Array], Array], cpp: str, meaning: str
) -> type[UnaryReal]:
    """Return the page of a row: C++ calls a function of the value."""
    return table_row(UnaryReal, name, meaning, own=own, f=f, asm=in_cpp(f"{cpp}({{value}})"))


def integral(rounding: Rounding) -> Callable[[Array], Array]:
    return lambda x: x.rint(rounding)


floor, ceil, trunc = map(integral, (Rounding.FLOOR, Rounding.CEIL, Rounding.TRUNC))
nearest, to_even = map(integral, (Rounding.ROUND, Rounding.RINT))
rsqrt = functions.reciprocal_root
ROOT = "The square root, correctly rounded; NaN for negative values."

AbsF = unary("AbsF", "absf ->", clear_sign, "std::fabs", "The value without its sign, NaN too.")
Exp = unary("Exp", "exp ->", functions.exp, "std::exp", "e to the power value, as TEXP.")
Log = unary("Log", "log ->", functions.log, "std::log", "The natural logarithm, as TLOG.")
Sqrt = unary("Sqrt", "sqrt ->", Array.sqrt, "std::sqrt", ROOT)
Rsqrt = unary("Rsqrt", "", rsqrt, "1 / std::sqrt", "1 / the square root, as TRSQRT.")
Floor = unary("Floor", "floor ->", floor, "std::floor", "The integral value at or below.")
Ceil = unary("Ceil", "ceil ->", ceil, "std::ceil", "The integral value at or above.")
Trunc = unary("Trunc", "", trunc, "std::trunc", "The integral value toward zero.")
Round = unary(
    "Round", "round ->", nearest, "std::round", "The nearest integral value, half away from zero."
)
RoundEven = unary(
    "RoundEven", "rint ->", to_even, "std::nearbyint", "The nearest integral value, half to even."
)


class AbsI(Instr, own="absi signed", pipe=S):
    """|value|; the smallest integer is unchanged."""

    asm = in_cpp("{value} < 0 ? -{value} : {value}").over(Asm(dialect="math", shape="same"))
    example = "%a = arith.constant -7 : i32\n%n = NAME %a : i32"
    result = Result(Scalar)
    value = Whole()
    source = TypeOf(value)
    rules = signless(source)

    def run(value):
        return (value < 0).where(0 - value, value)


class FloatPredicate(Word, mlir="cmpf_predicate"):
    """The comparisons of `cmpf`: o is false if one operand is NaN, u is true."""

    FALSE, OEQ = ("false", "false"), ("oeq", "{lhs} == {rhs}")
    OGT, OGE = ("ogt", "{lhs} > {rhs}"), ("oge", "{lhs} >= {rhs}")
    OLT, OLE = ("olt", "{lhs} < {rhs}"), ("ole", "{lhs} <= {rhs}")
    ONE = "one", "{lhs} < {rhs} || {lhs} > {rhs}"
    ORD = "ord", "{lhs} == {lhs} && {rhs} == {rhs}"
    UEQ = "ueq", "!({lhs} < {rhs} || {lhs} > {rhs})"
    UGT, UGE = ("ugt", "!({lhs} <= {rhs})"), ("uge", "!({lhs} < {rhs})")
    ULT, ULE = ("ult", "!({lhs} >= {rhs})"), ("ule", "!({lhs} > {rhs})")
    UNE, UNO = ("une", "{lhs} != {rhs}"), ("uno", "{lhs} != {lhs} || {rhs} != {rhs}")
    TRUE = "true", "true"


RELATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": Array.equals,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
    "ne": lambda a, b: (a < b) | (b < a),
    "rd": lambda a, b: a.equals(a) & b.equals(b),
    "no": lambda a, b: a < a,
}


class CmpF(Instr, own="cmpf", asm=COMPARED, pipe=S):
    """result (i1) = lhs compared with rhs; -0 equals 0."""

    example = f"{TWO}%n = NAME olt, %a, %b : f32"
    result = Result(Scalar, scalar="i1")
    lhs = Real()
    rhs = Real()
    predicate = Attr(FloatPredicate, FloatPredicate.FALSE)

    def run(lhs, rhs, predicate):
        word, either = predicate.text, lhs.isnan() | rhs.isnan()
        if word in ("true", "false"):
            return lhs.equals(lhs) | either if word == "true" else lhs < lhs
        relation = {"one": "ne", "une": "ne", "ord": "rd", "uno": "no"}.get(word) or word[1:]
        found = RELATIONS[relation](lhs, rhs)
        return found | either if word.startswith("u") else found


class Conversion(Instr, abstract=True, pipe=S):
    """A number in another type."""

    asm = in_cpp("({type}){value}").over(Asm(dialect="arith", shape="cast"))
    result = Result(Scalar)
    value = Real()


class ExtF(Conversion, own="ftof wider"):
    """A wider float of the same value."""

    example = "%a = arith.constant 1.5 : f16\n%n = NAME %a : f16 to f32"

    def run(value, result):
        return value.cast(result.element)


class ScalarRounding(Word, mlir="roundingmode"):
    """The rounding of a number that its new type cannot represent."""

    EVEN, DOWN = ("to_nearest_even", "round(r)"), ("downward", "round(f)")
    UP, ZERO = ("upward", "round(c)"), ("toward_zero", "round(z)")
    AWAY, ODD = ("to_nearest_away", "round(a)"), ("to_odd", "round(o)")


class Beyond(Word, mlir="saturation"):
    """The result for a number out of range: the nearest number of the type, or infinity."""

    SAT, NOSAT = ("sat", "sat"), ("nosat", "nosat")


MODES = {
    None: Rounding.NONE,  # toward zero to integers, half to even to floats
    ScalarRounding.EVEN: Rounding.RINT,
    ScalarRounding.DOWN: Rounding.FLOOR,
    ScalarRounding.UP: Rounding.CEIL,
    ScalarRounding.ZERO: Rounding.TRUNC,
    ScalarRounding.AWAY: Rounding.ROUND,
    ScalarRounding.ODD: Rounding.ODD,
}


class Rounded(Conversion, abstract=True):
    """A number in a type that may not represent it."""

    asm = in_cpp("({type}){value}[ /* {rounding} */][ /* {beyond} */]")
    rounding = Attr(ScalarRounding, None, key="roundingmode")
    beyond = Attr(Beyond, None, key="saturation")


class TruncF(Rounded, own="ftof", symbol="float"):
    """A narrower float, rounded half to even by default."""

    example = "%a = arith.constant 1.5 : f32\n%n = NAME %a downward : f32 to bf16"

    def run(value, result, rounding, beyond):
        return value.cast(result.element, MODES[rounding], saturate=beyond is Beyond.SAT)


class FromSigned(
    Rounded,
    own="itof signed",
    name="sitofp",
    symbol="float",
    asm=in_cpp("({type})[{minus}]{value}[ /* {rounding} */][ /* {beyond} */]"),
):
    """A signed integer as float, rounded half to even by default."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to f32"
    value = Whole()
    source = TypeOf(value)
    rules = signless(source)

    def run(value, source, result, rounding, beyond):
        negated = 0 - value.cast(i32) if source.bits == 1 else value  # an i1 is 0 or -1
        return negated.cast(result.element, MODES[rounding], saturate=beyond is Beyond.SAT)


class FromUnsigned(
    Rounded,
    own="itof unsigned",
    name="uitofp",
    asm=in_cpp("({type})({unsigned}){value}[ /* {rounding} */][ /* {beyond} */]"),
):
    """An unsigned integer as float, rounded half to even by default."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to f32"
    value = Whole()
    source = TypeOf(value)
    rules = signless(source)

    def run(value, result, rounding, beyond):
        bits = value.bitcast(unsigned_of(value.dtype))
        return bits.cast(result.element, MODES[rounding], saturate=beyond is Beyond.SAT)


class ToInteger(Rounded, abstract=True):
    """A float as integer."""

    saturates = "beyond the type is the nearest number of it"
    kind = TypeOf(Conversion.result)
    rules = (
        signless(kind),
        when(
            Rounded.beyond.given, named("attribute", Rounded.beyond == Beyond.SAT, help=saturates)
        ),
    )


class ToSigned(ToInteger, own="ftoi signed", name="fptosi"):
    """A float as signed integer, toward zero by default.

    Values out of range become the nearest number of the type, NaN 0, as on ARM's scalar units.
    """

    example = "%a = arith.constant -7.5 : f32\n%n = NAME %a : f32 to i32"

    def run(value, result, rounding):
        return value.cast(result.element, MODES[rounding], saturate=True)


class ToUnsigned(
    ToInteger,
    own="ftoi unsigned",
    name="fptoui",
    asm=in_cpp("({type})({unsigned}){value}[ /* {rounding} */][ /* {beyond} */]"),
):
    """A float as unsigned integer, toward zero by default; values out of range as for fptosi."""

    example = "%a = arith.constant 7.5 : f32\n%n = NAME %a : f32 to i32"

    def run(value, result, rounding):
        wanted = unsigned_of(result.element)
        return value.cast(wanted, MODES[rounding], saturate=True).bitcast(result.element)


class SameBits(Conversion, abstract=True, asm=in_cpp("std::bit_cast<{type}>({value})")):
    """The same bits as a float or an integer of the same width."""

    example = "%a = arith.constant 1.5 : f32\n%n = NAME %a : f32 to i32"
    value = In(Scalar, element=True)
    source, kind = TypeOf(value), TypeOf(Conversion.result)
    of_one_width = named(
        "element-type", source.bits == kind.bits, help="use a type of the same width"
    )
    rules = (signless(source, kind), of_one_width)

    def run(value, result):
        return value.bitcast(result.element)


class Bitcast(SameBits, own="bitcast", name="bitcast"):
    __doc__ = SameBits.__doc__


def unsigned_of(dtype: DType) -> DType:
    """Return the unsigned type of the same width."""
    return {i8: u8, i16: u16, i32: u32, i64: u64}.get(dtype, dtype)
