"""Transcendental functions in the array vocabulary, so that every engine gives the same bits.

Processors differ in these functions, so each step is one rounded operation of f32 or f64. A
function that computes in f64 is off by less than 2**-40 of the result before its one rounding: it
gives the rounded exact value, except for results that close to the middle of two f32.
"""

from __future__ import annotations

from math import factorial

from ptokit.values.arrays import Array
from ptokit.values.conversions import WHOLE, WHOLE_BITS
from ptokit.values.dtypes import f32, f64, i16, i32, i64

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125  # 15 bits: its product with an exponent is exact
LN2_LOW = 1.4286068203094173e-06
TAYLOR = (1 / 40320, 1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)
ZERO_BELOW, INFINITE_ABOVE = -104.0, 89.0  # exp is 0 below, infinity above


def exp(x: Array) -> Array:
    """Return e**x, computed in f32 and rounded to the type of `x`.

    x = n ln 2 + r with |r| < 0.35; a polynomial gives exp(r), and two factors of 2**(n/2), each in
    range where 2**n is not, give the result with one last rounding, denormal or not.
    """
    if x.dtype != f32:
        return exp(x.cast(f32)).cast(x.dtype)
    x = x.clamp(ZERO_BELOW, INFINITE_ABOVE)  # keeps NaN
    shifted = x * LOG2_E + WHOLE  # rounds to a whole number, which its last bits hold
    n = shifted - WHOLE
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    series = r * TAYLOR[0] + TAYLOR[1]
    for coefficient in TAYLOR[2:]:
        series = series * r + coefficient
    whole = shifted.bitcast(i32) - WHOLE_BITS
    half = whole >> 1
    return (r * r * series + r + 1.0) * power_of_two(half) * power_of_two(whole - half)


def power_of_two(n: Array) -> Array:
    """Return 2**n in f32, for exponents of normal numbers."""
    return ((n + 127) << 23).bitcast(f32)


# The functions below compute in f64.

MANTISSA = (1 << 52) - 1
TWO_52 = 0x433 << 52  # 2**52 as bits: with a small number in the last ones, 2**52 + that number
ROOT_HALF = 0x3FE6A09E667F3BCD  # sqrt(1/2) as bits of f64
LN2 = 0.6931471805599453
ATANH = tuple(1 / n for n in range(21, 1, -2))  # of the series for ln
FACTORIALS = tuple(1 / factorial(n) for n in range(12, 1, -1))
INFINITY, NOT_A_NUMBER = float("inf"), float("nan")


def wide(x: Array) -> Array:
    """Return a float of any type as f64."""
    return x.cast(f32).cast(f64)


def reciprocal(x: Array) -> Array:
    """Return 1 / x, rounded once; for integers truncated, and 0 for 0."""
    return 1 / x


def reciprocal_root(x: Array) -> Array:
    """Return 1 / sqrt(x), rounded once: infinity for 0, NaN for negative x."""
    return (1.0 / wide(x).sqrt()).cast(x.dtype)


def log(x: Array) -> Array:
    """Return the natural logarithm, rounded once: -infinity for 0, NaN for negative x."""
    return logarithm(wide(x)).cast(x.dtype)


def logarithm(x: Array) -> Array:
    """Return ln x in f64, for magnitudes of f32.

    x = 2**n m with m from sqrt(1/2) to sqrt(2); ln m = 2 atanh((m - 1) / (m + 1)), as a series.
    """
    bits = x.bitcast(i64)
    above = bits - ROOT_HALF  # its exponent is n
    n = ((above >> 52) + 2048 | TWO_52).bitcast(f64) - float((1 << 52) + 2048)
    m = ((above & MANTISSA) + ROOT_HALF).bitcast(f64)
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    series = square * ATANH[0] + ATANH[1]
    for coefficient in ATANH[2:]:
        series = series * square + coefficient
    found = n * LN2 + (s + s * square * series) * 2.0
    found = (x < INFINITY).where(found, x)  # infinity and NaN stay
    found = (x < 0.0).where(NOT_A_NUMBER, found)
    return x.equals(0.0).where(-INFINITY, found)


def exponential(x: Array) -> Array:
    """Return e**x in f64, for results in the range of f32; beyond it 0 or infinity."""
    x = x.clamp(-200.0, 200.0)  # keeps NaN
    n = (x * (1 / LN2)).rint()
    r = x - n * LN2
    series = r * FACTORIALS[0] + FACTORIALS[1]
    for coefficient in FACTORIALS[2:]:
        series = series * r + coefficient
    scale = ((n + float((1 << 52) + 1023)).bitcast(i64) << 52).bitcast(f64)
    return (series * r * r + r + 1.0) * scale


TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17)  # 25 bits, 25, rest
SINES = tuple((-1) ** n / factorial(2 * n + 1) for n in range(8, 0, -1))
COSINES = tuple((-1) ** n / factorial(2 * n) for n in range(8, 0, -1))


def sine(x: Array, quarters: int = 0) -> Array:
    """Return sin(x + quarters * pi / 2) in the type of `x`; NaN for infinity.

    x = n pi/2 + r with |r| < pi/4; a polynomial gives the sine or the cosine of r. Beyond 2**28
    the result is off by more than one unit in the last place.
    """
    a = wide(x)
    a = (clear_sign(a) < INFINITY).where(a, NOT_A_NUMBER)
    n = (a * TWO_OVER_PI).rint()
    r = a
    for part in HALF_PI:
        r = r - n * part
    square = r * r
    odd, even = square * SINES[0] + SINES[1], square * COSINES[0] + COSINES[1]
    for one, other in zip(SINES[2:], COSINES[2:], strict=True):
        odd, even = odd * square + one, even * square + other
    quarter = ((n - (n * 0.25).rint() * 4.0) + float((1 << 52) + 4 + quarters)).bitcast(i64)
    found = (quarter & 1).equals(0).where(r + r * square * odd, even * square + 1.0)
    return (quarter & 2).equals(0).where(found, flip_sign(found)).cast(x.dtype)


def cosine(x: Array) -> Array:
    """Return cos x in the type of `x`; NaN for infinity."""
    return sine(x, 1)


def fused(x: Array, y: Array, z: Array) -> Array:
    """Return x * y + z, rounded once.

    The product is exact in f64; the sum is rounded to odd in f64, so that the last rounding is
    right.
    """
    product, added = wide(x) * wide(y), wide(z)
    near = product + added
    back = near - product
    error = (product - (near - back)) + (added - back)
    bits = near.bitcast(i64)
    toward = ((error > 0.0) ^ (near < 0.0)).where(bits + 1, bits - 1)
    inexact = (error > 0.0) | (error < 0.0)
    odd = (inexact & (bits & 1).equals(0)).where(toward, bits)
    return odd.bitcast(f64).cast(x.dtype)


def power(x: Array, y: Array) -> Array:
    """Return x ** y, rounded once, with C's special cases.

    The result is 1 for y = 0 and for x = 1, even with NaN; NaN for x < 0 unless y is whole.
    """
    a, b = wide(x), wide(y)
    size = clear_sign(a)
    found = exponential(logarithm(size) * b)
    whole, half = b.rint().equals(b), b * 0.5
    flipped = half.rint().equals(half).where(found, flip_sign(found))
    found = (a.bitcast(i64) < 0).where(whole.where(flipped, found), found)
    found = ((a < 0.0) & (a > -INFINITY)).where(whole.where(found, NOT_A_NUMBER), found)
    found = size.equals(1.0).where(clear_sign(b).equals(INFINITY).where(1.0, found), found)
    found = a.equals(1.0).where(1.0, found)
    return b.equals(0.0).where(1.0, found).cast(x.dtype)


def integer_power(x: Array, n: Array) -> Array:
    """Return x ** n modulo the type, by squaring; for n < 0 truncated, and 0 for x = 0."""
    bits, square, found = x.dtype.bits - x.dtype.signed, x, x.number(1)
    for bit in range(bits):
        odd = ((n >> bit) & 1).equals(1)
        found, square = odd.where(found * square, found), square * square
    if not x.dtype.signed:
        return found
    unit = x.equals(1) | x.equals(-1)
    return (n < 0).where(unit.where(found, 0), found)


def raised(x: Array, n: Array) -> Array:
    """Return x ** n: floats rounded once, integers modulo the type."""
    return power(x, n) if x.dtype.is_float else integer_power(x, n)


def floor_remainder(x: Array, by: Array) -> Array:
    """Return the remainder of division rounded down, with the divisor's sign.

    The remainder of integers by 0 is 0.
    """
    rest = x.remainder(by)
    if not (x.dtype.is_float or x.dtype.signed):
        return rest
    return rest.equals(0).where(rest, ((x < 0) ^ (by < 0)).where(rest + by, rest))


def positive(x: Array) -> Array:
    """Return `x` where it is greater than 0, else +0; NaN gives +0."""
    return (x > 0).where(x, 0)


def sloped(x: Array, slope: Array) -> Array:
    """Return `x` where it is greater than 0, else x * slope."""
    return (x > 0).where(x, x * slope)


WORDS = {16: i16, 32: i32, 64: i64}  # integers with the bits of floats


def clear_sign(x: Array) -> Array:
    """Return a float without its sign bit; NaN too."""
    word = WORDS[x.dtype.bits]
    return (x.bitcast(word) & (1 << word.bits - 1) - 1).bitcast(x.dtype)


def flip_sign(x: Array) -> Array:
    """Return a float with the other sign bit; NaN too."""
    word = WORDS[x.dtype.bits]
    return (x.bitcast(word) ^ -(1 << word.bits - 1)).bitcast(x.dtype)
