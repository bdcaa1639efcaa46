"""Lowerings that give lanes from lanes at the same places: arithmetic, masks, conversions."""

from __future__ import annotations

from collections.abc import Sequence

from ptokit.isa.expansions.expansionlanguage import (
    I32,
    Inexpressible,
    LaneValue,
    Vectors,
    lanes_of,
    width,
)
from ptokit.isa.expansions.logicalregisters import (
    SIGNED,
    UNITS,
    UNITS_SIGNED,
    LogicalOp,
    Lowered,
    MaskParts,
    VectorParts,
    between,
    count_of,
    moved,
    numbers,
    read_as,
    result_of,
    unit_of,
    whole,
)
from ptokit.isa.index import lookup
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import mask as mask_type
from ptokit.isa.model.tiles import register
from ptokit.isa.model.types import INDEX, ScalarType
from ptokit.values.dtypes import DType, u32


def in_registers(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the results of the instruction of the same name on each register."""
    name = op.page.name.removeprefix("vmi.")
    vectors = [g for g in op.given.values() if isinstance(g, VectorParts)]
    kind = vectors[0].kind if vectors else op.results[0]
    if any(g.kind.dtype.bits != kind.dtype.bits for g in vectors):
        raise Inexpressible
    if len(op.results) == 2 and kind.signless:
        raise Inexpressible  # the product of two registers takes their elements for unsigned
    masks, made = op.masks(v, kind), list[list[LaneValue]]()
    for n in range(count_of(kind.cols, kind.dtype)):
        args = [_part(g, n, kind.dtype) for key, g in op.given.items() if key != "mask"]
        result = mask_type(kind.dtype.bits) if op.results[0].word == "mask" else None
        made.append(v.add(name, *args, masks[n], to=result, **op.attrs))
    every = enumerate(zip(*made, strict=True))
    return [result_of(v, op, number, parts) for number, parts in every]


def _part(given: Lowered | Quantity, number: int, dtype: DType) -> object:
    match given:
        case VectorParts():
            return given.parts[number]
        case MaskParts():
            return given.parts[width(dtype)][number]
        case _:
            return given


MASK_NAMES = {"vmi.vand": "pand", "vmi.vor": "por", "vmi.vxor": "pxor", "vmi.vnot": "pnot"}


def bitwise(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the bits of vectors, or the lanes of masks."""
    kind = op.results[0]
    if kind.word != "mask":
        return in_registers(v, op)
    sources = [g for g in op.given.values() if isinstance(g, MaskParts)]
    made = dict[int, list[LaneValue]]()
    for bits in op.widths[0]:
        every = whole(v, kind.cols, unit_of(bits))
        parts = zip(*(source.parts[bits] for source in sources), every, strict=True)
        made[bits] = [v.add(MASK_NAMES[op.page.name], *some)[0] for some in parts]
    return [MaskParts(kind, made)]


def first_lanes(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the masks of the first lanes, as many as a number says."""
    (kind,), make = op.results, v.make
    count = op.number("active_lanes")
    number = getattr(count, "type", INDEX)
    if number != INDEX:
        (cast,) = lookup("arith.index_cast")
        (count,) = make.op(cast, {cast.ins()[0].name: count}, {}, [INDEX])
    most = make.rest(make.less(kind.cols, count), 0)  # how many lanes are not selected
    left, made = make.less(kind.cols, most), dict[int, list[LaneValue]]()
    for bits in op.widths[0]:
        (page,) = lookup(f"plt_b{unit_of(bits).bits}")
        rest: Quantity = v.integer(left, u32)
        made[bits] = []
        for _ in range(-(-kind.cols // (2048 // bits))):
            rest, found = make.op(page, {"count": rest}, {}, [I32, mask_type(bits)])
            made[bits].append(LaneValue(found, mask_type(bits)))
    return [MaskParts(kind, made)]


def first_of_groups(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the masks of the first lanes of each group, as many as a number says."""
    (kind,), size = op.results, op.attrs["group_size"]
    count = v.make.known(op.number("active_lanes"))
    assert isinstance(size, int)
    if count is None:
        raise Inexpressible
    made, count = dict[int, list[LaneValue]](), max(0, min(count, size))
    for bits in op.widths[0]:
        dtype, lanes = unit_of(bits), 2048 // bits
        starts = range(0, kind.cols, size)
        made[bits] = []
        for low in range(0, kind.cols, lanes):
            ranges = ((max(s - low, 0), min(s + count - low, lanes)) for s in starts)
            parts = [between(v, a, b, dtype) for a, b in ranges if a < b]
            every, found = v.pattern(dtype), v.pattern(dtype, "PAT_ALLF")
            for part in parts:
                found = v.por(found, part, every)
            made[bits].append(found)
    return [MaskParts(kind, made)]


def whole_masks(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the masks of all lanes."""
    (kind,) = op.results
    if op.attrs.get("pattern") != "PAT_ALL":
        raise Inexpressible
    return [MaskParts(kind, {b: whole(v, kind.cols, unit_of(b)) for b in op.widths[0]})]


def repeated(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return registers whose lanes all have a number."""
    (kind,) = op.results
    if kind.word == "mask":
        raise Inexpressible
    count = count_of(kind.cols, kind.dtype)
    one = read_as(v, v.filled(op.number("scalar"), SIGNED.get(kind.dtype, kind.dtype)), kind.dtype)
    return [VectorParts(kind, [one] * count)]


def repeated_lane(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return registers in which each lane of a vector fills the lanes of a group."""
    (kind,), source = op.results, op.vector("src")
    lanes, each = lanes_of(kind.dtype), kind.cols // source.kind.cols
    made = list[LaneValue]()
    for n in range(count_of(kind.cols, kind.dtype)):
        first = n * lanes // each
        x, first = source.parts[first // lanes], first % lanes
        if each % lanes == 0:
            index = v.constant(first, UNITS_SIGNED[kind.dtype.bits])
        elif lanes % each == 0:
            shift = v.make.constant(each.bit_length() - 1, ScalarType("i16"))
            lane = read_as(v, numbers(v, kind.dtype), UNITS[kind.dtype.bits])
            groups = v.vshrs(lane, shift, v.pattern(kind.dtype))
            index = moved(v, read_as(v, groups, UNITS_SIGNED[kind.dtype.bits]), first)
        else:
            raise Inexpressible
        made.append(v.vselr(x, index))
    return [VectorParts(kind, made)]


def lane_numbers(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the numbers of the lanes of each group, added to a number or taken from it."""
    (kind,), group = op.results, op.attrs.get("group") or 1
    dtype = SIGNED.get(kind.dtype, kind.dtype)
    lanes, every = lanes_of(dtype), v.pattern(dtype)
    assert isinstance(group, int)
    each, made = kind.cols // group, list[LaneValue]()
    own = v.vci(v.number(0, dtype), to=register(dtype))
    for low in range(0, count_of(kind.cols, dtype) * lanes, lanes):
        found = own
        for first in range(low // each * each, min(low + lanes, kind.cols), each):
            x = v.vadds(own, v.number(low - first, dtype), every) if low != first else own
            start = max(first - low, 0)
            mask = between(v, start, min(first + each - low, lanes), dtype) if start else None
            found = x if mask is None else v.vsel(x, found, mask)
        found = v.vneg(found, every) if op.attrs.get("direction") == "DESC" else found
        made.append(read_as(v, v.vadds(found, op.number("base"), every), kind.dtype))
    return [VectorParts(kind, made)]


def reread(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the same bits as lanes of another type."""
    (kind,), source = op.results, op.vector("src")
    return [VectorParts(kind, [v.vbitcast(x, to=register(kind.dtype)) for x in source.parts])]


PARTS = {1: (None,), 2: ("EVEN", "ODD"), 4: ("P0", "P1", "P2", "P3")}


def converted(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the lanes in another type, of another width by way of every second or fourth lane."""
    (kind,), source = op.results, op.vector("src")
    if kind.in_pairs or source.kind.in_pairs:
        raise Inexpressible
    count, every = count_of(kind.cols, kind.dtype), v.pattern(source.kind.dtype)
    wide, narrow = kind.dtype.bits, source.kind.dtype.bits
    made = list[LaneValue]()
    if wide >= narrow:
        for x in source.parts:
            made += together(v, [part_of(v, op, x, every, part) for part in PARTS[wide // narrow]])
        return [VectorParts(kind, made[:count])]
    parts, step = PARTS[narrow // wide], narrow // wide
    for n in range(count):
        some = [*source.parts[n * step : (n + 1) * step]]
        lanes = apart_in(v, [*some, *[some[-1]] * (step - len(some))])
        some = [part_of(v, op, x, every, p) for x, p in zip(lanes, parts, strict=True)]
        made.append(joined(v, some))
    return [VectorParts(kind, made)]


def together(v: Vectors, parts: Sequence[LaneValue]) -> list[LaneValue]:
    """Return the registers of which these have every second or fourth lane."""
    if len(parts) == 1:
        return [*parts]
    pairs = zip(together(v, parts[::2]), together(v, parts[1::2]), strict=True)
    return [one for even, odd in pairs for one in v.add("vintlv", even, odd)]


def apart_in(v: Vectors, parts: Sequence[LaneValue]) -> list[LaneValue]:
    """Return every second or fourth lane of these registers, from the first one on and so on."""
    if len(parts) == 1:
        return [*parts]
    pairs = [v.add("vdintlv", *parts[n : n + 2]) for n in range(0, len(parts), 2)]
    ends = zip(*(apart_in(v, [pair[k] for pair in pairs]) for k in (0, 1)), strict=True)
    return [one for end in ends for one in end]


def joined(v: Vectors, parts: Sequence[LaneValue]) -> LaneValue:
    """Return the register with the lanes of all these, which are 0 elsewhere."""
    kind, unit = parts[0].kind, UNITS[parts[0].kind.dtype.bits]
    if len(parts) == 1:
        return parts[0]
    found = v.vbitcast(parts[0], to=register(unit))
    for other in parts[1:]:
        found = v.vor(found, v.vbitcast(other, to=register(unit)), v.pattern(unit))
    return v.vbitcast(found, to=kind)


def part_of(
    v: Vectors, op: LogicalOp, x: LaneValue, mask: LaneValue, part: str | None = None
) -> LaneValue:
    """Return the lanes of a register in the type of the result, or every second one."""
    attrs = {"rnd": op.attrs.get("rounding") or "R", "sat": op.attrs.get("saturate"), "part": part}
    return v.add("vcvt", x, mask, to=register(op.results[0].dtype), **attrs)[0]


def exponential(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the exponentials of differences of f32."""
    source, maximum = op.vector("src"), op.vector("maximum")
    if source.kind.dtype.bits != op.results[0].dtype.bits:
        raise Inexpressible
    every = zip(source.parts, maximum.parts, op.masks(v, source.kind), strict=True)
    return [VectorParts(op.results[0], [v.vexpdif(*some, part="EVEN") for some in every])]
