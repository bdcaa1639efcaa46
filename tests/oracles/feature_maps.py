"""Convolution tiles: unrolled, in other layouts, windows of weights, registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from oracles.formats import Array, bits_of, codes_of, storage_type, typed
from oracles.registry import Result, Seen, Undefined, meaning

N0 = 16


def c0_of(dtype: str) -> int:
    """Channels in 32 bytes."""
    return 256 // bits_of(dtype)


def patches(image: Array, how: Any, at: tuple[int, int], extents: tuple[int, int]) -> Array:
    """A window of the matrix of patches of [n, c1, h, w, c0]; row m is the filter's m-th position.

    `how` has filter, stride, dilation and padding, and the value of what is outside.
    """
    count, c1, height, width, c0 = image.shape
    left, right, top, bottom = how.padding
    (fh, fw), (sh, sw), (dh, dw) = how.filter, how.stride, how.dilation
    if fh * fw == 0:
        raise Undefined("a filter without elements")
    out_h = (height + top + bottom - dh * (fh - 1) - 1) // sh + 1
    out_w = (width + left + right - dw * (fw - 1) - 1) // sw + 1
    m = at[0] + np.arange(extents[0])[:, None]
    k = at[1] + np.arange(extents[1])[None, :]
    ow, oh, n = m % out_w, m // out_w % out_h, m // out_w // out_h
    inner, kk, block = k % c0, k // c0 % (fh * fw), k // c0 // (fh * fw)
    h = oh * sh + kk // fw * dh - top
    w = ow * sw + kk % fw * dw - left
    inside = (h >= 0) & (h < height) & (w >= 0) & (w < width)
    inside = inside & (n < count) & (block < c1)
    n, block, h, w, inner = (np.where(inside, x, 0) for x in (n, block, h, w, inner))
    pad = typed(codes_of(np.array([how.pad_value], np.float64), how.dtype.name), how.dtype.name)
    return np.where(inside, image[n, block, h, w, inner], pad)


@meaning("TImg2Col")
def unrolled(dst: Seen, src: Seen, pos_m: int, pos_k: int) -> Array:
    image = src.all.reshape(-1, *src.kind.shape[-4:])
    return patches(image, src.kind, (pos_m, pos_k), dst.valid)


def blocked(maps: Array, c0: int) -> Array:
    """[g, n, c, d, h, w] as [g, n, d, c1, h, w, c0], channels filled up with zeros."""
    g, n, c, d, h, w = maps.shape
    c1 = -(-c // c0)
    whole = np.zeros((g, n, c1 * c0, d, h, w), maps.dtype)
    whole[:, :, :c] = maps
    return whole.reshape(g, n, c1, c0, d, h, w).transpose(0, 1, 4, 2, 5, 6, 3)


def weights(blocks: Array) -> Array:
    """[g, n, d, c1, h, w, c0] as [g d c1 h w, n1, n0, c0], images filled up with zeros."""
    g, n, d, c1, h, w, c0 = blocks.shape
    n1 = -(-n // N0)
    whole = np.zeros((g, n1 * N0, d, c1, h, w, c0), blocks.dtype)
    whole[:, :n] = blocks
    return whole.transpose(0, 2, 3, 4, 5, 1, 6).reshape(g * d * c1 * h * w, n1, N0, c0)


# how each layout lists a map, as [g, n, c, d, h, w] or as [g, n, d, c1, h, w, c0]
PLANAR: dict[str, Callable[[Array], Array]] = {
    "NCHW": lambda x: x[None, :, :, None],
    "GNCHW": lambda x: x[:, :, :, None],
    "NCDHW": lambda x: x[None],
}
BLOCKS: dict[str, Callable[[Array], Array]] = {
    "NC1HWC0": lambda x: x[None, :, None],
    "GNC1HWC0": lambda x: x[:, :, None],
}


@meaning("TTransConv")
def relaid(dst: Seen, src: Seen) -> Array:
    """Every element keeps its group, image, channel, depth, row and column."""
    source, target = src.kind.layout.name, dst.kind.layout.name
    shape, c0 = dst.kind.shape, c0_of(src.dtype)
    if source in PLANAR:
        blocks = blocked(PLANAR[source](src.codes), c0)
    else:
        blocks = BLOCKS[source](src.codes)
    if target.startswith("FRACTAL"):
        found = weights(blocks)
    elif target == "NCHW":
        _, n, _, c1, h, w, _ = blocks.shape
        found = blocks[0, :, 0].transpose(0, 1, 4, 2, 3).reshape(n, c1 * c0, h, w)[:, : shape[1]]
    else:
        found = blocks[:, :, 0] if target == "GNC1HWC0" else blocks[0, :, 0]
    if found.shape != shape:
        raise Undefined(f"{found.shape} into {shape}")
    return typed(found, dst.dtype)


@meaning("TExtractConv")
def weight_window(dst: Seen, src: Seen, row: int, col: int) -> Array:
    """K x N of the weights; whole blocks of c0 rows and 16 columns."""
    *_, last = src.kind.shape
    if len(src.kind.shape) == 4:  # [c1 h w, n1, n0, c0]
        blocks, n1, n0, _ = src.kind.shape
        matrix = src.codes.reshape(blocks, n1 * n0, last)
    else:  # [c1, h, w, n, c0], and what is outside of it
        matrix = src.codes.reshape(-1, src.kind.shape[-2], last)
    matrix = matrix.transpose(0, 2, 1).reshape(-1, matrix.shape[1])
    c0 = c0_of(src.dtype)
    rows, cols = (-(-n // b) * b for n, b in zip(dst.valid, (c0, 16), strict=True))
    down, across = dst.codes.shape
    part = matrix[row : row + min(rows, down), col : col + min(cols, across)]
    return typed(part, dst.dtype)


def fields(*parts: tuple[int, int]) -> int:
    """A register from values and the lowest bit of each."""
    return sum(value << low for value, low in parts)


@meaning("SetFmatrix")
def fmatrix(src: Seen, mode: str) -> Mapping[str, int]:
    """W [15:0], H [31:16], padding left, right, top, bottom."""
    *_, height, width, _ = src.kind.shape
    left, right, top, bottom = src.kind.padding
    return {
        f"FMATRIX_{mode[0]}": fields(
            *((width, 0), (height, 16), (left, 32), (right, 40), (top, 48), (bottom, 56))
        )
    }


@meaning("SetPadding")
def padding(src: Seen, mode: str) -> Mapping[str, int]:
    """The bits of the pad value; eight bits stand twice."""
    code = int(codes_of(np.array([src.kind.pad_value], np.float64), src.dtype)[0])
    if bits_of(src.dtype) == 4:
        code &= 15
    return {f"PADDING_{mode[0]}": code * 257 if storage_type(src.dtype).itemsize == 1 else code}


@meaning("SetRepeat")
def repetition(src: Seen, mode: str) -> Mapping[str, int]:
    """Stride [15:0], time [23:16], mode [24]; A5: [47:32], [63:48]."""
    (stride, times, how), (step, first) = src.kind.repeat, src.kind.into
    return {f"RPT_{mode[0]}": fields((stride, 0), (times, 16), (how, 24), (step, 32), (first, 48))}


@meaning("SetQuantScalar")
def quant_scalar(scale: float, out: str) -> Mapping[str, int]:
    """The bits of the scale; bit 46 where the result is an i8."""
    return {"QUANT_PRE": int(np.float32(scale).view(np.uint32)) | (out == "I8") << 46}


@meaning("SetQuantVector")
def quant_vector(address: Any) -> Result:  # Any: of `fp`
    """FPC = (address >> 7) << 8."""
    return {"FPC": address["fp"] >> 7 << 8}
