"""The page of the layout set: its operations, how they move, and what they must not do."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from seed_pages import (
    ALL,
    HARDWARE,
    B,
    T,
    accepts,
    cpp_names,
    page_of,
    parameters,
    ramp,
    refused,
    rules,
    run,
    spec,
)

import ptokit as pto
from every import every
from oracles.feature_maps import patches
from ptokit.isa.index import lookup
from tiles import bits, made

OPERATIONS = [
    *("tmov", "tmov_fp", "treshape", "ttrans", "tconcat", "tpack"),
    *("textract", "textract_fp", "tinsert", "tinsert_fp"),
    *("tfillpad", "tfillpad_inplace", "tfillpad_expand", "timg2col"),
]


@every("name", OPERATIONS)
def test_operations(name: str) -> None:
    """Every one is there: as a page, in text with `pto.`, and as a Python function."""
    forms = lookup(f"pto.{name}")
    assert forms
    assert forms[0].cpp == name.upper()
    assert callable(getattr(pto, name))


# Moving without change ---------------------------------------------------------------------------


@every("dtype", ["f32", "f16", "bf16", "i8", "u16", "i64", "hif8", "f8e5m2"])
def test_plain_forms_move_bits(dtype: str) -> None:
    """Any bits at all, NaNs included, in any plain form: element by element the same codes."""
    src = bits(f"vec {dtype} 32x32")
    code = np.dtype(f"u{src.dtype.size}")
    codes = src.storage().view(code).reshape(32, 32)

    def moved(shape: str) -> tuple[pto.Tile, Any]:
        dst = made(f"vec {dtype} {shape}")
        return dst, lambda: dst.storage().view(code).reshape(dst.type.rows, dst.type.cols)

    dst, got = moved("32x32")
    pto.tmov(dst, src)
    assert np.array_equal(got(), codes)
    dst, got = moved("16x32")
    pto.textract(dst, src, 7, 0)
    assert np.array_equal(got(), codes[7:23])
    dst, got = moved("32x32")
    pto.ttrans(dst, src)
    assert np.array_equal(got(), codes.T)
    dst, got = moved("64x64")
    pto.tmov(dst, bits(f"vec {dtype} 64x64", seed=9))
    pto.tinsert(dst, src, 8, 32)
    assert np.array_equal(got()[8:40, 32:], codes)
    dst, got = moved("16x64")
    pto.treshape(dst, src)
    assert np.array_equal(got().reshape(-1), codes.reshape(-1))


@every("target", ALL)
def test_values_change_only_on_request(target: str) -> None:
    """The fix-pipe, relu, packing and pads change values; nothing else does."""
    x = (ramp(32, 32) - 500) / 4
    with pto.target(target):
        acc = made("acc f32 32x32 nz", x)
        half, byte = made("mat f16 32x32 nz"), made("mat i8 32x32 nz")
        pto.tmov(half, acc, relu="normal")
        assert np.array_equal(half.numpy(), np.maximum(x, 0).astype(np.float16))
        pto.tmov_fp(byte, acc, parameters(np.full(32, 0.5, np.float32)))
        assert np.array_equal(byte.numpy(), np.clip(np.rint(x * 0.5), -128, 127))


@every("name", ["tmov_fp", "textract_fp", "tinsert_fp"])
@every("target", ALL)
def test_fp_is_the_fix_pipe(name: str, target: str) -> None:
    """One parameter for each column, in scaling memory; no number to fill with, no padding."""
    scales = (np.arange(32, dtype=np.float32) + 1) / 16
    x = (ramp(32, 32) - 500) / 4
    with pto.target(target):
        acc, dst = made("acc f32 32x32 nz", x), made("mat i8 32x32 nz", np.zeros((32, 32)))
        function = getattr(pto, name)
        function(dst, acc, parameters(scales))
        assert np.array_equal(dst.numpy(), np.clip(np.rint(x * scales), -128, 127))
        assert "fp.dtype in" in rules(
            refused("element-type", function, dst, acc, made("scaling u32 1x32", ramp(1, 32)))
        )
        with pytest.raises(TypeError, match="fp must be a tile"):
            function(dst, acc, 1.0)


# Transform ---------------------------------------------------------------------------------------


@every("target", ALL)
@every(("rows", "cols"), [(16, 16), (16, 32), (8, 64)])
def test_transpose(target: str, rows: int, cols: int) -> None:
    """dst[i, j] = src[j, i]; square or not."""
    x = ramp(rows, cols)
    with pto.target(target):
        dst, tmp = made(f"vec f32 {cols}x{rows}"), made(f"vec f32 {cols}x{rows}")
        pto.ttrans(dst, made(f"vec f32 {rows}x{cols}", x), tmp=tmp)
    assert np.array_equal(dst.numpy(), [[x[j, i] for j in range(rows)] for i in range(cols)])
    with pto.target(target):
        wrong = made("vec f32 24x24")
        found = refused("shape", pto.ttrans, wrong, made(f"vec f32 {rows}x{cols}", x), tmp=tmp)
        assert "dst.valid.rows == src.valid.cols" in rules(found)


@every("target", ALL)
def test_reshape(target: str) -> None:
    """The same elements in the same order, under another shape, and the same bytes."""
    x = ramp(4, 64)
    with pto.target(target):
        src, dst = made("vec f32 4x64", x), made("vec f32 16x16")
        pto.treshape(dst, src)
        assert np.array_equal(dst.numpy(), x.reshape(16, 16))
        pto.tmov(dst, made("vec f32 16x16", ramp(16, 16, start=999)))
    assert np.array_equal(src.numpy().reshape(-1), ramp(16, 16, start=999).reshape(-1))


@every("target", ALL)
def test_concat(target: str) -> None:
    """Side by side: the columns of the second follow those of the first, in each row."""
    x, y = ramp(8, 16), ramp(8, 24, start=1000)
    with pto.target(target):
        dst = made("vec f32 8x40")
        pto.tconcat(dst, made("vec f32 8x16", x), made("vec f32 8x24", y))
        assert np.array_equal(dst.numpy(), np.concatenate([x, y], axis=1))
        tall = made("vec f32 16x16")
        refused("shape", pto.tconcat, tall, made("vec f32 8x16", x), made("vec f32 8x16", x))


def test_pack() -> None:
    """The low bits of each element, in fewer bytes; A5 only."""
    src = bits("vec u32 8x32")
    values = src.storage().view("u4").reshape(8, 32)
    for dtype, mask in (("u16", 0xFFFF), ("u8", 0xFF)):
        for target in ("cpu", "a5"):
            with pto.target(target):
                dst = made(f"vec {dtype} 8x32")
                pto.tpack(dst, src)
            assert np.array_equal(dst.numpy(), values & mask)
    with pto.target("a2a3"):
        refused("not-on-target", pto.tpack, made("vec u16 8x32"), src)
    refused("element-type", pto.tpack, made("vec u32 8x32"), bits("vec u16 8x32"))


Pair = tuple[int, int]


@every("target", ALL)
@every(
    ("filter", "stride", "padding"),
    [
        ((1, 1), (1, 1), (0, 0, 0, 0)),
        ((2, 3), (2, 1), (1, 0, 2, 1)),
        ((3, 3), (1, 2), (1, 1, 1, 1)),
    ],
)
def test_img2col(target: str, filter: Pair, stride: Pair, padding: tuple[int, ...]) -> None:
    """Patches of the map become rows, with zeros beyond its border."""
    image = ramp(2 * 6 * 5, 16).reshape(1, 2, 6, 5, 16).astype(np.float16)
    how: dict[str, Any] = {"filter": filter, "stride": stride, "padding": padding}
    cols = image.shape[1] * filter[0] * filter[1] * image.shape[-1]
    with pto.target(target):
        src = pto.conv_tile("f16", image.shape, layout="nc1hwc0", data=image, **how)
        wanted = patches(image, src.handle.type, (0, 0), (32, cols))
        dst = pto.tile_left("f16", 32, cols)
        pto.timg2col(dst, src, mode="a_auto")
        assert np.array_equal(dst.numpy(), wanted)
        part = pto.tile_left("f16", 16, 16)
        pto.timg2col(part, src, 4, 16, mode="a_auto")
        assert np.array_equal(part.numpy(), wanted[4:20, 16:32])


def test_img2col_configuration() -> None:
    """Kernel, padding and stride belong to the feature map; hardware has them in registers."""
    page = lookup("timg2col")[0]
    assert [o.name for o in page.operands] == ["dst", "src", "pos_m", "pos_k"]
    image = ramp(20, 16).reshape(1, 1, 4, 5, 16).astype(np.float16)
    for target in ALL:
        with pto.target(target):
            src = pto.conv_tile("f16", image.shape, layout="nc1hwc0", filter=2, data=image)
            dst = pto.tile_left("f16", 16, 64)
            if target != "cpu":
                found = refused("register-not-set", pto.timg2col, dst, src)
                assert "was never set" in (found[0].seen or "")
                pto.setfmatrix(src)
                pto.set_img2col_padding(src)
                pto.set_img2col_rpt(src)
            pto.timg2col(dst, src)
        assert np.array_equal(dst.numpy(), patches(image, src.handle.type, (0, 0), (16, 64)))


# Extract, insert, fill ---------------------------------------------------------------------------


PADS = {"zero": 0.0, "max": np.inf, "min": -np.inf}


@every("name", ["tfillpad", "tfillpad_expand"])
@every("pad", PADS)
@every("target", ALL)
def test_fill(name: str, pad: str, target: str) -> None:
    """What is declared but not valid gets the pad value of dst's type."""
    x = ramp(5, 11)
    with pto.target(target):
        src, dst = made("vec f32 8x16 valid 5x11", x), made("vec f32 8x16", pad=pad)
        getattr(pto, name)(dst, src)
    limits = {t: np.inf for t in ALL} | {"a5": np.finfo(np.float32).max}  # D14
    wanted = np.full((8, 16), np.clip(PADS[pad], -limits[target], limits[target]), np.float32)
    wanted[:5, :11] = x
    assert np.array_equal(dst.numpy(), wanted)


def test_fill_value_is_in_the_type() -> None:
    """No operand gives it, and a type without one is refused."""
    src = made("vec f32 8x16 valid 5x11", ramp(5, 11))
    for name in ("tfillpad", "tfillpad_inplace", "tfillpad_expand"):
        parameters = inspect.signature(getattr(pto, name)).parameters
        assert list(parameters) == ["dst", "src", "events"]
        found = refused("attribute", getattr(pto, name), made("vec f32 8x16"), src)
        assert "dst.pad != null" in rules(found)


@every("target", ALL)
def test_fill_in_place(target: str) -> None:
    """dst is another reading of src's bytes: the source itself is filled."""
    x = ramp(5, 11)
    src, dst = made("vec f32 8x16 valid 5x11", x), made("vec f32 8x16", pad="zero")
    with pto.target(target):
        pto.treshape(dst, src)
        pto.tfillpad_inplace(dst, src)
    wanted = np.zeros((8, 16), np.float32)
    wanted[:5, :11] = x
    assert np.array_equal(src.storage().view(np.float32).reshape(8, 16), wanted)


@every("target", ALL)
def test_fill_and_expand(target: str) -> None:
    """A larger declared shape is filled; the valid regions are the types', before and after."""
    x = ramp(5, 11)
    with pto.target(target):
        src = made("vec f32 8x16 valid 5x11", x)
        dst = made("vec f32 12x24", pad="zero")
        pto.tfillpad_expand(dst, src)
        refused("shape", pto.tfillpad, made("vec f32 4x24", pad="zero"), src)
        refused("shape", pto.tfillpad_expand, made("vec f32 4x24", pad="zero"), src)
    wanted = np.zeros((12, 24), np.float32)
    wanted[:5, :11] = x
    assert np.array_equal(dst.numpy(), wanted)
    assert (tuple(src.valid), tuple(dst.valid)) == ((5, 11), (12, 24))


# Constraints and what is not allowed -------------------------------------------------------------


def test_reshape_keeps_the_bytes() -> None:
    """Another number of bytes is refused; another number of valid elements is a warning."""
    for target in ALL:
        with pto.target(target):
            for kind in ("vec f32 8x8", "vec f32 16x32", "vec f16 16x16"):
                found = refused("shape", pto.treshape, made(kind), bits("vec f32 16x16"))
                assert "dst.nbytes == src.nbytes" in rules(found)
            assert accepts(pto.treshape, made("vec f16 16x32"), bits("vec f32 16x16"))
    text = f"pto.treshape ins(%s : {spec('vec f32 16x16')}) outs(%d : "
    (found,) = pto.loads(f"{text}{spec('vec f32 8x32 valid 8x31')})").check("cpu")
    assert (found.slug, found.is_error) == ("shape", False)
    assert found.rule == "dst.valid.rows * dst.valid.cols == src.valid.rows * src.valid.cols"
    assert pto.loads(f"{text}{spec('vec f32 8x32')})").check("all") == []


@every("target", ALL)
def test_insert_must_fit(target: str) -> None:
    """In the declared shape, and, because nothing outside it counts, in the valid region."""
    with pto.target(target):
        whole, part = bits("vec f32 16x32"), bits("vec f32 8x16")
        pto.tinsert(whole, part, 8, 16)
        for row, col in ((9, 16), (8, 24), (16, 0), (-1, 0)):
            found = refused("window-out-of-bounds", pto.tinsert, whole, part, row, col)
            assert "row" in rules(found) or "col" in rules(found)
        less = bits("vec f32 16x32 valid 12x32")
        refused("window-out-of-bounds", pto.tinsert, less, part, 8, 16)


@every("dtype", ["f8e4m3", "f8e5m2"])
@every("target", ["cpu", "a2a3"])
def test_img2col_takes_no_fp8(dtype: str, target: str) -> None:
    """Forbidden on the simulator and on A2/A3."""
    with pto.target(target):
        src = pto.conv_tile(
            dtype, (1, 1, 4, 4, 32), layout="nc1hwc0", data=np.zeros((1, 1, 4, 4, 32))
        )
        dst = pto.tile_left(dtype, 16, 32)
        refused("element-type", pto.timg2col, dst, src)


# C++ and Python signatures -----------------------------------------------------------------------

# operation -> (the text of a call, parameter names in C++, parameters in Python)
SIGNATURES: dict[str, tuple[str, list[str], str]] = {
    "tmov": (f"%d = pto.tmov %s : {T} -> {T}", ["dst", "src", "preQuantScalar"], "dst src"),
    "tmov_fp": (f"%d = pto.tmov_fp %s, %f : {T}, {T} -> {T}", ["dst", "src", "fp"], "dst src fp"),
    "treshape": (f"%d = pto.treshape %s : {T} -> {T}", ["dst", "src"], "dst src"),
    "ttrans": (f"%d = pto.ttrans %s : {T} -> {T}", ["dst", "src", "tmp"], "dst src tmp"),
    "tconcat": (
        f"%d = pto.tconcat %s, %f : ({T}, {T}) -> {T}",
        ["dst", "src0", "src1"],
        "dst src0 src1",
    ),
    "tpack": (f"%d = pto.tpack %s : {T} -> {T}", ["dst", "src"], "dst src"),
    "textract": (
        f"%d = pto.textract %s, %r, %c : ({T}, index, index) -> {T}",
        ["dst", "src", "preQuantScalar", "indexRow", "indexCol"],
        "dst src row col",
    ),
    "tinsert": (
        f"pto.tinsert ins(%s, %r, %c : {B}, index, index) outs(%d : {B})",
        ["dst", "src", "preQuantScalar", "indexRow", "indexCol"],
        "dst src row col",
    ),
    "tfillpad": (f"%d = pto.tfillpad %s : {T} -> {T}", ["dst", "src"], "dst src"),
    "timg2col": (
        f"%d = pto.timg2col %s : !pto.conv_tile<...> -> {T}",
        ["dst", "src", "posM", "posK"],
        "dst src pos_m pos_k",
    ),
}


@pytest.mark.filterwarnings("ignore::ptokit.text.write.cpplacking.CppWarning")
@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    """Destination first; then the operands of the implementations, by their C++ names."""
    text, names, python = SIGNATURES[name]
    assert cpp_names(page_of(text)) == names
    parameters = inspect.signature(getattr(pto, name)).parameters
    assert list(parameters)[: len(python.split())] == python.split()
    assert parameters["events"].kind is inspect.Parameter.KEYWORD_ONLY
    call = pto.loads(text).text("cpp")
    assert "#include <pto/pto-inst.hpp>\nusing namespace pto;" in call
    given = {"tconcat": "d, s, f", "tmov_fp": "d, s, f"}.get(name, "d, s")
    given = "d, s, r, c" if name in ("textract", "tinsert") else given
    assert f"{name.upper()}({given});" in call


def test_offsets_are_two_indices() -> None:
    """Row and column, not one offset; the reshape takes its new shape from dst."""
    x = ramp(16, 32)
    text = f"%d = pto.textract %s, %r, %c : ({T}, i32, i32) -> {T}"
    assert np.array_equal(run(text, s=x, r=4, c=8)["d"], x[4:, 8:])
    shape: Any = (8, 64)
    with pytest.raises(TypeError):
        pto.treshape(made("vec f32 8x64"), bits("vec f32 16x32"), shape)  # pyright: ignore


@pytest.mark.parametrize("target", HARDWARE)
def test_left_layout_of_img2col(target: str) -> None:
    """Profile-dependent: zz on A2/A3, nz on A5."""
    wrong = {"a2a3": "nz", "a5": "zz"}[target]
    with pto.target(target):
        src = pto.conv_tile("f16", (1, 1, 4, 4, 16), layout="nc1hwc0")
        found = refused("layout", pto.timg2col, made(f"left f16 16x16 {wrong}"), src)
        assert f"dst.layout == {'zz' if target == 'a2a3' else 'nz'}" in rules(found)
