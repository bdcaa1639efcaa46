"""Lowerings that combine lanes or change their places: reductions, pairs, look-ups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptokit.isa.expansions.expansionlanguage import Inexpressible, LaneValue, Vectors, lanes_of
from ptokit.isa.expansions.logicalregisters import (
    SIGNED,
    LogicalOp,
    Lowered,
    VectorParts,
    between,
    count_of,
    filled,
    mask_window,
    put,
    read_as,
    window,
)
from ptokit.isa.model.tiles import register
from ptokit.values.dtypes import bf16, i8, i16, i32, u8, u16, u32


def total(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the sum of each group of lanes: of neighbours, then of neighbours of the sums."""
    dtype = op.results[0].dtype
    zero, every = v.number(0, SIGNED.get(dtype, dtype)), v.pattern(dtype)

    def of_all(sums: list[LaneValue]) -> LaneValue:
        while len(sums) > 1:
            pairs = (sums[n : n + 2] for n in range(0, len(sums), 2))
            sums = [v.vadd(*pair, every) if len(pair) == 2 else pair[0] for pair in pairs]
        return v.vadds(sums[0], zero, every)  # -0 becomes 0

    return of_groups(v, op, of_all)


def extreme(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the greatest or the least of each group of lanes."""
    name, every = op.page.name.removeprefix("vmi.vc"), v.pattern(op.results[0].dtype)

    def of_all(ends: list[LaneValue]) -> LaneValue:
        found = ends[0]
        for other in ends[1:]:
            found = v.add(f"v{name}", found, other, every)[0]
        return found

    return of_groups(v, op, of_all)


def of_groups(
    v: Vectors, op: LogicalOp, of_all: Callable[[list[LaneValue]], LaneValue]
) -> list[Lowered]:
    """Return a lane for each group; `of_all` combines those of the registers of a group."""
    (kind,), source = op.results, op.vector("src")
    dtype, masks = kind.dtype, op.masks(v, source.kind)
    lanes, each = lanes_of(dtype), source.kind.cols // kind.cols
    made: list[LaneValue | None] = [None] * count_of(kind.cols, dtype)
    for group in range(kind.cols):
        ends = list[LaneValue]()
        for first in range(group * each, (group + 1) * each, lanes):
            count = min(lanes, (group + 1) * each - first)
            number, start = divmod(first, lanes)
            if start and lanes % each:  # neighbours are those of the group
                x = window(v, source.parts, first)
                mask = mask_window(v, masks, first, count, dtype)
            else:
                x, mask = source.parts[number], masks[number]
                if count < lanes and source.kind.cols > count:
                    mask = v.pand(mask, between(v, start, start + count, dtype), v.pattern(dtype))
            ends.append(of_register(v, op.page.name.removeprefix("vmi."), x, mask))
        put(v, made, of_all(ends), group, 1)
    return [VectorParts(kind, filled(made))]


WIDER = {i8: i16, u8: u16, i16: i32, u16: u32}  # what sums of these are


def of_register(v: Vectors, name: str, x: LaneValue, mask: LaneValue) -> LaneValue:
    """Return the sum, or the greatest or least, of the lanes of a register in its first lane."""
    dtype = x.kind.dtype
    if name == "vcadd" and dtype in WIDER:
        total = v.vcadd(x, mask, to=register(WIDER[dtype]))
        return v.vbitcast(total, to=x.kind)
    if dtype is not bf16:
        return v.add(name, x, mask)[0]
    if name != "vcadd":
        raise Inexpressible("registers of bf16 have no greatest lane")
    x = v.vsel(x, v.bits(0, dtype), mask)
    for _ in range(lanes_of(dtype).bit_length() - 1):
        x = v.vadd(*v.add("vdintlv", x, x), v.pattern(dtype))
    return x


def in_turns(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the lanes of two vectors in turns: of their lower halves, and of their upper ones."""
    low, high = op.vector("lhs"), op.vector("rhs")
    pairs = zip(low.parts, high.parts, strict=True)
    every = [one for x, y in pairs for one in v.add("vintlv", x, y)]
    lanes, count = lanes_of(low.kind.dtype), len(low.parts)
    upper = [window(v, every, low.kind.cols + n * lanes) for n in range(count)]
    return halves_of(v, op, [*every[:count], *upper])


def apart(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the even lanes of two vectors, and their odd lanes."""
    low, high = op.vector("lhs"), op.vector("rhs")
    lanes, count, cols = lanes_of(low.kind.dtype), len(low.parts), low.kind.cols
    every: list[LaneValue | None] = [*low.parts, *[None] * count]
    for n, x in enumerate(high.parts):
        if cols % lanes or n * lanes < cols:
            put(v, every, x, cols + n * lanes, min(lanes, cols - n * lanes))
    some = [x for x in every if x is not None]
    some += some[-1:] * (2 * count - len(some))
    pairs = [v.add("vdintlv", *some[n : n + 2]) for n in range(0, 2 * count, 2)]
    return halves_of(v, op, [pair[number] for number in (0, 1) for pair in pairs])


def halves_of(v: Vectors, op: LogicalOp, parts: Sequence[LaneValue]) -> list[Lowered]:
    """Return both halves of registers, with the lanes that a mask selects."""
    middle, found = len(parts) // 2, list[Lowered]()
    for kind, some in zip(op.results, (parts[:middle], parts[middle:]), strict=True):
        if "mask" in op.given:
            pairs = zip(some, op.masks(v, kind), strict=True)
            none = v.bits(0, kind.dtype)
            some = [v.vsel(x, none, mask) for x, mask in pairs]
        found.append(VectorParts(kind, some))
    return found


def looked_up(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the lanes of a vector that indices name."""
    source, index = op.vector("src"), op.vector("index")
    lanes, cols, dtype = lanes_of(source.kind.dtype), source.kind.cols, index.kind.dtype
    made, every = list[LaneValue](), v.pattern(dtype)
    for at in index.parts:
        if cols != lanes:  # of an index more bits count, or fewer
            most = v.constant(cols - 1, SIGNED.get(dtype, dtype))
            at = v.vand(at, read_as(v, most, dtype), every)
        found = v.vselr(source.parts[0], at)
        for number, x in enumerate(source.parts[1:], 1):
            first = v.number(number * lanes, dtype)
            mask = v.vcmps(at, first, every, to=every.kind, relation="ge")
            found = v.vsel(v.vselr(x, at), found, mask)
        made.append(found)
    return [VectorParts(op.results[0], made)]
