"""Tile types: fields, rules that every tile must meet, and index maps.

Global views (`globaltypes`) and convolution tiles are the other shapes of data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import prod

from ptokit.diagnostics.rich import Rich
from ptokit.isa.formula.formulas import Const, Field, Many
from ptokit.isa.formula.rules import COMPILED, Rules, named, of_allocations, rules_of, when
from ptokit.isa.formula.rules import by as refused_by
from ptokit.isa.model.words import CompactMode
from ptokit.values.dtypes import DType, i16, u8, u16, u32
from ptokit.values.enumerations import (
    ACC,
    LEFT,
    SCALE_LEFT,
    SCALE_RIGHT,
    VEC,
    BLayout,
    ConvLayout,
    Loc,
    PadValue,
    SLayout,
)
from ptokit.values.layouts import (
    DN,
    FRACTALS,
    ND,
    NZ,
    Axis,
    Extents,
    IndexMap,
    Layout,
    Shape,
    axis,
    box_shape,
    index_map,
)
from ptokit.values.pads import CustomPad

CUBE_OPERANDS = (Loc.LEFT, Loc.RIGHT, Loc.ACC)


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
    wide4: bool = False  # 4-bit boxes have 64 columns, as on A5, else 32
    written: str = field(default="", compare=False)  # the spelling of older text, a memref
    pitch: int | None = field(default=None, compare=False)  # of rows, if a memref states it
    around: Shape | None = None  # for a window in L0: the shape of the tile around it

    def __str__(self) -> str:
        valid = "" if self.valid == Shape(self.rows, self.cols) else f" valid {self.valid}"
        fractal = "" if self.fractal == 512 else f" fractal {self.fractal}"
        return f"{self.loc} {self.dtype} {self.rows}x{self.cols} {self.layout}{fractal}{valid}"

    @property
    def declared(self) -> Shape:
        """The declared shape; for a window in L0, that of the tile around it."""
        return self.around or Shape(self.rows, self.cols)

    @property
    def step(self) -> int:
        """Elements from a row to the next, in a row-major tile or a window of one."""
        return self.cols if self.pitch is None else self.pitch

    @property
    def apart(self) -> bool:
        """True if rows are not contiguous, which only a memref of a window states."""
        return self.rows > 1 and self.step != self.cols

    @property
    def closed(self) -> TileType:
        """The type with unknown valid extents replaced by the declared ones."""
        given = zip(self.valid, (self.rows, self.cols), strict=True)
        return replace(self, valid=Shape(*(n if valid is None else valid for valid, n in given)))

    def cut_from(self, source: TileType) -> TileType:
        """Return this type as a window of `source`."""
        if self.loc not in CUBE_OPERANDS or source.declared == Shape(self.rows, self.cols):
            return self
        return replace(self, around=source.declared)

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
        """The map from each element to elements from the tile's address."""
        box = box_shape(self.layout, self.fractal, self.c0)
        return index_map(self.layout, self.rows, self.cols, box)

    @property
    def address(self) -> int | None:
        """None: a type has no address, unlike a tile in memory."""
        return None

    @property
    def span(self) -> int:
        """Elements of storage that the layout reaches."""
        return self.map.span

    @property
    def is_tile(self) -> bool:
        return True

    @property
    def matrix(self) -> Shape:
        """All rows and columns, for formulas about buffers, which are tiles or views."""
        return Shape(self.rows, self.cols)

    @property
    def filled(self) -> bool:
        """True if no known extent of the valid region is 0."""
        return 0 not in (self.valid.rows, self.valid.cols)

    @property
    def dynamic_rows(self) -> bool:
        return self.valid.rows is None

    @property
    def dynamic_cols(self) -> bool:
        return self.valid.cols is None


@dataclass(frozen=True)
class MultiTileType(TileType):
    """Several tiles of one type, the slots, one after another; the base fields describe a slot."""

    count: int = 2

    def __str__(self) -> str:
        return f"{self.count} tiles, each {super().__str__()}"

    @property
    def slot(self) -> TileType:
        """The type of each slot."""
        return TileType(**{f.name: getattr(self, f.name) for f in fields(TileType)})

    @property
    def stride(self) -> int:
        """Bytes from one slot to the next: whole lines of 32 bytes."""
        return -(-super().nbytes // 32) * 32

    @property
    def nbytes(self) -> int:
        return self.count * self.stride


REGISTER_BYTES = 256


@dataclass(frozen=True)
class RegisterType(TileType):
    """A register of the level below tiles: one row of lanes.

    `word` is the name of the type: a vector register, a mask, or the state of unaligned accesses.
    A mask has a byte, 0 or 1, for each bit of the chip's; the bit of a lane is the first of its
    bytes.
    """

    word: str = "vreg"

    def __str__(self) -> str:
        match self.word:
            case "vreg":
                return f"!pto.vreg<{min(self.cols, REGISTER_BYTES)}x{self.dtype}>"  # or of pairs
            case "mask":
                return f"!pto.mask<b{self.dtype.bits}>"
            case _:
                return f"!pto.{self.word}"


def register(dtype: DType) -> RegisterType:
    """Return the type of a vector register with elements of this type."""
    lanes = REGISTER_BYTES * 8 // dtype.bits
    return RegisterType(Loc.REGISTER, dtype, 1, lanes, Shape(1, lanes))


def mask(bits: int) -> RegisterType:
    """Return the type of a mask for elements of so many bits."""
    dtype = {8: u8, 16: u16, 32: u32}[bits]
    return replace(register(dtype), word="mask")


ALIGN = RegisterType(Loc.REGISTER, u8, 1, 32, Shape(1, 32), word="align")


@dataclass(frozen=True)
class LogicalType(RegisterType):
    """A logical vector, or a mask for one: any number of lanes, which some registers hold.

    `spelled` is the text of its elements: integers without a sign are unsigned, unless an
    instruction says more. `assigned` is the layout in registers that a compiler has chosen, which
    has no effect on the lanes. A mask has a byte for each lane.
    """

    spelled: str = ""
    assigned: str = ""

    def __str__(self) -> str:
        layout = f", {self.assigned}" if self.assigned else ""
        by = "x" if self.spelled else ""
        return f"!pto.vmi.{self.word}<{self.lanes}{by}{self.spelled}{layout}>"

    @property
    def in_pairs(self) -> bool:
        """True if text counts pairs of elements."""
        return self.spelled.endswith("x2")

    @property
    def lanes(self) -> int:
        """The number of lanes in text."""
        return self.cols // 2 if self.in_pairs else self.cols

    @property
    def unit_bits(self) -> int:
        """The bits of an element, and of both of a pair of bf16, as pointers count them."""
        return self.dtype.bits * (1 + (self.in_pairs and not self.dtype.packed))

    @property
    def signless(self) -> bool:
        """True if text does not say whether the integers have a sign."""
        return self.spelled[:1] == "i"

    @property
    def grain(self) -> int:
        """The bits of the elements that a mask is for; 0 if text does not say."""
        return int(self.spelled[1:]) if self.spelled[1:].isdigit() else 0


def logical(dtype: DType, cols: int, spelled: str, assigned: str = "") -> LogicalType:
    """Return the type of a logical vector with the text of its elements and its layout."""
    whole = Shape(1, cols)
    return LogicalType(Loc.REGISTER, dtype, 1, cols, whole, spelled=spelled, assigned=assigned)


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
    """Return a tile type; the valid region defaults to the whole tile."""
    shape = Shape(rows, cols) if valid is None else Shape(*valid)
    return TileType(loc, dtype, rows, cols, shape, layout, fractal, pad, compact)


# Tiles that text spells as MLIR vectors, and what they hold.
COUNTS = "what a merge counts"
VECTORS: dict[str, TileType] = {"vector<4xi16>": tile_type(VEC, i16, 1, 16, valid=(1, 4))}

# Layout and fractal of each L0 location's alias (TileLeft, TileRight, ...).
ALIASES: dict[Loc, tuple[Layout, int]] = {
    LEFT: (NZ, 512),
    Loc.RIGHT: (Layout.ZN, 512),
    ACC: (NZ, 1024),
    SCALE_LEFT: (Layout.ZZ, 32),
    SCALE_RIGHT: (Layout.NN, 32),
}


def _tile_rules() -> Rules:
    t = Field("tile")
    lines = "pad the declared shape to whole 32-byte lines and let the valid region be smaller"
    whole = partial(named, "tile-alignment", help=lines)
    return (
        named("tile-shape", (t.rows > 0) & (t.cols > 0), help="give both extents"),
        named("tile-shape", t.loc != Loc.REGISTER, help="a register is a !pto.vreg, no tile"),
        named(
            "tile-shape",
            (t.valid.rows <= t.rows) & (t.valid.cols <= t.cols),
            (t.valid.rows >= 0) & (t.valid.cols >= 0),
            help="the valid region is the upper left part of the tile",
        ),
        of_allocations(when(t.layout == ND, whole(t.cols * t.size % 32 == 0))),
        of_allocations(when(t.layout == DN, whole(t.rows * t.size % 32 == 0))),
        named("tile-shape", t.fractal.isin(512, 1024, 32), help="use 512, 1024 or 32"),
    )


def _box_rules() -> Rules:
    t = Field("tile")
    whole_boxes = "choose rows and cols that are whole boxes, and let the valid region be smaller"
    whole = named("tile-shape", t.span <= t.numel, help=whole_boxes)
    rows_free = (t.loc == VEC) | (t.fractal == 32) | (t.rows == 1)
    return (
        when(~rows_free, named("tile-shape", t.rows % t.box.rows == 0, help=whole_boxes)),
        named("tile-shape", t.cols % t.box.cols == 0, help=whole_boxes),
        # outside nz, a partial last row of boxes would reach past the tile's bytes
        refused_by(COMPILED, when(t.boxed == Const(True), whole)),
    )


BOX_RULES = tuple(
    of_allocations(_box_rules())
)  # a tile that is not allocated may have partial boxes
TILE_RULES = (*rules_of(_tile_rules()), *BOX_RULES)


@dataclass(frozen=True)
class ConvTileType:
    """A convolution tile: up to six extents stored row-major in L1.

    Feature maps have the parameters of their unroll: `padding` (left, right, top, bottom), and
    `filter`, `stride`, `dilation` as (height, width); elements outside the map are `pad_value`.
    `repeat` (stride, times, mode) and `into` (stride and first row in dst; A5) go to the repeat
    register.
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
        """Return an extent counted from the innermost; 1 if there are fewer extents."""
        return self.shape[-place] if place <= self.rank else 1

    @property
    def inner(self) -> Shape:
        """The last two extents: a block of N0 x C0 elements."""
        return Shape(self._from_end(2), self._from_end(1))

    @property
    def images(self) -> int:
        """The number of feature maps: N, or N x D."""
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
        """The number of positions of the filter, down and across."""
        left, right, top, bottom = self.padding
        reach = [d * (f - 1) + 1 for d, f in zip(self.dilation, self.filter, strict=True)]
        return Shape(
            (self.height + top + bottom - reach[0]) // self.stride[0] + 1,
            (self.width + left + right - reach[1]) // self.stride[1] + 1,
        )

    @property
    def matrix(self) -> Shape:
        """K x N of the weight matrix in a FRACTAL_Z tile; of a map, patches x their elements."""
        if self.layout in FRACTALS:
            return Shape(self.map.rows.extent, self.map.cols.extent)
        down, across = self.steps
        places = prod((self.images, down or 0, across or 0))
        return Shape(places, prod((self.channels, *self.filter, self.shape[-1])))

    @cached_property
    def map(self) -> IndexMap:
        """The index map of the weight matrix (k, n) of FRACTAL_Z: blocks of C0 rows, N columns."""
        *outer, last = self.shape
        n = prod(outer[1:] if len(self.shape) == 4 else outer[-1:])
        blocks = prod(self.shape) // (n * last)
        return IndexMap(axis((blocks, n * last), (last, 1)), Axis(((n, last),)))
