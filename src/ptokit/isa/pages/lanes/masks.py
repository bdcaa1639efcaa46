"""Masks: patterns, tails, logic, and rearrangements of their bits."""

from dataclasses import replace

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *

LEADING = {f"PAT_VL{n}": n for n in (1, 2, 3, 4, 8, 16, 32, 64, 128)}
EVERY = {"PAT_M3": 3, "PAT_M4": 4}
PATTERNS = ("PAT_ALL", "PAT_ALLF", "PAT_H", "PAT_Q", *LEADING, *EVERY)
OTHERS = f"use one of: {', '.join(PATTERNS)}"
TAIL = lanes()


class Pattern(Below, abstract=True, disputes=("V4",)):
    """A mask of a pattern: all lanes, none, the first so many, every third or fourth."""

    mask = Out(Lanes)
    pattern = Attr(str, quoted=True)
    rules = named("attribute", pattern.isin(*PATTERNS), help=OTHERS)

    def run(mask, pattern):
        _, lane = mask.iota(1, mask.cols)
        if pattern in EVERY:
            selecting(mask, (lane % EVERY[pattern]).equals(0))
            return
        parts = {"PAT_ALL": 1, "PAT_H": 2, "PAT_Q": 4}
        count = mask.cols // parts[pattern] if pattern in parts else LEADING.get(pattern, 0)
        selecting(mask, lane < count)


def of_bits(bits: int) -> str:
    """Return an example of a pattern."""
    return lanes(f'%k = NAME "PAT_VL8" : !pto.mask<b{bits}>')


def masks_of(mask: Operand, bits: int) -> Ruled:
    """Require a mask for elements of so many bits."""
    return named("element-type", mask.dtype == UNSIGNED[bits], help=f"the result is mask<b{bits}>")


def of_widths(
    family: type[Below], mask: Operand, example: Callable[[int], str], **names: str
) -> None:
    """Add the pages of a family for masks of 8, 16 and 32 bits an element."""
    for title, name in names.items():
        for bits in (8, 16, 32):
            rules = (family.rules, masks_of(mask, bits))
            facts = {"name": f"{name}_b{bits}", "rules": rules, "example": example(bits)}
            page_of(family, f"{title}B{bits}", {}, **facts)


of_widths(Pattern, Pattern.mask, of_bits, PSet="pset", PGe="pge")


class Tail(Below, abstract=True, example=TAIL):
    """A mask of the first `count` lanes, and how many are left after all lanes of a register."""

    rest = Result(Scalar, scalar="i32")
    mask = Out(Lanes)
    count = In(Scalar, scalar="i32")
    asm = replace(BELOW, cpp_text="int32_t {rest}{{}}; @ {name}({count});")

    def lowered(make, mask, count):
        (made,) = make.op(FirstLanes, {"count": count}, {}, [mask])
        return [make.left_after(count, mask.cols), made]


of_widths(Tail, Tail.mask, lambda _: TAIL, PLt="plt")


class FirstLanes(Below, name="first_lanes"):
    """A mask of the first `count` lanes: what `plt_b8`, `plt_b16` and `plt_b32` give."""

    mask = Out(Lanes)
    count = In(Scalar, scalar="i32")
    example = lanes("%k = NAME %n : i32 -> M")

    def run(mask, count):
        _, lane = mask.iota(1, mask.cols)
        selecting(mask, lane.cast(i32) < count)


OF_LOOP = "%i = arith.constant 1 : i16\n    %k = NAME %i, %n : i16, i32 -> M"


class OfIteration(Below, abstract=True):
    """A mask of the lanes whose number in the `loop`-th register is below `bound`."""

    mask = Out(Lanes)
    loop = In(Scalar, scalar="i16", doc="the number of the register")
    bound = In(Scalar, scalar="i32", doc="elements of all registers")

    def run(mask, loop, bound):
        _, lane = mask.iota(1, mask.cols)
        selecting(mask, lane + loop.cast(i64) * mask.cols < bound.cast(i64))


class PLtmB8(OfIteration, name="pltm_b8"):
    __doc__ = OfIteration.__doc__

    example = lanes(OF_LOOP.replace("-> M", "-> !pto.mask<b8>"))


class PLtmB16(OfIteration, name="pltm_b16"):
    __doc__ = OfIteration.__doc__

    example = lanes(OF_LOOP.replace("-> M", "-> !pto.mask<b16>"))


class PLtmB32(OfIteration, name="pltm_b32"):
    __doc__ = OfIteration.__doc__

    example = lanes(OF_LOOP.replace("-> M", "-> !pto.mask<b32>"))


class MaskPairs(Below, abstract=True):
    """dst[i] = f(lhs[i], rhs[i]) where `mask` has lane i, else 0."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%k = NAME %m, %m, %m : M, M, M -> M")
    rules = one_type(dst, lhs, rhs, mask)

    def run(cls, dst, lhs, rhs, mask):
        bits = whole(mask.lines(u8))
        dst.lines(u8)[:1, :BYTES] = cls.f(whole(lhs.lines(u8)), whole(rhs.lines(u8))) & bits


class PAnd(MaskPairs, name="pand", f=lambda a, b: a & b):
    """dst[i] = lhs[i] and rhs[i]; lanes that `mask` does not have become 0."""


class POr(MaskPairs, name="por", f=lambda a, b: a | b):
    """dst[i] = lhs[i] or rhs[i]; lanes that `mask` does not have become 0."""


class PXor(MaskPairs, name="pxor", f=lambda a, b: a ^ b):
    """dst[i] = either lhs[i] or rhs[i]; lanes that `mask` does not have become 0."""


class PSel(MaskPairs, name="psel"):
    """dst[i] = lhs[i] where `mask` has lane i, else rhs[i]."""

    def run(cls, dst, lhs, rhs, mask):
        dst[:1, : dst.cols] = active(mask).where(whole(lhs), whole(rhs))


class PNot(Below, name="pnot"):
    """dst[i] = not src[i]; lanes that `mask` does not have become 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%k = NAME %m, %m : M, M -> M")
    rules = one_type(dst, src, mask)

    def run(dst, src, mask):
        dst.lines(u8)[:1, :BYTES] = (whole(src.lines(u8)) ^ 1) & whole(mask.lines(u8))


HALVES = ("LOWER", "HIGHER")
WHICH = "use LOWER or HIGHER"


class Halving(Below, abstract=True):
    """A mask whose bits move into or out of one half."""

    dst = Out(Lanes)
    src = In(Lanes)
    part = Attr(str, quoted=True)
    example = lanes('%k = NAME %m, "LOWER" : M -> M')
    rules = named("attribute", part.isin(*HALVES), help=WHICH)


class PPack(Halving, name="ppack"):
    """The first of each two bits, packed into one half of dst; the other half is 0."""

    def run(dst, src, part):
        bits, first = dst.lines(u8), BYTES // 2 if part == "HIGHER" else 0
        bits[:1, :BYTES] = dst.lines(u8).constant(0)
        bits[:1, first : first + BYTES // 2] = src.lines(u8)[:1, 0:BYTES:2]


class PUnpack(Halving, name="punpack"):
    """Each bit of one half of src, followed by 0."""

    def run(dst, src, part):
        first = BYTES // 2 if part == "HIGHER" else 0
        in_turns(dst.lines(u8), src.lines(u8)[:1, first : first + BYTES // 2], 0)


class MaskRows(Below, abstract=True):
    """Two masks whose lanes change places."""

    low = Out(Lanes)
    high = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    example = lanes("%k, %l = NAME %m, %m : M, M -> M, M")
    rules = one_type(low, high, lhs, rhs)


def interleaved(low: Cells, high: Cells, lhs: Cells, rhs: Cells) -> None:
    """Write the lanes of both in turns: of the lower halves to `low`, of the upper to `high`."""
    half = lhs.cols // 2
    for out, part in ((low, slice(0, half)), (high, slice(half, lhs.cols))):
        in_turns(out, lhs[:1, part], rhs[:1, part])


def separated(low: Cells, high: Cells, lhs: Cells, rhs: Cells) -> None:
    """Write the even lanes of lhs and then of rhs to `low`, the odd ones to `high`."""
    half, cols = lhs.cols // 2, lhs.cols
    for out, first in ((low, 0), (high, 1)):
        out[:1, :half], out[:1, half:cols] = lhs[:1, first:cols:2], rhs[:1, first:cols:2]


class PIntlv(MaskRows, abstract=True):
    """The lanes of both masks in turns: of their lower halves, and of their upper halves."""

    run = staticmethod(interleaved)


class PDintlv(MaskRows, abstract=True):
    """The even lanes of lhs and then of rhs, and their odd lanes."""

    run = staticmethod(separated)


def of_width(bits: int) -> str:
    """Return an example with masks of so many bits an element."""
    mask = f"!pto.mask<b{bits}>"
    made = f'%k = pto.pset_b{bits} "PAT_VL8" : {mask}'
    return lanes(made, f"%l, %h = NAME %k, %k : {mask}, {mask} -> {mask}, {mask}")


of_widths(PIntlv, MaskRows.low, of_width, PIntlv="pintlv")
of_widths(PDintlv, MaskRows.low, of_width, PDintlv="pdintlv")


class PBitcast(Below, name="pbitcast"):
    """Read the bits of a mask as a mask for elements of another width."""

    dst = Out(Lanes)
    src = In(Lanes)
    example = lanes("%k = NAME %m : M -> !pto.mask<b16>")

    def run(dst, src):
        dst.lines(u8)[:1, :BYTES] = whole(src.lines(u8))
