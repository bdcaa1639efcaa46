"""What goes wrong while a program runs is said by both engines in the same words.

Flags too, of which nothing is left from one block to the next; tiles are named as the text does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from native.outcomes import refused

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

ENGINES = ("reference", "native")
T = "!pto.tile_buf<vec, 8x16xf32>"
I = "!pto.tile_buf<vec, 8x16xi32>"  # noqa: E741
WIDE = "!pto.tile_buf<vec, 8x64xf32>"
ANY = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=?, v_col=16>"
PART = "!pto.partition_tensor_view<?x?xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"


def loop(body: str, iterations: int = 4) -> str:
    """A function of tiles and an array whose body runs for %k = 0, 1, ..."""
    numbers = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 8, 16, 32))
    head = f"%wide: {WIDE}, %index: {I}, %x: !pto.ptr<f32>, %out: {T}"
    return f"""
func.func @f({head}) {{
{numbers}  %many = arith.constant {iterations} : index
  %old = pto.alloc_tile : {T}
  scf.for %k = %c0 to %many step %c1 {{
{body}
  }}
  return
}}
"""


LOAD = f"""
    %v = pto.make_tensor_view %x, shape = [%c32, %c16], strides = [%c16, %c1] : {VIEW}
    %r = arith.muli %k, %c8 : index
    %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}
    pto.tload ins(%p : {PART}) outs(%out : {T})
"""
EXTRACT = f"""
    pto.textract ins(%wide, %c0, %c : {WIDE}, index, index) outs(%out : {T})
"""
COLUMN = "    %c = arith.muli %k, %c32 : index\n"
MOVED = f"""
    %first = arith.index_cast %c0 : index to i64
    %own = pto.tassign %wide, %first : {WIDE} -> {WIDE}
    pto.tmov ins(%wide : {WIDE}) outs(%own : {WIDE})
    %a = arith.index_cast %n : index to i64
    %t = pto.tassign %wide, %a : {WIDE} -> {WIDE}
    pto.textract ins(%t, %c0, %c0 : {WIDE}, index, index) outs(%out : {T})
"""

READ = f"    %seen = pto.tgetval ins(%out, %c0 : {T}, index) outs : f32\n"

# The body of a loop; the target; the slug, and the iteration that says it.
FAULTS: dict[str, tuple[str, str, str, int]] = {
    "window": (COLUMN + EXTRACT, "cpu", "window-out-of-bounds", 2),
    "negative window": (
        "    %c = arith.subi %c0, %k : index\n" + EXTRACT,
        *("cpu", "window-out-of-bounds", 1),
    ),
    "misaligned window": (
        "    %c = arith.muli %k, %c1 : index\n" + EXTRACT,
        *("a2a3", "offset-misaligned", 1),
    ),
    "past the array": (LOAD, "cpu", "global-out-of-bounds", 2),
    "never written": (
        f"    pto.tadd ins(%old, %out : {T}, {T}) outs(%out : {T})\n{READ}",
        *("cpu", "uninitialised-read", 0),
    ),
    "written in some iterations": (
        f"""
    %is = arith.cmpi eq, %k, %c2 : index
    %new = pto.alloc_tile : {T}
    scf.if %is {{
    }} else {{
      pto.textract ins(%wide, %c0, %c0 : {WIDE}, index, index) outs(%new : {T})
    }}
    pto.tadd ins(%new, %new : {T}, {T}) outs(%out : {T})
{READ}""",
        *("cpu", "uninitialised-read", 2),
    ),
    "more rows than were written": (
        f"""
    %r = arith.addi %k, %c3 : index
    %part = pto.alloc_tile valid_row = %c3 : {ANY}
    pto.subview ins(%old : {T}) outs(%part : {ANY})
    %all = pto.alloc_tile valid_row = %r : {ANY}
    pto.subview ins(%old : {T}) outs(%all : {ANY})
    pto.textract ins(%wide, %c0, %c0 : {WIDE}, index, index) outs(%part : {ANY})
    pto.trelu ins(%all : {ANY}) outs(%all : {ANY})
    %last = arith.addi %k, %c2 : index
    %element = arith.muli %last, %c16 : index
    %seen = pto.tgetval ins(%all, %element : {ANY}, index) outs : f32
""",
        *("cpu", "uninitialised-read", 1),
    ),
    "too many rows": (
        f"""
    %r = arith.addi %k, %c8 : index
    %t = pto.alloc_tile valid_row = %r : {ANY}
""",
        *("cpu", "tile-shape", 1),
    ),
    "gathered from outside": (
        f"    pto.tgather ins(%out, %index : {T}, {I}) outs(%old : {T})",
        *("a5", "gather-out-of-bounds", 0),
    ),
    "gathered from outside on a2a3": (
        f"""
    %tmp = pto.alloc_tile : {I}
    pto.tgather ins(%out, %index, %tmp : {T}, {I}, {I}) outs(%old : {T})
""",
        *("a2a3", "gather-out-of-bounds", 0),
    ),
    "misaligned address": (
        "    %n = arith.muli %k, %c16 : index\n" + MOVED,
        *("cpu", "address-misaligned", 1),
    ),
    "address outside": (
        "    %n = arith.muli %k, %n0 : index\n" + MOVED,
        *("cpu", "address-out-of-range", 1),
    ),
    "negative address": (
        "    %n = arith.muli %k, %n1 : index\n" + MOVED,
        *("cpu", "address-out-of-range", 1),
    ),
    "nothing was put there": (
        "    %n = arith.muli %k, %n2 : index\n" + MOVED + READ,
        *("cpu", "uninitialised-read", 1),
    ),
    "division by zero": (
        "    %d = arith.subi %c2, %k : index\n    %q = arith.divsi %c8, %d : index",
        *("cpu", "division-by-zero", 2),
    ),
    "no step": (
        """
    %s = arith.subi %c3, %k : index
    scf.for %j = %c0 to %c8 step %s {
    }
""",
        *("cpu", "operand-value", 3),
    ),
    "event never set": (
        "    pto.wait_flag[#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]",
        *("cpu", "event-not-set", 0),
    ),
    "unknown instruction": ("    pto.unheard_of", "cpu", "unknown-op", 0),
}
FAR = {"n0": 1 << 24, "n1": -4096, "n2": 1 << 16}


def arrays() -> dict[str, Any]:  # Any: arrays and numbers
    random = np.random.default_rng(3)
    return {
        "wide": random.standard_normal((8, 64)).astype(np.float32),
        "index": np.arange(100, 228, dtype=np.int32).reshape(8, 16),
        "x": random.standard_normal(300).astype(np.float32),
        "out": random.standard_normal((8, 16)).astype(np.float32),
    }


def said(text: str, engine: str, target: str, blocks: int = 1, **given: Any) -> str:
    """The error of a run, as a terminal shows it."""
    with pytest.raises(pto.PtoError) as problem:
        pto.loads(text, "f.pto").execute(given, engine=engine, target=target, blocks=blocks)
    return str(problem.value)


@pytest.mark.parametrize("name", FAULTS)
def test_both_engines_say_the_same(name: str) -> None:
    body, target, slug, iteration = FAULTS[name]
    used = {n: v for n, v in FAR.items() if f"%{n}" in body}
    constants = "".join(f"    %{n} = arith.constant {v} : index\n" for n, v in used.items())
    text = loop(constants + body)
    expected, got = (said(text, e, target, **arrays()) for e in ENGINES)
    assert expected == got
    assert f"[{slug}]" in got
    assert f"with %k = {iteration}" in got


@pytest.mark.parametrize("iteration", range(2))
def test_a_fault_in_a_later_iteration(iteration: int) -> None:
    """Four windows fit: nothing is wrong, or the fifth iteration is."""
    text = loop(COLUMN.replace("%c32", "%c16") + EXTRACT, iterations=4 + iteration)
    if iteration == 0:
        expected, got = (pto.loads(text).run(engine=e, **arrays())["out"] for e in ENGINES)
        assert np.array_equal(expected, got)
    else:
        expected, got = (said(text, e, "cpu", **arrays()) for e in ENGINES)
        assert expected == got
        assert "with %k = 4" in got


GRID = f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %block = pto.get_block_idx
  %k = arith.index_cast %block : i64 to index
  %r = arith.muli %k, %c8 : index
  %vx = pto.make_tensor_view %x, shape = [%c64, %c16], strides = [%c16, %c1] : {VIEW}
  %vy = pto.make_tensor_view %y, shape = [%c64, %c16], strides = [%c16, %c1] : {VIEW}
  %px = pto.partition_view %vx, offsets = [%r, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}
  %py = pto.partition_view %vy, offsets = [%r, %c0], sizes = [%c8, %c16] : {VIEW} -> {PART}
  %t = pto.alloc_tile : {T}
  pto.tload ins(%px : {PART}) outs(%t : {T})
  pto.tstore ins(%t : {T}) outs(%py : {PART})
  return
}}
"""


@pytest.mark.parametrize("rows", [8, 20, 24, 39])
def test_the_first_block_that_fails_is_named(rows: int) -> None:
    x = np.zeros(rows * 16, np.float32)
    expected, got = (said(GRID, e, "cpu", blocks=6, x=x) for e in ENGINES)
    assert expected == got
    assert f"in block {rows // 8}" in got


MAP = "!pto.conv_tile<nc1hwc0, 1x1x3x4x8xf32>"
LEFT = (
    "!pto.tile_buf<loc=left, dtype=f32, rows=16, cols=16, v_row=?, v_col=16,"
    " blayout=col_major, slayout=row_major>"
)
REGISTERS = f"""
func.func @f(%map: {MAP}, %rows: index, %m: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %c1 step %c1 {{
    %n = arith.addi %rows, %k : index
    %first = arith.addi %m, %k : index
    %l = pto.alloc_tile valid_row = %n : {LEFT}
    pto.timg2col ins(%map, %first, %c0 : {MAP}, index, index) outs(%l : {LEFT})
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("rows", "position", "slug"),
    [(16, 0, "register-not-set"), (16, -1, "operand-value"), (0, -1, "operand-value"), (0, 0, "")],
)
def test_rules_come_before_registers(rows: int, position: int, slug: str) -> None:
    """An instruction that breaks a rule is not asked for its registers, nor one without output."""
    map_ = np.zeros((1, 1, 3, 4, 8), np.float32)
    given: dict[str, Any] = {"map": map_, "rows": rows, "m": position}
    if slug:
        expected, got = (said(REGISTERS, e, "a5", **given) for e in ENGINES)
        assert expected == got
        assert f"[{slug}]" in got
    else:
        for engine in ENGINES:
            pto.loads(REGISTERS).run(engine=engine, target="a5", **given)


NOTHING = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=32, v_row={}, v_col=32>"


@every("valid", ["0", "?"])
def test_a_sum_of_no_rows_leaves_what_was_there(valid: str, engine: str) -> None:
    """Whether there are rows is known when the program is compiled, or only when it runs."""
    source, one = NOTHING.format(valid), NOTHING.format(1)
    text = f"""
func.func @f(%rows: index, %out: {one}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %c1 step %c1 {{
    %n = arith.addi %rows, %k : index
    %x = pto.alloc_tile{" valid_row = %n" if valid == "?" else ""} : {source}
    pto.tcolsum ins(%x : {source}) outs(%out : {one})
  }}
  return
}}
"""
    before = np.arange(32, dtype=np.float32).reshape(1, 32)
    found = pto.loads(text).run(engine=engine, rows=0, out=before)
    assert np.array_equal(found.get("out", before), before)


TILE = "!pto.tile_buf<vec, 1x64xf32>"
TEXT = f"""func.func @f(%p: !pto.ptr<f32>) {{
  %inner = pto.alloc_tile : {TILE}
  %result = scf.for %i = 0 to 1 step 1 iter_args(%carried = %inner) -> ({TILE}) {{
    scf.yield %inner : {TILE}
  }}
  %v = pto.tgetval ins(%NAME, 0 : {TILE}, index) outs : f32
  return
}}
"""


@every("name", ["inner", "result"])
def test_a_tile_that_a_loop_passes_on_keeps_its_name(engine: str, name: str) -> None:
    program = pto.loads(TEXT.replace("NAME", name))
    with pytest.raises(pto.PtoError, match=f"%{name} has undefined elements that are read"):
        program.run(p=np.zeros(64, np.float32), engine=engine)


OPEN = "!pto.tile_buf<vec, 8x64xf32, valid=?x?>"
RESIZED = f"""func.func @f(%n: index) {{
  %open = pto.alloc_tile valid_row = %n valid_col = %n : {OPEN}
  pto.set_validshape %open, %n, %n : {OPEN}
  pto.tadd ins(%open, %open : {OPEN}, {OPEN}) outs(%open : {OPEN})
  %v = pto.tgetval ins(%open, %n : {OPEN}, index) outs : f32
  return
}}
"""


def test_a_tile_whose_valid_region_is_set_keeps_its_name(engine: str) -> None:
    with pytest.raises(pto.PtoError, match="%open has undefined elements that are read"):
        pto.loads(RESIZED).run(n=4, engine=engine)


PAIR = "[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"


def flagged(body: str) -> pto.Program:
    return pto.loads(f"""\
func.func @f(%x: !pto.ptr<f32>, %id: index) {{
{body}
  return
}}""")


FLAGGED = {"x": np.zeros(4, np.float32), "id": 2}
LEFT_UP = flagged(f"  pto.set_flag{PAIR}")
IN_A_LOOP = f"""\
  scf.for %i = 0 to 3 step 1 {{
    pto.set_flag{PAIR}
    pto.wait_flag{PAIR}
    pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %i]
    pto.wait_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %i]
  }}"""


def test_each_block_and_each_run_begins_with_flags_that_are_down() -> None:
    made = LEFT_UP.compile(engine="native", blocks=3)
    for _ in range(3):
        made.execute(FLAGGED)


def test_flags_in_loops_call_nobody_back() -> None:
    from ptokit.engines.native.compile import compile_program
    from ptokit.isa.model.targets import CPU_TARGET
    from ptokit.values.fixpipe import CPU_READING

    bound = flagged(IN_A_LOOP).compile(engine="native").bound(FLAGGED)
    assert not compile_program(bound.sole, CPU_TARGET, CPU_READING, 1).plan.by_reference


@every(
    "body",
    [
        f"  pto.set_flag{PAIR}\n  pto.set_flag{PAIR}",
        f"  pto.wait_flag{PAIR}",
        f"  pto.set_flag{PAIR}\n  pto.wait_flag{PAIR}\n  pto.wait_flag{PAIR}",
        IN_A_LOOP.replace(f"    pto.wait_flag{PAIR}\n", ""),
        "  pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %id]\n"
        "  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]",
    ],
)
def test_both_engines_report_the_same(body: str) -> None:
    assert refused(flagged(body), FLAGGED).slug.startswith("event-")
