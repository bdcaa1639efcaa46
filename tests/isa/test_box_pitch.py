"""The cube unit knows no pitch: it takes boxes as packed, whatever tiles declare (box-pitch)."""

from __future__ import annotations

import pytest

import ptokit as pto

LEFT = {"a2a3": "slayout=row_major", "a5": "blayout=col_major, slayout=row_major"}
RIGHT = "slayout=col_major"
SUMS = "blayout=col_major, slayout=row_major, fractal=1024"
CHIPS = pytest.mark.parametrize("chip", ["a2a3", "a5"])


def tile(loc: str, declared: str, valid: str, layout: str, compact: bool = False) -> str:
    mode = ", compact=1" if compact else ""
    return f"!pto.tile_buf<{loc}, {declared}, valid={valid}, {layout}{mode}>"


def product(
    chip: str, m: tuple[int, int], k: tuple[int, int], n: tuple[int, int], compact: str = ""
) -> str:
    """A product of tiles that declare the first extents, of which the second are valid."""
    a = tile("left", f"{m[0]}x{k[0]}xf16", f"{m[1]}x{k[1]}", LEFT[chip], "a" in compact)
    b = tile("right", f"{k[0]}x{n[0]}xf16", f"{k[1]}x{n[1]}", RIGHT, "b" in compact)
    c = tile("acc", f"{m[0]}x{n[0]}xf32", f"{m[1]}x{n[1]}", SUMS, "c" in compact)
    return f"""func.func @f(%a: {a}, %b: {b}, %c: {c}) {{
      pto.tmatmul ins(%a, %b : {a}, {b}) outs(%c : {c})
      return
    }}"""


def blamed(chip: str, text: str) -> set[str]:
    """Of which tiles a legal program is warned."""
    found = pto.loads(text).check(chip)
    assert not any(one.is_error for one in found), found
    return {(one.seen or "").split(" and ")[1].split(".")[0] for one in found}


FULL, TAIL, ONE_BOX = (64, 64), (64, 20), (16, 9)


@CHIPS
def test_what_fills_its_boxes_is_packed(chip: str) -> None:
    assert blamed(chip, product(chip, FULL, FULL, FULL)) == set()
    assert blamed(chip, product(chip, (32, 20), (32, 20), (32, 20))) == set()
    assert blamed(chip, product(chip, ONE_BOX, ONE_BOX, ONE_BOX)) == set()


@CHIPS
def test_fewer_rows_of_sums_than_the_tile_declares(chip: str) -> None:
    """In nz the rows of a tell the pitch of a, too."""
    of_a: set[str] = {"a"} if chip == "a5" else set()
    assert blamed(chip, product(chip, TAIL, FULL, FULL)) == {"c"} | of_a
    assert blamed(chip, product(chip, TAIL, FULL, FULL, "c")) == of_a
    assert blamed(chip, product(chip, TAIL, FULL, FULL, "ac")) == set()
    assert blamed(chip, product(chip, TAIL, ONE_BOX, (16, 16))) == set(), "one block column"


@CHIPS
def test_fewer_columns_of_b_than_it_declares(chip: str) -> None:
    assert blamed(chip, product(chip, FULL, FULL, TAIL)) == {"b"}
    assert blamed(chip, product(chip, FULL, FULL, TAIL, "b")) == set()
    assert blamed(chip, product(chip, FULL, ONE_BOX, TAIL)) == set(), "one block row"


@CHIPS
def test_a_shorter_sum_than_a_declares(chip: str) -> None:
    """In zz the columns of a tell its pitch, where it has several rows of boxes."""
    of_a: set[str] = {"a"} if chip == "a2a3" else set()
    assert blamed(chip, product(chip, FULL, TAIL, FULL)) == of_a
    assert blamed(chip, product(chip, FULL, TAIL, FULL, "a")) == set()
    assert blamed(chip, product(chip, ONE_BOX, TAIL, FULL)) == set()


@CHIPS
def test_windows_keep_the_pitch_of_the_tile_around_them(chip: str) -> None:
    a = tile("left", "32x32xf16", "32x32", LEFT[chip])
    wide = tile("right", "32x64xf16", "32x64", RIGHT)
    b = tile("right", "32x32xf16", "32x32", RIGHT)
    tall = tile("acc", "64x32xf32", "64x32", SUMS)
    c = tile("acc", "32x32xf32", "32x32", SUMS)
    text = f"""func.func @f(%a: {a}, %wide: {wide}, %b: {b}, %tall: {tall}, %c: {c}) {{
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %right = pto.subview %wide[%c0, %c32] sizes [32, 32] : {wide} -> {b}
      %sums = pto.subview %tall[%c32, %c0] sizes [32, 32] : {tall} -> {c}
      pto.tmatmul ins(%a, %RIGHT : {a}, {b}) outs(%SUMS : {c})
      return
    }}"""
    assert blamed(chip, text.replace("RIGHT", "right").replace("SUMS", "c")) == {"b"}
    assert blamed(chip, text.replace("RIGHT", "b").replace("SUMS", "sums")) == {"c"}
    assert blamed(chip, text.replace("RIGHT", "b").replace("SUMS", "c")) == set()


def test_the_simulator_has_no_pitch() -> None:
    assert blamed("cpu", product("a2a3", TAIL, TAIL, TAIL)) == set()
