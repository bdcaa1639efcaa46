"""Views that state nz, and views whose numbers fit several layouts.

Extents and strides of boxes, and parts of whole boxes; one row or column, one box.
"""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every

LINES = (
    "view.dtype.bits < 8 or view.n4 * view.dtype.bits == 256"
    " or view.dtype.bits == 32 and view.n4 == 16"
)
ON_LINES = (
    "view.steps.n1 * view.dtype.bits % 256 == 0 and view.steps.n0 * view.dtype.bits % 256 == 0"
)
BOXES = ((1, 8, 8, 16, 8), (8192, 1024, 128, 8, 1))


def view(shape: tuple[int, ...], strides: tuple[int, ...], part: str = "") -> str:
    numbers = sorted({0, 1, *shape, *strides, *range(20)})
    constants = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in numbers)
    of = "!pto.tensor_view<" + "x".join(map(str, shape)) + "xf32>"

    def listed(values: tuple[int, ...]) -> str:
        return ", ".join(f"%c{n}" for n in values)

    made = (
        f"  %v = pto.make_tensor_view %p, shape = [{listed(shape)}], "
        f"strides = [{listed(strides)}] {{layout = #pto.layout<nz>}} : {of}\n"
    )
    if part:
        offsets, sizes = (tuple(map(int, half.split())) for half in part.split("|"))
        to = "!pto.partition_tensor_view<" + "x".join(map(str, sizes)) + "xf32>"
        made += (
            f"  %w = pto.partition_view %v, offsets = [{listed(offsets)}], "
            f"sizes = [{listed(sizes)}] : {of} -> {to}\n"
        )
    return f"func.func @f(%p: !pto.ptr<f32>) {{\n{constants}{made}  return\n}}\n"


def found(text: str) -> list[str]:
    return [d.rule or "" for d in pto.loads(text).check("a5") if d.is_error]


@every("part", ["", "0 2 0 0 0|1 4 8 16 8", "0 0 2 0 0|1 8 4 16 8"])
def test_boxes_and_parts_of_whole_boxes(part: str) -> None:
    assert found(view(*BOXES, part)) == []


@every(
    ("shape", "strides", "rule"),
    [
        ((1, 8, 8, 8, 8), BOXES[1], "view.n3 == 16"),
        ((1, 8, 8, 16, 4), (4096, 512, 64, 4, 1), LINES),
        ((1, 8, 8, 16, 8), (8228, 1028, 128, 8, 1), ON_LINES),
        (
            (2, 8, 8, 16, 8),
            (4096, 1024, 128, 8, 1),
            "view.n0 <= 1 or view.steps.n0 >= view.n1 * view.steps.n1",
        ),
        ((8, 8, 16, 8), (1024, 128, 8, 1), "view.rank == 5"),
        (BOXES[0], (8192, 1024, 64, 8, 1), "view.steps.n2 == view.n4 * 16"),
        (
            BOXES[0],
            (8192, 512, 128, 8, 1),
            "view.n1 <= 1 or view.steps.n1 >= view.n2 * view.steps.n2",
        ),
    ],
)
def test_other_extents_and_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], rule: str
) -> None:
    assert found(view(shape, strides)) == [rule]


@pytest.mark.parametrize(
    ("part", "rule"),
    [
        ("0 0 0 1 0|1 8 8 15 8", "view.n3 == 16"),
        ("0 0 0 0 1|1 8 8 16 7", LINES),
    ],
)
def test_parts_of_boxes(part: str, rule: str) -> None:
    assert found(view(*BOXES, part)) == [rule]


@every(
    ("shape", "strides", "implied"),
    [
        (*BOXES, True),
        ((1, 8, 1, 16, 8), (1024, 128, 128, 8, 1), True),
        ((1, 1, 1, 16, 8), (128, 128, 128, 8, 1), False),  # one box
        ((2, 8, 8, 16, 8), (8192, 1024, 128, 8, 1), False),  # a matrix of blocks looks the same
        ((1, 4, 8, 16, 8), (8192, 1024, 128, 8, 1), False),  # gaps
        ((1, 8, 8, 8, 16), (8192, 1024, 128, 16, 1), False),
    ],
)
def test_numbers_that_imply_nz(
    shape: tuple[int, ...], strides: tuple[int, ...], implied: bool
) -> None:
    """D17: then a part of a box is refused, as where the view says nz."""
    sizes = " ".join(map(str, (*shape[:3], shape[3] - 1, shape[4])))
    text = view(shape, strides, f"0 0 0 1 0|{sizes}").replace(" {layout = #pto.layout<nz>}", "")
    slugs = {t: {d.slug for d in pto.loads(text).check(t) if d.is_error} for t in ("a2a3", "a5")}
    assert slugs == {"a2a3": {"layout"} if implied else set(), "a5": set()}


@pytest.mark.parametrize(("stated", "slugs"), [("nz", set[str]()), ("nd", {"layout"})])
def test_a_part_that_states_a_layout_has_that_of_its_view(stated: str, slugs: set[str]) -> None:
    text = view(*BOXES, "0 0 0 0 0|1 4 8 16 8").replace(
        "sizes = [%c1, %c4, %c8, %c16, %c8]",
        f"sizes = [%c1, %c4, %c8, %c16, %c8] {{layout = #pto.layout<{stated}>}}",
    )
    assert stated in text
    program = pto.loads(text)
    assert {d.slug for d in program.check("a5") if d.is_error} == slugs
    assert pto.loads(program.text("dps")).text("dps") == program.text("dps")


def test_strides_that_are_not_known_yet() -> None:
    """C++ spells them -1."""
    text = view((4, 8, 16), (128, 16, 1)).replace(" {layout = #pto.layout<nz>}", "")
    text = text.replace("%c16, %c1] : ", "%c16, %m] : ").replace(
        "  %v =", "  %m = arith.constant -1 : index\n  %v ="
    )
    for judge in ("assembler", None):
        problems = pto.loads(text).check("a2a3", judge=judge)
        told = [("operand-value", judge is None), ("shape", False)]  # elements share places
        assert [(d.slug, d.is_error) for d in problems] == told
    with pytest.raises(pto.PtoError, match="strides"):
        pto.loads(text).run(p=[0.0] * 512)


COPY = """
func.func @f(%p: !pto.ptr<f16>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant {elements} : index
  %v = pto.make_tensor_view %p, shape = [%c1, %c1, %c1, %c{rows}, %c{cols}],
    strides = [%n, %n, %n, %c{step}, %c1] : !pto.tensor_view<1x1x1x{rows}x{cols}xf16>
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0],
    sizes = [%c1, %c1, %c1, %c{rows}, %c{cols}] :
    !pto.tensor_view<1x1x1x{rows}x{cols}xf16> -> !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>
  %t = pto.alloc_tile : !pto.tile_buf<vec, {tile}>
  pto.tload ins(%w : !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>)
    outs(%t : !pto.tile_buf<vec, {tile}>)
  pto.tstore ins(%t : !pto.tile_buf<vec, {tile}>)
    outs(%w : !pto.partition_tensor_view<1x1x1x{rows}x{cols}xf16>)
  return
}}
"""


def words(rows: int, cols: int, tile: str, *targets: str) -> set[str]:
    text = COPY.format(rows=rows, cols=cols, step=cols, elements=rows * cols, tile=tile)
    return {str(v.word.value) for v in pto.loads(text).verdicts(*targets)}


@every(
    ("rows", "cols", "tile"),
    [
        (1, 16, "1x16xf16"),
        (16, 1, "16x1xf16, blayout=col_major"),
        (16, 1, "16x16xf16, valid=16x1"),
        (16, 16, "16x16xf16"),
        (16, 16, "16x16xf16, blayout=col_major, slayout=row_major"),
    ],
)
def test_what_one_of_the_layouts_allows_is_legal(rows: int, cols: int, tile: str) -> None:
    assert words(rows, cols, tile, "cpu", "a2a3", "a5") == {"legal"}


def test_what_none_of_them_allows_is_not() -> None:
    assert words(16, 16, "16x16xf16, blayout=col_major", "a5") == {"undecided"}
