"""References of parts of models: what NumPy computes in float64, or exactly in integers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from golden import Arrays, Random, golden

f16, f32, f64, bf16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16


@golden(blocks=4)
def tails(random: Random) -> tuple[Arrays, Arrays]:
    x, out = random.standard_normal((32, 32)).astype(f32), np.ones((32, 32), f32)
    lens, wanted = np.array([8, 3, 1, 5], np.int32), out.copy()
    for block, n in enumerate(lens):
        rows = slice(8 * block, 8 * block + n)
        wanted[rows] += np.abs(x[rows] * f32(2) ** n)
    return {"x": x, "lens": lens, "out": out}, {"out": wanted, "lens": np.zeros(4)}


@golden(blocks=3)
def parts(random: Random) -> tuple[Arrays, Arrays]:
    x = random.integers(-4, 5, (40, 16)).astype(f16)
    s, o = np.array([0.5, 2, 3, 1, 1.5], bf16), np.ones((8, 16), f32)
    wanted = o.copy()
    for i, by in enumerate(s.astype(f32)):
        part = x[8 * i : 8 * i + 8].astype(f32)
        wanted += part * by if by > 1 else part + by
    return {"x": x, "s": s, "n64": np.array([5]), "o": o}, {"o": wanted}


@golden()
def paged(_: Random) -> tuple[Arrays, Arrays]:
    g, idx = np.arange(96, dtype=np.int32).reshape(12, 8), np.array([2, 0, 1], np.int32)
    wanted, seen = g.copy(), [1]
    for page in idx:
        wanted[4 * page : 4 * page + 4] += page
        seen.append(wanted[4 * page, 1])
    return {"g": g, "idx": idx, "n": 3}, {"g": wanted, "idx": np.array([max(seen), 0, 1])}


@golden(blocks=3, within=2e-3)
def rmsnorm(random: Random) -> tuple[Arrays, Arrays]:
    x, gamma = random.standard_normal((19, 64)).astype(f16), random.random((1, 64)).astype(f32)
    wide = x.astype(f64)
    y = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6) * gamma
    return {"x": x, "gamma": gamma, "y": np.zeros_like(x), "rows": 19}, {"y": y}


@golden(blocks=3, within=1e-6)
def softmax_tail(random: Random) -> tuple[Arrays, Arrays]:
    x, lengths = random.standard_normal((12, 32)).astype(f32), np.array([32, 17, 1], np.int32)
    y = np.full((12, 32), -1.0)
    for block, n in enumerate(lengths):
        rows = slice(4 * block, 4 * block + 4)
        e = np.exp(x[rows, :n].astype(f64))
        y[rows, :n] = e / e.sum(1, keepdims=True)
    return {"x": x, "lengths": lengths, "y": np.full((12, 32), -1, f32)}, {"y": y}


@golden(within=1e-6)
def rope(random: Random) -> tuple[Arrays, Arrays]:
    x = random.standard_normal((4, 32)).astype(f32)
    angles = np.outer(np.arange(8), np.arange(16) / 9)
    cos, sin = np.cos(angles).astype(f32), np.sin(angles).astype(f32)
    low, high = x[:, :16], x[:, 16:]
    y = np.hstack([low * cos[5] - high * sin[5], high * cos[5] + low * sin[5]])
    return {"x": x, "cos": cos, "sin": sin, "position": np.array([5])}, {"y": y}


@golden(within=2**-8)
def silu_gate(random: Random) -> tuple[Arrays, Arrays]:
    gate, up = random.standard_normal((2, 2, 40)).astype(f32)
    wide = gate.astype(f64)
    return {"gate": gate, "up": up}, {"y": wide / (1 + np.exp(-wide)) * up}


@golden()
def residual_add(random: Random) -> tuple[Arrays, Arrays]:
    x, delta = random.standard_normal((2, 8, 32)).astype(bf16)
    y = (x.astype(f64) + delta.astype(f64) * 0.5).astype(f32).astype(bf16)
    return {"x": x, "delta": delta, "scale": 0.5}, {"x": y}


@golden()
def kv_cache_write(random: Random) -> tuple[Arrays, Arrays]:
    keys, cache = random.standard_normal((5, 32)).astype(f16), np.zeros((6, 4, 32), f16)
    table, wanted = np.array([3, 0, 5], np.int32), cache.copy()
    for i, key in enumerate(keys):
        page, slot = divmod(6 + i, 4)
        wanted[table[page], slot] = key
    given = {"keys": keys, "cache": cache, "table": table, "position": np.array([6]), "tokens": 5}
    return given, {"cache": wanted, "position": np.array([11])}


@golden()
def qk(random: Random) -> tuple[Arrays, Arrays]:
    q, k = (random.integers(-4, 5, (n, 32)).astype(f16) for n in (16, 48))
    return {"q": q, "k": k}, {"s": q.astype(f64) @ k.T.astype(f64)}


@golden(within=2**-8)
def pv(random: Random) -> tuple[Arrays, Arrays]:
    p, v = random.random((16, 96)).astype(bf16), random.standard_normal((96, 32)).astype(bf16)
    o = p.astype(f64) @ v.astype(f64)
    return {"p": p, "v": v, "o": np.zeros((16, 32), bf16), "keys": 96}, {"o": o}


@golden(within=1e-5)
def online_softmax(random: Random) -> tuple[Arrays, Arrays]:
    scores, weights = random.standard_normal((2, 8, 64)).astype(f32) * f32(4)
    e = np.exp(scores.astype(f64))
    y = (e * weights).sum(1) / e.sum(1)
    return {"scores": scores, "weights": weights, "n": 64}, {"y": y[None]}


@golden()
def projection(random: Random) -> tuple[Arrays, Arrays]:
    x, w = (random.integers(-3, 4, shape).astype(f16) for shape in ((32, 128), (128, 64)))
    return {"x": x, "w": w}, {"y": np.maximum(x.astype(f64) @ w.astype(f64), 0)}


@golden(blocks=4)
def split_k(random: Random) -> tuple[Arrays, Arrays]:
    x, w = (random.integers(-3, 4, shape).astype(f16) for shape in ((16, 64), (64, 16)))
    bias, y = random.integers(-9, 9, 16).astype(f32), np.zeros((16, 16), f32)
    return {"x": x, "w": w, "bias": bias, "y": y}, {"y": x.astype(f64) @ w.astype(f64) + bias}


@golden()
def embedding(random: Random) -> tuple[Arrays, Arrays]:
    table, tokens = (
        random.standard_normal((12, 16)).astype(f32),
        np.array([3, 11, 0, 3, 7, 1, 1, 9]),
    )
    return {"table": table, "tokens": tokens.astype(np.int32)}, {"y": table[tokens]}


@golden(within=1e-5)
def moe_router(random: Random) -> tuple[Arrays, Arrays]:
    logits = random.standard_normal((3, 32)).astype(f32)
    experts = np.argsort(-logits, 1)[:, :2]
    e = np.exp(np.take_along_axis(logits, experts, 1).astype(f64))
    given = {
        "logits": logits,
        "experts": np.zeros((3, 2), np.int32),
        "weights": np.zeros((3, 2), f32),
    }
    return given | {"tokens": 3}, {"experts": experts, "weights": e / e.sum(1, keepdims=True)}


@golden(blocks=2, within=1e-5)
def paged_attention(random: Random) -> tuple[Arrays, Arrays]:
    q, table = random.standard_normal((2, 16)), np.array([[4, 0, 2, 0], [1, 5, 0, 0]], np.int32)
    keys, values = random.standard_normal((2, 48, 16)).astype(f32)
    context, y = np.array([19, 8], np.int32), np.zeros((2, 16))
    for b, n in enumerate(context):
        at = [8 * table[b, t // 8] + t % 8 for t in range(n)]
        e = np.exp(keys[at].astype(f64) @ q[b].astype(f32) / 4)
        y[b] = e / e.sum() @ values[at]
    given = {"q": q.astype(f32), "keys": keys, "values": values, "table": table}
    given |= {"context": context, "pages": 6}
    return given, {"y": y}
