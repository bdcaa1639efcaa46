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
) -> None: ...
def treshape(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def trowexpand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandsub(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpanddiv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolexpandexpdif(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def fence_barrier_all(
    scope: FenceScopeWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcvt(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    rmode: RoundModeWord = ...,
    sat_mode: SaturationModeWord | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def get_buf(
    op: str,
    buffer: int,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def rls_buf(
    op: str,
    buffer: int,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def get_buf_dyn(
    buffer: int,
    op: str,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def rls_buf_dyn(
    buffer: int,
    op: str,
    *,
    mode: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsub(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tdiv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def trem(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tfmod(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    precision: FmodPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tpow(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tprelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tand(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tor(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def txor(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tshl(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tshr(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def taddc(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsubc(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src2: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def taddrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsubrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tmuladddst(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tfusedmuladd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tfusedmuladdrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def taddreluconv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsubreluconv(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tadddeqrelu(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    deq_scale: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def taxpy(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def texp(
    dst: Tile,
    src: Tile,
    *,
    precision: ExpPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trelu(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tabs(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tneg(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tnot(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tlog(
    dst: Tile,
    src: Tile,
    *,
    precision: LogPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tsqrt(
    dst: Tile,
    src: Tile,
    *,
    precision: SqrtPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trsqrt(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    precision: RsqrtPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trecip(
    dst: Tile,
    src: Tile,
    *,
    precision: RecipPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tadds(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsubs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tmuls(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tdivs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tdivs(
    dst: Tile,
    scalar: float,
    src: Tile,
    *,
    precision: DivPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmaxs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tmins(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def trems(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: RemPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tfmods(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    precision: FmodPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tpows(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    precision: PowPrecisionWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tlrelu(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tands(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tors(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def txors(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tshls(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tshrs(
    dst: Tile,
    src: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def taddsc(
    dst: Tile,
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsubsc(
    dst: Tile,
    src0: Tile,
    scalar: float,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def texpands(
    dst: Tile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def texpands(
    dst: ConvTile,
    scalar: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def trowargmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def trowargmax(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def trowargmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def trowargmin(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcolargmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcolargmax(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcolargmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcolargmin(
    dst_val: Tile,
    dst_idx: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tquant_hif4(
    dst: Tile,
    src: Tile,
    exp: Tile,
    max: Tile,
    scaling: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
@overload
def tci(
    dst: Tile,
    start: float,
    *,
    descending: bool = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tci(
    dst: Tile,
    start: float,
    tmp: Tile,
    *,
    descending: bool = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def ttri(
    dst: Tile,
    diagonal: int,
    *,
    upper: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def tinterleave(
    dst1: Tile,
    dst0: Tile,
    src1: Tile,
    src0: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tdeinterleave(
    dst1: Tile,
    dst0: Tile,
    src1: Tile,
    src0: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tdeinterleave(
    dst1: Tile,
    dst0: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsetval(
    dst: Tile,
    offset: int,
    val: float,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tprefetch(
    dst: Tile,
    src: Tensor,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tprint(
    src: Tile,
    *,
    tmp: Tensor | None = ...,
    format: PrintFormatWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tprint(
    src: Tensor,
    *,
    format: PrintFormatWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tsort32(
    dst: Tile,
    src: Tile,
    idx: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tmrgsort(
    dst: Tile,
    src: Tile,
    block_len: int,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
@overload
def tgather(
    dst: Tile,
    src0: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    outside: GatherOOBWord | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tgather(
    dst: Tile,
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: GatherAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def tgatherb(
    dst: Tile,
    src: Tile,
    offsets: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def thistogram(
    dst: Tile,
    src: Tile,
    idx: Tile,
    *,
    byte: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def thistogram(
    dst: Tile,
    src: Tile,
    idx: Tile,
    is_msb: bool,
    *,
    newer: int | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tscatter(
    dst: Tile,
    src: Tile,
    indexes: Tile,
    *,
    mask: MaskPatternWord | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tscatter(
    dst: Tile,
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: ScatterAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
@overload
def textract(
    dst: Tile,
    src: ConvTile,
    row: int = ...,
    col: int = ...,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
def tfillpad(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tfillpad_inplace(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tfillpad_expand(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def timg2col(
    dst: Tile,
    src: ConvTile,
    pos_m: int = ...,
    pos_k: int = ...,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
@overload
def tmov(
    dst: Tile,
    src: Tile,
    tmp: Tile,
    *,
    axis: GroupAxisWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmov_fp(
    dst: Tile,
    src: Tile,
    fp: Tile,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
    phase: PhaseWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tpack(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def ttrans(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def ttrans(
    dst: ConvTile,
    src: ConvTile,
    *,
    tmp: Tile | None = ...,
    images: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmatmul(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tgemv(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmatmul_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tgemv_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tmatmul_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tgemv_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: AccPhaseWord = ...,
    short: ShortF32Word | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def tpartadd(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpartmul(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpartmax(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpartmin(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpartargmax(
    dst_val: Tile,
    src0_val: Tile,
    src1_val: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpartargmin(
    dst_val: Tile,
    src0_val: Tile,
    src1_val: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tquant(
    dst: Tile,
    src: Tile,
    scale: Tile,
    *,
    tmp: Tile | None = ...,
    quant_type: SymmetricWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
def tdequant(
    dst: Tile,
    src: Tile,
    scale: Tile,
    offset: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
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
) -> None: ...
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
) -> None: ...
def trowsum(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trowprod(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trowmax(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def trowmin(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolsum(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
    is_binary: bool | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolprod(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolmax(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tcolmin(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tpairreducesum(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def setfmatrix(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def set_img2col_padding(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def set_img2col_rpt(
    src: ConvTile,
    *,
    mode: FmatrixModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def set_quant_scalar(
    scale: float,
    *,
    out: QuantOutWord = ...,
    number: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def set_quant_vector(
    fp: Tile,
    *,
    number: int = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def sethf32mode(
    enable: bool,
    *,
    mode: RoundModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def settf32mode(
    enable: bool,
    *,
    mode: RoundModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tcmp(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcmps(
    dst: Tile,
    src0: Tile,
    scalar: float,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
@overload
def tcmps(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    *,
    cmp: CmpModeWord = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tsel(
    dst: Tile,
    mask: Tile,
    src0: Tile,
    src1: Tile,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def tsels(
    dst: Tile,
    mask: Tile,
    src: Tile,
    scalar: float,
    *,
    tmp: Tile | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def set_flag(
    source: PipeWord,
    target: PipeWord,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def wait_flag(
    source: PipeWord,
    target: PipeWord,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def set_flag_dyn(
    event: int,
    source: PipeWord,
    target: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def wait_flag_dyn(
    event: int,
    source: PipeWord,
    target: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def record_event(
    source: str,
    target: str,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def wait_event(
    source: str,
    target: str,
    event: EventIdWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def barrier(
    of: PipeWord,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def barrier_sync(
    op: str,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tsync(
    *events: Event,
) -> None: ...
def tsync_op(
    op: str,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
@overload
def tload(
    dst: ConvTile,
    src: Tensor,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
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
) -> None: ...
def tstore_fp(
    dst: Tensor,
    src: Tile,
    fp: Tile,
    *,
    atomic: AtomicTypeWord = ...,
    relu: ReluPreModeWord = ...,
    layout: GlobalLayoutWord | None = ...,
    events: Sequence[Event] = ...,
) -> None: ...
def talias(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def bitcast(
    dst: Tile,
    src: Tile,
    *,
    events: Sequence[Event] = ...,
) -> None: ...
def tassign(tile: Tile, address: int) -> None: ...
def tget_scale_addr(dst: Tile, src: Tile) -> None: ...
