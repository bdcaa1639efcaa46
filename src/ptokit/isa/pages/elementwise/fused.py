"""Tile with tile: sums and products of three, and activations after them."""

from ptokit.isa.lang.page import *
from ptokit.isa.pages.elementwise.families import *
from ptokit.values.functions import positive

THREE = (Ternary.dst, Ternary.src0, Ternary.src1, Ternary.src2)
SUMS = (pointwise(*THREE, a2a3=VEC_A2A3, a5=VEC_A5), in_two_steps())
UPDATED = pointwise(Updating.dst, Updating.src0, Updating.src1, a2a3=F16_F32, a5=F16_F32)
RECTIFIED = pointwise(*TILES, a2a3=F16_F32, a5=F16_F32)


LAST = (Apart((Ternary.dst, Ternary.src2), placed=True),)  # the second step reads src2


class TAddC(Ternary, f=lambda a, b, c: a + b + c, rules=SUMS, apart=LAST):
    """dst[i, j] = (src0[i, j] + src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.
    """

    disputes = ("E1", "E41")


class TSubC(Ternary, f=lambda a, b, c: a - b + c, rules=SUMS, apart=LAST):
    """dst[i, j] = (src0[i, j] - src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.
    """

    disputes = ("E1", "E41")


def in_register(x: Array) -> Array:
    """Return integers of fewer than 32 bits as i32."""
    return x.cast(i32) if x.dtype.is_int and x.dtype.size < 4 else x


def rectified(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return `f` followed by relu: the result where it is greater than 0, else 0."""
    return lambda a, b: positive(f(in_register(a), in_register(b))).cast(a.dtype)


class TAddRelu(
    Binary,
    f=rectified(operator.add),
    asm=Asm(cpp_on=NOWHERE),
    targets=(CPU, A2A3),
    rules=pointwise(*TILES, a2a3=(i16, f16, f32)),
    disputes=("E42", "E44"),
):
    """dst[i, j] = src0[i, j] + src1[i, j] where the sum is greater than 0, else 0; NaN gives 0.

    Integers of fewer than 32 bits are added in i32; a positive sum keeps its low bits.
    """


class TSubRelu(Binary, f=rectified(operator.sub), rules=RECTIFIED, disputes=("E44",)):
    """dst[i, j] = src0[i, j] - src1[i, j] where the difference is greater than 0, else 0.

    NaN gives 0. Integers of fewer than 32 bits are subtracted in i32; a positive difference keeps
    its low bits.
    """


class TMulAddDst(Updating, f=lambda old, a, b: a * b + old, rules=UPDATED, disputes=("E5",)):
    """dst[i, j] = src0[i, j] * src1[i, j] + dst[i, j], rounded after each step; integers wrap."""


class TFusedMulAdd(Updating, f=lambda old, a, b: a * old + b, rules=UPDATED, disputes=("E1", "E5")):
    """dst[i, j] = src0[i, j] * dst[i, j] + src1[i, j], rounded after each step; integers wrap."""


def scaled_and_rectified(old: Array, a: Array, b: Array) -> Array:
    return positive(a * old + b)


class TFusedMulAddRelu(Updating, f=scaled_and_rectified, rules=UPDATED, disputes=("E5", "E14")):
    """dst[i, j] = src0[i, j] * dst[i, j] + src1[i, j] where greater than 0, else 0; NaN gives 0.

    The value is rounded after each step; integers wrap.
    """


NARROWED = {f32: f16, f16: i8, i16: i8}


def narrowed(dtype: DType) -> DType:
    return NARROWED.get(dtype, dtype)


class Converting(Instr, abstract=True, pipe=V, asm=Asm(deduced=True, cpp_on=CHIPS)):
    """dst = f(src0, src1) where it is greater than 0, else 0, in a narrower type."""

    dst = Out(Tile, doc="receives the results: f16 of f32, i8 of f16 and i16")
    src0 = In(Tile, doc="the left operands")
    src1 = In(Tile, doc="the right operands")
    example = {"dst": "!pto.tile_buf<vec, 16x32xf16>"}
    elided = {"dst": like(src0, dtype=narrowed)}
    rules = (
        src0.dtype == src1.dtype,
        pairs(dst, src0, *((a, (b,)) for a, b in NARROWED.items())),
        over_region(dst, src0, src1),
        in_vec(dst, src0, src1),
        row_major(dst, src0, src1),
    )

    def run(cls, dst, src0, src1):
        result = positive(cls.step(src0[dst.valid], src1[dst.valid]))
        dst[dst.valid] = result.cast(dst.dtype, Rounding.RINT, saturate=True)


class TAddReluConv(Converting, step=operator.add):
    """dst[i, j] = src0[i, j] + src1[i, j] where greater than 0, else 0, in dst's type.

    The sum is rounded to src0's type, or wraps. The conversion rounds half to even, and a value
    that is too large becomes the largest finite value; NaN gives 0.
    """


class TSubReluConv(Converting, step=operator.sub):
    """dst[i, j] = src0[i, j] - src1[i, j] where greater than 0, else 0, in dst's type.

    The difference is rounded to src0's type, or wraps. The conversion rounds half to even, and a
    value that is too large becomes the largest finite value; NaN gives 0.
    """


class TAddDeqRelu(Instr, pipe=V, asm=Asm(deduced=True, cpp_needs=("tmp",)), disputes=("E27",)):
    """dst[i, j] = f32(src0[i, j] + src1[i, j]) * deq_scale, then 0 unless it is greater than 0.

    The sum wraps in i32; the product is rounded to f32 and then to dst's type, in which a value
    that is too large becomes the largest finite f16; NaN gives 0.
    """

    dst = Out(Tile, doc="receives f16; on the CPU simulator f32 too")
    src0 = In(Tile, doc="i32 to add")
    src1 = In(Tile, doc="i32 to add")
    deq_scale = In(Scalar, scalar="f32", cpp="deqScale", doc="the scale of all")
    tmp = scratch_of_a2a3()
    spoiled = tuple(Spoiled(src, (A2A3,)) for src in (src0, src1))  # its code computes in them
    example = {"dst": "!pto.tile_buf<vec, 16x32xf16>", "src0": VEC_I32, "src1": VEC_I32}
    elided = {"dst": like(src0, dtype=lambda _: f16)}
    rules = (
        both(src0.dtype == i32, src1.dtype == i32),
        on(CPU, dst.dtype.isin(f16, f32)),
        on(HARDWARE, dst.dtype == f16),
        over_region(dst, src0, src1),
        in_vec(dst, src0, src1),
        row_major(dst, src0, src1),
        scratch(
            *(tmp, A2A3, tmp.dtype == i32),
            named("shape", tmp.valid.rows >= dst.valid.rows, tmp.valid.cols >= dst.valid.cols),
        ),
    )

    def run(dst, src0, src1, deq_scale):
        scaled = (src0[dst.valid] + src1[dst.valid]).cast(f32) * deq_scale
        dst[dst.valid] = positive(scaled.cast(dst.dtype, Rounding.RINT, saturate=True))


class TAxpy(
    Instr, pipe=V, uses=(TARGET,), asm=POINTWISE, specials=NAN_COMPUTED, disputes=("E5", "E60")
):
    """dst[i, j] = dst[i, j] + src[i, j] * scalar.

    The product is rounded to dst's type on A2/A3 and A5, to src's on the CPU simulator, and the sum
    to dst's; integers wrap. A5 rounds sums of f16 once.
    """

    dst = InOut(Tile, doc="the old values, and then the results")
    src = In(Tile, doc="the values to scale and add")
    scalar = In(Scalar, doc="the factor of all; it takes src's element type")
    kind = TypeOf(scalar)
    same = dst.dtype == src.dtype
    widening = both(dst.dtype == f32, src.dtype == f16)
    rules = (
        named("element-type", either(same, widening), help="one type, or f16 into f32"),
        on(HARDWARE, dst.dtype.isin(f16, f32)),
        exact(kind, src),
        over_region(dst, src),
        on(HARDWARE, same_extents(dst, src)),
        in_vec(dst, src),
        row_major(dst, src),
    )

    def run(dst, src, scalar, target):
        x = src[dst.valid]
        if target.order is Order.A5 and dst.dtype == f16:
            total = x.cast(f64) * x.number(scalar).cast(f64) + dst[dst.valid].cast(f64)
            dst[dst.valid] = total.cast(f16)
            return
        product = (x.cast(dst.dtype) if target.chip else x) * scalar
        dst[dst.valid] = dst[dst.valid] + product.cast(dst.dtype)
