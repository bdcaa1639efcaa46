"""Arithmetic, lane by lane: lanes that the mask does not select become 0."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.unary import complement, opposite, relu, without_sign
from ptokit.isa.pages.lanes.lanefamilies import *
from ptokit.values.functions import exp, log

WHOLE = (i8, u8, i16, u16, i32, u32, i64, u64)
NUMBER = (*WHOLE, f16, bf16, f32)
UP_TO_32 = (i8, u8, i16, u16, i32, u32, f16, bf16, f32)
MULTIPLIED = (i16, u16, i32, u32, f16, bf16, f32)
SIGNED = (i8, u8, i16, u16, i32, u32, f16, f32)
REALS = (f16, f32)
BITWISE = (*NUMBER, f8e4m3, f8e5m2, hif8)  # operations on bits take them, too
# forms for logical vectors, of which the mask may be left out, and of which it may not
ON_NUMBERS, ON_FLOATS = Logical(UP_TO_32, open=True), Logical(REALS, open=True)
ON_WHOLES = Logical(WHOLE[:6], open=True)
OF_BITS = lanes("%y = NAME %x, %x, %m : V, V, M -> V", dtype=i32)
ON_BITS = replace(ON_WHOLES, of_masks=True, example=OF_BITS)
ON_PRODUCTS, MASKED_NUMBERS = Logical(MULTIPLIED, open=True), Logical(UP_TO_32)
ON_SIGNS = Logical((i8, i16, i32, f16, bf16, f32), open=True)


class LanePairs(Below, abstract=True):
    """dst[i] = f(lhs[i], rhs[i]) where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %x, %m : V, V, M -> V")

    def run(cls, dst, lhs, rhs, mask):
        masked(dst, cls.f(whole(lhs), whole(rhs)), mask)


def on_pairs(*types: DType) -> Rules:
    """Return the rules of an instruction on two registers of one of these types."""
    dst, lhs, rhs, mask = LanePairs.dst, LanePairs.lhs, LanePairs.rhs, LanePairs.mask
    return (one_type(dst, lhs, rhs), of(dst, *types), granular(mask, dst))


class VAdd(
    LanePairs, name="vadd", f=lambda a, b: a + b, rules=on_pairs(*NUMBER), logical=ON_NUMBERS
):
    """dst[i] = lhs[i] + rhs[i]; integers wrap. Lanes that the mask does not select become 0."""


class VSub(
    LanePairs, name="vsub", f=lambda a, b: a - b, rules=on_pairs(*NUMBER), logical=ON_NUMBERS
):
    """dst[i] = lhs[i] - rhs[i]; integers wrap. Lanes that the mask does not select become 0."""


class VMul(
    LanePairs, name="vmul", f=lambda a, b: a * b, rules=on_pairs(*MULTIPLIED), logical=ON_PRODUCTS
):
    """dst[i] = lhs[i] * rhs[i]; integers wrap. Lanes that the mask does not select become 0."""


class VDiv(
    LanePairs,
    name="vdiv",
    disputes=("V22",),
    f=lambda a, b: a / b,
    rules=on_pairs(i16, i32, *REALS),
    logical=ON_FLOATS,
):
    """dst[i] = lhs[i] / rhs[i], of integers toward zero. Lanes without the mask become 0.

    The least integer divided by -1 stays; an integer divided by 0 is 0.
    """


def greater(a: Array, b: Array) -> Array:
    """Return the greater element; NaN if one of them is."""
    return with_nan(a, b, a.maximum(b))


def lesser(a: Array, b: Array) -> Array:
    """Return the lesser element; NaN if one of them is."""
    return with_nan(a, b, a.minimum(b))


def with_nan(a: Array, b: Array, chosen: Array) -> Array:
    """Return the chosen elements, or the one that is NaN."""
    if a.dtype.is_int:
        return chosen
    return a.isnan().where(a, b.isnan().where(b, chosen))


class VMax(
    LanePairs,
    name="vmax",
    disputes=("V5",),
    f=greater,
    rules=on_pairs(*UP_TO_32),
    logical=ON_NUMBERS,
):
    """dst[i] = max(lhs[i], rhs[i]), NaN if one is. Lanes without the mask become 0."""


class VMin(
    LanePairs,
    name="vmin",
    disputes=("V5",),
    f=lesser,
    rules=on_pairs(*UP_TO_32),
    logical=ON_NUMBERS,
):
    """dst[i] = min(lhs[i], rhs[i]), NaN if one is. Lanes without the mask become 0."""


def on_bits(operation: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return an operation on the bits of elements of any type."""

    def found(a: Array, b: Array) -> Array:
        if a.dtype.is_int:
            return operation(a, b)
        bits = UNSIGNED[a.dtype.bits]
        return operation(a.bitcast(bits), b.bitcast(bits)).bitcast(a.dtype)

    return found


class VAnd(
    LanePairs,
    name="vand",
    f=on_bits(lambda a, b: a & b),
    rules=on_pairs(*BITWISE),
    logical=ON_BITS,
):
    """dst[i] = the bits of lhs[i] and rhs[i]. Lanes that the mask does not select become 0."""


class VOr(
    LanePairs,
    name="vor",
    f=on_bits(lambda a, b: a | b),
    rules=on_pairs(*BITWISE),
    logical=ON_BITS,
):
    """dst[i] = the bits of lhs[i] or rhs[i]. Lanes that the mask does not select become 0."""


class VXor(
    LanePairs,
    name="vxor",
    f=on_bits(lambda a, b: a ^ b),
    rules=on_pairs(*BITWISE),
    logical=ON_BITS,
):
    """dst[i] = the bits of either lhs[i] or rhs[i]. Lanes without the mask become 0."""


def shifted_up(a: Array, b: Array) -> Array:
    return a << in_type(b, a.dtype)


def shifted_down(a: Array, b: Array) -> Array:
    return a >> in_type(b, a.dtype)


class LaneShifts(
    LanePairs, abstract=True, example=lanes("%y = NAME %x, %x, %m : V, V, M -> V", dtype=i32)
):
    """dst[i] = lhs[i] shifted by rhs[i] bits, whose type may differ in its sign."""

    rules = (
        of(LanePairs.dst, *WHOLE),
        one_type(LanePairs.dst, LanePairs.lhs),
        named(
            "element-type",
            LanePairs.rhs.cols == LanePairs.dst.cols,
            help="counts are as wide as the elements",
        ),
        granular(LanePairs.mask, LanePairs.dst),
    )


class VShl(LaneShifts, name="vshl", f=shifted_up, logical=ON_WHOLES):
    """dst[i] = lhs[i] shifted left by rhs[i] bits: 0 for its width or more."""


class VShr(LaneShifts, name="vshr", f=shifted_down, logical=ON_WHOLES):
    """dst[i] = lhs[i] shifted right by rhs[i] bits: arithmetically if it has a sign."""


class LaneWise(Below, abstract=True):
    """dst[i] = f(src[i]) where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %m : V, M -> V")

    def run(cls, dst, src, mask):
        masked(dst, cls.f(whole(src)), mask)


def on_one(*types: DType) -> Rules:
    """Return the rules of an instruction on one register of one of these types."""
    dst, src, mask = LaneWise.dst, LaneWise.src, LaneWise.mask
    return (one_type(dst, src), of(dst, *types), granular(mask, dst))


class VAbs(LaneWise, name="vabs", f=without_sign, rules=on_one(*SIGNED), logical=ON_SIGNS):
    """dst[i] = |src[i]|; the least integer stays. Lanes without the mask become 0."""


class VNeg(LaneWise, name="vneg", f=opposite, rules=on_one(*SIGNED), logical=ON_NUMBERS):
    """dst[i] = -src[i]; integers wrap. Lanes that the mask does not select become 0."""


class VExp(LaneWise, name="vexp", f=exp, rules=on_one(*REALS), logical=ON_FLOATS):
    """dst[i] = e ** src[i], as `texp` computes it. Lanes without the mask become 0."""


class VLn(LaneWise, name="vln", f=log, rules=on_one(*REALS), logical=ON_FLOATS):
    """dst[i] = ln src[i], as `tlog` computes it. Lanes without the mask become 0."""


class VSqrt(LaneWise, name="vsqrt", f=Array.sqrt, rules=on_one(*REALS), logical=ON_FLOATS):
    """dst[i] = the square root of src[i]. Lanes that the mask does not select become 0."""


class VRelu(
    LaneWise,
    name="vrelu",
    f=relu,
    rules=on_one(i32, *REALS),
    logical=Logical((i32, *REALS), open=True),
):
    """dst[i] = max(src[i], 0). Lanes that the mask does not select become 0."""


class VNot(
    LaneWise,
    name="vnot",
    f=complement,
    rules=on_one(*WHOLE),
    example=lanes("%y = NAME %x, %m : V, M -> V", dtype=i32),
    logical=replace(ON_BITS, example=""),
):
    """dst[i] = src[i] with every bit inverted. Lanes without the mask become 0."""


@formula("{0.operand} is the type of the lanes of {1.operand}")
def is_of_lanes(number: Value, dtype: Value) -> Value:
    """Return whether a number is one of the lanes of a register, whatever its sign."""
    if not isinstance(number, DType) or dtype not in NUMBER:
        return True  # another rule lists the types of lanes
    return number is dtype or (number.is_int and dtype.is_int and number.bits == dtype.bits)


def as_lanes(number: TypeOf, register: Operand) -> Ruled:
    """Require a number of the type of the lanes; integers may differ in their signs."""
    help = "the number has the type of the lanes"
    return named("element-type", is_of_lanes(number.dtype, register.dtype), help=help)


class LaneNumber(Below, abstract=True):
    """dst[i] = f(src[i], scalar) where the mask selects lane i, else 0."""

    dst = Out(Lanes)
    src = In(Lanes)
    scalar = In(Scalar, element=True)
    number = TypeOf(scalar)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %s, %m : V, T, M -> V")

    def run(cls, dst, src, scalar, mask):
        x = whole(src)
        masked(dst, cls.f(x, in_type(scalar, x.dtype)), mask)


def with_number(*types: DType) -> Rules:
    """Return the rules of an instruction on a register of one of these types and a number."""
    dst, number = LaneNumber.dst, LaneNumber.number
    return (*with_any_number(*types), as_lanes(number, dst))


def with_any_number(*types: DType) -> Rules:
    """Return the rules of an instruction on a register of one of these types."""
    dst, src, mask = LaneNumber.dst, LaneNumber.src, LaneNumber.mask
    return (one_type(dst, src), of(dst, *types), granular(mask, dst))


class VAdds(
    LaneNumber,
    name="vadds",
    f=lambda a, b: a + b,
    rules=with_number(*UP_TO_32),
    logical=MASKED_NUMBERS,
):
    """dst[i] = src[i] + scalar; integers wrap. Lanes without the mask become 0."""


class VMuls(
    LaneNumber,
    name="vmuls",
    f=lambda a, b: a * b,
    rules=with_number(*MULTIPLIED),
    logical=Logical(MULTIPLIED),
):
    """dst[i] = src[i] * scalar; integers wrap. Lanes without the mask become 0."""


class VMaxs(
    LaneNumber,
    name="vmaxs",
    disputes=("V5",),
    f=greater,
    rules=with_number(*UP_TO_32),
    logical=MASKED_NUMBERS,
):
    """dst[i] = max(src[i], scalar), NaN if one is. Lanes without the mask become 0."""


class VMins(
    LaneNumber,
    name="vmins",
    disputes=("V5",),
    f=lesser,
    rules=with_number(*UP_TO_32),
    logical=MASKED_NUMBERS,
):
    """dst[i] = min(src[i], scalar), NaN if one is. Lanes without the mask become 0."""


SHIFTED = lanes("%k = arith.constant 3 : i16", "%y = NAME %x, %k, %m : V, i16, M -> V", dtype=i32)


class VShls(
    LaneNumber,
    name="vshls",
    f=lambda a, b: a << b,
    rules=with_any_number(*WHOLE),
    example=SHIFTED,
    logical=Logical(WHOLE[:6]),
):
    """dst[i] = src[i] shifted left by `scalar` bits. Lanes without the mask become 0."""


class VShrs(
    LaneNumber,
    name="vshrs",
    f=lambda a, b: a >> b,
    rules=with_any_number(*WHOLE),
    example=SHIFTED,
    logical=Logical(WHOLE[:6]),
):
    """dst[i] = src[i] shifted right by `scalar` bits: arithmetically if it has a sign."""


def leaky(x: Array, slope: Array) -> Array:
    """Return `x`, times the slope where it is negative."""
    return (x < 0).where(x * slope, x)


class VLRelu(LaneNumber, name="vlrelu", f=leaky, rules=with_number(*REALS), logical=ON_FLOATS):
    """dst[i] = src[i], times `scalar` if it is negative. Lanes without the mask become 0."""


class VPRelu(LanePairs, name="vprelu", f=leaky, rules=on_pairs(*REALS), logical=ON_FLOATS):
    """dst[i] = lhs[i], times rhs[i] if it is negative. Lanes without the mask become 0."""


class VMula(Below, name="vmula", logical=ON_NUMBERS):
    """dst[i] = acc[i] + lhs[i] * rhs[i], the product not rounded. Other lanes become 0."""

    dst = Out(Lanes)
    acc = In(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %x, %x, %m : V, V, V, M -> V")
    rules = (one_type(dst, acc, lhs, rhs), of(dst, *UP_TO_32), granular(mask, dst))

    def run(dst, acc, lhs, rhs, mask):
        masked(dst, fused(whole(lhs), whole(rhs), whole(acc)), mask)


class VMadd(Below, name="vmadd"):
    """dst[i] = acc[i] * lhs[i] + rhs[i], the product not rounded. Other lanes become 0."""

    dst = Out(Lanes)
    acc = In(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %x, %x, %m : V, V, V, M -> V")
    rules = (one_type(dst, acc, lhs, rhs), of(dst, f16, bf16, f32), granular(mask, dst))

    def run(dst, acc, lhs, rhs, mask):
        masked(dst, fused(whole(acc), whole(lhs), whole(rhs)), mask)


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c; of f32 and narrower the product is exact, and the sum is rounded twice."""
    if a.dtype.is_int:
        return a * b + c
    x, y, z = (v.cast(f32).cast(f64) for v in (a, b, c))
    total = x * y + z
    return total.cast(a.dtype) if a.dtype == f32 else total.cast(f32).cast(a.dtype)


class VAxpy(Below, name="vaxpy", logical=ON_FLOATS):
    """dst[i] = alpha * lhs[i] + rhs[i], the product not rounded. Other lanes become 0."""

    dst = Out(Lanes)
    lhs = In(Lanes)
    rhs = In(Lanes)
    alpha = In(Scalar, element=True)
    number = TypeOf(alpha)
    mask = In(Lanes)
    example = lanes("%y = NAME %x, %x, %s, %m : V, V, T, M -> V")
    rules = (
        one_type(dst, lhs, rhs),
        of(dst, *REALS),
        granular(mask, dst),
        as_lanes(number, dst),
    )

    def run(dst, lhs, rhs, alpha, mask):
        x = whole(lhs)
        masked(dst, fused(x, in_type(alpha, x.dtype), whole(rhs)), mask)


class VExpDif(Below, name="vexpdif", disputes=("V8",)):
    """dst = e ** (src - maximum) in f32; of f16 the even or odd lanes, as `part` says."""

    dst = Out(Lanes)
    src = In(Lanes)
    maximum = In(Lanes)
    mask = In(Lanes)
    part = Attr(str, quoted=True)
    example = lanes('%y = NAME %x, %x, %m, "EVEN" : V, V, M -> V')
    rules = (
        one_type(src, maximum),
        of(src, *REALS),
        of(dst, f32),
        granular(mask, src),
        named("attribute", part.isin(*or_longer("PART_", *HALVED)), help="EVEN or ODD lanes"),
    )

    def run(dst, src, maximum, mask, part):
        step = src.cols // dst.cols
        which = slice(step - 1 if part.endswith("ODD") else 0, src.cols, step)
        x, y = (c[:1, which].cast(f32) for c in (src, maximum))
        chosen = active(mask)[:, which]
        dst[:1, : dst.cols] = chosen.where(exp(x - y), 0.0)
