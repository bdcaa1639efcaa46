"""Conversions between element types: every representable value is a row of a table."""

from __future__ import annotations

from functools import cache

import numpy as np

from oracles.formats import FORMATS, QUIET, Array, bits_of, is_float, quieted, storage_type, typed
from oracles.formats import wrapped as low_bits
from oracles.registry import Seen, meaning

NEAREST = ("NONE", "RINT", "ROUND")
TIES_AWAY = ("hif8", "f8e8m0")  # 2.2; the exponents of e8m0 alike


@cache
def ladder(dtype: str) -> tuple[Array, Array]:
    """The magnitudes of a narrow float in order with their codes; last, what counts as infinity."""
    codes = np.arange(1 << (bits_of(dtype) - (dtype != "f8e8m0")))
    values = typed(codes, dtype).astype(np.float64)
    finite = np.isfinite(values)
    order = np.argsort(values[finite])
    values, codes = values[finite][order], codes[finite][order]
    if dtype in QUIET:
        infinity = {"f8e4m3": 0x7F, "f8e8m0": 0xFF}.get(dtype)
        found = np.flatnonzero(np.isinf(typed(np.arange(1 << bits_of(dtype)), dtype).astype(float)))
        infinity = int(found[0]) if infinity is None else infinity
        step = 2 * values[-1] if dtype in TIES_AWAY else values[-1] + values[-1] - values[-2]
        step = 1.5 * values[-1] if dtype == "hif8" else step
        values, codes = np.append(values, step), np.append(codes, infinity)
    return values, codes


def largest(dtype: str) -> float:
    """The largest finite value of a float type."""
    if dtype == "f32":
        return float(np.finfo(np.float32).max)
    return float(ladder(dtype)[0][-2 if dtype in QUIET else -1])


def exact(values: Array) -> Array:
    """Values as f64 that round to 24 bits or fewer in every mode as they do themselves."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return values.astype(np.float64)
    return np.array([_odd(int(v)) for v in values.ravel()], np.float64).reshape(values.shape)


def _odd(whole: int) -> float:
    """The upper 53 bits, the last of them set if any was lost."""
    lost = max(0, whole.bit_length() - 53)
    upper = abs(whole) >> lost
    upper |= bool(abs(whole) & ((1 << lost) - 1))
    return float(upper << lost) * (1 if whole >= 0 else -1)


def integral(x: Array, mode: str) -> Array:
    """Whole numbers, still floats: ODD is the odd neighbour of what lies between two."""
    low = np.floor(x)
    match mode:
        case "RINT" | "NONE":
            return np.rint(x)
        case "ROUND":
            return np.copysign(np.trunc(np.abs(x) + (np.abs(x) % 1 >= 0.5)), x)
        case "FLOOR":
            return low
        case "CEIL":
            return np.ceil(x)
        case "ODD":
            return np.where((low == x) | (low % 2 != 0), low, low + 1)
        case _:
            return np.trunc(x)


def converted(
    values: Array, src: str, dst: str, mode: str = "NONE", *, saturate: bool = False
) -> Array:
    """Values of one type in another; a type to itself is a copy of bits."""
    if src == dst:
        return values
    with np.errstate(all="ignore"):
        if not is_float(dst):
            return _to_integers(values, src, dst, mode, saturate)
        x = exact(values)
        if dst in QUIET and dst != "f8e8m0" and is_float(src) and largest(dst) >= largest(src):
            saturate = saturate and dst == "f8e4m3"  # infinities and NaN have a place
        codes = _wide(x, mode) if dst == "f32" else _narrow(x, dst, mode, saturate)
        return quieted(typed(codes, dst), dst)


def _to_integers(values: Array, src: str, dst: str, mode: str, saturate: bool) -> Array:
    info_low = 0 if dst[0] == "u" else -(1 << (bits_of(dst) - 1))
    info_high = info_low + (1 << bits_of(dst)) - 1
    if not is_float(src):
        whole = values.astype(object)
        if saturate:
            whole = np.clip(whole, info_low, info_high)
        return low_bits((whole & ((1 << 64) - 1)).astype(np.uint64), dst)
    x = values.astype(np.float64)
    whole = integral(x, "TRUNC" if mode == "NONE" else mode)
    # the low 64 bits, from the magnitude; what is not finite has none
    rest = np.where(np.isfinite(whole), np.fmod(np.abs(whole), 2.0**64), 0).astype(np.uint64)
    bits = low_bits(np.where(whole < 0, ~rest + np.uint64(1), rest), dst)
    if not saturate:
        return bits
    ends = [low_bits(np.array(n & ((1 << 64) - 1), np.uint64), dst) for n in (info_low, info_high)]
    return np.where(whole < info_low, ends[0], np.where(whole > info_high, ends[1], bits)).astype(
        FORMATS[dst][1]
    )


def _up(mode: str, x: Array, low: Array, high: Array, odd: Array, away: bool) -> Array:
    """Where the farther neighbour of a magnitude is taken; `odd`: the last bit of the nearer."""
    a, between = np.abs(x), np.abs(x) > low
    middle = (low + high) / 2
    match mode:
        case "NONE" | "RINT":
            return (a > middle) | ((a == middle) & between & (odd | away))
        case "ROUND":
            return between & (a >= middle)
        case "FLOOR":
            return between & (x < 0)
        case "CEIL":
            return between & (x > 0)
        case "ODD":
            return between & ~odd
        case _:
            return np.zeros(x.shape, bool)


def _wide(x: Array, mode: str) -> Array:
    """The codes of f32."""
    nearest = x.astype(np.float32)
    if mode in ("NONE", "RINT"):
        return nearest.view(np.uint32)
    a, near = np.abs(x), np.abs(nearest)
    low = np.where(near.astype(np.float64) > a, np.nextafter(near, np.float32(0)), near)
    high = np.nextafter(low, np.float32(np.inf))
    odd = (low.view(np.uint32) & 1) == 1
    up = _up(mode, x, low.astype(np.float64), high.astype(np.float64), odd, away=False)
    return np.copysign(np.where(up, high, low), x).astype(np.float32).view(np.uint32)


def _narrow(x: Array, dst: str, mode: str, saturate: bool) -> Array:
    values, codes = ladder(dst)
    top = largest(dst)
    nan = np.isnan(x)
    kept = np.where(nan, 0, np.clip(x, -top, top) if saturate or dst not in QUIET else x)
    a = np.abs(kept)
    at = np.clip(np.searchsorted(values, a, "right") - 1, 0, len(values) - 1)
    after = np.minimum(at + 1, len(values) - 1)
    away = dst in TIES_AWAY
    up = _up(mode, kept, values[at], values[after], (codes[at] & 1) == 1, away)
    at = np.where(up & (values[at] < a), after, at)
    if dst in QUIET and not saturate and mode not in NEAREST:  # IEEE 754, 7.4
        outward = np.isinf(x) | ((mode == "FLOOR") & (x < 0)) | ((mode == "CEIL") & (x > 0))
        at = np.where((a > top) & ~outward, len(values) - 2, np.where(a > top, len(values) - 1, at))
    found = codes[at]
    if dst == "f8e8m0":
        found = np.where(x > 0, found, 0 if saturate else QUIET[dst])
        return np.where(nan, QUIET[dst], found).astype(np.uint8)
    sign = np.signbit(kept) & ~((dst == "hif8") & (found == 0))
    found = found | (sign.astype(found.dtype) << (bits_of(dst) - 1))
    lost = 0 if saturate or dst not in QUIET else QUIET[dst]
    return np.where(nan, lost, found).astype(storage_type(dst))


# what does not saturate unless asked to
BY_WORDS = ("f16 i8", "f16 i16", "f32 i16")
WRAPPING = ("f16 u8", "f16 i8", "f16 i16", "f32 i16", "i64 i32", "i32 i16")


@meaning("TCvt")
def tile_conversion(dst: Seen, src: Seen, rmode: str, sat_mode: str | None, target: str) -> Array:
    if dst.dtype == src.dtype == "f32":
        with np.errstate(all="ignore"):
            whole = integral(src.values.astype(np.float64), rmode)
            whole = np.where(np.isnan(whole), whole, np.copysign(whole, src.values))
            return quieted(whole.astype(np.float32), "f32")
    pair = f"{src.dtype} {dst.dtype}"
    saturate = pair not in WRAPPING if sat_mode is None else sat_mode == "ON"
    if target == "a2a3" and not saturate and pair in BY_WORDS:
        words = converted(src.values, src.dtype, "i32", rmode, saturate=True)
        return converted(words, "i32", dst.dtype, rmode, saturate=False)
    made = converted(src.values, src.dtype, dst.dtype, rmode, saturate=saturate)
    if target == "a5" and dst.dtype.startswith("f4"):  # whole bytes, in cleared rows
        rows, cols = made.shape
        line = np.zeros((rows, dst.codes.shape[1]), made.dtype)
        line[:, : cols // 2 * 2] = made[:, : cols // 2 * 2]
        return line
    return made


@meaning("TPack")
def low_bits_of(dst: Seen, src: Seen) -> Array:
    rows, cols = src.valid
    return typed(src.codes[:rows, :cols].astype(storage_type(dst.dtype)), dst.dtype)
