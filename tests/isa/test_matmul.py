"""TMATMUL, TMATMUL_ACC and TMATMUL_BIAS against exact arithmetic, and what each target takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from by_hand import made, slugs
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import ptokit as pto
from fuzz.scale import scaled
from oracles.formats import FORMATS, Array, typed

TARGETS = ("cpu", "a2a3", "a5")
LEFT = {"cpu": "nz", "a2a3": "zz", "a5": "nz"}


# The scalar model --------------------------------------------------------------------------------


def rounded(exact: Fraction) -> Fraction | float:
    """The f32 nearest to a number, ties to even; an overflow is an infinity."""
    if exact == 0:
        return exact
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, -126) - 23)
    steps = round(magnitude / quantum)  # Fraction rounds half to even
    value = steps * quantum
    if value >= Fraction(2) ** 128:
        return float("inf") if exact > 0 else float("-inf")
    return value if exact > 0 else -value


def fused(a: float, b: float, c: Fraction) -> Fraction:
    total = rounded(Fraction(a) * Fraction(b) + c)
    assert isinstance(total, Fraction), "the model is for finite sums"
    return total


def product(a: Array, b: Array, start: Array | None = None) -> list[list[Fraction]]:
    """k ascending, one fused multiply-add per k, from zero or from `start`."""
    rows, inner = a.shape
    out: list[list[Fraction]] = []
    for i in range(rows):
        out.append([])
        for j in range(b.shape[1]):
            total = Fraction(0) if start is None else Fraction(float(start[i, j]))
            for k in range(inner):
                exact = Fraction(float(a[i, k])) * Fraction(float(b[k, j])) + total
                assume(abs(exact) < 2**127)  # the model is for finite sums
                total = fused(float(a[i, k]), float(b[k, j]), total)
            out[-1].append(total)
    return out


def test_the_model_rounds_as_ieee_754() -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 1 << 63, 500, dtype=np.uint64)
    for value in bits.view(np.float64):
        if 2.0**-160 < abs(value) < 2.0**130:
            with np.errstate(over="ignore"):
                assert float(rounded(Fraction(float(value)))) == float(np.float32(value))
    for value in (2.0**-149, 2.0**-150, 3 * 2.0**-150, 1 + 2.0**-24, 1 + 3 * 2.0**-24):
        assert float(rounded(Fraction(value))) == float(np.float32(value))


# Running -----------------------------------------------------------------------------------------


def tiles(
    kind: str, m: int, k: int, n: int, *, out: str | None = None, target: str = "cpu"
) -> tuple[Callable[[Array], pto.Tile], Callable[[Array], pto.Tile], Callable[..., pto.Tile]]:
    """Makers of the operands, in whole boxes of their layouts."""
    c0 = 32 * 8 // max(FORMATS[kind][0], 8)
    rows, inner, cols = (-(-x // step) * step for x, step in ((m, 16), (k, max(c0, 16)), (n, 16)))
    out = out or ("i32" if kind == "i8" else "f32")
    return (
        partial(made, f"left {kind} {rows}x{inner} {LEFT[target]} valid {m}x{k}"),
        partial(made, f"right {kind} {inner}x{cols} zn valid {k}x{n}"),
        partial(made, f"acc {out} {rows}x{cols} nz valid {m}x{n}"),
    )


def multiply(a: Array, b: Array, kind: str, *, acc: Array | None = None) -> Array:
    left, right, c = tiles(kind, a.shape[0], a.shape[1], b.shape[1])
    out = c()
    if acc is None:
        pto.tmatmul(out, left(a), right(b))
    else:
        pto.tmatmul_acc(out, c(acc), left(a), right(b))
    return out.numpy()


def floats(draw: st.DrawFn, shape: tuple[int, int], kind: str, scale: int) -> Array:
    """Values of either sign and many magnitudes, denormals included."""
    bits = 32 if kind == "f32" else 16
    limit = {"f32": 8, "bf16": 8, "f16": 5}[kind]
    exponents = {
        0: st.integers(0, (1 << limit) - 2),  # anything finite
        1: st.integers((1 << limit - 1) - 4, (1 << limit - 1) + 3),  # around one: cancellation
    }[scale]
    mantissa = bits - 1 - limit
    word = st.tuples(st.integers(0, 1), exponents, st.integers(0, (1 << mantissa) - 1))
    size = shape[0] * shape[1]
    parts = draw(st.lists(word, min_size=size, max_size=size))
    codes = [s << (bits - 1) | e << mantissa | m for s, e, m in parts]
    return typed(np.array(codes, np.uint64).reshape(shape), kind)


@st.composite
def operands(draw: st.DrawFn, kind: str) -> tuple[Array, Array, NDArray[np.float32]]:
    m, n, k = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 20))
    scale = draw(st.integers(0, 1)) if kind != "f16" else 1
    a, b = floats(draw, (m, k), kind, scale), floats(draw, (k, n), kind, scale)
    if scale == 0:  # keep products finite, let them be denormal
        half = np.float32(2.0**-64)
        a, b = ((x.astype(np.float32) * half).astype(x.dtype) for x in (a, b))
    last = draw(st.lists(st.floats(-8, 8, width=32), min_size=m * n, max_size=m * n))
    return a, b, np.array(last, np.float32).reshape(m, n)


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@settings(max_examples=scaled(12))
@given(data=st.data())
def test_the_sum_is_sequential_and_fused_and_begins_with_acc(
    kind: str, data: st.DataObject
) -> None:
    a, b, start = data.draw(operands(kind))
    m, n = a.shape[0], b.shape[1]
    assert np.array_equal(multiply(a, b, kind), floating(product(a, b)))
    added = floating(product(a, b, start))
    assert np.array_equal(multiply(a, b, kind, acc=start), added)
    left, right, c = tiles(kind, m, a.shape[1], n)
    bias = made(f"bias f32 1x16 valid 1x{n}", start[:1])
    out = c()
    pto.tmatmul_bias(out, left(a), right(b), bias)
    biased = floating(product(a, b, start[:1].repeat(m, 0)))
    assert np.array_equal(out.numpy(), biased)


def floating(numbers: list[list[Fraction]]) -> NDArray[np.float64]:
    return np.array([[float(n) for n in line] for line in numbers])


def row(*values: float) -> NDArray[np.float32]:
    return np.array([values], np.float32)


def test_a_product_is_not_rounded_before_it_is_added() -> None:
    """(1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 fused, 0 with a rounded product."""
    x = 1 + 2.0**-12
    a, b = row(-(1 + 2.0**-11), x), row(1, x).T
    assert multiply(a, b, "f32")[0, 0] == 2.0**-24


def test_terms_are_added_in_ascending_order() -> None:
    assert multiply(row(2.0**24, 1, 1), row(1, 1, 1).T, "f32")[0, 0] == 2.0**24
    assert multiply(row(1, 1, 2.0**24), row(1, 1, 1).T, "f32")[0, 0] == 2.0**24 + 2


def test_the_accumulator_enters_first() -> None:
    """It swallows each term, which it would not do last."""
    ones = row(1, 1)
    assert multiply(ones, ones.T, "f32", acc=row(2.0**24))[0, 0] == 2.0**24


def test_the_fused_sum_is_rounded_once() -> None:
    """An exact sum just above a tie of f32: rounding to f64 first would lose the bit."""
    tiny = 2.0**-60
    a, b = row(1 + 2.0**-23, tiny), row(1 + 2.0**-23, tiny).T
    got = multiply(row(1, 2.0**-12, *a[0]), row(1, 2.0**-12, *b[:, 0]).T, "f32")[0, 0]
    total = Fraction(0)
    for x, y in ((1.0, 1.0), (2.0**-12, 2.0**-12), (float(a[0, 0]), float(b[0, 0])), (tiny, tiny)):
        total = fused(x, y, total)
    assert got == float(total)
    # 1 + 2^-24 + 2^-70 rounds up; the f64 sum 1 + 2^-24 would be a tie and round down
    x = 2.0**-35
    near = row(1, 2.0**-12 + x)
    exact = rounded(Fraction(1) + Fraction(float(near[0, 1])) ** 2)
    assert multiply(near, near.T, "f32")[0, 0] == float(exact) == 1 + 2.0**-23


def test_denormal_bf16_products_are_fused_too() -> None:
    """2^-149 + 2^-150 is a tie that goes to 2^-148; a product rounded by itself would be 0."""
    a = row(2.0**-75, 2.0**-75).astype(FORMATS["bf16"][1])
    b = row(2.0**-74, 2.0**-75).T.astype(FORMATS["bf16"][1])
    assert multiply(a, b, "bf16")[0, 0] == 2.0**-148


def test_infinities_and_nan() -> None:
    inf, nan = float("inf"), float("nan")
    got = multiply(np.array([[inf, 1], [inf, -inf], [nan, 0], [3e38, 3e38]], np.float32),
                   np.array([[1.0], [1.0]], np.float32), "f32")[:, 0]  # fmt: skip
    assert got[0] == inf
    assert np.isnan(got[1])
    assert np.isnan(got[2])
    assert got[3] == inf


@settings(max_examples=scaled(8))
@given(st.integers(1, 20), st.integers(1, 130), st.integers(1, 20), st.integers(0, 1 << 32))
def test_int8_is_exact(m: int, k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    wanted = [[sum(int(x) * int(y) for x, y in zip(a[i], b[:, j], strict=True)) for j in range(n)]
              for i in range(m)]  # fmt: skip
    assert multiply(a, b, "i8").tolist() == wanted


def test_int8_extremes_and_accumulators_that_wrap() -> None:
    low = np.full((1, 64), -128, np.int8)
    assert multiply(low, low.T, "i8")[0, 0] == 64 * 2**14
    top = np.array([[2**31 - 1]], np.int32)
    one = np.ones((1, 1), np.int8)
    assert multiply(one, one, "i8", acc=top)[0, 0] == -(2**31)
    left, right, c = tiles("i8", 1, 1, 1)
    out = c()
    bias = np.array([[-7]], np.int32)
    pto.tmatmul_bias(out, left(one), right(one), made("bias i32 1x8 valid 1x1", bias))
    assert out.numpy()[0, 0] == -6


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16", "i8"])
def test_only_m_by_n_of_the_accumulator_changes(target: str, kind: str) -> None:
    a = np.ones((5, 7), np.float32).astype(FORMATS[kind][1])
    with pto.target(target):
        left, right, c = tiles(kind, 5, 7, 3, target=target)
        out = c()
        before = np.arange(out.storage().size, dtype=np.uint64).astype(np.uint8)
        out.handle.bytes()[:], out.handle.shadow()[:] = before, 0xFF
        pto.tmatmul(out, left(a), right(a.T[:, :3]))
    after = out.storage().view(np.uint32).reshape(16, 16)
    wanted = before.view(np.uint32).reshape(16, 16).copy()
    seven = np.int32(7) if kind == "i8" else np.float32(7)
    wanted[:5, :3] = seven.view(np.uint32)
    assert np.array_equal(after, wanted)


def test_the_accumulator_may_be_the_result() -> None:
    a = np.full((2, 3), 2, np.float32)
    left, right, c = tiles("f32", 2, 3, 2)
    acc = c(np.array([[1, 2], [3, 4]], np.float32))
    x, y = left(a), right(a.T[:, :2])
    for _ in range(3):
        pto.tmatmul_acc(acc, acc, x, y)
    assert acc.numpy().tolist() == [[37, 38], [39, 40]]


def test_another_accumulator_keeps_its_value() -> None:
    a = np.full((2, 3), 2, np.float32)
    left, right, c = tiles("f32", 2, 3, 2)
    acc, out = c(np.ones((2, 2), np.float32)), c()
    pto.tmatmul_acc(out, acc, left(a), right(a.T[:, :2]))
    assert np.all(out.numpy() == 13)
    assert np.all(acc.numpy() == 1)


@pytest.mark.parametrize("missing", ["a", "b", "acc", "bias"])
def test_an_operand_without_values_gives_none(missing: str) -> None:
    left, right, c = tiles("f32", 4, 4, 4)
    full = np.ones((4, 4), np.float32)
    a = made("left f32 16x16 nz valid 4x4") if missing == "a" else left(full)
    b = made("right f32 16x16 zn valid 4x4") if missing == "b" else right(full)
    product = c()
    run: dict[str, Callable[[], None]] = {
        "acc": lambda: pto.tmatmul_acc(product, c(), a, b),
        "bias": lambda: pto.tmatmul_bias(product, a, b, made("bias f32 1x16 valid 1x4")),
    }
    run.get(missing, lambda: pto.tmatmul(product, a, b))()
    assert not product.written().any()


def test_an_element_along_k_without_a_value_spoils_the_sum() -> None:
    """A left tile of which the last column was written in all rows but one."""
    a = made("left f32 16x16 nz valid 4x2", np.ones((4, 2), np.float32))
    wider = made("left f32 16x16 nz valid 4x3")
    wider.handle.bytes()[:] = a.storage()
    wider.handle.memory.shadow[:] = a.handle.memory.shadow
    wider[[0, 1, 3], 2] = 1
    _, right, c = tiles("f32", 4, 3, 4)
    product = c()
    pto.tmatmul(product, wider, right(np.ones((3, 4), np.float32)))
    assert product.written().all(axis=1).tolist() == [True, True, False, True]
    assert product.written().any(axis=1).tolist() == [True, True, False, True]
    assert product[[0, 1, 3]].tolist() == [[3] * 4] * 3


@pytest.mark.parametrize("rows", [1, 8, 16])
def test_rows_of_a_box_that_no_product_has_lose_their_values(rows: int) -> None:
    """X95: M is the valid rows of the left factor; what is behind it to 16 was there before."""
    a = made(f"left f32 16x16 nz valid {rows}x4", np.ones((rows, 4), np.float32))
    _, right, _ = tiles("f32", 16, 4, 16)
    c = made("acc f32 16x16 nz/1024", np.ones((16, 16), np.float32))
    pto.tmatmul(c, a, right(np.ones((4, 16), np.float32)))
    assert c.written().all(axis=1).tolist() == [row < rows for row in range(16)]
    assert c.written().any(axis=1).tolist() == [row < rows for row in range(16)]


# Legality: what each target takes -----------------------------------------------------------------

FLOATS8 = ("f8e4m3", "f8e5m2")
COMMON = [
    ("i32", "i8", "i8"),
    ("f32", "f16", "f16"),
    ("f32", "bf16", "bf16"),
    ("f32", "f32", "f32"),
]
ONLY_A5 = [("f32", x, y) for x in FLOATS8 for y in FLOATS8] + [("f32", "hif8", "hif8")]
NEVER = [
    ("f32", "i8", "i8"),
    ("i32", "f16", "f16"),
    ("f16", "f16", "f16"),
    ("f32", "f16", "bf16"),
    ("f32", "f32", "f16"),
    ("i32", "u8", "u8"),
    ("i32", "i8", "u8"),
    ("f32", "hif8", "f8e4m3"),
    ("f32", "f8e8m0", "f8e8m0"),
]


def attempt(target: str, c: str, a: str, b: str, bias: str = "", acc: str = "") -> None:
    """Run a product of ones with tiles of these texts."""
    with pto.target(target):
        x, y, z = made(a), made(b), made(c)
        for tile in (x, y):
            tile.handle.bytes()[:] = 0
            tile.handle.memory.shadow[:] = 0xFF
        if bias:
            more = made(bias)
            more.handle.memory.shadow[:] = 0xFF
            pto.tmatmul_bias(z, x, y, more)
        elif acc:
            more = made(acc)
            more.handle.memory.shadow[:] = 0xFF
            pto.tmatmul_acc(z, more, x, y)
        else:
            pto.tmatmul(z, x, y)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("types", COMMON + ONLY_A5 + NEVER, ids="-".join)
def test_element_types(target: str, types: tuple[str, str, str]) -> None:
    c, a, b = types
    texts = f"acc {c} 32x32 nz", f"left {a} 32x64 {LEFT[target]}", f"right {b} 64x32 zn"
    if types in COMMON or (types in ONLY_A5 and target == "a5"):
        attempt(target, *texts)
        return
    with pytest.raises(pto.PtoError) as problem:
        attempt(target, *texts)
    assert slugs(problem) == {"element-type"}


C, A, B = "acc f32 32x32 nz", "left f16 32x64 {left}", "right f16 64x32 zn"
ACCEPTED: list[tuple[str, dict[str, str]]] = [
    ("cpu a2a3 a5", {}),
    ("cpu", {"a": "left f16 32x64 zz"}),
    ("cpu", {"c": "acc f32 32x32 nz/512"}),
    ("cpu a2a3 a5", {"bias": "bias f32 1x32"}),
    ("cpu a2a3 a5", {"bias": "bias f32 1x64"}),
    ("cpu", {"acc": "acc f32 32x32 nz"}),
    ("cpu a2a3 a5", {"c": C + " valid 3x5", "a": A + " valid 3x7", "b": B + " valid 7x5"}),
    ("cpu", {"a": "left f16 32x4096 nz", "b": "right f16 4096x32 zn"}),
    # what is valid of an accumulator nobody asks; with nothing to multiply nothing happens
    ("cpu a2a3 a5", {"c": C + " valid 31x32"}),
    ("cpu a2a3 a5", {"c": C + " valid 32x31"}),
    ("cpu", {"acc": "acc f32 32x32 nz valid 16x32"}),
    ("cpu a2a3 a5", {"a": A + " valid 0x64"}),
    ("cpu a2a3 a5", {"a": A + " valid 32x0", "b": B + " valid 0x32"}),
]
REFUSED: list[tuple[str, str, dict[str, str]]] = [
    ("cpu a2a3 a5", "location", {"a": "mat f16 32x64 {left}"}),
    ("cpu a2a3 a5", "location", {"b": "mat f16 64x32 zn"}),
    ("cpu a2a3 a5", "location", {"c": "vec f32 32x32 nz"}),
    ("cpu a2a3 a5", "location", {"bias": "vec f32 1x32"}),
    ("cpu a2a3 a5", "location", {"acc": "vec f32 32x32 nz"}),
    ("a2a3", "layout", {"a": "left f16 32x64 nz"}),
    ("a5", "layout", {"a": "left f16 32x64 zz"}),
    ("cpu a2a3 a5", "layout", {"a": "left f16 32x64 zn"}),
    ("cpu a2a3 a5", "layout", {"a": "left f16 32x64 nd"}),
    ("cpu a2a3 a5", "layout", {"b": "right f16 64x32 nz"}),
    ("cpu a2a3 a5", "layout", {"b": "right f16 64x32 nd"}),
    ("cpu a2a3 a5", "layout", {"c": "acc f32 32x32 zn"}),
    ("cpu a2a3 a5", "layout", {"c": "acc f32 32x32 nd"}),
    ("cpu a2a3 a5", "shape", {"a": A + " valid 32x63"}),
    ("cpu a2a3 a5", "shape", {"b": B + " valid 63x32"}),
    ("cpu", "shape", {"b": "right f16 80x32 zn valid 64x32"}),
    ("cpu", "shape", {"c": "acc f32 48x32 nz valid 32x32"}),
    ("cpu", "shape", {"c": "acc f32 32x48 nz valid 32x32"}),
    ("a2a3 a5", "shape", {"a": "left f16 32x4096 {left}", "b": "right f16 4096x32 zn"}),
    ("cpu a2a3 a5", "element-type", {"bias": "bias f16 1x32"}),
    ("cpu a2a3 a5", "shape", {"bias": "bias f32 1x32 valid 1x31"}),
    ("cpu", "shape", {"acc": "acc f32 16x32 nz"}),
    ("cpu a2a3 a5", "element-type", {"acc": "acc i32 32x32 nz"}),
]


def texts(target: str, changes: dict[str, str]) -> dict[str, str]:
    given = {"c": C, "a": A, "b": B} | changes
    return {name: text.format(left=LEFT[target]) for name, text in given.items()}


def each(targets: str) -> list[str]:
    return targets.split()


@pytest.mark.parametrize(
    ("target", "changes"), [(t, c) for ts, c in ACCEPTED for t in each(ts)], ids=str
)
def test_accepted(target: str, changes: dict[str, str]) -> None:
    attempt(target, **texts(target, changes))


@pytest.mark.parametrize(
    ("target", "slug", "changes"), [(t, s, c) for ts, s, c in REFUSED for t in each(ts)], ids=str
)
def test_refused(target: str, slug: str, changes: dict[str, str]) -> None:
    with pytest.raises(pto.PtoError) as problem:
        attempt(target, **texts(target, changes))
    assert slug in slugs(problem)
    assert all(d.targets == (target,) for d in problem.value.diagnostics)


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_hardware_accumulates_in_place_only(target: str) -> None:
    """D8: there the input accumulator is ignored, so another tile than the result is a mistake."""
    with pytest.raises(pto.PtoError):
        attempt(target, **texts(target, {"acc": "acc f32 32x32 nz"}))


@pytest.mark.parametrize("rows", [2, 16])
def test_a_bias_has_one_row(rows: int) -> None:
    with pytest.raises(pto.PtoError):
        attempt("cpu", C, A.format(left="nz"), B, bias=f"bias f32 {rows}x32")


@pytest.mark.parametrize("phase", ["unspecified", "partial", "final"])
def test_the_phase_changes_nothing(phase: Any) -> None:
    left, right, c = tiles("f32", 2, 3, 2)
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = c()
    pto.tmatmul(out, left(a), right(a.T), phase=phase)
    assert out.numpy().tolist() == [[5, 14], [14, 50]]
