"""Flags in all iterations but the first or the last, as compilers put them in.

They are set and waited for in pairs only where branches go as the number of the iteration says.
"""

from __future__ import annotations

from itertools import product

import pytest

import ptokit as pto
from fuzz.scale import sampled

VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<8x64xf32>"
TILE = "!pto.tile_buf<vec, 8x64xf32>"
WAIT_IN = "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]"
WAIT_OUT = "pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>]"
SET_IN = "pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]"
SET_OUT = "pto.set_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID1>]"
NEXT = f"scf.if %later {{\n{SET_IN}\n}}"
KERNEL = f"""\
func.func @squares(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %count: i32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %true = arith.constant true
  %n = arith.index_cast %count : i32 to index
  %v = pto.make_tensor_view %x, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}
  %w = pto.make_tensor_view %y, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}
  %a = pto.alloc_tile addr = 0 : {TILE}
  %b = pto.alloc_tile addr = 2048 : {TILE}
  scf.for %i = %c0 to %n step %c1 {{
    %row = arith.muli %i, %c8 : index
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %q = pto.partition_view %w, offsets = [%row, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %is_first = arith.cmpi eq, %i, %c0 : index
    %not_first = arith.xori %is_first, %true : i1
    scf.if %not_first {{
      {WAIT_IN}
    }}
    pto.tload ins(%p : {PART}) outs(%a : {TILE})
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    scf.if %not_first {{
      {WAIT_OUT}
    }}
    pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%b : {TILE})
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    %after = arith.addi %i, %c1 : index
    %later = arith.cmpi slt, %after, %n : index
    {NEXT}
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%b : {TILE}) outs(%q : {PART})
    {SET_OUT}
  }}
  %some = arith.cmpi slt, %c0, %n : index
  scf.if %some {{
    {WAIT_OUT}
  }}
  return
}}
"""


def found(text: str, target: str = "a2a3") -> set[str]:
    return {finding.slug for finding in pto.loads(text).races(target)}


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("limit", sampled(["%count: i32", "%n: index"], 2))
def test_pairs_of_flags_by_the_iteration_are_in_order(limit: str, target: str) -> None:
    text = KERNEL.replace("%count: i32", limit)
    if limit.startswith("%n"):
        text = text.replace("  %n = arith.index_cast %count : i32 to index\n", "")
    assert found(text, target) == set()


PARTS = """\
  %c16 = arith.constant 16 : index
  %c15 = arith.constant 15 : index
  %whole = arith.index_cast %count : i32 to index
"""
ENDS = {
    "whole parts": "%n = arith.divsi %whole, %c16 : index",
    "parts": "%up = arith.addi %whole, %c15 : index\n  %n = arith.divsi %up, %c16 : index",
    "ceildiv": "%n = arith.ceildivsi %whole, %c16 : index",
    "product": "%n = arith.muli %whole, %c16 : index",
    "without the ends": "%n = arith.subi %whole, %c16 : index",
    "both": "%o = arith.index_cast %other : i32 to index\n  %n = arith.muli %whole, %o : index",
    "least": "%n = arith.minsi %whole, %c15 : index",
    "two steps": "%d = arith.divsi %whole, %c8 : index\n  %n = arith.divsi %d, %c16 : index",
    "select": """\
%is_less = arith.cmpi slt, %whole, %c15 : index
  %n = arith.select %is_less, %whole, %c15 : index""",
    "truth value": "%n = arith.select %is_short, %c15, %whole : index",
    "branch": """\
%is_less = arith.cmpi slt, %whole, %c15 : index
  %n = scf.if %is_less -> (index) {
    %half = arith.divsi %whole, %c8 : index
    scf.yield %half : index
  } else {
    scf.yield %c15 : index
  }""",
    "memory": """\
%read = pto.load_scalar %counts[%c1] : !pto.ptr<i32> -> i32
  %n = arith.index_cast %read : i32 to index""",
    "parts in memory": """\
%read = pto.load_scalar %counts[%c1] : !pto.ptr<i32> -> i32
  %all = arith.index_cast %read : i32 to index
  %n = arith.divsi %all, %c16 : index""",
}
GIVEN = "%count: i32"


def ended(how: str, text: str = KERNEL) -> str:
    """The same kernel where the end of the loop is computed so."""
    args = f"{GIVEN}, %other: i32, %is_short: i1, %counts: !pto.ptr<i32>"
    computed = PARTS + "  " + ENDS[how]
    cast = "  %n = arith.index_cast %count : i32 to index"
    return text.replace(GIVEN, args).replace(cast, computed)


@pytest.mark.parametrize("how", sampled(ENDS, 4))
def test_pairs_of_flags_are_in_order_where_the_end_is_computed(how: str) -> None:
    assert found(ended(how)) == set()


@pytest.mark.parametrize("how", sampled([*ENDS][1:], 4))
def test_a_missing_wait_is_found_where_the_end_is_computed(how: str) -> None:
    assert "hazard" in found(ended(how, KERNEL.replace(WAIT_IN, "")))


TILES = """\
  %c7 = arith.constant 7 : index
  %c63 = arith.constant 63 : index
  %high = arith.index_cast %count : i32 to index
  %wide = arith.index_cast %other : i32 to index
  %up = arith.addi %high, %c7 : index
  %down = arith.divsi %up, %c8 : index
  %right = arith.addi %wide, %c63 : index
  %across = arith.divsi %right, %c64 : index
  %n = arith.muli %down, %across : index
"""
OF_TILE = """\
    %at_row = arith.remsi %i, %down : index
    %row = arith.muli %at_row, %c8 : index
    %at_col = arith.divsi %i, %down : index
    %col = arith.muli %at_col, %c64 : index
"""


@pytest.mark.parametrize(
    ("wait", "some"), [(WAIT_IN, set[str]()), ("", {"hazard", "flag-left", "flag-set-twice"})]
)
def test_tiles_of_an_array_of_two_given_extents_are_whole(wait: str, some: set[str]) -> None:
    """Each extent is rounded up to whole tiles, and with other numbers a tile leaves its array."""
    text = KERNEL.replace(GIVEN, f"{GIVEN}, %other: i32").replace(WAIT_IN, wait)
    text = text.replace("  %n = arith.index_cast %count : i32 to index\n", TILES)
    text = text.replace("    %row = arith.muli %i, %c8 : index\n", OF_TILE)
    text = text.replace("offsets = [%row, %c0]", "offsets = [%row, %col]")
    text = text.replace(
        "[%c1024, %c64], strides = [%c64, %c1]", "[%high, %wide], strides = [%wide, %c1]"
    )
    assert found(text) == some


@pytest.mark.parametrize(
    ("how", "first"), sampled(product(["memory", "whole parts"], ["%c2", "%c0"]), 2)
)
def test_two_loops_are_as_long_as_one_another_or_each_as_it_can(how: str, first: str) -> None:
    """The second takes a larger step, and the first wait hangs on whether there are iterations."""
    again = """\
  %c2 = arith.constant 2 : index
  scf.for %j = FIRST to %n step %c8 {
    %is_start = arith.cmpi eq, %j, FIRST : index
    %goes_on = arith.xori %is_start, %true : i1
    scf.if %goes_on {
      pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID2>]
    }
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID2>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID2>]
    %next = arith.addi %j, %c8 : index
    %is_more = arith.cmpi slt, %next, %n : index
    scf.if %is_more {
      pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID2>]
    }
  }
  return
"""
    text = KERNEL.replace("  return\n", again.replace("FIRST", first))
    assert found(ended(how, text)) <= {"redundant-synchronisation"}
    broken = text.replace("slt, %next, %n", "sle, %next, %n")
    assert "flag-left" in found(ended(how, broken))


@pytest.mark.parametrize("how", sampled(["memory", "whole parts"], 2))
def test_what_nothing_comes_to_is_not_asked_for(how: str) -> None:
    """A branch that no number takes leaves the others as they are."""
    dead = f"scf.if %never {{\n{WAIT_IN}\n}}\n    {SET_OUT}"
    text = KERNEL.replace("%true = arith", "%never = arith.constant false\n  %true = arith")
    assert found(ended(how, text.replace(SET_OUT, dead))) == set()


@pytest.mark.parametrize("how", sampled(["parts", "argument"], 2))
@pytest.mark.parametrize(("more", "some"), [("slt", set[str]()), ("sle", {"flag-left"})])
def test_other_loops_are_as_long_as_the_argument_says(more: str, some: set[str], how: str) -> None:
    """A loop that goes on while its counter is less."""
    text = KERNEL[: KERNEL.index("  %some =")].replace("slt, %after", f"{more}, %after")
    text = text.replace(
        "  scf.for %i = %c0 to %n step %c1 {",
        """\
  %end = scf.while (%at = %c0) : (index) -> index {
    %again = arith.cmpi slt, %at, %n : index
    scf.condition(%again) %at : index
  } do {
  ^bb0(%i: index):""",
    )
    text = text[: text.rindex("  }")] + "    scf.yield %after : index\n  }\n"
    text = text.replace(SET_OUT, f"{SET_OUT}\n    {WAIT_OUT}").replace(
        f"    scf.if %not_first {{\n      {WAIT_OUT}\n    }}\n", ""
    )
    text += "  return\n}\n"
    if how == "parts":
        text = ended("whole parts", text)
    assert found(text) == some


ROTATING = f"""\
func.func @rotating(%x: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %v = pto.make_tensor_view %x, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}
  %a = pto.alloc_tile addr = 0 : {TILE}
  %b = pto.alloc_tile addr = 2048 : {TILE}
  pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
  scf.for %i = %c0 to %n step %c1 {{
    %row = arith.muli %i, %c8 : index
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c64] : {VIEW} -> {PART}
    %id = arith.remui %i, %c2 : index
    %is_even = arith.cmpi eq, %id, %c0 : index
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %id]
    scf.if %is_even {{
      pto.tload ins(%p : {PART}) outs(%a : {TILE})
    }} else {{
      pto.tload ins(%p : {PART}) outs(%b : {TILE})
    }}
    pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %id]
    scf.if %is_even {{
      pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})
    }} else {{
      pto.tmul ins(%b, %b : {TILE}, {TILE}) outs(%b : {TILE})
    }}
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %id]
  }}
  pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]
  return
}}
"""


@pytest.mark.parametrize(("other", "some"), [("%b", set[str]()), ("%a", {"hazard"})])
def test_buffers_and_flags_rotate_together(other: str, some: set[str]) -> None:
    """Which buffer a branch loads is the number of the iteration, as the flag is."""
    before, after = ROTATING.split("outs(%b", 1)
    assert found(f"{before}outs({other}{after}") == some


def rotating(slots: int, shape: str) -> str:
    """A ring of so many tiles and flags, one of them in each iteration."""
    ids = range(slots)
    tiles = [
        f"%at{n} = arith.constant {2048 * n} : i64\n%t{n} = pto.alloc_tile addr = %at{n} : {TILE}"
        f"\n{SET_IN.replace('ID1', f'ID{n}')}"
        for n in ids
    ]
    ways = [
        f"%is{n} = arith.cmpi eq, %id, %c{n} : index\nscf.if %is{n} {{\n"
        f"pto.wait_flag{shape}[<PIPE_V>, <PIPE_MTE2>, %id]\n"
        f"pto.tload ins(%p : {PART}) outs(%t{n} : {TILE})\n"
        f"pto.set_flag{shape}[<PIPE_MTE2>, <PIPE_V>, %id]\n"
        f"pto.wait_flag{shape}[<PIPE_MTE2>, <PIPE_V>, %id]\n"
        f"pto.tmul ins(%t{n}, %t{n} : {TILE}, {TILE}) outs(%t{n} : {TILE})\n"
        f"pto.set_flag{shape}[<PIPE_V>, <PIPE_MTE2>, %id]\n}}"
        for n in ids
    ]
    ways = [w if shape else w.replace("%id]", f"<EVENT_ID{n}>]") for n, w in enumerate(ways)]
    numbers = [f"%c{n} = arith.constant {n} : index" for n in {*range(slots + 1), 8, 64, 1024}]
    waits = [WAIT_IN.replace("ID1", f"ID{n}") for n in ids]
    return "\n".join(
        (
            "func.func @ring(%x: !pto.ptr<f32>, %count: i32) {",
            *numbers,
            "%n = arith.index_cast %count : i32 to index",
            f"%v = pto.make_tensor_view %x, shape = [%c1024, %c64], strides = [%c64, %c1] : {VIEW}",
            f"%p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c64] : {VIEW} -> "
            f"{PART}",
            *tiles,
            "scf.for %i = %c0 to %n step %c1 {",
            f"%id = arith.remui %i, %c{slots} : index",
            *ways,
            "}",
            *waits,
            "return\n}\n",
        )
    )


@pytest.mark.parametrize("shape", ["", "_dyn"])
@pytest.mark.parametrize("slots", sampled([7, 3, 4], 3))
def test_rings_of_many_buffers_come_round_again(slots: int, shape: str) -> None:
    """The last buffer is loaded again after more than five iterations."""
    text, last = rotating(slots, shape), slots - 1
    assert found(text) == set()
    event = "%id" if shape else f"<EVENT_ID{last}>"
    wait = f"pto.wait_flag{shape}[<PIPE_V>, <PIPE_MTE2>, {event}]\n"
    before, after = text.rsplit(wait + "pto.tload", 1)
    assert "hazard" in found(f"{before}pto.tload{after}")


@pytest.mark.parametrize(("wait", "some"), [(WAIT_OUT, set[str]()), ("", {"hazard"})])
def test_what_is_left_after_the_whole_parts_is_looked_at(wait: str, some: set[str]) -> None:
    """A remainder is added behind the loop: the flag of the last iteration is waited for once."""
    text = KERNEL[: KERNEL.index("  %some =")]
    tail = f"""\
  %rest = arith.remsi %whole, %c16 : index
  %is_rest = arith.cmpi ne, %rest, %c0 : index
  %some = arith.cmpi slt, %c0, %n : index
  scf.if %is_rest {{
    scf.if %some {{
      {wait}
    }}
    pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%b : {TILE})
  }} else {{
    scf.if %some {{
      {WAIT_OUT}
    }}
  }}
  return
}}
"""
    assert found(ended("whole parts", text + tail)) - {"flag-left"} == some


@pytest.mark.parametrize(
    ("old", "new", "slug"),
    [
        (WAIT_IN, "", "hazard"),  # loads overwrite what is multiplied
        ("slt, %after, %n", "slt, %i, %n", "flag-left"),  # the last one, too, sets the flag
        ("eq, %i, %c0", "eq, %i, %c1", "pipe-deadlock"),  # the first one waits, too
        ("slt, %c0, %n", "sle, %n, %c0", "flag-left"),
    ],
)
def test_a_pair_that_does_not_fit_is_found(old: str, new: str, slug: str) -> None:
    assert slug in found(KERNEL.replace(old, new))


@pytest.mark.parametrize(
    "what", [f"pto.tmul ins(%b, %b : {TILE}, {TILE}) outs(%a : {TILE})", WAIT_IN]
)
def test_what_no_short_loop_comes_to_is_looked_at_nevertheless(what: str) -> None:
    rare = f"%far = arith.cmpi eq, %i, %c64 : index\nscf.if %far {{\n{what}\n}}\n{SET_OUT}"
    assert found(KERNEL.replace(f"    {SET_OUT}", rare)) & {"hazard", "pipe-deadlock"}
