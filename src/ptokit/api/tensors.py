"""Tiles and global tensors made by Python programs, with data from and to arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ptokit.analysis.checker import type_errors
from ptokit.analysis.violation import broken
from ptokit.api.hostarrays import OWN, ConvTile, SupportsDLPack, Tensor, Tile, tensor_of
from ptokit.diagnostics.callsite import caller
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import ADDRESS_RULES
from ptokit.isa.model.tiles import ALIASES, ConvTileType, TileType
from ptokit.isa.model.usual import usual_layout
from ptokit.isa.model.words import CompactMode, GlobalLayout
from ptokit.launch.hostmemory import host_array, host_memory
from ptokit.launch.settings import current_core, current_target, recording
from ptokit.machine import tile as handles
from ptokit.machine.memory import Elements, Memory
from ptokit.values.dtypes import DTYPES, DType, dtype_named
from ptokit.values.enumerations import (
    ACC,
    LEFT,
    MAT,
    RIGHT,
    SCALE_LEFT,
    SCALE_RIGHT,
    VEC,
    ConvLayout,
    Loc,
    PadValue,
    Word,
)
from ptokit.values.host import AnyArray, is_of, is_raw, rounded_codes
from ptokit.values.layouts import Layout, Shape
from ptokit.values.pads import CustomPad

Data: TypeAlias = "ArrayLike | SupportsDLPack"
ElementType: TypeAlias = "DType | str | DTypeLike"
LARGEST = 1 << 30  # bytes, larger than any on-chip memory


N = TypeVar("N", Loc, PadValue, CompactMode, ConvLayout, GlobalLayout, Layout, Word)


def word(kind: type[N], given: N | str, what: str) -> N:
    """Return an enum member from any of its spellings; ValueError lists them."""
    if isinstance(given, kind):
        return given
    found = kind.named(str(given))
    if found is None:
        options = ", ".join(str(member) for member in kind)
        raise ValueError(f"{what} {given!r}: choose one of {options}")
    return found


def dtype_of(given: ElementType) -> DType:
    """Return an element type from any spelling or NumPy type; ValueError lists them."""
    name = given if isinstance(given, DType | str) else np.dtype(given).name
    found = name if isinstance(name, DType) else dtype_named(name)
    if found is None:
        options = ", ".join(dtype.name for dtype in DTYPES)
        raise ValueError(f"element type {given!r}: choose one of {options}")
    return found


def tile(
    loc: Loc | str,
    dtype: ElementType,
    rows: int,
    cols: int,
    *,
    layout: Layout | str = "nd",
    valid: tuple[int, int] | None = None,
    fractal: int = 512,
    pad: PadValue | CustomPad | str = "null",
    compact: CompactMode | str = "null",
    data: Data | None = None,
) -> Tile:
    """Return a new tile of `rows` x `cols` elements; `valid` is its valid region (default: all).

    `data` fills the valid region: an array of its shape, copied bit by bit if it has the tile's
    element type, else rounded half to even. It may be an array-like or an object with `__dlpack__`
    (a PyTorch tensor on the CPU). Without data, elements are undefined, and so are results computed
    from them. PtoError if the type breaks a rule of tile types. On a2a3 and a5 a boxed Left tile
    has the one layout of that location, as in `.pto` text (`ptokit explain a5`).
    """
    pad_value = pad if isinstance(pad, CustomPad) else word(PadValue, pad, "pad")
    recorder = recording.get()
    if recorder is None:
        rows, cols = operator.index(rows), operator.index(cols)
        valid = None if valid is None else _pair("valid", valid)
    kind = TileType(
        word(Loc, loc, "location"),
        dtype_of(dtype),
        rows,
        cols,
        Shape(*(valid or (rows, cols))),
        word(Layout, layout, "layout"),
        fractal,
        pad_value,
        word(CompactMode, compact, "compact mode"),
    )
    if recorder is not None:
        if data is not None:
            raise TypeError("a kernel's tiles have no data: load them from an argument")
        return recorder.tile(kind, valid or (rows, cols))
    return new(replace(kind, wide4=current_target().wide4 and kind.dtype.packed), data)


def _require(kind: TileType | ConvTileType | GlobalType, called: str = "the tile") -> None:
    """Raise PtoError unless the current target accepts the type."""
    for problem in type_errors(kind, current_target(), called, caller()):
        raise PtoError(problem)


def new(kind: TileType, data: Data | None = None) -> Tile:
    """Return a new tile of this type, as `tile` makes it."""
    _require(kind)
    if kind.nbytes > LARGEST:
        raise ValueError(f"a tile of {kind.nbytes} bytes is larger than any memory")
    made = handles.Tile(kind, Memory.blank(OWN, kind.nbytes), 0)
    if data is not None:
        array = host_array(data)
        if array.shape != tuple(made.valid):
            raise ValueError(f"data has shape {array.shape}, the valid region {made.valid}")
        made.assign(rounded_codes(array, kind.dtype))
    return Tile(made)


class TileMaker(Protocol):
    """A function that makes tiles of one location in the layout of the current target."""

    def __call__(
        self,
        dtype: ElementType,
        rows: int,
        cols: int,
        *,
        valid: tuple[int, int] | None = None,
        data: Data | None = None,
    ) -> Tile: ...


def _alias(loc: Loc, name: str) -> TileMaker:
    def make(
        dtype: ElementType,
        rows: int,
        cols: int,
        *,
        valid: tuple[int, int] | None = None,
        data: Data | None = None,
    ) -> Tile:
        layout, fractal = usual_layout(loc, rows, cols)
        if recording.get() is None and loc in ALIASES:
            layout, fractal = current_target().alias(loc)
        return tile(loc, dtype, rows, cols, layout=layout, fractal=fractal, valid=valid, data=data)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A new {loc} tile in the layout the current target has for it; see `tile`."
    return make


tile_vec = _alias(VEC, "tile_vec")
tile_mat = _alias(MAT, "tile_mat")
tile_left = _alias(LEFT, "tile_left")
tile_right = _alias(RIGHT, "tile_right")
tile_acc = _alias(ACC, "tile_acc")
tile_left_scale = _alias(SCALE_LEFT, "tile_left_scale")
tile_right_scale = _alias(SCALE_RIGHT, "tile_right_scale")


def place_at(tile: Tile, address: int) -> None:
    """Bind a tile to a byte offset in the current target's memory of its location.

    Tiles whose bytes overlap alias. Nothing is copied: the tile shows the bytes at its address,
    undefined at first. Each `with target(...)` has its own memories. PtoError (SA-0351 to SA-0354)
    if the target has no such memory, the tile does not fit, or the address is not aligned.
    """
    core = current_core()
    env = {"addr": operator.index(address), "tile": tile.type, "machine": core.target}
    for rule in ADDRESS_RULES:
        if rule.holds(env) is False:
            raise PtoError(broken("the tile", rule, env, caller()))
    memory = core.space(tile.type.loc)
    tile.handle.elements = Elements(memory, address, tile.dtype, tile.type.map)


def tensor(
    array: AnyArray,
    *,
    dtype: ElementType | None = None,
    shape: tuple[int, ...] | None = None,
    stride: tuple[int, ...] | None = None,
    offset: int = 0,
    layout: GlobalLayout | str | None = None,
) -> Tensor:
    """Return a view of an array as a global tensor with one to five extents.

    Stores into the tensor change the array. `shape`, `stride` (in elements) and `offset` select a
    part, by default the whole array. `dtype` is needed if NumPy lacks the type (raw codes in
    unsigned integers). ValueError if the array is not writeable, C-contiguous and in native byte
    order. PtoError if the layout nz is stated and the extents are no boxes.
    """
    if recording.get() is not None:
        raise TypeError("pass this array to the kernel as an argument")
    if not isinstance(array, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise TypeError(f"expected a NumPy array, got {array!r}")
    array = host_memory(array)  # a plain array for a subclass
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError("a tensor needs a writeable, C-contiguous array")
    if not array.dtype.isnative:
        seen = f"the array holds {array.dtype.str}"
        raise ValueError(f"{seen}, in foreign byte order: convert it with astype")
    element = _element(array, dtype)
    offset = operator.index(offset)
    extents = array.shape if shape is None else _numbers("shape", shape)
    steps = tuple(prod(extents[i + 1 :]) for i in range(len(extents)))
    steps = steps if stride is None else _numbers("stride", stride)
    if not 1 <= len(extents) <= 5 or len(extents) != len(steps):
        raise ValueError("a tensor has one to five extents and as many strides")
    stated = None if layout is None else word(GlobalLayout, layout, "layout")
    if offset < 0 or min(steps) < 0:
        raise ValueError("offset and strides of a tensor are at least 0")
    kind = GlobalType(element, extents, steps, stated)
    _require(kind, "the tensor")
    return tensor_of(kind, offset, array)


def _element(array: AnyArray, dtype: ElementType | None) -> DType:
    from ptokit.values.dtypes import DTYPES

    if dtype is not None:
        named = dtype_of(dtype)
        size = named.size  # of codes, as integers
        raw = is_raw(array.dtype, size) or (array.dtype.kind in "iu" and array.itemsize == size)
        if not raw and not is_of(array, named):
            raise ValueError(f"the array holds {array.dtype}, not {named} or its codes")
        return named
    for known in DTYPES:
        if not known.packed and is_of(array, known):
            return known
    raise ValueError(f"{array.dtype} is not supported: give dtype")


Pair: TypeAlias = "int | tuple[int, int]"
Sides: TypeAlias = "tuple[int, int, int, int]"


@dataclass(frozen=True)
class Unrolling:
    """The unrolling of a feature map into the rows of a matrix; see `conv`."""

    padding: Sides
    filter: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad_value: float


def conv(
    *,
    padding: int | Sides = 0,
    filter: Pair = 1,
    stride: Pair = 1,
    dilation: Pair = 1,
    pad_value: float = 0,
) -> Unrolling:
    """Return how a feature map is unrolled: a convolution's filter, stride, dilation and padding.

    `padding` is (left, right, top, bottom), the others are (height, width), or one number for all.
    Elements outside the map have the value `pad_value`.
    """
    steps = _pair("filter", filter), _pair("stride", stride), _pair("dilation", dilation)
    if min(min(step) for step in steps) < 1:
        raise ValueError("filter, stride and dilation are at least 1")
    left, right, top, bottom = _whole("padding", padding, 4)
    return Unrolling((left, right, top, bottom), *steps, pad_value)


def conv_tile(
    dtype: ElementType,
    shape: tuple[int, ...],
    *,
    layout: ConvLayout | str = "fractal_z",
    loc: Loc | str = "mat",
    padding: int | Sides = 0,
    filter: Pair = 1,
    stride: Pair = 1,
    dilation: Pair = 1,
    pad_value: float = 0,
    repeat: tuple[int, int, int] = (0, 1, 0),
    into: tuple[int, int] = (0, 0),
    data: Data | None = None,
) -> ConvTile:
    """Return a new convolution tile whose `shape` is stored row-major; see `tile` for data.

    `conv` explains `padding`, `filter`, `stride`, `dilation` and `pad_value`. `repeat` is (stride,
    times, mode) and `into` (stride, first row in dst) of the repeat register.
    """
    shape = _numbers("shape", shape)
    if not shape or min(shape) < 1:
        raise ValueError(f"extents of a convolution tile are positive, got {shape}")
    how = conv(
        padding=padding, filter=filter, stride=stride, dilation=dilation, pad_value=pad_value
    )
    kind = ConvTileType(
        dtype_of(dtype),
        shape,
        word(ConvLayout, layout, "layout"),
        word(Loc, loc, "location"),
        **vars(how),
        repeat=repeat,
        into=into,
    )
    return new_conv(kind, data)


def new_conv(kind: ConvTileType, data: Data | None = None) -> ConvTile:
    """Return a new convolution tile of this type, as `conv_tile` makes it."""
    _require(kind)
    if kind.nbytes > LARGEST:
        raise ValueError(f"a tile of {kind.nbytes} bytes is larger than any memory")
    made = handles.ConvTile(kind, Memory.blank(OWN, kind.nbytes), 0)
    if data is not None:
        array = host_array(data)
        if array.shape != kind.shape:
            raise ValueError(f"data has shape {array.shape}, the tile {kind.shape}")
        made.assign(rounded_codes(array, kind.dtype))
    return ConvTile(made)


def _numbers(name: str, given: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        raise TypeError(f"{name}: expected a tuple of integers, got {given!r}") from None


def _pair(name: str, given: Pair) -> tuple[int, int]:
    high, wide = _whole(name, given, 2)
    return high, wide


def _whole(name: str, given: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return `count` integers from a sequence, or from one integer for all."""
    try:
        found = (given,) * count if isinstance(given, SupportsIndex) else given
        numbers = tuple(map(operator.index, found))
    except TypeError:
        numbers = ()
    if len(numbers) != count:
        raise ValueError(f"{name}: expected an integer or {count} integers, got {given!r}")
    return numbers


__all__ = [
    "Unrolling",
    "conv",
    "conv_tile",
    "tensor",
    "tile",
    "tile_acc",
    "tile_left",
    "tile_left_scale",
    "tile_mat",
    "tile_right",
    "tile_right_scale",
    "tile_vec",
]
