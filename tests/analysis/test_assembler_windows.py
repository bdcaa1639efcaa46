"""What the public assembler takes of windows, scales and prefetches; parameters by place."""

from __future__ import annotations

import pytest
from test_assembler import (
    ACC,
    BOXED,
    FINE,
    HARD,
    MAT_I8,
    Case,
    of,
    program,
    require_slugs,
    tile,
    wrong,
)

import ptokit as pto
from every import every
from ptokit.ir.module import Op

A5 = ("a5",)
WHOLE = tile("vec", "16x64xf32")
AT = "%zero = arith.constant 0 : index\n%two = arith.constant 2 : index\n"
LEFT_F32 = tile("left", "16x64xf32", *BOXED)
VIEW = "!pto.partition_tensor_view<16x64xf32>"
MX = tile("left", "16x64xf8E4M3FN", *BOXED)


def window(kind: str, valid: str = "", src: str = WHOLE) -> str:
    """The second and third row of a tile, three columns of them."""
    cut = f"%w = pto.subview %t[%two, %zero] sizes [2, 3] {valid}: {src} -> {kind}"
    return program({"t": src, "n": "index"}, AT + cut)


def scales(shape: str) -> str:
    kind = tile("scaleleft", f"{shape}xf8E8M0FNU", "slayout=row_major", "fractal=32")
    return program({"a": MX}, f"%s = pto.tget_scale_addr %a : {MX} -> {kind}")


CASES = {
    "a window of less than a line": (window(tile("vec", "2x3xf32")), HARD, FINE),
    "the same, less of it valid": (window(tile("vec", "2x3xf32", "valid=1x3")), HARD, FINE),
    "nothing of it valid": (window(tile("vec", "2x3xf32", "valid=0x3")), HARD, FINE),
    "valid as the run says": (
        window(tile("vec", "2x3xf32", "valid=?x?"), "valid [%n, %n] "),
        HARD,
        FINE,
    ),
    "nobody says what is valid": (
        window(tile("vec", "2x3xf32", "valid=?x3")),
        HARD,
        {"dynamic-valid"},
    ),
    "a window with another pad": (window(tile("vec", "2x3xf32", "pad=1")), HARD, {"layout"}),
    "a tile of less than a line": (
        program({}, f"%t = pto.alloc_tile : {tile('vec', '2x3xf32')}"),
        HARD,
        {"tile-alignment"},
    ),
    "scales of each 32": (scales("16x2"), A5, FINE),
    "scales of each element": (scales("16x64"), A5, {"shape"}),
    "a prefetch for left": (of("tprefetch", {"v": VIEW, "d": LEFT_F32}), HARD, {"location"}),
}


@every("case", CASES.values(), ids=CASES)
def test_prefetches_and_windows_that_it_takes(case: Case) -> None:
    require_slugs(*case)


@pytest.mark.parametrize(
    ("order", "types", "index"),
    [("%q, %r, %c", "i64, i32, i32", "i32"), ("%r, %c, %q", "index, index, i64", "index")],
)
def test_a_parameter_stands_before_or_behind_the_indices(
    order: str, types: str, index: str
) -> None:
    given = {"a": ACC, "d": MAT_I8, "q": "i64", "r": index, "c": index}
    line = f"pto.textract ins(%a, {order} : {ACC}, {types}) outs(%d : {MAT_I8})"
    op = pto.loads(program(given, line)).module.funcs[0].body.ops[0]
    assert isinstance(op, Op)
    found = dict(op.values())
    assert [found[name].name for name in ("quant", "row", "col")] == ["q", "r", "c"]


NZ_BOXES = ("blayout=col_major", "slayout=row_major")
ALL_BOXES = tile("mat", "64x64xf16", *NZ_BOXES)


def box_window(row: str, col: str, size: str) -> str:
    rows, _, cols = size.partition("x")
    part = tile("mat", f"{size}xf16", *NZ_BOXES)
    return program(
        {"s": ALL_BOXES, "n": "index"},
        f"%r = arith.constant {row} : index" if row.isdigit() else "%r = arith.addi %n, %n : index",
        f"%c = arith.constant {col} : index",
        f"%d = pto.subview %s[%r, %c] sizes [{rows}, {cols}] : {ALL_BOXES} -> {part}",
    )


@every(
    ("row", "col", "size", "slugs"),
    [
        ("16", "16", "16x32", FINE),
        ("%n", "16", "16x32", FINE),
        ("8", "16", "16x32", {"offset-misaligned"}),
        ("16", "8", "16x32", {"offset-misaligned"}),
        ("0", "0", "8x16", {"offset-misaligned", "tile-shape"}),
        ("0", "0", "16x8", {"offset-misaligned", "tile-shape"}),
    ],
)
def test_windows_of_boxes_start_on_boxes_where_the_text_says_where(
    row: str, col: str, size: str, slugs: set[str]
) -> None:
    for target in HARD:
        assert wrong(box_window(row, col, size), target) == slugs


@pytest.mark.parametrize("target", HARD)
def test_parts_of_boxes_are_moved_by_instructions_without_a_word(target: str) -> None:
    """The assembler asks the bounds of an insertion alone; hardware writes lines of boxes."""
    acc = tile("acc", "16x16xf32", *NZ_BOXES, "fractal=1024")
    for row, col in ((0, 0), (8, 0), (0, 8)):
        lines = (
            f"%r = arith.constant {row} : index",
            f"%c = arith.constant {col} : index",
            f"pto.tinsert ins(%a, %r, %c : {acc}, index, index) outs(%d : {ALL_BOXES})",
        )
        assert wrong(program({"a": acc, "d": ALL_BOXES}, *lines), target) == FINE
