"""Expansions of reductions: trees in a register, and register after register."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptokit.isa.expansions.expansionlanguage import (
    Chunk,
    Expansion,
    Inexpressible,
    LaneValue,
    TileBytes,
    Vectors,
)
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import register
from ptokit.isa.model.types import INDEX
from ptokit.isa.pages import extremes, reduction
from ptokit.values.dtypes import DType, i16, i32, u16, u32

WIDER = {i16: i32, u16: u32}


def along(
    v: Vectors,
    src: TileBytes,
    row: Quantity,
    starts: Sequence[LaneValue],
    step: Callable[[Chunk, Sequence[LaneValue]], Sequence[LaneValue]],
) -> list[LaneValue]:
    """Pass registers on along the registers of a row."""

    def body(number: Quantity, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
        return step(v.chunk(row, number, src.cols, src.dtype), now)

    return v.folded(v.chunks(src.cols, src.lanes), starts, body)


def row_sum(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
    """Expand sums of rows: the tree of each register is added to the sum of those before it."""
    dtype = WIDER.get(src.dtype, src.dtype)
    every = v.pattern(dtype)

    def of_row(row: Quantity) -> None:
        def step(at: Chunk, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
            tree = v.vcadd(at.load(src), at.mask, to=register(dtype))
            return [v.vadd(now[0], tree, every)]

        (total,) = along(v, src, row, [v.constant(0, dtype)], step)
        v.store_one(total, dst, row)

    v.make.repeat(src.rows, of_row)


def row_product(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
    """Expand products of rows: register by register, then one half of the lanes by the other."""
    one, every = v.constant(1, src.dtype), v.pattern(src.dtype)

    def of_row(row: Quantity) -> None:
        def step(at: Chunk, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
            return [v.vmul(now[0], v.vsel(at.load(src), one, at.mask), every)]

        (x,) = along(v, src, row, [one], step)
        for _ in range(src.lanes.bit_length() - 1):
            x = v.vmul(*v.add("vintlv", x, one), every)
        v.store_one(x, dst, row)

    v.make.repeat(src.rows, of_row)


def row_extreme(within: str, between: str) -> Expansion:
    """Return the expansion of extremes of rows: of each register, and of those."""

    def expansion(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
        every = v.pattern(src.dtype)

        def of_row(row: Quantity) -> None:
            def found(number: Quantity) -> LaneValue:
                at = v.chunk(row, number, src.cols, src.dtype)
                return v.add(within, at.load(src), at.mask)[0]

            def step(number: Quantity, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
                return [v.add(between, now[0], found(v.sum(number, 1)), every)[0]]

            others = v.make.less(v.chunks(src.cols, src.lanes), 1)
            (best,) = v.folded(others, [found(0)], step)
            v.store_one(best, dst, row)

        v.make.repeat(src.rows, of_row)

    return expansion


def place_in_row(within: str, better: str, *, values: bool) -> Expansion:
    """Return the expansion of the column of each row's extreme, with `values` of both."""

    def best_of(v: Vectors, src: TileBytes, row: Quantity) -> tuple[LaneValue, LaneValue]:
        bits = register(unsigned(src.dtype))
        every = v.pattern(src.dtype)

        def found(number: Quantity) -> list[LaneValue]:
            """Return the extreme of a register, and its column as integers of the same width."""
            at = v.chunk(row, number, src.cols, src.dtype)
            both = v.add(within, at.load(src), at.mask)[0]
            places = v.add("vdintlv", both, both)[1]
            places = v.vbitcast(places, to=bits)
            return [both, v.vadds(places, v.integer(at.col, bits.dtype), every)]

        def step(number: Quantity, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
            other = found(v.sum(number, 1))
            wins = v.vcmp(other[0], now[0], every, to=every.kind, relation=better)
            return [v.vsel(new, old, wins) for new, old in zip(other, now, strict=True)]

        others = v.make.less(v.chunks(src.cols, src.lanes), 1)
        best, place = v.folded(others, found(0), step)
        return best, place

    def index(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
        def of_row(row: Quantity) -> None:
            _, place = best_of(v, src, row)
            v.store_one(widened(v, place, dst.dtype), dst, row)

        v.make.repeat(src.rows, of_row)

    def both(v: Vectors, dst_val: TileBytes, dst_idx: TileBytes, src: TileBytes) -> None:
        def of_row(row: Quantity) -> None:
            best, place = best_of(v, src, row)
            v.store_one(best, dst_val, row)
            v.store_one(widened(v, place, dst_idx.dtype), dst_idx, row)

        v.make.repeat(src.rows, of_row)

    return both if values else index


def unsigned(dtype: DType) -> DType:
    """Return the integers of a width for places; places of 8 bits do not suffice."""
    if dtype.bits not in (16, 32):
        raise Inexpressible
    return {16: u16, 32: u32}[dtype.bits]


def widened(v: Vectors, x: LaneValue, dtype: DType) -> LaneValue:
    """Return the first lanes in at least the width of another type."""
    if x.kind.dtype.bits >= dtype.bits:
        return x
    return v.vzunpack(x, v.make.constant(0, INDEX), to=register(u32))


def store_places(at: Chunk, places: LaneValue, dst: TileBytes) -> None:
    """Store rows or columns, which may be narrower than the elements of dst."""
    v = at.v
    if places.kind.dtype.bits >= dst.dtype.bits:
        at.store(places, dst)
        return
    half = dst.lanes
    for part in (0, 1):
        col = v.sum(at.col, part * half)
        wide = v.vzunpack(places, v.make.constant(part, INDEX), to=register(u32))
        left = v.make.left_after(v.make.less(dst.cols, at.col), part * half)
        v.store(wide, dst, at.row, col, v.first(left, u32))


def down(step: str, start: float | None) -> Expansion:
    """Return the expansion of a reduction of columns: row after row."""

    def expansion(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
        def body(at: Chunk) -> None:
            def of_row(row: Quantity, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
                row = row if start is not None else v.sum(row, 1)
                return [v.add(step, now[0], v.load(src, row, at.col), at.mask)[0]]

            first = v.load(src, 0, at.col) if start is None else v.constant(start, src.dtype)
            rows = src.rows if start is not None else v.make.less(src.rows, 1)
            at.store(v.folded(rows, [first], of_row)[0], dst)

        v.across(0, src.cols, src.dtype, body)

    return expansion


def column_sum(v: Vectors, dst: TileBytes, src: TileBytes, is_binary: bool | None) -> None:
    """Expand sums of columns from top to bottom."""
    if is_binary:
        raise Inexpressible
    down("vadd", 0)(v, dst, src)


def place_in_column(better: str, *, values: bool) -> Expansion:
    """Return the expansion of the row of each column's extreme, with `values` of both."""

    def found(v: Vectors, src: TileBytes, at: Chunk) -> list[LaneValue]:
        bits = register(unsigned(src.dtype))

        def of_row(row: Quantity, now: Sequence[LaneValue]) -> Sequence[LaneValue]:
            row = v.sum(row, 1)
            other = v.load(src, row, at.col)
            wins = v.vcmp(other, now[0], at.mask, to=at.mask.kind, relation=better)
            number = v.filled(v.integer(row, bits.dtype), bits.dtype)
            return [v.vsel(other, now[0], wins), v.vsel(number, now[1], wins)]

        starts = [v.load(src, 0, at.col), v.constant(0, bits.dtype)]
        return v.folded(v.make.less(src.rows, 1), starts, of_row)

    def index(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
        def body(at: Chunk) -> None:
            store_places(at, found(v, src, at)[1], dst)

        v.across(0, src.cols, src.dtype, body)

    def both(v: Vectors, dst_val: TileBytes, dst_idx: TileBytes, src: TileBytes) -> None:
        def body(at: Chunk) -> None:
            best, place = found(v, src, at)
            at.store(best, dst_val)
            store_places(at, place, dst_idx)

        v.across(0, src.cols, src.dtype, body)

    return both if values else index


def pair_sum(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
    """Expand sums of neighbours; the rest of dst's storage becomes 0."""
    zero = v.constant(0, dst.dtype)
    every = v.pattern(dst.dtype)
    registers = v.chunks(dst.kind.rows * dst.kind.cols, dst.lanes)
    size = dst.kind.rows * dst.kind.cols

    def clear(number: Quantity) -> None:
        first = v.make.times(number, dst.lanes)
        mask = v.first(v.make.less(size, first), dst.dtype)
        v.store(zero, dst, 0, first, mask)

    v.make.repeat(registers, clear)
    pairs = v.make.over(src.cols, 2)
    if pairs == 0:
        return

    def of_row(row: Quantity) -> None:
        def body(at: Chunk) -> None:
            low, high = (
                v.load(src, row, v.sum(v.make.times(at.col, 2), n * src.lanes)) for n in (0, 1)
            )
            even, odd = v.add("vdintlv", low, high)
            v.store(v.vadd(even, odd, every), dst, row, at.col, at.mask)

        v.across(row, pairs, dst.dtype, body)

    v.make.repeat(src.rows, of_row)


REDUCTIONS: dict[type[Instr], Expansion] = {
    reduction.TRowSum: row_sum,
    reduction.TRowProd: row_product,
    reduction.TRowMax: row_extreme("vcmax", "vmax"),
    reduction.TRowMin: row_extreme("vcmin", "vmin"),
    extremes.TRowArgMax: place_in_row("vcmax", "gt", values=False),
    extremes.TRowArgMin: place_in_row("vcmin", "lt", values=False),
    extremes.TRowArgMaxValue: place_in_row("vcmax", "gt", values=True),
    extremes.TRowArgMinValue: place_in_row("vcmin", "lt", values=True),
    reduction.TColSum: column_sum,
    reduction.TColProd: down("vmul", 1),
    reduction.TColMax: down("vmax", None),
    reduction.TColMin: down("vmin", None),
    extremes.TColArgMax: place_in_column("gt", values=False),
    extremes.TColArgMin: place_in_column("lt", values=False),
    extremes.TColArgMaxValue: place_in_column("gt", values=True),
    extremes.TColArgMinValue: place_in_column("lt", values=True),
    reduction.TPairReduceSum: pair_sum,
}
