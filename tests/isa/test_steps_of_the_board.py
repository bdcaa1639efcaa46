"""What chips compute in other steps than the simulator: casts, roots, wide integers, columns."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16, float4_e2m1fn, float8_e4m3fn

import ptokit as pto

ENGINES = pytest.mark.parametrize("engine", ["reference", "native"])
ONE = "!pto.tile_buf<vec, {0}>"
COLUMN = "16x1xf32, blayout=col_major"


@ENGINES
def test_a_column_is_a_row_to_a_number_on_a2a3(engine: str) -> None:
    program = pto.loads(
        f"func.func @f(%a: {ONE.format(COLUMN)}, %b: {ONE.format(COLUMN)}) {{\n"
        "  %two = arith.constant 2.0 : f32\n"
        f"  pto.tmuls ins(%a, %two : {ONE.format(COLUMN)}, f32) outs(%b : {ONE.format(COLUMN)})\n"
        "  return\n}\n"
    )
    assert [d.slug for d in program.check("a5")] == ["layout"]
    assert not any(d.is_error for d in program.check("a2a3", judge="hardware"))
    assert [d.slug for d in program.check("a2a3", judge="assembler")] == ["layout"]
    a = np.arange(16, dtype=np.float32).reshape(16, 1)
    found = program.run(target="a2a3:as-hardware", engine=engine, a=a, b=np.zeros_like(a))
    assert np.array_equal(found["b"], 2 * a)


@ENGINES
def test_infinity_wraps_to_minus_one_on_a2a3(engine: str) -> None:
    kinds = ONE.format("1x16xf32"), ONE.format("1x16xi16")
    program = pto.loads(
        f"pto.tcvt ins(%a {{rmode = #pto<round_mode TRUNC>}} : {kinds[0]}) outs(%b : {kinds[1]})\n"
    )
    a = np.zeros((1, 16), np.float32)
    a[0, :5] = np.inf, -np.inf, np.nan, 40000.5, -3e9
    for target, wanted in (("a2a3", [-1, 0, 0, -25536, 0]), ("a5", [0, 0, 0, -25536, -24064])):
        found = program.run(target=target, engine=engine, a=a, b=np.zeros((1, 16), np.int16))["b"]
        assert found[0, :5].tolist() == wanted


@ENGINES
def test_wide_integers_of_a5(engine: str) -> None:
    tile = ONE.format("1x4xi64")
    text = f"pto.{{}} ins(%a, %b : {tile}, {tile}) outs(%c : {tile})\n"
    a, b = np.array([[7, -7, -7, 5]]), np.array([[2, 2, 0, 65]])
    for name, on_a5, on_cpu in (
        ("tshl", [28, -28, -7, 10], [28, -28, -7, 0]),
        ("trem", [1, -1, 0, 5], [1, 1, 0, 5]),
    ):
        for target, wanted in (("a5", on_a5), ("cpu", on_cpu)):
            found = pto.loads(text.format(name)).run(
                target=target, engine=engine, a=a, b=b, c=np.zeros_like(a)
            )
            assert found["c"].tolist() == [wanted]


@ENGINES
def test_a_reciprocal_root_of_a5_rounds_twice(engine: str) -> None:
    tile = ONE.format("1x64xf32")
    program = pto.loads(f"pto.trsqrt ins(%a : {tile}) outs(%b : {tile})\n")
    a = np.linspace(0.5, 9, 64, dtype=np.float32)[None]
    once = (1 / np.sqrt(a.astype(np.float64))).astype(np.float32)
    twice = np.float32(1) / np.sqrt(a)
    assert not np.array_equal(once, twice)
    for target, wanted in (("a5", twice), ("cpu", once)):
        found = program.run(target=target, engine=engine, a=a, b=np.zeros_like(a))["b"]
        assert np.array_equal(found, wanted)


@ENGINES
def test_fours_of_a5_are_stored_in_whole_bytes(engine: str) -> None:
    kinds = ONE.format("2x128xbf16, valid=2x65"), ONE.format("2x128xf4E2M1FN, valid=2x65")
    text = f"pto.tcvt ins(%a : {kinds[0]}) outs(%b : {kinds[1]})\n"
    a, none = np.ones((2, 65), bfloat16), np.full((2, 65), 6, float4_e2m1fn)
    for target, last in (("a5", 0), ("cpu", 1)):
        found = pto.loads(text).run(target=target, engine=engine, a=a, b=none)["b"]
        assert found[:, :64].astype(np.float32).all() == 1
        assert found[:, 64].astype(np.float32).tolist() == [last, last]


BOXES = "!pto.tile_buf<mat, 16x128xf8E4M3FN, valid=16x{0}, blayout=col_major, slayout=row_major>"


@ENGINES
@pytest.mark.parametrize("target", ["cpu", "a5"])
def test_rows_that_become_boxes_end_with_zeros_on_chips(engine: str, target: str) -> None:
    program = pto.loads(
        f"func.func @f(%a: !pto.ptr<f8E4M3FN>, %t: {BOXES.format(128)}) {{\n"
        "  %c1 = arith.constant 1 : index\n  %c16 = arith.constant 16 : index\n"
        "  %c120 = arith.constant 120 : index\n"
        "  %v = pto.make_tensor_view %a, shape = [%c16, %c120], strides = [%c120, %c1]"
        " : !pto.tensor_view<16x120xf8E4M3FN>\n"
        f"  %part = pto.treshape %t : {BOXES.format(128)} -> {BOXES.format(120)}\n"
        "  pto.tload ins(%v : !pto.tensor_view<16x120xf8E4M3FN>)"
        f" outs(%part : {BOXES.format(120)})\n  return\n}}\n"
    )
    a = np.ones((16, 120), float8_e4m3fn)
    found = program.run(target=target, engine=engine, a=a, t=np.full((16, 128), 2, a.dtype))["t"]
    wanted = np.pad(np.ones((16, 120)), ((0, 0), (0, 8)), constant_values=2 * (target == "cpu"))
    assert np.array_equal(np.asarray(found).reshape(16, 128).astype(np.float32), wanted)
