"""Scalar arithmetic: the `arith` dialect on index and integer values."""

from functools import partial

from ptokit.isa.lang.page import *
from ptokit.values.scalars import Integer, bitwise, choice, quotient, remainder, truth, wrapped

WIDTH_OF_INDEX = 64
HALF = 1 << 63


def extent(operation: str) -> str:
    """Return an example: `operation` computes a valid extent, %n, from %a and %b."""
    tile = "!pto.tile_buf<vec, 16x32xf32, valid=?x32>"
    numbers = "%a = arith.constant 7 : index\n%b = arith.constant 2 : index\n"
    return f"{numbers}{operation}\n%t = pto.alloc_tile valid_row = %n : {tile}"


LESSER = extent("%less = arith.cmpi slt, %b, %a : index\n%n = arith.select %less, %a, %b : index")


def in_type(value: int, kind: ScalarType) -> int:
    """Return `value` as a signed integer of the type's width; i1 is 0 or 1."""
    return wrapped(value, kind.bits)


def unsigned(value: int, kind: ScalarType) -> int:
    """Return the bits of the type's width as an unsigned number; 64 bits unchanged."""
    return value % (1 << kind.bits) if kind.bits < WIDTH_OF_INDEX else value


UNSIGNED_TYPES = ("u8", "u16", "u32", "u64")
NO_SIGN = "MLIR operations, not types, distinguish signed from unsigned: convert to iN first"


def signless(*kinds: TypeOf) -> Rules:
    """Require numbers whose type has no sign, as MLIR does."""
    rules = (~kind.name.isin(*UNSIGNED_TYPES) for kind in kinds)
    return on(HARDWARE, named("element-type", *rules, help=NO_SIGN))


class Constant(Instr, own="constant", name="constant", pipe=S):
    """A number known statically.

    An integer of 64 bits stands for the signed number of the same bits.
    """

    asm = Asm(dialect="arith", shape="constant", cpp_text="constexpr {type} {result} = {value};")
    example = "%a = NAME 7 : index"
    result = Result(Scalar)
    value = Attr(int, 0)
    kind = TypeOf(result)
    rules = signless(kind)
    disputes = ("E59",)

    def run(value, result):
        if isinstance(value, float):
            from ptokit.values.formats import rounded  # programs of integers do without NumPy

            return rounded(value, result.element)
        return in_type(value, result)


class ConstantCounts(
    Instr,
    own="constant",
    name="constant",
    form="counts",
    uses=(MACHINE,),
    traits=(ALLOCATES,),
    pipe=S,
):
    """The counts of a merge, `vector<4xi16>`: a merge overwrites the content."""

    asm = Asm(dialect="arith", shape="constant", cpp_text="{type} {result};")
    example = "%a = arith.constant dense<0> : vector<4xi16>"
    result = Result(Tile)

    def run(machine, result):
        return machine.new(result.closed)


class ConstantParts(Instr, own="constant", name="constant", form="packed", pipe=S):
    """Numbers in one register of a thread, known statically."""

    asm = Asm(dialect="arith", shape="constant", cpp_on=NOWHERE, cpp_text="{type} {result};")
    example = "%a = arith.constant dense<[1.0, 2.0]> : vector<2xf16>"
    result = Result(Scalar)
    value = Attr(tuple)

    def in_parts(make, value, result):
        return [make.op(Constant, {}, {"value": number}, [result.of])[0] for number in value]


class BinaryScalar(Instr, abstract=True, asm=Asm(dialect="arith", shape="same"), pipe=S):
    """result = lhs f rhs on values of one type, in two's complement: overflow wraps.

    `index` has 64 bits. Every intermediate result of `f` except the last must fit, or be a sum or
    product, which may wrap.
    """

    example = extent("%n = NAME %a, %b : index")
    result = Result(Scalar)
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)
    kind = TypeOf(rhs)
    rules = signless(kind)

    def run(cls, lhs, rhs, result):
        return in_type(cls.f(lhs, rhs), result)


def infix(operator: str, more: str = "", kind: str = "") -> Asm:
    """Return C++ with an operator between the operands, `kind` (a cast) before, `more` after."""
    return in_cpp(f"{kind}{{lhs}} {operator} {kind}{{rhs}}{more}")


# further parts of C++: the type of unsigned operands; corrections of truncated quotients
UNSIGNED = "({unsigned})"
REST = "{lhs} % {rhs} != 0 && ({lhs} < 0) SAME ({rhs} < 0)"
UP, DOWN = f" + ({REST.replace('SAME', '==')})", f" - ({REST.replace('SAME', '!=')})"
UNSIGNED_UP = " + (({unsigned}){lhs} % ({unsigned}){rhs} != 0)"


def quotient_up(a: int, b: int) -> int:
    """Return the quotient rounded up."""
    whole = quotient(a, b)
    rest = a - whole * b
    return whole + truth((rest > 0) & (b > 0) | (rest < 0) & (b < 0))


def quotient_down(a: int, b: Integer) -> int:
    """Return the quotient rounded down."""
    if isinstance(b, int) and b > 0:
        return a // b
    whole = quotient(a, b)
    rest = a - whole * b
    return whole - truth((rest > 0) & (b < 0) | (rest < 0) & (b > 0))


def ceiling(a: int, b: int) -> int:
    """Return the quotient of unsigned numbers rounded up."""
    return bitwise("udiv", a, b) + truth(bitwise("urem", a, b) != 0)


def shifted_left(a: Integer, b: Integer) -> int:
    return a * (1 << (b & 63)) if isinstance(b, int) else bitwise("shl", a, b)


def shifted_right(a: Integer, b: Integer) -> int:
    return a // (1 << (b & 63)) if isinstance(b, int) else bitwise("ashr", a, b)


def below(a: int, b: int) -> int:
    """Return whether a < b as unsigned numbers, by signed order after adding half of the range."""
    return truth(wrapped(a + HALF, 64) < wrapped(b + HALF, 64))


def lower(a: int, b: int) -> int:
    return choice(below(a, b), a, b)


def higher(a: int, b: int) -> int:
    return choice(below(a, b), b, a)


class Unsigned(BinaryScalar, abstract=True):
    """An operation on unsigned numbers of the type's width."""

    def run(cls, lhs, rhs, result):
        return in_type(cls.f(unsigned(lhs, result), unsigned(rhs, result)), result)


class Division(BinaryScalar, abstract=True, disputes=("E54",)):
    """An integer division."""

    nonzero = BinaryScalar.rhs != 0
    no_zero = named("division-by-zero", nonzero, help="compare the divisor with 0 first")
    rules = (BinaryScalar.rules, no_zero)


class UnsignedDivision(Unsigned, Division, abstract=True):
    """A division of unsigned numbers."""


class Shift(BinaryScalar, abstract=True):
    """A shift by less than the width."""

    example = extent("%n = NAME %b, %b : index")
    fits = both(BinaryScalar.rhs >= 0, BinaryScalar.rhs < BinaryScalar.kind.bits)
    within = named("shift-too-far", fits, help="shift by 0 to the width of the type less one")
    rules = (BinaryScalar.rules, within)


def integer(
    family: type[BinaryScalar],
    name: str,
    own: str,
    f: Callable[..., int],
    sign: str,
    meaning: str,
    more: str = "",
    symbol: str = "",
) -> type[BinaryScalar]:
    """Return the page of a row: C++ has `sign` between the operands, and `more` after them."""
    asm = infix(sign, more, UNSIGNED if issubclass(family, Unsigned) else "")
    return table_row(family, name, meaning, own=own, f=f, asm=asm, symbol=symbol)


signed, division, shift = (partial(integer, one) for one in (BinaryScalar, Division, Shift))
natural, ratio = (partial(integer, one) for one in (Unsigned, UnsignedDivision))
WRAPS = "Overflow wraps, as in MLIR; index has 64 bits."
LESS, MORE = " ? {lhs} : {rhs}", " ? {rhs} : {lhs}"
udiv, urem, xor = (partial(bitwise, word) for word in ("udiv", "urem", "xor"))
RATIO = "result = lhs / rhs on unsigned numbers"
TRUNCATED = "result = lhs / rhs, truncated toward zero. The least value divided by -1 wraps."
UPWARD = "result = lhs / rhs, rounded up; overflow wraps as in divsi."
DOWNWARD = "result = lhs / rhs, rounded down; overflow wraps as in divsi."
SHIFTED = "result = lhs / 2 ** rhs, rounded down: copies of the sign bit come in."
FLOOR, UNSIGNED_FLOOR = "floordiv signed", "divi unsigned, floordiv unsigned"

AddI = signed("AddI", "addi", operator.add, "+", f"result = lhs + rhs. {WRAPS}")
SubI = signed("SubI", "subi", operator.sub, "-", f"result = lhs - rhs. {WRAPS}")
MulI = signed("MulI", "muli", operator.mul, "*", f"result = lhs * rhs. {WRAPS}")
DivSI = division("DivSI", "divi signed", quotient, "/", TRUNCATED)
RemSI = division(
    "RemSI", "remi signed", remainder, "%", "result = lhs % rhs, with the sign of lhs."
)
CeilDivSI = division("CeilDivSI", "ceildiv signed", quotient_up, "/", UPWARD, UP)
FloorDivSI = division("FloorDivSI", FLOOR, quotient_down, "/", DOWNWARD, DOWN, "floordiv")
DivUI = ratio("DivUI", UNSIGNED_FLOOR, udiv, "/", f"{RATIO}, rounded down.")
RemUI = ratio("RemUI", "remi unsigned", urem, "%", "result = lhs % rhs on unsigned numbers.")
CeilDivUI = ratio(
    "CeilDivUI", "ceildiv unsigned", ceiling, "/", f"{RATIO}, rounded up.", UNSIGNED_UP
)
MinSI = signed("MinSI", "mini signed", least, "<", "The smaller of two signed values.", LESS, "min")
MaxSI = signed("MaxSI", "maxi signed", most, "<", "The larger of two signed values.", MORE, "max")
MinUI = natural("MinUI", "mini unsigned", lower, "<", "The smaller of two unsigned values.", LESS)
MaxUI = natural("MaxUI", "maxi unsigned", higher, "<", "The larger of two unsigned values.", MORE)
AndI = signed("AndI", "and", operator.and_, "&", "Bitwise and.")
OrI = signed("OrI", "or", operator.or_, "|", "Bitwise or.")
XOrI = signed("XOrI", "xor", xor, "^", "Bitwise exclusive or.")
ShLI = shift(
    "ShLI", "shl", shifted_left, "<<", "result = lhs * 2 ** rhs. Overflow of the type wraps."
)
ShRSI = shift("ShRSI", "shr signed", shifted_right, ">>", SHIFTED)


class ShRUI(
    Shift,
    Unsigned,
    own="shr unsigned",
    f=partial(bitwise, "lshr"),
    asm=in_cpp("({unsigned}){lhs} >> {rhs}"),
):
    """result = lhs / 2 ** rhs on unsigned numbers: zeros come in."""


class Predicate(Word, mlir="cmpi_predicate"):
    """The comparison of `cmpi`; u: unsigned."""

    EQ, NE = ("eq", "{lhs} == {rhs}"), ("ne", "{lhs} != {rhs}")
    SLT, SLE = ("slt", "{lhs} < {rhs}"), ("sle", "{lhs} <= {rhs}")
    SGT, SGE = ("sgt", "{lhs} > {rhs}"), ("sge", "{lhs} >= {rhs}")
    ULT, ULE, UGT, UGE = (
        (f"u{word}", f"({{unsigned}}){{lhs}} {sign} ({{unsigned}}){{rhs}}")
        for word, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
    )

    @property
    def unsigned(self) -> bool:
        return self.text.startswith("u")

    def holds(self, lhs: int, rhs: int) -> bool:
        return getattr(operator, self.text[-2:])(lhs, rhs)


COMPARED = in_cpp("{predicate}").over(Asm(dialect="arith", shape="compare"))


class CmpI(Instr, own="cmpi signed|unsigned", name="cmpi", asm=COMPARED, pipe=S):
    """result (i1) = lhs compared with rhs."""

    example = LESSER
    result = Result(Scalar, scalar="i1")
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)
    predicate = Attr(Predicate, Predicate.EQ)
    kind = TypeOf(lhs)
    rules = signless(kind)

    def run(lhs, rhs, predicate):
        if predicate.unsigned:
            lhs, rhs = wrapped(lhs + HALF, 64), wrapped(rhs + HALF, 64)
        return truth(predicate.holds(lhs, rhs))


class Select(Instr, own="select", name="select", pipe=S):
    """result = yes where condition is 1, else no."""

    chosen = "auto {result} = {condition} ? {yes} : {no};"
    asm = Asm(dialect="arith", shape="select", cpp_text=chosen)
    example = LESSER
    result = Result(Any_)
    condition = In(Scalar, scalar="i1")
    yes = In(Any_)
    no = In(Any_)

    def run(condition, yes, no, result):
        return choice(condition, yes, no, result.dtype)


class Cast(Instr, abstract=True, pipe=S):
    """A number in another type."""

    asm = in_cpp("({type}){value}").over(Asm(dialect="arith", shape="cast"))
    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to i64"
    result = Result(Scalar)
    value = In(Scalar, whole=True)
    source = TypeOf(value)
    given = TypeOf(result)
    rules = signless(source, given)


class SignExtension(Cast, abstract=True, asm=in_cpp("({type})[{minus}]{value}")):
    """The same signed number; an i1 is 0 or -1."""

    def run(value, source, result):
        return in_type(value * -1 if source.bits == 1 else value, result)


class IndexCast(SignExtension, own="index_cast signed", name="index_cast", symbol="index"):
    """A signed integer as index, or an index as integer."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to index"


class ExtSI(SignExtension, own="exti signed"):
    """A wider signed integer of the same value; an i1 becomes 0 or -1."""


class ZeroExtension(Cast, abstract=True, asm=in_cpp("({type})({unsigned}){value}")):
    """The same unsigned number."""

    def run(value, source, result):
        return in_type(unsigned(value, source), result)


class IndexCastUI(ZeroExtension, own="index_cast unsigned", name="index_castui"):
    """An unsigned integer as index, or an index as integer."""

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to index"


class ExtUI(ZeroExtension, own="exti unsigned"):
    """A wider unsigned integer of the same value."""


class NegI(Instr, own="negi", asm=in_cpp("-{value}").over(Asm(shape="same")), pipe=S):
    """result = -value. The least value stays."""

    example = "%a = arith.constant -7 : i32\n%n = NAME %a : i32"
    result = Result(Scalar)
    value = In(Scalar, whole=True)
    kind = TypeOf(value)
    rules = signless(kind)

    def run(value, result):
        return in_type(value * -1, result)


class UnrealizedConversionCast(Cast, name="unrealized_conversion_cast", asm=Asm(dialect="builtin")):
    """Reinterpret the bits of a number as an integer of another type name.

    Between types of another level it is kept as an opaque op.
    """

    example = "%a = arith.constant 7 : i32\n%n = NAME %a : i32 to ui32"
    rules = ()

    def run(value, result):
        return in_type(value, result)


class TruncI(Cast, own="trunci", asm=in_cpp("({type})({value}[ & {lowest}])")):
    """The low bits."""

    example = "%a = arith.constant 7 : i64\n%n = NAME %a : i64 to i32"

    def run(value, result):
        return in_type(value, result)
