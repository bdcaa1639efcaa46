"""Factors that are not copied: products read them in L1, and the results are the reference's."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from native.outcomes import agreed

M, K, N = 40, 48, 32
LOAD = "pto.tload ins(%{p} : !part_{k}) outs(%{t} : !{k})"
MOVE = "pto.tmov ins(%{t} : !{k}) outs(%{f} : !{s})"
PRODUCT = "pto.tmatmul ins(%l, %r : !left, !right) outs(%s : !acc)"
MORE = "pto.tmatmul.acc ins(%s, %l, %r : !acc, !left, !right) outs(%s : !acc)"
A, A2 = (LOAD.format(p=p, k="a", t="ma") for p in ("p0", "p1"))
B = LOAD.format(p="q0", k="b", t="mb")
LEFT, RIGHT = (MOVE.format(t=f"m{k}", k=k, f=s[0], s=s) for k, s in (("a", "left"), ("b", "right")))
SHORT = "pto.tmatmul ins(%l16, %r16 : !left16, !right16) outs(%s : !acc)"
SHORT_MORE = "pto.tmatmul.acc ins(%s, %l16, %r16 : !acc, !left16, !right16) outs(%s : !acc)"
CUTS = {
    k: [
        f"pto.textract ins(%ma, %c0, {k} : !a, index, index) outs(%l16 : !left16)",
        f"pto.textract ins(%mb, {k}, %c0 : !b, index, index) outs(%r16 : !right16)",
    ]
    for k in ("%c0", "%c16", "%i")
}
BODIES = {
    "once": [A, B, LEFT, RIGHT, PRODUCT],
    "twice": [A, LEFT, B, RIGHT, PRODUCT, MORE],
    "loaded again before it is read": [A, B, LEFT, RIGHT, A2, PRODUCT],
    "loaded again after it is read": [A, B, LEFT, RIGHT, PRODUCT, A2, LEFT, MORE],
    "in a loop": [
        "scf.for %i = %c0 to %c2 step %c1 {",
        "%first = arith.cmpi eq, %i, %c0 : index",
        *(A, LEFT, B, RIGHT),
        *("scf.if %first {", PRODUCT, "} else {", MORE, "}", "}"),
    ],
    "read one iteration later": [
        *(A, LEFT, B, RIGHT, PRODUCT),
        *("scf.for %i = %c0 to %c2 step %c1 {", MORE, A2, LEFT, "}"),
    ],
    "cut from a wider tile": [
        *(A, B, *CUTS["%c0"], SHORT),
        *("scf.for %i = %c16 to %c48 step %c16 {", *CUTS["%i"], SHORT_MORE, "}"),
    ],
    "cut, and cut again before it is read": [A, B, *CUTS["%c0"], *CUTS["%c16"], SHORT],
    "cut, and read behind the loop that cuts again": [
        *(A, B, *CUTS["%c0"], SHORT),
        *("scf.for %i = %c16 to %c48 step %c16 {", SHORT_MORE, *CUTS["%i"], "}", SHORT_MORE),
    ],
    "in a branch": [
        "%some = arith.cmpi eq, %m, %c40 : index",
        *(A, B, RIGHT, "scf.if %some {", LEFT, "} else {", A2, LEFT, "}", PRODUCT),
    ],
    "of L1 as a whole": [  # 512 KiB: what is loaded next lies where the left factor was
        *(A, LEFT, "%other = pto.alloc_tile : !whole"),
        "pto.tload ins(%w : !part_w) outs(%other : !whole)",
        "pto.textract ins(%other, %c0, %c0 : !whole, index, index) outs(%o : !rest)",
        *(B, RIGHT, PRODUCT),
    ],
}


def program(dtype: str, body: list[str], valid: str = f"{M}x{K}") -> str:
    boxes, zn = "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
    kinds = {
        "a": f"!pto.tile_buf<mat, 48x{K}x{dtype}, valid={valid}, {boxes}>",
        "b": f"!pto.tile_buf<mat, {K}x{N}x{dtype}, {boxes}>",
        "left": f"!pto.tile_buf<left, 48x{K}x{dtype}, valid={valid}, {boxes}>",
        "right": f"!pto.tile_buf<right, {K}x{N}x{dtype}, {zn}>",
        "left16": f"!pto.tile_buf<left, 48x16x{dtype}, valid={valid.split('x')[0]}x16, {boxes}>",
        "right16": f"!pto.tile_buf<right, 16x{N}x{dtype}, {zn}>",
        "acc": f"!pto.tile_buf<acc, 48x{N}xf32, valid={valid.split('x')[0]}x{N}, {boxes}, "
        "fractal=1024>",
        "whole": f"!pto.tile_buf<mat, {512 if dtype == 'f16' else 256}x512x{dtype}, "
        f"valid=16x16, {boxes}>",
        "rest": f"!pto.tile_buf<left, 16x16x{dtype}, {boxes}>",
        "part_a": f"!pto.partition_tensor_view<{valid}x{dtype}>",
        "part_b": f"!pto.partition_tensor_view<{K}x{N}x{dtype}>",
        "part_w": f"!pto.partition_tensor_view<16x16x{dtype}>",
        "part_c": f"!pto.partition_tensor_view<{valid.split('x')[0]}x{N}xf32>",
    }
    rows = "%m" if "?" in valid else "%c40"
    have = f" valid_row = {rows}" if "?" in valid else ""
    lines = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 16, 32, 40, 48)]
    views = (("a", "%c40", "%c48"), ("a2", "%c40", "%c48"), ("b", "%c48", "%c32"))
    for name, down, across in (*views, ("c", "%c40", "%c32")):
        kind = "f32" if name == "c" else dtype
        lines.append(
            f"%v_{name} = pto.make_tensor_view %{name}, shape = [{down}, {across}], "
            f"strides = [{across}, %c1] : !pto.tensor_view<?x?x{kind}>"
        )
    parts = (
        *(("p0", "a", "a", rows, "%c48"), ("p1", "a2", "a", rows, "%c48")),
        *(("q0", "b", "b", "%c48", "%c32"), ("w", "b", "w", "%c16", "%c16")),
        ("z", "c", "c", rows, "%c32"),
    )
    for name, view, part, down, across in parts:
        kind = "f32" if name == "z" else dtype
        lines.append(
            f"%{name} = pto.partition_view %v_{view}, offsets = [%c0, %c0], sizes = [{down}, "
            f"{across}] : !pto.tensor_view<?x?x{kind}> -> !part_{part}"
        )
    tiles = (("ma", "a"), ("mb", "b"), ("l", "left"), ("r", "right"), ("s", "acc"), ("o", "rest"))
    tiles += (("l16", "left16"), ("r16", "right16"))
    for name, kind in tiles:
        lines.append(
            f"%{name} = pto.alloc_tile{have if kind in 'a left left16 acc' else ''} : !{kind}"
        )
    store = "pto.tstore ins(%s : !acc) outs(%z : !part_c)"
    aliases = "\n".join(f"!{name} = {kind}" for name, kind in kinds.items())
    inner = "\n".join([*lines, *body, store, "return"])
    pointers = ", ".join(f"%{name}: !pto.ptr<{dtype}>" for name in ("a", "a2", "b"))
    head = f"func.func @f({pointers}, %c: !pto.ptr<f32>, %m: index)"
    return f"{aliases}\n{head} {{\n{inner}\n}}"


def arrays(dtype: str) -> dict[str, object]:
    random, kind = np.random.default_rng(5), {"f16": np.float16, "f32": np.float32}[dtype]
    a, a2, b = (random.standard_normal(s).astype(kind) for s in ((M, K), (M, K), (K, N)))
    return {"a": a, "a2": a2, "b": b, "c": np.zeros((M, N), np.float32), "m": M}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_results_are_those_of_copies(body: str, dtype: str) -> None:
    found = agreed(program(dtype, BODIES[body]), arrays(dtype), target="a5")
    assert isinstance(found, dict), found


def test_rows_that_only_the_run_knows() -> None:
    text = program("f32", BODIES["in a loop"], valid=f"?x{K}")
    for rows in (1, 7, M):
        assert isinstance(agreed(text, {**arrays("f32"), "m": rows}, target="a5"), dict)


def test_a_factor_that_the_caller_sees_lies_as_its_type_says() -> None:
    text = program("f32", BODIES["once"])
    text = text.replace("%l = pto.alloc_tile : !left\n", "").replace("@f(", "@f(%l: !left, ")
    given = {**arrays("f32"), "l": np.zeros((M, K), np.float32)}
    found = agreed(text, given, target="a5")
    assert isinstance(found, dict)
    assert "l" in found


def test_a_product_reads_rows_and_panels_in_l1() -> None:
    """The moves have no function, and the product packs nothing."""
    given = arrays("f32")
    made = pto.loads(program("f32", BODIES["in a loop"])).compile(target="a5", engine="native")
    assert "tmov has no function" in made.code("tmov", given)
    product = made.code("tmatmul.acc", given).partition("define internal void @product")[0]
    assert product.count("\n  store") == 0
    text = program("f32", BODIES["of L1 as a whole"])
    made = pto.loads(text).compile(target="a5", engine="native")
    assert "has no function" not in made.code("tmov", given)
