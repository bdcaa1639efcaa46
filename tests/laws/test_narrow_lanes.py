"""The law of lanes of 4 and 8 bits: packed pairs are converted, bytes are gathered into 16 bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto

PAIRS, F4 = "!pto.vreg<256x!pto.f4E2M1x2>", "!pto.ptr<!pto.f4E2M1x2, ub>"
B16, U16 = "!pto.vreg<128xbf16>", "!pto.vreg<128xui16>"


def program() -> str:
    """Return a function that loads pairs, converts all parts of them, and gathers bytes."""
    lines = [
        f"%v = pto.vlds %p[%c0] : {F4} -> {PAIRS}",
        "%bytes = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>",
        f'%i = pto.vci %one {{order = "ASC"}} : i16 -> {U16.replace("ui", "i")}',
        f"%j = pto.vbitcast %i : {U16.replace('ui', 'i')} -> {U16}",
        f"%g = pto.vgather2 %bytes, %j, %b16 : !pto.ptr<ui8, ub>, {U16}, !pto.mask<b16> -> {U16}",
        f"%h = pto.vbitcast %g : {U16} -> {B16}",
    ]
    words = 'rnd = "R", part = "P'
    stores = ["h"]
    for n in range(4):
        lines += [
            f'%w{n} = pto.vcvt %v, %b8 {{part = "P{n}"}} : {PAIRS}, !pto.mask<b8> -> {B16}',
            f'%n{n} = pto.vcvt %w{n}, %b16 {{{words}{n}"}} : {B16}, !pto.mask<b16> -> {PAIRS}',
            f"%r{n} = pto.vbitcast %n{n} : {PAIRS} -> {B16}",
        ]
        stores += [f"w{n}", f"r{n}"]
    for n, name in enumerate(stores):
        lines += [
            f"%at{n} = arith.constant {128 * n} : index",
            f"pto.vsts %{name}, %q[%at{n}], %b16 : {B16}, !pto.ptr<bf16, ub>, !pto.mask<b16>",
        ]
    body = "\n".join(f"    {line}" for line in lines)
    return f"""\
func.func @law(%x: !pto.ptr<ui8>, %y: !pto.ptr<bf16>) {{
  %zero = arith.constant 0 : i64
  %n = arith.constant 1 : i64
  %one = arith.constant 1 : i16
  %size = arith.constant 256 : i64
  %all = arith.constant {256 * len(stores)} : i64
  %behind = arith.constant 4096 : i64
  %c0 = arith.constant 0 : index
  %in = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>
  %p = pto.castptr %zero : i64 -> {F4}
  %q = pto.castptr %behind : i64 -> !pto.ptr<bf16, ub>
  pto.mte_gm_ub %x, %in, %zero, %size nburst(%n, %size, %size) : !pto.ptr<ui8>,\
 !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64
  pto.vecscope {{
    %b8 = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
    %b16 = pto.pset_b16 "PAT_ALL" : !pto.mask<b16>
{body}
  }}
  pto.mte_ub_gm %q, %y, %all nburst(%n, %all, %all) : !pto.ptr<bf16, ub>, !pto.ptr<bf16>,\
 i64, i64, i64, i64
  return
}}
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_pairs_are_converted_and_bytes_gathered(engine: str) -> None:
    x = np.random.default_rng(4).integers(0, 256, 256).astype(np.uint8)
    nibbles = np.stack([x & 15, x >> 4], 1)
    nibbles[nibbles == 8] = 0  # of a zero only the sign differs
    x = nibbles[:, 0] | nibbles[:, 1] << 4
    values = nibbles.view(ml_dtypes.float4_e2m1fn).astype(ml_dtypes.bfloat16)
    text = program()
    assert pto.loads(pto.loads(text).text()).text() == pto.loads(text).text()
    room = np.zeros(9 * 128, ml_dtypes.bfloat16)
    found = pto.loads(text).run(target="a5", engine=engine, x=x, y=room)["y"].reshape(9, 128)
    gathered = np.append(x[1:129], []).astype(np.uint16)
    assert np.array_equal(found[0].view(np.uint16), gathered)
    for part in range(4):
        assert np.array_equal(found[1 + 2 * part], values[part::4].ravel())
        back = np.zeros(256, np.uint8)
        back[part::4] = x[part::4]
        assert np.array_equal(found[2 + 2 * part].view(np.uint8), back)
