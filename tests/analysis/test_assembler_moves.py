"""What the assembler lets move between memories, and what such a program does when it runs."""

from __future__ import annotations

import numpy as np
import pytest
from test_assembler import BOXED, FINE, HARD, Case, of, program, require_slugs, tile

import ptokit as pto
from every import every

A5, A3 = ("a5",), ("a2a3",)
NUMBERS, IN_BOXES = tile("vec", "32x32xf16"), tile("vec", "32x32xf16", *BOXED)
SQUARES = tile("vec", "32x32xf16", "slayout=row_major")
L1 = tile("mat", "32x32xf16", *BOXED)
MASK = tile("vec", "8x32xf32")


def viewed(op: str, kind: str, layout: str) -> str:
    """A move between a tile and a view in boxes of 16 x 16."""
    part = "!pto.partition_tensor_view<1x2x2x16x16xf16>"
    whole = part.replace("partition_", "")
    view, room = f"%s : {part}", f"%t : {kind}"
    ins, outs = (view, room) if op == "pto.tload" else (room, view)
    return program(
        {"p": "!pto.ptr<f16>", "t": kind},
        *(f"%n{n} = arith.constant {n} : index" for n in (0, 1, 2, 16, 256, 512, 1024)),
        "%v = pto.make_tensor_view %p, shape = [%n1, %n2, %n2, %n16, %n16],"
        f" strides = [%n1024, %n512, %n256, %n16, %n1]{layout} : {whole}",
        "%s = pto.partition_view %v, offsets = [%n0, %n0, %n0, %n0, %n0],"
        f" sizes = [%n1, %n2, %n2, %n16, %n16] : {whole} -> {part}",
        f"{op} ins({ins}) outs({outs})",
    )


def stored(acc: str, memory: str) -> str:
    kinds = {"a": tile("acc", f"16x16x{acc}", *BOXED, "fractal=1024")}
    kinds |= {"v": f"!pto.partition_tensor_view<16x16x{memory}>"}
    return program(kinds, f"pto.tstore ins(%a : {kinds['a']}) outs(%v : {kinds['v']})")


NZ = " {layout = #pto.layout<nz>}"
CASES = {
    "boxes into boxes": (viewed("pto.tload", IN_BOXES, NZ), HARD, FINE),
    "boxes into lines": (viewed("pto.tload", NUMBERS, NZ), HARD, FINE),
    "boxes that the view does not state": (viewed("pto.tload", L1, ""), HARD, FINE),
    "boxes into rows of boxes": (viewed("pto.tload", SQUARES, NZ), A5, {"layout"}),
    "boxes from lines": (viewed("pto.tstore", NUMBERS, NZ), HARD, FINE),
    "boxes from rows of boxes": (viewed("pto.tstore", SQUARES, NZ), A5, {"layout"}),
    "sums as whole numbers": (stored("f32", "i32"), A5, FINE),
    "whole numbers as halves": (stored("i32", "f16"), A5, FINE),
    "sums as bytes": (stored("f32", "i8"), A5, {"element-type"}),
    "sums as whole numbers, on older chips": (stored("f32", "i32"), A3, FINE),
    "a choice by the bits of floats": (
        of("tsels", {"m": MASK, "a": MASK, "s": "f32", "d": MASK}),
        HARD,
        FINE,
    ),
}


@every("case", CASES.values(), ids=CASES)
def test_moves_that_it_takes(case: Case) -> None:
    require_slugs(*case)


@pytest.mark.parametrize("target", HARD)
def test_a_run_ends_where_boxes_come_into_lines(target: str) -> None:
    text = pto.loads(viewed("pto.tload", NUMBERS, NZ))
    warnings = {d.slug for d in text.check(target)}
    assert "layout" in warnings
    with pytest.raises(pto.PtoError, match=r"\[layout\]"):
        text.run(p=np.zeros(1024, np.float16), t=np.zeros((32, 32), np.float16), target=target)


def test_a_run_ends_where_sums_are_stored_as_whole_numbers() -> None:
    text, sums = pto.loads(stored("f32", "i32")), np.ones((16, 16), np.float32)
    assert {d.slug for d in text.check("a5")} == {"element-type"}
    with pytest.raises(pto.PtoError, match="the result is not published"):
        text.run(a=sums, v=np.zeros((16, 16), np.int32), target="a5")


def test_bits_of_floats_choose(engine: str) -> None:
    """The sign bit of the first number of a row is the bit of its column 31."""
    mask, numbers = np.zeros((8, 32), np.float32), np.ones((8, 32), np.float32)
    mask[3, 0] = -0.0
    text = pto.loads(of("tsels", {"m": MASK, "a": MASK, "s": "f32", "d": MASK}))
    found = text.run(m=mask, a=numbers, s=2.0, target="a5", engine=engine)["d"]
    assert [tuple(at) for at in np.argwhere(found == 1)] == [(3, 31)]
    assert {d.slug for d in text.check("a5")} == {"element-type"}
