"""Views that state nz: extents and strides of boxes, and parts of whole boxes."""

from __future__ import annotations

import pytest

import ptokit as pto

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


@pytest.mark.parametrize("part", ["", "0 2 0 0 0|1 4 8 16 8", "0 0 2 0 0|1 8 4 16 8"])
def test_boxes_and_parts_of_whole_boxes(part: str) -> None:
    assert found(view(*BOXES, part)) == []


@pytest.mark.parametrize(
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
