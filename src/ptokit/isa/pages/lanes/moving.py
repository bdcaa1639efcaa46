"""Values in other lanes, of other types, compared and selected."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.elementwise import NUMBER, UP_TO_32, WHOLE, as_lanes
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.isa.pages.lanes.masks import HALVES, WHICH, interleaved, separated

RELATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": lambda a, b: a.equals(b),
    "ne": lambda a, b: unlike(a, b),
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
ANY_RELATION = f"use one of: {', '.join(RELATIONS)}"


def unlike(a: Array, b: Array) -> Array:
    """Return where elements differ: a NaN differs from everything."""
    one = a.equals(a)
    return a.equals(b).where(one ^ one, one | a.isnan() if a.dtype.is_float else one)


ORDERED = {f"o{word}": relation for word, relation in RELATIONS.items()}
ORDERED["one"] = lambda a, b: (a < b) | (a > b)
EVERY_RELATION = {**RELATIONS, **ORDERED}
LOGICAL_RELATION = Attr(str, key="cmp")
COMPARISON = Logical(
    UP_TO_32,
    masks=("mask", "dst"),
    fields={"relation": LOGICAL_RELATION},
    rules=(named("attribute", LOGICAL_RELATION.isin(*EVERY_RELATION), help=ANY_RELATION),),
    example=lanes('%k = NAME %x, %x, %m {cmp = "lt"} : V, V, M -> M'),
)
COMPARISON_WITH_NUMBER = replace(
    COMPARISON, example=lanes('%k = NAME %x, %s, %m {cmp = "lt"} : V, T, M -> M')
)


class VCmp(Below, name="vcmp", logical=COMPARISON):
    """dst[i] = lhs[i] `relation` rhs[i] where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    relation = Attr(str, quoted=True)
    example = lanes('%k = NAME %x, %x, %m, "lt" : V, V, M -> M')
    rules = (
        one_type(lhs, rhs),
        of(lhs, *NUMBER),
        granular(mask, lhs),
        granular(dst, lhs),
        named("attribute", relation.isin(*RELATIONS), help=ANY_RELATION),
    )

    def run(dst, lhs, rhs, mask, relation):
        compared(dst, whole(lhs), whole(rhs), mask, relation)


def compared(dst: Cells, x: Array, y: Array, mask: Cells, relation: str) -> None:
    """Write where the relation holds, of the lanes that the mask selects."""
    none = dst.constant(0)
    holds = EVERY_RELATION[relation](x, y).where(dst.constant(1), none)
    dst[:1, : dst.cols] = active(mask).where(holds, none)


class VCmps(Below, name="vcmps", logical=COMPARISON_WITH_NUMBER):
    """dst[i] = src[i] `relation` scalar where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    scalar = In(Scalar, element=True)
    number = TypeOf(scalar)
    mask = In(Lanes)
    relation = Attr(str, quoted=True)
    example = lanes('%k = NAME %x, %s, %m, "lt" : V, T, M -> M')
    rules = (
        of(src, *NUMBER),
        as_lanes(number, src),
        granular(mask, src),
        granular(dst, src),
        named("attribute", relation.isin(*RELATIONS), help=ANY_RELATION),
    )

    def run(dst, src, scalar, mask, relation):
        x = whole(src)
        compared(dst, x, in_type(scalar, x.dtype), mask, relation)


SELECTION = Logical(
    UP_TO_32,
    modes=("zero", "merge"),
    asm=Asm(order=("mask", "lhs", "rhs")),
    example=lanes("%y = NAME %m, %x, %x : M, V, V -> V"),
)


class VSel(Below, name="vsel", logical=SELECTION):
    """dst[i] = lhs[i] where the mask selects lane i, else rhs[i]."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %x, %m : V, V, M -> V")
    rules = (one_type(dst, lhs, rhs), of(dst, *NUMBER), granular(mask, dst))

    def run(dst, lhs, rhs, mask):
        dst[:1, : dst.cols] = active(mask, dst.cols).where(whole(lhs), whole(rhs))


class VSelr(Below, name="vselr"):
    """dst[i] = src[index[i]]; of an index the low bits count."""

    dst = Out(Lanes)
    src = In(Lanes)
    index = In(Lanes)
    example = lanes("%j = pto.vci %s : T -> V", "%y = NAME %x, %j : V, V -> V", dtype=i32)
    width = "indices are as wide as the elements"
    rules = (
        one_type(dst, src),
        of(dst, *NUMBER),
        of(index, *WHOLE),
        named("element-type", index.cols == src.cols, help=width),
    )

    def run(dst, src, index):
        at = whole(index).cast(i64) & (src.cols - 1)
        dst[:1, : dst.cols] = src.take(at)


class VBr(Below, name="vbr"):
    """dst[i] = scalar in all lanes."""

    dst = Out(Lanes)
    scalar = In(Scalar, element=True)
    example = lanes("%y = NAME %s : T -> V")
    rules = of(dst, *NUMBER)

    def run(dst, scalar):
        dst[:1, : dst.cols] = in_type(scalar, dst.dtype).repeated(dst.cols)


class VDup(Below, name="vdup"):
    """dst[i] = scalar where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    scalar = In(Scalar, element=True)
    mask = In(Lanes)
    position = Attr(str, "LOWEST")
    example = lanes("%y = NAME %s, %m : T, M -> V")
    rules = (of(dst, *NUMBER), granular(mask, dst))

    def run(dst, scalar, mask):
        masked(dst, in_type(scalar, dst.dtype), mask)


class VDupLane(Below, name="vdup", form="a lane"):
    """dst[i] = the first or the last lane of src where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    position = Attr(str, "LOWEST")
    example = lanes("%y = NAME %x, %m : V, M -> V")
    rules = (
        one_type(dst, src),
        of(dst, *NUMBER),
        granular(mask, dst),
        named("attribute", position.isin("LOWEST", "HIGHEST"), help="use LOWEST or HIGHEST"),
    )

    def run(dst, src, mask, position):
        at = src.cols - 1 if position == "HIGHEST" else 0
        masked(dst, src[:1, at : at + 1], mask)


class VCi(Below, name="vci"):
    """dst[i] = scalar + i, or scalar - i where `order` is DESC."""

    dst = Out(Lanes)
    scalar = In(Scalar, element=True)
    direction = Attr(str, "ASC", key="order")
    example = lanes('%y = NAME %s {order = "ASC"} : T -> V', dtype=i32)
    rules = (
        of(dst, i8, i16, i32, f16, f32),
        named("attribute", direction.isin("ASC", "DESC"), help="use ASC or DESC"),
    )

    def run(dst, scalar, direction):
        _, lane = dst.iota(1, dst.cols)
        first, step = in_type(scalar, dst.dtype), lane.cast(dst.dtype)
        dst[:1, : dst.cols] = first - step if direction == "DESC" else first + step


class VBitcast(Below, name="vbitcast"):
    """Read the bits of a register as lanes of another type."""

    dst = Out(Lanes)
    src = In(Lanes)
    example = lanes("%y = NAME %x : V -> !pto.vreg<64xi32>")

    def run(dst, src):
        dst.lines(u8)[:1, :BYTES] = whole(src.lines(u8))


class RegisterPairs(Below, abstract=True):
    """Two registers whose lanes change places."""

    low = Out(Lanes)
    high = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    example = lanes("%y, %z = NAME %x, %x : V, V -> V, V")
    rules = (one_type(low, high, lhs, rhs), of(low, *NUMBER))


class VIntlv(RegisterPairs, name="vintlv"):
    """The lanes of both registers in turns: of their lower halves, and of their upper halves."""

    run = staticmethod(interleaved)


class VDintlv(RegisterPairs, name="vdintlv", disputes=("V3",)):
    """The even lanes of lhs and then of rhs, and their odd lanes."""

    run = staticmethod(separated)


SQUEEZED = {"SQZN": "mask"}  # the register has the number of lanes that the mask selects


class VSqz(Below, name="vsqz", changes=SQUEEZED):
    """The lanes that the mask selects, moved to the front in their order; the rest is 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %m : V, M -> V")
    rules = (one_type(dst, src), of(dst, *NUMBER), granular(mask, dst))

    def run(dst, src, mask):
        found, count = whole(src).compacted(active(mask, src.cols))
        _, lane = dst.iota(1, dst.cols)
        dst[:1, : dst.cols] = (lane < count.cast(i64)).where(found, dst.constant(0))


class VUsqz(Below, name="vusqz", changes=SQUEEZED):
    """dst[i] = the number of lanes before i that the mask selects; src has no effect."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %m : V, M -> V", dtype=i32)
    rules = (one_type(dst, src), of(dst, i8, i16, i32), granular(mask, dst))

    def run(dst, mask):
        counts = active(mask, dst.cols).where(dst.constant(1), dst.constant(0))
        step = 1
        dst[:1, :1] = dst.constant(0)
        dst[:1, 1 : dst.cols] = counts[:, : dst.cols - 1]
        while step < dst.cols:
            x = whole(dst)
            dst[:1, step : dst.cols] = x[:, step:] + x[:, : dst.cols - step]
            step *= 2


class VPack(Below, name="vpack"):
    """The low halves of src's lanes in one half of dst; the other half is 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    part = Attr(str, quoted=True)
    example = lanes('%y = NAME %x, "LOWER" : V -> !pto.vreg<128xui16>', dtype=i32)
    rules = (
        of(dst, u8, u16),
        of(src, i16, u16, i32, u32),
        named("element-type", src.cols * 2 == dst.cols, help="elements of half the width"),
        named("attribute", part.isin(*HALVES), help=WHICH),
    )

    def run(dst, src, part):
        first = src.cols if part == "HIGHER" else 0
        dst[:1, : dst.cols] = dst.constant(0)
        dst[:1, first : first + src.cols] = src.lines(dst.dtype)[:1, 0 : dst.cols : 2]


class Widening(Below, abstract=True):
    """The lanes of one half of src in twice the width."""

    dst = Out(Lanes)
    src = In(Lanes)
    part = In(Index)
    example = lanes("%y = NAME %x, %c0 : V, index -> !pto.vreg<64xi32>", dtype=i16)
    rules = (
        of(dst, i16, u16, i32, u32),
        of(src, i8, u8, i16, u16),
        named("element-type", src.cols == dst.cols * 2, help="elements of twice the width"),
        named("operand-value", part >= 0, part < 2, help="0 is the lower half, 1 the upper"),
    )


class VSUnpack(Widening, name="vsunpack"):
    """The lanes of one half of src in twice the width, with their sign."""

    def run(dst, src, part):
        signed = {8: i8, 16: i16}[src.dtype.bits]
        x = src[:1, part * dst.cols : part * dst.cols + dst.cols].bitcast(signed)
        dst[:1, : dst.cols] = x.cast(dst.dtype)


class VZUnpack(Widening, name="vzunpack"):
    """The lanes of one half of src in twice the width, filled up with zeros."""

    def run(dst, src, part):
        x = src[:1, part * dst.cols : part * dst.cols + dst.cols]
        dst[:1, : dst.cols] = x.bitcast(UNSIGNED[src.dtype.bits]).cast(dst.dtype)
