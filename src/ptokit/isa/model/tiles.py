"""Tile types: what a tile is made of, the rules T1 to T7 it must meet, and its index map.

What a type names: spec 1.2. Global views and convolution tiles are the other two shapes of data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from typing import TypeAlias

from ptokit.diagnostics.rich import Rich
from ptokit.isa.formula.formulas import Const, Field, Many, Static
from ptokit.isa.formula.rules import Rule, named, rules_of, when
from ptokit.isa.model.dtypes import DType
from ptokit.isa.model.extents import FRACTALS, Extents, times
from ptokit.isa.model.layouts import (
    DN,
    ND,
    NZ,
    Axis,
    IndexMap,
    Layout,
    axis,
    box_shape,
    index_map,
    known,
)
from ptokit.isa.model.words import (
    ACC,
    LEFT,
    SCALE_LEFT,
    SCALE_RIGHT,
    VEC,
    BLayout,
    CompactMode,
    ConvLayout,
    GlobalLayout,
    Loc,
    PadValue,
    SLayout,
)


@dataclass(frozen=True)
class Shape:
    """Rows and columns; None where they are known only when the program runs."""

    rows: int | None
    cols: int | None

    def __str__(self) -> str:
        return "x".join("?" if n is None else str(n) for n in (self.rows, self.cols))

    @property
    def static(self) -> bool:
        return self.rows is not None and self.cols is not None

    def __iter__(self) -> Iterator[int | None]:
        return iter((self.rows, self.cols))


@dataclass(frozen=True)
class CustomPad:
    """A pad value given by its bits: float32 bits for 4-byte types, the low 16 or 8 else."""

    bits: int

    def __str__(self) -> str:
        return f"custom(0x{self.bits:08x})"

    @property
    def code(self) -> int:
        """The 64-bit value that C++ uses for it."""
        return (1 << 32) | self.bits


@dataclass(frozen=True)
class TileType(Rich):
    """The type of an on-chip tile."""

    loc: Loc
    dtype: DType
    rows: int
    cols: int
    valid: Shape
    layout: Layout = ND
    fractal: int = 512
    pad: PadValue | CustomPad = PadValue.NULL
    compact: CompactMode = CompactMode.NULL
    wide4: bool = False  # 4-bit boxes of 64 elements (32 bytes), as A5 hardware; else 32 (C37)
    written: str = field(default="", compare=False)  # as older text spells it, a memref

    def __str__(self) -> str:
        valid = "" if self.valid == Shape(self.rows, self.cols) else f" valid {self.valid}"
        fractal = "" if self.fractal == 512 else f" fractal {self.fractal}"
        return f"{self.loc} {self.dtype} {self.rows}x{self.cols} {self.layout}{fractal}{valid}"

    @property
    def blayout(self) -> BLayout:
        return self.layout.blayout

    @property
    def slayout(self) -> SLayout:
        return self.layout.slayout

    @property
    def boxed(self) -> bool:
        return self.layout.boxed

    @property
    def size(self) -> int:
        """sizeof(element)."""
        return self.dtype.size

    @property
    def c0(self) -> int:
        """Elements in 32 bytes."""
        return 64 if self.dtype.packed and self.wide4 else 32 // self.dtype.size

    @property
    def box(self) -> Shape:
        """The inner box, rows x columns (1x1 without boxes)."""
        return Shape(*box_shape(self.layout, self.fractal, self.c0))

    @property
    def numel(self) -> int:
        return self.rows * self.cols

    @property
    def nbytes(self) -> int:
        return self.dtype.nbytes(self.numel)

    @cached_property
    def map(self) -> IndexMap:
        """Where each element lives, in elements from the tile's address."""
        box = box_shape(self.layout, self.fractal, self.c0)
        return index_map(self.layout, self.rows, self.cols, box)

    @property
    def address(self) -> int | None:
        """Where it is: known of a tile in memory, not of a type."""
        return None

    @property
    def span(self) -> int:
        """Elements of storage the layout reaches."""
        return self.map.span

    @property
    def dynamic_rows(self) -> bool:
        return self.valid.rows is None

    @property
    def dynamic_cols(self) -> bool:
        return self.valid.cols is None


@dataclass(frozen=True)
class MultiTileType(TileType):
    """Several tiles of one type, its slots, one after another; the type says what each slot is."""

    count: int = 2

    def __str__(self) -> str:
        return f"{self.count} tiles, each {super().__str__()}"

    @property
    def slot(self) -> TileType:
        """The type of each."""
        return TileType(**{f.name: getattr(self, f.name) for f in fields(TileType)})

    @property
    def stride(self) -> int:
        """Bytes from one slot to the next: whole lines of 32 bytes."""
        return -(-super().nbytes // 32) * 32

    @property
    def nbytes(self) -> int:
        return self.count * self.stride


def tile_type(
    loc: Loc,
    dtype: DType,
    rows: int,
    cols: int,
    *,
    layout: Layout = ND,
    valid: tuple[int | None, int | None] | None = None,
    fractal: int = 512,
    pad: PadValue | CustomPad = PadValue.NULL,
    compact: CompactMode = CompactMode.NULL,
) -> TileType:
    """A tile type; the valid region defaults to the whole tile."""
    shape = Shape(rows, cols) if valid is None else Shape(*valid)
    return TileType(loc, dtype, rows, cols, shape, layout, fractal, pad, compact)


# The layout each L0 location has by its alias (TileLeft, TileRight, ...), spec 1.5.
ALIASES: dict[Loc, tuple[Layout, int]] = {
    LEFT: (NZ, 512),
    Loc.RIGHT: (Layout.ZN, 512),
    ACC: (NZ, 1024),
    SCALE_LEFT: (Layout.ZZ, 32),
    SCALE_RIGHT: (Layout.NN, 32),
}


def _tile_rules() -> tuple[Rule, ...]:
    t = Field("tile")
    whole_boxes = "choose rows and cols that are whole boxes, and let the valid region be smaller"
    lines = "pad the declared shape to whole 32-byte lines and let the valid region be smaller"
    rows_free = (t.loc == VEC) | (t.fractal == 32) | (t.rows == 1)
    return (
        *named("tile-shape", (t.rows > 0) & (t.cols > 0), help="give both extents"),  # T1
        *named(
            "tile-shape",
            (t.valid.rows <= t.rows) & (t.valid.cols <= t.cols),
            (t.valid.rows >= 0) & (t.valid.cols >= 0),
            help="the valid region is the upper left part of the tile",
        ),
        *when(~rows_free, *named("tile-shape", t.rows % t.box.rows == 0, help=whole_boxes)),  # T2
        *named("tile-shape", t.cols % t.box.cols == 0, help=whole_boxes),  # T3
        *when(t.layout == ND, *named("tile-alignment", t.cols * t.size % 32 == 0, help=lines)),
        *when(t.layout == DN, *named("tile-alignment", t.rows * t.size % 32 == 0, help=lines)),
        *named("tile-shape", t.fractal.isin(512, 1024, 32), help="use 512, 1024 or 32"),  # T6
        # T7: outside nz, a partial last row of boxes would reach past the tile's bytes
        *when(t.boxed == Const(True), *named("tile-shape", t.span <= t.numel, help=whole_boxes)),
    )


TILE_RULES = tuple(rules_of(_tile_rules()))


@dataclass(frozen=True)
class GlobalType:
    """A view of global memory: extents and strides in elements, up to five of them.

    None stands for an extent or stride that is known only when the program runs. Shorter ranks are
    right-aligned to five (spec 4.1). `stated` is the layout the program gives, None if it does not.
    """

    dtype: DType
    shape: tuple[int | None, ...]
    stride: tuple[int | None, ...] | None = None
    stated: GlobalLayout | None = None
    partition: bool = False
    written: str = field(default="", compare=False)  # as of tiles

    def __str__(self) -> str:
        dims = "x".join("?" if n is None else str(n) for n in self.shape)
        return f"global {self.dtype} {dims}{f' {self.stated}' if self.stated else ''}"

    @property
    def size(self) -> int:
        return self.dtype.size

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def extents(self) -> Many:
        """The extents, for formulas."""
        return Many(self.shape)

    @property
    def static_extents(self) -> Static:
        """The extents, for formulas that ask whether they agree with a list: ? always does."""
        return Static(self.shape)

    @property
    def filled(self) -> bool:
        """Whether no extent that is known is empty."""
        return all(n is None or n > 0 for n in self.shape)

    @property
    def fixed(self) -> bool:
        """Whether every extent is known."""
        return None not in self.shape

    @property
    def flat(self) -> bool:
        """Whether it is one line of memory whose length is known, for all that is known of it."""
        step = 1 if self.stride is None else self.stride[-1]
        return self.fixed and all(n == 1 for n in self.shape[:-1]) and step in (1, None)

    @property
    def n3(self) -> int | None:
        return five(self.shape)[3]

    @property
    def n4(self) -> int | None:
        return five(self.shape)[4]

    @property
    def outer(self) -> int | None:
        """The product of the three outer extents."""
        return times(*five(self.shape)[:3])

    @property
    def alone(self) -> bool | None:
        """Whether at most one of the three outer extents is more than 1."""
        outer = five(self.shape)[:3]
        return None if None in outer else outer.count(1) >= 2

    @property
    def layout(self) -> GlobalLayout | None:
        """The stated layout, or the one the strides imply; None: unknown, or more than one."""
        if self.stated is not None or self.stride is None:
            return self.stated
        (n3, n4), strides = five(self.shape)[3:], self.stride
        m3, m4 = (None, *strides)[-2:]
        block = 32 // self.dtype.size
        if (
            self.rank == 5
            and known(n3, 16)
            and known(m4, 1)
            and known(m3, block)
            and known(n4, block)
        ):
            return None if self.outer == 1 else GlobalLayout.NZ  # one box lies as nd lies
        row_major, col_major = known(n4, 1) or known(m4, 1), known(n3, 1) or known(m3, 1)
        if None in (n3, n4, m4) or (row_major and col_major):
            return None
        return GlobalLayout.DN if col_major else GlobalLayout.ND

    @property
    def of_scales(self) -> bool:
        """Whether the stated layout is one of scale factors."""
        return self.stated is not None and self.stated.name.startswith("MX")

    @property
    def _open(self) -> bool:
        """Whether the layout is implied by numbers of which some are not known yet."""
        known = self.stride is not None and None not in (self.n3, self.n4, *self.stride[-2:])
        return self.stated is None and self.layout is None and not known

    @property
    def matrix(self) -> Shape:
        """Rows and columns of the logical matrix (table of 4.1); None where not known."""
        if self._open and self.outer != 1:
            return Shape(None, None)
        rows, cols = axes_of(self.layout)
        extents = five(self.shape)
        return Shape(times(*(extents[i] for i in rows)), times(*(extents[i] for i in cols)))


# which of the five extents make up the rows of the logical matrix, and which the columns
MATRIX_AXES: dict[GlobalLayout, tuple[tuple[int, ...], tuple[int, ...]]] = {
    GlobalLayout.DN: ((3,), (0, 1, 2, 4)),
    GlobalLayout.NZ: ((2, 3), (0, 1, 4)),
    GlobalLayout.MX_A_ZZ: ((1, 3), (2, 4)),
    GlobalLayout.MX_A_ND: ((2,), (3, 4)),
    GlobalLayout.MX_A_DN: ((3,), (2, 4)),
    GlobalLayout.MX_B_NN: ((2, 4), (1, 3)),
    GlobalLayout.MX_B_ND: ((2, 4), (3,)),
    GlobalLayout.MX_B_DN: ((3, 4), (2,)),
}


def axes_of(layout: GlobalLayout | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The extents of the rows and of the columns (table of 4.1)."""
    return MATRIX_AXES.get(layout or GlobalLayout.ND, ((0, 1, 2, 3), (4,)))


def five(extents: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Right-align extents to rank five."""
    return (1,) * (5 - len(extents)) + extents


def global_map(
    layout: GlobalLayout | None, shape: tuple[int, ...], stride: tuple[int, ...]
) -> IndexMap:
    """The logical matrix of a global tensor as an index map (table of 4.1)."""
    digits = list(zip(shape, stride, strict=True))
    while len(digits) < 5:
        digits.insert(0, (1, digits[0][0] * digits[0][1] if digits else 1))
    rows, cols = axes_of(layout)
    return IndexMap(axis(*(digits[i] for i in rows)), axis(*(digits[i] for i in cols)))


@dataclass(frozen=True)
class ConvTileType:
    """A convolution tile: up to six extents stored row-major in L1 (spec 1.6).

    Feature maps carry how they are unrolled: `padding` (left, right, top, bottom), and `filter`,
    `stride`, `dilation` as (height, width); elements outside the map are `pad_value`. `repeat`
    (stride, times, mode) and `into` (stride and first row in dst; A5) go to the repeat register.
    """

    dtype: DType
    shape: tuple[int, ...]
    layout: ConvLayout
    loc: Loc = Loc.MAT
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    filter: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pad_value: float = 0
    repeat: tuple[int, int, int] = (0, 1, 0)
    into: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return f"conv {self.dtype} {'x'.join(map(str, self.shape))} {self.layout}"

    @property
    def c0(self) -> int:
        return 64 if self.dtype.packed else 32 // self.dtype.size

    @property
    def size(self) -> int:
        return self.dtype.size

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.dtype.nbytes(self.numel)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def extents(self) -> Extents:
        """The extents by name."""
        return Extents(self.layout, self.shape, self.c0)

    @property
    def listed(self) -> Many:
        """The extents in order, for formulas."""
        return Many(self.shape)

    @property
    def pads(self) -> Many:
        """The padding, for formulas."""
        return Many(self.padding)

    def _from_end(self, place: int) -> int:
        """An extent counted from the innermost; 1 where there are fewer, as rules may meet it."""
        return self.shape[-place] if place <= self.rank else 1

    @property
    def inner(self) -> Shape:
        """The last two extents: a block of N0 x C0 elements."""
        return Shape(self._from_end(2), self._from_end(1))

    @property
    def images(self) -> int:
        """Feature maps: N, or N x D."""
        return prod(self.shape[:-4])

    @property
    def channels(self) -> int:
        """C1, the number of channel blocks."""
        return self._from_end(4)

    @property
    def height(self) -> int:
        return self._from_end(3)

    @property
    def width(self) -> int:
        return self._from_end(2)

    @property
    def steps(self) -> Shape:
        """How many positions the filter takes, down and across."""
        left, right, top, bottom = self.padding
        reach = [d * (f - 1) + 1 for d, f in zip(self.dilation, self.filter, strict=True)]
        return Shape(
            (self.height + top + bottom - reach[0]) // self.stride[0] + 1,
            (self.width + left + right - reach[1]) // self.stride[1] + 1,
        )

    @property
    def matrix(self) -> Shape:
        """K x N of the weight matrix a FRACTAL_Z tile holds; of a map, patches x their elements."""
        if self.layout in FRACTALS:
            return Shape(self.map.rows.extent, self.map.cols.extent)
        down, across = self.steps
        places = prod((self.images, down or 0, across or 0))
        return Shape(places, prod((self.channels, *self.filter, self.shape[-1])))

    @cached_property
    def map(self) -> IndexMap:
        """The weight matrix (k, n) of a FRACTAL_Z tile: blocks of C0 rows, N columns (3.7)."""
        *outer, last = self.shape
        n = prod(outer[1:] if len(self.shape) == 4 else outer[-1:])
        blocks = prod(self.shape) // (n * last)
        return IndexMap(axis((blocks, n * last), (last, 1)), Axis(((n, last),)))


DataType: TypeAlias = "TileType | GlobalType | ConvTileType"
