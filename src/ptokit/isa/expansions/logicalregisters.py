"""The registers of logical vectors and masks, and what a lowering does with them.

A logical vector is as many registers as hold its lanes, in their order; of the last one some lanes
may be of no use. A mask is the same for each width of elements that it is used with, and selects
no lane of no use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ptokit.isa.expansions.expansionlanguage import (
    Inexpressible,
    LaneValue,
    Vectors,
    lanes_of,
    width,
)
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import LogicalType, register
from ptokit.isa.model.tiles import mask as mask_type
from ptokit.values.dtypes import DType, i8, i16, i32, u8, u16, u32


class VectorParts(NamedTuple):
    """The registers of a logical vector."""

    kind: LogicalType
    parts: Sequence[LaneValue]


class MaskParts(NamedTuple):
    """The masks of a logical mask, by the bits of the elements that they are for."""

    kind: LogicalType
    parts: Mapping[int, Sequence[LaneValue]]


Lowered: TypeAlias = "VectorParts | MaskParts"


@dataclass(frozen=True)
class LogicalOp:
    """An instruction on logical vectors, with the registers of its operands.

    `widths` are the bits of the elements that a mask which it gives is used with.
    """

    page: type[Instr]
    given: Mapping[str, Lowered | Quantity]
    attrs: Mapping[str, object]
    results: Sequence[LogicalType]
    widths: Sequence[Sequence[int]]

    def vector(self, name: str) -> VectorParts:
        found = self.given[name]
        if not isinstance(found, VectorParts):
            raise Inexpressible("a statement that is kept as text gives its vector")
        return found

    def number(self, name: str) -> Quantity:
        found = self.given[name]
        assert not isinstance(found, VectorParts | MaskParts)
        return found

    def masks(self, v: Vectors, kind: LogicalType) -> Sequence[LaneValue]:
        """Return the masks of the lanes that the instruction is for, of a vector of a type."""
        found = self.given.get("mask")
        if found is None:
            return whole(v, kind.lanes, lane_type(kind))
        assert isinstance(found, MaskParts)
        return found.parts[width(lane_type(kind))]


Lowering: TypeAlias = "Callable[[Vectors, LogicalOp], list[Lowered]]"


HALVES = ("LOWER", "HIGHER")
UNITS = {8: u8, 16: u16, 32: u32}  # elements by their bits
UNITS_SIGNED = {8: i8, 16: i16, 32: i32}
SIGNED = {UNITS[bits]: dtype for bits, dtype in UNITS_SIGNED.items()}  # as numbers of text are


def lane_type(kind: LogicalType) -> DType:
    """Return the type of lanes, of pairs as integers."""
    return UNITS[2 * kind.dtype.bits] if kind.in_pairs else kind.dtype


def as_lanes(v: Vectors, x: LaneValue, kind: LogicalType) -> LaneValue:
    """Return a register of pairs as one of integers; of single elements as it is."""
    return v.vbitcast(x, to=register(lane_type(kind))) if kind.in_pairs else x


def count_of(cols: int, dtype: DType) -> int:
    """Return how many registers hold so many lanes; Inexpressible for lanes of 4 and 64 bits."""
    if not 8 <= dtype.bits <= 32:
        raise Inexpressible(f"no register has lanes of {dtype}")
    return -(-cols // lanes_of(dtype))


def whole(v: Vectors, cols: int, dtype: DType) -> list[LaneValue]:
    """Return the masks of all lanes."""
    lanes = lanes_of(dtype)
    return [v.first(min(cols - n * lanes, lanes), dtype) for n in range(count_of(cols, dtype))]


def unit_of(bits: int) -> DType:
    """Return an element type of so many bits."""
    if bits not in UNITS:
        raise Inexpressible(f"no mask is for elements of {bits} bits")
    return UNITS[bits]


def read_as(v: Vectors, x: LaneValue, dtype: DType) -> LaneValue:
    """Return the bits of a register as lanes of another type, if it is another one."""
    if x.kind.dtype.bits != dtype.bits:
        raise Inexpressible(f"{dtype} is not as wide as {x.kind.dtype}")
    return x if x.kind.dtype is dtype else v.vbitcast(x, to=register(dtype))


def numbers(v: Vectors, dtype: DType) -> LaneValue:
    """Return the numbers of the lanes, as integers of the width of a type."""
    unit = UNITS_SIGNED[dtype.bits]
    return v.vci(v.number(0, unit), to=register(unit))


def moved(v: Vectors, lanes: LaneValue, by: int) -> LaneValue:
    """Return the numbers of lanes further on, of which the low bits count."""
    dtype = lanes.kind.dtype
    by = (by + lanes_of(dtype) // 2) % lanes_of(dtype) - lanes_of(dtype) // 2
    return v.vadds(lanes, v.number(by, dtype), v.pattern(dtype)) if by else lanes


def between(v: Vectors, first: int, end: int, dtype: DType) -> LaneValue:
    """Return the mask of the lanes from one up to another."""
    found = v.first(end, dtype)
    return v.pxor(found, v.first(first, dtype), v.pattern(dtype)) if first else found


def placed(v: Vectors, into: LaneValue | None, x: LaneValue, first: int, count: int) -> LaneValue:
    """Return a register in which the first lanes of another one stand from a lane on."""
    if first:
        x = v.vselr(x, moved(v, numbers(v, x.kind.dtype), -first))
    if into is None:
        return x
    return v.vsel(x, into, between(v, first, first + count, x.kind.dtype))


def window(v: Vectors, parts: Sequence[LaneValue], first: int) -> LaneValue:
    """Return a register with the lanes of a vector from one on; those behind it are of no use."""
    dtype = parts[0].kind.dtype
    number, start = divmod(first, lanes_of(dtype))
    if not start:
        return parts[number]
    index = moved(v, numbers(v, dtype), start)
    found = v.vselr(parts[number], index)
    if number + 1 == len(parts):
        return found
    return v.vsel(found, v.vselr(parts[number + 1], index), v.first(lanes_of(dtype) - start, dtype))


def put(v: Vectors, made: list[LaneValue | None], x: LaneValue, first: int, count: int) -> None:
    """Let the first lanes of a register stand in a vector from a lane on."""
    lanes = lanes_of(x.kind.dtype)
    number, start = divmod(first, lanes)
    here = min(count, lanes - start)
    made[number] = placed(v, made[number], x, start, here)
    if count > here:
        made[number + 1] = placed(v, made[number + 1], window(v, [x], here), 0, count - here)


def filled(made: Sequence[LaneValue | None]) -> list[LaneValue]:
    """Return registers that all have lanes."""
    found = [x for x in made if x is not None]
    assert len(found) == len(made)
    return found


def mask_window(
    v: Vectors, masks: Sequence[LaneValue], first: int, count: int, dtype: DType
) -> LaneValue:
    """Return the mask of so many lanes of a vector from one on."""
    number, start = divmod(first, lanes_of(dtype))
    part = v.first(count, dtype)
    if not start:
        found = masks[number]
        return found if count == lanes_of(dtype) else v.pand(found, part, v.pattern(dtype))
    unit = UNITS_SIGNED[dtype.bits]
    ones = [v.vsel(v.constant(1, unit), v.constant(0, unit), m) for m in masks]
    return v.vcmps(window(v, ones, first), v.number(0, unit), part, to=part.kind, relation="ne")


def of_lanes(v: Vectors, selected: Sequence[bool], dtype: DType) -> list[LaneValue]:
    """Return the masks of these lanes."""
    lanes, found = lanes_of(dtype), list[LaneValue]()
    for low in range(0, len(selected), lanes):
        some = [False, *selected[low : low + lanes], False]
        ends = [n for n in range(1, len(some)) if some[n] != some[n - 1]]
        mask = v.pattern(dtype, "PAT_ALLF")
        for first, end in zip(ends[::2], ends[1::2], strict=True):
            mask = v.por(mask, between(v, first - 1, end - 1, dtype), v.pattern(dtype))
        found.append(mask)
    return found


def result_of(v: Vectors, op: LogicalOp, number: int, parts: Sequence[LaneValue]) -> Lowered:
    """Return a result that these registers hold, a mask for each width that it is used with."""
    kind = op.results[number]
    if kind.word != "mask":
        return VectorParts(kind, parts)
    bits = parts[0].kind.dtype.bits
    return MaskParts(kind, {w: of_width(v, kind, parts, bits, w) for w in op.widths[number]})


def of_width(
    v: Vectors, kind: LogicalType, parts: Sequence[LaneValue], bits: int, wanted: int
) -> Sequence[LaneValue]:
    """Return the masks for elements of another width: of half or twice the width, and so on."""
    if bits == wanted:
        return parts
    step = bits * 2 if bits < wanted else bits // 2
    one = mask_type(step)
    if bits < wanted:
        every = [v.punpack(x, to=one, part=p) for x in parts for p in HALVES]
        every = every[: -(-kind.cols * step // 2048)]
    else:
        halves = [v.ppack(x, to=one, part=HALVES[n % 2]) for n, x in enumerate(parts)]
        full = v.pattern(UNITS[step])
        pairs = (halves[n : n + 2] for n in range(0, len(halves), 2))
        every = [v.por(*pair, full) if len(pair) == 2 else pair[0] for pair in pairs]
    return of_width(v, kind, every, step, wanted)
