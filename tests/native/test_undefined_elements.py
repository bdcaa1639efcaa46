"""Operands whose valid region is smaller than the result's: the rest of the result is undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptokit as pto

ENGINES = ("native", "reference")
CHIPS = ("a2a3", "a5")
ROW = "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=16, v_row=?, v_col=?>"
SQUARE = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=?, v_col=?>"
FLAGS = {
    "in": "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
    "  pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
    "out": "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
    "  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]",
}


def loaded(*lines: str, out: str, kind: str, rows: int, cols: int) -> pto.Program:
    """Two of 16 columns of a row are loaded, then come `lines`; a part of `out` is stored."""
    view, part = "!pto.tensor_view<?x?xf32>", f"!pto.partition_tensor_view<{rows}x{cols}xf32>"
    tiles = "\n  ".join(
        f"%{name} = pto.alloc_tile addr = %a{1024 * place} valid_row = %c{r} valid_col = %c{c}"
        f" : {type_}"
        for place, (name, r, c, type_) in enumerate(
            [
                ("loaded", 1, 2, ROW),
                ("few", 1, 2, ROW),
                ("all", 1, 16, ROW),
                ("sum", 1, 16, ROW),
                ("grid", 16, 16, SQUARE),
                ("turned", 16, 16, SQUARE),
                ("scratch", 16, 16, SQUARE),
            ]
        )
    )
    names = "\n  ".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 16))
    places = "\n  ".join(f"%a{1024 * n} = arith.constant {1024 * n} : i64" for n in range(7))
    body = "\n  ".join(lines)
    return pto.loads(f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  {names}
  {places}
  %one = arith.constant 1.0 : f32
  %from = pto.make_tensor_view %x, shape = [%c1, %c2], strides = [%c2, %c1] : {view}
  %to = pto.make_tensor_view %y, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1] : {view}
  %p = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %c2]
     : {view} -> !pto.partition_tensor_view<1x2xf32>
  %q = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}]
     : {view} -> {part}
  {tiles}
  pto.tload ins(%p : !pto.partition_tensor_view<1x2xf32>) outs(%loaded : {ROW})
  {FLAGS["in"]}
  pto.tabs ins(%loaded : {ROW}) outs(%few : {ROW})
  pto.texpands ins(%one : f32) outs(%all : {ROW})
  pto.barrier_sync[<TVEC>]
  {body}
  {FLAGS["out"]}
  pto.tstore ins(%{out} : {kind}) outs(%q : {part})
  pto.barrier <PIPE_ALL>
  return
}}
""")


def line(name: str, ins: str, outs: str) -> str:
    """An instruction, and what lets the next one read its result."""
    square = ("grid", "turned", "scratch")

    def typed(words: str) -> str:
        parts = words.split()
        types = ", ".join({"one": "f32"}.get(p, SQUARE if p in square else ROW) for p in parts)
        return f"{', '.join('%' + p for p in parts)} : {types}"

    made = f"pto.{name} ins({typed(ins)}) outs({typed(outs)})"
    return f"{made}\n  pto.barrier_sync[<TVEC>]"


SMALLER = ".valid.cols is 2 and dst.valid.cols is 16"
X: Any = np.array([[3.0, 5.0]], np.float32)
MORE = line("tmax", "all few", "sum")


def part(of: str, kind: str, rows: int, cols: int) -> tuple[str, str]:
    """A window of a tile that has only what was computed from loaded elements."""
    made = f"!pto.tile_buf<loc=vec, dtype=f32, rows={rows}, cols={cols}, v_row={rows}, v_col={cols}"
    return f"%part = pto.subview %{of}[%c0, %c0] sizes [{rows}, {cols}] : {kind} -> {made}>", (
        f"{made}>"
    )


CASES: dict[str, tuple[list[str], tuple[str, str, int, int], Any]] = {
    "a choice": ([MORE], ("sum", ROW, 1, 2), [[3, 5]]),
    "a formula of it": (
        [MORE, line("tadds", "sum one", "sum"), line("tmul", "sum all", "sum")],
        ("sum", ROW, 1, 2),
        [[4, 6]],
    ),
    "rows of it": ([line("tcolexpand", "few", "grid")], ("grid", SQUARE, 16, 2), [[3, 5]] * 16),
    "what is the largest of its columns": (
        [line("tcolexpand", "few", "grid"), line("tcolmax", "grid", "sum")],
        ("sum", ROW, 1, 2),
        [[3, 5]],
    ),
    "its transpose": (
        [line("tcolexpand", "few", "grid"), line("ttrans", "grid scratch", "turned")],
        ("turned", SQUARE, 2, 16),
        [[3] * 16, [5] * 16],
    ),
}


@pytest.mark.parametrize("target", CHIPS)
@pytest.mark.parametrize("case", CASES)
def test_what_was_loaded_comes_through(case: str, target: str, engine: str) -> None:
    lines, (of, kind, rows, cols), expected = CASES[case]
    window, made = part(of, kind, rows, cols)
    program = loaded(*lines, window, out="part", kind=made, rows=rows, cols=cols)
    made = program.compile(target=target, engine=engine)
    run = made.execute({"x": X, "y": np.zeros((rows, cols), np.float32)})
    np.testing.assert_array_equal(run.outputs["y"], expected)
    assert {w.slug for w in run.warnings} == {"shape"}
    assert all(str(w.seen).endswith(SMALLER) for w in run.warnings)
    assert not any(found.is_error for found in program.races(target))
    (verdict,) = program.verdicts(target)
    assert [d.seen for d in verdict.diagnostics] == [w.seen for w in run.warnings]
    assert "results of undefined elements are undefined" in verdict.reason


def test_the_cpu_simulator_refuses_other_regions(engine: str) -> None:
    program = loaded(MORE, out="all", kind=ROW, rows=1, cols=16)
    with pytest.raises(pto.PtoError, match=r"\[shape\]"):
        program.run(target="cpu", engine=engine, x=X, y=np.zeros((1, 16), np.float32))


def in_a_loop(source: str) -> pto.Program:
    """The result has 8 rows in the first iteration and 16 in the second, a source has 8."""
    kind = "!pto.tile_buf<vec, 16x16xf32, valid={}>".format
    few, all_, open_ = kind("8x16"), kind("16x16"), kind("?x16")
    return pto.loads(f"""
func.func @f(%a: {all_}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %few = pto.alloc_tile : {few}
  pto.texpands ins(%one : f32) outs(%few : {few})
  scf.for %i = %c0 to %c2 step %c1 {{
    %more = arith.muli %i, %c8 : index
    %rows = arith.addi %more, %c8 : index
    %d = pto.alloc_tile valid_row = %rows : {open_}
    {source.format(few=few, open=open_)}
  }}
  return
}}
""")


def test_what_is_too_small_in_one_iteration_is_a_warning() -> None:
    """So does the run, which checks each iteration."""
    program = in_a_loop("pto.tabs ins(%few : {few}) outs(%d : {open})")
    (verdict,) = program.verdicts("a5")
    (found,) = verdict.diagnostics
    assert (found.is_error, found.slug) == (False, "shape")
    assert "iteration 1" in str(found.seen)
    assert "results of undefined elements are undefined" in verdict.reason
    for engine in ENGINES:
        made = program.compile(target="a5", engine=engine)
        assert [w.slug for w in made.execute({"a": np.zeros((16, 16), np.float32)}).warnings]
