"""Expansions of broadcasts, selections, comparisons, conversions and partial operations."""

from __future__ import annotations

from collections.abc import Callable

from ptokit.isa.expansions.elementwiseloops import Step, named
from ptokit.isa.expansions.expansionlanguage import (
    Chunk,
    Expansion,
    Inexpressible,
    LaneValue,
    TileBytes,
    Vectors,
    width,
)
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import mask, register
from ptokit.isa.model.words import CmpMode, RoundMode, SaturationMode
from ptokit.isa.pages import broadcast, conversion, partial, selection
from ptokit.isa.pages.lanes.laneconversions import MODES
from ptokit.values.dtypes import DType, u8
from ptokit.values.layouts import DN
from ptokit.values.pads import pad_bits


def difference_power(v: Vectors, x: LaneValue, y: LaneValue, every: LaneValue) -> LaneValue:
    return v.vexp(v.vsub(x, y, every), every)


def narrow(tile: TileBytes, other: TileBytes) -> bool:
    """Return whether a tile has the one value for each row; see the page of the instruction."""
    if DN in (tile.kind.layout, other.kind.layout):
        return tile.kind.layout is DN
    line = 32 // tile.dtype.size
    return tile.kind.cols == line or (other.kind.cols != line and tile.kind.valid.cols == line)


def with_rows(step: str | Step) -> Expansion:
    """Return the expansion of an operation with one value for each row."""
    f = named(step) if isinstance(step, str) else step

    def expansion(v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
        if narrow(src1, src0):
            left = src0.kind.valid.cols == dst.kind.valid.cols
        else:
            left = not narrow(src0, src1)

        def of_row(row: Quantity) -> None:
            value = v.repeated(src1 if left else src0, row, 0)

            def body(at: Chunk) -> None:
                x = at.load(src0 if left else src1)
                at.store(f(v, *((x, value) if left else (value, x)), at.mask), dst)

            v.across(row, dst.cols, dst.dtype, body)

        v.make.repeat(dst.rows, of_row)

    return expansion


def with_columns(step: str | Step) -> Expansion:
    """Return the expansion of an operation with one value for each column."""
    f = named(step) if isinstance(step, str) else step

    def expansion(v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
        def body(at: Chunk) -> None:
            at.store(f(v, at.load(src0), v.load(src1, 0, at.col), at.mask), dst)

        v.each(dst, body)

    return expansion


def rows_filled(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
    """Expand dst[i, j] = src[i, 0]."""
    if src.dtype != dst.dtype:
        raise Inexpressible

    def of_row(row: Quantity) -> None:
        value = v.repeated(src, row, 0)
        v.across(row, dst.cols, dst.dtype, lambda at: at.store(value, dst))

    v.make.repeat(dst.rows, of_row)


def columns_filled(v: Vectors, dst: TileBytes, src: TileBytes) -> None:
    """Expand dst[i, j] = src[0, j]."""
    v.each(dst, lambda at: at.store(v.load(src, 0, at.col), dst))


# bits of masks in memory


def spaced(v: Vectors, bits: LaneValue, dtype: DType) -> LaneValue:
    """Return the first bits of a mask as the mask of the lanes of a type."""
    for wider in (16, 32)[: {8: 0, 16: 1, 32: 2}[width(dtype)]]:
        bits = v.punpack(bits, to=mask(wider), part="LOWER")
    return bits


def bits_at(v: Vectors, tile: TileBytes, at: Chunk, dtype: DType) -> LaneValue:
    """Return the bits of a tile for the lanes of a register, which begin at a whole byte."""
    if dtype.bits > 32 or tile.dtype.bits != 8:
        raise Inexpressible
    place = v.make.over(at.col, 8)
    operands = {"src": tile.pointer, "offset": v.offset(tile, at.row, place)}
    made = v.at_pointer("plds", operands, {"dist": "NORM"}, mask(8))
    return spaced(v, made[0], dtype)


def chosen(v: Vectors, dst: TileBytes, mask: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
    """Expand dst = src0 where the bit of the mask is 1, else src1."""

    def body(at: Chunk) -> None:
        bits = bits_at(v, mask, at, dst.dtype)
        at.store(v.vsel(at.load(src0), at.load(src1), bits), dst)

    v.each(dst, body)


def chosen_or_number(
    v: Vectors, dst: TileBytes, mask: TileBytes, src: TileBytes, scalar: Quantity
) -> None:
    """Expand dst = src where the bit of the mask is 1, else a number."""
    number = v.filled(scalar, dst.dtype)

    def body(at: Chunk) -> None:
        bits = bits_at(v, mask, at, dst.dtype)
        at.store(v.vsel(at.load(src), number, bits), dst)

    v.each(dst, body)


def joined(v: Vectors, masks: list[LaneValue]) -> LaneValue:
    """Return the bits of several masks one after another: what `spaced` undoes."""
    while len(masks) > 1:
        kind = mask(masks[0].kind.dtype.bits // 2)
        every = v.pattern(kind.dtype)
        halves = [
            v.ppack(m, to=kind, part="HIGHER" if n % 2 else "LOWER") for n, m in enumerate(masks)
        ]
        masks = [v.por(a, b, every) for a, b in zip(halves[::2], halves[1::2], strict=True)]
    return masks[0]


LINE = 256  # bits in a line of 32 bytes


def compared(
    v: Vectors,
    dst: TileBytes,
    src0: TileBytes,
    compare: Callable[[Chunk], LaneValue],
) -> None:
    """Store a bit for each element of `src0`; all other bits of dst's storage become 0."""
    if src0.dtype.bits > 32 or dst.dtype.bits != 8:
        raise Inexpressible

    def stored(bits: LaneValue, row: Quantity, col: Quantity) -> None:
        operands = {"src": bits.value, "dst": dst.pointer, "offset": v.offset(dst, row, col)}
        v.at_pointer("psts", operands, {"dist": "NORM"})

    none, count = v.pattern(u8, "PAT_ALLF"), dst.kind.rows * dst.kind.cols // 32
    v.make.repeat(count, lambda line: stored(none, 0, v.make.times(line, 32)))

    def of_row(row: Quantity) -> None:
        def of_line(line: Quantity) -> None:
            several = LINE // src0.lanes
            first = v.make.times(line, several)
            chunks = [v.chunk(row, v.sum(first, n), src0.cols, src0.dtype) for n in range(several)]
            stored(joined(v, [compare(at) for at in chunks]), row, v.make.times(line, 32))

        v.make.repeat(v.chunks(src0.cols, LINE), of_line)

    v.make.repeat(src0.rows, of_row)


def compared_pairs(
    v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes, cmp: CmpMode
) -> None:
    """Expand a bit for each element that compares with its partner as `cmp` says."""

    def compare(at: Chunk) -> LaneValue:
        x, y = at.load(src0), at.load(src1)
        return v.vcmp(x, y, at.mask, to=at.mask.kind, relation=cmp.text)

    compared(v, dst, src0, compare)


def compared_number(
    v: Vectors, dst: TileBytes, src0: TileBytes, scalar: Quantity, cmp: CmpMode
) -> None:
    """Expand a bit for each element that compares with a number as `cmp` says."""
    valid, kind = src0.kind.valid, src0.kind
    if valid.cols is None or (valid.cols >= kind.cols and (dst.kind.valid.cols or 0) >= kind.cols):
        raise Inexpressible  # a stream of bits, E57

    def compare(at: Chunk) -> LaneValue:
        return v.vcmps(at.load(src0), scalar, at.mask, to=at.mask.kind, relation=cmp.text)

    compared(v, dst, src0, compare)


def converted(
    v: Vectors,
    dst: TileBytes,
    src: TileBytes,
    rmode: RoundMode,
    sat_mode: SaturationMode | None,
) -> None:
    """Expand a conversion: as many elements at a time as the wider type has lanes."""
    wide = max(dst.dtype, src.dtype, key=lambda dtype: dtype.bits)
    ratio = src.dtype.bits / dst.dtype.bits
    saturates = conversion.saturates(src.dtype, dst.dtype, sat_mode)
    letters = {mode.name: letter for letter, mode in MODES.items()}
    attrs: dict[str, object] = {"sat": "SAT" if saturates else "NOSAT"}
    if rmode.name in letters:
        attrs["rnd"] = letters[rmode.name]
    load = {0.5: f"UNPK_B{src.dtype.bits}", 0.25: "UNPK4"}.get(ratio, "NORM")
    store = {2.0: f"PK_B{src.dtype.bits}", 4.0: "PK4_B32"}.get(ratio)
    whole = dst.dtype == src.dtype
    if (whole and "rnd" not in attrs) or ratio not in (0.25, 0.5, 1, 2, 4) or wide.bits > 32:
        raise Inexpressible
    if ratio != 1:
        attrs["part"] = "EVEN" if ratio in (0.5, 2) else "P0"
    every = v.pattern(src.dtype)

    def body(at: Chunk) -> None:
        x = at.load(src, load)
        kind = register(dst.dtype)
        rounded = {"rnd": attrs.get("rnd")}
        y = v.vtrc(x, every, **rounded) if whole else v.vcvt(x, every, to=kind, **attrs)
        at.store(y, dst, store)

    v.each(dst, body, wide)


def partly(step: str, fill: type[partial.Partial]) -> Expansion:
    """Return the expansion of an operation where both sources are valid: copies elsewhere."""
    f = named(step)

    def expansion(v: Vectors, dst: TileBytes, src0: TileBytes, src1: TileBytes) -> None:
        none = v.bits(pad_bits(fill.loses, dst.dtype, finite=True), dst.dtype)
        v.each(dst, lambda at: at.store(none, dst))
        old = src0
        extents = [
            (a, b) if a is not None and b is not None else (0, 0)
            for a, b in zip(src0.kind.valid, src1.kind.valid, strict=True)
        ]
        rows, cols = (min(pair) for pair in extents)
        both = TileBytes(dst.pointer, dst.kind, rows, cols)
        v.each(old, lambda at: at.store(at.load(src0), dst))
        v.each(src1, lambda at: at.store(at.load(src1), dst))
        v.each(both, lambda at: at.store(f(v, at.load(src0), at.load(src1), at.mask), dst))

    return expansion


BROADCASTS: dict[type[Instr], Expansion] = {
    broadcast.TRowExpand: rows_filled,
    broadcast.TRowExpandAdd: with_rows("vadd"),
    broadcast.TRowExpandSub: with_rows("vsub"),
    broadcast.TRowExpandMul: with_rows("vmul"),
    broadcast.TRowExpandDiv: with_rows("vdiv"),
    broadcast.TRowExpandMax: with_rows("vmax"),
    broadcast.TRowExpandMin: with_rows("vmin"),
    broadcast.TRowExpandExpDif: with_rows(difference_power),
    broadcast.TColExpand: columns_filled,
    broadcast.TColExpandAdd: with_columns("vadd"),
    broadcast.TColExpandSub: with_columns("vsub"),
    broadcast.TColExpandMul: with_columns("vmul"),
    broadcast.TColExpandDiv: with_columns("vdiv"),
    broadcast.TColExpandMax: with_columns("vmax"),
    broadcast.TColExpandMin: with_columns("vmin"),
    broadcast.TColExpandExpDif: with_columns(difference_power),
    selection.TCmp: compared_pairs,
    selection.TCmpS: compared_number,
    selection.TSel: chosen,
    selection.TSelS: chosen_or_number,
    conversion.TCvt: converted,
    partial.TPartAdd: partly("vadd", partial.TPartAdd),
    partial.TPartMul: partly("vmul", partial.TPartMul),
    partial.TPartMax: partly("vmax", partial.TPartMax),
    partial.TPartMin: partly("vmin", partial.TPartMin),
}
