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
    now, turns, x = 11, 0, np.arange(8, dtype=i32)
    given = {"x": x.reshape(1, 8), "n": np.array([now], i32)}
    while now > 1:
        x, now = (x + now, 3 * now + 1) if now % 2 else (x - 1, now // 2)
        turns += 1
    return given, {"x": x.reshape(1, 8), "n": [turns]}


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
    return {"x": x, "n": 5}, {"x": y}


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
