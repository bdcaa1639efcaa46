"""`check --memory`: who lives where, as a table, as a picture and for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import ptokit as pto
from ptokit.tools.cli import main

FITS = """!t = !pto.tile_buf<vec, 128x128xf32>
func.func @f(%x: !t) {
  %one = arith.constant 1.0 : f32
  %a = pto.alloc_tile : !t
  pto.tadds ins(%x, %one : !t, f32) outs(%a : !t)
  %b = pto.alloc_tile : !t
  pto.tadd ins(%x, %a : !t, !t) outs(%b : !t)
  %c = pto.alloc_tile : !t
  pto.tadd ins(%x, %b : !t, !t) outs(%c : !t)
  pto.tmov ins(%c : !t) outs(%x : !t)
  return
}
"""
# %a is needed to the end: four tiles of 64 KiB live together, where A2/A3 has 192 KiB
# and a reciprocal is not computed in place
FULL = FITS.replace("ins(%c : !t) outs(%x : !t)", "ins(%a : !t) outs(%c : !t)").replace(
    "pto.tadd ins(%x, %b : !t, !t)", "pto.trecip ins(%b : !t)"
)
SVG = "{http://www.w3.org/2000/svg}"


def checked(text: str, target: str, memory: str, *more: str) -> str:
    words = ["check", "-", "--target", target, "--memory", memory, *more]
    return CliRunner().invoke(main, words, input=text).output


def test_the_table_says_how_full_where_and_of_what() -> None:
    lines = checked(FITS, "a2a3", "-").splitlines()
    assert lines[-2].split() == [
        *["function", "target", "memory", "in", "use", "capacity", "ends", "at", "line"],
        *["alive", "there"],
    ]
    row = "@f a2a3 UB 196,608 (100 %) 196,608 196,608 6 %x 65,536, %a 65,536, %b 65,536"
    assert lines[-1].split() == row.split()
    assert checked("func.func @f() {\nreturn\n}\n", "a5", "-").endswith("\nno tile to place\n")
    assert "expected FILE.svg" in checked(FITS, "a5", "kernel.pto")


@pytest.mark.parametrize(("text", "beyond"), [(FITS, 0), (FULL, 1)])
def test_the_picture_has_a_rectangle_for_each_tile(text: str, beyond: int, tmp_path: Path) -> None:
    path = tmp_path / "memory.svg"
    output = checked(text, "a2a3", str(path))
    picture = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    tiles = [r for r in picture.iter(f"{SVG}rect") if r.get("class") == "tile"]
    assert len(tiles) == 4
    red = [r for r in tiles if float(r.get("y", 0)) < capacity_of(picture)]
    assert len(red) == beyond == output.count("[out-of-memory]")
    assert {r.get("fill") for r in red} <= {"#e15759"}
    words = [t.text for t in picture.iter(f"{SVG}text")]
    assert {"%x", "%a", "%b", "%c", "UB of @f on a2a3", "196,608"} <= {*words}


def capacity_of(picture: ElementTree.Element) -> float:
    """Where the line of the capacity is drawn."""
    (line,) = (p for p in picture.iter(f"{SVG}path") if p.get("stroke") == "#c00")
    return float(line.get("d", "").split("H")[0].split()[1])


def test_other_tools_get_the_same_facts() -> None:
    output = checked(FULL, "a2a3", "-", "--format", "json")
    (memory,) = json.loads(output)["memory"]
    assert memory["live"] == ["x", "a", "b", "c"]
    assert (memory["peak"], memory["capacity"], memory["end"]) == (262144, 196608, 262144)
    (found,) = pto.loads(FULL).memory("a2a3")
    assert found.to_json() == memory
    assert [tile.line for tile in found.tiles] == [2, 4, 6, 8]
    # as they do not fit, from the first write on
    assert [(t.first, t.last) for t in found.tiles] == [(0, 8), (2, 7), (4, 6), (6, 7)]
    assert [t.parts for t in found.tiles] == [((0, 8),), ((2, 7),), ((4, 6),), ((6, 7),)]


def test_level_3_is_of_two_forms() -> None:
    program = pto.loads(FITS)
    text = program.text(level=3, target="a5")
    assert text.count("addr = ") == 3
    assert pto.loads(text).text(level=3, target="a5") == text
    assert program.text("cpp", level=3).count("TASSIGN") == 3
    for form, level in (("ssa", 3), ("as", 3), ("dps", 2)):
        with pytest.raises(ValueError, match="level="):
            program.text(form, level=level)
