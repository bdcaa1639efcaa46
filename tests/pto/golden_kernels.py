"""References of kernels whose cores work together, and of a layer out of them, in float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from golden import Arrays, Random, golden

f16, f32, f64 = np.float16, np.float32, np.float64
e4m3, powers = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu


def normal(random: Random, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(f16)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normed(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    wide = x.astype(f64)
    return wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * gamma


@golden(blocks=6, within=2e-2)
def flash_attention(random: Random) -> tuple[Arrays, Arrays]:
    q, k, v = (normal(random, 2, 192, 64) for _ in "qkv")
    scores = q.astype(f64) @ k.astype(f64).swapaxes(1, 2) / 8
    scores[:, *np.triu_indices(192, 1)] = -np.inf
    o = softmax(scores) @ v.astype(f64)
    given = {n: a.reshape(-1, 64) for n, a in zip("qkvo", (q, k, v, np.zeros_like(q)), strict=True)}
    return given | {"tokens": 192}, {"o": o.reshape(-1, 64)}


@golden(blocks=2, within=2e-2)
def qkv(random: Random) -> tuple[Arrays, Arrays]:
    x, gamma = random.standard_normal((128, 128)).astype(f32), random.random((1, 128)).astype(f32)
    w = normal(random, 128, 384) / f16(8)
    angles = np.outer(np.arange(128), 100.0 ** -(np.arange(32) / 32))
    cosine, sine = np.cos(angles).astype(f32), np.sin(angles).astype(f32)
    heads = (normed(x, gamma) @ w.astype(f64)).reshape(128, 6, 64).swapaxes(0, 1)
    low, high = heads[:4, :, :32], heads[:4, :, 32:]
    rotated = np.concatenate([low * cosine - high * sine, high * cosine + low * sine], 2)
    out = np.concatenate([rotated, heads[4:]]).reshape(768, 64)
    given = {"x": x, "gamma": gamma, "w": w, "cosine": cosine, "sine": sine, "tokens": 128}
    return given | {"out": np.zeros((768, 64), f16)}, {"out": out}


@golden(blocks=2, within=1e-4)
def attention_output(random: Random) -> tuple[Arrays, Arrays]:
    o, w = normal(random, 3, 128, 64), normal(random, 192, 128)
    x = random.standard_normal((128, 128)).astype(f32)
    y = x + o.swapaxes(0, 1).reshape(128, 192).astype(f64) @ w.astype(f64)
    given = {"o": o.reshape(-1, 64), "w": w, "x": x, "y": np.zeros_like(x)}
    return given | {"tokens": 128, "heads": 3}, {"y": y}


@golden(blocks=2, within=2e-2)
def feed_forward(random: Random) -> tuple[Arrays, Arrays]:
    x, gamma = random.standard_normal((128, 128)).astype(f32), random.random((1, 128)).astype(f32)
    w, w_down = normal(random, 128, 512) / f16(8), normal(random, 256, 128) / f16(8)
    both = (normed(x, gamma) @ w.astype(f64)).reshape(128, 4, 2, 64)
    gate, up = both[:, :, 0].reshape(128, 256), both[:, :, 1].reshape(128, 256)
    y = x + gate / (1 + np.exp(-gate)) * up @ w_down.astype(f64)
    given = {"x": x, "gamma": gamma, "w": w, "w_down": w_down, "y": np.zeros_like(x)}
    return given | {"tokens": 128, "width": 256}, {"y": y}


@golden(within=1e-4)
def gating(random: Random) -> tuple[Arrays, Arrays]:
    x, w = normal(random, 16, 64), normal(random, 64, 32) / f16(4)
    logits = x.astype(f64) @ w.astype(f64)
    experts = np.argsort(-logits, 1)[:, :2]
    weights = softmax(np.take_along_axis(logits, experts, 1))
    given = {"experts": np.zeros((16, 2), np.int32), "weights": np.zeros((16, 2), f32)}
    return {"x": x, "w": w} | given, {"experts": experts, "weights": weights}


@golden(blocks=4, within=5e-3, refused={"a5": "attribute"})
def gqa_decode(random: Random) -> tuple[Arrays, Arrays]:
    q, keys, values = normal(random, 2, 2, 7, 64), *(normal(random, 6, 2, 16, 64) for _ in "kv")
    table, context = np.array([[4, 0, 2], [1, 5, 0]], np.int32), np.array([37, 16], np.int32)
    y = np.zeros((2, 2, 7, 64))
    for b, n in enumerate(context):
        k, v = (a[table[b]].swapaxes(0, 1).reshape(2, 48, 64)[:, :n] for a in (keys, values))
        scores = q[b].astype(f64) @ k.astype(f64).swapaxes(1, 2) / 8
        y[b] = softmax(scores) @ v.astype(f64)
    given = {"q": q.reshape(-1, 64), "keys": keys.reshape(-1, 64), "values": values.reshape(-1, 64)}
    given |= {"room": np.zeros(4096, f32)}  # both directions have four slots of 2048 bytes
    given |= {"table": table, "context": context, "pages": 6, "y": np.zeros((28, 64), f32)}
    return given, {"y": y.reshape(28, 64)}


@golden(blocks=4, within=5e-3)
def gqa_decode_even(random: Random) -> tuple[Arrays, Arrays]:
    return gqa_decode(random)


@golden()
def global_slots(random: Random) -> tuple[Arrays, Arrays]:
    x = random.integers(-3, 4, (7, 16, 16)).astype(f16)
    products = x.astype(f64) @ x.astype(f64)
    memory, back = np.zeros((3, 16, 16), f16), np.zeros((2, 16, 16), f32)
    given = {"x": x.reshape(-1, 16), "memory": memory, "back": back}
    given |= {"y": np.zeros((112, 16), f32)}
    return given, {"y": products.reshape(-1, 16), "memory": x[[6, 4, 5]], "back": products[[6, 5]]}


@golden(within=1e-4, refused={"a2a3": "not-on-target"})
def quantised_product(random: Random) -> tuple[Arrays, Arrays]:
    x = random.standard_normal((16, 64)).astype(f32)
    w, of_w = random.standard_normal((64, 32)).astype(e4m3), 2.0 ** random.integers(-2, 3, (2, 32))
    groups = x.reshape(16, 2, 32)
    power = 2.0 ** (np.floor(np.log2(np.abs(groups).max(2, keepdims=True))) - 8)
    rounded = np.clip(groups / power, -448, 448).astype(e4m3).astype(f64) * power
    y = rounded.reshape(16, 64) @ (np.repeat(of_w, 32, 0) * w.astype(f64))
    pairs = np.ascontiguousarray(of_w.T).astype(powers)  # of two groups down k, column by column
    return {"x": x, "w": w, "of_w": pairs}, {"y": y}


@golden(refused={"a2a3": "not-on-target"})
def counting_sort(random: Random) -> tuple[Arrays, Arrays]:
    experts = random.integers(0, 8, (1, 64)).astype(np.uint16)
    x, ends = random.standard_normal((1, 64)).astype(f32), np.cumsum(np.bincount(experts[0]))
    order = np.argsort(experts[0], kind="stable")
    ends = np.pad(ends, (0, 256 - ends.size), mode="edge")
    return {"experts": experts, "x": x}, {"sorted": x[:, order], "ends": ends[None]}
