"""Tile with tile: bitwise operations on integers."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import *

TMP, DST = BinaryTmp.tmp, BinaryTmp.dst


class Bits(Binary, abstract=True, example=dict.fromkeys(("dst", "src0", "src1"), VEC_I32)):
    """dst = f(src0, src1) on integers."""


def bits(a5: DTypes = SMALL) -> Rules:
    return pointwise(*TILES, cpu=INTEGERS, a2a3=SMALL, a5=a5)


HALVES_AS_BITS = (*SMALL, f16, bf16)
WORDS_AS_BITS = (*HALVES_AS_BITS, f32)
NO_FLOATS = named("element-type", DST.dtype.isin(*SMALL), help="the assembler takes integers only")


class BitsOfAny(
    Bits,
    abstract=True,
    rules=(
        pointwise(*TILES, cpu=INTEGERS, a2a3=HALVES_AS_BITS, a5=WORDS_AS_BITS),
        on(A2A3, when(DST.dtype.isin(*HALVES_AS_BITS), by(ASSEMBLER, NO_FLOATS))),
        on(A5, when(DST.dtype.isin(*WORDS_AS_BITS), by(ASSEMBLER, NO_FLOATS))),
    ),
    disputes=("X123",),
):
    """dst = f(src0, src1) on the bits of integers, and on chips also of floats."""

    def run(cls, dst, src0, src1):
        kind = {16: u16, 32: u32}[dst.dtype.bits] if dst.dtype.is_float else dst.dtype
        left, right = (src[dst.valid].bitcast(kind) for src in (src0, src1))
        dst[dst.valid] = cls.f(left, right).bitcast(dst.dtype)


class TAnd(BitsOfAny, f=Array.__and__):
    """dst[i, j] = src0[i, j] & src1[i, j]."""


class TOr(BitsOfAny, f=Array.__or__):
    """dst[i, j] = src0[i, j] | src1[i, j]."""


class TXor(
    Bits,
    BinaryTmp,
    f=Array.__xor__,
    rules=(
        bits(),
        scratch(
            *(TMP, A2A3, one_type(DST, TMP), same_region(DST, TMP), row_major(TMP)),
            named("shape", TMP.nbytes >= DST.nbytes, help=AS_DST),
        ),
    ),
):
    """dst[i, j] = src0[i, j] ^ src1[i, j]."""

    apart = IN_STEPS


class ShiftedBits(
    Bits, abstract=True, uses=(TARGET,), inner_flags=(A2A3,), disputes=("E3", "X119")
):
    """dst = f(src0, src1): chips take amounts of 64-bit elements modulo 64."""

    def run(cls, dst, src0, src1, target):
        amount = src1[dst.valid]
        amount = amount & 63 if by_halves(dst.dtype, target.chip) else amount
        dst[dst.valid] = cls.f(src0[dst.valid], amount)


class TShl(ShiftedBits, f=Array.__lshift__, rules=bits(INTEGERS)):
    """dst[i, j] = src0[i, j] << src1[i, j]; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.
    """


class TShr(ShiftedBits, f=Array.__rshift__, rules=bits(INTEGERS)):
    """dst[i, j] = src0[i, j] >> src1[i, j], with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.
    """
