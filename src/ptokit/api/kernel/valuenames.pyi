"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import overload

from ptokit.api.hostarrays import ConvTile, Tensor, Tile
from ptokit.api.intrinsics import (
    AccPhaseWord,
    AccToVecModeWord,
    AsymmetricWord,
    CmpModeWord,
    DivPrecisionWord,
    ExpPrecisionWord,
    FmatrixModeWord,
    FmodPrecisionWord,
    GatherAxisWord,
    GatherOOBWord,
    GroupAxisWord,
    LogPrecisionWord,
    MaskPatternWord,
    PhaseWord,
    PowPrecisionWord,
    RecipPrecisionWord,
    ReluPreModeWord,
    RemPrecisionWord,
    RsqrtPrecisionWord,
    ScatterAxisWord,
    ShortF32Word,
    SqrtPrecisionWord,
    SymmetricWord,
)

__all__ = [
    "rowexpandadd",
    "rowexpandsub",
    "rowexpandmul",
    "rowexpanddiv",
    "rowexpandmax",
    "rowexpandmin",
    "rowexpandexpdif",
    "rowexpand",
    "colexpand",
    "colexpandadd",
    "colexpandsub",
    "colexpandmul",
    "colexpanddiv",
    "colexpandmax",
    "colexpandmin",
    "colexpandexpdif",
    "add",
    "sub",
    "mul",
    "div",
    "max",
    "min",
    "rem",
    "fmod",
    "pow",
    "prelu",
    "and_",
    "or_",
    "xor",
    "shl",
    "shr",
    "addc",
    "subc",
    "addrelu",
    "subrelu",
    "addreluconv",
    "subreluconv",
    "adddeqrelu",
    "exp",
    "relu",
    "abs",
    "neg",
    "not_",
    "log",
    "sqrt",
    "rsqrt",
    "recip",
    "adds",
    "subs",
    "muls",
    "divs",
    "maxs",
    "mins",
    "rems",
    "fmods",
    "pows",
    "lrelu",
    "ands",
    "ors",
    "xors",
    "shls",
    "shrs",
    "addsc",
    "subsc",
    "rowargmax",
    "rowargmin",
    "colargmax",
    "colargmin",
    "matmul_mx_hif4",
    "ci",
    "tri",
    "random",
    "setval",
    "prefetch",
    "sort32",
    "mrgsort",
    "gather",
    "gatherb",
    "histogram",
    "scatter",
    "concat",
    "extract",
    "extract_fp",
    "fillpad",
    "fillpad_inplace",
    "fillpad_expand",
    "img2col",
    "mov_fp",
    "mov",
    "pack",
    "trans",
    "gemv",
    "gemv_acc",
    "matmul_bias",
    "gemv_bias",
    "matmul_mx",
    "gemv_mx",
    "matmul_mx_acc",
    "gemv_mx_acc",
    "matmul_mx_bias",
    "gemv_mx_bias",
    "partadd",
    "partmul",
    "partmax",
    "partmin",
    "quant",
    "dequant",
    "rowsum",
    "rowprod",
    "rowmax",
    "rowmin",
    "colsum",
    "colprod",
    "colmax",
    "colmin",
    "pairreducesum",
    "cmp",
    "cmps",
    "sel",
    "sels",
    "alias",
]

@overload
def rowexpandadd(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] + scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def rowexpandadd(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j % n0] + src1[i, j % n1], n0 and n1 the operands' valid columns.

    One operand is as wide as dst; the other has a value for each row, or a block of 32 bytes that
    is repeated along the row. On a5 only the first value of a block is used. Integers wrap.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

@overload
def rowexpandsub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def rowexpandsub(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j % n0] - src1[i, j % n1], operands as of trowexpandadd.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

@overload
def rowexpandmul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def rowexpandmul(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j % n0] * src1[i, j % n1], operands as of trowexpandadd.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

@overload
def rowexpanddiv(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def rowexpanddiv(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    scalar: the right operand of all; it takes the tile's element type
    src: the left operands
    precision: default, high
    """

@overload
def rowexpanddiv(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j % n0] / src1[i, j % n1], operands as of trowexpandadd.

    Floats are correctly rounded, x / 0 is infinite or NaN; integers truncate, x / 0 is 0.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    precision: default, high
    """

@overload
def rowexpandmax(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def rowexpandmax(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the larger of src0[i, j % n0] and src1[i, j % n1], as in trowexpandadd.

    For equal values, and if one is NaN, the result is src0's.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

@overload
def rowexpandmin(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def rowexpandmin(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the smaller of src0[i, j % n0] and src1[i, j % n1], as in trowexpandadd.

    For equal values, and if one is NaN, the result is src0's.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

def rowexpandexpdif(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = e ** (src0[i, j % n0] - src1[i, j % n1]), operands as of trowexpandadd.

    The difference is rounded to the element type; the power is as texp's, one unit in the last
    place from the rounded exact value at most.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

def rowexpand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, 0] for every column of dst's valid region.

    dst: receives the values
    src: a value for each row, in its first column
    """

def colexpand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[0, j] for every row of dst's valid region; bits move unchanged.

    dst: receives the values
    src: a value for each column, in its first row
    """

@overload
def colexpandadd(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] + scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def colexpandadd(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def colexpandsub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def colexpandsub(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def colexpandmul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def colexpandmul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] * src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def colexpanddiv(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def colexpanddiv(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    scalar: the right operand of all; it takes the tile's element type
    src: the left operands
    precision: default, high
    """

@overload
def colexpanddiv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] / src1[0, j].

    Floats are correctly rounded, x / 0 is infinite or NaN; integers truncate, x / 0 is 0.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def colexpandmax(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def colexpandmax(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[0, j] where src0[i, j] < src1[0, j], else src0[i, j], NaN too.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def colexpandmin(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def colexpandmin(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[0, j] where src1[0, j] < src0[i, j], else src0[i, j], NaN too.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def colexpandexpdif(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = e ** (src0[i, j] - src1[0, j]), the difference rounded to the element type.

    The power is as texp's: one unit in the last place from the rounded exact value at most.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

@overload
def add(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] + scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def add(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def sub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def sub(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def mul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def mul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] * src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def div(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def div(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    scalar: the right operand of all; it takes the tile's element type
    src: the left operands
    precision: default, high
    """

@overload
def div(
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] / src1[i, j]: floats correctly rounded, integers toward zero.

    A float divided by 0 is infinite or NaN as in IEEE 754. An integer divided by 0 is 0, and the
    least integer divided by -1 wraps.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

@overload
def max(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def max(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[i, j] where src0[i, j] < src1[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def max(a: int, b: int, /) -> int: ...
@overload
def min(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def min(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[i, j] where src1[i, j] < src0[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def min(a: int, b: int, /) -> int: ...
@overload
def rem(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - floor(src0[i, j] / src1[i, j]) * src1[i, j], exact.

    The result has the sign of src1 and is rounded only if src1 is added to the exact remainder of
    truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with 64-bit
    integers.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def rem(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - floor(src[i, j] / scalar) * scalar, exact.

    The result has the sign of the scalar and is rounded only if the scalar is added to the exact
    remainder of truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with
    64-bit integers.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def fmod(
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the exact remainder of truncated division of src0[i, j] by src1[i, j].

    The result has the sign of src0. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

@overload
def fmod(
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the exact remainder of truncated division of src[i, j] by the scalar.

    The result has the sign of src. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def pow(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] ** src1[i, j].

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def pow(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] ** scalar.

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def prelu(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] where it is greater than 0, else src0[i, j] * src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def prelu(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] where it is greater than 0, else src[i, j] * scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def and_(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] & src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def and_(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] & scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def or_(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] | src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def or_(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] | scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def xor(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] ^ src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def xor(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] ^ scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def shl(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] << src1[i, j]; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def shl(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] << scalar; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def shr(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] >> src1[i, j], with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def shr(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] >> scalar, with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

def addc(
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = (src0[i, j] + src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    src1: the second operands
    src2: the third operands
    """

def subc(
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = (src0[i, j] - src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    src1: the second operands
    src2: the third operands
    """

def addrelu(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[i, j] where the sum is greater than 0, else 0; NaN gives 0.

    Integers of fewer than 32 bits are added in i32; a positive sum keeps its low bits.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def subrelu(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - src1[i, j] where the difference is greater than 0, else 0.

    NaN gives 0. Integers of fewer than 32 bits are subtracted in i32; a positive difference keeps
    its low bits.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def addreluconv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[i, j] where greater than 0, else 0, in dst's type.

    The sum is rounded to src0's type, or wraps. The conversion rounds half to even, and a value
    that is too large becomes the largest finite value; NaN gives 0.

    dst: receives the results: f16 of f32, i8 of f16 and i16
    src0: the left operands
    src1: the right operands
    """

def subreluconv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - src1[i, j] where greater than 0, else 0, in dst's type.

    The difference is rounded to src0's type, or wraps. The conversion rounds half to even, and a
    value that is too large becomes the largest finite value; NaN gives 0.

    dst: receives the results: f16 of f32, i8 of f16 and i16
    src0: the left operands
    src1: the right operands
    """

def adddeqrelu(
    src0: Tile,
    src1: Tile,
    deq_scale: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = f32(src0[i, j] + src1[i, j]) * deq_scale, then 0 unless it is greater than 0.

    The sum wraps in i32; the product is rounded to f32 and then to dst's type, in which a value
    that is too large becomes the largest finite f16; NaN gives 0.

    dst: receives f16; on the CPU simulator f32 too
    src0: i32 to add
    src1: i32 to add
    deq_scale: the scale of all
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def exp(
    src: Tile,
    *,
    precision: ExpPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = e ** src[i, j], at most one unit in the last place from the rounded exact value.

    Two of all f16 are off by one, no bf16, and one in ten f32 between -87 and 88. Overflow gives
    infinity, underflow denormals and then 0, and NaN stays NaN.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def relu(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = max(src[i, j], 0); NaN and -0 stay.

    dst: receives the results; may be the source
    src: the operands
    """

def abs(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = |src[i, j]|: floats, NaN too, lose the sign bit; the least integer stays.

    dst: receives the results; may be the source
    src: the operands
    """

def neg(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = -src[i, j]: the sign bit of floats is flipped, also of NaN; integers wrap.

    dst: receives the results; may be the source
    src: the operands
    """

def not_(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] with every bit inverted.

    dst: receives the results; may be the source
    src: the operands
    """

def log(
    src: Tile,
    *,
    precision: LogPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = ln src[i, j], rounded once from f64; -infinity for 0, NaN for negative values.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def sqrt(
    src: Tile,
    *,
    precision: SqrtPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] is the square root of src[i, j], correctly rounded; NaN for negative values.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def rsqrt(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RsqrtPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = 1 / sqrt(src[i, j]), rounded once from f64; infinity for 0, NaN for less.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value. A5 rounds
    twice: the root, then its reciprocal.

    dst: receives the results; may be the source
    src: the operands
    tmp: of the precise algorithm of A2/A3; A5 ignores it
    precision: default, high
    """

def recip(
    src: Tile,
    *,
    precision: RecipPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = 1 / src[i, j]: floats correctly rounded; integers truncated, and 0 for 0.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

@overload
def adds(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] + scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def adds(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def subs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def subs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def muls(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def muls(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] * src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def divs(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def divs(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    scalar: the right operand of all; it takes the tile's element type
    src: the left operands
    precision: default, high
    """

@overload
def divs(
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] / src1[i, j]: floats correctly rounded, integers toward zero.

    A float divided by 0 is infinite or NaN as in IEEE 754. An integer divided by 0 is 0, and the
    least integer divided by -1 wraps.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

@overload
def maxs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def maxs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[i, j] where src0[i, j] < src1[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def mins(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def mins(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src1[i, j] where src1[i, j] < src0[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def rems(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] - floor(src[i, j] / scalar) * scalar, exact.

    The result has the sign of the scalar and is rounded only if the scalar is added to the exact
    remainder of truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with
    64-bit integers.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def rems(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] - floor(src0[i, j] / src1[i, j]) * src1[i, j], exact.

    The result has the sign of src1 and is rounded only if src1 is added to the exact remainder of
    truncated division. The remainder by 0 is NaN, or 0 for integers. A5 truncates with 64-bit
    integers.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def fmods(
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the exact remainder of truncated division of src[i, j] by the scalar.

    The result has the sign of src. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def fmods(
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the exact remainder of truncated division of src0[i, j] by src1[i, j].

    The result has the sign of src0. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

@overload
def pows(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] ** scalar.

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def pows(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] ** src1[i, j].

    Floats have C's special cases and are at most one unit in the last place from the rounded exact
    value: 100 of 5 million pairs of f16 are off, 530 of 7 million of bf16, none of 10 million of
    f32. Integers are modulo the type; a negative exponent gives 0, except for bases 1 and -1.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    precision: default, high
    """

@overload
def lrelu(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] where it is greater than 0, else src[i, j] * scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def lrelu(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] where it is greater than 0, else src0[i, j] * src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def ands(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] & scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def ands(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] & src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def ors(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] | scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def ors(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] | src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def xors(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] ^ scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def xors(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] ^ src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def shls(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] << scalar; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def shls(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] << src1[i, j]; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def shrs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] >> scalar, with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

@overload
def shrs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] >> src1[i, j], with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def addsc(
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = (src0[i, j] + scalar) + src1[i, j], rounded after each step; integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    scalar: the second operand of all; it takes the tile's element type
    src1: the third operands
    """

def subsc(
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = (src0[i, j] - scalar) + src1[i, j], rounded after each step; integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    scalar: the second operand of all; it takes the tile's element type
    src1: the third operands
    """

def rowargmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = the column of the largest element of row i, the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def rowargmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = the column of the smallest element of row i, the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def colargmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = the row of the largest element of column j, the first of equal ones.

    dst: one valid row: an index for each column
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def colargmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = the row of the smallest element of column j, the first of equal ones.

    dst: one valid row: an index for each column
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def matmul_mx_hif4(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = a x b in HiFloat4, summed over k ascending with one fused multiply-add per k, in f32.

    A group whose number is NaN gives NaN.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    a_scale: four bytes for each 64 columns of a row
    b: the right matrix, K x N
    b_scale: four for each 64 rows of a column
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

@overload
def ci(
    start: float,
    *,
    descending: bool = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, k] = start + k, or start - k where `descending`, for the valid columns; it wraps.

    dst: one row that receives the numbers
    start: the first number
    descending: bool
    """

@overload
def ci(
    start: float,
    *,
    tmp: Tile,
    descending: bool = ...,
    out: Tile | None = ...,
) -> Tile:
    """TCI with scratch for the vector unit of A2/A3; the numbers are the same.

    dst: one row that receives the numbers
    start: the first number
    tmp: of A2/A3: 768 bytes for numbers of 32 bits, 1792 for 16
    descending: bool
    """

def tri(
    diagonal: int,
    *,
    upper: int = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = 1 in the lower triangle, j <= i + diagonal, and 0 elsewhere.

    With `upper` 1, 0 where j < i + diagonal, and 1 elsewhere.

    dst: receives ones and zeros in its valid region
    diagonal: how far the diagonal is to the right of the main one
    upper: int
    """

def random(
    key0: int,
    key1: int,
    counter0: int,
    counter1: int,
    counter2: int,
    counter3: int,
    *,
    rounds: int = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst = random numbers of 32 bits: Philox4x32, a block of four words for each counter.

    64 counters fill 256 columns. On the CPU simulator word w of counter n is in column 64 w + n,
    and after each such chunk the first counter grows by dst.cols / 4; on A5 it is in column 4 n +
    w, and the counter grows by 64, after the last chunk of a row by the columns modulo 64. So
    unless 256 columns are valid, numbers repeat, or counters are skipped.

    dst: receives the numbers
    key0: the key: its low word
    key1: its high word
    counter0: the first counter: its lowest word
    counter1: its second word
    counter2: its third word
    counter3: its highest word
    rounds: int
    """

def setval(
    offset: int,
    val: float,
    *,
    out: Tile | None = ...,
) -> Tile:
    """Element `offset` of dst's storage, whatever its layout, becomes `val` in its type.

    dst: the tile; its other elements stay
    offset: which element of its storage
    val: the number
    """

def prefetch(
    src: Tensor,
    *,
    out: Tile | None = ...,
) -> Tile:
    """A hint that `src` will be loaded: dst keeps its content, defined or not.

    dst: a tile of the size of the transfer
    src: what will be loaded
    """

def sort32(
    src: Tile,
    idx: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """Sort each row in blocks of 32 by value, greatest first; equal values by index, unsigned.

    dst gets records of 8 bytes: the value, zeros up to 4 bytes, its index. -0 equals +0; a NaN with
    sign 0 comes first, one with sign 1 last, and NaN keeps its bits. Bytes of dst after the records
    stay.

    dst: receives a record for each element of src
    src: the values
    idx: their indices, of 32 bits; on A2/A3 and A5 one row may serve all rows
    tmp: of A2/A3 and A5, for a last block of fewer than 32
    """

def mrgsort(
    src: Tile,
    block_len: int,
    *,
    out: Tile | None = ...,
) -> Tile:
    """Merge each four neighbouring runs of `block_len` elements, in groups that fill the row.

    On a5 elements after the last group are not written.

    dst: receives the records; bytes behind them stay
    src: the runs: groups of four
    block_len: elements of a run; two to a record of f32, four of f16
    """

@overload
def gather(
    src0: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    outside: GatherOOBWord | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[indices[i, j]], indices counting src0's declared shape row by row.

    An index out of range wraps on the CPU simulator; on A2/A3 and A5 it is an error. `outside`
    selects another policy.

    dst: receives one element for each index
    src0: the table
    indices: which elements
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    outside: wrap, clamp, zero, error
    """

@overload
def gather(
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: GatherAxisWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Keep the columns (or rows) whose index matches `pattern`, in order.

    By row, the selected elements of all rows follow one another in dst's storage without gaps. On
    A5, rows of 64-bit elements start dst.cols / period apart, with one element for each whole
    period, and at most 64. The pattern's digits count from the right: P0001 keeps indices 0, 4, 8,
    ...; bits move unchanged.

    dst: receives the selected elements
    src: the tile to select from
    pattern: P0101, P1010, P0001, P0010, P0100, P1000, P1111
    axis: row, col
    """

def gatherb(
    src: Tile,
    offsets: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """Copy 32-byte blocks: block b of row r of `dst` comes from byte offsets[r, b] of `src`.

    On the CPU simulator a block that would reach past the source is not written.

    dst: receives the blocks; only whole ones are written
    src: the bytes
    offsets: a byte offset for each block
    """

def histogram(
    src: Tile,
    idx: Tile,
    *,
    byte: int = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[r, n] = the number of elements of row r with a byte of at most n; byte 0 is the lowest.

    Only elements whose bytes above it equal those of `idx` count: for u16 a filter for each row,
    for u32 one for all rows, idx[0, 0] the highest byte.

    dst: 256 counts for each row; columns behind them stay
    src: the elements
    idx: the bytes above that an element must have to count
    byte: int
    """

@overload
def scatter(
    src: Tile,
    indexes: Tile,
    *,
    mask: MaskPatternWord | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst.storage[indexes[r, c]] = src[r, c], row by row: of equal indices the last one wins.

    On A2/A3 and A5 all other elements of dst become 0, on the CPU simulator they stay.

    dst: receives the elements; indices count its storage
    src: the elements
    indexes: where they go, each an element of dst's storage
    mask: P0101, P1010, P0001, P0010, P0100, P1000, P1111
    """

@overload
def scatter(
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: ScatterAxisWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Spread columns (or rows) over those whose index matches `pattern`; the others become 0.

    The pattern's digits count from the right: P0001 fills indices 0, 4, 8, ...; bits move
    unchanged. On A2/A3 and A5 elements outside dst's valid region become 0, too, and by column
    those beyond src's columns.

    dst: receives the elements, and zeros between them
    src: the columns or rows
    pattern: P0101, P1010, P0001, P0010, P0100, P1000, P1111
    axis: row, col
    """

@overload
def concat(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """Each row of `dst` is the row of `src0` followed by the row of `src1`.

    dst[i, j] = src0[i, j] for j < n0, src1[i, j - n0] from there on; n0 = src0.valid.cols.

    dst: receives both, side by side
    src0: the left part
    src1: the right part
    """

@overload
def concat(
    src0: Tile,
    src1: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """Row r of `dst`: src0Idx[r] / size elements of `src0`, then src1Idx[r] / size of `src1`.

    An index counts bytes of its own element type. Elements beyond dst's width are cut off; columns
    of dst after the last element stay.

    dst: receives both, side by side
    src0: the left part
    src1: the right part
    src0_idx: how much of src0, by row
    src1_idx: how much of src1, by row
    """

@overload
def extract(
    src: Tile,
    row: int = ...,
    col: int = ...,
    shape: tuple[int, int] = ...,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile:
    """Copy the window of `src` that starts at (`row`, `col`) into `dst`.

    dst[i, j] = src[row + i, col + j] for every (i, j) in dst's valid region. An accumulator source
    passes the fix-pipe: it may narrow, `quant` is the one quantisation parameter of all columns,
    `relu` clears negative values; without `quant` NaN and -0 too.

    dst: receives the window; its valid region is the window's size
    src: the tile to extract from
    quant: fix-pipe word: bits 31:0 scale (f32), 35:32 shift - 1, 45:37 offset, 46 signed
    row: first row of the window
    col: first column of the window
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    """

@overload
def extract(
    src: ConvTile,
    row: int = ...,
    col: int = ...,
    shape: tuple[int, int] = ...,
    *,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile:
    """Copy a window of the K x N weight matrix of a FRACTAL_Z tile into a Right tile.

    Whole blocks move: the extents are rounded up to c0 rows and 16 columns.

    dst: receives the window
    src: weights in FRACTAL_Z or FRACTAL_Z_3D layout
    row: first k of the window
    col: first n of the window
    """

def extract_fp(
    src: Tile,
    fp: Tile,
    row: int = ...,
    col: int = ...,
    shape: tuple[int, int] = ...,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile:
    """Copy a window of the accumulator through the fix-pipe, one parameter for each source column.

    dst[i, j] = convert(src[row + i, col + j]; fp[0, col + j]): `col` indexes both the source and
    `fp`. The suffix means fix pipe.

    dst: receives the window; its valid region is the window's size
    src: the tile to extract from
    fp: a parameter for each column, as `quant` of textract has it
    row: first row of the window
    col: first column of the window
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    """

def fillpad(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst = src where src is valid, the pad value elsewhere; in vec dst may be larger.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def fillpad_inplace(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """tfillpad where dst and src share their storage.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def fillpad_expand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """tfillpad into a dst whose declared shape may be larger.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def img2col(
    src: ConvTile,
    pos_m: int = ...,
    pos_k: int = ...,
    shape: tuple[int, int] = ...,
    *,
    mode: FmatrixModeWord = ...,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile:
    """Row m of `dst` is the patch of `src` under the filter's m-th position.

    Positions count across, then down, then over the images. Along a row the channel within a block
    is innermost, then the filter's column and row, then the channel block. Positions and channels
    outside the map have the map's pad value. `pos_m` and `pos_k` select the part that dst holds.
    Hardware takes the map's parameters from a bank of registers. A manual mode requires SETFMATRIX,
    SET_IMG2COL_PADDING and SET_IMG2COL_RPT before, for the same map; an auto mode sets the
    registers.

    dst: receives rows pos_m.. and columns pos_k.. of the matrix
    src: the feature map, with its filter, stride, dilation and padding
    pos_m: first row of the matrix
    pos_k: first column of the matrix
    mode: a_auto, b_auto, a_manual, b_manual
    """

def mov_fp(
    src: Tile,
    fp: Tile,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Move an accumulator through the fix-pipe, one parameter for each column.

    dst[i, j] = convert(src[i, j]; fp[0, j]).

    dst: receives the tile
    src: the accumulator tile to move
    fp: a parameter for each column, as `quant` of textract has it
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    phase: unspecified, partial, final
    """

@overload
def mov(
    src: Tile,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Copy the valid region of `src` to `dst`; layouts may differ.

    dst[i, j] = src[i, j]. Values change only on the way out of the accumulator, through the
    fix-pipe (`relu`, `quant`), and into the bias table, which is f32 or i32. `relu` without `quant`
    clears negative values after the conversion: NaN and -0 stay.

    dst: receives the tile
    src: the tile to move
    quant: fix-pipe word: bits 31:0 scale (f32), 35:32 shift - 1, 45:37 offset, 46 signed
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    phase: unspecified, partial, final
    """

@overload
def mov(
    src: Tile,
    *,
    tmp: Tile,
    axis: GroupAxisWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Reorder a matrix of 8-bit exponents into the ZZ layout of MX scales (A5).

    With `axis` 1 rows stay rows, padded with zeros to a multiple of 16; with 0 the source lists
    groups along its rows and is transposed. A dst of another fractal, and on A5 one of other
    extents than the transposed source, is plain storage: it is filled from its first byte on, like
    a tile of fractal 32 with as many columns as there are groups.

    dst: the scales, zz
    src: the exponents
    tmp: of hardware
    axis: axis0, axis1
    """

def pack(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the low bits of src[i, j]: 4 bytes to 2 or 1, 2 bytes to 1.

    High bits are cut off; no value is rounded or saturated.

    dst: receives the low bits
    src: the wider elements
    """

def trans(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[j, i] = src[i, j] over src's valid region; rectangular tiles are fine.

    `tmp` is scratch: ignored here and on A5, undefined afterwards.

    dst: receives the transpose; must not overlap src
    src: the tile to transpose
    tmp: of A2/A3
    """

def gemv(
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = a x b for one row, summed over k ascending with one fused multiply-add per k.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def gemv_acc(
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = acc + a x b for one row: each sum starts with acc's element (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    acc: the sum so far; may be c itself
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def matmul_bias(
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = bias + a x b: each sum starts with its column's bias; in recordings it is added last.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def gemv_bias(
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = bias + a x b for one row: each sum starts with its column's bias (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def matmul_mx(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c[i, j] = the sum of a[i, k] a_scale[i, g] b[k, j] b_scale[g, j], g = k // 32.

    Over k ascending; each step rounds to f32.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def gemv_mx(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c[0, j] = the sum of a[0, k] a_scale[0, g] b[k, j] b_scale[g, j], g = k // 32.

    Over k ascending; each step rounds to f32.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def matmul_mx_acc(
    acc: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = acc + a x b with their scales: each sum starts with acc's element (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    acc: the sum so far; may be c itself
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def gemv_mx_acc(
    acc: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = acc + a x b with their scales, for one row: as `tmatmul.mx.acc`.

    c: the accumulator tile; M x N of it is written, whatever is valid
    acc: the sum so far; may be c itself
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def matmul_mx_bias(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = bias + a x b with their scales: sums start with their column's bias (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def gemv_mx_bias(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """c = bias + a x b with their scales, for one row: as `tmatmul.mx.bias`.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    a_scale: a scale for each 32 columns of a row of a
    b: the right matrix, K x N
    b_scale: a scale for each 32 rows of a column of b
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def partadd(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] + src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def partmul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] * src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def partmax(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the larger source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the smallest finite number.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def partmin(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = the smaller source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the largest finite number.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

@overload
def quant(
    src: Tile,
    scale: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: SymmetricWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scale[i, 0] rounded half to even, -128 to 127; NaN is 0.

    The product rounds to f32 first. Values out of range, infinities too, saturate.

    dst: receives the whole numbers
    src: the numbers, f32
    scale: in its first column a factor, not a divisor, for each row
    tmp: of A2/A3, as large as src
    quant_type: int8_sym
    """

@overload
def quant(
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: AsymmetricWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] * scale[i, 0] + offset[i, 0] rounded half to even, 0 to 255; NaN is 0.

    The product and the sum round to f32 first. Values out of range, infinities too, saturate.

    dst: receives the whole numbers
    src: the numbers, f32
    scale: in its first column a factor, not a divisor, for each row
    tmp: of A2/A3, as large as src
    offset: in its first column what is added to each row
    quant_type: int8_asym
    """

def dequant(
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = (src[i, j] - offset[i, p]) * scale[i, p], p = j or scale's last column.

    The difference and the product round to f32. A NaN of scale or offset gives NaN.

    dst: receives the numbers, f32
    src: the whole numbers
    scale: factors: for each row, or for each element
    offset: what is subtracted: as scale
    """

def rowsum(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = src[i, 0] + src[i, 1] + ...; integers wrap in dst's type.

    Floats on cpu: from left to right, starting with 0, in f32, with one rounding at the end. On
    a2a3 and a5 every step rounds to the element type. A register of 256 bytes is added as a tree:
    neighbours, then neighbours of those sums. a5 adds the trees of one register after the other to
    0. a2a3 first adds register to register (the second of each two to the first, the remaining one
    to the sum of the first two, then neighbours again), and last the tree of that. A sum of NaN, or
    of infinities of both signs, is NaN. Under the reading saturated-sums each sum of two f16 that
    overflows is 65504 on these targets.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def rowprod(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = src[i, 0] * src[i, 1] * ..., from left to right, starting with 1.

    Each step rounds to the element type; integers wrap. Floats on a5: registers of 256 bytes lane
    by lane, from the left, then the first half of the lanes by the second, and again. On a2a3:
    lines of 32 bytes lane by lane, then the lanes from the left; those of f16 in f32, rounded once.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def rowmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = the largest of src[i, 0], src[i, 1], ..., the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def rowmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, 0] = the smallest of src[i, 0], src[i, 1], ..., the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def colsum(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    is_binary: bool | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = src[0, j] + src[1, j] + ..., from top to bottom, starting with 0.

    Every step rounds to dst's element type; integers wrap. With `is_binary` a2a3 and a5 add
    neighbouring rows, then neighbours of these sums, until one is left; a single last one is added
    to the pair before it. The CPU simulator ignores it. A source without rows leaves `dst`
    unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    tmp: of the binary order
    is_binary: bool
    """

def colprod(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = src[0, j] * src[1, j] * ..., from top to bottom, starting with 1.

    Every step rounds to dst's element type; integers wrap. A source without rows leaves `dst`
    unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def colmax(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = the largest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def colmin(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[0, j] = the smallest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def pairreducesum(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, k] = src[i, 2k] + src[i, 2k + 1].

    In an odd number of columns the last has no partner: the CPU simulator adds 0 to it, A2/A3 and
    A5 leave it out. Every other element of dst's storage becomes 0. Integers wrap.

    dst: receives the sums, in the first half of its valid columns
    src: the elements to add in pairs
    """

def cmp(
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Bit j % w of dst[i, j // w] = src0[i, j] compares with src1[i, j] as `cmp` says.

    w is the width of dst's elements. NaN is unordered: only NE is true; -0 equals +0. Bits beyond
    src0's valid columns, and the rest of dst's storage, become 0.

    dst: receives the bits: of each row, the lowest bit first
    src0: the left operands
    src1: the right operands
    cmp: eq, ne, lt, le, gt, ge
    """

@overload
def cmps(
    src0: Tile,
    scalar: float,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """Bit j % w of dst[i, j // w] = src0[i, j] compares with `scalar` as `cmp` says.

    w is the width of dst's elements; the comparison is exact. NaN is unordered: only NE is true.
    Bits beyond src0's valid columns, and the rest of dst's storage, become 0. On A5, if dst has as
    many valid columns as src0, and no more declared ones, it takes the bits of all rows one behind
    the other: for a selection declare as many columns of dst as hold the bits of a row.

    dst: receives the bits: of each row, the lowest bit first
    src0: the left operands
    scalar: the right operand of all; it takes src0's element type
    cmp: eq, ne, lt, le, gt, ge
    """

@overload
def cmps(
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile:
    """As the form with a scalar, with the first element of `src1` in its place.

    dst: receives the bits: of each row, the lowest bit first
    src0: the left operands
    src1: its first element is the right operand of all
    cmp: eq, ne, lt, le, gt, ge
    """

def sel(
    mask: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src0[i, j] where the bit of (i, j) in `mask` is 1, else src1[i, j].

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.

    dst: receives the elements chosen; may be a source
    mask: a bit for each element
    src0: elements for bits that are 1
    src1: elements for bits that are 0
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def sels(
    mask: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile:
    """dst[i, j] = src[i, j] where the bit of (i, j) in `mask` is 1, else `scalar`.

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.

    dst: receives the elements chosen; may be the source
    mask: a bit for each element
    src: elements for bits that are 1
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    scalar: the element for bits that are 0; it takes src's element type
    """

def alias(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile:
    """`dst` becomes another handle on the bytes of `src`: a write through one changes both.

    dst: the new handle
    src: the tile whose bytes it names
    """
