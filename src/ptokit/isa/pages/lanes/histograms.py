"""Histograms of bytes: how many of the selected lanes have each value."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.logicalaccesses import logical

BINS = 128  # of 16 bits in a register


def counted(dst: Cells, src: Cells, mask: Cells, up_to: bool, first: Array | int = 0) -> Array:
    """Return how many selected bytes are those of each bin from `first` on, or of one up to it."""
    _, bins = dst.iota(1, dst.cols)
    bins = bins + first
    x = whole(src).cast(i64).T
    one, none = dst.constant(1), dst.constant(0)
    counts = active(mask).where(one, none).T
    found = ((x <= bins) if up_to else x.equals(bins)).where(counts, none)
    return found.fold("add", 0, 0)


class ByteCounts(Below, abstract=True):
    """Counts of the bytes of a register that the mask selects, added to `acc`."""

    up_to: ClassVar[bool]
    dst = Out(Lanes)
    acc = In(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    bin = In(Index, doc="0: bins 0 to 127, 1: bins 128 to 255")
    rules = (
        one_type(dst, acc),
        of(dst, u16),
        of(src, u8),
        granular(mask, src),
        named("operand-value", bin >= 0, bin < 2, help="0 is bins 0 to 127, 1 is 128 to 255"),
    )
    example = lanes(
        "%q = pto.castptr %a : i64 -> !pto.ptr<ui16, ub>",
        "%h = pto.vlds %q[%c0] : !pto.ptr<ui16, ub> -> !pto.vreg<128xui16>",
        "%k = arith.constant 1 : i32",
        "%y = NAME %h, %x, %m, %k : !pto.vreg<128xui16>, V, M, i32 -> !pto.vreg<128xui16>",
        dtype=u8,
    )

    def run(cls, dst, acc, src, mask, bin):
        dst[:1, :BINS] = whole(acc) + counted(dst, src, mask, cls.up_to, bin * BINS)


class CumulativeBytes(ByteCounts, name="chistv2", up_to=True, disputes=("V20",)):
    """dst[b] = acc[b] + how many selected bytes are at most b, or at most 128 + b; sums wrap.

    The second 128 bins count the bytes of the first ones, too.
    """


class DistributedBytes(ByteCounts, name="dhistv2", up_to=False, disputes=("V20",)):
    """dst[b] = acc[b] + how many selected bytes are b, or 128 + b; sums wrap."""


class LogicalByteCounts(Below, abstract=True):
    """Counts of the bytes of `src` that the mask selects, added to `acc`."""

    up_to: ClassVar[bool]
    dst = Out(Vector)
    acc = In(Vector)
    src = In(Vector)
    mask = In(Vector)
    rules = (
        *(of(dst, u16), of(acc, u16), of(src, u8)),
        named("shape", acc.cols == dst.cols, help="as many bins"),
        named("shape", dst.cols.isin(BINS, 2 * BINS), help="128 or 256 bins"),
        lanes_of(mask, src),
    )
    example = logical(
        "%q = pto.castptr %p : P -> !pto.ptr<ui16, ub>",
        "%h = pto.vload %q[%c0] : !pto.ptr<ui16, ub> -> !pto.vmi.vreg<256xui16>",
        "%y = NAME %h, %x, %m : !pto.vmi.vreg<256xui16>, V, M -> !pto.vmi.vreg<256xui16>",
        dtype=u8,
    )

    def run(cls, dst, acc, src, mask):
        dst[:1, : dst.cols] = whole(acc) + counted(dst, src, mask, cls.up_to)


class DistributionHistogram(LogicalByteCounts, name="vmi.vdhist", up_to=False):
    """dst[b] = acc[b] + how many bytes of src that the mask selects are b; sums wrap."""


class CumulativeHistogram(LogicalByteCounts, name="vmi.vchist", up_to=True):
    """dst[b] = acc[b] + how many bytes of src that the mask selects are at most b; sums wrap."""
