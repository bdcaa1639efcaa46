"""What no oracle sees of irregular instructions: text that is printed, published numbers."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto

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


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(
    ("words", "verdicts"),
    [
        ("", []),
        (" {coalesce = #pto<coalesce elem>}", []),
        (" {OOB = #pto<KIND_oob clamp>}", [("attribute", True)]),
        (" {OOB = #pto<KIND_oob clamp>, coalesce = #pto<coalesce elem>}", []),
    ],
)
@pytest.mark.parametrize("name", ["gather", "scatter"])
def test_elements_or_rows_must_be_said_with_other_modes(
    name: str, words: str, verdicts: list[tuple[str, bool]], target: str
) -> None:
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
    assert [(d.slug, d.is_error) for d in pto.loads(text).check(target)] == verdicts
    assert pto.loads(text).check("cpu") == []
