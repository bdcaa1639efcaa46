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
) -> Tile: ...
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
) -> Tile: ...
@overload
def rowexpandsub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def rowexpandmul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def rowexpanddiv(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def rowexpanddiv(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def rowexpandmax(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def rowexpandmin(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
def rowexpandexpdif(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rowexpand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def colexpand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandadd(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandadd(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandsub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandsub(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpanddiv(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpanddiv(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpanddiv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmax(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmax(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmin(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def colexpandmin(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def colexpandexpdif(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def add(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def add(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def sub(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def sub(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mul(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def div(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def div(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def div(
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def max(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def max(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def max(a: int, b: int, /) -> int: ...
@overload
def min(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def min(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def rem(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def fmod(
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def fmod(
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def pow(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def pow(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def prelu(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def prelu(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def and_(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def and_(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def or_(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def or_(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def xor(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def xor(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shl(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shl(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shr(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shr(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def addc(
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def subc(
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def addrelu(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def subrelu(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def addreluconv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def subreluconv(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def adddeqrelu(
    src0: Tile,
    src1: Tile,
    deq_scale: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def exp(
    src: Tile,
    *,
    precision: ExpPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def relu(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def abs(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def neg(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def not_(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def log(
    src: Tile,
    *,
    precision: LogPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def sqrt(
    src: Tile,
    *,
    precision: SqrtPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rsqrt(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RsqrtPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def recip(
    src: Tile,
    *,
    precision: RecipPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def adds(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def adds(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def subs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def subs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def muls(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def muls(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def divs(
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def divs(
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def divs(
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def maxs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def maxs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mins(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mins(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def rems(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def rems(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def fmods(
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def fmods(
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def pows(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def pows(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def lrelu(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def lrelu(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ands(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ands(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ors(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ors(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def xors(
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def xors(
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shls(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shls(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shrs(
    src: Tile,
    scalar: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def shrs(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def addsc(
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def subsc(
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def rowargmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rowargmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def colargmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def colargmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def matmul_mx_hif4(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ci(
    start: float,
    *,
    descending: bool = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def ci(
    start: float,
    *,
    tmp: Tile,
    descending: bool = ...,
    out: Tile | None = ...,
) -> Tile: ...
def tri(
    diagonal: int,
    *,
    upper: int = ...,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
def setval(
    offset: int,
    val: float,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def prefetch(
    src: Tensor,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def sort32(
    src: Tile,
    idx: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def mrgsort(
    src: Tile,
    block_len: int,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def gather(
    src0: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    outside: GatherOOBWord | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def gather(
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: GatherAxisWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def gatherb(
    src: Tile,
    offsets: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def histogram(
    src: Tile,
    idx: Tile,
    *,
    byte: int = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def scatter(
    src: Tile,
    indexes: Tile,
    *,
    mask: MaskPatternWord | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def scatter(
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: ScatterAxisWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def concat(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def concat(
    src0: Tile,
    src1: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
@overload
def extract(
    src: ConvTile,
    row: int = ...,
    col: int = ...,
    shape: tuple[int, int] = ...,
    *,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
def fillpad(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def fillpad_inplace(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def fillpad_expand(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def img2col(
    src: ConvTile,
    pos_m: int = ...,
    pos_k: int = ...,
    shape: tuple[int, int] = ...,
    *,
    mode: FmatrixModeWord = ...,
    valid: tuple[int, int] = ...,
    out: Tile | None = ...,
) -> Tile: ...
def mov_fp(
    src: Tile,
    fp: Tile,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mov(
    src: Tile,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def mov(
    src: Tile,
    *,
    tmp: Tile,
    axis: GroupAxisWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def pack(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def trans(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def gemv(
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def gemv_acc(
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def matmul_bias(
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def gemv_bias(
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def matmul_mx(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def gemv_mx(
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
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
) -> Tile: ...
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
) -> Tile: ...
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
) -> Tile: ...
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
) -> Tile: ...
def partadd(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def partmul(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def partmax(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def partmin(
    src0: Tile,
    src1: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def quant(
    src: Tile,
    scale: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: SymmetricWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def quant(
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: AsymmetricWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def dequant(
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def rowsum(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rowprod(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rowmax(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def rowmin(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def colsum(
    src: Tile,
    *,
    tmp: Tile | None = ...,
    is_binary: bool | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def colprod(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def colmax(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def colmin(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def pairreducesum(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
def cmp(
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def cmps(
    src0: Tile,
    scalar: float,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
@overload
def cmps(
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    out: Tile | None = ...,
) -> Tile: ...
def sel(
    mask: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def sels(
    mask: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    out: Tile | None = ...,
) -> Tile: ...
def alias(
    src: Tile,
    *,
    out: Tile | None = ...,
) -> Tile: ...
