"""Gathers by comparison: thresholds of A2/A3 have 32 bits, with f16 also 16; bytes on A5."""

from __future__ import annotations

import numpy as np

import ptokit as pto
from every import every


@every(
    ("dtype", "threshold", "legal"),
    [
        *(("f32", "u32", True), ("f32", "u16", False)),
        *(("f16", "u16", True), ("f16", "i16", True), ("f16", "u32", True)),
    ],
)
def test_widths_that_are_taken(dtype: str, threshold: str, legal: bool) -> None:
    """Code converts words to f32 and halves to f16 (npu/a2a3/TGather.hpp:173-181)."""
    src, dst = f"!pto.tile_buf<vec, 16x64x{dtype}>", "!pto.tile_buf<vec, 16x64xi32>"
    column = "!pto.tile_buf<vec, 16x1x{}, blayout=col_major>"
    k, count, tmp = column.format(threshold), column.format("i32"), "!pto.tile_buf<vec, 16x512xu8>"
    text = f"""\
func.func @f(%s: {src}, %k: {k}, %d: {dst}, %c: {count}, %t: {tmp}) {{
  pto.tgather ins(%s, %k, %t : {src}, {k}, {tmp}) outs(%d, %c : {dst}, {count}) {{
    cmpMode = #pto.cmp<gt>}}
  return
}}
"""
    found = [d for d in pto.loads(text).check("a2a3") if d.slug == "element-type" and d.is_error]
    assert (found == []) == legal


DST, TMP = "!pto.tile_buf<vec, 16x64xu32>", "!pto.tile_buf<vec, 16x32xu8>"
COUNT = "!pto.tile_buf<vec, 16x1xu32, blayout=col_major>"


@every("cmp", ["gt", "eq"])
@every("wide", ["u16", "u32"])
@every("dtype", [np.int8, np.uint8])
def test_bytes_on_a5(dtype: type[np.integer], wide: str, cmp: str, engine: str) -> None:
    """Bytes count as unsigned, against the whole threshold (npu/a5/TGather.hpp:781-916; C64)."""
    src = f"!pto.tile_buf<vec, 16x64x{'iu'[dtype is np.uint8]}8>"
    k = COUNT.replace("u32", wide)
    program = pto.loads(f"""\
func.func @f(%s: {src}, %k: {k}, %d: {DST}, %c: {COUNT}, %t: {TMP}) {{
  pto.tgather ins(%s, %k, %t : {src}, {k}, {TMP}) outs(%d, %c : {DST}, {COUNT}) {{
    cmpMode = #pto.cmp<{cmp}>}}
  return
}}
""")
    assert "element-type" in {d.slug for d in program.check("a5") if d.is_error}
    octets = np.random.default_rng(7).integers(0, 256, (16, 64), np.uint8)
    limits = np.repeat([0, 40, 127, 128, 200, 255, 256, 300], 2)[:, None]
    found = program.run(
        target="a5:as-hardware",
        engine=engine,
        s=octets.view(dtype),
        k=limits.astype(np.uint16 if wide == "u16" else np.uint32),
        d=np.full((16, 64), 7, np.uint32),
        c=np.zeros((16, 1), np.uint32),
        t=np.zeros((16, 32), np.uint8),
    )
    for i, row in enumerate(octets.astype(int)):
        hit = np.flatnonzero(row > limits[i] if cmp == "gt" else row == limits[i])
        assert found["c"][i, 0] == hit.size
        assert found["d"][i].tolist() == [*(i * 64 + hit), *[7] * (64 - hit.size)]
