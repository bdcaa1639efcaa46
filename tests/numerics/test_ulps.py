"""Errors of functions, measured: all codes of 16 bits, and f32 against 64 bits of mantissa.

10^7 numbers of f32 with PTOKIT_FUZZ=100; a sample of them in `make test`. A function of two
operands is measured on pairs, since there are 2^32 of 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ptokit as pto
from every import every
from fuzz.scale import scaled
from oracles.formats import FORMATS, Array, storage_type, typed
from ptokit.isa.index import lookup
from ptokit.values.dtypes import SPELLINGS

ROWS, COLS = 128, 256  # of a tile: three of f32 fit into the vector memory
POINTS = min(scaled(100_000), 10_000_000)
EXACT = np.longdouble  # 64 bits of mantissa where the processor has them


@dataclass(frozen=True)
class Claim:
    """What a page states: ulps at most, and what part of f32 may differ from the rounded value."""

    f: Callable[..., Array]
    ulps: int
    says: str
    part: float = 0.0
    pairs: bool = False


def inverse(x: Array) -> Array:
    return 1 / x


def inverse_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def raised(a: Array, b: Array) -> Array:
    return np.power(a, b)


NONE = "None of all f16 and bf16 and 10 million f32 differs from the rounded exact value"
CLAIMS = {
    "texp": Claim(np.exp, 1, "at most one unit in the last place", part=0.055),
    "tlog": Claim(np.log, 0, NONE),
    "tsqrt": Claim(np.sqrt, 0, "correctly rounded"),
    "trsqrt": Claim(inverse_root, 0, NONE),
    "trecip": Claim(inverse, 0, "correctly rounded"),
    "tdiv": Claim(np.divide, 0, "correctly rounded", pairs=True),
    "tpow": Claim(raised, 1, "at most one unit in the last place", part=1e-6, pairs=True),
}


def ranks(values: Array) -> Array:
    """Codes as integers that count floats in order; both zeros are 0."""
    size = values.itemsize
    codes = values.view(f"u{size}").astype(np.int64)
    sign = 1 << (8 * size - 1)
    return np.where(codes & sign, -(codes & (sign - 1)), codes)


def computed(op: str, *inputs: Array, dtype: str) -> Array:
    """What the instruction gives, tile by tile."""
    kind, found = SPELLINGS[dtype], list[Array]()
    count = -(-inputs[0].size // (ROWS * COLS)) * ROWS * COLS
    tiles = [np.resize(x, count).reshape(-1, ROWS, COLS) for x in inputs]
    for parts in zip(*tiles, strict=True):
        dst = pto.tile("vec", kind, ROWS, COLS)
        sources = [pto.tile("vec", kind, ROWS, COLS, data=p) for p in parts]
        getattr(pto, op)(dst, *sources)
        found.append(dst.numpy().reshape(-1))
    return np.concatenate(found)[: inputs[0].size]


def operands(dtype: str, pairs: bool) -> list[Array]:
    """All codes, or random ones of every exponent; of pairs the second is a small power too."""
    random = np.random.default_rng(11)
    size = FORMATS[dtype][0]
    if size == 16 and not pairs:
        return [typed(np.arange(1 << 16), dtype)]
    codes = random.integers(0, 1 << size, (1 + pairs, POINTS), dtype=np.uint64)
    found = [typed(c.astype(storage_type(dtype)), dtype) for c in codes]
    if pairs:  # powers of most numbers are infinite or 0
        near = (random.standard_normal(POINTS) * 4).astype(FORMATS[dtype][1])
        found[1] = np.where(np.arange(POINTS) % 2 == 0, found[1], near)
    else:  # exponentials too
        near = random.uniform(-87, 88, POINTS).astype(np.float32)
        found[0] = np.where(np.arange(POINTS) % 2 == 0, found[0], near)
    return found


def errors(op: str, claim: Claim, dtype: str) -> tuple[int, float]:
    """The greatest error in ulps, and the part of the results that have one."""
    inputs = operands(dtype, claim.pairs)
    found = computed(op, *inputs, dtype=dtype)
    wide: Any = EXACT if FORMATS[dtype][0] == 32 else np.float64
    with np.errstate(all="ignore"):
        wanted = claim.f(*(x.astype(wide) for x in inputs)).astype(FORMATS[dtype][1])
        none = np.isnan(wanted.astype(np.float64))
    assert (np.isnan(found.astype(np.float64)) == none).all()
    apart = np.abs(ranks(found) - ranks(wanted))[~none]
    return int(apart.max()), float((apart > 0).mean())


@every("dtype", ["f16", "bf16", "f32"])
@every("op", CLAIMS)
def test_the_error_is_what_the_page_states(op: str, dtype: str) -> None:
    claim = CLAIMS[op]
    page = " ".join((lookup(op)[0].__doc__ or "").split())
    assert claim.says in page, f"{op}: state it on the page"
    ulps, part = errors(op, claim, dtype)
    assert ulps <= claim.ulps
    assert dtype != "f32" or part <= claim.part
