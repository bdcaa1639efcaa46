"""TMATMUL, TMATMUL_ACC and TMATMUL_BIAS: worked examples, and what each target takes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import ptokit as pto
from every import every
from naming import named
from oracles.formats import FORMATS, Array
from tiles import made, verdict

TARGETS = ("cpu", "a2a3", "a5")
LEFT = {"cpu": "nz", "a2a3": "zz", "a5": "nz"}


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
    """1 + 2^-23 + 2^-24 - 2^-54 rounds down; rounded to f64 first it is a tie, which rounds up."""
    a = row(1 + 2.0**-23, 2.0**-12 * (1 + 2.0**-15))
    b = row(1, 2.0**-12 * (1 - 2.0**-15)).T
    assert multiply(a, b, "f32")[0, 0] == 1 + 2.0**-23


def test_denormal_bf16_products_are_fused_too() -> None:
    """2^-149 + 2^-150 is a tie that goes to 2^-148; a product rounded by itself would be 0."""
    a = row(2.0**-75, 2.0**-75).astype(FORMATS["bf16"][1])
    b = row(2.0**-74, 2.0**-75).T.astype(FORMATS["bf16"][1])
    assert multiply(a, b, "bf16")[0, 0] == 2.0**-148


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


@every("missing", ["a", "b", "acc", "bias"])
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


@every("rows", [1, 8, 16])
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


def test_element_types() -> None:
    for target, types in itertools.product(TARGETS, COMMON + ONLY_A5 + NEVER):
        c, a, b = types
        texts = f"acc {c} 32x32 nz", f"left {a} 32x64 {LEFT[target]}", f"right {b} 64x32 zn"
        legal = types in COMMON or (types in ONLY_A5 and target == "a5")
        with named(target, types):
            verdict(target, "" if legal else "element-type", partial(attempt, target, *texts))


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
    ("cpu a2a3 a5", "layout", {"bias": "bias f32 2x32"}),
    ("cpu a2a3 a5", "layout", {"bias": "bias f32 16x32"}),
    ("cpu", "shape", {"acc": "acc f32 16x32 nz"}),
    ("a2a3 a5", "aliasing", {"acc": "acc f32 32x32 nz"}),  # D8: they ignore another accumulator
    ("cpu a2a3 a5", "element-type", {"acc": "acc i32 32x32 nz"}),
]


def texts(target: str, changes: dict[str, str]) -> dict[str, str]:
    given = {"c": C, "a": A, "b": B} | changes
    return {name: text.format(left=LEFT[target]) for name, text in given.items()}


def test_what_is_legal() -> None:
    for targets, slug, changes in [*((t, "", c) for t, c in ACCEPTED), *REFUSED]:
        for target in targets.split():
            with named(target, slug, changes):
                verdict(target, slug, partial(attempt, target, **texts(target, changes)))
