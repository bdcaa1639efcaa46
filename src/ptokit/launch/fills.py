"""Generated arguments: `random` or `zeros` instead of an array, and raw files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from zlib import crc32

import numpy as np

from ptokit.diagnostics.diagnostic import PtoError, call_error
from ptokit.ir.module import Func, Value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import PtrType, ScalarType
from ptokit.launch.files import read_bytes
from ptokit.machine.arguments import CONVERTED, array_extents, mismatch
from ptokit.machine.launchoptions import NO_LIMITS, RunLimits
from ptokit.values.dtypes import DType, dtype_named
from ptokit.values.formats import unpack
from ptokit.values.host import AnyArray, bits_of, numpy_dtype, rounded_codes, values_of

SMALL = 8  # random integers are smaller, to be valid indices and counts
MOST = 1 << 30  # elements
AT_ONCE = 1 << 20  # elements generated at a time


@dataclass(frozen=True)
class Completed(ABC):
    """An argument value whose element type and extents the argument's type can supply."""

    dtype: DType | None = None
    shape: tuple[int, ...] | None = None

    @abstractmethod
    def array(
        self, arg: Value, count: int | None = None, limits: RunLimits = NO_LIMITS
    ) -> AnyArray | float:
        """Return the value of `arg`; `count` is the number of elements that the program views.

        PtoError if the time limit of the run is exceeded.
        """

    @property
    @abstractmethod
    def written(self) -> str:
        """Return the text before the first colon."""

    def __str__(self) -> str:
        extents = "" if self.shape is None else "x".join(map(str, self.shape))
        return ":".join(word for word in (self.written, str(self.dtype or ""), extents) if word)


@dataclass(frozen=True)
class Fill(Completed):
    """An array to be generated."""

    content: str = "zeros"  # or "random"
    seed: int = 0

    def array(
        self, arg: Value, count: int | None = None, limits: RunLimits = NO_LIMITS
    ) -> AnyArray | float:
        """Return values for `arg`, the same for a name and a seed in every run."""
        self._require_fit(arg)
        if isinstance(arg.type, ScalarType):
            return self._number(arg.type, arg.name)
        dtype = self.dtype or _dtype(arg)
        shape = self.shape or _shape(arg) or (None if count is None else (count,))
        if dtype is None or shape is None:
            raise _open(arg, self, dtype)
        if prod(shape) > MOST:
            raise _too_large(arg, prod(shape))
        return _array(self._codes(arg, prod(shape), dtype, limits).reshape(shape), dtype)

    def endless(self, arg: Value) -> bool:
        """Return whether neither the text nor the argument's type gives extents."""
        return self.shape is None and isinstance(arg.type, PtrType)

    @property
    def written(self) -> str:
        return self.content

    def _require_fit(self, arg: Value) -> None:
        """Raise CallError if the stated type and extents contradict the argument's type."""
        if not isinstance(arg.type, ScalarType):
            _require_elements(arg, self)
        elif self.shape is not None or (self.dtype and self.dtype != arg.type.element):
            rule, seen = f"%{arg.name} is one number of type {arg.type}", f"given {arg.name}={self}"
            help = f"remove what follows: {arg.name}={self.content}"
            raise mismatch(arg, rule, seen, help)

    def _number(self, kind: ScalarType, name: str) -> int | float:
        (value,) = next(self._values(name, 1, kind.is_float))
        return float(value) if kind.is_float else int(value)

    def _codes(self, arg: Value, count: int, dtype: DType, limits: RunLimits) -> AnyArray:
        """Return codes, generated in parts, so that large arrays need no second copy."""
        if self.content == "zeros" and not rounded_codes(np.zeros(1), dtype).any():
            return np.zeros(count, dtype.storage)
        codes, at = np.empty(count, dtype.storage), 0
        for values in self._values(arg.name, count, dtype.is_float):
            limits.require_time(f"%{arg.name}", arg.span)
            codes[at : at + values.size] = rounded_codes(values, dtype)
            at += values.size
        return codes

    def _values(self, name: str, count: int, real: bool) -> Iterator[AnyArray]:
        source = np.random.default_rng([self.seed, crc32(name.encode())])
        for first in range(0, count, AT_ONCE):
            size = min(AT_ONCE, count - first)
            if self.content == "zeros":
                yield np.zeros(size)
            else:
                yield source.standard_normal(size) if real else source.integers(0, SMALL, size)


@dataclass(frozen=True)
class RawFile(Completed):
    """A file of elements without a header."""

    path: str = ""

    @property
    def written(self) -> str:
        return self.path

    def array(
        self, arg: Value, count: int | None = None, limits: RunLimits = NO_LIMITS
    ) -> AnyArray | float:
        """Return the elements in C order; all of the file for a pointer without extents.

        CallError if the file cannot be read or has another size.
        """
        kind = arg.type
        dtype = self.dtype or (kind.element if isinstance(kind, ScalarType) else _dtype(arg))
        if dtype is None:
            raise _open(arg, self, dtype)
        _require_elements(arg, self)
        raw = np.frombuffer(read_bytes(self.path), np.uint8)
        shape = () if isinstance(kind, ScalarType) else self.shape or _shape(arg)
        if shape is None:
            shape = (raw.size * 8 // dtype.bits,)
        if dtype.nbytes(prod(shape)) != raw.size:
            raise self._unfit(arg, dtype, shape, raw.size)
        codes = unpack(raw, prod(shape)) if dtype.packed else raw.view(dtype.storage)
        found = _array(codes.reshape(shape), dtype)
        return found if shape or not isinstance(kind, ScalarType) else found.item()

    def _unfit(self, arg: Value, dtype: DType, shape: tuple[int, ...], size: int) -> PtoError:
        wanted = f"{dtype} {'x'.join(map(str, shape))}".rstrip()
        rule = f"{wanted} takes {dtype.nbytes(prod(shape))} bytes"
        if not (isinstance(arg.type, ScalarType) or self.shape or _shape(arg)):
            rule = f"an element of {dtype} has {dtype.nbytes(1)} bytes: the last one is cut"
        return call_error(
            "argument-type",
            f"%{arg.name}: file size does not match the array",
            arg.span,
            rule=rule,
            seen=f"{self.path} has {size}, which is {size * 8 / dtype.bits:g} elements of {dtype}",
            help=f"give type and extents, as in {arg.name}=FILE:f16:16x32",
        )


def _array(codes: AnyArray, dtype: DType) -> AnyArray:
    """Return codes as an array that an argument of the type accepts."""
    return codes if numpy_dtype(dtype) is None else values_of(codes, dtype)


def completed(text: str, seed: int = 0) -> Completed | None:
    """Parse `random`, `zeros` or a raw file, then `:dtype` and `:extents`; these alone are zeros.

    None for a .npy file, or a file that is not .bin and has no details. ValueError for bad details.
    """
    content, *details = text.split(":")
    if len(details) == 1 and dtype_named(content) is not None:
        content, details = "zeros", [content, *details]
    if content in ("random", "zeros"):
        for detail in details:
            if dtype_named(detail) is None and _extents(detail) is None:
                message = f"{detail!r} is neither an element type nor extents such as 16x32"
                raise ValueError(f"{message}; write both as {content}:f32:16x32")
        return Fill(*_stated(details), content, seed)
    path, details = path_and_details(text)
    if details and path.endswith(".npy"):
        raise ValueError("a .npy file has its own type and shape: remove what follows its name")
    raw = details or path.endswith(".bin")
    if not raw and (unread := _unread(text)):
        file, detail = unread
        message = f"{detail!r} is neither an element type nor extents such as 16x32"
        raise ValueError(f"{message}; write both as {file}:f32:16x32")
    return RawFile(*_stated(details), path) if raw else None


def _unread(text: str) -> tuple[str, str] | None:
    """Return a raw file and the invalid detail after it; None if such a file exists."""
    file, ending, rest = text.partition(".bin:")
    if not ending or Path(text).exists():
        return None
    odd = [w for w in rest.split(":") if dtype_named(w) is None and _extents(w) is None]
    return (f"{file}.bin", odd[0]) if odd else None


def path_and_details(text: str) -> tuple[str, list[str]]:
    """Split text into a file name, which may contain colons, and its trailing details."""
    path, details = text, list[str]()
    while len(details) < 2:
        before, colon, detail = path.rpartition(":")
        if not colon or (dtype_named(detail) is None and _extents(detail) is None):
            break
        path, details = before, [detail, *details]
    return path, details


def _stated(details: list[str]) -> tuple[DType | None, tuple[int, ...] | None]:
    """Return the element type and the extents among details."""
    dtypes = [d for word in details if (d := dtype_named(word)) is not None]
    shapes = [e for word in details if (e := _extents(word)) is not None]
    if len(dtypes) > 1 or len(shapes) > 1:
        raise ValueError("give one element type and one list of extents: f32:16x32")
    return dtypes[0] if dtypes else None, shapes[0] if shapes else None


def _extents(word: str) -> tuple[int, ...] | None:
    parts = word.split("x")
    if not all(part.isdecimal() and part.isascii() for part in parts):
        return None
    return tuple(map(int, parts))


def filled(
    func: Func,
    given: Mapping[str, object],
    viewed: Callable[[Mapping[str, object]], Mapping[str, int]],
    limits: RunLimits,
) -> dict[str, object]:
    """Return the arguments with generated values for those that their types complete.

    `viewed` gets all other arguments, and returns how many elements the program views of each
    pointer without extents.
    """
    args = {arg.name: arg for arg in func.args}
    left = {n: v for n, v in given.items() if isinstance(v, Completed) and n in args}
    made = {n: v for n, v in given.items() if n not in left}
    for name, value in list(left.items()):
        if not (isinstance(value, Fill) and value.endless(args[name])):
            made[name] = left.pop(name).array(args[name], limits=limits)
    if left:
        counts = viewed(made | dict.fromkeys(left))
        made |= {n: value.array(args[n], counts.get(n), limits) for n, value in left.items()}
    return made


def _dtype(arg: Value) -> DType | None:
    return getattr(arg.type, "dtype", None)


def _shape(arg: Value) -> tuple[int, ...] | None:
    """Return the extents of the array for an argument, if its type gives all of them."""
    match arg.type:
        case TileType(valid=valid):
            extents = (valid.rows, valid.cols)
        case GlobalType():
            return array_extents(arg.type)
        case ConvTileType(shape=extents):
            pass
        case _:
            return None
    known = tuple(n for n in extents if n is not None)
    return known if len(known) == len(extents) else None


def _require_elements(arg: Value, given: Completed) -> None:
    """Raise CallError if the argument does not accept the stated element type."""
    own = _dtype(arg)
    if given.dtype and own and not _takes(own, given.dtype):
        help = f"remove the element type: {arg.name}={replace(given, dtype=None)}"
        rule, seen = f"%{arg.name} has elements of {own}", f"given {arg.name}={given}"
        raise mismatch(arg, rule, seen, help if isinstance(given, Fill) else CONVERTED)


def _takes(own: DType, given: DType) -> bool:
    """Return whether an argument with elements of one type accepts an array of another type."""
    if (kind := numpy_dtype(given)) is None:
        return own == given
    try:
        bits_of(np.zeros(0, kind), own)
    except ValueError:
        return False
    return True


def _open(arg: Value, given: Completed, dtype: DType | None) -> PtoError:
    """Return the error for an argument without an element type or extents."""
    what = "element type" if dtype is None else "number of elements"
    lacking = "element type" if dtype is None else "extents"
    extents = "16x32" if given.shape is None else "x".join(map(str, given.shape))
    return call_error(
        "argument-type",
        f"%{arg.name}: unknown {what}",
        arg.span,
        rule="element type and extents follow the value after colons, unless the type has them",
        seen=f"given {arg.name}={given}, and %{arg.name} has the type {arg.type}",
        help=f"give the {lacking}: {arg.name}={given.written}:{dtype or 'f32'}:{extents}",
    )


def _too_large(arg: Value, count: int) -> PtoError:
    return call_error(
        "argument-type",
        f"%{arg.name}: a generated array has at most {MOST} elements",
        arg.span,
        seen=f"these extents are of {count}",
    )
