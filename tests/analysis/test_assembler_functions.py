"""What the public assembler asks of functions: arguments, kinds of cores, types of new tiles."""

from __future__ import annotations

import pytest
from test_assembler import program, tile, wrong

import ptokit as pto
from every import every

HARD = ("a2a3", "a5")
COLUMN, WIDE = tile("vec", "8x1xi32"), tile("vec", "8x16xf32")
COUNTED = {"a": WIDE, "b": WIDE, "i": COLUMN, "j": COLUMN, "d": WIDE}
JOINED = program(
    COUNTED,
    f"pto.tconcatidx ins(%a, %b, %i, %j : {WIDE}, {WIDE}, {COLUMN}, {COLUMN}) outs(%d : {WIDE})",
)
MEMREF = program({"m": "memref<3xf32, #pto.address_space<vec>>"})
OPENED = (
    "pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024} (c2v_consumer_buf = %n : i32)"
)


@every("target", HARD)
@every("text", [JOINED, MEMREF])
def test_lines_of_what_a_caller_makes_are_a_warning(text: str, target: str) -> None:
    found = pto.loads(text).check(target)
    assert "tile-alignment" in {d.slug for d in found if not d.is_error}
    assert "tile-alignment" not in {d.slug for d in found if d.is_error}


@pytest.mark.parametrize("target", HARD)
def test_lines_of_what_the_function_makes_are_whole(target: str) -> None:
    assert "tile-alignment" in wrong(program({}, f"%t = pto.alloc_tile : {COLUMN}"), target)


@pytest.mark.parametrize("target", HARD)
def test_whole_boxes_are_asked_where_a_tile_is_allocated(target: str) -> None:
    """What is asked of every tile stays an error where a caller makes it."""
    boxes = "blayout=col_major, slayout=row_major"
    parts = f"!pto.tile_buf<mat, 16x8xf16, {boxes}>"
    beyond = f"!pto.tile_buf<mat, 16x16xf16, valid=32x16, {boxes}>"
    assert wrong(program({}, f"%t = pto.alloc_tile : {parts}"), target) == {"tile-shape"}
    made_elsewhere = pto.loads(program({"t": parts})).check(target)
    assert [(d.slug, d.is_error) for d in made_elsewhere] == [("tile-shape", False)]
    assert wrong(program({"t": beyond}), target) == {"tile-shape"}


def in_section(kind: str) -> str:
    return program({"n": "i32"}, f"pto.section.{kind} {{", OPENED, "}")


@pytest.mark.parametrize("target", HARD)
def test_an_end_of_a_pipe_is_set_up_where_the_kind_of_core_is_said(target: str) -> None:
    branch = program({"n": "i32", "b": "i1"}, "scf.if %b {", OPENED, "}")
    for text in (program({"n": "i32"}, OPENED), branch, in_section("cube")):
        assert "core" in wrong(text, target)
    assert "core" not in wrong(in_section("vector"), target)


@every("dtype", ["!pto.hif8", "f8E4M3FN", "f8E5M2", "!pto.f4E2M1x2"])
def test_narrow_floats_are_of_a5(dtype: str) -> None:
    text = program({}, f"%t = pto.alloc_tile : {tile('vec', f'16x64x{dtype}')}")
    assert wrong(text, "a2a3") == {"element-type"}
    assert not wrong(text, "a5")


PART = "!pto.partition_tensor_view<64x304xi32>"


def with_scratch(*lines: str) -> str:
    kind = tile("vec", "64x304xi32")
    names = ("a", "b", "t", "d")
    return program(
        {"p": PART},
        *(f"%{name} = pto.alloc_tile : {kind}" for name in names),
        *(f"pto.tload ins(%p : {PART}) outs(%{n} : {kind})" for n in "ab"),
        f"pto.txor ins(%a, %b, %t : {kind}, {kind}, {kind}) outs(%d : {kind})",
        *(line.format(kind=kind) for line in lines),
    )


def test_scratch_that_a5_does_without_takes_no_memory() -> None:
    """Three of these tiles fit, four do not."""
    unused, used = (
        with_scratch(),
        with_scratch(
            f"pto.tload ins(%p : {PART}) outs(%t : {{kind}})",
            "pto.tadd ins(%a, %b : {kind}, {kind}) outs(%a : {kind})",
            "pto.tadd ins(%t, %d : {kind}, {kind}) outs(%t : {kind})",
        ),
    )
    assert not wrong(unused, "a5")
    assert wrong(used, "a5") == {"out-of-memory"}
    assert wrong(unused, "a2a3") == {"out-of-memory"}


@pytest.mark.parametrize("target", HARD)
def test_lines_of_what_a_pipe_fills_are_a_warning(target: str) -> None:
    narrow = tile("vec", "8x4xf32")
    found = pto.loads(program({}, f"%t = pto.declare_tile -> {narrow}")).check(target)
    lines = [d for d in found if d.slug == "tile-alignment"]
    assert [d.is_error for d in lines] == [False]
    assert "popped" in str(lines[0].help)


STATIC, OPEN = tile("vec", "32x32xf32"), tile("vec", "32x32xf32", "valid=32x?")
RETURNED = "func.func @callee(%x: T) -> T {\nreturn %x : T\n}\n"
DECLARED = "func.func private @ext() -> T\n"
SEVERAL = "func.func private @ext(%n: index) -> (index, T)\n"
TAKEN = program({"x": "T"}, "func.call @sink(%x) : (T) -> ()").replace("@f", "@caller")
SINK = "\nfunc.func private @sink(%x: T)\n"


@every("kind", [STATIC, OPEN])
@every("text", [RETURNED, DECLARED, SEVERAL])
def test_functions_return_tiles(text: str, kind: str) -> None:
    """Entries alone return nothing: elsewhere the newest assembler takes handles as results."""
    for target in (*HARD, "cpu"):
        assert not wrong(text.replace("T", kind), target)


@pytest.mark.parametrize("kind", [STATIC, OPEN])
def test_functions_elsewhere_take_tiles(kind: str) -> None:
    for target in (*HARD, "cpu"):
        assert not wrong((TAKEN + SINK).replace("T", kind), target)
