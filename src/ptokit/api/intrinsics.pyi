"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from collections.abc import Sequence
from typing import Literal, overload

from ptokit.api.events import Event
from ptokit.api.hostarrays import ConvTile, Tensor, Tile

AccPhaseWord = Literal[
    "unspecified",
    "partial",
    "final",
]
AccToVecModeWord = Literal[
    "single_mode_vec0",
    "single_mode_vec1",
    "dual_mode_split_m",
    "dual_mode_split_n",
]
AsymmetricWord = Literal["int8_asym"]
AtomicOpWord = Literal[
    "none",
    "add",
    "max",
    "min",
]
AtomicTypeWord = Literal[
    "none",
    "add",
]
CmpModeWord = Literal[
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]
CoalesceWord = Literal[
    "elem",
    "row",
]
DivPrecisionWord = Literal[
    "default",
    "high",
]
EventIdWord = Literal[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
]
ExpPrecisionWord = Literal[
    "default",
    "high",
]
FenceScopeWord = Literal[
    "gm",
    "all",
    "local_memory",
]
FmatrixModeWord = Literal[
    "a_auto",
    "b_auto",
    "a_manual",
    "b_manual",
]
FmodPrecisionWord = Literal[
    "default",
    "high",
]
GatherAxisWord = Literal[
    "row",
    "col",
]
GatherOOBWord = Literal[
    "wrap",
    "clamp",
    "zero",
    "error",
]
GlobalLayoutWord = Literal[
    "nd",
    "dn",
    "nz",
    "mx_a_zz",
    "mx_a_nd",
    "mx_a_dn",
    "mx_b_nn",
    "mx_b_nd",
    "mx_b_dn",
    "nc1hwc0",
    "fractal_z",
    "ndc1hwc0",
    "nchw",
    "ncdhw",
    "nhwc",
]
GroupAxisWord = Literal[
    "axis0",
    "axis1",
]
LoadCachePolicyWord = Literal[
    "default",
    "l2_bypass",
]
LogPrecisionWord = Literal[
    "default",
    "high",
]
MaskPatternWord = Literal[
    "P0101",
    "P1010",
    "P0001",
    "P0010",
    "P0100",
    "P1000",
    "P1111",
]
MxFormatWord = Literal[
    "mxfp8",
    "mxfp4_e2m1",
]
MxFp8Word = Literal["mxfp8"]
MxScaleWord = Literal[
    "ocp",
    "nv",
]
PadModeWord = Literal[
    "null",
    "first",
    "value",
]
PhaseWord = Literal[
    "unspecified",
    "partial",
    "final",
]
PipeWord = Literal[
    "S",
    "V",
    "M",
    "MTE1",
    "MTE2",
    "MTE3",
    "FIX",
    "ALL",
]
PowPrecisionWord = Literal[
    "default",
    "high",
]
PrintFormatWord = Literal[
    "width8_precision4",
    "width8_precision2",
    "width10_precision6",
]
QuantOutWord = Literal[
    "i8",
    "u8",
    "f16",
    "bf16",
]
RecipPrecisionWord = Literal[
    "default",
    "high",
]
ReluPreModeWord = Literal[
    "none",
    "normal",
]
RemPrecisionWord = Literal[
    "default",
    "high",
]
RoundModeWord = Literal[
    "none",
    "rint",
    "round",
    "floor",
    "ceil",
    "trunc",
    "odd",
]
RsqrtPrecisionWord = Literal[
    "default",
    "high",
]
SaturationModeWord = Literal[
    "on",
    "off",
]
ScatterAxisWord = Literal[
    "row",
    "col",
]
ScatterConflictWord = Literal[
    "default",
    "last",
]
ScatterOOBWord = Literal[
    "skip",
    "clamp",
    "wrap",
    "error",
]
ShortF32Word = Literal[
    "rint_10",
    "round_10",
    "rint_11",
    "round_11",
]
SqrtPrecisionWord = Literal[
    "default",
    "high",
]
SymmetricWord = Literal["int8_sym"]
TInsertModeWord = Literal[
    "split2",
    "split4",
]
VecStoreModeWord = Literal[
    "nd",
    "nz",
]
__all__ = [
    "subview",
    "treshape",
    "trowexpandadd",
    "trowexpandsub",
    "trowexpandmul",
    "trowexpanddiv",
    "trowexpandmax",
    "trowexpandmin",
    "trowexpandexpdif",
    "trowexpand",
    "tcolexpand",
    "tcolexpandadd",
    "tcolexpandsub",
    "tcolexpandmul",
    "tcolexpanddiv",
    "tcolexpandmax",
    "tcolexpandmin",
    "tcolexpandexpdif",
    "fence_barrier_all",
    "tcvt",
    "get_buf",
    "rls_buf",
    "get_buf_dyn",
    "rls_buf_dyn",
    "tadd",
    "tsub",
    "tmul",
    "tdiv",
    "tmax",
    "tmin",
    "trem",
    "tfmod",
    "tpow",
    "tprelu",
    "tand",
    "tor",
    "txor",
    "tshl",
    "tshr",
    "taddc",
    "tsubc",
    "taddrelu",
    "tsubrelu",
    "tmuladddst",
    "tfusedmuladd",
    "tfusedmuladdrelu",
    "taddreluconv",
    "tsubreluconv",
    "tadddeqrelu",
    "taxpy",
    "texp",
    "trelu",
    "tabs",
    "tneg",
    "tnot",
    "tlog",
    "tsqrt",
    "trsqrt",
    "trecip",
    "tadds",
    "tsubs",
    "tmuls",
    "tdivs",
    "tmaxs",
    "tmins",
    "trems",
    "tfmods",
    "tpows",
    "tlrelu",
    "tands",
    "tors",
    "txors",
    "tshls",
    "tshrs",
    "taddsc",
    "tsubsc",
    "texpands",
    "trowargmax",
    "trowargmin",
    "tcolargmax",
    "tcolargmin",
    "tquant_hif4",
    "tmatmul_mx_hif4",
    "tci",
    "ttri",
    "trandom",
    "mgather",
    "mscatter",
    "tinterleave",
    "tdeinterleave",
    "tsetval",
    "tprefetch",
    "tprint",
    "tsort32",
    "tmrgsort",
    "tgather",
    "tgatherb",
    "thistogram",
    "tscatter",
    "tconcat",
    "textract",
    "textract_fp",
    "tfillpad",
    "tfillpad_inplace",
    "tfillpad_expand",
    "timg2col",
    "tinsert",
    "tinsert_fp",
    "tmov",
    "tmov_fp",
    "tpack",
    "ttrans",
    "tmatmul",
    "tgemv",
    "tmatmul_acc",
    "tgemv_acc",
    "tmatmul_bias",
    "tgemv_bias",
    "tmatmul_mx",
    "tgemv_mx",
    "tmatmul_mx_acc",
    "tgemv_mx_acc",
    "tmatmul_mx_bias",
    "tgemv_mx_bias",
    "tpartadd",
    "tpartmul",
    "tpartmax",
    "tpartmin",
    "tpartargmax",
    "tpartargmin",
    "tquant",
    "tdequant",
    "tquant_mx",
    "tquant_dn",
    "trowsum",
    "trowprod",
    "trowmax",
    "trowmin",
    "tcolsum",
    "tcolprod",
    "tcolmax",
    "tcolmin",
    "tpairreducesum",
    "setfmatrix",
    "set_img2col_padding",
    "set_img2col_rpt",
    "set_quant_scalar",
    "set_quant_vector",
    "sethf32mode",
    "settf32mode",
    "tcmp",
    "tcmps",
    "tsel",
    "tsels",
    "set_flag",
    "wait_flag",
    "set_flag_dyn",
    "wait_flag_dyn",
    "record_event",
    "wait_event",
    "barrier",
    "barrier_sync",
    "tsync",
    "tsync_op",
    "tload",
    "tstore",
    "tstore_fp",
    "talias",
    "bitcast",
    "tassign",
    "tget_scale_addr",
]

def subview(
    dst: Tile,
    src: Tile,
    row: int = ...,
    col: int = ...,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """`dst` becomes a view of the part of `src` that starts at (`row`, `col`): nothing is copied.

    dst[i, j] = src[row + i, col + j]: what one writes, the other sees. No synchronisation edges
    are made.

    dst: the view; its valid region is the part's size
    src: the tile to look into
    row: first row, counted in src's valid region
    col: first column, counted in src's valid region
    """

def treshape(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """`dst` becomes another reading of the bytes of `src`: shape, layout and type are dst's own.

    dst: the new reading
    src: the tile whose bytes are read
    """

def trowexpandadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowexpandsub(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j % n0] - src1[i, j % n1], operands as of trowexpandadd.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

def trowexpandmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j % n0] * src1[i, j % n1], operands as of trowexpandadd.

    dst: receives the results
    src0: the left operands: as wide as dst, or narrow
    src1: the right operands: narrow, or as wide as dst
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    src1_col: int
    src0_is_dst: bool
    high_precision: bool
    """

def trowexpanddiv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowexpandmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowexpandmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowexpandexpdif(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    src1_col: int | None = ...,
    src0_is_dst: bool | None = ...,
    high_precision: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowexpand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, 0] for every column of dst's valid region.

    dst: receives the values
    src: a value for each row, in its first column
    """

def tcolexpand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[0, j] for every row of dst's valid region; bits move unchanged.

    dst: receives the values
    src: a value for each column, in its first row
    """

def tcolexpandadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] + src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpandsub(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] - src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpandmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * src1[0, j]; integers wrap.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpanddiv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] / src1[0, j].

    Floats are correctly rounded, x / 0 is infinite or NaN; integers truncate, x / 0 is 0.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpandmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src1[0, j] where src0[i, j] < src1[0, j], else src0[i, j], NaN too.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpandmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src1[0, j] where src1[0, j] < src0[i, j], else src0[i, j], NaN too.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def tcolexpandexpdif(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = e ** (src0[i, j] - src1[0, j]), the difference rounded to the element type.

    The power is as texp's: one unit in the last place from the rounded exact value at most.

    dst: receives the results
    src0: the left operands
    src1: the right operands, in its first row
    """

def fence_barrier_all(
    scope: FenceScopeWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Wait until earlier writes to these memories are visible to all cores.

    scope: gm, all, local_memory
    """

def tcvt(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    rmode: RoundModeWord = ...,
    sat_mode: SaturationModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] in dst's element type, rounded by `rmode`.

    With `sat_mode` on, a value out of range becomes the nearest value in range, and NaN becomes 0
    in integers and in floats of a smaller range than src's; in other floats NaN and infinities stay
    (f16 to f32). With it off, integers keep the low bits (NaN and infinities give 0), floats become
    infinite (f8e4m3 and f8e8m0: NaN), and NaN stays. 4-bit floats have neither infinity nor NaN, so
    they always saturate; A5 stores whole bytes of them: the rest of each row, and an odd last
    element, is 0. On A2/A3 f32 and f16 become i16, and f16 i8, through the nearest i32: there
    infinity is -1. The table has the behaviour without `sat_mode`. f32 to f32 rounds to whole
    numbers and keeps NaN and infinities.

    dst: receives the converted elements
    src: the elements to convert
    tmp: of A2/A3, for f32 to i16 and f16 to i16 and i8 without sat
    rmode: none, rint, round, floor, ceil, trunc, odd
    sat_mode: on, off
    """

def get_buf(
    op: str,
    buffer: int,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Let the pipe of an operation wait until the buffer is free, and acquire it.

    op: str
    buffer: int
    mode: int
    """

def rls_buf(
    op: str,
    buffer: int,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Release a buffer, after the earlier work of an operation's pipe.

    op: str
    buffer: int
    mode: int
    """

def get_buf_dyn(
    buffer: int,
    op: str,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Let the pipe of an operation wait until the buffer is free, and acquire it.

    buffer: its number, 0 to 31
    op: str
    mode: int
    """

def rls_buf_dyn(
    buffer: int,
    op: str,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Release a buffer, after the earlier work of an operation's pipe.

    buffer: its number, 0 to 31
    op: str
    mode: int
    """

def tadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] + src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tsub(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] - src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * src1[i, j]; integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tdiv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] / src1[i, j]: floats correctly rounded, integers toward zero.

    A float divided by 0 is infinite or NaN as in IEEE 754. An integer divided by 0 is 0, and the
    least integer divided by -1 wraps.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

def tmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src1[i, j] where src0[i, j] < src1[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src1[i, j] where src1[i, j] < src0[i, j], else src0[i, j].

    So for equal values, zeros of either sign too, and if one is NaN, the result is src0's.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def trem(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tfmod(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = the exact remainder of truncated division of src0[i, j] by src1[i, j].

    The result has the sign of src0. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    precision: default, high
    """

def tpow(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tprelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] where it is greater than 0, else src0[i, j] * src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tand(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] & src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tor(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] | src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def txor(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] ^ src1[i, j].

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tshl(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] << src1[i, j]; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tshr(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] >> src1[i, j], with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def taddc(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = (src0[i, j] + src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    src1: the second operands
    src2: the third operands
    """

def tsubc(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = (src0[i, j] - src1[i, j]) + src2[i, j], rounded after each step.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    src1: the second operands
    src2: the third operands
    """

def taddrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] + src1[i, j] where the sum is greater than 0, else 0; NaN gives 0.

    Integers of fewer than 32 bits are added in i32; a positive sum keeps its low bits.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tsubrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] - src1[i, j] where the difference is greater than 0, else 0.

    NaN gives 0. Integers of fewer than 32 bits are subtracted in i32; a positive difference keeps
    its low bits.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tmuladddst(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * src1[i, j] + dst[i, j], rounded after each step; integers wrap.

    dst: the old values, and then the results; may be a source
    src0: the first operands
    src1: the second operands
    """

def tfusedmuladd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * dst[i, j] + src1[i, j], rounded after each step; integers wrap.

    dst: the old values, and then the results; may be a source
    src0: the first operands
    src1: the second operands
    """

def tfusedmuladdrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * dst[i, j] + src1[i, j] where greater than 0, else 0; NaN gives 0.

    The value is rounded after each step; integers wrap.

    dst: the old values, and then the results; may be a source
    src0: the first operands
    src1: the second operands
    """

def taddreluconv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] + src1[i, j] where greater than 0, else 0, in dst's type.

    The sum is rounded to src0's type, or wraps. The conversion rounds half to even, and a value
    that is too large becomes the largest finite value; NaN gives 0.

    dst: receives the results: f16 of f32, i8 of f16 and i16
    src0: the left operands
    src1: the right operands
    """

def tsubreluconv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] - src1[i, j] where greater than 0, else 0, in dst's type.

    The difference is rounded to src0's type, or wraps. The conversion rounds half to even, and a
    value that is too large becomes the largest finite value; NaN gives 0.

    dst: receives the results: f16 of f32, i8 of f16 and i16
    src0: the left operands
    src1: the right operands
    """

def tadddeqrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    deq_scale: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = f32(src0[i, j] + src1[i, j]) * deq_scale, then 0 unless it is greater than 0.

    The sum wraps in i32; the product is rounded to f32 and then to dst's type, in which a value
    that is too large becomes the largest finite f16; NaN gives 0.

    dst: receives f16; on the CPU simulator f32 too
    src0: i32 to add
    src1: i32 to add
    deq_scale: the scale of all
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def taxpy(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = dst[i, j] + src[i, j] * scalar.

    The product is rounded to dst's type on A2/A3 and A5, to src's on the CPU simulator, and the sum
    to dst's; integers wrap. A5 rounds sums of f16 once.

    dst: the old values, and then the results
    src: the values to scale and add
    scalar: the factor of all; it takes src's element type
    """

def texp(
    dst: Tile,
    src: Tile,
    *,
    precision: ExpPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = e ** src[i, j], at most one unit in the last place from the rounded exact value.

    Two of all f16 are off by one, no bf16, and one in ten f32 between -87 and 88. Overflow gives
    infinity, underflow denormals and then 0, and NaN stays NaN.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def trelu(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = max(src[i, j], 0); NaN and -0 stay.

    dst: receives the results; may be the source
    src: the operands
    """

def tabs(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = |src[i, j]|: floats, NaN too, lose the sign bit; the least integer stays.

    dst: receives the results; may be the source
    src: the operands
    """

def tneg(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = -src[i, j]: the sign bit of floats is flipped, also of NaN; integers wrap.

    dst: receives the results; may be the source
    src: the operands
    """

def tnot(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] with every bit inverted.

    dst: receives the results; may be the source
    src: the operands
    """

def tlog(
    dst: Tile,
    src: Tile,
    *,
    precision: LogPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = ln src[i, j], rounded once from f64; -infinity for 0, NaN for negative values.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def tsqrt(
    dst: Tile,
    src: Tile,
    *,
    precision: SqrtPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] is the square root of src[i, j], correctly rounded; NaN for negative values.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def trsqrt(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RsqrtPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = 1 / sqrt(src[i, j]), rounded once from f64; infinity for 0, NaN for less.

    None of all f16 and bf16 and 10 million f32 differs from the rounded exact value. A5 rounds
    twice: the root, then its reciprocal.

    dst: receives the results; may be the source
    src: the operands
    tmp: of the precise algorithm of A2/A3; A5 ignores it
    precision: default, high
    """

def trecip(
    dst: Tile,
    src: Tile,
    *,
    precision: RecipPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = 1 / src[i, j]: floats correctly rounded; integers truncated, and 0 for 0.

    dst: receives the results; may be the source
    src: the operands
    precision: default, high
    """

def tadds(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] + scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

def tsubs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] - scalar; integers wrap.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

def tmuls(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] * scalar; integers wrap.

    Multiplied by 0, an undefined element gives 0: programs clear a sum so.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

@overload
def tdivs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] / scalar: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

@overload
def tdivs(
    dst: Tile,
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = scalar / src[i, j]: floats correctly rounded, integers toward zero.

    Divided by 0, floats are infinite or NaN and integers 0.

    dst: receives the results; may be the source
    scalar: the right operand of all; it takes the tile's element type
    src: the left operands
    precision: default, high
    """

def tmaxs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = scalar where src[i, j] < scalar, else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

def tmins(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = scalar where scalar < src[i, j], else src[i, j]; also if one is NaN.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

def trems(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tfmods(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = the exact remainder of truncated division of src[i, j] by the scalar.

    The result has the sign of src. The remainder by 0 is NaN, or 0 for integers.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    precision: default, high
    """

def tpows(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tlrelu(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] where it is greater than 0, else src[i, j] * scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all; it takes the tile's element type
    """

def tands(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] & scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

def tors(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] | scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

def txors(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] ^ scalar.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tshls(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] << scalar; an amount of the width or more, or below 0, gives 0.

    A5 takes amounts of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

def tshrs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] >> scalar, with copies of the sign bit for signed types.

    An amount of the width or more, or below 0, gives 0, or -1 for negative values. A5 takes amounts
    of 64-bit elements modulo 64.

    dst: receives the results; may be the source
    src: the left operands
    scalar: the right operand of all, in the tile's element type
    """

def taddsc(
    dst: Tile,
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = (src0[i, j] + scalar) + src1[i, j], rounded after each step; integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    scalar: the second operand of all; it takes the tile's element type
    src1: the third operands
    """

def tsubsc(
    dst: Tile,
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = (src0[i, j] - scalar) + src1[i, j], rounded after each step; integers wrap.

    dst: receives the results; may be a source
    src0: the first operands
    scalar: the second operand of all; it takes the tile's element type
    src1: the third operands
    """

@overload
def texpands(
    dst: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = scalar, in dst's element type; in a mat tile for the whole declared shape.

    dst: the tile to fill
    scalar: what all elements become
    """

@overload
def texpands(
    dst: ConvTile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """All elements of a convolution tile become `scalar`.

    dst: the tile to fill
    scalar: what all elements become
    """

@overload
def trowargmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, 0] = the column of the largest element of row i, the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def trowargmax(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst_val[i, 0] = the largest element of row i, dst_idx[i, 0] = its column, the first.

    dst_val: one valid column: the extreme of each row
    dst_idx: one valid column: where it is
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def trowargmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, 0] = the column of the smallest element of row i, the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def trowargmin(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst_val[i, 0] = the smallest element of row i, dst_idx[i, 0] = its column, the first.

    dst_val: one valid column: the extreme of each row
    dst_idx: one valid column: where it is
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def tcolargmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, j] = the row of the largest element of column j, the first of equal ones.

    dst: one valid row: an index for each column
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def tcolargmax(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst_val[0, j] = the largest element of column j, dst_idx[0, j] = its row, the first.

    dst_val: one valid row: the extreme of each column
    dst_idx: one valid row: where it is
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def tcolargmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, j] = the row of the smallest element of column j, the first of equal ones.

    dst: one valid row: an index for each column
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

@overload
def tcolargmin(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst_val[0, j] = the smallest element of column j, dst_idx[0, j] = its row, the first.

    dst_val: one valid row: the extreme of each column
    dst_idx: one valid row: where it is
    src: the columns to look through
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tquant_hif4(
    dst: Tile,
    src: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Quantise groups of 64 columns to HiFloat4: dst = src / its scale, nearest, ties to even.

    The number of a group is the nearest to its largest magnitude / 7, at most 1.5 * 2**15. An
    eighth is doubled if it reaches 4 times the number, a sixteenth if it then reaches twice the
    doubled number. Each step rounds to bf16. Elements, infinities too, are at most 1.75. NaN makes
    the number of its group NaN and its elements 1.75. max receives the largest magnitudes of
    sixteenths, then of eighths, scaling the factors of sixteenths, each from the first byte on.

    dst: receives the elements
    src: the numbers, bf16
    exp: receives the four bytes of each group, side by side
    max: receives magnitudes, bf16
    scaling: receives factors, bf16
    """

def tmatmul_mx_hif4(
    c: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def tci(
    dst: Tile,
    start: float,
    *,
    descending: bool = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, k] = start + k, or start - k where `descending`, for the valid columns; it wraps.

    dst: one row that receives the numbers
    start: the first number
    descending: bool
    """

@overload
def tci(
    dst: Tile,
    start: float,
    tmp: Tile,
    *,
    descending: bool = ...,
    events: Sequence[Event] = ...,
) -> None:
    """TCI with scratch for the vector unit of A2/A3; the numbers are the same.

    dst: one row that receives the numbers
    start: the first number
    tmp: of A2/A3: 768 bytes for numbers of 32 bits, 1792 for 16
    descending: bool
    """

def ttri(
    dst: Tile,
    diagonal: int,
    *,
    upper: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = 1 in the lower triangle, j <= i + diagonal, and 0 elsewhere.

    With `upper` 1, 0 where j < i + diagonal, and 1 elsewhere.

    dst: receives ones and zeros in its valid region
    diagonal: how far the diagonal is to the right of the main one
    upper: int
    """

def trandom(
    dst: Tile,
    key0: int,
    key1: int,
    counter0: int,
    counter1: int,
    counter2: int,
    counter3: int,
    *,
    rounds: int = ...,
    events: Sequence[Event] = ...,
) -> None:
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

@overload
def mgather(
    dst: Tile,
    src: Tensor,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    coalesce: CoalesceWord | None = ...,
    outside: GatherOOBWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Read elements, or with `coalesce` row whole rows, of global memory at indices.

    dst[r, c] = src[indices[r, c]], counting src's elements row by row; or row indices[r] of src.
    Indices are unsigned. `outside` is the policy for an index out of range: clamp to the last, wrap
    modulo the count, zero for 0; error, also written undefined, is an error. Without `coalesce` a
    line of indices means rows. Bits move unchanged, NaN too.

    dst: receives the elements
    src: the table
    indices: one for each element of dst, or a line of one for each row
    tmp: of newer text; ignored
    coalesce: elem, row
    outside: wrap, clamp, zero, error
    """

@overload
def mgather(
    dst: Tile,
    src: Tensor,
    indices: Tensor,
    *,
    tmp: Tensor | None = ...,
    coalesce: CoalesceWord | None = ...,
    outside: GatherOOBWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Read elements, or with `coalesce` row whole rows, of global memory into L1.

    As the other form, with indices in global memory.

    dst: receives the elements
    src: the table
    indices: one for each element of dst, or a line of one for each row
    tmp: room in global memory; ignored
    coalesce: elem, row
    outside: wrap, clamp, zero, error
    """

def mscatter(
    dst: Tensor,
    src: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    coalesce: CoalesceWord | None = ...,
    atomic: AtomicOpWord = ...,
    outside: ScatterOOBWord | None = ...,
    conflict: ScatterConflictWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Write elements, or with `coalesce` row whole rows, to global memory at indices.

    dst[indices[r, c]] = src[r, c], or row indices[r] of dst, with indices as in MGATHER; in
    row-major order, so of equal indices the last one wins. `atomic` adds to the element, or takes
    the greater or the lesser; each addition is rounded, and a NaN never replaces a number.
    `outside` is the policy for an index out of range: clamp, wrap, skip; error, also written
    undefined, is an error.

    dst: the table; other elements stay
    src: the elements
    indices: one for each element of src, or a line of one for each row
    tmp: of newer text; ignored
    coalesce: elem, row
    atomic: none, add, max, min
    outside: skip, clamp, wrap, error
    conflict: default, last
    """

def tinterleave(
    dst1: Tile,
    dst0: Tile,
    src1: Tile,
    src0: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """The stream src0[r, 0], src1[r, 0], src0[r, 1], ...: dst0 its first half, dst1 the rest.

    For an odd number of columns dst1 starts with the pair whose first element is dst0's last.

    dst1: the second half
    dst0: the first half
    src1: the second source
    src0: the first source
    """

@overload
def tdeinterleave(
    dst1: Tile,
    dst0: Tile,
    src1: Tile,
    src0: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """The columns of src0, then those of src1: dst0 takes the even ones, dst1 the odd ones.

    dst1: the second half
    dst0: the first half
    src1: the second source
    src0: the first source
    """

@overload
def tdeinterleave(
    dst1: Tile,
    dst0: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst0 takes the even columns of src, dst1 the odd ones.

    dst1: the odd columns
    dst0: the even columns
    src: twice as many columns
    """

def tsetval(
    dst: Tile,
    offset: int,
    val: float,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Element `offset` of dst's storage, whatever its layout, becomes `val` in its type.

    dst: the tile; its other elements stay
    offset: which element of its storage
    val: the number
    """

def tprefetch(
    dst: Tile,
    src: Tensor,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """A hint that `src` will be loaded: dst keeps its content, defined or not.

    dst: a tile of the size of the transfer
    src: what will be loaded
    """

@overload
def tprint(
    src: Tile,
    *,
    tmp: Tensor | None = ...,
    format: PrintFormatWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Print the valid region: a line `TPRINT ROWSxCOLS`, and a line for each row.

    Numbers are right-aligned in 8 or 10 places, floats with 4, 2 or 6 decimal places; NaN is nan.
    Elements outside the valid region are not printed.

    src: the tile
    tmp: room in global memory, for tiles in acc and mat
    format: width8_precision4, width8_precision2, width10_precision6
    """

@overload
def tprint(
    src: Tensor,
    *,
    format: PrintFormatWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Print a global tensor view as a matrix.

    src: the view
    format: width8_precision4, width8_precision2, width10_precision6
    """

def tsort32(
    dst: Tile,
    src: Tile,
    idx: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Sort each row in blocks of 32 by value, greatest first; equal values by index, unsigned.

    dst gets records of 8 bytes: the value, zeros up to 4 bytes, its index. -0 equals +0; a NaN with
    sign 0 comes first, one with sign 1 last, and NaN keeps its bits. Bytes of dst after the records
    stay.

    dst: receives a record for each element of src
    src: the values
    idx: their indices, of 32 bits; on A2/A3 and A5 one row may serve all rows
    tmp: of A2/A3 and A5, for a last block of fewer than 32
    """

@overload
def tmrgsort(
    dst: Tile,
    src: Tile,
    block_len: int,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Merge each four neighbouring runs of `block_len` elements, in groups that fill the row.

    On a5 elements after the last group are not written.

    dst: receives the records; bytes behind them stay
    src: the runs: groups of four
    block_len: elements of a run; two to a record of f32, four of f16
    """

@overload
def tmrgsort(
    dst: Tile,
    executed: Tile,
    tmp: Tile,
    src0: Tile,
    src1: Tile,
    *,
    src2: Tile | None = ...,
    src3: Tile | None = ...,
    exhausted: bool = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Merge two to four sorted lists; with `exhausted` stop when the first list is used up.

    dst's valid columns limit the number of records. `executed` is written with `exhausted` only.

    dst: receives the records; bytes behind them stay
    executed: how many records of each list are taken, 16 bits
    tmp: room for what is valid of all sources
    src0: a sorted list
    src1: a sorted list
    src2: a sorted list
    src3: a sorted list
    exhausted: bool
    """

@overload
def tmrgsort(
    dst: Tile,
    executed: Tile,
    src0: Tile,
    src1: Tile,
    no_tmp: bool,
    *,
    src2: Tile | None = ...,
    src3: Tile | None = ...,
    exhausted: bool = ...,
    events: Sequence[Event] = ...,
) -> None:
    """The merge of lists with scratch from the compiler, which is not possible at level 3.

    dst: receives the records; bytes behind them stay
    executed: how many records of each list are taken, 16 bits
    src0: a sorted list
    src1: a sorted list
    src2: a sorted list
    src3: a sorted list
    exhausted: bool
    no_tmp: bool
    """

@overload
def tgather(
    dst: Tile,
    src0: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    outside: GatherOOBWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def tgather(
    dst: Tile,
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: GatherAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

@overload
def tgather(
    dst: Tile,
    src0: Tile,
    k_value: Tile,
    cdst: Tile,
    offset: int = ...,
    *,
    tmp: Tile | None = ...,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """For each row, list the flat indices of the elements greater than (or equal to) its threshold.

    dst[i, n] = offset + i * src0.cols + j for the n-th match j of row i; cdst[i] = the number of
    matches, which must fit in the row. Elements of dst after them keep their value. `k_value` is
    converted to src0's type; A5 takes bytes as unsigned, and compares 32 bits.

    dst: receives the indices of the matches, row by row
    src0: the elements to compare
    k_value: one threshold for each row
    cdst: receives the number of matches of each row
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    offset: the index of the first element
    cmp: eq, ne, lt, le, gt, ge
    """

@overload
def tgather(
    dst: Tile,
    src0: Tile,
    k_value: float,
    cdst: Tile,
    *,
    tmp: Tile | None = ...,
    cmp: CmpModeWord = ...,
    offset: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """tgather that compares every element with one number, as in the assembler's text.

    dst: receives the indices of the matches, row by row
    src0: the elements to compare
    k_value: the threshold of all rows; it takes src0's type
    cdst: receives the number of matches of each row
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    cmp: eq, ne, lt, le, gt, ge
    offset: int
    """

def tgatherb(
    dst: Tile,
    src: Tile,
    offsets: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Copy 32-byte blocks: block b of row r of `dst` comes from byte offsets[r, b] of `src`.

    On the CPU simulator a block that would reach past the source is not written.

    dst: receives the blocks; only whole ones are written
    src: the bytes
    offsets: a byte offset for each block
    """

@overload
def thistogram(
    dst: Tile,
    src: Tile,
    idx: Tile,
    *,
    byte: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[r, n] = the number of elements of row r with a byte of at most n; byte 0 is the lowest.

    Only elements whose bytes above it equal those of `idx` count: for u16 a filter for each row,
    for u32 one for all rows, idx[0, 0] the highest byte.

    dst: 256 counts for each row; columns behind them stay
    src: the elements
    idx: the bytes above that an element must have to count
    byte: int
    """

@overload
def thistogram(
    dst: Tile,
    src: Tile,
    idx: Tile,
    is_msb: bool,
    *,
    newer: int | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """THISTOGRAM of u16 in older text: with `is_msb` the upper byte, else the lower one.

    dst: 256 counts for each row; columns behind them stay
    src: the elements
    idx: the bytes above that an element must have to count
    is_msb: bool
    newer: int
    """

@overload
def tscatter(
    dst: Tile,
    src: Tile,
    indexes: Tile,
    *,
    mask: MaskPatternWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst.storage[indexes[r, c]] = src[r, c], row by row: of equal indices the last one wins.

    On A2/A3 and A5 all other elements of dst become 0, on the CPU simulator they stay.

    dst: receives the elements; indices count its storage
    src: the elements
    indexes: where they go, each an element of dst's storage
    mask: P0101, P1010, P0001, P0010, P0100, P1000, P1111
    """

@overload
def tscatter(
    dst: Tile,
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: ScatterAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Each row of `dst` is the row of `src0` followed by the row of `src1`.

    dst[i, j] = src0[i, j] for j < n0, src1[i, j - n0] from there on; n0 = src0.valid.cols.

    dst: receives both, side by side
    src0: the left part
    src1: the right part
    """

@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
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
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """The form with counts, which also writes the bytes of each result row to `dst_idx`.

    dst: receives both, side by side
    src0: the left part
    src1: the right part
    dst_idx: one column: what each row of dst holds
    src0_idx: how much of src0, by row
    src1_idx: how much of src1, by row
    """

@overload
def textract(
    dst: Tile,
    src: Tile,
    row: int = ...,
    col: int = ...,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def textract(
    dst0: Tile,
    dst1: Tile,
    src: Tile,
    row0: int,
    col0: int,
    row1: int,
    col1: int,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Copy two windows of one row-major vector tile into two NZ tiles.

    dst0: receives the window at (row0, col0)
    dst1: receives the window at (row1, col1)
    src: the tile to extract from
    """

@overload
def textract(
    dst: Tile,
    src: ConvTile,
    row: int = ...,
    col: int = ...,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Copy a window of the K x N weight matrix of a FRACTAL_Z tile into a Right tile.

    Whole blocks move: the extents are rounded up to c0 rows and 16 columns.

    dst: receives the window
    src: weights in FRACTAL_Z or FRACTAL_Z_3D layout
    row: first k of the window
    col: first n of the window
    """

def textract_fp(
    dst: Tile,
    src: Tile,
    fp: Tile,
    row: int = ...,
    col: int = ...,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tfillpad(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst = src where src is valid, the pad value elsewhere; in vec dst may be larger.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def tfillpad_inplace(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """tfillpad where dst and src share their storage.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def tfillpad_expand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """tfillpad into a dst whose declared shape may be larger.

    dst: the tile to fill, all of it; its type has the pad value
    src: the data; its valid region is what stays
    """

def timg2col(
    dst: Tile,
    src: ConvTile,
    pos_m: int = ...,
    pos_k: int = ...,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tinsert(
    dst: Tile,
    src: Tile,
    row: int = ...,
    col: int = ...,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    split: TInsertModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Write the valid region of `src` into the window of `dst` that starts at (`row`, `col`).

    dst[row + i, col + j] = src[i, j]; everything else in `dst` keeps its value. An accumulator
    source passes the fix-pipe, as in textract. SPLIT2 and SPLIT4 issue the same transfer in parts.

    dst: the tile written into; what lies outside the window stays
    src: the tile to insert; its valid region is the window's size
    quant: fix-pipe word: bits 31:0 scale (f32), 35:32 shift - 1, 45:37 offset, 46 signed
    row: first row of the window in dst
    col: first column of the window in dst
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    split: split2, split4
    """

def tinsert_fp(
    dst: Tile,
    src: Tile,
    fp: Tile,
    row: int = ...,
    col: int = ...,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Insert an accumulator tile through the fix-pipe, one parameter for each of its columns.

    dst[row + i, col + j] = convert(src[i, j]; fp[0, j]): unlike textract_fp, `col` does not index
    `fp`.

    dst: the tile written into; what lies outside the window stays
    src: the tile to insert; its valid region is the window's size
    fp: a parameter for each column, as `quant` of textract has it
    row: first row of the window in dst
    col: first column of the window in dst
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    """

@overload
def tmov(
    dst: Tile,
    src: Tile,
    *,
    quant: int | None = ...,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def tmov(
    dst: Tile,
    src: Tile,
    tmp: Tile,
    *,
    axis: GroupAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tmov_fp(
    dst: Tile,
    src: Tile,
    fp: Tile,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Move an accumulator through the fix-pipe, one parameter for each column.

    dst[i, j] = convert(src[i, j]; fp[0, j]).

    dst: receives the tile
    src: the accumulator tile to move
    fp: a parameter for each column, as `quant` of textract has it
    relu: none, normal
    mode: single_mode_vec0, single_mode_vec1, dual_mode_split_m, dual_mode_split_n
    phase: unspecified, partial, final
    """

def tpack(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = the low bits of src[i, j]: 4 bytes to 2 or 1, 2 bytes to 1.

    High bits are cut off; no value is rounded or saturated.

    dst: receives the low bits
    src: the wider elements
    """

@overload
def ttrans(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[j, i] = src[i, j] over src's valid region; rectangular tiles are fine.

    `tmp` is scratch: ignored here and on A5, undefined afterwards.

    dst: receives the transpose; must not overlap src
    src: the tile to transpose
    tmp: of A2/A3
    """

@overload
def ttrans(
    dst: ConvTile,
    src: ConvTile,
    *,
    tmp: Tile | None = ...,
    images: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Store a feature map, or the weights of a filter, in another convolution layout.

    Every element keeps its group, image, channel, depth, row and column. Channels and images that
    exist only in the blocks of `dst` are 0, and so are those of each group of `src` after the first
    `images`. `tmp` is scratch, undefined afterwards.

    dst: receives the elements; must not overlap src
    src: the feature map
    tmp: of A2/A3
    images: int
    """

def tmatmul(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = a x b, summed over k ascending with one fused multiply-add per k.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tgemv(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = a x b for one row, summed over k ascending with one fused multiply-add per k.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tmatmul_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = acc + a x b: each sum starts with acc's element; in recordings acc is added last.

    c: the accumulator tile; M x N of it is written, whatever is valid
    acc: the sum so far; may be c itself
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tgemv_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = acc + a x b for one row: each sum starts with acc's element (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    acc: the sum so far; may be c itself
    a: the left matrix, M x K
    b: the right matrix, K x N
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tmatmul_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = bias + a x b: each sum starts with its column's bias; in recordings it is added last.

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tgemv_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """c = bias + a x b for one row: each sum starts with its column's bias (recorded: last).

    c: the accumulator tile; M x N of it is written, whatever is valid
    a: the left matrix, M x K
    b: the right matrix, K x N
    bias: one row of N biases
    phase: unspecified, partial, final
    short: rint_10, round_10, rint_11, round_11
    """

def tmatmul_mx(
    c: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tgemv_mx(
    c: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tmatmul_mx_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tgemv_mx_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tmatmul_mx_bias(
    c: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tgemv_mx_bias(
    c: Tile,
    a: Tile,
    a_scale: Tile,
    b: Tile,
    b_scale: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tpartadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] + src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tpartmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] * src1[i, j] where both are valid, a copy where one is, 0 elsewhere.

    Integers wrap.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tpartmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = the larger source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the smallest finite number.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tpartmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = the smaller source where both are valid, a copy where one is, 0 elsewhere.

    For equal values or if one is NaN, src0's is taken. Elsewhere a5 has the largest finite number.

    dst: receives the results; may be a source
    src0: the left operands
    src1: the right operands
    """

def tpartargmax(
    dst_val: Tile,
    src0_val: Tile,
    src1_val: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """The larger of two values with its index where both are valid, a copy where one is, else 0.

    The CPU simulator takes src0's if it is strictly larger, A2/A3 if it is larger or equal. A5
    takes src1's if it is strictly larger. Comparisons with NaN are false.

    dst_val: receives the values
    src0_val: the left values
    src1_val: the right values
    dst_idx: receives the indices
    src0_idx: the indices of the left values
    src1_idx: the indices of the right values
    """

def tpartargmin(
    dst_val: Tile,
    src0_val: Tile,
    src1_val: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """The smaller of two values with its index where both are valid, a copy where one is, else 0.

    The CPU simulator takes src0's if it is strictly smaller, A2/A3 if it is smaller or equal. A5
    takes src1's if it is strictly smaller. Comparisons with NaN are false.

    dst_val: receives the values
    src0_val: the left values
    src1_val: the right values
    dst_idx: receives the indices
    src0_idx: the indices of the left values
    src1_idx: the indices of the right values
    """

@overload
def tquant(
    dst: Tile,
    src: Tile,
    scale: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: SymmetricWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] * scale[i, 0] rounded half to even, -128 to 127; NaN is 0.

    The product rounds to f32 first. Values out of range, infinities too, saturate.

    dst: receives the whole numbers
    src: the numbers, f32
    scale: in its first column a factor, not a divisor, for each row
    tmp: of A2/A3, as large as src
    quant_type: int8_sym
    """

@overload
def tquant(
    dst: Tile,
    src: Tile,
    scale: Tile,
    offset: Tile,
    quant_type: AsymmetricWord,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] * scale[i, 0] + offset[i, 0] rounded half to even, 0 to 255; NaN is 0.

    The product and the sum round to f32 first. Values out of range, infinities too, saturate.

    dst: receives the whole numbers
    src: the numbers, f32
    scale: in its first column a factor, not a divisor, for each row
    tmp: of A2/A3, as large as src
    offset: in its first column what is added to each row
    quant_type: int8_asym
    """

def tdequant(
    dst: Tile,
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = (src[i, j] - offset[i, p]) * scale[i, p], p = j or scale's last column.

    The difference and the product round to f32. A NaN of scale or offset gives NaN.

    dst: receives the numbers, f32
    src: the whole numbers
    scale: factors: for each row, or for each element
    offset: what is subtracted: as scale
    """

@overload
def tquant_mx(
    dst: Tile,
    src: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    *,
    format: MxFormatWord = ...,
    scale: MxScaleWord = ...,
    interleave: bool = ...,
    axis: GroupAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst = src * 2**(127 - exp of its group) as fp8 or fp4, nearest, ties to even; groups of 32.

    A group is 32 columns of a row (`axis` 1) or 32 rows of a column (0). max is the largest |src|
    of a group; exp its biased exponent less 8 (fp8) or 2 (fp4), at least 0, with NV that of max /
    448 or max / 6, rounded up. Elements are at most 448 or 6: so are infinities. NaN makes exp 255,
    max and scaling NaN, and all elements of its group NaN in fp8, 6 in fp4; in fp8 of the CPU
    simulator it does not count for max and is the only one that becomes NaN. max and scaling are
    filled from the first byte on, on A5 in src's columns for groups down them; in place of f16 A5
    stores bf16 there, but for max of NV. Simulators fill the rest of dst with 0 in fp4. With
    `interleave` each two rows of exp, of groups down the columns, are one: their elements in turn.

    dst: receives the elements: f8e4m3, in bytes, or f4e2m1x2
    src: the numbers
    exp: receives the exponent of each group, an f8e8m0
    max: receives the largest magnitude of each group, from its first byte on
    scaling: receives the factor of each group, from its first byte on
    format: mxfp8, mxfp4_e2m1
    scale: ocp, nv
    interleave: bool
    axis: axis0, axis1
    """

@overload
def tquant_mx(
    dst: Tile,
    src: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    exp_zz: Tile,
    *,
    format: MxFp8Word = ...,
    scale: MxScaleWord = ...,
    interleave: bool = ...,
    axis: GroupAxisWord = ...,
    store: VecStoreModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """`tquant.mx` of fp8 along rows, with the exponents also in the order of a left scale tile.

    exp_zz is filled from its first byte on: boxes of 16 rows and 2 groups, row-major, and so are
    the elements of each. Compilers take this form on A5 too, and call it deprecated. NaN is treated
    as in `tquant.mx`; infinities become 448.

    dst: receives the elements: f8e4m3, in bytes, or f4e2m1x2
    src: the numbers
    exp: receives the exponent of each group, an f8e8m0
    max: receives the largest magnitude of each group, from its first byte on
    scaling: receives the factor of each group, from its first byte on
    exp_zz: receives the exponents in zz order, from its first byte on
    format: mxfp8
    scale: ocp, nv
    interleave: bool
    axis: axis0, axis1
    store: nd, nz
    """

def tquant_dn(
    dst: Tile,
    src: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    *,
    format: MxFormatWord = ...,
    scale: MxScaleWord = ...,
    interleave: bool = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Quantise groups of 32 rows of a column: `tquant.mx` with `axis` 0.

    NaN is treated as there. Infinities become the largest element, 448 or 6.

    dst: receives the elements: f8e4m3, in bytes, or f4e2m1x2
    src: the numbers
    exp: receives the exponent of each group, an f8e8m0
    max: receives the largest magnitude of each group, from its first byte on
    scaling: receives the factor of each group, from its first byte on
    format: mxfp8, mxfp4_e2m1
    scale: ocp, nv
    interleave: bool
    """

def trowsum(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def trowprod(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, 0] = src[i, 0] * src[i, 1] * ..., from left to right, starting with 1.

    Each step rounds to the element type; integers wrap. Floats on a5: registers of 256 bytes lane
    by lane, from the left, then the first half of the lanes by the second, and again. On a2a3:
    lines of 32 bytes lane by lane, then the lanes from the left; those of f16 in f32, rounded once.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def trowmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, 0] = the largest of src[i, 0], src[i, 1], ..., the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def trowmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, 0] = the smallest of src[i, 0], src[i, 1], ..., the first of equal ones.

    dst: one valid column: a result for each row
    src: the rows to reduce
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tcolsum(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    is_binary: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None:
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

def tcolprod(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, j] = src[0, j] * src[1, j] * ..., from top to bottom, starting with 1.

    Every step rounds to dst's element type; integers wrap. A source without rows leaves `dst`
    unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def tcolmax(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, j] = the largest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def tcolmin(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[0, j] = the smallest of src[0, j], src[1, j], ..., the first of equal ones.

    A source without rows leaves `dst` unchanged.

    dst: one valid row: a result for each column
    src: the columns to reduce
    """

def tpairreducesum(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, k] = src[i, 2k] + src[i, 2k + 1].

    In an odd number of columns the last has no partner: the CPU simulator adds 0 to it, A2/A3 and
    A5 leave it out. Every other element of dst's storage becomes 0. Integers wrap.

    dst: receives the sums, in the first half of its valid columns
    src: the elements to add in pairs
    """

def setfmatrix(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Tell the unroll the size and padding of `src`: register FMATRIX of the mode's bank.

    Width is bits 0-15, height 16-31; padding left 32-39, right 40-47, top 48-55, bottom 56-63.

    src: the feature map
    mode: a_auto, b_auto, a_manual, b_manual
    """

def set_img2col_padding(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Tell the unroll the value outside of `src`; an 8-bit value fills both bytes.

    src: the feature map
    mode: a_auto, b_auto, a_manual, b_manual
    """

def set_img2col_rpt(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Tell the unroll its number of repetitions: stride bits 0-15, times 16-23, mode 24.

    On A5 also the place in dst: stride bits 32-47, first row 48-63.

    src: the feature map
    mode: a_auto, b_auto, a_manual, b_manual
    """

def set_quant_scalar(
    scale: float,
    *,
    out: QuantOutWord = ...,
    number: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Set the one scale of the fix-pipe: its f32 bits, and bit 46 if the result is an i8.

    scale: the scale, an f32
    out: i8, u8, f16, bf16
    number: int
    """

def set_quant_vector(
    fp: Tile,
    *,
    number: int = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Set the address of the fix-pipe's parameters, one for each column: 128-byte granules.

    fp: a parameter for each column, as `quant` of textract has it
    number: int
    """

def sethf32mode(
    enable: bool,
    *,
    mode: RoundModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Allow later products to shorten f32 to HF32: enabled bit 0, rounding bits 1 to 3.

    ptokit keeps the register and computes with whole f32.

    enable: bool
    mode: none, rint, round, floor, ceil, trunc, odd
    """

def settf32mode(
    enable: bool,
    *,
    mode: RoundModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Allow later products to shorten f32 to TF32: enabled bit 0, rounding bits 1 to 3.

    ptokit keeps the register and computes with whole f32. On A2/A3 nothing happens.

    enable: bool
    mode: none, rint, round, floor, ceil, trunc, odd
    """

def tcmp(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Bit j % w of dst[i, j // w] = src0[i, j] compares with src1[i, j] as `cmp` says.

    w is the width of dst's elements. NaN is unordered: only NE is true; -0 equals +0. Bits beyond
    src0's valid columns, and the rest of dst's storage, become 0.

    dst: receives the bits: of each row, the lowest bit first
    src0: the left operands
    src1: the right operands
    cmp: eq, ne, lt, le, gt, ge
    """

@overload
def tcmps(
    dst: Tile,
    src0: Tile,
    scalar: float,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
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
def tcmps(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None:
    """As the form with a scalar, with the first element of `src1` in its place.

    dst: receives the bits: of each row, the lowest bit first
    src0: the left operands
    src1: its first element is the right operand of all
    cmp: eq, ne, lt, le, gt, ge
    """

def tsel(
    dst: Tile,
    mask: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src0[i, j] where the bit of (i, j) in `mask` is 1, else src1[i, j].

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.

    dst: receives the elements chosen; may be a source
    mask: a bit for each element
    src0: elements for bits that are 1
    src1: elements for bits that are 0
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    """

def tsels(
    dst: Tile,
    mask: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """dst[i, j] = src[i, j] where the bit of (i, j) in `mask` is 1, else `scalar`.

    That is bit j % w of mask[i, j // w], w the width of its elements: what tcmp writes.

    dst: receives the elements chosen; may be the source
    mask: a bit for each element
    src: elements for bits that are 1
    tmp: of A2/A3; ignored on A5 and the CPU simulator
    scalar: the element for bits that are 0; it takes src's element type
    """

def set_flag(
    source: PipeWord,
    target: PipeWord,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Set a flag when all earlier work of `source` is done.

    source: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    target: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    event: 0, 1, 2, 3, 4, 5, 6, 7
    """

def wait_flag(
    source: PipeWord,
    target: PipeWord,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Make `target` wait until the flag is set, and clear it.

    source: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    target: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    event: 0, 1, 2, 3, 4, 5, 6, 7
    """

def set_flag_dyn(
    event: int,
    source: PipeWord,
    target: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Set a flag whose id is known at run time.

    event: the id, 0 to 7
    source: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    target: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    """

def wait_flag_dyn(
    event: int,
    source: PipeWord,
    target: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Wait for a flag whose id is known at run time.

    event: the id, 0 to 7
    source: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    target: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    """

def record_event(
    source: str,
    target: str,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Set the flag between the pipes of two operations when the first is done.

    source: str
    target: str
    event: 0, 1, 2, 3, 4, 5, 6, 7
    """

def wait_event(
    source: str,
    target: str,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Make the second operation's pipe wait until the flag is set, and clear it.

    source: str
    target: str
    event: 0, 1, 2, 3, 4, 5, 6, 7
    """

def barrier(
    of: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Make a pipe wait until all its earlier work is done; ALL: every pipe.

    of: S, V, M, MTE1, MTE2, MTE3, FIX, ALL
    """

def barrier_sync(
    op: str,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Make the pipe of an operation wait until all its earlier work is done.

    op: str
    """

def tsync(
    *events: Event,
) -> None:
    """Wait for each of the events.

    events: what was recorded
    """

def tsync_op(
    op: str,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Make the pipe of an operation wait until all its earlier work is done.

    op: str
    """

@overload
def tload(
    dst: Tile,
    src: Tensor,
    left_padding_num: int | None = ...,
    *,
    pad_value: float | None = ...,
    right_padding_num: float | None = ...,
    init_condition: float | None = ...,
    offset: int | None = ...,
    pad_mode: PadModeWord | None = ...,
    init_out_buffer: bool = ...,
    cache_policy: LoadCachePolicyWord = ...,
    layout: GlobalLayoutWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Copy the matrix that `src` describes into the valid region of `dst`.

    All of dst's storage outside the valid region takes the tile's pad value; with a null pad those
    elements are unchanged. Chips fill up the last line of 32 bytes of each row with zeros when
    lines become boxes of a mat tile. Under the reading larger-views, and on a5, it copies the upper
    left part of a larger matrix. The operands for padding and caches, which only assembler text
    has, have no effect.

    dst: the tile to fill; its valid region is the size of the transfer
    src: the global tensor view to read
    pad_value: no effect
    left_padding_num: no effect
    right_padding_num: no effect
    init_condition: no effect
    offset: how far addresses past L2 lie off
    pad_mode: null, first, value
    init_out_buffer: bool
    cache_policy: default, l2_bypass
    layout: nd, dn, nz, mx_a_zz, mx_a_nd, mx_a_dn, mx_b_nn, mx_b_nd, mx_b_dn, nc1hwc0, fractal_z, ndc1hwc0, nchw, ncdhw, nhwc
    """

@overload
def tload(
    dst: ConvTile,
    src: Tensor,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """Copy the array that `src` describes into a convolution tile.

    The view states the layout that the tile has. On A5 it may state one without blocks of channels:
    for maps `nchw`, `nhwc` and `ncdhw`, for weights `nchw` and `ncdhw`, with every plane whole.
    Each element keeps its image, channel, depth, row and column. Channels that only the last block
    has are 0; blocks and images that the view lacks are unchanged.

    dst: the tile to fill
    src: the global tensor view to read, its layout that of the tile
    """

def tstore(
    dst: Tensor,
    src: Tile,
    *,
    quant: int | None = ...,
    phase: PhaseWord = ...,
    atomic: AtomicTypeWord = ...,
    relu: ReluPreModeWord = ...,
    layout: GlobalLayoutWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Write the valid region of `src` to the matrix that `dst` describes; nothing else changes.

    An accumulator passes the fix-pipe: it may narrow, `relu` clears negative values, `quant` is the
    one quantisation parameter of all columns.

    dst: the global tensor view to write
    src: the tile to store
    quant: fix-pipe word: bits 31:0 scale (f32), 35:32 shift - 1, 45:37 offset, 46 signed
    phase: unspecified, partial, final
    atomic: none, add
    relu: none, normal
    layout: nd, dn, nz, mx_a_zz, mx_a_nd, mx_a_dn, mx_b_nn, mx_b_nd, mx_b_dn, nc1hwc0, fractal_z, ndc1hwc0, nchw, ncdhw, nhwc
    """

def tstore_fp(
    dst: Tensor,
    src: Tile,
    fp: Tile,
    *,
    atomic: AtomicTypeWord = ...,
    relu: ReluPreModeWord = ...,
    layout: GlobalLayoutWord | None = ...,
    events: Sequence[Event] = ...,
) -> None:
    """Write an accumulator to memory through the fix-pipe, one parameter for each column.

    dst: the global tensor view to write
    src: the tile to store
    fp: a parameter for each column, as `quant` of textract has it
    atomic: none, add
    relu: none, normal
    layout: nd, dn, nz, mx_a_zz, mx_a_nd, mx_a_dn, mx_b_nn, mx_b_nd, mx_b_dn, nc1hwc0, fractal_z, ndc1hwc0, nchw, ncdhw, nhwc
    """

def talias(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """`dst` becomes another handle on the bytes of `src`: a write through one changes both.

    dst: the new handle
    src: the tile whose bytes it names
    """

def bitcast(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None:
    """`dst` becomes a handle on the bytes of `src` with another element type of the same width.

    dst: the new handle
    src: the tile whose bytes it names
    """

def tassign(tile: Tile, address: int) -> None:
    """A handle on the bytes at another address, of the type of `src`. Nothing moves.

    Tiles whose bytes overlap alias: what one writes, the other sees.

    src: the tile whose type the new handle has
    addr: byte offset in the memory of its location
    """

def tget_scale_addr(dst: Tile, src: Tile) -> None:
    """The scales that belong to `src`: a handle on the scale memory at a 16th of its address.

    No data moves: hardware expects the scales of a tile at this address.

    dst: the scales
    src: the left or right matrix that they scale
    """
