"""A decoder layer out of four programs of examples/pto, beside NumPy in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import ptokit as pto

HERE = Path(__file__).parent / "pto"
TOKENS, HEADS, WIDTH = 128, 2, 256
Arrays = dict[str, np.ndarray]


def weights(random: np.random.Generator) -> Arrays:
    """What a model would bring, small enough that f16 holds everything."""

    def some(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float16)

    angles = np.outer(np.arange(TOKENS), 100.0 ** -(np.arange(32) / 32))
    return {
        "first": random.random((1, 128)).astype(np.float32),
        "second": random.random((1, 128)).astype(np.float32),
        "qkv": some(128, 384),
        "out": some(128, 128),
        "gate_up": some(128, 2 * WIDTH),
        "down": some(WIDTH, 128),
        "cosine": np.cos(angles).astype(np.float32),
        "sine": np.sin(angles).astype(np.float32),
    }


def layer(x: np.ndarray, w: Arrays, target: str) -> np.ndarray:
    """The layer by ptokit: each program on as many blocks of 64 tokens as there are."""
    blocks = TOKENS // 64

    def run(name: str, blocks: int, **given: Any) -> Arrays:  # Any: arrays and numbers
        program = pto.load(HERE / f"{name}.pto")
        return program.run(target=target, blocks=blocks, tokens=TOKENS, **given)

    given = {"gamma": w["first"], "w": w["qkv"], "cosine": w["cosine"], "sine": w["sine"]}
    room = np.zeros((6 * TOKENS, 64), np.float16)
    q, k, v = np.split(run("qkv", blocks, x=x, out=room, **given)["out"], 3)
    found = run("flash_attention", HEADS * blocks, q=q, k=k, v=v, o=np.zeros_like(q))["o"]
    given = {"o": found, "w": w["out"], "x": x, "y": np.zeros_like(x)}
    x = run("attention_output", blocks, heads=HEADS, **given)["y"]
    given = {"x": x, "gamma": w["second"], "w": w["gate_up"], "w_down": w["down"]}
    return run("feed_forward", blocks, width=WIDTH, y=np.zeros_like(x), **given)["y"]


def reference(x: np.ndarray, given: Arrays) -> np.ndarray:
    """The same in float64, without tiles."""
    w = {name: array.astype(np.float64) for name, array in given.items()}
    heads = (_norm(x, w["first"]) @ w["qkv"]).reshape(TOKENS, 6, 64).swapaxes(0, 1)
    low, high = heads[:4, :, :32], heads[:4, :, 32:]
    rotated = low * w["cosine"] - high * w["sine"], high * w["cosine"] + low * w["sine"]
    q, k = np.split(np.concatenate(rotated, 2), 2)
    scores = q @ k.swapaxes(1, 2) / 8
    scores[:, *np.triu_indices(TOKENS, 1)] = -np.inf
    e = np.exp(scores - scores.max(2, keepdims=True))
    found = e / e.sum(2, keepdims=True) @ heads[4:]
    x = x + found.swapaxes(0, 1).reshape(TOKENS, 128) @ w["out"]
    pairs = (_norm(x, w["second"]) @ w["gate_up"]).reshape(TOKENS, -1, 2, 64)
    gate, up = (pairs[:, :, i].reshape(TOKENS, WIDTH) for i in (0, 1))
    return x + gate / (1 + np.exp(-gate)) * up @ w["down"]


def _norm(x: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * gamma


def difference(target: str) -> float:
    """The largest difference of one layer to NumPy, on random tokens and weights."""
    random = np.random.default_rng(7)
    x, w = random.standard_normal((TOKENS, 128)).astype(np.float32), weights(random)
    return float(np.abs(layer(x, w, target) - reference(x.astype(np.float64), w)).max())
