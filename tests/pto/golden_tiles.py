"""References of programs that use whole families of tile instructions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from golden import Arrays, Random, golden
from golden_programs import numbers

from tiles import parameter

f16, f32, f64, i32 = np.float16, np.float32, np.float64, np.int32
bf16 = ml_dtypes.bfloat16


@golden()
def bitwise(random: Random) -> tuple[Arrays, Arrays]:
    a, b = random.integers(-(2**20), 2**20, (2, 4, 16)).astype(i32)
    y = ~((a & b) ^ (a | b))
    z = (((y << (b & 3)) >> (b & 3)) | 5) ^ 0x0F0F0F0F
    return {"a": a, "b": b}, {"y": (y << 3) >> 5, "z": z}


@golden()
def choices(random: Random) -> tuple[Arrays, Arrays]:
    a, b = numbers(random, 4, 32), numbers(random, 4, 32)
    steep = np.where(a < 0, a / 8, a)
    wanted = {"most": np.maximum(a, b), "signs": a <= 0, "same": np.maximum(np.minimum(a, b), a)}
    return {"a": a, "b": b}, wanted | {"steep": steep + np.clip(steep, 0, 1)}


@golden()
def slopes(random: Random) -> tuple[Arrays, Arrays]:
    a, slope = numbers(random, 4, 32), numbers(random, 4, 32)
    wanted = {"y": np.where(a > 0, a, a * slope), "z": np.maximum(a - slope, 0)}
    wanted |= {"h": np.maximum(a + slope, 0), "g": np.maximum(slope - a, 0)}
    return {"a": a, "slope": slope}, wanted


@golden(within=1e-6)
def spread(random: Random) -> tuple[Arrays, Arrays]:
    a, c, r = numbers(random, 8, 16), numbers(random, 8, 1) + f32(0.5), numbers(random, 1, 16) + 20
    wanted: Arrays = {"row": c + 0 * a, "col": r + 0 * a}
    for name, by in (("row", c), ("col", r)):
        wanted |= {f"{name}_add": a + by, f"{name}_sub": a - by, f"{name}_mul": a * by}
        wanted |= {f"{name}_div": a / by, f"{name}_expdif": np.exp((a - by).astype(f64))}
        wanted |= {f"{name}_max": np.maximum(a, by), f"{name}_min": np.minimum(a, by)}
    return {"a": a, "c": c, "r": r}, wanted


@golden()
def reductions(random: Random) -> tuple[Arrays, Arrays]:
    x = 2 ** (random.permutation(120).reshape(6, 20) % 3 - 1).astype(f32)
    x[random.permutation(6), random.permutation(20)[:6]] = 5
    x[random.permutation(6), random.permutation(20)[:6]] = -3
    wanted: Arrays = {}
    for axis, name in ((1, "row"), (0, "col")):
        for f in ("sum", "max", "min", "prod"):
            wanted[name + f] = getattr(np, f)(x.astype(f64), axis=axis, keepdims=True)
        for f in ("max", "min"):
            wanted[name[0] + f] = getattr(np, "arg" + f)(x, axis=axis, keepdims=True)
    return {"x": x}, wanted | {"value": wanted["rowmin"], "place": wanted["rmin"]}


@golden()
def partial(random: Random) -> tuple[Arrays, Arrays]:
    a, b = numbers(random, 8, 16), numbers(random, 5, 16) + f32(0.5)  # targets differ in ties
    ai, bi = np.arange(128, dtype=i32).reshape(8, 16), -np.arange(80, dtype=i32).reshape(5, 16)
    wanted: Arrays = {"add": a + np.pad(b, ((0, 3), (0, 0)))}
    wanted["mul"] = a * np.pad(b, ((0, 3), (0, 0)), constant_values=1)
    largest = np.maximum(a[:5], b), np.minimum(a[:5], b)
    wanted |= {"max": np.vstack([largest[0], a[5:]]), "min": np.vstack([largest[1], a[5:]])}
    wanted |= {"most": wanted["max"], "least": wanted["min"]}
    wanted["most_at"] = np.vstack([np.where(a[:5] > b, ai[:5], bi), ai[5:]])
    wanted["least_at"] = np.vstack([np.where(a[:5] < b, ai[:5], bi), ai[5:]])
    return {"a": a, "b": b, "ai": ai, "bi": bi}, wanted


@golden(within=1e-6)
def precision(random: Random) -> tuple[Arrays, Arrays]:
    a, b = random.random((2, 4, 16)).astype(f32) + f32(0.5)
    x, y = a.astype(f64), b.astype(f64)
    wanted = {"exp": np.exp(x), "log": np.log(x), "sqrt": np.sqrt(x), "rsqrt": 1 / np.sqrt(x)}
    wanted |= {"recip": 1 / y, "div": x / y, "divs": x / 2, "rem": x % y, "fmod": np.fmod(x, y)}
    return {"a": a, "b": b}, wanted


@golden(within=1e-6)
def remainders(random: Random) -> tuple[Arrays, Arrays]:
    a, n = numbers(random, 4, 16) + f32(0.5), random.integers(0, 8, (4, 16)).astype(i32)
    wanted = {"rems": a % 3, "fmods": np.fmod(a, 3), "under": 3 / a.astype(f64)}
    return {"a": a, "n": n}, wanted | {"pow": n**n, "pows": n**2}


@golden()
def fused(random: Random) -> tuple[Arrays, Arrays]:
    a, b, x, y, z = (numbers(random, 4, 16) for _ in range(5))
    n, m = random.integers(-99, 99, (2, 4, 16)).astype(i32)
    wanted = {"x": a * x + b, "y": np.maximum(a * y + b, 0), "z": a * b + z + 3 * a}
    given = {"a": a, "b": b, "x": x, "y": y, "z": z, "n": n, "m": m}
    return given, wanted | {"h": np.maximum((n + m) / 2, 0)}


@golden()
def three_operands(random: Random) -> tuple[Arrays, Arrays]:
    a, b, c = (numbers(random, 4, 16) for _ in range(3))
    return {"a": a, "b": b, "c": c}, {"y": a + b + c - b + c, "z": a + 2 + b - 2 + c}


@golden()
def conversions(random: Random) -> tuple[Arrays, Arrays]:
    x = (random.integers(-300_000, 300_000, (2, 16)) / 4).astype(f32)
    x[:, :6] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)
    wanted = {"rint": np.rint(x), "round": away, "floor": np.floor(x), "ceil": np.ceil(x)}
    half = np.clip(x, -65504, 65504).astype(f16)
    wanted |= {"trunc": np.trunc(x), "half": half, "back": np.rint(x)}
    wanted |= {"short": np.clip(np.rint(x), -32768, 32767)}
    return {"x": x}, wanted | {"byte": np.clip(np.rint(half.astype(f32)), 0, 255)}


@golden()
def gathers(random: Random) -> tuple[Arrays, Arrays]:
    x, at = numbers(random, 2, 16), random.permutation(32).astype(i32).reshape(2, 16)
    put, spread_ = np.zeros(32, f32), np.zeros((2, 16), f32)
    put[at.ravel()] = x.ravel()
    spread_[:, ::2] = x[:, 1::2]
    offsets = np.array([[96, 0], [32, 32]], np.uint32)
    blocks = x.reshape(4, 8)[offsets // 32].reshape(2, 16)
    given = {"x": x, "at": at, "offsets": offsets, "put": 0 * x, "spread": 0 * x}
    wanted = {"picked": x.ravel()[at], "odd": x[:, 1::2], "blocks": blocks}
    return given, wanted | {"put": put.reshape(2, 16), "spread": spread_}


@golden()
def memory_gathers(random: Random) -> tuple[Arrays, Arrays]:
    x, at = numbers(random, 8, 16), random.integers(0, 128, (4, 16)).astype(i32)
    rows = np.array([[6, 1, 1, 4]], i32)
    wanted = x.copy()
    np.add.at(wanted, rows[0], x[rows[0]])
    given = {"x": x, "at": at, "rows": rows}
    return given, {"y": x.ravel()[at], "z": x[rows[0]], "x": wanted}


def records(values: Any, places: Any) -> Any:  # Any: arrays
    """Pairs of a value and its place, the largest first, as one row."""
    order = np.argsort(-values)
    found = np.empty((1, 2 * len(values)), f32)
    found[0, ::2], found[0, 1::2] = values[order], places[order].view(f32)
    return found


@golden()
def sorting(random: Random) -> tuple[Arrays, Arrays]:
    x, at = random.permutation(128).astype(f32), np.arange(128, dtype=np.uint32)
    given = {"x": x.reshape(1, 128), "at": at.reshape(1, 128)}
    return given, {"y": records(x, at), "half": records(x[:64], at[:64])}


@golden()
def padding(random: Random) -> tuple[Arrays, Arrays]:
    x, limits = numbers(random, 3, 10).astype(i32), np.iinfo(i32)  # of floats it is the target's
    zero, least, most = (np.full((8, 32), pad, i32) for pad in (0, limits.min, limits.max))
    for whole in (zero, least, most):
        whole[:3, :10] = x
    wanted = {"zero": zero[:4, :16], "filled": most[:4, :16], "least": least, "older": least}
    return {"x": x}, wanted


@golden()
def moves(random: Random) -> tuple[Arrays, Arrays]:
    a, b, put, some = (numbers(random, 8, n) for n in (16, 16, 32, 32))
    n, m = random.integers(1, 8, (2, 8, 1)).astype(i32)
    wanted: Arrays = {"transposed": a.T, "part": a[:, 8:], "both": np.hstack([a, b])}
    wanted["put"], wanted["some"] = put.copy(), some.copy()
    wanted["put"][:, 8:24] = b
    for r in range(8):
        row = np.append(a[r, : n[r, 0]], b[r, : m[r, 0]])
        wanted["some"][r, : len(row)] = row
    return {"a": a, "b": b, "n": 4 * n, "m": 4 * m, "put": put, "some": some}, wanted


@golden()
def generators(_: Random) -> tuple[Arrays, Arrays]:
    cells = np.full((8, 16), 0.5, f32)
    cells[1, 1] = 1
    up, ones = np.arange(32), np.ones((8, 16))
    wanted: Arrays = {"up": [5 + up], "down": [5 - up], "cells": cells}
    return {"start": 5}, wanted | {"lower": np.tril(ones, 2), "upper": np.triu(ones, 2)}


@golden()
def quantisation(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 8, 32) * 4
    scale, offset = (2.0 ** random.integers(-1, 3, (8, 1))).astype(f32), numbers(random, 8, 1)
    bytes_ = np.clip(np.rint(x * scale), -128, 127)
    shifted = np.clip(np.rint(x * scale + offset), 0, 255)
    back, zero = 1 / scale, 0 * offset + 1
    given = {"x": x, "scale": scale, "offset": offset, "back": back, "zero": zero}
    return given, {"bytes": bytes_, "shifted": shifted, "y": (bytes_ - zero) * back}


@golden()
def fix_pipe(random: Random) -> tuple[Arrays, Arrays]:
    a, b = (random.integers(-9, 10, shape).astype(np.int8) for shape in ((16, 32), (32, 32)))
    scales = 2.0 ** -(np.arange(32) % 4)
    factors = np.array([[parameter(s) for s in scales]], np.uint64)
    c = a.astype(f64) @ b
    y, z = (np.clip(np.rint(v), -128, 127) for v in (c / 16, np.maximum(c, 0) * scales))
    return {"a": a, "b": b, "factors": factors, "quant": parameter(1 / 16)}, {"y": y, "z": z}


@golden()
def vectors_on_cube(random: Random) -> tuple[Arrays, Arrays]:
    a, b, bias = (numbers(random, n, 32) for n in (1, 32, 1))
    given = {"a": a.astype(f16), "b": b.astype(f16), "bias": bias}
    return given, {"y": np.vstack([2 * (a @ b), a @ b + bias])}


def listed(found: Any, start: int) -> tuple[Any, Any]:
    """The numbers of what holds, row by row, in tiles that held -1; how many in each row."""
    at, count = np.full(found.shape, -1, i32), found.sum(1).astype(i32)
    for row, n in enumerate(count):
        at[row, :n] = np.flatnonzero(found[row]) + row * found.shape[1] + start
    return at, count[None, :]


@golden()
def gathers_by_value(random: Random) -> tuple[Arrays, Arrays]:
    x, k = np.abs(numbers(random, 4, 16)), np.array([[1, 0, 9, 4]], np.uint32)
    values, places = random.permutation(64).astype(f32), np.arange(64, dtype=np.uint32)
    a, b = (records(values[half], places[half]) for half in (slice(32), slice(32, 64)))
    lists = a[0, ::2], b[0, ::2]
    last = max(one.min() for one in lists)  # with it a list is used up
    taken = [int((one >= last).sum()) for one in lists]
    empty = np.full((4, 16), -1, i32)
    given: Arrays = {"x": x, "limit": 4.0, "k": k, "at": empty, "same": empty, "a": a, "b": b}
    given["y"] = np.zeros((1, 128), f32)
    (at, count), (same, counted) = listed(x > 4, 100), listed(x == k.T, 0)
    wanted: Arrays = {"at": at, "count": count, "same": same, "counted": counted}
    merged = records(values, places)
    merged[0, 2 * sum(taken) :] = 0
    return given, wanted | {"y": merged, "taken": [[*taken, 0, 0]]}


@golden()
def lowered(random: Random) -> tuple[Arrays, Arrays]:
    x = random.standard_normal(128).astype(f32)
    y = (x.reshape(8, 16)[:, 8:] * 2).ravel()
    y[63] = x[7]
    return {"x": x}, {"y": y}
