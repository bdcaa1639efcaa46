"""TINTERLEAVE and TDEINTERLEAVE: two tiles as one stream of columns, and back."""

from ptokit.isa.lang.page import *

MOVED = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
TWICE = {1: (u8, u16), 2: (u16, u32), 4: (u32, u64)}  # a pair of elements as one number


def pairwise(dst: Operand, other: Operand, *sources: Operand) -> Rules:
    """Return the rules that all forms share."""
    tiles = (dst, other, *sources)
    return (
        named("element-type", dst.dtype.isin(*MOVED), one_type(dst, other, *sources)),
        named("layout", both(*(t.layout == ND for t in tiles)), help="store tiles row-major"),
        same_region(dst, other),
        in_vec(*tiles),
    )


def in_pairs(dst: Operand) -> Rules:
    """Require whole pairs of columns."""
    return named("shape", dst.valid.cols % 2 == 0, help="an even number of columns")


class Pairing(Instr, abstract=True, targets=(CPU, A5), pipe=V, specials=NAN_MOVES):
    """Two tiles become two others of the same region; bits move unchanged."""

    dst1 = Out(Tile, doc="the second half")
    dst0 = Out(Tile, doc="the first half")
    src1 = In(Tile, doc="the second source")
    src0 = In(Tile, doc="the first source")
    asm = Asm(order=("src0", "src1", "dst0", "dst1"), uniform=True)
    rules = (pairwise(dst0, dst1, src0, src1), same_region(dst0, src0, src1))
    elided = {"dst0": like(src0), "dst1": like(src0)}
    disputes = ("E28",)


class TInterleave(Pairing, recorded={"plain": {}, "two": {}}):
    """The stream src0[r, 0], src1[r, 0], src0[r, 1], ...: dst0 its first half, dst1 the rest.

    For an odd number of columns dst1 starts with the pair whose first element is dst0's last.
    """

    rules = (*Pairing.rules, on(CPU, in_pairs(Pairing.dst0)))
    disputes = ("E28", "E55")

    def run(dst1, dst0, src1, src0):
        rows, cols = dst0.valid
        half, (one, two) = cols // 2, TWICE[dst0.dtype.size]

        def pairs(start: int, stop: int) -> Array:
            even, odd = (s[:rows, start:stop].bitcast(one).cast(two) for s in (src0, src1))
            return even | odd << one.bits

        first, second = pairs(0, half), pairs(half, 2 * half)
        alone = src0[:rows, half : cols - half], src0[:rows, 2 * half : cols]
        dst0.lines(two)[:rows, :half] = first
        dst1.lines(two)[:rows, :half] = second
        dst0[:rows, 2 * half : cols], dst1[:rows, 2 * half : cols] = alone


class TDeinterleave(Pairing, form="two", recorded={"two": {}}):
    """The columns of src0, then those of src1: dst0 takes the even ones, dst1 the odd ones."""

    rules = (*Pairing.rules, in_pairs(Pairing.dst0))

    def run(dst1, dst0, src1, src0):
        rows, cols = dst0.valid
        parts = [
            (dst, half, src[:rows, first:cols:2])
            for first, dst in enumerate((dst0, dst1))
            for half, src in (((0, cols // 2), src0), ((cols // 2, cols), src1))
        ]
        for dst, (start, stop), x in parts:
            dst[:rows, start:stop] = x


class TDeinterleaveOne(Instr, form="one", name="tdeinterleave", targets=(CPU, A5), pipe=V):
    """dst0 takes the even columns of src, dst1 the odd ones."""

    specials = NAN_MOVES
    dst1 = Out(Tile, doc="the odd columns")
    dst0 = Out(Tile, doc="the even columns")
    src = In(Tile, doc="twice as many columns")
    asm = Asm(order=("dst0", "dst1"))
    example = {"src": WIDE}
    rules = (
        pairwise(dst0, dst1, src),
        in_pairs(dst0),
        named("shape", src.valid.rows == dst0.valid.rows),
        named("shape", src.valid.cols == dst0.valid.cols * 2, help="give both halves of src"),
    )
    elided = {
        "dst0": Like(src, src.valid.rows, src.valid.cols // 2),
        "dst1": Like(src, src.valid.rows, src.valid.cols // 2),
    }
    recorded = {"one": {}}
    disputes = ("E28",)

    def run(dst1, dst0, src):
        rows, cols = dst0.valid
        even, odd = src[:rows, 0 : cols * 2 : 2], src[:rows, 1 : cols * 2 : 2]
        dst0[:rows, :cols] = even
        dst1[:rows, :cols] = odd
