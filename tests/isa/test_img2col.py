"""TIMG2COL and the registers it reads, against a formula for each element."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from oracles.storage import offsets
from ptokit.launch.settings import current_core

Array = NDArray[Any]  # Any: one helper serves all element types
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8}


@dataclass(frozen=True)
class Unroll:
    """A feature map [N, C1, H, W, C0] and how it is unrolled; pairs are (height, width)."""

    shape: tuple[int, int, int, int, int]
    filter: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    pad_value: float = 0

    def how(self) -> dict[str, Any]:
        names = ("filter", "stride", "dilation", "padding", "pad_value")
        return {name: getattr(self, name) for name in names}

    def positions(self, axis: int) -> int:
        before, after = self.padding[2:] if axis == 0 else self.padding[:2]
        reach = self.dilation[axis] * (self.filter[axis] - 1) + 1
        return (self.shape[2 + axis] + before + after - reach) // self.stride[axis] + 1

    def element(self, x: Array, m: int, k: int) -> Any:  # Any: an element
        """Row m, column k of the matrix, straight from the definition."""
        count, blocks, height, width, c0 = self.shape
        down, across = self.positions(0), self.positions(1)
        image, row, col = m // (down * across), m // across % down, m % across
        lane, place = k % c0, k // c0 % (self.filter[0] * self.filter[1])
        block = k // (c0 * self.filter[0] * self.filter[1])
        h = row * self.stride[0] + place // self.filter[1] * self.dilation[0] - self.padding[2]
        w = col * self.stride[1] + place % self.filter[1] * self.dilation[1] - self.padding[0]
        if image < count and block < blocks and 0 <= h < height and 0 <= w < width:
            return x[image, block, h, w, lane]
        return self.pad_value

    def matrix(self, x: Array, m: range, k: range) -> Array:
        elements = [self.element(x, i, j) for i, j in product(m, k)]
        return np.array(elements, x.dtype).reshape(len(m), len(k))


def numbers(shape: tuple[int, ...], dtype: str) -> Array:
    return (np.arange(int(np.prod(shape))) * 7 % 113 + 1).astype(TYPES[dtype]).reshape(shape)


def up(n: int, box: int) -> int:
    return -(-n // box) * box


def unrolled(
    case: Unroll, dtype: str, m: range, k: range, layout: str = "nz"
) -> tuple[pto.Tile, Array]:
    """Run the window m x k of the matrix; the tile, and what its valid region must be."""
    x = numbers(case.shape, dtype)
    c0 = 32 // x.itemsize
    src = pto.conv_tile(dtype, case.shape, layout="nc1hwc0", data=x, **case.how())
    valid = (len(m), len(k))
    dst = pto.tile(
        "left", dtype, up(len(m), 16), up(len(k), c0), layout=layout, valid=valid, fractal=512
    )
    pto.timg2col(dst, src, m.start, k.start, mode="a_auto")
    return dst, case.matrix(x, m, k)


CASES = {
    "padding left and top": Unroll((1, 1, 3, 4, 8), (2, 2), padding=(1, 0, 1, 0)),
    "split k": Unroll((1, 3, 3, 4, 8), (2, 2), padding=(1, 0, 1, 0)),
    "stride": Unroll((1, 2, 5, 7, 8), (3, 2), stride=(2, 2), padding=(1, 1, 1, 1)),
    "uneven": Unroll((2, 1, 4, 5, 8), (1, 3), stride=(1, 2), padding=(2, 0, 0, 3)),
    "dilation": Unroll((1, 2, 6, 5, 8), (2, 3), dilation=(3, 2), padding=(1, 2, 0, 1)),
    "pad value": Unroll((2, 1, 3, 3, 8), (3, 3), padding=(1, 1, 1, 1), pad_value=-7),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_whole_matrix(case: Unroll) -> None:
    rows = case.shape[0] * case.positions(0) * case.positions(1)
    cols = case.shape[1] * case.filter[0] * case.filter[1] * case.shape[4]
    tile, wanted = unrolled(case, "f32", range(rows), range(cols))
    assert np.array_equal(tile.numpy(), wanted)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize(("m", "k"), [(range(1, 9), range(8, 24)), (range(5, 40), range(3, 60))])
def test_windows_and_tails(case: Unroll, m: range, k: range) -> None:
    """What lies after the last row or column of the matrix is the pad value."""
    tile, wanted = unrolled(case, "f32", m, k)
    assert np.array_equal(tile.numpy(), wanted)


@pytest.mark.parametrize("dtype", ["f16", "i8"])
@pytest.mark.parametrize(("target", "layout"), [("cpu", "nz"), ("a2a3", "zz"), ("a5", "nz")])
def test_narrow_types_in_the_layout_of_each_target(dtype: str, target: str, layout: str) -> None:
    c0 = 32 // np.dtype(TYPES[dtype]).itemsize
    case = Unroll((1, 2, 4, 5, c0), (3, 3), padding=(1, 1, 1, 1), pad_value=5)
    with pto.target(target):
        tile, wanted = unrolled(case, dtype, range(16), range(2 * c0), layout)
    place = offsets(layout, 512, 16, 2 * c0, c0)
    assert np.array_equal(tile.storage().view(TYPES[dtype])[place], wanted)


def problem(run: Any) -> Any:  # Any: a function; a diagnostic
    with pytest.raises(pto.PtoError) as caught:
        run()
    return caught.value.diagnostics[0]


CASE = CASES["padding left and top"]


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_eight_bit_floats_are_refused(target: str) -> None:
    with pto.target(target):
        src = pto.conv_tile("f8e4m3", (1, 1, 3, 4, 32), layout="nc1hwc0")
        dst = pto.tile_left("f8e4m3", 16, 32)
        assert problem(lambda: pto.timg2col(dst, src, mode="a_auto")).slug == "element-type"


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_manual_modes_read_what_was_set(target: str) -> None:
    layout = "zz" if target == "a2a3" else "nz"
    with pto.target(target):
        src = pto.conv_tile(
            "f32", CASE.shape, layout="nc1hwc0", data=numbers(CASE.shape, "f32"), **CASE.how()
        )
        dst = pto.tile("left", "f32", 16, 32, layout=layout)
        found = problem(lambda: pto.timg2col(dst, src))
        assert (found.slug, found.seen) == ("register-not-set", "FMATRIX_A was never set")
        for program in (pto.setfmatrix, pto.set_img2col_padding, pto.set_img2col_rpt):
            program(src)
        pto.timg2col(dst, src)
        assert problem(lambda: pto.timg2col(dst, src, mode="b_manual")).seen == (
            "FMATRIX_B was never set"
        )
        pto.timg2col(dst, src, mode="b_auto")
        other = pto.conv_tile("f32", (1, 1, 9, 4, 8), layout="nc1hwc0", **CASE.how())
        pto.setfmatrix(other)
        assert problem(lambda: pto.timg2col(dst, src)).rule == "FMATRIX_A == 0x1000100030004"
    with pto.target(target):  # another run: nothing is set
        assert problem(lambda: pto.timg2col(dst, src)).slug == "register-not-set"


def test_the_packing_of_the_registers() -> None:
    src = pto.conv_tile(
        "i8",
        (1, 1, 0x123, 0x4567, 32),
        layout="nc1hwc0",
        padding=(1, 2, 3, 4),
        pad_value=-2,
        repeat=(0xABC, 0x12, 1),
        into=(0x345, 0x678),
    )
    with pto.target("a5"):
        registers = current_core().state.registers
        pto.setfmatrix(src)
        pto.set_img2col_padding(src, mode="b_manual")
        pto.set_img2col_rpt(src)
        assert registers == {
            "FMATRIX_A": 0x0403_0201_0123_4567,
            "PADDING_B": 0xFEFE,
            "RPT_A": 0x0678_0345_0112_0ABC,
        }
        half = pto.conv_tile("f16", (1, 1, 1, 1, 16), layout="nc1hwc0", pad_value=1.5)
        pto.set_img2col_padding(half)
        assert registers["PADDING_A"] == 0x3E00
    with pto.target("a2a3"):
        assert problem(lambda: pto.set_img2col_rpt(src)).rule == "src.into == (0, 0)"


@pytest.mark.parametrize(
    ("shape", "padding", "slug"),
    [
        ((1, 1, 1, 1 << 16, 8), (0, 0, 0, 0), "shape"),
        ((1, 1, 2, 4, 8), (0, 256, 0, 0), "attribute"),
        ((1, 1, 2, 4, 8), (0, 0, -1, 0), "attribute"),
    ],
)
def test_what_no_register_holds(
    shape: tuple[int, ...], padding: tuple[int, int, int, int], slug: str
) -> None:
    src = pto.conv_tile("f32", shape, layout="nc1hwc0", padding=padding)
    assert problem(lambda: pto.setfmatrix(src)).slug == slug


def test_the_registers_of_the_fix_pipe() -> None:
    with pto.target("a5"):
        registers = current_core().state.registers
        pto.set_quant_scalar(0.5)
        assert registers["QUANT_PRE"] == 0x3F000000 | 1 << 46
        pto.set_quant_scalar(2, out="u8")
        assert registers["QUANT_PRE"] == 0x40000000
        pto.set_quant_vector(pto.tile("scaling", "u64", 1, 16))
        assert registers["FPC"] == 0
        vec = pto.tile("vec", "u64", 1, 16)
        assert problem(lambda: pto.set_quant_vector(vec)).slug == "location"


ADDRESSED = """\
%at = arith.constant {at} : i64
%fp = pto.alloc_tile addr = %at : !pto.tile_buf<scaling, 1x16xui64>
pto.set_quant_vector ins(%fp : !pto.tile_buf<scaling, 1x16xui64>)
"""


@pytest.mark.parametrize(("at", "fine"), [(0, True), (256, True), (64, False)])
def test_parameters_start_on_a_granule(at: int, fine: bool) -> None:
    program = pto.loads(ADDRESSED.format(at=at))
    if fine:
        program.run(target="a5")
    else:
        assert problem(lambda: program.run(target="a5")).slug == "address-misaligned"


MAP = "!pto.conv_tile<nc1hwc0, 1x1x3x4x8xf32, padding=[1, 0, 1, 0], filter=[2, 2]>"
LEFT = "!pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>"


@pytest.mark.parametrize("form", ["dps", "ssa", "as"])
@pytest.mark.parametrize("given", ["{posM = 1, posK = 8}", "{posM = 1 : i32, posK = 8 : i32}"])
def test_positions_and_registers_in_text(form: str, given: str) -> None:
    text = f"""
    func.func @f(%map: {MAP}) {{
      pto.SETFMATRIX ins(%map : !pto.fmatrix_config) outs()
      pto.SET_IMG2COL_PADDING %map : !pto.img2col_config -> ()
      pto.set_img2col_rpt ins(%map : {MAP})
      %l = pto.alloc_tile : {LEFT}
      pto.timg2col ins(%map : {MAP}) outs(%l : {LEFT}) {given}
      return
    }}"""
    program = pto.loads(text)
    assert pto.loads(program.text(form)).text(form) == program.text(form)
    assert program.check("a5") == []
    assert re.search(r"timg2col.*(%c1, %c8|1, 8)", program.text(form))


def test_a_program_runs() -> None:
    text = f"""
    func.func @f(%map: {MAP}, %out: {LEFT}) {{
      pto.setfmatrix ins(%map : {MAP})
      pto.set_img2col_padding ins(%map : {MAP})
      pto.set_img2col_rpt ins(%map : {MAP})
      pto.timg2col ins(%map : {MAP}) outs(%out : {LEFT}) {{posM = 1, posK = 8}}
      return
    }}"""
    x = numbers(CASE.shape, "f32")
    found = pto.loads(text).run(target="a5", map=x)["out"]
    assert np.array_equal(found, CASE.matrix(x, range(1, 17), range(8, 24)))


@pytest.mark.parametrize("shape", [(), (1, 1, 0, 4, 8), (1, 1, 4, 4, 0)], ids=str)
def test_extents_are_positive(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="are positive"):
        pto.conv_tile("f32", shape, layout="nc1hwc0")


WRONG_STEPS: list[dict[str, Any]] = [
    {"filter": "33"},
    {"filter": (3.0, 3.0)},
    {"stride": (1,)},
    {"padding": (1, 2, 3)},
    {"dilation": None},
]


@pytest.mark.parametrize("given", WRONG_STEPS, ids=str)
def test_steps_of_a_convolution_are_whole_numbers(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ValueError, match=f"^{name}: expected an integer or . integers, got "):
        pto.conv(**given)
    assert pto.conv(filter=cast(int, np.int64(3))).filter == (3, 3)
