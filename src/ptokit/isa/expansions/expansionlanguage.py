"""The language of expansions: loops over the registers of tiles, and vector instructions by name.

An expansion is a function of `v`, the vector instructions, and of operands and attributes of its
page by name: tiles as `TileBytes`, numbers as they are. `v.vadd(x, y, mask)` adds the instruction
`vadd`; its result has the type of its first register unless `to` says another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ptokit.isa.index import lookup
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Emitting, Quantity
from ptokit.isa.model.tiles import REGISTER_BYTES, RegisterType, TileType, register
from ptokit.isa.model.tiles import mask as mask_type
from ptokit.isa.model.types import Kind, ScalarType, Type
from ptokit.values.dtypes import DType, i32, u16, u32
from ptokit.values.layouts import DN, ND

I32 = ScalarType("i32")
Expansion: TypeAlias = "Callable[..., None]"


class Expanding(Emitting, Protocol):
    """The vector instructions that take the place of a tile instruction."""

    def constant(self, number: float, kind: Type) -> Quantity: ...


class Inexpressible(Exception):
    """The level below tiles has no instructions for these operands; the text says why."""


class LaneValue(NamedTuple):
    """A vector register or a mask."""

    value: Quantity
    kind: RegisterType


class TileBytes(NamedTuple):
    """A tile as bytes of the vector buffer: a pointer to them, and the extents that are valid."""

    pointer: Quantity
    kind: TileType
    rows: Quantity
    cols: Quantity

    @property
    def dtype(self) -> DType:
        return self.kind.dtype

    @property
    def lanes(self) -> int:
        """Elements of a register."""
        return lanes_of(self.dtype)


def lanes_of(dtype: DType) -> int:
    """Return the elements of a register."""
    return REGISTER_BYTES * 8 // dtype.bits


def width(dtype: DType) -> int:
    """Return the width in the names of masks and distributions for these elements."""
    return min(dtype.bits, 32)


class Vectors:
    """The vector instructions of an expansion, in the order in which they are executed."""

    def __init__(self, make: Expanding) -> None:
        self.make = make

    def __getattr__(self, name: str) -> Callable[..., LaneValue]:
        """Return the function that adds the instruction of this name."""

        def added(*args: object, to: RegisterType | None = None, **attrs: object) -> LaneValue:
            return self.add(name, *args, to=to, **attrs)[0]

        return added

    def add(
        self,
        name: str,
        *args: object,
        to: RegisterType | Sequence[RegisterType] | None = None,
        **attrs: object,
    ) -> list[LaneValue]:
        """Add an instruction; return its results, which have one type, or each its own."""
        page = page_of(name, args)
        registers = [arg.kind for arg in args if isinstance(arg, LaneValue)]
        outs = [o for o in page.outs() if o.kind is Kind.REGISTER]
        one = to or (registers[0] if outs else None)
        kinds = [one] * len(outs) if isinstance(one, RegisterType) else [*(one or ())]
        values = [arg.value if isinstance(arg, LaneValue) else arg for arg in args]
        operands = dict(zip((o.name for o in page.ins()), values, strict=False))
        made = self.make.op(page, operands, attrs, kinds)
        return [LaneValue(value, kind) for value, kind in zip(made, kinds, strict=False)]

    # numbers

    def sum(self, one: Quantity, other: Quantity) -> Quantity:
        return self.make.sum(one, other)

    def number(self, number: float, dtype: DType) -> Quantity:
        """Return a number for the elements of a type."""
        kind = dtype.name if dtype.is_float else f"i{dtype.bits}"
        return self.make.constant(float(number) if dtype.is_float else number, ScalarType(kind))

    def integer(self, count: Quantity, dtype: DType) -> Quantity:
        """Return a count of the program as a number for the elements of a type."""
        kind = ScalarType(f"i{dtype.bits}")
        known = self.make.known(count)
        if known is not None:
            return self.make.constant(known, kind)
        (cast,) = lookup("arith.index_cast")
        (number,) = self.make.op(cast, {cast.ins()[0].name: count}, {}, [kind])
        return number

    def filled(self, number: Quantity, dtype: DType) -> LaneValue:
        """Return a register whose lanes all have a value of the program."""
        return self.vbr(number, to=register(dtype))

    def constant(self, number: float, dtype: DType) -> LaneValue:
        """Return a register whose lanes all have a number."""
        return self.filled(self.number(number, dtype), dtype)

    def bits(self, bits: int, dtype: DType) -> LaneValue:
        """Return a register whose lanes all have the same bits."""
        if bits == 0 or dtype.is_int:
            return self.constant(bits, dtype)
        whole = {16: u16, 32: u32}[dtype.bits]
        return self.vbitcast(self.constant(bits, whole), to=register(dtype))

    def offset(self, tile: TileBytes, row: Quantity, col: Quantity) -> Quantity:
        """Return how many elements behind the tile's address an element is."""
        if tile.kind.layout is ND:
            return self.sum(self.make.times(row, tile.kind.step), col)
        if tile.kind.layout is DN:
            return self.sum(self.make.times(col, tile.kind.rows), row)
        raise Inexpressible

    # masks

    def pattern(self, dtype: DType, pattern: str = "PAT_ALL") -> LaneValue:
        """Return a mask of a pattern."""
        bits = width(dtype)
        return self.add(f"pset_b{bits}", to=mask_type(bits), pattern=pattern)[0]

    def first(self, count: Quantity, dtype: DType) -> LaneValue:
        """Return the mask of the first `count` lanes."""
        bits = width(dtype)
        count = self.make.times(count, dtype.bits // bits)  # a wide lane has several of its bits
        known = self.make.known(count)
        if known is not None and known >= lanes_of(dtype) * dtype.bits // bits:
            return self.pattern(dtype)
        number = self.integer(count, i32)
        (page,) = lookup(f"plt_b{bits}")
        kind = mask_type(bits)
        _, made = self.make.op(page, {"count": number}, {}, [I32, kind])
        return LaneValue(made, kind)

    # memory

    def at_pointer(
        self,
        name: str,
        operands: Mapping[str, Quantity],
        attrs: Mapping[str, object],
        *results: RegisterType,
    ) -> list[LaneValue]:
        """Add an instruction with a pointer."""
        (page,) = pages_of(name)
        made = self.make.op(page, operands, attrs, results)
        return [LaneValue(value, kind) for value, kind in zip(made, results, strict=False)]

    def load(self, tile: TileBytes, row: Quantity, col: Quantity, dist: str = "NORM") -> LaneValue:
        """Load a register from a place of a tile."""
        operands = {"src": tile.pointer, "offset": self.offset(tile, row, col)}
        return self.at_pointer("vlds", operands, {"dist": dist}, register(tile.dtype))[0]

    def repeated(self, tile: TileBytes, row: Quantity, col: Quantity) -> LaneValue:
        """Return a register whose lanes all have one element of a tile."""
        if tile.dtype.bits > 32:
            raise Inexpressible
        return self.load(tile, row, col, f"BRC_B{tile.dtype.bits}")

    def store(
        self,
        x: LaneValue,
        tile: TileBytes,
        row: Quantity,
        col: Quantity,
        mask: LaneValue,
        dist: str | None = None,
    ) -> None:
        """Store the lanes of a register that a mask selects at a place of a tile."""
        operands = {"dst": tile.pointer, "src": x.value, "offset": self.offset(tile, row, col)}
        self.at_pointer("vsts", {**operands, "mask": mask.value}, {"dist": dist})

    def store_one(self, x: LaneValue, tile: TileBytes, row: Quantity, col: Quantity = 0) -> None:
        """Store the first lane as one element of a tile."""
        mask = self.pattern(x.kind.dtype, "PAT_VL1")
        self.store(x, tile, row, col, mask, f"1PT_B{tile.dtype.bits}")

    # loops

    def chunks(self, cols: Quantity, lanes: int) -> Quantity:
        """Return how many registers hold so many elements."""
        return self.make.over(self.sum(cols, lanes - 1), lanes)

    def across(
        self,
        row: Quantity,
        cols: Quantity,
        dtype: DType,
        body: Callable[[Chunk], None],
    ) -> None:
        """Add the loop over the registers of a row."""
        lanes = lanes_of(dtype)
        chunks = self.chunks(cols, lanes)
        self.make.repeat(chunks, lambda n: body(self.chunk(row, n, cols, dtype)))

    def chunk(self, row: Quantity, number: Quantity, cols: Quantity, dtype: DType) -> Chunk:
        """Return a register's part of a row: where it begins, and which lanes are valid."""
        col = self.make.times(number, lanes_of(dtype))
        return Chunk(self, row, col, self.first(self.make.less(cols, col), dtype))

    def each(
        self, tile: TileBytes, body: Callable[[Chunk], None], dtype: DType | None = None
    ) -> None:
        """Add the loops over all registers of a tile's valid region."""
        self.make.repeat(
            tile.rows, lambda row: self.across(row, tile.cols, dtype or tile.dtype, body)
        )

    def folded(
        self,
        count: Quantity,
        starts: Sequence[LaneValue],
        body: Callable[[Quantity, Sequence[LaneValue]], Sequence[LaneValue]],
    ) -> list[LaneValue]:
        """Add a loop that passes registers on; return the last ones."""
        kinds = [start.kind for start in starts]

        def registers(values: Sequence[Quantity]) -> list[LaneValue]:
            return [LaneValue(value, kind) for value, kind in zip(values, kinds, strict=True)]

        def inner(number: Quantity, values: Sequence[Quantity]) -> list[Quantity]:
            return [r.value for r in body(number, registers(values))]

        return registers(self.make.fold(count, [start.value for start in starts], inner))


class Chunk(NamedTuple):
    """A register's part of a row."""

    v: Vectors
    row: Quantity
    col: Quantity
    mask: LaneValue

    def load(self, tile: TileBytes, dist: str = "NORM") -> LaneValue:
        return self.v.load(tile, self.row, self.col, dist)

    def store(self, x: LaneValue, tile: TileBytes, dist: str | None = None) -> None:
        self.v.store(x, tile, self.row, self.col, self.mask, dist)


def pages_of(name: str) -> list[type[Instr]]:
    """Return the pages of a vector instruction on registers and pointers, which gives registers."""
    pages = (page for page in lookup(name) if page.below and page.form != "going on")
    return [page for page in pages if all(o.kind is not Kind.TILE for o in page.operands)]


def page_of(name: str, args: Sequence[object]) -> type[Instr]:
    """Return the page of a vector instruction that takes registers where registers are given."""
    for page in pages_of(name):
        kinds = [o.kind is Kind.REGISTER for o in page.ins()][: len(args)]
        if kinds == [isinstance(arg, LaneValue) for arg in args]:
            return page
    raise AssertionError(f"no page of {name} takes {args}")


def scope_page() -> type[Instr]:
    """Return the page of the region in which vector instructions stand."""
    (page,) = lookup("vecscope")
    return page


def pointer_page() -> type[Instr]:
    """Return the page whose result is a pointer to a tile."""
    (page,) = (page for page in lookup("tile_buf_addr") if not page.form)
    return page
