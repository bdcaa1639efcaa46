"""TEXTRACT: what each target allows, row by row of the tables of 3.7; bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from tables import ALL, BOTH, CUBE_A2A3, CUBE_A5, MODES, OUT, QUANT, VEC_A2A3, VEC_A5

import ptokit as pto
from naming import named
from oracles.formats import FORMATS
from tiles import made, parameter, verdict, zeros

# Legality: what each path takes -------------------------------------------------------------------


class Row(NamedTuple):
    """One line of a table: `dst <- src` at an offset on some targets; an empty slug is legal."""

    targets: str
    slug: str
    dst: str
    src: str
    row: int
    col: int
    how: dict[str, Any]


def ok(targets: str, dst: str, src: str, row: int = 0, col: int = 0, **how: Any) -> Row:
    return Row(targets, "", dst, src, row, col, how)


def no(targets: str, slug: str, dst: str, src: str, row: int = 0, col: int = 0, **how: Any) -> Row:
    return Row(targets, slug, dst, src, row, col, how)


# big enough for whole boxes of every element type, both ways
BIG, SMALL = "128x128", "64x64"


def by_type(targets: dict[str, tuple[str, ...]], dst: str, src: str, **how: Any) -> Iterator[Row]:
    """Legal for the types listed for a target, an element-type error for all others."""
    for target, types in targets.items():
        for dtype in FORMATS:
            d, s = dst.format(t=dtype), src.format(t=dtype)
            yield (
                ok(target, d, s, **how)
                if dtype in types
                else no(target, "element-type", d, s, **how)
            )


MAT_TO_LEFT = [
    *by_type({"a2a3": CUBE_A2A3}, f"left {{t}} {SMALL} zz", f"mat {{t}} {BIG} nz"),
    *by_type({"a2a3": CUBE_A2A3}, f"left {{t}} {SMALL} zz", f"mat {{t}} {BIG} zn"),
    *by_type({"a5": CUBE_A5}, f"left {{t}} {SMALL} nz", f"mat {{t}} {BIG} nz"),
    *by_type({"a5": CUBE_A5}, f"left {{t}} {SMALL} nz", f"mat {{t}} {BIG} zn"),
    # the destination is the alias of the target
    *(
        no("a2a3", "layout", f"left f16 {SMALL} {x}", f"mat f16 {BIG} nz")
        for x in ("nd", "nz", "zn", "nn")
    ),
    *(
        no("a5", "layout", f"left f16 {SMALL} {x}", f"mat f16 {BIG} nz")
        for x in ("nd", "zz", "zn", "nn")
    ),
    # non-transposed: row % 16, col % c0
    ok("a2a3", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 16, 48),
    ok("a5", f"left f16 {SMALL} nz", f"mat f16 {BIG} nz", 16, 48),
    ok("a2a3", f"left f32 {SMALL} zz", f"mat f32 {BIG} nz", 48, 8),
    ok("a5", f"left i8 {SMALL} nz", f"mat i8 {BIG} nz", 16, 32),
    ok("a5", f"left f4e2m1x2 {SMALL} nz", "mat f4e2m1x2 128x128 nz", 16, 64),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 8, 0),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} nz", 0, 8),
    no("a5", "offset-misaligned", f"left f16 {SMALL} nz", f"mat f16 {BIG} nz", 1, 0),
    no("a5", "offset-misaligned", f"left i8 {SMALL} nz", f"mat i8 {BIG} nz", 0, 16),
    no("a5", "offset-misaligned", f"left f32 {SMALL} nz", f"mat f32 {BIG} nz", 0, 4),
    no("a5", "offset-misaligned", f"left f4e2m1x2 {SMALL} nz", "mat f4e2m1x2 128x128 nz", 0, 32),
    # transposed: whole blocks of 16, 32 for 8-bit types
    ok("a2a3", f"left f16 {SMALL} zz", f"mat f16 {BIG} zn", 16, 48),
    ok("a5", f"left f32 {SMALL} nz", f"mat f32 {BIG} zn", 48, 16),
    ok("a5", f"left i8 {SMALL} nz", f"mat i8 {BIG} zn", 32, 64),
    no("a2a3", "offset-misaligned", f"left f16 {SMALL} zz", f"mat f16 {BIG} zn", 8, 0),
    no("a5", "offset-misaligned", f"left f32 {SMALL} nz", f"mat f32 {BIG} zn", 0, 8),
    no("a5", "offset-misaligned", f"left i8 {SMALL} nz", f"mat i8 {BIG} zn", 16, 0),
    no("a2a3", "offset-misaligned", f"left i8 {SMALL} zz", f"mat i8 {BIG} zn", 0, 16),
    no("a2a3", "shape", "left f32 16x16 zz", "mat f32 24x16 zn"),
    no("a2a3", "shape", "left f32 16x24 zz", "mat f32 32x32 zn"),
    no("a5", "shape", "left i8 32x32 nz", "mat i8 64x48 zn"),
    no("a5", "shape", "left i8 16x32 nz", "mat i8 64x64 zn"),
]

GEMV = [  # a single row, row-major, in lines of 512 bytes
    ok("a2a3", "left f16 1x256 zz", "mat f16 1x512 nd", 0, 256),
    ok("a5", "left f16 1x256 nz", "mat f16 1x512 nd", 0, 256),
    ok("a2a3", "left f32 1x128 zz", "mat f32 1x256 nd", 0, 128),
    ok("a5", "left i8 1x512 nz", "mat i8 1x1024 nd", 0, 512),
    no("a2a3", "offset-misaligned", "left f16 1x256 zz", "mat f16 1x512 nd", 0, 128),
    no("a5", "offset-misaligned", "left f32 1x128 nz", "mat f32 1x256 nd", 0, 64),
    no("a2a3", "shape", "left f16 1x256 zz", "mat f16 1x272 nd"),
    no("a5", "shape", "left f16 1x128 nz", "mat f16 1x512 nd"),
    no(BOTH, "layout", "right f16 16x16 zn valid 1x16", "mat f16 1x512 nd"),
]

MAT_TO_RIGHT = [
    *by_type({"a2a3": CUBE_A2A3, "a5": CUBE_A5}, f"right {{t}} {SMALL} zn", f"mat {{t}} {BIG} nz"),
    *by_type({"a2a3": CUBE_A2A3, "a5": CUBE_A5}, f"right {{t}} {SMALL} zn", f"mat {{t}} {BIG} zn"),
    *(
        no(BOTH, "layout", f"right f16 {SMALL} {x}", f"mat f16 {BIG} zn")
        for x in ("nd", "nz", "zz", "nn")
    ),
    # non-transposed: row % c0, col % 16
    ok(BOTH, f"right f16 {SMALL} zn", f"mat f16 {BIG} zn", 48, 16),
    ok(BOTH, f"right f32 {SMALL} zn", f"mat f32 {BIG} zn", 8, 48),
    ok(BOTH, f"right i8 {SMALL} zn", f"mat i8 {BIG} zn", 32, 16),
    no(BOTH, "offset-misaligned", f"right f32 {SMALL} zn", f"mat f32 {BIG} zn", 4, 0),
    no(BOTH, "offset-misaligned", f"right i8 {SMALL} zn", f"mat i8 {BIG} zn", 16, 0),
    no(BOTH, "offset-misaligned", f"right f16 {SMALL} zn", f"mat f16 {BIG} zn", 0, 8),
    # transposed
    ok(BOTH, f"right f32 {SMALL} zn", f"mat f32 {BIG} nz", 16, 48),
    ok(BOTH, f"right i8 {SMALL} zn", f"mat i8 {BIG} nz", 32, 64),
    no(BOTH, "offset-misaligned", f"right f32 {SMALL} zn", f"mat f32 {BIG} nz", 0, 8),
    no(BOTH, "offset-misaligned", f"right i8 {SMALL} zn", f"mat i8 {BIG} nz", 16, 0),
    no(BOTH, "shape", "right f32 16x16 zn", "mat f32 32x24 nz"),
    no(BOTH, "shape", "right i8 32x16 zn", "mat i8 64x64 nz"),
]

MAT_TO_SCALE = [
    ok("a5", "scale_left f8e8m0 32x4 zz/32", "mat f8e8m0 64x8 zz/32"),
    ok("a5", "scale_left f8e8m0 32x4 zz/32", "mat f8e8m0 64x8 zz/32", 16, 2),
    ok("a5", "scale_right f8e8m0 4x32 nn/32", "mat f8e8m0 8x64 nn/32"),
    ok("a5", "scale_right f8e8m0 4x32 nn/32", "mat f8e8m0 8x64 nn/32", 2, 16),
    no("a5", "layout", "scale_left f8e8m0 32x32 nn/32", "mat f8e8m0 64x64 zz/32"),
    no("a5", "layout", "scale_right f8e8m0 32x32 zz/32", "mat f8e8m0 64x64 nn/32"),
    no("a2a3", "location", "scale_left i8 32x4 zz/32", "mat i8 64x8 zz/32"),
    no("a2a3", "location", "scale_right i8 4x32 nn/32", "mat i8 8x64 nn/32"),
]

VEC_TO_MAT = [
    *by_type({"a5": VEC_A5}, f"mat {{t}} {SMALL}", f"vec {{t}} {BIG}"),
    ok("a5", f"mat f16 {SMALL} nz", f"vec f16 {BIG} nz", 16, 16),
    ok("a5", f"mat f16 {SMALL} nz", f"vec f16 {BIG} nd", 16, 16),
    no("a5", "layout", f"mat f16 {SMALL} dn", f"vec f16 {BIG} dn"),
    no("a2a3", "location", f"mat f16 {SMALL}", f"vec f16 {BIG}"),
]

VEC_TO_VEC = [
    *by_type({"a2a3": VEC_A2A3, "a5": VEC_A5}, f"vec {{t}} {SMALL}", f"vec {{t}} {BIG}"),
    *by_type({"a2a3": VEC_A2A3, "a5": VEC_A5}, f"vec {{t}} {SMALL} nz", f"vec {{t}} {BIG} nz"),
    *(
        no(BOTH, "layout", f"vec f16 {SMALL} {d}", f"vec f16 {BIG} {s}")
        for d in ("nd", "dn", "nz", "zn", "zz")
        for s in ("nd", "dn", "nz", "zn", "zz")
        if d != s or d not in ("nd", "nz")
    ),
    # nd on a2a3: lines of 32 bytes
    ok("a2a3", f"vec f16 {SMALL}", f"vec f16 {BIG}", 3, 16),
    ok("a2a3", f"vec i8 {SMALL}", f"vec i8 {BIG}", 1, 32),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL}", f"vec f16 {BIG}", 0, 8),
    no("a2a3", "offset-misaligned", f"vec f32 {SMALL}", f"vec f32 {BIG}", 0, 4),
    ok("a2a3", "vec f32 1x8 valid 1x1", "vec f32 16x16", 3, 5),  # one element is a scalar copy
    # nz on a2a3: boxes
    ok("a2a3", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 16, 48),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 8, 0),
    no("a2a3", "offset-misaligned", f"vec f16 {SMALL} nz", f"vec f16 {BIG} nz", 0, 8),
    # nd on a5: any offset; the declared window is no larger than the source
    ok("a5", f"vec f16 {SMALL}", f"vec f16 {BIG}", 3, 5),
    ok("a5", f"vec i8 {SMALL}", f"vec i8 {BIG}", 7, 1),
    no("a5", "shape", "vec f16 64x32 valid 8x8", "vec f16 32x32"),
    no("a5", "shape", "vec f16 32x64 valid 8x8", "vec f16 32x32"),
    # four-bit types on a5: whole 32-byte lines, 64 elements
    ok("a5", "vec f4e2m1x2 4x64", "vec f4e2m1x2 8x128", 3, 64),
    no("a5", "offset-misaligned", "vec f4e2m1x2 4x64", "vec f4e2m1x2 8x128", 3, 32),
    no("a5", "shape", "vec f4e2m1x2 4x64 valid 4x32", "vec f4e2m1x2 8x128"),
    no("a5", "shape", "vec f4e1m2x2 4x64", "vec f4e1m2x2 8x96"),
    # the window is bounded by valid regions, not by declared shapes
    ok(BOTH, "vec f16 16x64 valid 4x16", "vec f16 16x64", 12, 48),
    ok(BOTH, "vec f16 16x64 nz valid 16x16", "vec f16 32x64 nz", 16, 48),
]

CAST = {
    "a2a3": {("f32", "f16"), ("f32", "bf16")},
    "a5": {("f32", "f16"), ("f32", "bf16"), ("f32", "f32"), ("i32", "i32")},
}
ONE = parameter(1)


def acc_pairs(target: str, dst: str) -> Iterator[Row]:
    for src in ("f32", "i32"):
        for t in OUT:
            for legal, how in ((CAST, {}), (CAST, {"relu": "normal"}), (QUANT, {"quant": ONE})):
                d, s = f"{dst.split()[0]} {t} 32x32 {dst.split()[1]}", f"acc {src} 64x64 nz"
                if (src, t) in legal[target]:
                    yield ok(target, d, s, 0, 32, **how)
                else:
                    yield no(target, "element-type", d, s, 0, 32, **how)


ACC_TO_MAT = [
    *acc_pairs("a2a3", "mat nz"),
    *acc_pairs("a5", "mat nz"),
    *acc_pairs("a5", "mat nd"),
    ok(BOTH, "mat f16 16x16 nz", "acc f32 32x32 nz", 16, 16),
    ok(BOTH, "mat f16 16x16 nz", "acc f32 32x32 nz", 5, 3),
    no("a2a3", "layout", "mat f16 32x32 nd", "acc f32 64x64 nz"),
    *(no(BOTH, "layout", f"mat f16 32x32 {x}", "acc f32 64x64 nz") for x in ("dn", "zn", "zz")),
    no("a2a3", "layout", "mat f16 32x32 nz/1024", "acc f32 64x64 nz"),
    ok("a5", "mat f32 32x32 nz/1024", "acc f32 64x64 nz"),
    *(no(BOTH, "layout", "mat f16 32x32 nz", f"acc f32 64x64 {x}") for x in ("nd", "zn")),
    no(BOTH, "element-type", "mat f16 32x32 nz", "acc f16 64x64 nz"),
    *(no(BOTH, "attribute", "mat f16 32x32 nz", "acc f32 64x64 nz", mode=m) for m in MODES),
]
ACC_TO_VEC = [
    *acc_pairs("a5", "vec nz"),
    no("a2a3", "location", "vec f16 32x32 nz", "acc f32 64x64 nz"),
    *(ok("a5", "vec f16 32x32 nd", "acc f32 64x64 nz", mode=m) for m in MODES),
    *(ok("a5", "vec f16 32x32 nz", "acc f32 64x64 nz", mode=m, relu="normal") for m in MODES),
    *(ok("a5", "vec i8 32x32 nd", "acc f32 64x64 nz", mode=m, quant=ONE) for m in MODES[:2]),
    *(
        no("a5", "attribute", "vec i8 32x32 nd", "acc f32 64x64 nz", mode=m, quant=ONE)
        for m in MODES[2:]
    ),
    ok("a5", "vec f16 32x32 nd", "acc f32 64x64 nz"),  # C++ asks for a mode: a warning
    ok("a5", "vec i8 32x32 nd", "acc f32 64x64 nz", quant=ONE),
    no("a5", "layout", "vec f16 32x32 dn", "acc f32 64x64 nz", mode=MODES[0]),
    ok("a5", "vec f32 32x64 nd valid 8x32", "acc f32 64x64 nz", mode=MODES[3]),
    ok("a5", "vec f16 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[3]),
    no("a5", "shape", "vec f32 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[3]),
    ok("a5", "vec f32 32x64 nd valid 8x24", "acc f32 64x64 nz", mode=MODES[2]),
]

ELSEWHERE = [
    *(
        no(BOTH, "location", f"{d} f16 32x32 {x}", f"{s} f16 64x64 {y}")
        for d, x, s, y in (
            ("mat", "nz", "mat", "nz"),
            ("vec", "nz", "mat", "nz"),
            ("left", "nz", "vec", "nz"),
            ("right", "zn", "left", "nz"),
            ("acc", "nz", "mat", "nz"),
            ("bias", "nd", "mat", "nd"),
            ("left", "nz", "acc", "nz"),
        )
    ),
    no("a2a3", "location", "scaling f16 32x32 nd", "mat f16 64x64 nd"),
    no("a5", "layout", "scaling f16 32x32 nd", "mat f16 64x64 nd"),
    ok("cpu", "mat f16 31x16 valid 31x16", "mat f16 64x64 nz", 1, 3),
    ok("cpu", "left f16 32x32 nz", "bias f16 64x64", 5, 9),
    ok("cpu", "scaling f32 32x32", "right f32 64x64 nn", 5, 9),
    no("cpu a2a3", "element-type", "left f32 16x16 zz", "mat f16 64x64 nz"),
    ok("cpu", "vec f16 32x32", "acc f32 64x64 nz", 1, 3),
    # the fix-pipe parameter is for the accumulator
    no(BOTH, "attribute", "vec i8 32x32", "vec i8 64x64", quant=ONE),
    no("a2a3", "attribute", "left f16 32x32 zz", "mat f16 64x64 nz", quant=ONE),
    no("a5", "attribute", "left f16 32x32 nz", "mat f16 64x64 nz", quant=ONE),
]

TABLES = {
    "mat-left": MAT_TO_LEFT,
    "gemv": GEMV,
    "mat-right": MAT_TO_RIGHT,
    "mat-scale": MAT_TO_SCALE,
    "vec-mat": VEC_TO_MAT,
    "vec-vec": VEC_TO_VEC,
    "acc-mat": ACC_TO_MAT,
    "acc-vec": ACC_TO_VEC,
    "elsewhere": ELSEWHERE,
}


@pytest.mark.parametrize("table", TABLES)
def test_legality(table: str) -> None:
    check_rows(TABLES[table])


def check_rows(rows: Sequence[Row]) -> None:
    for row in rows:
        for target in row.targets.split():
            with named(target, row), pto.target(target):
                dst, src = made(row.dst), zeros(row.src)
                verdict(
                    target, row.slug, partial(pto.textract, dst, src, row.row, row.col, **row.how)
                )


# Bounds ------------------------------------------------------------------------------------------

BOUNDS = [
    # valid regions, on every target
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", 33, 0),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64", 0, 48),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64 valid 31x64"),
    no(ALL, "window-out-of-bounds", "vec f16 32x32", "vec f16 64x64 valid 64x31"),
    ok(ALL, "vec f16 32x32 valid 31x16", "vec f16 64x64 valid 31x32", 0, 16),
    ok(ALL, "vec f16 32x32", "vec f16 64x64", 32, 32),
    ok(ALL, "vec f16 32x32 valid 0x0", "vec f16 64x64 valid 0x0"),
    # the declared shape too on hardware, but not from vec to vec
    ok("cpu", "left f16 64x64 nz valid 16x16", "mat f16 64x64 nz", 16, 16),
    no("a2a3", "window-out-of-bounds", "left f16 64x64 zz valid 16x16", "mat f16 64x64 nz", 16, 0),
    no("a5", "window-out-of-bounds", "left f16 64x64 nz valid 16x16", "mat f16 64x64 nz", 0, 16),
    no("a5", "window-out-of-bounds", "left f16 128x64 nz valid 16x16", "mat f16 64x64 nz"),
    # out of the accumulator the valid region moves
    ok(BOTH, "mat f16 32x64 nz valid 16x16", "acc f32 64x64 nz", 0, 16),
    ok("a5", "mat f16 64x32 nz valid 16x16", "acc f32 64x64 nz", 16, 0),
    ok("a5", "vec f16 64x32 nz valid 16x16", "acc f32 64x64 nz", 16, 0),
]


def test_bounds() -> None:
    check_rows(BOUNDS)


def test_a_refusal_says_the_numbers() -> None:
    with pytest.raises(pto.PtoError) as problem:
        pto.textract(made("vec f16 32x32"), made("vec f16 64x64"), 4, 33)
    (found,) = problem.value.diagnostics
    assert found.rule == "col + dst.valid.cols <= src.valid.cols"
    assert found.seen == "col + dst.valid.cols is 65 (33 + 32) and src.valid.cols is 64"
    assert found.span is not None
    assert "pto.textract(made(" in found.span.source.text[found.span.start : found.span.end]


def test_what_was_never_written_has_no_value_in_the_window() -> None:
    src = made("mat f16 32x32 nz valid 16x32", np.ones((16, 32), np.float16))
    whole = made("mat f16 32x32 nz")
    whole.handle.bytes()[:] = src.storage()
    whole.handle.memory.shadow[:] = src.handle.memory.shadow
    pto.textract(made("mat f16 16x16 nz"), whole, 0, 16)
    part = made("mat f16 16x16 nz")
    pto.textract(part, whole, 4, 16)
    assert part.written().all(axis=1).tolist() == [row < 12 for row in range(16)]
    assert part.written().any(axis=1).tolist() == [row < 12 for row in range(16)]
