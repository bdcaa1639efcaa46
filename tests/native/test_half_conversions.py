"""f32 to f16 by the processor: at each middle of two f16 and beside it, and the special values."""

from __future__ import annotations

import numpy as np

import ptokit as pto


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def narrowed(x: pto.In, y: pto.Out) -> None:
    for i in pto.grid(pto.cdiv(x.shape[0], 64)):
        out = pto.block(y, i * 64, 0, 64, 64)
        pto.store(out, pto.load(pto.block(x, i * 64, 0, 64, 64)).cast(pto.f16))


def test_f32_becomes_the_nearest_f16_at_most_the_largest_and_nan_0() -> None:
    values = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = (values + np.append(values[1:], np.float32(65536))) / np.float32(2)
    bits = np.concatenate([middles.view(np.int32) + step for step in (-1, 0, 1)])
    special = [0, 1, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]
    bits = np.append(bits.view(np.uint32), np.asarray(special, np.uint32))
    bits = np.append(bits, bits | np.uint32(1 << 31))
    bits.resize(-(-bits.size // 64), 64)
    x, y = bits.view(np.float32), np.ones(bits.shape, np.float16)
    narrowed(x, y)
    finite = np.clip(np.nan_to_num(x, nan=0, posinf=1e5, neginf=-1e5), -65504, 65504)
    wanted = np.where(np.isnan(x), np.float16(0), finite.astype(np.float16))
    assert np.array_equal(y.view(np.uint16), wanted.view(np.uint16))
