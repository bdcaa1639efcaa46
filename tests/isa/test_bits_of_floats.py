"""TAND and TOR of floats on chips work on their bits, and the assembler refuses them (X123)."""

from __future__ import annotations

import numpy as np

import ptokit as pto
from every import every

TEXT = """\
func.func @f(%x: !pto.tensor_view<8x32xf16>, %y: !pto.tensor_view<8x32xf16>) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf16>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf16>
  %p = pto.partition_view %x, offsets = [0, 0], sizes = [8, 32]
      : !pto.tensor_view<8x32xf16> -> !pto.partition_tensor_view<8x32xf16>
  %q = pto.partition_view %y, offsets = [0, 0], sizes = [8, 32]
      : !pto.tensor_view<8x32xf16> -> !pto.partition_tensor_view<8x32xf16>
  pto.tload ins(%p : !pto.partition_tensor_view<8x32xf16>) outs(%a : !pto.tile_buf<vec, 8x32xf16>)
  pto.tload ins(%q : !pto.partition_tensor_view<8x32xf16>) outs(%b : !pto.tile_buf<vec, 8x32xf16>)
  pto.NAME ins(%a, %b : !pto.tile_buf<vec, 8x32xf16>, !pto.tile_buf<vec, 8x32xf16>)
      outs(%a : !pto.tile_buf<vec, 8x32xf16>)
  pto.tstore ins(%a : !pto.tile_buf<vec, 8x32xf16>) outs(%q : !pto.partition_tensor_view<8x32xf16>)
  return
}
"""


@every(("name", "word"), [("tand", np.bitwise_and), ("tor", np.bitwise_or)])
@every("target", ["a2a3", "a5"])
def test_bits_of_f16(name: str, word: np.ufunc, target: str, engine: str) -> None:
    program = pto.loads(TEXT.replace("NAME", name))
    assert [d.slug for d in program.check(target) if d.is_error] == ["element-type"]
    rng = np.random.default_rng(1)
    x, y = (rng.integers(0, 1 << 16, (8, 32), np.uint16) for _ in range(2))
    given = x.view(np.float16), y.view(np.float16)
    found = program.run(*given, target=f"{target}:as-hardware", engine=engine)["y"]
    np.testing.assert_array_equal(found.view(np.uint16), word(x, y))
