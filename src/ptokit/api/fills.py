"""Arguments that are made up: `random` or `zeros` in the place of an array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.ir.module import Func, Value
from ptokit.isa.model.dtypes import DType, dtype_named
from ptokit.isa.model.tiles import ConvTileType, GlobalType, TileType
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.numerics.host import numpy_dtype, rounded, values_of

SMALL = 8  # random integers are below it, so that they serve as indices and counts too
MOST = 1 << 30  # elements


@dataclass(frozen=True)
class Fill:
    """An array to be made: its content, and what the argument's type does not say."""

    content: str  # "random" or "zeros"
    dtype: DType | None = None
    shape: tuple[int, ...] | None = None
    seed: int = 0

    def array(self, arg: Value) -> Any:  # Any: an array or a number
        """Values for `arg`, the same for a name and a seed in every run."""
        if isinstance(arg.type, ScalarType):
            return self._number(arg.type, arg.name)
        dtype = self.dtype or _dtype(arg)
        shape = _shape(arg) if self.shape is None else self.shape
        if dtype is None or shape is None or int(np.prod(shape, dtype=object)) > MOST:
            raise _open(arg, self)
        values = self._values(arg.name, shape, dtype.is_float)
        codes = rounded(np.asarray(values), dtype)
        return codes if numpy_dtype(dtype) is None else values_of(codes, dtype)

    def _number(self, kind: ScalarType, name: str) -> int | float:
        value = self._values(name, (), kind.is_float)
        return float(value) if kind.is_float else int(value)

    def _values(self, name: str, shape: tuple[int, ...], real: bool) -> Any:  # Any: an array
        if self.content == "zeros":
            return np.zeros(shape)
        source = np.random.default_rng([self.seed, crc32(name.encode())])
        return source.standard_normal(shape) if real else source.integers(0, SMALL, shape)


def fill_named(text: str, seed: int = 0) -> Fill | None:
    """`random` or `zeros`, then `:dtype` and `:extents`, each optional; None for other text.

    ValueError where what follows is neither.
    """
    content, *details = text.split(":")
    if content not in ("random", "zeros"):
        return None
    fill = Fill(content, seed=seed)
    for detail in details:
        dtype = dtype_named(detail)
        if dtype is not None:
            fill = Fill(content, dtype, fill.shape, seed)
        elif all(part.isdecimal() and part.isascii() for part in detail.split("x")):
            fill = Fill(content, fill.dtype, tuple(map(int, detail.split("x"))), seed)
        else:
            raise ValueError(f"{detail!r} is neither an element type nor extents such as 16x32")
    return fill


def filled(func: Func, given: Mapping[str, Any]) -> dict[str, Any]:  # Any: arrays, numbers, fills
    """The arguments with every fill replaced by an array or a number of its argument's type."""
    args = {arg.name: arg for arg in func.args}
    made = dict(given)
    for name, value in given.items():
        if isinstance(value, Fill) and name in args:
            made[name] = value.array(args[name])
    return made


def _dtype(arg: Value) -> DType | None:
    return getattr(arg.type, "dtype", None)


def _shape(arg: Value) -> tuple[int, ...] | None:
    """The extents of the array an argument takes, as far as its type has them."""
    match arg.type:
        case TileType(valid=valid):
            extents = (valid.rows, valid.cols)
        case GlobalType(shape=extents) | ConvTileType(shape=extents):
            pass
        case _:
            return None
    known = tuple(n for n in extents if n is not None)
    return known if len(known) == len(extents) else None


def _open(arg: Value, fill: Fill) -> PtoError:
    kind = "" if isinstance(arg.type, PtrType) else ":f32"
    return call_error(
        "argument-type",
        f"%{arg.name}: {fill.content} needs more than the argument's type says",
        arg.span,
        seen=f"%{arg.name} has the type {arg.type}",
        help=f"give the extents: {arg.name}={fill.content}{kind}:16x32",
    )
