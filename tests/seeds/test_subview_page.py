"""The page of the view: an alias of a part of a tile, its bounds, what both tiles must share."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from seed_pages import (
    ALL,
    HARDWARE,
    B,
    T,
    cpp_names,
    f32,
    only_op,
    page_of,
    ramp,
    refused,
    rules,
    run,
    spec,
)

import ptokit as pto
from every import every
from ptokit.isa.model.words import Pipe
from ptokit.isa.pages import allocation as config
from tiles import bits, made

SYNTAX = {
    "asm": f"%dst = pto.subview %src, %row_idx, %col_idx : {T}, i16, i16",
    "ssa": f"%dst = pto.subview %src, %row_idx, %col_idx : ({T}, i16, i16) -> {T}",
    "dps": f"pto.subview ins(%src, %row_idx, %col_idx : {B}, i16, i16) outs(%dst : {B})",
}


def test_set() -> None:
    page = page_of(SYNTAX["asm"])
    assert page.__module__ == config.__name__
    assert page.mnemonic() == "pto.subview"


@every("target", ALL)
@every(("row", "col"), [(0, 0), (3, 5), (11, 8), (12, 24)])
def test_view(target: str, row: int, col: int) -> None:
    """dst[i, j] is src[row + i, col + j]."""
    x = ramp(16, 32)
    src, dst = made("vec f32 16x32", x), made("vec f32 16x32 valid 4x8")
    with pto.target(target):
        pto.subview(dst, src, row, col)
    wanted = f32([[x[row + i, col + j] for j in range(8)] for i in range(4)])
    assert np.array_equal(dst.numpy(), wanted)


@every("target", ALL)
def test_nothing_is_copied(target: str) -> None:
    """What one writes, the other sees, in both directions; the bytes are the same bytes."""
    x = ramp(8, 16)
    src, dst = made("vec f32 8x16", x), made("vec f32 8x16 valid 2x8")
    with pto.target(target):
        pto.subview(dst, src, 4, 8)
        assert np.array_equal(src.numpy(), x)
        pto.tmov(dst, made("vec f32 8x16 valid 2x8", ramp(2, 8, start=500)))
        x[4:6, 8:16] = ramp(2, 8, start=500)
        assert np.array_equal(src.numpy(), x)
        pto.tinsert(src, made("vec f32 1x8", ramp(1, 8, start=900)), 5, 8)
    assert np.array_equal(dst.numpy()[1], ramp(1, 8, start=900)[0])
    assert dst.handle.memory is src.handle.memory


def test_only_metadata() -> None:
    """The scalar pipe, no data pipe: a record in the tile, on every target."""
    assert page_of(SYNTAX["asm"]).pipe is Pipe.S
    src, dst = bits("vec f32 8x16"), made("vec f32 8x16 valid 2x8")
    for target in ALL:
        with pto.target(target):
            before = src.storage()
            pto.subview(dst, src, 4, 8)
            assert np.array_equal(src.storage(), before)
        assert dst.handle.elements.address - src.handle.elements.address == (4 * 16 + 8) * 4


def test_no_synchronisation() -> None:
    """One instruction goes in, one comes out, in every form of text."""
    text = SYNTAX["ssa"].replace(T, spec("vec f32 8x16"), 1)
    text = text.replace(T, spec("vec f32 8x16 valid 2x8"))
    program = pto.loads(text)
    done = program.execute({"src": ramp(8, 16), "row_idx": 0, "col_idx": 0}, target="a5")
    assert done.instructions == {"pto.subview": 1}
    calls = [line for line in program.text("cpp").splitlines() if "(dst" in line]
    assert calls == ["  TSUBVIEW(dst, src, row_idx, col_idx);"]  # as the public header has it


@every("form", SYNTAX)
@every("target", ALL)
def test_syntax(form: str, target: str) -> None:
    op = only_op(SYNTAX[form])
    assert [op.bound(n)[0].name for n in ("src", "row", "col")] == ["src", "row_idx", "col_idx"]
    whole, part = spec("vec f32 8x16"), spec("vec f32 8x16 valid 2x8")
    if form == "asm":  # this line has no type for the result: it is what is left of the source
        text = SYNTAX[form].replace(T, whole)
        wanted = ramp(8, 16)[4:, 8:]
    else:
        text = SYNTAX[form].replace(T, whole, 1).replace(T, part)
        text = text.replace(B, whole, 1).replace(B, part)
        wanted = ramp(8, 16)[4:6, 8:]
    got = run(text, target, src=ramp(8, 16), row_idx=4, col_idx=8)["dst"]
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize("form", ["asm", "ssa"])
def test_syntax_with_elided_types(form: str) -> None:
    """The lines exactly as printed: the view is what is left of the source."""
    x = ramp(16, 16)
    got = run(SYNTAX[form], src=x, row_idx=2, col_idx=8)["dst"]
    assert np.array_equal(got, x[2:, 8:])


def test_signature() -> None:
    assert cpp_names(page_of(SYNTAX["asm"])) == ["dst", "src", "rowIdx", "colIdx"]
    parameters = inspect.signature(pto.subview).parameters
    assert list(parameters) == ["dst", "src", "row", "col", "events"]
    src, dst = bits("vec f32 8x16"), made("vec f32 8x16 valid 2x8")
    for row, col in ((-1, 0), (0, -1), (65536, 0), (0, 65536)):
        refused("window-out-of-bounds", pto.subview, dst, src, row, col)
    for whole, part, place in (
        ("vec i8 66000x32", "vec i8 66000x32 valid 1x32", (65536, 0)),
        ("vec i8 1x66016", "vec i8 1x66016 valid 1x32", (0, 65536)),
    ):
        found = refused("window-out-of-bounds", pto.subview, made(part), bits(whole), *place)
        assert "<= 65535" in rules(found)


@every("target", ALL)
def test_offsets_count_in_the_valid_region(target: str) -> None:
    """Not in the declared shape, where there would be room."""
    with pto.target(target):
        src, dst = bits("vec f32 8x32 valid 6x24"), made("vec f32 8x32 valid 2x8")
        pto.subview(dst, src, 4, 16)
        refused("window-out-of-bounds", pto.subview, dst, src, 5, 16)
        refused("window-out-of-bounds", pto.subview, dst, src, 4, 17)


@every("target", ALL)
def test_same_location(target: str) -> None:
    with pto.target(target):
        dst, src = made("mat f32 8x16 valid 2x8"), bits("vec f32 8x16")
        assert rules(refused("location", pto.subview, dst, src)) == "dst.loc == src.loc"


@every("target", ALL)
def test_same_capacity(target: str) -> None:
    with pto.target(target):
        for kind in ("vec f32 4x16 valid 2x8", "vec f32 8x8 valid 2x8", "vec f32 16x8 valid 2x8"):
            found = refused("shape", pto.subview, made(kind), bits("vec f32 8x16"))
            assert rules(found) == "dst.rows == src.rows and dst.cols == src.cols"


@every("target", ALL)
def test_same_layout(target: str) -> None:
    with pto.target(target):
        src = bits("vec f32 16x16")
        for layout in ("dn", "nz", "zn"):
            refused("layout", pto.subview, made(f"vec f32 16x16 {layout} valid 2x8"), src)
        refused("element-type", pto.subview, made("vec i32 16x16 valid 2x8"), src)


@every("target", ALL)
def test_source_contains_destination(target: str) -> None:
    with pto.target(target):
        src = bits("vec f32 8x16 valid 2x8")
        for shape in ("3x8", "2x9"):
            dst = made(f"vec f32 8x16 valid {shape}")
            found = refused("window-out-of-bounds", pto.subview, dst, src, 0, 0)
            assert "<= src.valid" in rules(found)


@every("target", ALL)
def test_boxed_views_start_on_boxes(target: str) -> None:
    with pto.target(target):
        x = ramp(32, 32)
        src, dst = made("mat f32 32x32 nz", x), made("mat f32 32x32 nz valid 16x8")
        pto.subview(dst, src, 16, 8)
        assert np.array_equal(dst.numpy(), x[16:, 8:16])
        refused("offset-misaligned", pto.subview, dst, src, 8, 8)
        refused("offset-misaligned", pto.subview, dst, src, 16, 4)


QUARTERS = ((0, 0), (0, 32), (2, 0), (2, 32))


@every("target", ALL)
def test_example(target: str) -> None:
    """A 4x64 tile in four parts of 2x32: together they are the whole, and write into it."""
    x = ramp(4, 64)
    with pto.target(target):
        src = made("vec f32 4x64", x)
        parts = [made("vec f32 4x64 valid 2x32") for _ in QUARTERS]
        for part, (row, col) in zip(parts, QUARTERS, strict=True):
            pto.subview(part, src, row, col)
            assert np.array_equal(part.numpy(), x[row : row + 2, col : col + 32])
        for n, part in enumerate(parts):
            pto.tmov(part, made("vec f32 4x64 valid 2x32", np.full((2, 32), n)))
    assert np.array_equal(src.numpy(), np.kron([[0, 1], [2, 3]], np.ones((2, 32))))


@every("target", ALL)
def test_example_as_a_program(target: str) -> None:
    whole, part = spec("vec f32 4x64"), spec("vec f32 4x64 valid 2x32")
    text = "".join(
        f"%r{n} = arith.constant {row} : index\n%c{n} = arith.constant {col} : index\n"
        f"%dst{n} = pto.subview %src, %r{n}, %c{n} : ({whole}, index, index) -> {part}\n"
        for n, (row, col) in enumerate(QUARTERS)
    )
    x = ramp(4, 64)
    assert pto.loads(text).check(*HARDWARE) == []
    out = run(text, target, src=x)
    for n, (row, col) in enumerate(QUARTERS):
        assert np.array_equal(out[f"dst{n}"], x[row : row + 2, col : col + 32])
