"""Names that the assembler itself writes do what those of the manual do.

Each program is written twice; both results are those of NumPy.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from belowtiles import Lanes

import ptokit as pto

L1, L0A, L0B = (f"!pto.ptr<!pto.f4E2M1x2, {space}>" for space in ("l1", "l0a", "l0b"))
LEFT, RIGHT = (f"!pto.ptr<!pto.f8E8M0, l1>, {into}" for into in (L0A, L0B))
SIX = ", i64" * 6
PRODUCT = f"""\
func.func @law(%a: !pto.ptr<ui8>, %b: !pto.ptr<ui8>, %s: !pto.ptr<ui8>, %t: !pto.ptr<ui8>,
    %z: !pto.ptr<f16>, %c: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c16 = arith.constant 16 : i64
  %c32 = arith.constant 32 : i64
  %c64 = arith.constant 64 : i64
  %far = arith.constant 4096 : i64
  %farther = arith.constant 8192 : i64
  %third = arith.constant 8256 : i64
  %tail = arith.constant 8320 : i64
  %twice = arith.constant 1024 : i64
  %once = arith.constant 512 : i64
  %yes = arith.constant true
  %la = pto.castptr %c0 : i64 -> {L1}
  %lb = pto.castptr %far : i64 -> {L1}
  %ls = pto.castptr %farther : i64 -> !pto.ptr<!pto.f8E8M0, l1>
  %lt = pto.castptr %third : i64 -> !pto.ptr<!pto.f8E8M0, l1>
  %lz = pto.castptr %tail : i64 -> !pto.ptr<f16, l1>
  %l0a = pto.castptr %far : i64 -> {L0A}
  %l0b = pto.castptr %c0 : i64 -> {L0B}
  %x0a = pto.castptr %PLACE : i64 -> {L0A}
  %biases = pto.castptr %c0 : i64 -> !pto.ptr<f32, bt>
  %l0c = pto.castptr %c0 : i64 -> !pto.ptr<f32, l0c>
  pto.mte_gm_l1 %a, %la, %twice nburst(%c1, %c0, %c0) : !pto.ptr<ui8>, {L1}, i64, i64, i64, i64
  pto.mte_gm_l1 %b, %lb, %once nburst(%c1, %c0, %c0) : !pto.ptr<ui8>, {L1}, i64, i64, i64, i64
  pto.mte_gm_l1 %s, %ls, %c64 nburst(%c1, %c0, %c0) : !pto.ptr<ui8>, !pto.ptr<!pto.f8E8M0, l1>,\
 i64, i64, i64, i64
  pto.mte_gm_l1 %t, %lt, %c64 nburst(%c1, %c0, %c0) : !pto.ptr<ui8>, !pto.ptr<!pto.f8E8M0, l1>,\
 i64, i64, i64, i64
  pto.mte_gm_l1 %z, %lz, %c32 nburst(%c1, %c0, %c0) : !pto.ptr<f16>, !pto.ptr<f16, l1>, i64, i64,\
 i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_MTE1", "EVENT_ID0"]
  pto.OF_LEFT
  pto.OF_RIGHT
  pto.OF_SCALES
  pto.mte_l1_l0b_mx %lt, %l0b, %c64, %c16, %c0, %c0 : {RIGHT}, i64, i64, i64, i64
  pto.OF_BIASES
  pto.set_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE1", "PIPE_M", "EVENT_ID0"]
  pto.mad_mx_bias %l0a, %l0b, %l0c, %biases, %c16, %c16, %c64 : {L0A}, {L0B},\
 !pto.ptr<f32, l0c>, !pto.ptr<f32, bt>, i64, i64, i64
  pto.set_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
  pto.wait_flag["PIPE_M", "PIPE_FIX", "EVENT_ID0"]
  pto.mte_l0c_gm %l0c, %c, %c16, %c16, %c16, %c16, %c0, %c0, nz2nd : !pto.ptr<f32, l0c>,\
 !pto.ptr<f32>{SIX}
  return
}}
"""
BIASES = "!pto.ptr<f16, l1>, !pto.ptr<f32, bt>"
PRODUCTS = {
    "the names of the manual": {
        "PLACE": "far",
        "OF_LEFT": f"mte_l1_l0a %la, %l0a, k_start(%c32), m_start(%c0), m_step(%c1), k_step(%c1),"
        f" dst_stride(%c1), src_stride(%c1) : {L1}, {L0A}{SIX}",
        "OF_RIGHT": f"mte_l1_l0b %lb, %l0b, %c64, n(%c16), start_row(%c0), start_col(%c0) :"
        f" {L1}, {L0B}, i64, i64, i64, i64",
        "OF_SCALES": f"mte_l1_l0a_mx %ls, %x0a, x_start(%c0), y_start(%c1), x_step(%c1),"
        f" y_step(%c1), src_stride(%c2), dst_stride(%c1) : {LEFT}{SIX}",
        "OF_BIASES": f"mte_l1_bt %lz, %biases, %c1 nburst(%c1, %c0, %c0) : {BIASES}, i64, i64,"
        " i64, i64",
    },
    "those of the assembler": {
        "PLACE": "place",
        "%yes = arith.constant true": "%yes = arith.constant true\n"
        "  %place = arith.constant 256 : i64",
        "OF_LEFT": f"load_cbuf_to_ca_s4 %la, %l0a, %c0, %c32, %c1, %c1, %c1, %c1, %c0 : {L1},"
        f" {L0A}{SIX}, i64",
        "OF_RIGHT": f"load_cbuf_to_cb_s4 %lb, %l0b, %c0, %c0, %c1, %c1, %c1, %c1, %c0 : {L1},"
        f" {L0B}{SIX}, i64",
        "OF_SCALES": f"load_cbuf_to_ca_mx %ls, %x0a, %c0, %c1, %c1, %c1, %c2, %c1 : {LEFT}{SIX}",
        "OF_BIASES": f"copy_cbuf_to_bt %lz, %biases, %yes, %c1, %c1, %c0, %c0 : {BIASES}, i1,"
        " i64, i64, i64, i64",
    },
}


def pairs(numbers: Lanes) -> Lanes:
    """Return codes of 4 bits as bytes, the first of a pair in the low half."""
    return (numbers[..., 0::2] | numbers[..., 1::2] << 4).astype(np.uint8)


@pytest.mark.parametrize("names", PRODUCTS)
def test_products_of_packed_floats_with_scales(names: str) -> None:
    text = PRODUCT
    for old, new in PRODUCTS[names].items():
        text = text.replace(old, new)
    rng = np.random.default_rng(10)
    a, b = (rng.integers(0, 16, shape).astype(np.uint8) for shape in ((16, 128), (16, 64)))
    s, t = (rng.integers(126, 129, shape).astype(np.uint8) for shape in ((16, 4), (16, 2)))
    z = rng.integers(-4, 5, 16).astype(np.float16)
    boxes = np.concatenate((pairs(a[:, :64]).ravel(), pairs(a[:, 64:]).ravel()))
    scales = np.concatenate((s[:, :2].ravel(), s[:, 2:].ravel()))
    program = pto.loads(text)
    assert pto.loads(program.text()).text() == program.text()
    found = program.run(
        target="a5",
        a=boxes,
        b=pairs(b).ravel(),
        s=scales,
        t=np.append(t.ravel(), np.zeros(32, np.uint8)),
        z=z,
        c=np.zeros((16, 16), np.float32),
    )["c"]
    x, y = (v.view(ml_dtypes.float4_e2m1fn).astype(np.float32) for v in (a[:, 64:].copy(), b))
    wide = [np.repeat(np.exp2(v.astype(np.float32) - 127), 32, 1) for v in (s[:, 2:], t)]
    assert np.array_equal(found, (x * wide[0]) @ (y * wide[1]).T + z)


MOVED = """\
func.func @law(%x: !pto.ptr<ui16>, %y: !pto.ptr<ui16>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %all = arith.constant 256 : i64
  %p = pto.castptr %zero : i64 -> !pto.ptr<ui16, ub>
  %q = pto.castptr %all : i64 -> !pto.ptr<ui16, ub>
  pto.mte_gm_ub %x, %p, %zero, %all nburst(%one, %all, %all) : !pto.ptr<ui16>,\
 !pto.ptr<ui16, ub>, i64, i64, i64, i64, i64
  pto.mte_gm_ub %x, %q, %zero, %all nburst(%one, %all, %all) : !pto.ptr<ui16>,\
 !pto.ptr<ui16, ub>, i64, i64, i64, i64, i64
  pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
  pto.copy_ubuf_to_ubuf %p, %q, %zero, %two, %one, %two, %one : !pto.ptr<ui16, ub>,\
 !pto.ptr<ui16, ub>, i64, i64, i64, i64, i64
  pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.wait_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
  pto.mte_ub_gm %q, %y, %all nburst(%one, %all, %all) : !pto.ptr<ui16, ub>, !pto.ptr<ui16>,\
 i64, i64, i64, i64
  return
}
"""


def test_bursts_within_the_buffer() -> None:
    """Two of 32 bytes, 64 bytes between them in the source, and 32 in the result."""
    x = np.arange(128, dtype=np.uint16)
    found = pto.loads(MOVED).run(target="a5", x=x, y=np.zeros(128, np.uint16))["y"]
    meant = x.copy()
    meant[:16], meant[32:48] = x[:16], x[48:64]
    assert np.array_equal(found, meant)
