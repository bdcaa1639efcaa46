"""What no oracle sees of irregular instructions: text that is printed, published numbers."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from every import every

PRINTS = """\
func.func @f(%x: !pto.tile_buf<vec, 2x8xf32, valid=2x3>) {
  pto.tprint ins(%x : !pto.tile_buf<vec, 2x8xf32, valid=2x3>)
  return
}
"""
ENGINES = ("reference", "native")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_valid_region_is_printed(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([[1.5, -2, np.nan], [np.inf, 0.25, 1e4]], np.float32)
    pto.loads(PRINTS).execute({"x": x}, engine=engine)
    wanted = ["TPRINT 2x3", "  1.5000  -2.0000      nan", "     inf   0.2500 10000.0000", ""]
    assert capsys.readouterr().out.split("\n") == wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_random_numbers_are_those_of_philox(engine: str) -> None:
    """The first block of Philox4x32-10 for key 0 and counter 0, as its authors give it."""
    kind = "!pto.tile_buf<vec, 1x256xu32>"
    zeros = ", ".join(["%z"] * 6)
    text = f"""\
func.func @f(%x: {kind}) {{
  %z = arith.constant 0 : i32
  pto.trandom ins({zeros} : {", ".join(["i32"] * 6)}) outs(%x : {kind})
  return
}}
"""
    done = pto.loads(text).execute({"x": np.zeros((1, 256), np.uint32)}, engine=engine)
    block = [f"{int(n):08X}" for n in done.outputs["x"][0, ::64]]
    assert block == ["6627E8D5", "E169C58D", "BC57AC4C", "9B00DBD8"]


@every("target", ["a2a3", "a5"])
@every(
    ("words", "verdicts"),
    [
        ("", []),
        (" {coalesce = #pto<coalesce elem>}", []),
        (" {OOB = #pto<KIND_oob clamp>}", [("attribute", True)]),
        (" {OOB = #pto<KIND_oob clamp>, coalesce = #pto<coalesce elem>}", []),
    ],
)
@every("name", ["gather", "scatter"])
def test_elements_or_rows_must_be_said_with_other_modes(
    name: str, words: str, verdicts: list[tuple[str, bool]], target: str
) -> None:
    """The assembler wants to hear which one of every gather, too."""
    table, tile = "!pto.tensor_view<16x32xf32>", "!pto.tile_buf<vec, 16x32xf32>"
    ids = tile.replace("f32", "i32")
    said = words.replace("OOB", f"{name}Oob").replace("KIND", name)
    statement = f"ins(%v, %i : {table}, {ids}) outs(%t : {tile})"
    if name == "scatter":
        statement = f"ins(%t, %i : {tile}, {ids}) outs(%v : {table})"
    text = f"""func.func @f(%x: !pto.ptr<f32>, %i: {ids}, %t: {tile}) {{
  %rows = arith.constant 16 : index
  %cols = arith.constant 32 : index
  %one = arith.constant 1 : index
  %v = pto.make_tensor_view %x, shape = [%rows, %cols], strides = [%cols, %one] : {table}
  pto.m{name} {statement}{said}
  return
}}
"""
    program = pto.loads(text)
    by_headers = [(d.slug, True) for d in program.check(target, judge="headers") if d.is_error]
    assert by_headers == verdicts
    always = [("attribute", True)] if (name, words) == ("gather", "") else verdicts
    assert [(d.slug, d.is_error) for d in program.check(target)] == always
    assert program.check("cpu") == []


@every(("valid", "wrong"), [("?", []), ("8", ["shape"])])
@every("engine", ["reference", "native"])
def test_what_a_pattern_keeps_may_leave_columns_free_behind_a_question_mark(
    engine: str, valid: str, wrong: list[str]
) -> None:
    """Compilers cannot see it, only assertions of debug builds ask; what is kept is packed."""
    tile = "!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols={}, v_row=1, v_col={}>"
    wide, kept = tile.format(32, 16), tile.format(16, valid)
    given = "valid_col = %c8 " if valid == "?" else ""
    program = pto.loads(f"""
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %c8: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %from = pto.make_tensor_view %x, shape = [%c1, %c16], strides = [%c16, %c1]
       : !pto.tensor_view<1x16xf32>
  %to = pto.make_tensor_view %y, shape = [%c1, %c8], strides = [%c8, %c1]
       : !pto.tensor_view<1x8xf32>
  %in = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c1, %c16]
       : !pto.tensor_view<1x16xf32> -> !pto.partition_tensor_view<1x16xf32>
  %out = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c1, %c8]
       : !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
  %all = pto.alloc_tile : {wide}
  %some = pto.alloc_tile {given}: {kept}
  pto.tload ins(%in : !pto.partition_tensor_view<1x16xf32>) outs(%all : {wide})
  pto.tgather ins(%all, {{maskPattern = #pto.mask_pattern<P1010>}} : {wide}) outs(%some : {kept})
  pto.tstore ins(%some : {kept}) outs(%out : !pto.partition_tensor_view<1x8xf32>)
  return
}}
""")
    assert [d.slug for d in program.check("a2a3") if d.is_error] == wrong
    if not wrong:
        x = np.arange(16, dtype=np.float32)
        done = program.run(target="a2a3", engine=engine, x=x, y=np.zeros(8, np.float32), c8=8)
        np.testing.assert_array_equal(done["y"], x[1::2])
