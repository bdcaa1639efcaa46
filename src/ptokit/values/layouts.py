"""Storage layouts: index maps from (row, column) to a storage offset.

A row index and a column index each split into digits (box, in-box, ...) and every digit has a
stride. Digits describe ND to NN at every fractal, the five extents of a global tensor and
convolution tiles, so every tile is a strided view of its bytes.

The extents of convolution tiles have names, which each layout lists in its order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import prod
from typing import TypeAlias

from ptokit.values.enumerations import BLayout, ConvLayout, SLayout

# The axes of each layout, outermost first: group, image, channel, depth, height, width. Blocks are
# c1 of c0 channels and n1 of n0 images; k counts the rows of a weight matrix (WEIGHTS).
AXES: dict[ConvLayout, str] = {
    ConvLayout.NCHW: "n c h w",
    ConvLayout.GNCHW: "g n c h w",
    ConvLayout.NCDHW: "n c d h w",
    ConvLayout.NC1HWC0: "n c1 h w c0",
    ConvLayout.GNC1HWC0: "g n c1 h w c0",
    ConvLayout.NDC1HWC0: "n d c1 h w c0",
    ConvLayout.FRACTAL_Z: "k n1 n0 c0",
    ConvLayout.FRACTAL_Z_3D: "k n1 n0 c0",
}
FRACTALS = (ConvLayout.FRACTAL_Z, ConvLayout.FRACTAL_Z_3D)
LISTED_WEIGHTS = "c1 h w n c0"  # of weights whose blocks are not counted
WEIGHTS = ("g", "d", "c1", "h", "w")
N0 = 16


def times(*extents: int | None) -> int | None:
    """Return the product of extents, or None if one of them is unknown."""
    known = [n for n in extents if n is not None]
    return prod(known) if len(known) == len(extents) else None


class Extents:
    """Extents of a convolution tile by name: listed, implied by listed ones, or 1.

    `extents.h` is one extent. `lanes`: the channels that 32 bytes hold.
    """

    def __init__(self, layout: ConvLayout, shape: tuple[int, ...], lanes: int) -> None:
        wide = layout is ConvLayout.FRACTAL_Z and len(shape) == len(LISTED_WEIGHTS.split())
        self.axes = tuple((LISTED_WEIGHTS if wide else AXES[layout]).split())
        self.lanes = lanes
        self.listed = dict(zip(self.axes, shape, strict=False))

    @property
    def rank(self) -> int:
        """The number of extents that the layout lists."""
        return len(self.axes)

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name == "listed":
            raise AttributeError(name)
        return self.of(name)

    def of(self, axis: str) -> int:
        """Return the extent of an axis."""
        if axis in self.listed:
            return self.listed[axis]
        match axis:
            case "c":
                return self.of("c1") * self.of("c0")
            case "c1":
                return -(-self.listed["c"] // self.lanes) if "c" in self.listed else 1
            case "c0":
                return self.lanes
            case "n1":
                return -(-self.of("n") // N0)
            case "k":
                return prod(self.of(a) for a in WEIGHTS)
            case _:
                return 1


@dataclass(frozen=True)
class Shape:
    """Rows and columns; None for an extent that is known at run time only."""

    rows: int | None
    cols: int | None

    def __str__(self) -> str:
        return "x".join("?" if n is None else str(n) for n in (self.rows, self.cols))

    @property
    def static(self) -> bool:
        return self.rows is not None and self.cols is not None

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.cols))


class Layout(Enum):
    """First letter: order of the boxes (N down a column, Z along a row); second: inside a box."""

    ND = (BLayout.ROW_MAJOR, SLayout.NONE_BOX)
    DN = (BLayout.COL_MAJOR, SLayout.NONE_BOX)
    NZ = (BLayout.COL_MAJOR, SLayout.ROW_MAJOR)
    ZN = (BLayout.ROW_MAJOR, SLayout.COL_MAJOR)
    ZZ = (BLayout.ROW_MAJOR, SLayout.ROW_MAJOR)
    NN = (BLayout.COL_MAJOR, SLayout.COL_MAJOR)

    __hash__ = object.__hash__  # members are singletons, see `Word`

    @property
    def blayout(self) -> BLayout:
        return self.value[0]

    @property
    def slayout(self) -> SLayout:
        return self.value[1]

    @property
    def boxed(self) -> bool:
        return self.slayout is not SLayout.NONE_BOX

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def named(cls, word: str) -> Layout | None:
        return cls.__members__.get(word.upper())


ND, DN, NZ, ZN, ZZ, NN = Layout.ND, Layout.DN, Layout.NZ, Layout.ZN, Layout.ZZ, Layout.NN

Digits: TypeAlias = "tuple[tuple[int, int], ...]"


@dataclass(frozen=True)
class Piece:
    """A run of indices [start, stop) whose digits each cover a full rectangle from `base` on."""

    start: int
    stop: int
    base: int
    digits: Digits


@dataclass(frozen=True)
class Axis:
    """An index split into digits (count, stride), outermost first."""

    digits: Digits

    @property
    def extent(self) -> int:
        return prod(count for count, _ in self.digits)

    @property
    def reach(self) -> int:
        """The largest offset that an index can have."""
        return sum((count - 1) * stride for count, stride in self.digits)

    def offset(self, index: int) -> int:
        total = 0
        for count, stride in reversed(self.digits[1:]):
            index, digit = divmod(index, count)
            total += digit * stride
        return total + index * self.digits[0][1]

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Split [start, stop) into rectangles of digits; an aligned range gives one."""
        if start < stop:
            yield from _pieces(self.digits, start, stop, start, 0)


def _pieces(digits: Digits, start: int, stop: int, at: int, base: int) -> Iterator[Piece]:
    (_, stride), inner = digits[0], digits[1:]
    width = prod(count for count, _ in inner)
    first, head = divmod(start, width)
    last, tail = divmod(stop, width)
    if head and first == last:
        yield from _pieces(inner, head, tail, at, base + first * stride)
        return
    if head:
        yield from _pieces(inner, head, width, at, base + first * stride)
        at += width - head
        first += 1
    if first < last:
        size = (last - first) * width
        yield Piece(at, at + size, base + first * stride, ((last - first, stride), *inner))
        at += size
    if tail:
        yield from _pieces(inner, 0, tail, at, base + last * stride)


def axis(*digits: tuple[int, int]) -> Axis:
    """Return an axis without digits of count 1 and with neighbouring digits merged if possible.

    Digits whose count or stride is a symbol of an engine are not merged.
    """
    merged: list[tuple[int, int]] = []
    for count, stride in digits:
        if merged and (known(merged[-1][0], 1) or known(merged[-1][1] - count * stride, 0)):
            merged[-1] = (merged[-1][0] * count, stride)
        elif not merged or not known(count, 1):
            merged.append((count, stride))
    return Axis(tuple(merged))


def known(number: object, value: int) -> bool:
    """Return whether `number` is an integer equal to `value`; symbols of an engine are not."""
    return isinstance(number, int) and number == value


@dataclass(frozen=True)
class IndexMap:
    """The map from (row, column) to an offset in elements from the base of the storage."""

    rows: Axis
    cols: Axis

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.rows, self.cols))

    @property
    def span(self) -> int:
        """Elements from the base to the end of the last element."""
        return self.rows.reach + self.cols.reach + 1

    def offset(self, row: int, col: int) -> int:
        return self.rows.offset(row) + self.cols.offset(col)


def box_shape(layout: Layout, fractal: int, c0: int) -> tuple[int, int]:
    """Return rows and columns of the inner box; `c0` elements fill 32 bytes."""
    if fractal == 1024:
        return 16, 16
    if layout.slayout is SLayout.ROW_MAJOR:
        return (16, 2) if fractal == 32 else (16, c0)
    if fractal == 32:
        return 2, 16
    return (c0, 16) if layout.boxed else (1, 1)


def index_map(layout: Layout, rows: int, cols: int, box: tuple[int, int]) -> IndexMap:
    """Return the map of a rows x cols tile. A tile of one row is linear."""
    if layout is ND:
        return IndexMap(axis((rows, cols)), axis((cols, 1)))
    if layout is DN:
        return IndexMap(axis((rows, 1)), axis((cols, rows)))
    r0, c0 = (1 if rows == 1 else box[0]), box[1]
    size = r0 * c0
    row_step, col_step = (c0, 1) if layout.slayout is SLayout.ROW_MAJOR else (1, r0)
    if layout.blayout is BLayout.ROW_MAJOR:
        row_box, col_box = cols * r0, size
    else:
        row_box, col_box = size, rows * c0
    return IndexMap(
        axis((rows, row_step))
        if row_box == r0 * row_step
        else axis(_boxes(rows, r0, row_box), (r0, row_step)),
        axis(_boxes(cols, c0, col_box), (c0, col_step)),
    )


def _boxes(extent: int, box: int, stride: int) -> tuple[int, int]:
    return -(-extent // box), stride
