"""Lowerings that give lanes from lanes at the same places: arithmetic, masks, conversions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

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
    as_lanes,
    between,
    count_of,
    lane_type,
    moved,
    numbers,
    of_lanes,
    read_as,
    result_of,
    unit_of,
    whole,
)
from ptokit.isa.index import lookup
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import LogicalType, register
from ptokit.isa.model.tiles import mask as mask_type
from ptokit.isa.model.types import INDEX, ScalarType
from ptokit.values.dtypes import DType, bf16, u16, u32


def in_registers(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the results of the instruction of the same name on each register."""
    name = op.page.name.removeprefix("vmi.")
    vectors = [g for g in op.given.values() if isinstance(g, VectorParts)]
    kind = vectors[0].kind if vectors else op.results[0]
    if any(g.kind.dtype.bits != kind.dtype.bits for g in vectors):
        raise Inexpressible("its vectors have lanes of several widths")
    masks, made = op.masks(v, kind), list[list[LaneValue]]()
    for n in range(count_of(kind.cols, kind.dtype)):
        args = [_part(g, n, kind.dtype) for key, g in op.given.items() if key != "mask"]
        made.append(_in_register(v, op, name, args, masks[n]))
    every = enumerate(zip(*made, strict=True))
    return [result_of(v, op, number, parts) for number, parts in every]


def _in_register(
    v: Vectors, op: LogicalOp, name: str, args: Sequence[Any], mask: LaneValue
) -> list[LaneValue]:  # Any: registers and numbers
    """Return the results of the instruction of a name on one register."""
    dtype = next((a.kind.dtype for a in args if isinstance(a, LaneValue)), op.results[0].dtype)
    kinds = [mask_type(dtype.bits) if k.word == "mask" else None for k in op.results]
    if len(kinds) == 2 and kinds[1] is not None:
        return v.add(name, *args, mask, to=[register(dtype), kinds[1]], **op.attrs)
    if len(kinds) == 2 and op.results[0].signless:  # the product has a sign
        signed = [read_as(v, a, SIGNED[dtype]) for a in args]
        made = v.add(name, *signed, mask, to=register(SIGNED[dtype]), **op.attrs)
        return [read_as(v, x, dtype) for x in made]
    if name == "vabs" and dtype is bf16:
        bits = v.vand(read_as(v, args[0], u16), v.constant(0x7FFF, u16), mask)
        return [read_as(v, bits, dtype)]
    attrs, relation = dict(op.attrs), op.attrs.get("relation")
    if relation == "one":  # neither equal nor NaN
        for x in (x for x in args if isinstance(x, LaneValue)):
            mask = v.vcmp(x, x, mask, to=kinds[0], relation="eq")
    if isinstance(relation, str) and relation[0] == "o":  # of NaN only `ne` holds
        attrs["relation"] = relation[1:]
    return v.add(name, *args, mask, to=kinds[0], **attrs)


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
    count = as_index(v, op.number("active_lanes"))
    most = make.left_after(make.less(kind.cols, count), 0)  # how many lanes are not selected
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
    (kind,), size, make = op.results, op.attrs["group_size"], v.make
    assert isinstance(size, int)
    count = as_index(v, op.number("active_lanes"))
    count = make.left_after(make.less(size, make.left_after(make.less(size, count), 0)), 0)
    made = dict[int, list[LaneValue]]()
    for bits in op.widths[0]:
        dtype, lanes = unit_of(bits), 2048 // bits
        made[bits] = []
        for low in range(0, kind.cols, lanes):
            found = v.pattern(dtype, "PAT_ALLF")
            for begin in range(low // size * size, min(low + lanes, kind.cols), size):
                first, end = max(begin, low), min(begin + size, low + lanes)
                here = make.left_after(count, first - begin)  # of those of the group
                here = make.less(end - first, make.left_after(make.less(end - first, here), 0))
                last = v.first(make.sum(here, first - low), dtype)
                part = v.pxor(last, v.first(first - low, dtype), v.pattern(dtype))
                found = v.por(found, part if first > low else last, v.pattern(dtype))
            made[bits].append(found)
    return [MaskParts(kind, made)]


def as_index(v: Vectors, number: Quantity) -> Quantity:
    """Return a number as an index."""
    if getattr(number, "type", INDEX) == INDEX:
        return number
    (cast,) = lookup("arith.index_cast")
    return v.make.op(cast, {cast.ins()[0].name: number}, {}, [INDEX])[0]


def patterns(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the masks of a pattern."""
    (kind,), pattern = op.results, str(op.attrs["pattern"])
    shares = {"PAT_ALL": 1, "PAT_H": 2, "PAT_Q": 4}
    every = {"PAT_M3": 3, "PAT_M4": 4}.get(pattern)
    count = kind.cols // shares[pattern] if pattern in shares else 0
    if pattern.startswith("PAT_VL"):
        count = int(pattern.removeprefix("PAT_VL"))
    lanes = range(kind.cols)
    return _masks(v, op, [n % every == 0 if every else n < count for n in lanes])


def constant_masks(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the masks of bits of the program."""
    (kind,) = op.results
    bits = [word == "true" for word in re.findall("true|false", str(op.attrs["value"]))]
    return _masks(v, op, bits * kind.cols if len(bits) == 1 else bits)


def _masks(v: Vectors, op: LogicalOp, selected: Sequence[bool]) -> list[Lowered]:
    (kind,) = op.results
    if all(selected):
        return [MaskParts(kind, {b: whole(v, kind.cols, unit_of(b)) for b in op.widths[0]})]
    return [MaskParts(kind, {b: of_lanes(v, selected, unit_of(b)) for b in op.widths[0]})]


def repeated(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return registers whose lanes all have a number."""
    (kind,) = op.results
    if kind.word == "mask":
        raise Inexpressible("registers repeat numbers, not bits of masks")
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
            made.append(_lane_by_lane(v, kind, source, n))
            continue
        made.append(v.vselr(x, index))
    return [VectorParts(kind, made)]


def _lane_by_lane(v: Vectors, kind: LogicalType, source: VectorParts, number: int) -> LaneValue:
    """Return a register in which groups begin and end at any lane."""
    lanes, each, found = lanes_of(kind.dtype), kind.cols // source.kind.cols, None
    low, end = number * lanes, min((number + 1) * lanes, kind.cols)
    for group in range(low // each, -(-end // each)):
        place, lane = divmod(group, lanes)
        x = v.vselr(source.parts[place], v.constant(lane, UNITS_SIGNED[kind.dtype.bits]))
        first, last = max(group * each, low) - low, min((group + 1) * each, end) - low
        found = x if found is None else v.vsel(x, found, between(v, first, last, kind.dtype))
    assert found is not None
    return found


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
    if kind.dtype is source.kind.dtype:
        return [VectorParts(kind, source.parts)]
    return [VectorParts(kind, [v.vbitcast(x, to=register(kind.dtype)) for x in source.parts])]


PARTS = {1: (None,), 2: ("EVEN", "ODD"), 4: ("P0", "P1", "P2", "P3")}


def converted(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the lanes in another type, of another width by way of every second or fourth lane."""
    (kind,), source = op.results, op.vector("src")
    wide, narrow = lane_type(kind), lane_type(source.kind)
    count, made = count_of(kind.lanes, wide), list[LaneValue]()
    every = v.pattern(narrow if source.kind.dtype.packed else source.kind.dtype)

    def converted_part(x: LaneValue, part: str | None) -> LaneValue:
        x = v.vbitcast(x, to=register(source.kind.dtype)) if source.kind.in_pairs else x
        return as_lanes(v, part_of(v, op, x, every, part), kind)

    if wide.bits >= narrow.bits:
        for x in source.parts:
            parts = PARTS[wide.bits // narrow.bits]
            made += together(v, [converted_part(as_lanes(v, x, source.kind), p) for p in parts])
        made = made[:count]
    else:
        step = narrow.bits // wide.bits
        for n in range(count):
            some = [as_lanes(v, x, source.kind) for x in source.parts[n * step : (n + 1) * step]]
            lanes = apart_in(v, [*some, *[some[-1]] * (step - len(some))])
            pairs = zip(lanes, PARTS[step], strict=True)
            made.append(joined(v, [converted_part(x, p) for x, p in pairs]))
    if kind.in_pairs:
        made = [v.vbitcast(x, to=register(kind.dtype)) for x in made]
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
    """Return the exponentials of differences as f32."""
    (kind,), source = op.results, op.vector("src")
    made = list[LaneValue]()
    parts = PARTS[kind.dtype.bits // source.kind.dtype.bits]
    every = zip(source.parts, op.vector("maximum").parts, op.masks(v, source.kind), strict=True)
    for some in every:
        halves = [v.vexpdif(*some, to=register(kind.dtype), part=p or "EVEN") for p in parts]
        made += together(v, halves)
    return [VectorParts(kind, made[: count_of(kind.cols, kind.dtype)])]


def histogram(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return how many bytes there are of each value, or up to each."""
    source, made = op.vector("src"), list[LaneValue]()
    name = f"{op.page.name.removeprefix('vmi.v')}v2"
    for half, found in enumerate(op.vector("acc").parts):
        number = v.make.constant(half, INDEX)
        for x, mask in zip(source.parts, op.masks(v, source.kind), strict=True):
            found = v.add(name, found, x, mask, number)[0]
        made.append(found)
    return [VectorParts(op.results[0], made)]
