"""One tile: exponentials, roots, signs and complements."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import *
from ptokit.values.functions import clear_sign, exp, flip_sign, log, reciprocal, reciprocal_root

RELU = (f16, f32, i32)
NEGATED = (*SMALL, *FLOATS)
ROWS = named("shape", Unary.src.valid.rows == Unary.dst.valid.rows)
COLUMNS = named("shape", Unary.src.valid.cols == Unary.dst.valid.cols)


class TExp(Unary, f=exp, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=F16_F32, a5=F16_F32)):
    """dst[i, j] = e ** src[i, j], at most one unit in the last place from the rounded exact value.

    Two of all f16 are off by one, no bf16, and one in ten f32 between -87 and 88. Overflow gives
    infinity, underflow denormals and then 0, and NaN stays NaN.
    """

    precision = precision(EXP)
    disputes = ("E82",)


def relu(x: Array) -> Array:
    """Return `x` where it is not negative, else 0; NaN and -0 stay."""
    return x.maximum(0)


class TRelu(Unary, f=relu, rules=pointwise(*PAIR, a2a3=RELU, a5=RELU), disputes=("E2",)):
    """dst[i, j] = max(src[i, j], 0); NaN and -0 stay."""


def without_sign(x: Array) -> Array:
    """Return floats without their sign bit, NaN too; the absolute value of integers."""
    return clear_sign(x) if x.dtype.is_float else (x < 0).where(0 - x, x)


class TAbs(
    Unary,
    asm=Asm(one_type=("dst", "src")),
    f=without_sign,
    symbol="abs",
    rules=pointwise(*PAIR, a2a3=(f16, f32), a5=(i8, i16, i32, f16, f32)),
):
    """dst[i, j] = |src[i, j]|: floats, NaN too, lose the sign bit; the least integer stays."""

    disputes = ("E15",)


def opposite(x: Array) -> Array:
    """Return floats with the sign bit flipped, NaN too; integers negated."""
    return flip_sign(x) if x.dtype.is_float else 0 - x


class TNeg(
    Unary,
    f=opposite,
    symbol="neg",
    rules=(
        elements(Unary.dst, cpu=NUMBERS, a2a3=VEC_A2A3, a5=NEGATED),
        one_type(*PAIR),
        on((CPU, A2A3), same_region(*PAIR)),
        on(A5, by(BOARDS, ROWS), COLUMNS),
        in_vec(*PAIR),
        row_major(*PAIR),
        taken(Unary.dst, A5, i8, u8),
    ),
):
    """dst[i, j] = -src[i, j]: the sign bit of floats is flipped, also of NaN; integers wrap."""


def complement(x: Array) -> Array:
    """Return integers with every bit inverted."""
    return x ^ -1 if x.dtype.signed else x ^ ((1 << x.dtype.bits) - 1)


class TNot(
    Unary,
    f=complement,
    symbol="invert",
    rules=pointwise(*PAIR, cpu=INTEGERS, a2a3=SMALL, a5=SMALL),
):
    """dst[i, j] = src[i, j] with every bit inverted."""

    example = dict.fromkeys(("dst", "src"), VEC_I32)


class TLog(Unary, f=log, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=F16_F32, a5=F16_F32)):
    """dst[i, j] = ln src[i, j], rounded once from f64; -infinity for 0, NaN for negative values.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value.
    """

    precision = precision(LOG)


class TSqrt(Unary, f=Array.sqrt, rules=pointwise(*PAIR, cpu=FLOATS, a2a3=F16_F32, a5=F16_F32)):
    """dst[i, j] is the square root of src[i, j], correctly rounded; NaN for negative values."""

    precision = precision(SQRT)


class TRsqrt(Unary, f=reciprocal_root, uses=(TARGET,)):
    """dst[i, j] = 1 / sqrt(src[i, j]), rounded once from f64; infinity for 0, NaN for less.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value. A5 rounds
    twice: the root, then its reciprocal.
    """

    tmp = Scratch(Tile, None, idle=(A5,), doc="of the precise algorithm of A2/A3; A5 ignores it")
    precision = precision(RSQRT)
    apart = (Apart(PAIR, targets=()),)
    rules = (
        pointwise(*PAIR, cpu=FLOATS, a2a3=F16_F32, a5=F16_F32),
        precise(precision == RSQRT["HIGH"], tmp),
    )
    recorded = {"plain": {}, "tmp": {}}
    disputes = ("X118",)

    def run(cls, dst, src, target):
        x = src[dst.valid]
        dst[dst.valid] = 1.0 / x.sqrt() if target.rounded_roots else cls.f(x)


class TRecip(Unary, f=reciprocal, rules=pointwise(*PAIR, a2a3=VEC_A2A3, a5=DIVIDED)):
    """dst[i, j] = 1 / src[i, j]: floats correctly rounded; integers truncated, and 0 for 0."""

    precision = precision(RECIP)
    apart = (Apart(PAIR, (A2A3,), placed=True),)
    disputes = ("E40",)
