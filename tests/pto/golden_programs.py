"""References of programs that show a form of text, control flow, or what the scalar unit keeps."""

from __future__ import annotations

import numpy as np
from golden import Arrays, Random, golden

f16, f32, i32 = np.float16, np.float32, np.int32


def numbers(random: Random, *shape: int) -> np.ndarray:
    """Small whole numbers, as float32: their sums and products are exact."""
    return random.integers(-9, 10, shape).astype(f32)


@golden()
def blocks_of_code(_: Random) -> tuple[Arrays, Arrays]:
    now, iterations, x = 11, 0, np.arange(8, dtype=i32)
    given = {"x": x.reshape(1, 8), "n": np.array([now], i32)}
    while now > 1:
        x, now = (x + now, 3 * now + 1) if now % 2 else (x - 1, now // 2)
        iterations += 1
    return given, {"x": x.reshape(1, 8), "n": [iterations]}


@golden()
def generic_form(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8)
    return {"x": x, "n": 7}, {"x": 3 * x}


@golden()
def words_in_quotes(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8)
    return {"x": x}, {"x": 0 * x}


@golden()
def locations(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8) ** 2
    return {"x": x, "by": -4.0}, {"x": 2 * np.sqrt(x)}


@golden()
def nested_modules(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 2, 8)
    return {"x": x}, {"x": x + 2}


@golden(entry="calls")
def calls(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 4, 8)
    given = {"x": x, "count": np.zeros(1, i32)}
    return given, {"x": np.vstack([x[:2], 4 * x[:2]]), "count": [2]}


@golden()
def windows(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 8, 32)
    y = x.copy()
    y[:2, :8] += 10
    y[4:5, 8:13] *= 10
    y[4:6, 16:24] *= -1
    y[1:2, 5:8] = 10
    y[4:6, 5:13] *= 2
    return {"x": x, "n": 5}, {"x": y}


@golden()
def ranks_of_parts(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 3, 8, 64)
    total, changed = x.sum(0), x.copy()
    changed[0, 0, 0] = total[0, 2]  # the second of the even columns
    return {"x": x, "y": np.zeros_like(total), "n": 3}, {"x": changed, "y": total}


@golden()
def local_state(_: Random) -> tuple[Arrays, Arrays]:
    values = np.array([5, 2, 9, 1, 4, 13], i32)
    given = {"values": values, "counts": np.zeros(5, i32), "sum": np.zeros(1, f32), "n": 6}
    counts = np.append(np.bincount(values % 4, minlength=4), values.max())
    return given, {"counts": counts, "sum": [values.sum() + 7]}


@golden()
def pointers(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 24)
    y = x.copy()
    y[8:] *= 2
    word = y.view(i32)[5]
    y[3] = y[2]
    given = {"x": x, "n": np.zeros(1, i32), "address": np.zeros(1, np.int64)}
    return given, {"x": y, "n": [word], "address": [8]}


@golden(within=1e-6)
def buffers(random: Random) -> tuple[Arrays, Arrays]:
    x = random.standard_normal((8, 32)).astype(f32)
    return {"x": x, "rows": 5}, {"x": np.vstack([np.exp(x[:5]), x[5:]])}


@golden()
def carried(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 1, 8)
    y = x.copy()
    for now in range(6, 0, -1):  # 0 + 1 + 2 + 3
        y = 2 * y if now % 4 == 0 else y + x
    given = {"arg0": x, "arg1": np.zeros(2, i32), "arg2": 4}
    return given, {"arg0": y - x, "arg1": [6, 4**4]}


def signed(number: int) -> int:
    """The bits of an unsigned number as a signed one."""
    return int(np.uint32(number).view(i32))


@golden(within=1e-6)
def scalar_math(_: Random) -> tuple[Arrays, Arrays]:
    a, b, large = -37, 5, 2**32
    unsigned = a % large
    d, r = divmod(unsigned, b)
    t = ((d ^ r) | b) + (unsigned >> b) - (b << b)
    first = t * (a >> b)
    least = min(-(-a // b), a // b) % large  # -8, which unsigned is large
    second = max(signed(min(max(least, 1), unsigned)), b)
    f, g = f32(7.3125), f32(2.5)
    f2 = np.fmod(f * g - f, g)
    f6 = max(min(min(max(f2, f), g), f * g), f)
    k, p = float(f16(f)), 7.0
    floats = [f6 * g + f, np.sqrt(p) + 8 + 2, k + p**2.5 + 1 / np.sqrt(p), 7 + 7]
    ints = np.array([first, second, b + unsigned, -1 + 1 + 37]) % large
    given: Arrays = {"n": np.array([a, b], i32), "x": np.array([f, g]), "ints": np.zeros(4, i32)}
    given["floats"] = np.zeros(4, f32)
    return given, {"ints": ints.astype(np.uint32).view(i32), "floats": floats}


@golden()
def handles(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 4, 16)
    y = np.abs(x)
    y[0, 0] = 8 + 8
    y *= 2
    y[3, 15] = y[0, 1]
    return {"x": x}, {"x": y}


@golden()
def idle(random: Random) -> tuple[Arrays, Arrays]:
    a, c = numbers(random, 2, 8, 64)
    values = np.sort(numbers(random, 2, 32).reshape(2, 32), axis=1)[:, ::-1]
    lists = np.stack([values, np.zeros_like(values)], axis=2).reshape(1, 128)
    merged = np.sort(values.reshape(-1))[::-1]
    result = np.stack([merged, np.zeros_like(merged)], axis=1).reshape(1, 128)
    return {"a": a, "c": c, "lists": lists}, {"c": c, "lists": result}


@golden()
def switches(_: Random) -> tuple[Arrays, Arrays]:
    return {"x": 41.75, "way": 1, "g": np.zeros(4, i32)}, {"g": [41 + 2, 2, 41, 3]}


@golden()
def own_scalars(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 1, 21)
    doubled = np.where(np.arange(21) < 8, x * f32(2), x)
    return {"x": x, "y": np.zeros_like(x), "n": 21, "bits": 0x40800000}, {"y": doubled}


@golden()
def tables_of_numbers(random: Random) -> tuple[Arrays, Arrays]:
    pairs = np.stack([random.integers(0, 2, 20), random.integers(0, 3, 20)], 1).astype(i32)
    counts = np.bincount(pairs @ [3, 1], minlength=6)
    return {"pairs": pairs.ravel(), "n": 20, "table": np.zeros(6, i32)}, {"table": counts}


@golden()
def load_options(random: Random) -> tuple[Arrays, Arrays]:
    x = numbers(random, 8, 16)
    return {"x": x, "past": 0, "zero": 0.0}, {"x": np.vstack([x[4:], x[:4]])}


@golden(refused={"a2a3": "not-on-target"})
def vector_function(random: Random) -> tuple[Arrays, Arrays]:
    x, y = numbers(random, 1, 100).ravel(), numbers(random, 1, 100).ravel()
    return {"x": x, "y": y}, {"y": x * f32(2) + y}
