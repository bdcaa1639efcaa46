"""Between global memory and tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from oracles.feature_maps import blocked
from oracles.formats import Array, typed
from oracles.movement import by_column, out_of, padded
from oracles.registry import Seen, arithmetic, meaning


@meaning("TLoad")
def load(dst: Seen, src: Seen, target: str) -> Array:
    """Bits move; the whole of dst's storage outside takes the pad, or stays (X96)."""
    rows, cols = dst.valid
    codes = src.codes[:rows, :cols].astype(dst.codes.dtype)
    if str(dst.kind.pad) != "null":
        return padded(dst, codes, target)
    kind = dst.kind
    into_boxes = (
        str(kind.loc) == "mat" and kind.layout.name == "NZ" and src.kind.layout.name != "NZ"
    )
    if target != "cpu" and into_boxes:
        codes = np.pad(codes, ((0, 0), (0, -cols % kind.c0)))
    return typed(codes, dst.dtype)


# the planes of a view of five extents, as [n, c, d, h, w]
PLANES: dict[str, Callable[[Array], Array]] = {
    "NCHW": lambda x: x.reshape(-1, *x.shape[2:])[:, :, None],
    "NHWC": lambda x: x.reshape(-1, *x.shape[2:]).transpose(0, 3, 1, 2)[:, :, None],
    "NCDHW": lambda x: x,
}


@meaning("TLoadConv")
def load_maps(dst: Seen, src: Seen) -> Array:
    """Storage is row-major over the extents; bits move. Out of planes: whole blocks of channels.

    The last block is filled up with zeros; what the planes do not reach stays.
    """
    codes = src.codes.astype(dst.codes.dtype)
    planes = PLANES.get(src.kind.layout.name)
    if planes is None:
        return typed(codes.reshape(dst.codes.shape), dst.dtype)
    *_, c0 = dst.kind.shape
    blocks = blocked(planes(codes.reshape(src.kind.shape))[None], c0)[0]  # [n, d, c1, h, w, c0]
    target, found = dst.kind.layout.name, dst.codes.copy()
    if target == "NC1HWC0":
        blocks = blocks[:, 0]
    elif target.startswith("FRACTAL"):  # [c1, d, h, w, n, c0]
        blocks = blocks.transpose(2, 1, 3, 4, 0, 5)
    if len(dst.kind.shape) == 4:  # [c1 d h w, n1, n0, c0]
        rows, n1, n0, _ = dst.kind.shape
        whole = found.reshape(rows, n1 * n0, c0)
        whole[:, : blocks.shape[4]] = blocks.reshape(rows, -1, c0)
        return typed(whole.reshape(found.shape), dst.dtype)
    if target == "FRACTAL_Z":  # [c1, h, w, n, c0]
        blocks = blocks[:, 0]
    window = tuple(slice(min(a, b)) for a, b in zip(blocks.shape, found.shape, strict=True))
    found[window] = blocks[window]
    return typed(found, dst.dtype)


def stored(dst: Seen, new: Array, atomic: str) -> Array:
    """Assigned, or added in dst's type."""
    if atomic == "NONE":
        return new
    old = dst.all[: new.shape[0], : new.shape[1]]
    with np.errstate(all="ignore"):
        return arithmetic(np.add)(old, new)


@meaning("TStore")
def store(
    dst: Seen, src: Seen, quant: Any, atomic: str, relu: str, target: str, fixpipe: Any
) -> Array:
    return stored(dst, out_of(src.values, src, dst, quant, relu, target, fixpipe), atomic)


@meaning("TStoreFp")
def store_by_column(
    dst: Seen, src: Seen, fp: Seen, atomic: str, relu: str, target: str, fixpipe: Any
) -> Array:
    """D4: a parameter for each column."""
    params = fp.codes[:1, : src.valid[1]]
    new = by_column(src.values, src, dst, params, relu, target, fixpipe)
    return stored(dst, new, atomic)
