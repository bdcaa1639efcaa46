"""Partial operations: two tiles of which one may cover only a part of the result."""

from ptokit.isa.lang.page import *
from ptokit.values.pads import pad_bits

MUL_A5 = tuple(t for t in VEC_A5 if t not in (i64, u64))
SHORTER = "!pto.tile_buf<vec, 16x32xf32, valid=13x32>"
OF_32_BITS = "the assembler accepts only 32-bit indices"
ONE_WAY = "a source may be smaller in rows or in columns, not in both"
INDICES = (i16, u16, i32, u32)


class Partial(Instr, abstract=True, pipe=V, uses=(TARGET,), specials=NAN_COMPUTED):
    """dst = f(src0, src1) where both sources are valid; a copy where one is; 0 where none is."""

    loses: ClassVar[PadValue] = PadValue.ZERO  # the value on chips where no source is valid
    disputes = ("E26",)
    dst = Out(Tile, doc="receives the results; may be a source")
    src0 = In(Tile, doc="the left operands")
    src1 = In(Tile, doc="the right operands")
    written_over = ((dst, src0), (dst, src1))
    example = {"src1": SHORTER}
    elided = {"dst": like(src0)}

    def run(cls, dst, src0, src1, target):
        (rows, cols), (height, width) = src0.valid, src1.valid
        left, right = src0[:rows, :cols], src1[:height, :width]
        down, across = least(rows, height), least(cols, width)
        result = cls.step(src0[:down, :across], src1[:down, :across])
        none = pad_bits(cls.loses, dst.dtype, target.finite_pads) if target.chip else 0
        dst[: dst.valid.rows, : dst.valid.cols] = dst.constant(none)
        dst[:rows, :cols] = left
        dst[:height, :width] = right
        dst[:down, :across] = result


def covering(dst: Operand, src0: Operand, src1: Operand) -> Rules:
    """Require regions inside dst's; on A2/A3 one source has all of dst's region."""
    inside = (
        both(s.valid.rows <= dst.valid.rows, s.valid.cols <= dst.valid.cols) for s in (src0, src1)
    )
    rows = [s.valid.rows == dst.valid.rows for s in (src0, src1)]
    cols = [s.valid.cols == dst.valid.cols for s in (src0, src1)]
    whole = either(both(rows[0], cols[0]), both(rows[1], cols[1]))
    one = both(*(either(r, c) for r, c in zip(rows, cols, strict=True)))
    return (
        named("shape", *inside, help="no source has more valid rows or columns than dst"),
        on(A2A3, named("shape", whole, help="one source has dst's valid region")),
        on(A2A3, by(HEADERS, named("shape", one, help=ONE_WAY))),
    )


def one_shape(dst: Operand, *sources: Operand) -> Rules:
    """Require tiles of one declared shape, as compilers do."""
    alike = (both(s.rows == dst.rows, s.cols == dst.cols) for s in sources)
    return on(HARDWARE, by(ASSEMBLER, named("shape", *alike, help="declare all of one shape")))


def partial(a5: DTypes) -> Rules:
    """Return the rules of a partial operation."""
    tiles = Partial.dst, Partial.src0, Partial.src1
    return (
        elements(tiles[0], cpu=NUMBERS, a2a3=VEC_A2A3, a5=a5),
        one_type(*tiles),
        covering(*tiles),
        in_vec(*tiles),
        row_major(*tiles),
    )


def best_of(types: DTypes) -> Rules:
    """Return the rules of a maximum or minimum: compilers also require one shape."""
    return partial(types), one_shape(Partial.dst, Partial.src0, Partial.src1)


class TPartAdd(Partial, step=operator.add, rules=partial(VEC_A5), disputes=("E73",)):
    """dst[i, j] = src0[i, j] + src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.
    """


class TPartMul(Partial, step=operator.mul, rules=partial(MUL_A5), disputes=("E73",)):
    """dst[i, j] = src0[i, j] * src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.
    """


class TPartMax(
    Partial, step=Array.maximum, rules=best_of(VEC_A5), disputes=("E2", "E26", "E72", "E73", "V9")
):
    """dst[i, j] = the larger source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the smallest finite number.
    """

    loses = PadValue.MIN


class TPartMin(
    Partial, step=Array.minimum, rules=best_of(VEC_A5), disputes=("E2", "E26", "E72", "E73", "V9")
):
    """dst[i, j] = the smaller source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the largest finite number.
    """

    loses = PadValue.MAX


class PartialArg(
    Instr,
    abstract=True,
    pipe=V,
    uses=(TARGET,),
    disputes=("E7", "E26", "E72", "E73", "E74"),
):
    """The larger or smaller of two values, with its index."""

    dst_val = Out(Tile, cpp="dstVal", doc="receives the values")
    src0_val = In(Tile, cpp="src0Val", doc="the left values")
    src1_val = In(Tile, cpp="src1Val", doc="the right values")
    dst_idx = Out(Tile, cpp="dstIdx", doc="receives the indices")
    src0_idx = In(Tile, cpp="src0Idx", doc="the indices of the left values")
    src1_idx = In(Tile, cpp="src1Idx", doc="the indices of the right values")
    written_over = (
        *((dst_val, src0_val), (dst_val, src1_val)),
        *((dst_idx, src0_idx), (dst_idx, src1_idx)),
    )

    example = {
        **{"src1_val": SHORTER, "src1_idx": SHORTER.replace("f32", "i32")},
        **{"src0_idx": VEC_I32, "dst_idx": VEC_I32},
    }
    elided = {
        "dst_val": like(src0_val),
        "dst_idx": Like(src0_idx, src0_val.valid.rows, src0_val.valid.cols),
    }
    indexed = tuple(
        named("shape", idx.valid.rows == val.valid.rows, idx.valid.cols == val.valid.cols)
        for val, idx in ((dst_val, dst_idx), (src0_val, src0_idx), (src1_val, src1_idx))
    )
    tiles = (dst_val, src0_val, src1_val, dst_idx, src0_idx, src1_idx)
    words = dst_idx.size == 4
    fitting = either(words, both(dst_val.dtype == f16, dst_idx.size == 2))
    rules = (
        elements(dst_val, cpu=NUMBERS, a2a3=(f16, f32), a5=(f16, f32)),
        one_type(dst_val, src0_val, src1_val),
        one_type(dst_idx, src0_idx, src1_idx),
        named("element-type", dst_idx.dtype.isin(*INDICES), help="indices are integers"),
        on(HARDWARE, named("element-type", fitting, help="32-bit indices, or 16-bit with f16")),
        on(HARDWARE, when(fitting, by(ASSEMBLER, named("element-type", words, help=OF_32_BITS)))),
        covering(dst_val, src0_val, src1_val),
        one_shape(*tiles),
        indexed,
        in_vec(*tiles),
        row_major(*tiles),
    )

    def run(cls, dst_val, src0_val, src1_val, dst_idx, src0_idx, src1_idx, target):
        (rows, cols), (height, width) = src0_val.valid, src1_val.valid
        down, across = least(rows, height), least(cols, width)
        left, right = src0_val[:down, :across], src1_val[:down, :across]
        if target.keeps_first:
            first = cls.prefers(right, left).equals(False)
        else:
            first = cls.prefers(left, right)
            first = first | left.equals(right) if target.chip else first
        values, indices = (dst_val, src0_val, src1_val), (dst_idx, src0_idx, src1_idx)
        chosen = [
            (a[:rows, :cols], b[:height, :width], first.where(a[:down, :across], b[:down, :across]))
            for (_, a, b) in (values, indices)
        ]
        for (dst, _, _), (left, right, better) in zip((values, indices), chosen, strict=True):
            dst[: dst.valid.rows, : dst.valid.cols] = 0
            dst[:rows, :cols] = left
            dst[:height, :width] = right
            dst[:down, :across] = better


class TPartArgMax(PartialArg, prefers=operator.gt):
    """The larger of two values with its index where both are valid, a copy where one is, else 0.

    The CPU simulator takes src0's if it is strictly larger, A2/A3 if it is larger or equal. A5
    takes src1's if it is strictly larger. Comparisons with NaN are false.
    """


class TPartArgMin(PartialArg, prefers=operator.lt):
    """The smaller of two values with its index where both are valid, a copy where one is, else 0.

    The CPU simulator takes src0's if it is strictly smaller, A2/A3 if it is smaller or equal. A5
    takes src1's if it is strictly smaller. Comparisons with NaN are false.
    """
