"""Numbers that threads compute with operations of their own."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.arith import in_type, unsigned
from ptokit.isa.pages.extended import upper_half
from ptokit.isa.pages.lanes import threadnumbers as numbers
from ptokit.isa.pages.lanes.lanefamilies import Below
from ptokit.isa.pages.lanes.rows import one_of
from ptokit.isa.pages.lanes.threadqueries import STORED, by_threads
from ptokit.isa.pages.reals import MODES, SameBits, greater, ignoring, lesser, unsigned_of
from ptokit.values import functions
from ptokit.values.scalars import bitwise, choice, truth, wrapped

SIGNS = ("", ("sign", "signed", "unsigned"))
TWO = "%n = arith.sitofp %tid : i32 to f32"
KEPT = "%r = pto.convert %v round(z) sat signed : f32 -> i32"


class OfReals(Below, abstract=True):
    """result = f of floats of one type."""

    result = Result(Scalar)
    a = In(Scalar, real=True, element=True)
    kind, source = TypeOf(result), TypeOf(a)
    rules = named("element-type", kind.name == source.name, help="the result has their type")


class OfTwoReals(OfReals, abstract=True):
    """result = f(a, b) on floats of one type."""

    b = In(Scalar, real=True, element=True)
    example = by_threads(TWO, "%v = NAME %n, %n : f32, f32 -> f32", KEPT, STORED)

    def run(cls, a, b):
        return cls.f(a, b.cast(a.dtype))


class FMin(OfTwoReals, name="fmin", f=ignoring(lesser)):
    """The smaller of two floats, -0 less than 0; if one is NaN the other."""


class FMax(OfTwoReals, name="fmax", f=ignoring(greater)):
    """The larger of two floats, -0 less than 0; if one is NaN the other."""


class OfAngle(OfReals, abstract=True, disputes=("V19",)):
    """result = f(a) of an angle in radians."""

    example = by_threads(TWO, "%v = NAME %n : f32 -> f32", KEPT, STORED)
    rules = (
        OfReals.rules,
        named("element-type", OfReals.kind.name == "f32", help="angles are f32"),
    )

    def run(cls, a):
        return cls.f(a)


class Sin(OfAngle, name="sin", f=functions.sine):
    """The sine of an angle in radians, rounded once up to 2**28; NaN for infinity."""


class Cos(OfAngle, name="cos", f=functions.cosine):
    """The cosine of an angle in radians, rounded once up to 2**28; NaN for infinity."""


class Prmt(Below, name="prmt", disputes=("V19",)):
    """Four bytes of eight: `rhs` has bytes 0 to 3, `lhs` 4 to 7.

    Each group of four bits of `selector`, the lowest first, selects a byte by its lower three bits.
    """

    result = Result(Scalar, scalar="i32")
    lhs = In(Scalar, scalar="i32")
    rhs = In(Scalar, scalar="i32")
    selector = In(Scalar, scalar="i32")
    example = by_threads("%r = NAME %tid, %c1, %tid : i32, i32, i32 -> i32", STORED)

    def run(lhs, rhs, selector, result):
        found = 0
        for place in range(4):
            which = bitwise("lshr", unsigned(selector, result), 4 * place) & 7
            low = bitwise("lshr", unsigned(rhs, result), (which & 3) * 8)
            high = bitwise("lshr", unsigned(lhs, result), (which & 3) * 8)
            byte = choice(truth(which < 4), low, high) & 255
            found = found + byte * (1 << 8 * place)
        return in_type(found, result)


class MulHi(Below, name="mulhi"):
    """The upper half of the product of two integers."""

    asm = Asm(clauses=(SIGNS,), clause_types=())
    result = Result(Scalar)
    lhs = In(Scalar, whole=True)
    rhs = In(Scalar, whole=True)
    sign = Attr(str)
    kind, source = TypeOf(result), TypeOf(lhs)
    rules = (
        named("element-type", kind.name == source.name, help="the result has their type"),
        named("element-type", kind.name.isin("i32", "i64"), help="cast it first"),
    )
    example = by_threads("%r = NAME %tid, %c1 signed : i32, i32 -> i32", STORED)

    def run(lhs, rhs, sign, result):
        if result.bits < 64:
            if sign == "unsigned":
                lhs, rhs = unsigned(lhs, result), unsigned(rhs, result)
            return in_type(bitwise("ashr", wrapped(lhs * rhs, 64), result.bits), result)
        high = upper_half(lhs, rhs)
        if sign == "unsigned":
            return high
        less = choice(truth(lhs < 0), rhs, 0) + choice(truth(rhs < 0), lhs, 0)
        return wrapped(high - less, 64)


class MulWide(Below, name="mul_i32toi64"):
    """The product of two i32 as i64."""

    asm = Asm(clauses=(SIGNS,), clause_types=())
    result = Result(Scalar, scalar="i64")
    lhs = In(Scalar, scalar="i32")
    rhs = In(Scalar, scalar="i32")
    sign = Attr(str)
    source = TypeOf(lhs)
    example = by_threads(
        "%v = NAME %tid, %c1 signed : i32, i32 -> i64", "%r = arith.trunci %v : i64 to i32", STORED
    )

    def run(lhs, rhs, sign, source):
        if sign == "unsigned":
            lhs, rhs = unsigned(lhs, source), unsigned(rhs, source)
        return wrapped(lhs * rhs, 64)


ROUNDINGS = {mode.cpp[6:-1]: rounding for mode, rounding in MODES.items() if mode is not None}


class Convert(Below, name="convert"):
    """A number in another type, rounded as `round(...)` says.

    r: half to even, a: half away from zero, f: down, c: up, z: toward zero, o: to odd. `sat` gives
    the nearest number of the type for one beyond it, `nosat` infinity.
    """

    asm = Asm(
        clauses=(
            ("round", ("rounding",)),
            ("", ("beyond", "sat", "nosat")),
            SIGNS,
        ),
        clause_types=(),
    )
    result = Result(Scalar)
    value = In(Scalar, element=True)
    rounding = Attr(str)
    beyond = Attr(str, None)
    sign = Attr(str, None)
    kind, source = TypeOf(result), TypeOf(value)
    whole, from_whole = kind.name.isin("i32", "i64"), source.name.isin("i32", "i64")
    rules = (
        one_of(rounding, *ROUNDINGS),
        named("element-type", ~both(whole, from_whole), help="use arith.extsi or arith.trunci"),
        named(
            "attribute",
            either(~either(whole, from_whole), sign.given),
            help="write signed or unsigned",
        ),
        named(
            "attribute", either(~whole, beyond == "sat"), help="beyond an integer type is its end"
        ),
    )
    example = by_threads(TWO, "%r = NAME %n round(z) sat signed : f32 -> i32", STORED)

    def run(value, result, source, rounding, beyond, sign):
        mode, saturate = ROUNDINGS.get(rounding, Rounding.RINT), beyond == "sat"
        if source.is_float and not result.is_float:
            wanted = unsigned_of(result.element) if sign == "unsigned" else result.element
            return value.cast(wanted, mode, saturate=True).bitcast(result.element)
        given = value.bitcast(unsigned_of(value.dtype)) if sign == "unsigned" else value
        return given.cast(result.element, mode, saturate=saturate)


class BitcastOfParts(SameBits, name="bitcast", form="of packed numbers"):
    """Read the bits of a number, or of packed numbers, as others of the same width."""

    asm = Asm(dialect="llvm", cpp_on=NOWHERE)
    example = "%a = arith.constant dense<1.0> : vector<2xf16>\n%n = NAME %a : vector<2xf16> to i32"

    def in_parts(make, value, source, result):
        if isinstance(source, PackedType):
            value = numbers.word_of(make, cast("Sequence[object]", value), source.of)
        if isinstance(result, PackedType):
            return numbers.parts_of(make, value, result.of, result.count)
        return value
