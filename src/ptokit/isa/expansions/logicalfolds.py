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
    moved,
    numbers,
    placed,
)


def total(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the sum of each group of lanes: of neighbours, then of neighbours of the sums."""
    dtype = op.results[0].dtype
    zero, every = v.number(0, SIGNED.get(dtype, dtype)), v.pattern(dtype)

    def of_all(sums: list[LaneValue]) -> LaneValue:
        while len(sums) > 1:
            pairs = (sums[n : n + 2] for n in range(0, len(sums), 2))
            sums = [v.vadd(*pair, every) if len(pair) == 2 else pair[0] for pair in pairs]
        return v.vadds(sums[0], zero, every)  # -0 becomes 0

    width = op.vector("src").kind.cols // op.results[0].cols
    if width & (width - 1) and op.results[0].cols > 1:
        raise Inexpressible  # neighbours are others
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
    (kind,), source, name = op.results, op.vector("src"), op.page.name.removeprefix("vmi.")
    dtype, masks = kind.dtype, op.masks(v, source.kind)
    lanes, each = lanes_of(dtype), source.kind.cols // kind.cols
    if dtype.bits < 32 and dtype.is_int and name == "vcadd":
        raise Inexpressible  # sums of a register are wider
    if kind.cols > 1 and ((each % lanes and lanes % each) or kind.cols > lanes):
        raise Inexpressible
    found: LaneValue | None = None
    for group in range(kind.cols):
        first = group * each
        if each >= lanes or kind.cols == 1:
            places = range(first // lanes, -(-(first + each) // lanes))
            ends = [v.add(name, source.parts[n], masks[n])[0] for n in places]
        else:
            n, start = divmod(first, lanes)
            block = between(v, start, start + each, dtype)
            ends = [v.add(name, source.parts[n], v.pand(masks[n], block, v.pattern(dtype)))[0]]
        found = placed(v, found, of_all(ends), group, 1)
    assert found is not None
    return [VectorParts(kind, [found])]


def in_turns(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the lanes of two vectors in turns: of their lower halves, and of their upper ones."""
    low, high = both_of(op)
    made = [one for x, y in zip(low, high, strict=True) for one in v.add("vintlv", x, y)]
    if len(low) == 1:
        index = moved(v, numbers(v, low[0].kind.dtype), op.results[0].cols // 2)
        made[1] = v.add("vintlv", v.vselr(low[0], index), v.vselr(high[0], index))[0]
    return halves_of(v, op, made)


def apart(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the even lanes of two vectors, and their odd lanes."""
    low, high = both_of(op)
    if len(low) == 1:
        half = op.results[0].cols // 2
        firsts, seconds = (v.add("vdintlv", x, x) for x in (low[0], high[0]))
        pairs = zip(firsts, seconds, strict=True)
        return halves_of(v, op, [placed(v, x, y, half, half) for x, y in pairs])
    every = [*low, *high]
    made = [v.add("vdintlv", *every[n : n + 2]) for n in range(0, len(every), 2)]
    return halves_of(v, op, [pair[number] for number in (0, 1) for pair in made])


def both_of(op: LogicalOp) -> tuple[Sequence[LaneValue], Sequence[LaneValue]]:
    """Return the registers of two vectors, which must be full if there are several."""
    low, high = op.vector("lhs"), op.vector("rhs")
    count = count_of(low.kind.cols, low.kind.dtype)
    if count > 1 and (low.kind.cols != count * lanes_of(low.kind.dtype) or count % 2):
        raise Inexpressible
    return low.parts, high.parts


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
    """Return the lanes of a register that indices name."""
    source, index = op.vector("src"), op.vector("index")
    if source.kind.cols != lanes_of(source.kind.dtype):
        raise Inexpressible  # of an index more bits count
    return [VectorParts(op.results[0], [v.vselr(source.parts[0], index.parts[0])])]
