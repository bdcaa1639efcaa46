"""Every spelling of a type reads as the same type, and prints canonically in each form."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.same import same
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, MultiTileType, TileType, tile_type
from ptokit.isa.model.types import PIPE, Elided, HandleType, OpaqueType, PtrType, ScalarType, Type
from ptokit.isa.model.words import CompactMode, GlobalLayout
from ptokit.text.read.reader import read
from ptokit.text.types.parts import BadType
from ptokit.text.types.spelling import spell
from ptokit.text.types.typereader import type_named
from ptokit.values.dtypes import bf16, f16, f32, i8
from ptokit.values.enumerations import ACC, LEFT, MAT, VEC, ConvLayout, PadValue
from ptokit.values.layouts import NZ, ZZ, Shape
from ptokit.values.pads import CustomPad

VEC16 = tile_type(VEC, f16, 16, 16)
SPELLINGS: list[tuple[str, Type]] = [
    ("!pto.ptr<f16>", PtrType(f16)),
    ("!pto.ptr<f32, gm>", PtrType(f32)),
    ("!pto.ptr<f32, l0c>", PtrType(f32, "acc")),
    ("memref<4x8xf32, #pto.address_space<vec>>", TileType(VEC, f32, 4, 8, Shape(4, 8))),
    ("memref<2x4x8xf32, #pto.address_space<vec>>", TileType(VEC, f32, 8, 8, Shape(8, 8))),
    (
        "memref<4x8xf32, strided<[8, 1], offset: ?>, #pto.address_space<gm>>",
        GlobalType(f32, (4, 8), (8, 1), partition=True),
    ),
    *(
        (
            f"!pto.multi_tile_buf<{one}, count=3>",
            MultiTileType(VEC, f32, 4, 8, Shape(4, 8), count=3),
        )
        for one in ("vec, 4x8xf32", "!pto.tile_buf<vec, 4x8xf32>")
    ),
    (
        "!pto.multi_tile_buf<vec, 4x8xf32, count=3, placement=static>",
        MultiTileType(VEC, f32, 4, 8, Shape(4, 8), count=3),
    ),
    ("!pto.ptr<T, gm>", Elided("!pto.ptr<...>")),
    ("!pto.tensor_view<?x4xf16>", GlobalType(f16, (None, 4))),
    ("!pto.partition_tensor_view<16x16xbf16>", GlobalType(bf16, (16, 16), partition=True)),
    ("!pto.partition_tensor_view<MxNxdtype>", Elided("!pto.partition_tensor_view<...>")),
    *(
        (
            f"!pto.tensor_view<8x4xf16, stride=?x1, {layout}>",
            GlobalType(f16, (8, 4), (None, 1), GlobalLayout.DN),
        )
        for layout in ("layout=dn", "#pto.layout<dn>")
    ),
    *(
        (f"!pto.tile_buf<{loc}, 4x8xf32>", tile_type(VEC, f32, 4, 8))
        for loc in ("vec", "ub", "loc=ub")
    ),
    (
        "!pto.tile<loc=vec, f32, 16, 16, RowMajor, NoneBox, None, Zero>",
        tile_type(VEC, f32, 16, 16, pad=PadValue.ZERO),
    ),
    (
        "!pto.tile_buf<loc=left, int8, 16, 16, RowMajor, RowMajor, NZ, Null>",
        tile_type(LEFT, i8, 16, 16, layout=ZZ),
    ),
    (
        "!pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=16, v_row=16, v_col=?, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>",
        tile_type(VEC, f16, 16, 16, valid=(16, None)),
    ),
    (
        "!pto.tile_buf<pad=3, cols=16, rows=32, dtype=f32, loc=acc, slayout=row_major, "
        "blayout=col_major, v_row=-1, fractal=1024, v_col=16, compact=1>",
        tile_type(
            *(ACC, f32, 32, 16),
            layout=NZ,
            valid=(None, 16),
            fractal=1024,
            pad=PadValue.MIN,
            compact=CompactMode.NORMAL,
        ),
    ),
    (
        "!pto.tile_buf<vec, 16x16xf16, valid=?x?, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0, compact=0>",
        tile_type(VEC, f16, 16, 16, valid=(None, None)),
    ),
    (
        '!pto.tile_buf<"left", 16x16xi8, slayout="row_major">',
        tile_type(LEFT, i8, 16, 16, layout=NZ),
    ),
    (
        "!pto.tile_buf<loc=left, dtype=i8, rows=16, cols=32, blayout=row_major>",
        tile_type(LEFT, i8, 16, 32, layout=ZZ),
    ),
    (
        "!pto.tile_buf<acc, 16x16xf32, blayout=col_major>",
        tile_type(ACC, f32, 16, 16, layout=NZ, fractal=1024),
    ),
    (
        "!pto.tile_buf<acc, 16x16xf32, fractal=512>",
        tile_type(ACC, f32, 16, 16, layout=NZ),
    ),
    ("!pto.tile<16x16xf16>", VEC16),
    ("!pto.tile_buf<vec, 16x16xf16, rows=16, cols=16, loc=vec, dtype=f16>", VEC16),
    ("!pto.tile<f16, 16, 16>", VEC16),
    ("!pto.tile_buf<vec, 16x16xf16>", VEC16),
    (
        "!pto.tile_buf<vec, 16x16xf32, pad=7507804160>",
        tile_type(VEC, f32, 16, 16, pad=CustomPad(0xBF800000)),
    ),
    (
        "!pto.conv_tile<fractal_z, 4x3x16x16xf16>",
        ConvTileType(f16, (4, 3, 16, 16), ConvLayout.FRACTAL_Z),
    ),
    (
        "!pto.conv_tile<mat, 1x2x3x4x16xf16>",
        ConvTileType(f16, (1, 2, 3, 4, 16), ConvLayout.NC1HWC0),
    ),
    (
        "!pto.conv_tile<mat, 1x1x3x4x16xf16, buffer_size=192, layout=#pto.layout<nc1hwc0>, "
        "config=#pto.conv_tile_config<fmap_h=3, fmap_w=4, pad_list=1x0x2x3, filter_h=2, "
        "filter_w=3, dilation_w=2, stride_h=2, pad_value=1.5 : f32, channel_size=16, "
        "repeat_stride=4, repeat_time=2, repeat_mode=1, dst_stride=5, dst_mposition=6, "
        "transpose=false>>",
        ConvTileType(
            *(f16, (1, 1, 3, 4, 16), ConvLayout.NC1HWC0),
            padding=(1, 0, 2, 3),
            filter=(2, 3),
            stride=(2, 1),
            dilation=(1, 2),
            pad_value=1.5,
            repeat=(4, 2, 1),
            into=(5, 6),
        ),
    ),
    ("!pto.tile<...>", Elided("!pto.tile<...>")),
    ("!pto.tile_buf<...>", Elided("!pto.tile<...>")),
    ("!pto.tile_buf", Elided("!pto.tile<...>")),
    ("dtype", Elided("dtype")),
    ("index", ScalarType("index")),
    ("i1", ScalarType("i1")),
    ("ui32", ScalarType("u32")),
    ("f8E4M3FN", ScalarType("f8e4m3")),
    ("f8E4M3", ScalarType("f8e4m3")),
    ("!pto.hif8", ScalarType("hif8")),
    ("f64", OpaqueType("f64")),
    ("!pto.pipe", HandleType("pipe")),
    ("!x.y<z>", OpaqueType("!x.y<z>")),
    ("memref<256xi64>", OpaqueType("memref<256xi64>")),
    ("!pto.pipe<!pto.tile_buf<vec, 4x8xf32>, !pto.tile_buf<vec, 4x8xf32>>", PIPE),
]


@every(("spelling", "expected"), SPELLINGS, ids=[s for s, _ in SPELLINGS])
def test_spelling(spelling: str, expected: Type) -> None:
    assert type_named(spelling) == expected
    for form in ("as", "ssa", "dps"):
        assert type_named(spell(expected, form)) == expected


def test_canonical_spellings() -> None:
    whole = "loc=vec, f16, 16, 16, RowMajor, NoneBox, None, Null"
    assert spell(VEC16, "ssa") == spell(VEC16, "as") == f"!pto.tile<{whole}>"
    long = (
        "loc=vec, dtype=f16, rows=16, cols=16, v_row=16, v_col=16, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0"
    )
    assert spell(VEC16, "dps") == f"!pto.tile_buf<{long}>"
    dynamic = tile_type(MAT, f16, 16, 16, valid=(None, 8))
    assert spell(dynamic, "ssa").startswith("!pto.tile<loc=mat, dtype=f16, rows=16, ")
    assert spell(Elided("!pto.tile<...>"), "dps") == "!pto.tile_buf<...>"
    names = "f8E4M3FN, !pto.struct<i8, !pto.local_array<4xui16>>"
    assert spell(type_named(f"!pto.struct<{names}>"), "dps") == f"!pto.struct<{names}>"


def test_enormous_extents_are_a_type_like_any_other() -> None:
    kind = type_named(f"!pto.tile_buf<vec, 16x{10**12}xf16>")
    assert isinstance(kind, TileType)
    assert kind.cols == 10**12
    assert kind.valid == Shape(16, 10**12)


def test_no_rows_is_left_to_the_checker() -> None:
    kind = type_named("!pto.tile_buf<vec, 0x16xf16>")
    assert isinstance(kind, TileType)
    assert kind.rows == 0


def test_a_convolution_tile_is_printed_as_the_assembler_prints_it() -> None:
    text = (
        "!pto.conv_tile<mat, 1x2x3x4x8xf32, config=#pto.conv_tile_config<fmap_h=3, fmap_w=4, "
        "pad_list=1x0x2x3, filter_h=2, filter_w=3, dilation_h=1, dilation_w=2, stride_h=2, "
        "stride_w=1, pad_value=1.5 : f32, channel_size=16, repeat_stride=4, repeat_time=2, "
        "repeat_mode=1, dst_stride=5, dst_mposition=6, transpose=false>>"
    )
    assert spell(type_named(text), "dps") == text


MAP = "!pto.conv_tile<mat, 1x1x3x4x16xf16, config=#pto.conv_tile_config<"
ALONE = "give both v_row and v_col, or neither if all is valid"
BAD: list[tuple[str, str, str, str | None]] = [
    ("!pto.tile_buf<vcc, 16x16xf16>", "unknown-word", "vcc", "did you mean vec?"),
    ("!pto.tile_buf<vec, 16x16xf61>", "unknown-type", "f61", "did you mean f16?"),
    ("!pto.tile_buf<vec, 16x16xf16, pda=1>", "unknown-word", "pda", "did you mean pad?"),
    ("!pto.tile_buf<vec, 16x16xf16, pad=7>", "unknown-word", "7", None),
    ("!pto.tile_buf<vec, 16x16xf16, pad=1, pad=1>", "syntax-error", "pad=1", None),
    ("!pto.tile_buf<vec, 16x16xf16, rows=8>", "syntax-error", "16", None),
    ("!pto.tile_buf<loc=vec, vec, dtype=f16, rows=4, cols=16>", "syntax-error", "vec", None),
    ("!pto.tile_buf<loc=vec, loc=vec, 16x16xf16>", "syntax-error", "loc=vec", None),
    ("!pto.tile_buf<vec, 16x16xf16, rows=16, rows=16>", "syntax-error", "rows=16", None),
    ("!pto.tile_buf<vec, 16x16xf16, fractal=x>", "syntax-error", "x", None),
    (f"!pto.tile_buf<vec, 16x{1 << 63}xf16>", "syntax-error", "", None),
    ("!pto.tile_buf<loc=vec, dtype=f16, rows=-4, cols=4>", "syntax-error", "-4", None),
    ("!pto.tile_buf<vec, 16x16x16xf16>", "syntax-error", "16x16x16xf16", None),
    ("!pto.tile_buf<vec>", "syntax-error", "vec", "give rows and cols"),
    ("!pto.tile_buf<vec, 16x16xf16, blayout=rowmajr>", "unknown-word", "rowmajr", None),
    ("!pto.tile_buf<vec, 16x16xf16, valid=8>", "syntax-error", "8", None),
    ("!pto.tile_buf<vec, 16x16xf16, v_row=8>", "syntax-error", "8", ALONE),
    ("!pto.tile_buf<vec, 16x16xf16, v_col=?>", "syntax-error", "?", ALONE),
    ("!pto.tensor_view<f16>", "syntax-error", "f16", None),
    ("!pto.ptr<f16, uq>", "unknown-word", "uq", None),
    ("!pto.conv_tile<fractal_z>", "syntax-error", "fractal_z", None),
    (f"{MAP}fmap_h=4>>", "attribute", "4", "write 3, or remove it"),
    (f"{MAP}filter_h=0>>", "attribute", "0", None),
    (f"{MAP}pad_list=1x2x3>>", "syntax-error", "1x2x3", None),
    (f"{MAP}transpose=true>>", "unknown-word", "true", "one of: false"),
    (f"{MAP}depth=1>>", "unknown-word", "depth", None),
    ("!pto.conv_tile<mat, 1x1x3x4x16xf16, config=3>", "syntax-error", "3", None),
    (
        "!pto.multi_tile_buf<vec, 16x16xf16, count=2, placement=left>",
        "unknown-word",
        "left",
        "one of: auto, static, bmu",
    ),
    ("indx", "unknown-type", "indx", "did you mean index?"),
    ("!left", "unknown-type", "!left", None),
]


@every(("spelling", "slug", "place", "help"), BAD, ids=[b[0] for b in BAD])
def test_bad_spelling(spelling: str, slug: str, place: str, help: str | None) -> None:
    with pytest.raises(BadType) as caught:
        type_named(spelling)
    assert caught.value.slug == slug
    if place:
        assert spelling[caught.value.start : caught.value.end] == place
    if help:
        assert caught.value.help == help


def test_a_buffer_says_where_it_lies() -> None:
    """The assembler wants it; a tile value of the manual's text lies in UB."""
    text = "func.func @f(%a: KIND<16x16xf32>) {\n  return\n}\n"
    with pytest.raises(pto.PtoError, match="missing location in tile type"):
        pto.loads(text.replace("KIND", "!pto.tile_buf"))
    pto.loads(text.replace("KIND", "!pto.tile"))


def test_older_text_leaves_out_the_name_of_a_tile_type() -> None:
    whole = (
        "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, "
        "slayout=none_box, fractal=512, pad=0>"
    )
    text = f"""func.func @f() {{
  %a = pto.alloc_tile : {whole}
  pto.tadd ins(%a, %a : TYPE, {whole}) outs(%a : {whole})
  return
}}
"""
    short = read(text.replace("TYPE", whole.removeprefix("!pto.tile_buf")))
    assert same(short, read(text.replace("TYPE", whole)))
    with pytest.raises(PtoError, match="'vect' is not a value of address_space"):
        read(text.replace("TYPE", whole.removeprefix("!pto.tile_buf").replace("vec", "vect")))
