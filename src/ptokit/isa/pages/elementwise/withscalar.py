"""Tile with number: the right operand is one number for all elements."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import *
from ptokit.values.functions import floor_remainder, raised, sloped

TMP, DST = WithScalarTmp.tmp, WithScalarTmp.dst
POWERS = (*SMALL, *FLOATS)
LINE = "scratch holds a line of dst"
DIVIDES = (with_scalar(VEC_A2A3, (*DIVIDED, i8, u8)), taken(DST, A5, i8, u8))
OWN_STORAGE = Apart((WithScalar.dst, WithScalar.src))  # dst holds the scalar meanwhile
STEPS = Apart((WithScalar.dst, WithScalar.src), (A2A3,), placed=True)  # A2/A3: in any case
STEPS_OF_INTEGERS = STEPS._replace(condition=DST.dtype.isin(i16, i32))
# the code of A2/A3 converts integers to floats in src, and leaves them there
FLOATS_LEFT = Spoiled(WithScalar.src, (A2A3,), DST.dtype.isin(i16, i32))


class TAddS(WithScalar, f=operator.add, rules=with_scalar(VEC_A2A3, VEC_A5, columns=True)):
    """dst[i, j] = src[i, j] + scalar; integers wrap."""


class TSubS(
    WithScalar, f=operator.sub, rules=with_scalar(VEC_A2A3, VEC_A5, anyhow=True, columns=True)
):
    """dst[i, j] = src[i, j] - scalar; integers wrap."""


class TMulS(
    WithScalar,
    f=operator.mul,
    rules=(
        with_scalar(VEC_A2A3, (*MULTIPLIED, i8, u8), columns=True),
        taken(DST, A5, i8, u8),
    ),
):
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.
    """

    disputes = ("X65",)

    def run(cls, dst, src, scalar):
        x = src.multiplied(dst.valid, scalar)
        dst[dst.valid] = cls.f(x, x.number(scalar))


class TDivS(
    WithScalar,
    inner_flags=(A2A3, A5),
    form="tile_scalar",
    f=Array.__truediv__,
    rules=DIVIDES,
):
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.
    """

    apart = (STEPS_OF_INTEGERS,)
    spoiled = (FLOATS_LEFT,)
    precision = precision(DIV)
    recorded = {"tile_scalar": {}}
    disputes = ("E12", "E32", "E40")


class TSDiv(
    WithScalar,
    name="tdivs",
    form="scalar_tile",
    f=lambda x, number: number / x,
    symbol="truediv",
    rules=DIVIDES,
):
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.
    """

    dst, scalar, src = WithScalar.dst, WithScalar.scalar, WithScalar.src
    apart = (STEPS,)
    spoiled = (FLOATS_LEFT,)
    precision = precision(DIV)
    recorded = {"scalar_tile": {}}
    disputes = ("E12", "E32", "E40")


class TMaxS(
    WithScalar,
    f=Array.maximum,
    rules=with_scalar(VEC_A2A3, VEC_A5, columns=True),
    disputes=("E2", "V9"),
):
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN."""


class TMinS(
    WithScalar, f=Array.minimum, rules=with_scalar(VEC_A2A3, VEC_A5, anyhow=True, columns=True)
):
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN."""

    disputes = ("E2", "V9")


class TRemS(WithScalarTmp, f=floor_remainder, uses=(TARGET,)):
    """dst[i, j] = src[i, j] - floor(src[i, j] / scalar) * scalar, exact.

    The result has the sign of the scalar and is rounded only if the scalar is added to the exact
    remainder of truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with
    64-bit integers.
    """

    apart = (STEPS,)
    precision = precision(REM)
    kind = TypeOf(WithScalar.scalar)
    whole_line = named("shape", TMP.nbytes >= DST.cols * DST.size, help=LINE)
    rules = (
        with_scalar((f32, i32), DIVIDED, anyhow=True),
        exact(kind, DST),
        of_remainders(TMP, DST),
        scratch(TMP, A2A3, a_row(TMP, DST), whole_line),
    )
    disputes = ("E4", "E40", "X119")

    def run(cls, dst, src, scalar, target):
        x = src[dst.valid]
        f = Array.remainder if by_halves(dst.dtype, target.chip) else cls.f
        dst[dst.valid] = f(x, x.number(scalar))


class TFmodS(WithScalar, f=Array.remainder):
    """dst[i, j] = the exact remainder of truncated division of src[i, j] by the scalar.

    The result has the sign of src. The remainder by 0 is NaN, or 0 for integers.
    """

    apart = (STEPS, Apart((WithScalar.dst, WithScalar.src), targets=()))
    precision = precision(FMOD)
    kind = TypeOf(WithScalar.scalar)
    rules = (
        with_scalar((f32, i16, i32, f16), (*WORDS, *F16_F32), anyhow=True),
        exact(kind, DST),
        taken(DST, A2A3, i16, i32, f16),
    )
    disputes = ("E40",)


class TPowS(
    WithScalarTmp, f=raised, asm=Asm(cpp_needs=("tmp",)), disputes=("E6", "E43", "E68", "E79")
):
    """dst[i, j] = src[i, j] ** scalar.

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.
    """

    precision = precision(POW)
    high = precision == POW["HIGH"]
    kind = TypeOf(WithScalar.scalar)
    rules = (
        with_scalar((*SMALL, f32), POWERS, cpu=POWERS),
        exact(kind, DST),
        on(A5, either(DST.dtype != bf16, high)),
        powers_scratch(TMP, DST, precision, high),
    )


class TLRelu(WithScalar, f=sloped):
    """dst[i, j] = src[i, j] where it is greater than 0, else src[i, j] * scalar."""

    disputes = ("V9",)
    kind = TypeOf(WithScalar.scalar)
    slope = named("element-type", Exact(kind, Const(f32)), help="a5 takes the slope as f32")
    rules = (with_scalar(F16_F32, F16_F32), on(A5, slope))


class BitsS(WithInteger, abstract=True, example={"dst": VEC_I32, "src": VEC_I32}):
    """dst = f(src, scalar) on integers."""


def bits(a2a3: DTypes, a5: DTypes) -> Rules:
    return with_scalar(a2a3, a5, cpu=INTEGERS, anyhow=True)


LOGIC = (bits(SMALL, SMALL), taken(DST, A2A3, i8, u8))
NOT_BACK = named("operand-value", BitsS.scalar >= 0, help="shift the other way")


class TAndS(BitsS, f=Array.__and__, rules=LOGIC, disputes=("E13",)):
    """dst[i, j] = src[i, j] & scalar."""

    apart = (OWN_STORAGE, STEPS)


class TOrS(BitsS, f=Array.__or__, rules=LOGIC, disputes=("E13",)):
    """dst[i, j] = src[i, j] | scalar."""

    apart = (OWN_STORAGE, STEPS)


class TXorS(
    BitsS,
    WithScalarTmp,
    f=Array.__xor__,
    rules=(
        bits(SMALL, SMALL),
        scratch(
            *(TMP, A2A3, one_type(DST, TMP), same_region(DST, TMP), row_major(TMP)),
            named("shape", TMP.nbytes >= DST.nbytes, help=AS_DST),
        ),
    ),
):
    """dst[i, j] = src[i, j] ^ scalar."""

    apart = (OWN_STORAGE, STEPS)


class ShiftS(BitsS, abstract=True, uses=(TARGET,), disputes=("E3", "X119")):
    """dst = f(src, scalar): chips take amounts of 64-bit elements modulo 64."""

    def run(cls, dst, src, scalar, target):
        x = src[dst.valid]
        amount = x.number(scalar)
        dst[dst.valid] = cls.f(x, amount & 63 if by_halves(dst.dtype, target.chip) else amount)


class TShlS(
    ShiftS,
    f=Array.__lshift__,
    rules=(bits(SMALL, INTEGERS), taken(DST, A2A3, i8, u8), on(HARDWARE, NOT_BACK)),
):
    """dst[i, j] = src[i, j] << scalar; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.
    """


class TShrS(ShiftS, f=Array.__rshift__, rules=bits(WORDS, INTEGERS)):
    """dst[i, j] = src[i, j] >> scalar, with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.
    """


class Between(Instr, abstract=True, pipe=V, asm=POINTWISE, specials=NAN_COMPUTED):
    """dst = (src0 + scalar, or src0 - scalar) + src1, element by element."""

    dst = Out(Tile, doc="receives the results; may be a source")
    src0 = In(Tile, doc="the first operands")
    scalar = In(Scalar, doc="the second operand of all; it takes the tile's element type")
    src1 = In(Tile, doc="the third operands")
    rules = (pointwise(dst, src0, src1, a2a3=VEC_A2A3, a5=VEC_A5), in_two_steps())
    elided = {"dst": like(src0)}
    apart = (Apart((dst, src1), placed=True),)  # the second step reads src1
    disputes = ("E1", "E41")

    def run(cls, dst, src0, scalar, src1):
        dst[dst.valid] = cls.step(src0[dst.valid], scalar) + src1[dst.valid]


class TAddSC(Between, step=operator.add):
    """dst[i, j] = (src0[i, j] + scalar) + src1[i, j], rounded after each step; integers wrap."""


class TSubSC(Between, step=operator.sub):
    """dst[i, j] = (src0[i, j] - scalar) + src1[i, j], rounded after each step; integers wrap."""


class TExpandS(Instr, verb="full", asm=Asm(deduced=True), specials=NAN_MOVES):
    """dst[i, j] = scalar, in dst's element type; in a mat tile for the whole declared shape."""

    dst = Out(Tile, doc="the tile to fill")
    scalar = In(Scalar, doc="what all elements become")
    kind = TypeOf(scalar)
    disputes = ("E70",)
    pipe = {VEC: V, MAT: MTE2}
    blocks = dst.nbytes // 32
    whole = (dst.valid.rows == dst.rows, dst.valid.cols == dst.cols)
    boxed = both(dst.loc == VEC, ~dst.layout.isin(ND, DN))
    rules = (
        elements(dst, cpu=NUMBERS, a2a3=(*SMALL, *FLOATS), a5=NUMBERS),
        exact(kind, dst),
        on(HARDWARE, dst.loc.isin(VEC, MAT)),
        on(
            HARDWARE,
            when(boxed, named("layout", *whole, help="nd, dn, or boxes that are all valid")),
        ),
        on(A2A3, when(dst.loc == VEC, by(ASSEMBLER, dst.layout == ND))),
        on(HARDWARE, when(dst.loc == MAT, named("shape", blocks >= 1, blocks <= 32767))),
    )

    def run(dst, scalar):
        rows, cols = dst.valid
        if dst.loc is MAT:
            rows, cols = dst.rows, dst.cols
        dst[:rows, :cols] = scalar


CONV_CPP = Asm(deduced=True, cpp_on=CHIPS)


class TExpandSConv(Instr, name="texpands", form="conv", pipe=MTE2, asm=CONV_CPP):
    """All elements of a convolution tile become `scalar`."""

    specials = NAN_MOVES
    dst = Out(Conv, doc="the tile to fill")
    scalar = In(Scalar, doc="what all elements become")
    example = {"dst": "!pto.conv_tile<nc1hwc0, 1x1x4x4x16xf16>"}
    blocks = dst.nbytes // 32
    rules = (
        elements(dst, cpu=NUMBERS, a2a3=(*SMALL, *FLOATS), a5=NUMBERS),
        on(HARDWARE, dst.loc == MAT, named("shape", blocks >= 1, blocks <= 32767)),
    )

    def run(dst, scalar):
        dst.flat()[0, :] = scalar
