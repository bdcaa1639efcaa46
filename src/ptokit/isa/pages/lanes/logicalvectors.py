"""Instructions that logical vectors alone have: masks, broadcasts, reductions, conversions."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.elementwise import UP_TO_32
from ptokit.isa.pages.lanes.laneconversions import rounded
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.logicalaccesses import logical
from ptokit.isa.pages.lanes.masks import interleaved, separated
from ptokit.isa.pages.lanes.reducing import REDUCED, added, chosen, greatest_of, least_of, nothing
from ptokit.values.functions import exp

DIVISOR = "the number of groups divides that of the lanes"


class CreateMask(Below, name="vmi.create_mask"):
    """A mask of the first `active_lanes` lanes."""

    mask = Out(Vector)
    active_lanes = In(Scalar, scalar="i64")
    example = logical("%k = NAME %few : i64 -> M")

    def run(mask, active_lanes):
        _, lane = mask.iota(1, mask.cols)
        selecting(mask, lane < active_lanes)


class CreateGroupMask(Below, name="vmi.create_group_mask"):
    """A mask of the first `active_lanes` lanes of each group."""

    mask = Out(Vector)
    active_lanes = In(Scalar, scalar="i64")
    num_groups = Attr(int)
    group_size = Attr(int)
    rules = named(
        "attribute",
        num_groups > 0,
        num_groups * group_size == mask.cols,
        help="the groups together have the lanes of the mask",
    )
    example = logical("%k = NAME %few {num_groups = 4, group_size = 16} : i64 -> M")

    def run(mask, active_lanes, group_size):
        _, lane = mask.iota(1, mask.cols)
        selecting(mask, lane % group_size < active_lanes)


class BroadcastNumber(Below, name="vmi.vbrc"):
    """dst[i] = scalar in all lanes."""

    dst = Out(Vector)
    scalar = In(Scalar, element=True)
    rules = (of(dst, *UP_TO_32), vreg(dst))
    example = logical("%y = NAME %s : T -> V")

    def run(dst, scalar):
        dst[:1, : dst.cols] = in_type(scalar, dst.dtype).repeated(dst.cols)


class BroadcastGroups(Below, name="vmi.vbrc", form="of lanes"):
    """Each lane of `src` in all lanes of its group of dst."""

    asm = Asm(spellings=("vmi.group_broadcast",))
    dst = Out(Vector)
    src = In(Vector)
    group = Attr(int, 1, older="num_groups")
    rules = (
        of(dst, *UP_TO_32),
        named("element-type", src.spelled == dst.spelled, help="one element type"),
        named("attribute", src.cols == group, help="`group` is the number of lanes of src"),
        named("shape", dst.cols % src.cols == 0, help=DIVISOR),
    )
    example = logical(
        "%g = pto.vcmax %x, %m {group = 8} : V, M -> !pto.vmi.vreg<8xf32>",
        "%y = NAME %g {group = 8} : !pto.vmi.vreg<8xf32> -> V",
    )

    def run(dst, src):
        dst[:1, : dst.cols] = whole(src).repeated(dst.cols // src.cols)


class GroupReduction(Below, abstract=True):
    """The lanes of each group that the mask selects, combined to one lane."""

    dst = Out(Vector)
    src = In(Vector)
    mask = In(Vector)
    group = Attr(int, 1, older="num_groups")
    pmode = Attr(str, "zero")
    rules = (
        named("element-type", src.spelled == dst.spelled, help="one element type"),
        named("attribute", dst.cols == group, help="`group` is the number of lanes of dst"),
        named("shape", src.cols % dst.cols == 0, help=DIVISOR),
        lanes_of(mask, src),
        zeroing(pmode, "zero"),
    )
    example = logical("%y = NAME %x, %m {group = 8} : V, M -> !pto.vmi.vreg<8xf32>")


class GroupSum(GroupReduction, name="vmi.vcadd", disputes=("V1",)):
    """dst[g] = the sum of the lanes of group g that the mask selects; integers wrap.

    Sums are those of neighbours, then of neighbours of the sums. A lane that the mask does not
    select changes nothing.
    """

    asm = Asm(spellings=("vmi.group_reduce_addf", "vmi.group_reduce_addi"))

    reassoc = Attr(bool, False)
    rules = (GroupReduction.rules, of(GroupReduction.src, *UP_TO_32))

    def run(dst, src, mask):
        x = chosen(src, mask, nothing(src))
        width = src.cols // dst.cols
        power = 1 << (width - 1).bit_length()
        if power != width:
            x = x.reshaped(dst.cols, width).padded(power, 1, -0.0 if x.dtype.is_float else 0)
            x = x.reshaped(1, dst.cols * power)
        dst[:1, : dst.cols] = added(x, power) + 0


class GroupExtreme(GroupReduction, abstract=True):
    """An extreme lane of each group."""

    rules = (GroupReduction.rules, of(GroupReduction.src, *REDUCED))


class GroupMaximum(GroupExtreme, name="vmi.vcmax"):
    """dst[g] = the greatest lane of group g, of those that the mask selects."""

    asm = Asm(spellings=("vmi.group_reduce_maxf", "vmi.group_reduce_maxi"))

    def run(dst, src, mask):
        x = chosen(src, mask, least_of(src)).reshaped(dst.cols, src.cols // dst.cols)
        dst[:1, : dst.cols] = x.fold("max", 1).T


class GroupMinimum(GroupExtreme, name="vmi.vcmin"):
    """dst[g] = the least lane of group g, of those that the mask selects."""

    asm = Asm(spellings=("vmi.group_reduce_minf", "vmi.group_reduce_mini"))

    def run(dst, src, mask):
        x = chosen(src, mask, greatest_of(src)).reshaped(dst.cols, src.cols // dst.cols)
        dst[:1, : dst.cols] = x.fold("min", 1).T


class VectorConversion(Below, abstract=True, disputes=("V15",)):
    """dst[i] = src[i] in another type, rounded as `rounding` says.

    R is half to even, which is the default, A half away from zero, H half to zero, F down, C up, Z
    to zero. `saturate` says whether numbers beyond the type become its limits (SAT).
    """

    dst = Out(Vector)
    src = In(Vector)
    rounding = Attr(str, None)
    saturate = Attr(str, None)
    rules = (
        named("shape", dst.cols == src.cols, help="as many lanes"),
        when(
            rounding.given,
            named("attribute", rounding.isin(*"RAFCZH"), help="use R, A, F, C, Z or H"),
        ),
        when(
            saturate.given,
            named("attribute", saturate.isin("SAT", "NOSAT"), help="use SAT or NOSAT"),
        ),
    )
    example = logical('%y = NAME %x {saturate = "SAT"} : V -> !pto.vmi.vreg<64xf16>')

    def run(dst, src, rounding, saturate):
        dst[:1, : dst.cols] = rounded(whole(src), dst.dtype, rounding or "R", saturate == "SAT")


class LogicalConversion(VectorConversion, name="vmi.vcvt"):
    __doc__ = VectorConversion.__doc__


class InterpretCast(Below, name="vmi.vinterpret_cast"):
    """Read the bits of a logical vector as lanes of another type."""

    dst = Out(Vector)
    src = In(Vector)
    rules = named(
        "element-type",
        dst.cols * dst.dtype.bits == src.cols * src.dtype.bits,
        help="as many bits in all",
    )
    example = logical("%y = NAME %x : V -> !pto.vmi.vreg<64xi32>")

    def run(dst, src):
        count = src.cols * src.dtype.bits // 8
        dst.lines(u8)[:1, :count] = whole(src.lines(u8))


class LaneNumbers(Below, name="vmi.vci"):
    """dst[i] = base + i, or base - i where `order` is DESC; each group of lanes begins anew."""

    dst = Out(Vector)
    base = In(Scalar, element=True)
    direction = Attr(str, "ASC", key="order")
    group = Attr(int, 1)
    rules = (
        of(dst, i8, u8, i16, u16, i32, u32, f16, f32),
        named("attribute", direction.isin("ASC", "DESC"), help="use ASC or DESC"),
        named("attribute", group > 0, dst.cols % group == 0, help=DIVISOR),
    )
    example = logical('%y = NAME %s {order = "DESC"} : T -> V', dtype=i32)

    def run(dst, base, direction, group):
        _, lane = dst.iota(1, dst.cols)
        step = (lane % (dst.cols // group)).cast(dst.dtype)
        first = in_type(base, dst.dtype)
        dst[:1, : dst.cols] = first - step if direction == "DESC" else first + step


class LogicalExpDif(Below, name="vmi.vexpdif", disputes=("V8",)):
    """dst[i] = e ** (src[i] - maximum[i]) in f32 where the mask selects lane i, else 0."""

    dst = Out(Vector)
    src = In(Vector)
    maximum = In(Vector)
    mask = In(Vector, default=None)
    pmode = Attr(str, "zero")
    rules = (
        vectors_alike(src, maximum, masks=(mask,)),
        of(src, f16, f32),
        of(dst, f32),
        named("shape", dst.cols == src.cols, help="as many lanes"),
        zeroing(pmode, "zero"),
    )
    example = logical("%y = NAME %x, %x, %m : V, V, M -> V")

    def run(dst, src, maximum, mask):
        masked(dst, exp(whole(src).cast(f32) - whole(maximum).cast(f32)), mask)


class VectorPairs(Below, abstract=True):
    """Two logical vectors whose lanes change places."""

    low = Out(Vector)
    high = Out(Vector)
    lhs = In(Vector)
    rhs = In(Vector)
    mask = In(Vector, default=None)
    pmode = Attr(str, "zero")
    rules = (
        vectors_alike(low, high, lhs, rhs, masks=(mask,)),
        vreg(low),
        of(low, *UP_TO_32),
        named("shape", low.cols % 2 == 0, help="lanes in pairs"),
        zeroing(pmode, "zero"),
    )
    example = logical("%y, %z = NAME %x, %x, %m : V, V, M -> V, V")


class LogicalIntlv(VectorPairs, name="vmi.vintlv"):
    """The lanes of both vectors in turns: of their lower halves, and of their upper halves."""

    def run(low, high, lhs, rhs, mask):
        interleaved(low, high, lhs, rhs)
        for out in (low, high) if mask is not None else ():
            masked(out, whole(out), mask)


class LogicalDintlv(VectorPairs, name="vmi.vdintlv", disputes=("V3",)):
    """The even lanes of lhs and then of rhs, and their odd lanes."""

    def run(low, high, lhs, rhs, mask):
        separated(low, high, lhs, rhs)
        for out in (low, high) if mask is not None else ():
            masked(out, whole(out), mask)


class LogicalSelr(Below, name="vmi.vselr"):
    """dst[i] = src[index[i]]; of an index the low bits count."""

    dst = Out(Vector)
    src = In(Vector)
    index = In(Vector)
    rules = (
        vectors_alike(dst, src),
        of(dst, *UP_TO_32),
        of(index, *UP_TO_32[:6]),
        named("element-type", index.cols == src.cols, help="an index for each lane"),
        named("element-type", index.dtype.bits == src.dtype.bits, help="as wide as the elements"),
    )
    example = logical("%j = pto.vci %s : T -> V", "%y = NAME %x, %j : V, V -> V", dtype=i32)

    def run(dst, src, index):
        at = whole(index).bitcast(UNSIGNED[index.dtype.bits]).cast(i64) % src.cols
        dst[:1, : dst.cols] = src.take(at)
