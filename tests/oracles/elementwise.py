"""Elementwise, tile with tile and tile with number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracles.conversions import converted
from oracles.formats import FORMATS, Array, quieted, typed, wrapped
from oracles.registry import Seen, arithmetic, binary, by_target, meaning, number, ternary

add, subtract, multiply = map(arithmetic, (np.add, np.subtract, np.multiply))


Bits = Callable[[int, int, int], int]  # two integers and the width of their type


def name_of(x: Array) -> str:
    return next(n for n, (_, kind) in FORMATS.items() if x.dtype == kind)


def whole(f: Callable[[int, int, int], int]) -> Callable[[Array, Array], Array]:
    """Integers one by one, by value and width, modulo their type."""

    def computed(a: Array, b: Array) -> Array:
        width = 8 * a.itemsize
        pairs = zip(*(x.ravel().tolist() for x in np.broadcast_arrays(a, b)), strict=True)
        low = [f(x, y, width) % (1 << width) for x, y in pairs]
        shape = np.broadcast_shapes(a.shape, b.shape)
        return typed(np.array(low, np.uint64).reshape(shape), name_of(a))

    return computed


def in_double(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Floats computed in binary64, then rounded to the type."""

    def computed(a: Array, b: Array) -> Array:
        return f(a.astype(np.float64), b.astype(np.float64))

    return arithmetic(computed)


def either(
    floats: Callable[[Array, Array], Array], integers: Callable[[int, int, int], int]
) -> Callable[[Array, Array], Array]:
    by_one = whole(integers)
    return lambda a, b: (by_one if a.dtype.kind in "iu" else floats)(a, b)


def towards_zero(a: int, b: int, width: int) -> int:
    """G10; by 0 it is 0 (E40)."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def left_over(a: int, b: int, width: int) -> int:
    return 0 if b == 0 else a - b * towards_zero(a, b, width)


def rounded_down(a: int, b: int, width: int) -> int:
    return 0 if b == 0 else a % b


def floored(a: Array, b: Array) -> Array:
    """`fmod`, and the divisor added where the signs differ."""
    rest = in_double(np.fmod)(a, b)
    apart = ((a >= 0) != (b >= 0)) & (rest != 0)
    return np.where(apart, add(rest, np.broadcast_to(b, rest.shape)), rest)


def modular(x: int, n: int, width: int) -> int:
    """Modulo the type; a negative exponent leaves 1 and -1 only."""
    if n >= 0:
        return pow(x, n, 1 << width)
    return x ** (n % 2) if abs(x) == 1 else 0


def left(x: int, n: int, width: int) -> int:
    return x << n if 0 <= n < width else 0


def right(x: int, n: int, width: int) -> int:
    return x >> n if 0 <= n < width else -(x < 0)


def on_halves(wide: Bits, others: Bits) -> Bits:
    """64-bit integers otherwise than shorter ones."""
    return lambda x, y, width: (wide if width == 64 else others)(x, y, width)


def modulo_64(f: Bits) -> Bits:
    """Amounts of 64-bit integers modulo 64 (X119)."""
    return lambda x, n, width: f(x, n % 64 if width == 64 else n, width)


def rectified(x: Array) -> Array:
    """G12: 0 where it is not greater than 0, NaN too."""
    return np.where(x > 0, x, np.zeros_like(x))


def in_register(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Integers of fewer than 32 bits are rectified as C computes them: in i32 (E44)."""

    def computed(a: Array, b: Array) -> Array:
        if a.dtype.kind not in "iu" or a.itemsize >= 4:
            return rectified(arithmetic(f)(a, b))
        return rectified(f(a.astype(np.int64), b.astype(np.int64))).astype(a.dtype)

    return computed


def sloped(x: Array, slope: Array) -> Array:
    """G12."""
    return np.where(x > 0, x, multiply(x, slope))


def larger(a: Array, b: Array) -> Array:
    """G11."""
    return np.where(a < b, b, a)


def smaller(a: Array, b: Array) -> Array:
    """G11."""
    return np.where(b < a, b, a)


def on_bits(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Of floats the bits are taken for integers (X123)."""

    def computed(a: Array, b: Array) -> Array:
        words = f"u{a.itemsize}"
        return f(a.view(words), b.view(words)).view(a.dtype)

    return computed


quotient = either(in_double(np.divide), towards_zero)
remainder = either(in_double(np.fmod), left_over)
modulus = either(floored, rounded_down)
power = either(in_double(np.power), modular)
binary(
    TDiv=quotient,
    TMin=smaller,
    TFmod=remainder,
    TPRelu=sloped,
    TAnd=on_bits(np.bitwise_and),
    TOr=on_bits(np.bitwise_or),
    TXor=np.bitwise_xor,
    TAddRelu=in_register(np.add),
    TSubRelu=in_register(np.subtract),
    TSubS=subtract,
    TMulS=multiply,
    TDivS=quotient,
    TSDiv=quotient,
    TMinS=smaller,
    TMaxS=larger,
    TFmodS=remainder,
    TLRelu=sloped,
    TAndS=np.bitwise_and,
    TOrS=np.bitwise_or,
    TXorS=np.bitwise_xor,
)
by_target(modulus, "TRem", "TRemS", a5=either(floored, on_halves(left_over, rounded_down)))
by_target(whole(left), "TShl", "TShlS", a5=whole(modulo_64(left)))
by_target(whole(right), "TShr", "TShrS", a5=whole(modulo_64(right)))
ternary(
    TAddC=lambda a, b, c: add(add(a, b), c),
    TSubC=lambda a, b, c: add(subtract(a, b), c),
    TAddSC=lambda a, s, b: add(add(a, s), b),
    TSubSC=lambda a, s, b: add(subtract(a, s), b),
)
binary(ulp=1, TPow=power, TPowS=power)  # G8


@meaning("TMulAddDst")
def product_added(dst: Seen, src0: Seen, src1: Seen) -> Array:
    """Rounded twice (dispute E5)."""
    with np.errstate(all="ignore"):
        return add(multiply(src0.values, src1.values), dst.values)


@meaning("TFusedMulAddRelu")
def product_rectified(dst: Seen, src0: Seen, src1: Seen) -> Array:
    return rectified(product_of_dst(dst, src0, src1))


def product_of_dst(dst: Seen, src0: Seen, src1: Seen) -> Array:
    with np.errstate(all="ignore"):
        return add(multiply(src0.values, dst.values), src1.values)


meaning("TFusedMulAdd")(product_of_dst)


@meaning("TAddReluConv")
def sum_converted(dst: Seen, src0: Seen, src1: Seen) -> Array:
    with np.errstate(all="ignore"):
        return fitted(add(src0.values, src1.values), src0.dtype, dst.dtype)


@meaning("TSubReluConv")
def difference_converted(dst: Seen, src0: Seen, src1: Seen) -> Array:
    with np.errstate(all="ignore"):
        return fitted(subtract(src0.values, src1.values), src0.dtype, dst.dtype)


def fitted(x: Array, src: str, dst: str) -> Array:
    """Rectified, half to even, clamped."""
    return converted(rectified(x), src, dst, "RINT", saturate=True)


@meaning("TAddDeqRelu")
def sum_dequantised(dst: Seen, src0: Seen, src1: Seen, deq_scale: float) -> Array:
    """The sum wraps; one product in f32, clamped to f16."""
    total = wrapped(src0.values.astype(np.int64) + src1.values, "i32")
    with np.errstate(all="ignore"):
        scaled = quieted(total.astype(np.float32) * np.float32(deq_scale), "f32")
    return rectified(converted(scaled, "f32", dst.dtype, "RINT", saturate=True))


@meaning("TAxpy")
def scaled_and_added(dst: Seen, src: Seen, scalar: float, target: str) -> Array:
    """The product in src's type on the CPU, else in dst's; the sum in dst's. A5 rounds f16 once."""
    if target == "a5" and dst.dtype == "f16":
        with np.errstate(all="ignore"):
            total = np.float64(number(scalar, "f16")) * src.values.astype(np.float64)
            return quieted((total + dst.values.astype(np.float64)).astype(np.float16), "f16")
    within = src.dtype if target == "cpu" else dst.dtype
    x, factor = (
        converted(values, src.dtype, within) for values in (src.values, number(scalar, src.dtype))
    )
    with np.errstate(all="ignore"):
        return add(dst.values, converted(multiply(x, factor), within, dst.dtype))


@meaning("TExpandS")
def filled(dst: Seen, scalar: float) -> Array:
    """The valid region; of a mat tile all of it."""
    region = dst.all.shape if dst.kind.loc.name == "MAT" else dst.valid
    return np.broadcast_to(number(scalar, dst.dtype), region)


@meaning("TExpandSConv")
def filled_maps(dst: Seen, scalar: float) -> Array:
    """All of a convolution tile."""
    return np.broadcast_to(number(scalar, dst.dtype), dst.all.shape)
