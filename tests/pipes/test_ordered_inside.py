"""Instructions whose code waits for other pipes, and lets them wait: no flag has to say so."""

from __future__ import annotations

import itertools

import ptokit as pto
from every import every

TILE, LINE = "!pto.tile_buf<vec, 8x32xf32>", "!pto.tile_buf<vec, 1x8xi32>"
EACH = "!pto.tile_buf<vec, 8x32xi32>"
VIEW, LINE_VIEW = "!pto.tensor_view<8x32xf32>", "!pto.tensor_view<1x8xi32>"
EACH_VIEW = "!pto.tensor_view<8x32xi32>"


def flag(source: str, target: str) -> str:
    """The set and the wait of a flag between two pipes."""
    pair = f"[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID1>]"
    return f"  pto.set_flag{pair}\n  pto.wait_flag{pair}\n"


def program(moved: str, before: str, behind: str, *, rows: bool, scatter: bool) -> str:
    """Load indices, gather or scatter rows or elements, store what was gathered."""
    index, view, count = (LINE, LINE_VIEW, "%one") if rows else (EACH, EACH_VIEW, "%eight")
    width = "%eight" if rows else "%many"
    mode = "row" if rows else "elem"
    access = f"pto.mgather ins(%v, %i : {VIEW}, {index}) outs(%t : {TILE})"
    if scatter:
        access = f"pto.mscatter ins(%t, %i : {TILE}, {index}) outs(%v : {VIEW})"
    first = f"  pto.tload ins(%v : {VIEW}) outs(%t : {TILE})\n" if scatter else ""
    last = "" if scatter else f"  pto.tstore ins(%t : {TILE}) outs(%o : {VIEW})\n"
    return f"""\
func.func @{moved}(%x: !pto.ptr<f32>, %k: !pto.ptr<i32>, %y: !pto.ptr<f32>) {{
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %many = arith.constant 32 : index
  %v = pto.make_tensor_view %x, shape = [%eight, %many], strides = [%many, %one] : {VIEW}
  %o = pto.make_tensor_view %y, shape = [%eight, %many], strides = [%many, %one] : {VIEW}
  %n = pto.make_tensor_view %k, shape = [{count}, {width}], strides = [{width}, %one] : {view}
  %t = pto.alloc_tile : {TILE}
  %i = pto.alloc_tile : {index}
{first}  pto.tload ins(%n : {view}) outs(%i : {index})
{before}  {access} {{coalesce = #pto<coalesce {mode}>}}
{behind}{last}  return
}}
"""


# what orders the load of the indices before, and the store behind, for each unit of the access
UNRELATED = flag("MTE3", "MTE2")
ORDERS = {"none": (UNRELATED, UNRELATED), "V": (flag("MTE2", "V"), flag("V", "MTE3"))}
ORDERS["transfer"] = flag("MTE2", "MTE3"), flag("MTE2", "MTE3")


def ordered(target: str, how: str, *, rows: bool, scatter: bool) -> bool:
    """Flags of V are right everywhere.

    Code of A2/A3 needs none, but where it gathers rows: it does not wait for the indices' load.
    """
    return how == "V" or (target == "a2a3" and (scatter or not rows))


CASES = list(itertools.product(("a2a3", "a5"), ORDERS, (False, True), (False, True)))


@every(("target", "how", "rows", "scatter"), CASES)
def test_accesses_at_indices(target: str, how: str, rows: bool, scatter: bool) -> None:
    before, behind = ORDERS[how]
    text = program("moved", before, behind, rows=rows, scatter=scatter)
    found = {d.slug for v in pto.loads(text).verdicts(target, races=True) for d in v.diagnostics}
    assert ("hazard" not in found) is ordered(target, how, rows=rows, scatter=scatter)


L1 = "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>"
L0B = "!pto.tile_buf<right, 32x32xf16, slayout=col_major>"


@every(("pipe", "right"), [("MTE2", True), ("MTE3", False)])
@every("target", ["a2a3", "a5"])
def test_what_fills_l1_is_the_unit_that_loads_it(target: str, pipe: str, right: bool) -> None:
    text = f"""\
func.func @zeros(%m: {L1}, %r: {L0B}) {{
  pto.texpands ins(0.0 : f16) outs(%m : {L1})
{flag(pipe, "MTE1")}  pto.tmov ins(%m : {L1}) outs(%r : {L0B})
  return
}}
"""
    found = {d.slug for v in pto.loads(text).verdicts(target, races=True) for d in v.diagnostics}
    assert ("hazard" not in found) is right
