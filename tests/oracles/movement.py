"""Moves of tiles and of windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.fix_pipe import plainly, scaled
from oracles.formats import Array, bits_of, storage_type, typed
from oracles.registry import InStorage, Refused, Result, Seen, Undefined, meaning
from oracles.storage import elements, lines, offsets

NORMAL = "NORMAL_RELU"


def out_of(
    window: Array, src: Seen, dst: Seen, quant: Any, relu: str, target: str, fixpipe: Any
) -> Array:  # Any: a parameter or None; options
    """A window on its way: converted, or through the fix-pipe with one parameter."""
    if quant is None:
        return plainly(window, src.dtype, dst.dtype, relu=relu == NORMAL)
    params = np.array([[quant & ((1 << 64) - 1)]], np.uint64)
    how = (src.dtype, dst.dtype, params, target, fixpipe)
    return scaled(window, *how, vector=False, relu=relu == NORMAL)


def by_column(
    window: Array, src: Seen, dst: Seen, params: Array, relu: str, target: str, fixpipe: Any
) -> Array:  # Any: options
    """A window through the fix-pipe with a parameter for each column."""
    how = (src.dtype, dst.dtype, params, target, fixpipe)
    return scaled(window, *how, vector=True, relu=relu == NORMAL)


@meaning("TExtract")
def window(
    dst: Seen, src: Seen, quant: Any, row: int, col: int, relu: str, target: str, fixpipe: Any
) -> Array:
    """A window, as it stands."""
    rows, cols = dst.valid
    part = src.all[row : row + rows, col : col + cols]
    return out_of(part, src, dst, quant, relu, target, fixpipe)


@meaning("TExtractFp")
def window_by_column(
    dst: Seen, src: Seen, fp: Seen, row: int, col: int, relu: str, target: str, fixpipe: Any
) -> Array:
    """`fp` is indexed by the source column."""
    rows, cols = dst.valid
    part, params = src.all[row : row + rows, col : col + cols], fp.codes[:1, col : col + cols]
    return by_column(part, src, dst, params, relu, target, fixpipe)


@meaning("TExtractPair")
def two_windows(
    dst0: Seen, dst1: Seen, src: Seen, row0: int, col0: int, row1: int, col1: int
) -> Result:
    """One tile becomes two."""
    (r0, c0), (r1, c1) = dst0.valid, dst1.valid
    return {
        "dst0": src.all[row0 : row0 + r0, col0 : col0 + c0],
        "dst1": src.all[row1 : row1 + r1, col1 : col1 + c1],
    }


def inserted(dst: Seen, new: Array, row: int, col: int) -> Array:
    """All of `dst` with a window replaced."""
    whole = dst.all.copy()
    whole[row : row + new.shape[0], col : col + new.shape[1]] = new
    return whole


@meaning("TInsert")
def insertion(
    dst: Seen, src: Seen, quant: Any, row: int, col: int, relu: str, target: str, fixpipe: Any
) -> Array:
    """Into a window; everything else keeps its value."""
    return inserted(dst, out_of(src.values, src, dst, quant, relu, target, fixpipe), row, col)


@meaning("TInsertFp")
def insertion_by_column(
    dst: Seen, src: Seen, fp: Seen, row: int, col: int, relu: str, target: str, fixpipe: Any
) -> Array:
    """`fp` by the window's own columns."""
    params = fp.codes[:1, : src.valid[1]]
    new = by_column(src.values, src, dst, params, relu, target, fixpipe)
    return inserted(dst, new, row, col)


@meaning("TMov")
def move(dst: Seen, src: Seen, quant: Any, relu: str, target: str, fixpipe: Any) -> Array:
    """Bits, but for the ways out of acc and into the bias table, and with relu."""
    acc, bias = src.kind.loc.name == "ACC", dst.kind.loc.name == "BIAS"
    if quant is None and relu != NORMAL and not acc and not bias:
        rows, cols = src.valid
        return typed(src.codes[:rows, :cols], dst.dtype)
    if quant is None and relu == NORMAL:  # after the conversion: NaN and -0 stay
        found = plainly(src.values, src.dtype, dst.dtype, relu=False)
        with np.errstate(invalid="ignore"):
            return np.where(found.astype(np.float64) < 0, np.zeros_like(found), found)
    return out_of(src.values, src, dst, quant, relu, target, fixpipe)


@meaning("TMovFp")
def move_by_column(dst: Seen, src: Seen, fp: Seen, relu: str, target: str, fixpipe: Any) -> Array:
    params = fp.codes[:1, : src.valid[1]]
    return by_column(src.values, src, dst, params, relu, target, fixpipe)


@meaning("TMovScale")
def scales(dst: Seen, src: Seen, axis: str) -> Array | InStorage:
    """Rows, or with axis 0 columns, become rows; zeros up to whole boxes of 16.

    Another fractal than 32: its golden data fill storage box by box, each of 16 rows and 2 columns.
    """
    data = src.values if axis == "ALONG" else src.values.T
    if dst.kind.fractal != 32:
        codes = src.codes[: src.valid[0], : src.valid[1]]
        codes = codes.reshape(dst.valid) if axis == "ALONG" else codes.T
        whole = np.pad(codes, ((0, -len(codes) % 16), (0, 0)))
        boxes = whole.reshape(len(whole) // 16, 16, -1, 2).transpose(0, 2, 1, 3)
        return InStorage(typed(boxes.reshape(-1), dst.dtype))
    rows, cols = data.shape
    out = dst.all.copy()
    out[: min(-(-rows // 16) * 16, len(out)), :cols] = typed(np.zeros((1, 1), int), dst.dtype)
    out[:rows, :cols] = data
    return out


@meaning("TTrans")
def transpose(dst: Seen, src: Seen) -> Array:
    """3.4; equal sizes, so bits."""
    rows, cols = src.valid
    return typed(src.codes[:rows, :cols].T, dst.dtype)


@meaning("TConcat")
def side_by_side(dst: Seen, src0: Seen, src1: Seen) -> Array:
    """As much of both as dst's valid columns take."""
    both = np.concatenate([src0.values, src1.values], axis=1)
    return both[: dst.valid[0], : dst.valid[1]]


def counted(count: Seen, rows: int) -> Array:
    """Counts by row, each in bytes of its own type."""
    found = count.all[:rows, 0].astype(np.int64) // (bits_of(count.dtype) // 8)
    if (found < 0).any():
        raise Undefined("negative counts")
    return found


def joined(
    dst: Seen, src0: Seen, src1: Seen, src0_idx: Seen, src1_idx: Seen
) -> tuple[Array, Array]:
    """The whole of `dst` afterwards, and how many elements of each row are new."""
    out, (rows, cols) = dst.all.copy(), dst.valid
    first = np.minimum(counted(src0_idx, rows), cols)
    second = np.minimum(counted(src1_idx, rows), cols - first)
    if (first > src0.codes.shape[1]).any() or (second > src1.codes.shape[1]).any():
        raise Undefined("more than a row has")
    for r, (n0, n1) in enumerate(zip(first, second, strict=True)):
        out[r, :n0] = src0.all[r, :n0]
        out[r, n0 : n0 + n1] = src1.all[r, :n1]
    return out, first + second


@meaning("TConcatIndex")
def counted_side_by_side(
    dst: Seen, src0: Seen, src1: Seen, src0_idx: Seen, src1_idx: Seen
) -> Array:
    return joined(dst, src0, src1, src0_idx, src1_idx)[0]


@meaning("TConcatDstIndex")
def counted_with_sum(
    dst: Seen, dst_idx: Seen, src0: Seen, src1: Seen, src0_idx: Seen, src1_idx: Seen
) -> Result:
    out, total = joined(dst, src0, src1, src0_idx, src1_idx)
    size = bits_of(dst_idx.dtype) // 8
    new = (total * size).astype(np.uint64).astype(storage_type(dst_idx.dtype))
    return {"dst": out, "dst_idx": typed(new[:, None], dst_idx.dtype)}


# (maximum, minimum); other types have 0
ENDS = {
    "f32": (0x7F800000, 0xFF800000),
    "f16": (0x7C00, 0xFC00),
    "bf16": (0x7F80, 0xFF80),
    **{f"i{n}": ((1 << (n - 1)) - 1, 1 << (n - 1)) for n in (8, 16, 32, 4)},
    **{f"u{n}": ((1 << n) - 1, 0) for n in (8, 16, 32)},
}


def pad_code(dst: Seen, target: str) -> int:
    """The bits that the type of a tile pads with; on a5 those of floats are finite (D14)."""
    pad = dst.kind.pad
    custom = getattr(pad, "bits", None)
    if custom is not None:
        return custom & ((1 << bits_of(dst.dtype)) - 1)
    high, low = ENDS.get(dst.dtype, (0, 0))
    finite = target == "a5" and dst.dtype in ("f32", "f16", "bf16")
    return {"MAX": high - finite, "MIN": low - finite}.get(pad.name, 0)


def padded(dst: Seen, codes: Array, target: str) -> Array:
    """All of `dst`: the pad, with these codes in the upper left."""
    out = np.full(dst.codes.shape, pad_code(dst, target), dst.codes.dtype)
    out[: codes.shape[0], : codes.shape[1]] = codes
    return typed(out, dst.dtype)


@meaning("TFillPad", "TFillPadInplace", "TFillPadExpand")
def fill(dst: Seen, src: Seen, target: str) -> Array:
    """The entire physical tile."""
    rows, cols = src.valid
    return padded(dst, src.codes[:rows, :cols], target)


@meaning("SubView")
def view(dst: Seen, src: Seen, row: int, col: int) -> Array:
    """What is seen through `dst` from now on."""
    rows, cols = dst.valid
    return src.all[row : row + rows, col : col + cols]


@meaning("TReshape", "TAlias", "TileBitcast")
def reading(dst: Seen, src: Seen) -> Array:
    """The bytes of `src`, read as dst's type says; other bytes must not lie between them."""
    if not src.together:
        raise Refused("layout")
    raw = src.storage
    if bits_of(src.dtype) == 4:
        raw = raw[0::2] | raw[1::2] << 4
    codes = elements(np.ascontiguousarray(raw).view(np.uint8), dst.dtype)
    kind = dst.kind
    shape = kind.rows, kind.cols
    c0 = 64 if kind.wide4 else lines(dst.dtype)
    at = offsets(kind.layout.name.lower(), kind.fractal, *shape, c0)
    return typed(codes[at][: dst.valid[0], : dst.valid[1]], dst.dtype)
