"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import Literal, overload

from ptokit.sim.tile import ConvTile, GlobalView, Tile

__all__ = [
    "textract",
    "textract_fp",
    "tmatmul",
    "tmatmul_acc",
    "tmatmul_bias",
    "tload",
    "tstore",
    "tstore_fp",
]

@overload
def textract(
    dst: Tile,
    src: Tile,
    row: int = ...,
    col: int = ...,
    *,
    quant: int | None = ...,
    relu: Literal["none", "normal"] = ...,
    mode: Literal["single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"] | None = ...,
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
    relu: Literal["none", "normal"] = ...,
    mode: Literal["single_mode_vec0", "single_mode_vec1", "dual_mode_split_m", "dual_mode_split_n"] | None = ...,
) -> None: ...
def tmatmul(
    c: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: Literal["unspecified", "partial", "final"] = ...,
) -> None: ...
def tmatmul_acc(
    c: Tile,
    acc: Tile,
    a: Tile,
    b: Tile,
    *,
    phase: Literal["unspecified", "partial", "final"] = ...,
) -> None: ...
def tmatmul_bias(
    c: Tile,
    a: Tile,
    b: Tile,
    bias: Tile,
    *,
    phase: Literal["unspecified", "partial", "final"] = ...,
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
    phase: Literal["unspecified", "partial", "final"] = ...,
    atomic: Literal["none", "add"] = ...,
    relu: Literal["none", "normal"] = ...,
) -> None: ...
def tstore_fp(
    dst: GlobalView,
    src: Tile,
    fp: Tile,
    *,
    atomic: Literal["none", "add"] = ...,
    relu: Literal["none", "normal"] = ...,
) -> None: ...
