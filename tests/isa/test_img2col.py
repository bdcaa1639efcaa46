"""TIMG2COL and the registers it reads, against a formula for each element."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from every import every
from naming import named
from oracles.feature_maps import patches
from ptokit.launch.settings import current_core

SHAPE = (1, 1, 3, 4, 8)
HOW: dict[str, Any] = {"filter": (2, 2), "padding": (1, 0, 1, 0)}


def numbers(shape: tuple[int, ...] = SHAPE) -> NDArray[np.float32]:
    return (np.arange(int(np.prod(shape))) * 7 % 113 + 1).astype(np.float32).reshape(shape)


CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    (SHAPE, HOW),
    ((1, 3, 3, 4, 8), HOW),
    ((1, 2, 5, 7, 8), {"filter": (3, 2), "stride": (2, 2), "padding": (1, 1, 1, 1)}),
    ((2, 1, 4, 5, 8), {"filter": (1, 3), "stride": (1, 2), "padding": (2, 0, 0, 3)}),
    ((1, 2, 6, 5, 8), {"filter": (2, 3), "dilation": (3, 2), "padding": (1, 2, 0, 1)}),
    ((2, 1, 3, 3, 8), {"filter": (3, 3), "padding": (1, 1, 1, 1), "pad_value": -7}),
]


def test_windows_and_tails() -> None:
    """By the formula of the oracle; behind the last row and column is the pad value."""
    for shape, how in CASES:
        for first, valid in (((0, 0), (48, 144)), ((1, 8), (8, 16)), ((5, 3), (35, 57))):
            with named(shape, how, first, valid):
                src = pto.conv_tile("f32", shape, layout="nc1hwc0", data=numbers(shape), **how)
                rows, cols = (-(-n // box) * box for n, box in zip(valid, (16, 8), strict=True))
                dst = pto.tile("left", "f32", rows, cols, layout="nz", valid=valid, fractal=512)
                pto.timg2col(dst, src, *first, mode="a_auto")
                wanted = patches(numbers(shape), src.handle.type, first, valid)
                assert np.array_equal(dst.numpy(), wanted)


def problem(run: Any) -> Any:  # Any: a function; a diagnostic
    with pytest.raises(pto.PtoError) as caught:
        run()
    return caught.value.diagnostics[0]


@every("target", ["cpu", "a2a3", "a5"])
def test_eight_bit_floats_are_refused(target: str) -> None:
    with pto.target(target):
        src = pto.conv_tile("f8e4m3", (1, 1, 3, 4, 32), layout="nc1hwc0")
        dst = pto.tile_left("f8e4m3", 16, 32)
        assert problem(lambda: pto.timg2col(dst, src, mode="a_auto")).slug == "element-type"


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_manual_modes_read_what_was_set(target: str) -> None:
    layout = "zz" if target == "a2a3" else "nz"
    with pto.target(target):
        src = pto.conv_tile("f32", SHAPE, layout="nc1hwc0", data=numbers(), **HOW)
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
        other = pto.conv_tile("f32", (1, 1, 9, 4, 8), layout="nc1hwc0", **HOW)
        pto.setfmatrix(other)
        assert problem(lambda: pto.timg2col(dst, src)).rule == "FMATRIX_A == 0x1000100030004"
    with pto.target(target):  # another run: nothing is set
        assert problem(lambda: pto.timg2col(dst, src)).slug == "register-not-set"


def test_the_register_of_the_pad_value() -> None:
    """Bits of the element type; eight bits stand twice."""
    for dtype, value, bits in (("i8", -2, 0xFEFE), ("f16", 1.5, 0x3E00)):
        src = pto.conv_tile(dtype, (1, 1, 1, 1, 16), layout="nc1hwc0", pad_value=value)
        with pto.target("a5"):
            pto.set_img2col_padding(src, mode="b_manual")
            assert current_core().state.registers == {"PADDING_B": bits}


def test_a2a3_has_no_place_to_repeat_into() -> None:
    src = pto.conv_tile("i8", (1, 1, 3, 4, 32), layout="nc1hwc0", into=(0x345, 0x678))
    with pto.target("a2a3"):
        assert problem(lambda: pto.set_img2col_rpt(src)).rule == "src.into == (0, 0)"


@every(
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


def test_parameters_of_the_fix_pipe_are_in_scaling_memory() -> None:
    vec = pto.tile("vec", "u64", 1, 16)
    with pto.target("a5"):
        assert problem(lambda: pto.set_quant_vector(vec)).slug == "location"


ADDRESSED = """\
%at = arith.constant {at} : i64
%fp = pto.alloc_tile addr = %at : !pto.tile_buf<scaling, 1x16xui64>
pto.set_quant_vector ins(%fp : !pto.tile_buf<scaling, 1x16xui64>)
"""


@every(("at", "fine"), [(0, True), (256, True), (64, False)])
def test_parameters_start_on_a_granule(at: int, fine: bool) -> None:
    program = pto.loads(ADDRESSED.format(at=at))
    if fine:
        program.run(target="a5")
    else:
        assert problem(lambda: program.run(target="a5")).slug == "address-misaligned"


MAP = "!pto.conv_tile<nc1hwc0, 1x1x3x4x8xf32, padding=[1, 0, 1, 0], filter=[2, 2]>"
LEFT = "!pto.tile_buf<left, 16x16xf32, blayout=col_major, slayout=row_major>"


@every("form", ["dps", "ssa", "as"])
@every("given", ["{posM = 1, posK = 8}", "{posM = 1 : i32, posK = 8 : i32}"])
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
    x = numbers()
    found = pto.loads(text).run(target="a5", map=x)["out"]
    src = pto.conv_tile("f32", SHAPE, layout="nc1hwc0", data=x, **HOW)
    wanted = pto.tile("left", "f32", 16, 16, layout="nz", fractal=512)
    pto.timg2col(wanted, src, 1, 8, mode="a_auto")
    assert np.array_equal(found, wanted.numpy())


@every("shape", [(), (1, 1, 0, 4, 8), (1, 1, 4, 4, 0)], ids=str)
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


@every("given", WRONG_STEPS, ids=str)
def test_steps_of_a_convolution_are_whole_numbers(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ValueError, match=f"^{name}: expected an integer or . integers, got "):
        pto.conv(**given)
    assert pto.conv(filter=cast(int, np.int64(3))).filter == (3, 3)
