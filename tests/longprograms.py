"""Generated programs of any length, which `make bench` times and tests of growth check."""

from __future__ import annotations

TILE = "!pto.tile_buf<vec, 1x32xf32>"
LISTED = ("lengths", "used", "slots", "found")
ELEMENT = "!pto.ptr<i32>"
# one request that is listed if it is long enough: branches around scalar loads and stores
DECISION = f"""\
  %n_N = arith.constant N : index
  %some_N = arith.cmpi slt, %n_N, %requests : index
  scf.if %some_N {{
    %loaded_N = pto.load_scalar %lengths[%n_N] : {ELEMENT} -> i32
    %length_N = arith.index_cast %loaded_N : i32 to index
    %long_N = arith.cmpi slt, %least, %length_N : index
    scf.if %long_N {{
      %at_N = pto.load_scalar %used[%c0] : {ELEMENT} -> i32
      %slot_N = arith.index_cast %at_N : i32 to index
      %id_N = arith.index_cast %n_N : index to i32
      pto.store_scalar %id_N, %slots[%slot_N] : {ELEMENT}, i32
      %next_N = arith.addi %slot_N, %c1 : index
      %count_N = arith.index_cast %next_N : index to i32
      pto.store_scalar %count_N, %used[%c0] : {ELEMENT}, i32
    }}
  }}
"""


def chain(count: int, kind: str = TILE) -> str:
    """A tile of its own for each sum, each read by the next one only."""
    lines = [f"%t0 = pto.alloc_tile : {kind}", "%x = arith.constant 1.0 : f32"]
    lines.append(f"pto.texpands ins(%x : f32) outs(%t0 : {kind})")
    for n in range(1, count):
        lines.append(f"%t{n} = pto.alloc_tile : {kind}")
        lines.append(f"pto.tadd ins(%t{n - 1}, %t{n - 1} : {kind}, {kind}) outs(%t{n} : {kind})")
    return "\n".join(["func.func @f() {", *lines, "return", "}"])


def decisions(count: int) -> str:
    """A kernel that lists requests, without a loop, as models that are unrolled have them."""
    head = ", ".join(f"%{name}: {ELEMENT}" for name in LISTED)
    ends = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    each = (DECISION.replace("_N", f"_{n}").replace(" N ", f" {n} ") for n in range(count))
    lines = [f"func.func @f({head}, %requests: index, %least: index) {{", *ends, *each]
    return "\n".join([*lines, "return", "}"])
