"""Functions that hardware has and no processor computes alike, written in the array vocabulary.

Every step is one rounded f32 operation, so each executor gives the same bits.
"""

from __future__ import annotations

from ptokit.isa.lang.arrays import Array
from ptokit.isa.model.dtypes import f32, i32

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125  # 15 bits: its product with an exponent is exact
LN2_LOW = 1.4286068203094173e-06
TAYLOR = (1 / 40320, 1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)
ZERO_BELOW, INFINITE_ABOVE = -104.0, 89.0  # exp is 0, and infinity, from there on


def exp(x: Array) -> Array:
    """e to the power x: in f32, then rounded to the type of `x`.

    x = n ln 2 + r with |r| < 0.35; a polynomial gives exp(r), and two factors of 2**(n/2), each in
    range where 2**n is not, give the result with one last rounding, denormal or not.
    """
    if x.dtype != f32:
        return exp(x.cast(f32)).cast(x.dtype)
    x = x.clamp(ZERO_BELOW, INFINITE_ABOVE)  # keeps NaN
    n = (x * LOG2_E).rint()
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    series = r * TAYLOR[0] + TAYLOR[1]
    for coefficient in TAYLOR[2:]:
        series = series * r + coefficient
    whole = n.cast(i32)
    half = whole >> 1
    return (r * r * series + r + 1.0) * power_of_two(half) * power_of_two(whole - half)


def power_of_two(n: Array) -> Array:
    """2**n in f32, for exponents of normal numbers."""
    return ((n + 127) << 23).bitcast(f32)
