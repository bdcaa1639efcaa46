"""Reductions of the lanes of a register, whole or by groups of 32 bytes."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.values.orders import tree

GROUPS = 8
REDUCED = (i8, u8, i16, u16, i32, u32, f16, f32)


class Reduction(Below, abstract=True):
    """The lanes that the mask selects, combined; the rest of dst is 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %m : V, M -> V")
    rules = (one_type(dst, src), of(dst, *REDUCED), granular(mask, src))


def chosen(src: Cells, mask: Cells, other: Array) -> Array:
    """Return the lanes, `other` for those that the mask does not select."""
    return active(mask).where(whole(src), other)


def least_of(src: Cells) -> Array:
    """Return the number that no lane is less than."""
    dtype = src.dtype
    if dtype.is_float:
        return whole(src)[:, :1].number(float("-inf"))
    return src.constant(1 << (dtype.bits - 1) if dtype.signed else 0)


def greatest_of(src: Cells) -> Array:
    """Return the number that no lane is greater than."""
    dtype = src.dtype
    if dtype.is_float:
        return whole(src)[:, :1].number(float("inf"))
    return src.constant((1 << (dtype.bits - dtype.signed)) - 1)


def first_lanes(dst: Cells, value: Array, count: int) -> None:
    """Write the first lanes; all others become 0."""
    dst[:1, : dst.cols] = dst.constant(0)
    dst[:1, :count] = value


def added(x: Array, count: int) -> Array:
    """Return the sums of every `count` lanes: neighbours, then neighbours of the sums."""
    return tree(x.T, count).T


class VCAdd(Below, name="vcadd", disputes=("V1",)):
    """dst[0] = the sum of the lanes that the mask selects: neighbours, then sums of neighbours.

    Integers of 8 and 16 bits become sums of twice the width. A lane that the mask does not select
    changes nothing. All other lanes of dst are 0.
    """

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = Reduction.example
    wider = either(
        both(src.dtype.isin(i32, u32, f16, f32), dst.dtype == src.dtype),
        both(src.dtype == i16, dst.dtype == i32),
        both(src.dtype == u16, dst.dtype == u32),
        both(src.dtype == i8, dst.dtype == i16),
        both(src.dtype == u8, dst.dtype == u16),
    )
    rules = (
        named("element-type", wider, help="sums of i8 are i16, of i16 are i32"),
        granular(mask, src),
    )

    def run(dst, src, mask):
        x = chosen(src, mask, nothing(src)).cast(dst.dtype)
        first_lanes(dst, added(x, src.cols) + 0, 1)


def nothing(src: Cells) -> Array:
    """Return the number that changes no sum: -0 of floats."""
    return src.constant(1 << (src.dtype.bits - 1) if src.dtype.is_float else 0)


class VCGAdd(Reduction, name="vcgadd"):
    """dst[g] = the sum of the lanes of group g, 32 bytes, that the mask selects."""

    def run(dst, src, mask):
        x = chosen(src, mask, nothing(src))
        first_lanes(dst, added(x, src.cols // GROUPS) + 0, GROUPS)


class VCPAdd(Reduction, name="vcpadd", disputes=("V2",)):
    """dst[i] = src[2i] + src[2i + 1] in the lower half; lanes without the mask count as 0."""

    rules = (
        one_type(Reduction.dst, Reduction.src),
        of(Reduction.dst, f16, f32),
        granular(Reduction.mask, Reduction.src),
    )

    def run(dst, src, mask):
        x = chosen(src, mask, nothing(src))
        first_lanes(dst, added(x, 2) + 0, src.cols // 2)


class VCGMax(Reduction, name="vcgmax"):
    """dst[g] = the greatest lane of group g, 32 bytes, of those that the mask selects."""

    def run(dst, src, mask):
        x = chosen(src, mask, least_of(src))
        first_lanes(dst, x.reshaped(GROUPS, src.cols // GROUPS).fold("max", 1).T, GROUPS)


class VCGMin(Reduction, name="vcgmin"):
    """dst[g] = the least lane of group g, 32 bytes, of those that the mask selects."""

    def run(dst, src, mask):
        x = chosen(src, mask, greatest_of(src))
        first_lanes(dst, x.reshaped(GROUPS, src.cols // GROUPS).fold("min", 1).T, GROUPS)


def extreme(dst: Cells, x: Array, word: str) -> None:
    """Write the extreme value, and in the next lane the bits of its first lane's number."""
    best = x.fold(word, 1)
    _, lane = dst.iota(1, dst.cols)
    place = x.equals(best).where(lane, dst.cols).fold("min", 1)
    place = (place < dst.cols).where(place, 0)
    dst[:1, : dst.cols] = dst.constant(0)
    dst[:1, :1] = best
    dst[:1, 1:2] = place.cast(UNSIGNED[dst.dtype.bits]).bitcast(dst.dtype)


class VCMax(Reduction, name="vcmax"):
    """dst[0] = the greatest lane that the mask selects, dst[1] = the bits of its number.

    Of equal lanes it is the first. All other lanes of dst are 0.
    """

    def run(dst, src, mask):
        extreme(dst, chosen(src, mask, least_of(src)), "max")


class VCMin(Reduction, name="vcmin"):
    """dst[0] = the least lane that the mask selects, dst[1] = the bits of its number.

    Of equal lanes it is the first. All other lanes of dst are 0.
    """

    def run(dst, src, mask):
        extreme(dst, chosen(src, mask, greatest_of(src)), "min")


class MarkedExtreme(Below, abstract=True):
    """The extreme of the lanes that the mask selects, and a mask of the lanes that have it."""

    value = Out(Lanes)
    found = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y, %k = NAME %x, %m : V, M -> V, M")
    rules = (
        one_type(value, src),
        of(value, *REDUCED),
        granular(mask, src),
        granular(found, src),
    )


def marked(value: Cells, found: Cells, x: Array, mask: Cells, word: str) -> None:
    """Write the extreme value, and the selected lanes that are equal to it."""
    best = x.fold(word, 1)
    first_lanes(value, best, 1)
    selecting(found, active(mask) & x.equals(best))


class VCBMax(MarkedExtreme, name="vcbmax"):
    """value[0] = the greatest lane that the mask selects; found[i] says whether lane i has it.

    All other lanes of value are 0. Both zeros are equal, and NaN is equal to no lane.
    """

    def run(value, found, src, mask):
        marked(value, found, chosen(src, mask, least_of(src)), mask, "max")


class VCBMin(MarkedExtreme, name="vcbmin"):
    """value[0] = the least lane that the mask selects; found[i] says whether lane i has it.

    All other lanes of value are 0. Both zeros are equal, and NaN is equal to no lane.
    """

    def run(value, found, src, mask):
        marked(value, found, chosen(src, mask, greatest_of(src)), mask, "min")
