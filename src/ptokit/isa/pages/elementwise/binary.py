"""Tile with tile: arithmetic, choices, remainders and powers."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import *
from ptokit.values.functions import floor_remainder, raised, sloped

TMP, DST = BinaryTmp.tmp, BinaryTmp.dst
ROOM = both(TMP.valid.cols >= DST.valid.cols, TMP.numel >= DST.cols * 2)
ALIKE = (both(s.rows == DST.rows, s.cols == DST.cols) for s in TILES[1:])
STRIDES = DST.cols + (DST.cols + 63) // 64 * 2
STRIDE = "tmp has a column for each of dst's, and two more for each 64 of them"
POWERS = (*SMALL, *FLOATS)
ONE_SHAPE = "declare all with the same shape"
MASK = "a row for each of dst's and one more, a bit for each element"
PACKED = named(
    "shape", TMP.rows > DST.valid.rows, TMP.valid.cols >= (DST.valid.cols + 7) // 8, help=MASK
)


ONE_TYPE = Asm(one_type=("dst", "src0", "src1"))


class TAdd(Binary, f=operator.add, asm=ONE_TYPE, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src0[i, j] + src1[i, j]; integers wrap."""


class TSub(Binary, f=operator.sub, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src0[i, j] - src1[i, j]; integers wrap."""


class TMul(Binary, f=operator.mul, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=MULTIPLIED)):
    """dst[i, j] = src0[i, j] * src1[i, j]; integers wrap."""


class TDiv(Binary, f=Array.__truediv__, rules=pointwise(*TILES, a2a3=F16_F32, a5=DIVIDED)):
    """dst[i, j] = src0[i, j] / src1[i, j]: floats correctly rounded, integers toward zero.

    A float divided by 0 is infinite or NaN as in IEEE 754. An integer divided by 0 is 0, and the
    least integer divided by -1 wraps.
    """

    precision = precision(DIV)
    disputes = ("E40",)


class TMax(Binary, f=Array.maximum, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src1[i, j] where src0[i, j] < src1[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.
    """

    disputes = ("E2", "V9")


class TMin(Binary, f=Array.minimum, rules=pointwise(*TILES, a2a3=VEC_A2A3, a5=VEC_A5)):
    """dst[i, j] = src1[i, j] where src1[i, j] < src0[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.
    """

    disputes = ("E2", "V9")


class TRem(
    BinaryTmp,
    f=floor_remainder,
    uses=(TARGET,),
    rules=(
        pointwise(*TILES, a2a3=(f32, i32), a5=DIVIDED),
        of_remainders(TMP, DST),
        scratch(
            TMP,
            A2A3,
            named("shape", TMP.valid.rows >= 2, help="use two rows"),
            named("shape", ROOM),
            when(ROOM, warns(named("shape", TMP.valid.cols >= STRIDES, help=STRIDE))),
        ),
    ),
):
    """dst[i, j] = src0[i, j] - floor(src0[i, j] / src1[i, j]) * src1[i, j], exact.

    The result has the sign of src1 and is rounded only if src1 is added to the exact remainder of
    truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with 64-bit
    integers.
    """

    apart = IN_STEPS
    precision = precision(REM)
    disputes = ("E4", "E40", "X119")

    def run(cls, dst, src0, src1, target):
        f = Array.remainder if by_halves(dst.dtype, target.chip) else cls.f
        dst[dst.valid] = f(src0[dst.valid], src1[dst.valid])


class TFmod(
    Binary,
    f=Array.remainder,
    rules=(
        pointwise(*TILES, a2a3=(f32, i16, i32, f16), a5=DIVIDED),
        taken(DST, A2A3, i16, i32, f16),
    ),
):
    """dst[i, j] = the exact remainder of truncated division of src0[i, j] by src1[i, j].

    The result has the sign of src0. The remainder by 0 is NaN, or 0 for integers.
    """

    apart = (*IN_STEPS, Apart(TILES, targets=()))
    precision = precision(FMOD)
    disputes = ("E40",)


class TPow(
    BinaryTmp,
    inner_flags=(A2A3,),
    f=raised,
    asm=Asm(cpp_needs=("tmp",)),
    disputes=("E6", "E68", "E79"),
):
    """dst[i, j] = src0[i, j] ** src1[i, j].

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.
    """

    precision = precision(POW)
    high = precision == POW["HIGH"]
    rules = (
        pointwise(*TILES, cpu=POWERS, a2a3=(*SMALL, f32), a5=POWERS),
        on(A5, either(DST.dtype != bf16, high)),
        powers_scratch(TMP, DST, precision, high),
    )


class TPRelu(
    BinaryTmp,
    f=sloped,
    rules=(
        pointwise(*TILES, a2a3=F16_F32, a5=F16_F32),
        on(HARDWARE, named("shape", *ALIKE, help=ONE_SHAPE)),
        scratch(TMP, A2A3, TMP.dtype == u8, *PACKED),
    ),
):
    """dst[i, j] = src0[i, j] where it is greater than 0, else src0[i, j] * src1[i, j]."""

    disputes = ("V9",)
    apart = IN_STEPS
