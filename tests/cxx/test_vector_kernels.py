"""Kernels in C++ against NumPy, and their records, run by the other engine, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from launched import again, kernels, needs_compiler

from fuzz.scale import sampled

Array = Any  # of NumPy
ROWS, COLS = 16, 64
RNG = np.random.default_rng(7)
A = RNG.standard_normal((ROWS, COLS)).astype(np.float32)
B = RNG.standard_normal((ROWS, COLS)).astype(np.float32)

pytestmark = needs_compiler


def tail(a: Array, b: Array, c: Array, n: int = 1000) -> Array:
    flat = c.reshape(-1).copy()
    flat[:n] = (a + b).reshape(-1)[:n]
    return flat.reshape(a.shape)


def window(a: Array, b: Array, c: Array) -> Array:
    found = a.copy()
    found[8:12, 16:32] *= 2
    return found


def elements(a: Array, b: Array, c: Array) -> Array:
    found = a.copy()
    found[0, 1] = a[0, 0] * 2
    return found


def gathered(a: Array, b: Array, c: Array) -> Array:
    return np.tile(a[:, ::2], 2)


def counted(a: Array, b: Array, c: Array) -> Array:
    return np.arange(5, 5 + ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS)


ORACLES: dict[int, Callable[[Array, Array, Array], Array]] = {
    0: lambda a, b, c: a + b,
    1: lambda a, b, c: a - b,
    2: lambda a, b, c: a * b,
    3: lambda a, b, c: np.maximum(a, b),
    4: lambda a, b, c: np.minimum(a, b),
    5: lambda a, b, c: np.sqrt(np.abs(a)),
    6: lambda a, b, c: (a + np.float32(1.5)) * np.float32(0.5),
    7: lambda a, b, c: np.maximum(a, 0),
    10: tail,
    11: lambda a, b, c: a * b,
    12: lambda a, b, c: b - a,
    13: lambda a, b, c: a + b,
    16: lambda a, b, c: a.astype(np.float16).astype(np.float32),
    17: window,
    18: lambda a, b, c: a + np.float32(1),
    19: elements,
    20: lambda a, b, c: c + a,
    21: lambda a, b, c: np.maximum(a, b),
    22: counted,
    23: gathered,
    24: lambda a, b, c: a.T.reshape(a.shape),
    25: lambda a, b, c: np.roll(a + np.float32(1), -1, axis=0),
}


@pytest.mark.parametrize("which", sampled(ORACLES, 2))
def test_a_kernel_and_its_record(which: int) -> None:
    a, b, c = A.copy(), B.copy(), np.full_like(A, 3)
    start = {"a": a.copy(), "b": b.copy(), "c": c.copy()}
    ran = kernels("vector", "a2a3").launch("vector", which, a, b, c, 1000)
    assert np.array_equal(c, ORACLES[which](A, B, start["c"])), which
    assert ran.warnings == []
    recorded = again(ran, start, "a2a3")
    assert np.array_equal(recorded["c"].reshape(c.shape), c)
    assert [d for d in ran.check() if d.is_error] == []
    assert [d for d in ran.races() if d.is_error] == []


@pytest.mark.parametrize("which", [14, 15])
def test_sums(which: int) -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a2a3").launch("vector", which, a, b, c, 1000)
    wanted = A - A.sum(1, keepdims=True) if which == 14 else A + A.sum(0, keepdims=True)
    assert np.allclose(c, wanted, rtol=1e-5, atol=1e-5)
    assert np.array_equal(again(ran, {"a": A, "c": c * 0}, "a2a3")["c"].reshape(c.shape), c)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_valid_regions_that_differ(target: str) -> None:
    """Top-k does both: boards go by the lesser region, and by that of the source."""
    a, b, c = A.copy(), B.copy(), np.full_like(A, 3)
    ran = kernels("vector", target).launch("vector", 27, a, b, c, 1000)
    assert {(d.slug, d.severity.value) for d in ran.warnings} == {("shape", "warning")}
    wanted = np.full(ROWS * COLS, 3, np.float32)
    wanted[:50], wanted[COLS : COLS + 128] = A.reshape(-1)[:100:2], B.reshape(-1)[:128]
    wanted[COLS : COLS + 100] = A.reshape(-1)[:100]
    assert np.array_equal(c.reshape(-1), wanted)
    assert [d for d in ran.races() if d.is_error] == []


def test_another_target() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a5").launch("vector", 10, a, b, c, 1000)
    assert np.array_equal(c, tail(A, B, c * 0))
    assert "a5" in str(ran.profile())
    c[:] = 0
    with pytest.raises(Exception, match="pipe_barrier"):
        kernels("vector", "a5").launch("vector", 14, a, b, c, 1000)
    assert not c.any()


def test_what_boards_compute() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a5").launch("vector", 28, a, b, c, 1000)
    most = A.max(1, keepdims=True)
    assert np.array_equal(c, np.float32(1) / ((A + most).max(1, keepdims=True) + A))
    told = {d.slug: d for d in ran.warnings}
    assert set(told) == {"shape"}, told
    assert not any(d.is_error for d in ran.warnings)


def test_elements_of_64_bits() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    kernels("vector", "a5").launch("vector", 29, a, b, c, 1000)
    x, found = A.view(np.int64), c.reshape(-1).view(np.int64)
    assert np.array_equal(found[: ROWS * COLS // 4].reshape(ROWS, -1), x[:, 1::2])
    assert np.array_equal(found[ROWS * COLS // 4 :][:8], x.reshape(-1)[3:11])


def test_random_numbers_from_words_of_pi() -> None:
    """A block of Philox4x32-10 that its authors publish: each word of key and counter counts."""
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    kernels("vector", "a5").launch("vector", 30, a, b, c, 1000)
    found = c.reshape(-1).view(np.uint32)[:4]
    assert found.tolist() == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_blocks_are_told_once() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a2a3").launch("vector", 10, a, b, c, 1024)
    assert ran.text().count("pto.tadd") == 1
    ran = kernels("vector", "a2a3").launch("vector", 10, a, b, c, 1000)
    assert ran.text().count("pto.tadd") == 2


def test_what_a_kernel_prints() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a2a3").launch("vector", 26, a, b, c, 1)
    assert ran.printed == "".join(f"block {n} of 3\n" for n in range(3))


def test_lines_of_the_record() -> None:
    a, b, c = A.copy(), B.copy(), np.zeros_like(A)
    ran = kernels("vector", "a2a3").launch("vector", 11, a, b, c, 1)
    ops = [op for op in ran.program.func().walk() if op.span and "tmul" in getattr(op, "name", "")]
    assert [op.span.source.line(op.span.line).strip() for op in ops if op.span] == [
        "computed = TMUL(z, x, y, ready);"
    ]
