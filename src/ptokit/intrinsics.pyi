"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import Literal, overload

from ptokit.sim.tile import ConvTile, GlobalView, Tile

AccToVecModeWord = Literal[
    "single_mode_vec0",
    "single_mode_vec1",
    "dual_mode_split_m",
    "dual_mode_split_n",
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
MaskPatternWord = Literal[
    "P0101",
    "P1010",
    "P0001",
    "P0010",
    "P0100",
    "P1000",
    "P1111",
]
PhaseWord = Literal[
    "unspecified",
    "partial",
    "final",
]
ReluPreModeWord = Literal[
    "none",
    "normal",
]
TInsertModeWord = Literal[
    "split2",
    "split4",
]
__all__ = [
    "subview",
    "treshape",
    "tgather",
    "tgatherb",
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
    "tmatmul_acc",
    "tmatmul_bias",
    "tload",
    "tstore",
    "tstore_fp",
]

def subview(
    dst: Tile,
    src: Tile,
    row: int = ...,
    col: int = ...,
) -> None: ...
def treshape(
    dst: Tile,
    src: Tile,
) -> None: ...
@overload
def tgather(
    dst: Tile,
    src0: Tile,
    indices: Tile,
    *,
    tmp: Tile | None = ...,
    outside: GatherOOBWord | None = ...,
) -> None: ...
@overload
def tgather(
    dst: Tile,
    src: Tile,
    *,
    pattern: MaskPatternWord | None = ...,
    axis: GatherAxisWord = ...,
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
) -> None: ...
def tgatherb(
    dst: Tile,
    src: Tile,
    offsets: Tile,
) -> None: ...
@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
) -> None: ...
@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
) -> None: ...
@overload
def tconcat(
    dst: Tile,
    src0: Tile,
    src1: Tile,
    dst_idx: Tile,
    src0_idx: Tile,
    src1_idx: Tile,
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
) -> None: ...
@overload
def textract(
    dst: Tile,
    src: ConvTile,
    row: int = ...,
    col: int = ...,
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
) -> None: ...
def tfillpad(
    dst: Tile,
    src: Tile,
) -> None: ...
def tfillpad_inplace(
    dst: Tile,
    src: Tile,
) -> None: ...
def tfillpad_expand(
    dst: Tile,
    src: Tile,
) -> None: ...
def timg2col(
    dst: Tile,
    src: ConvTile,
    pos_m: int = ...,
    pos_k: int = ...,
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
) -> None: ...
@overload
def tmov(
    dst: Tile,
    src: Tile,
    tmp: Tile,
    *,
    axis: int = ...,
) -> None: ...
def tmov_fp(
    dst: Tile,
    src: Tile,
    fp: Tile,
    *,
    relu: ReluPreModeWord = ...,
    mode: AccToVecModeWord | None = ...,
) -> None: ...
def tpack(
    dst: Tile,
    src: Tile,
) -> None: ...
def ttrans(
    dst: Tile,
    src: Tile,
    *,
    tmp: Tile | None = ...,
) -> None: ...
def tmatmul(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: PhaseWord = ...,
) -> None: ...
def tmatmul_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: PhaseWord = ...,
) -> None: ...
def tmatmul_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: PhaseWord = ...,
) -> None: ...
def tload(
    dst: Tile,
    src: GlobalView,
) -> None: ...
def tstore(
    dst: GlobalView,
    src: Tile,
    *,
    quant: int | None = ...,
    phase: PhaseWord = ...,
    atomic: AtomicTypeWord = ...,
    relu: ReluPreModeWord = ...,
) -> None: ...
def tstore_fp(
    dst: GlobalView,
    src: Tile,
    fp: Tile,
    *,
    atomic: AtomicTypeWord = ...,
    relu: ReluPreModeWord = ...,
) -> None: ...
