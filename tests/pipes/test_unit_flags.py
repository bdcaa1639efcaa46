"""Unit flags: a final product and a final store order one another without flags of pipes."""

from __future__ import annotations

import ptokit as pto
from every import every

LEFT, RIGHT = "!pto.tile_buf<left, 32x32xf16>", "!pto.tile_buf<right, 32x32xf16>"
ACC, VIEW = "!pto.tile_buf<acc, 32x32xf32>", "!pto.partition_tensor_view<32x32xf32>"
BOTH = {"read after write", "write after read"}
TEXT = f"""\
func.func @f(%g: !pto.tensor_view<32x32xf32>) {{
  %zero = arith.constant 0 : i64
  %a = pto.alloc_tile addr = %zero : {LEFT}
  %b = pto.alloc_tile addr = %zero : {RIGHT}
  %c = pto.alloc_tile addr = %zero : {ACC}
  %p = pto.partition_view %g, offsets = [0, 0], sizes = [32, 32]
      : !pto.tensor_view<32x32xf32> -> {VIEW}
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = arith.constant TIMES : index
  pto.barrier <PIPE_ALL>
  scf.for %i = %0 to %n step %1 {{
    pto.tmatmul ins(%a, %b : {LEFT}, {RIGHT}) outs(%c : {ACC}) {{accPhase = #pto<acc_phase ONE>}}
    pto.tstore ins(%c : {ACC}) outs(%p : {VIEW}) {{stPhase = #pto<st_phase OTHER>}}
  }}
  return
}}
"""


@every("target", ["a2a3", "a5"])
@every(
    ("product", "store", "kinds"),
    [
        ("final", "final", set[str]()),
        ("final", "partial", {"write after read"}),
        ("partial", "final", {"read after write"}),
        *((*pair, BOTH) for pair in (("unspecified", "final"), ("final", "unspecified"))),
    ],
)
def test_phases_order_products_and_stores(
    product: str, store: str, kinds: set[str], target: str
) -> None:
    """The phase is the unit flag of mad and of the store: 3 sets and clears, 2 only waits
    (npu/a2a3/TMatmul.hpp:52, TStore.hpp:138-153, common/type.hpp:228-241).
    """
    text = TEXT.replace("ONE", product).replace("OTHER", store).replace("TIMES", "3")
    found = [d for d in pto.loads(text).races(f"{target}:as-hardware") if d.slug == "hazard"]
    rules = {str(d.rule).partition(",")[0].lower() for d in found if "L0C" in str(d.seen)}
    assert rules == kinds
