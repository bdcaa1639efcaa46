"""Conversions of lanes, and how they are rounded."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.lanes.elementwise import BITWISE, REALS
from ptokit.isa.pages.lanes.lanefamilies import *

MODES = {
    "R": Rounding.RINT,
    "A": Rounding.ROUND,
    "F": Rounding.FLOOR,
    "C": Rounding.CEIL,
    "Z": Rounding.TRUNC,
    "O": Rounding.ODD,
}
CONVERTED = (*BITWISE, f4e2m1x2, f4e1m2x2)
QUARTERS = ("P0", "P1", "P2", "P3")
ROUNDINGS = (*MODES, "H")
SATURATIONS = ("SAT", "RS_ENABLE", "NOSAT", "RS_DISABLE")  # older text has the longer words
ANY_MODE = (
    "R half to even, A half away from zero, H half to zero, F down, C up, Z to zero, O to odd"
)


def next_to_zero(x: Array) -> Array:
    """Return the floats before those of an array, on the way to zero."""
    bits = x.bitcast(UNSIGNED[x.dtype.bits])
    least = (x.equals(0) | x.isnan()).where(bits, bits - 1)
    return least.bitcast(x.dtype)


def rounded(x: Array, dtype: DType, rnd: str | None, saturate: bool) -> Array:
    """Return lanes in another type, rounded as a word says."""
    word = "" if rnd is None else rnd.removeprefix("ROUND_")
    mode = MODES.get(word, Rounding.NONE)
    if word == "H":
        x, mode = (next_to_zero(x) if x.dtype.is_float else x), Rounding.ROUND
    return x.cast(dtype, mode, saturate)


def number_of(part: str | None) -> int:
    """Return which of several lanes a part is; the first one without a part."""
    word = (part or "").removeprefix("PART_")
    family = HALVED if word in HALVED else QUARTERS
    return family.index(word) if word else 0


def part_fits(part: Attr, src: Operand, dst: Operand) -> Ruled:
    """Require a part as there are wide elements in a narrow one: of two, of four, or none."""
    few, many = src.dtype.bits, dst.dtype.bits
    halves = part.isin(*or_longer("PART_", *HALVED))
    quarters = part.isin(*or_longer("PART_", *QUARTERS))
    fits = either(
        both(either(few == many * 2, many == few * 2), halves),
        both(either(few == many * 4, many == few * 4), quarters),
    )
    help = "EVEN or ODD if one width is twice the other, P0 to P3 if it is four times, else none"
    return when(part.given, named("attribute", fits, help=help))


class VCvt(Below, name="vcvt"):
    """The lanes of src in another type, rounded as `rnd` says.

    Narrower results stand in every second or fourth lane of dst, the others are 0; wider ones are
    those of every second or fourth lane of src. `part` says which. With `sat` numbers beyond the
    type become its limits. Lanes of src that the mask does not select become 0.
    """

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    rnd = Attr(str, None)
    sat = Attr(str, None)
    part = Attr(str, None)
    example = lanes('%y = NAME %x, %m {rnd = "R", part = "EVEN"} : V, M -> !pto.vreg<128xf16>')
    disputes = ("V15",)
    rules = (
        of(src, *CONVERTED),
        of(dst, *CONVERTED),
        granular(mask, src),
        when(
            rnd.given,
            named("attribute", rnd.isin(*or_longer("ROUND_", *ROUNDINGS)), help=ANY_MODE),
        ),
        when(sat.given, named("attribute", sat.isin(*SATURATIONS), help="use SAT or NOSAT")),
        part_fits(part, src, dst),
    )

    def run(dst, src, mask, rnd, sat, part):
        first, zero, saturate = number_of(part), dst.constant(0), sat in SATURATIONS[:2]
        if 4 in (src.dtype.bits, dst.dtype.bits):
            converted_pairs(dst, src, mask, rnd, first)
            return
        chosen = active(mask, src.cols)
        if src.cols < dst.cols:
            value = rounded(whole(src), dst.dtype, rnd, saturate)
            turns: list[Term] = [0] * (dst.cols // src.cols)
            turns[first] = chosen.where(value, zero)
            in_turns(dst, *turns)
            return
        which = slice(first, src.cols, src.cols // dst.cols)
        value = rounded(src[:1, which], dst.dtype, rnd, saturate)
        dst[:1, : dst.cols] = chosen[:, which].where(value, zero)


def converted_pairs(dst: Cells, src: Cells, mask: Cells, rnd: str | None, part: int) -> None:
    """Convert packed pairs to bf16 or back: those of every fourth byte, `part` says which."""
    _, lane = dst.iota(1, dst.cols)
    if dst.dtype.bits == 4:
        at = lane // 8 * 2 + lane % 2
        value = rounded(src.take(at), dst.dtype, rnd, True)
        chosen = (mask.take(at) > 0) & (lane // 2 % 4).equals(part)
    else:
        byte = lane // 2 * 4 + part
        value = src.take(byte * 2 + lane % 2).cast(dst.dtype)
        chosen = mask.take(byte) > 0
    dst[:1, : dst.cols] = chosen.where(value, dst.constant(0))


class VTrc(Below, name="vtrc"):
    """dst[i] = src[i] rounded to a whole number. Lanes that the mask does not select become 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    rnd = Attr(str, quoted=True)
    example = lanes('%y = NAME %x, %m, "R" : V, M -> V')
    rules = (
        one_type(dst, src),
        of(dst, bf16, *REALS),
        granular(mask, dst),
        named("attribute", rnd.isin(*or_longer("ROUND_", *MODES)), help=ANY_MODE),
    )

    def run(dst, src, mask, rnd):
        masked(dst, whole(src).rint(MODES[rnd.removeprefix("ROUND_")]), mask)


class VMulsCvt(Below, name="vmulscvt", disputes=("V21",)):
    """The lanes of src times a number, in half the width: in the even or the odd lanes of dst.

    The product is rounded to f32, and then as `rnd` says. All other lanes of dst are 0.
    """

    dst = Out(Lanes)
    src = In(Lanes)
    scalar = In(Scalar, element=True)
    mask = In(Lanes)
    rnd = Attr(str, quoted=True)
    part = Attr(str, quoted=True)
    example = lanes('%y = NAME %x, %s, %m, "A", "EVEN" : V, T, M -> !pto.vreg<128xf16>')
    rules = (
        of(dst, f16),
        of(src, f32),
        granular(mask, src),
        named("attribute", rnd.isin(*or_longer("ROUND_", *ROUNDINGS)), help=ANY_MODE),
        part_fits(part, src, dst),
    )

    def run(cls, dst, src, scalar, mask, rnd, part):
        value = rounded(whole(src) * in_type(scalar, f32), dst.dtype, rnd, False)
        found = active(mask).where(value, dst.constant(0))
        in_turns(dst, *((0, found) if number_of(part) else (found, 0)))
