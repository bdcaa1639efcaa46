"""Further instructions on lanes, which the manual has and the public cases do not."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.elementwise import (
    NUMBER,
    REALS,
    UP_TO_32,
    WHOLE,
    LaneNumber,
    LanePairs,
    LaneWise,
    on_one,
    on_pairs,
    with_any_number,
    with_number,
)
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.masks import HALVES, WHICH

OF_INTEGERS = lanes("%y = NAME %x, %m : V, M -> V", dtype=i32)
AND_NUMBER = lanes("%y = NAME %x, %s, %m : V, T, M -> V", dtype=i32)


class VSubs(LaneNumber, name="vsubs", f=lambda a, b: a - b, rules=with_number(*UP_TO_32)):
    """dst[i] = src[i] - scalar; integers wrap. Lanes without the mask become 0."""


class VAnds(
    LaneNumber,
    name="vands",
    f=lambda a, b: a & b,
    rules=with_any_number(*WHOLE),
    example=AND_NUMBER,
):
    """dst[i] = the bits of src[i] and scalar. Lanes without the mask become 0."""


class VOrs(
    LaneNumber, name="vors", f=lambda a, b: a | b, rules=with_any_number(*WHOLE), example=AND_NUMBER
):
    """dst[i] = the bits of src[i] or scalar. Lanes without the mask become 0."""


class VXors(
    LaneNumber,
    name="vxors",
    f=lambda a, b: a ^ b,
    rules=with_any_number(*WHOLE),
    example=AND_NUMBER,
):
    """dst[i] = the bits of either src[i] or scalar. Lanes without the mask become 0."""


def positive(x: Array) -> Array:
    """Return numbers, 0 for those that are not greater than 0."""
    return (x > 0).where(x, 0)


def positive_sum(a: Array, b: Array) -> Array:
    return positive(a + b)


def positive_difference(a: Array, b: Array) -> Array:
    return positive(a - b)


def inverse_root(x: Array) -> Array:
    return 1 / x.sqrt()


class VAddRelu(LanePairs, name="vaddrelu", f=positive_sum, rules=on_pairs(*REALS)):
    """dst[i] = max(lhs[i] + rhs[i], 0), 0 for NaN. Lanes without the mask become 0."""


class VSubRelu(LanePairs, name="vsubrelu", f=positive_difference, rules=on_pairs(*REALS)):
    """dst[i] = max(lhs[i] - rhs[i], 0), 0 for NaN. Lanes without the mask become 0."""


class VRec(LaneWise, name="vrec", f=lambda x: 1 / x, rules=on_one(*REALS)):
    """dst[i] = 1 / src[i]. Lanes that the mask does not select become 0."""


class VRsqrt(LaneWise, name="vrsqrt", f=inverse_root, rules=on_one(*REALS)):
    """dst[i] = 1 / the square root of src[i], each rounded. Lanes without the mask become 0."""


def bits_set(x: Array) -> Array:
    """Return how many bits of integers are 1."""
    rest, total = x.bitcast(UNSIGNED[x.dtype.bits]), None
    for _ in range(x.dtype.bits):
        bit = rest & 1
        total = bit if total is None else total + bit
        rest = rest >> 1
    assert total is not None
    return total.bitcast(x.dtype)


def leading_like_sign(x: Array) -> Array:
    """Return how many bits follow the highest one that are like it, with this one."""
    bits, width = x.bitcast(UNSIGNED[x.dtype.bits]), x.dtype.bits
    below = (1 << (width - 1)) - 1
    changes = (bits ^ (bits >> 1)) & below  # at each bit that differs from the one above it
    step = 1
    while step < width:
        changes = changes | changes >> step
        step *= 2
    return bits_set(changes ^ below).bitcast(x.dtype) + 1


class VBcnt(LaneWise, name="vbcnt", f=bits_set, rules=on_one(*WHOLE), example=OF_INTEGERS):
    """dst[i] = the number of bits of src[i] that are 1. Lanes without the mask become 0."""


class VCls(LaneWise, name="vcls", f=leading_like_sign, rules=on_one(*WHOLE), example=OF_INTEGERS):
    """dst[i] = the leading bits of src[i] that are equal. Lanes without the mask become 0."""


class VMov(LaneWise, name="vmov", f=lambda x: x, rules=on_one(*NUMBER)):
    """dst[i] = src[i] where the mask selects lane i, else 0."""


class OneHalf(Below, abstract=True):
    """One half of two registers whose lanes change places."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    part = Attr(str, quoted=True)
    example = lanes('%y = NAME %x, %x, "LOWER" : V, V -> V')
    rules = (
        one_type(dst, lhs, rhs),
        of(dst, *NUMBER),
        named("attribute", part.isin(*HALVES), help=WHICH),
    )


class VIntlvV2(OneHalf, name="vintlvv2"):
    """The lanes of the lower or the upper halves of both registers in turns."""

    def run(dst, lhs, rhs, part):
        half = lhs.cols // 2
        which = slice(half, lhs.cols) if part == "HIGHER" else slice(0, half)
        in_turns(dst, lhs[:1, which], rhs[:1, which])


class VDintlvV2(OneHalf, name="vdintlvv2"):
    """The even or the odd lanes of lhs and then of rhs."""

    def run(dst, lhs, rhs, part):
        half, cols, first = lhs.cols // 2, lhs.cols, int(part == "HIGHER")
        dst[:1, :half], dst[:1, half:cols] = lhs[:1, first:cols:2], rhs[:1, first:cols:2]
