"""Between global memory and tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.formats import Array, typed
from oracles.movement import by_column, out_of, padded
from oracles.registry import Seen, arithmetic, meaning


@meaning("TLoad")
def load(dst: Seen, src: Seen, target: str) -> Array:
    """Bits move; the whole of dst's storage outside takes the pad, or stays (X96)."""
    rows, cols = dst.valid
    codes = src.codes[:rows, :cols].astype(dst.codes.dtype)
    return typed(codes, dst.dtype) if str(dst.kind.pad) == "null" else padded(dst, codes, target)


@meaning("TLoadConv")
def load_maps(dst: Seen, src: Seen) -> Array:
    """Storage is row-major over the extents; bits move."""
    return typed(src.codes.reshape(dst.all.shape), dst.dtype)


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
