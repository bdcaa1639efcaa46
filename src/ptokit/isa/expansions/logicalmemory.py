"""Lowerings of accesses to the vector buffer: rows, and elements by index."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.isa.expansions.expansionlanguage import Inexpressible, LaneValue, Vectors, lanes_of
from ptokit.isa.expansions.logicallanes import as_index
from ptokit.isa.expansions.logicalregisters import (
    LogicalOp,
    Lowered,
    VectorParts,
    as_lanes,
    count_of,
    filled,
    lane_type,
    mask_window,
    put,
    read_as,
    window,
)
from ptokit.isa.index import lookup
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import LogicalType, register
from ptokit.isa.model.types import PtrType
from ptokit.values.dtypes import DType


def element_of(pointer: Quantity) -> DType:
    """Return the element type of a pointer."""
    kind = getattr(pointer, "type", None)
    if not isinstance(kind, PtrType):
        raise Inexpressible("the elements of its pointer are not known")
    return kind.dtype


def units_of(v: Vectors, pointer: Quantity, kind: LogicalType) -> Quantity:
    """Return the pointer for the lanes of a vector: to integers for pairs."""
    of = getattr(pointer, "type", None)
    if not kind.in_pairs or not isinstance(of, PtrType):
        return pointer
    (page,) = (p for p in lookup("castptr") if not p.form)
    whole = PtrType(lane_type(kind), of.space)
    return v.make.op(page, {page.ins()[0].name: pointer}, {}, [whole])[0]


def load(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the registers of elements behind one another, or of one element."""
    (kind,), mode = op.results, str(op.attrs.get("dist_mode") or "continuous")
    lane, source = lane_type(kind), units_of(v, op.number("src"), kind)
    unit, made = element_of(source), list[LaneValue]()
    dists = {"continuous": "NORM", "brc": f"BRC_B{lane.bits}", "unpack": f"UNPK_B{unit.bits}"}
    for n in range(count_of(kind.lanes, lane)):
        step = 0 if mode == "brc" else n * lanes_of(lane)
        at = {"src": source, "offset": v.sum(op.number("offset"), step)}
        found = v.at_pointer("vlds", at, {"dist": dists[mode]}, register(unit))[0]
        wider = kind.in_pairs or unit.bits != lane.bits
        again = v.vbitcast(found, to=register(kind.dtype)) if wider else None
        made.append(again or read_as(v, found, kind.dtype))
    return [VectorParts(kind, made)]


def store(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Store the registers behind one another."""
    source = op.vector("src")
    to = units_of(v, op.number("dst"), source.kind)
    for n, mask in enumerate(op.masks(v, source.kind)):
        offset = v.sum(op.number("offset"), n * lanes_of(lane_type(source.kind)))
        x = read_as(v, as_lanes(v, source.parts[n], source.kind), element_of(to))
        v.at_pointer("vsts", {"dst": to, "src": x.value, "offset": offset, "mask": mask.value}, {})
    return []


def load_rows(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the registers of rows that stand apart."""
    (kind,), lanes = op.results, lanes_of(op.results[0].dtype)
    made: list[LaneValue | None] = [None] * count_of(kind.cols, kind.dtype)
    for offset, first, count in rows_of(v, op, kind):
        for low in range(0, count, lanes):
            at = {"src": op.number("src"), "offset": v.sum(offset, low)}
            found = v.at_pointer("vlds", at, {}, register(element_of(op.number("src"))))[0]
            put(v, made, read_as(v, found, kind.dtype), first + low, min(lanes, count - low))
    return [VectorParts(kind, filled(made))]


def store_rows(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Store the registers of a vector to rows that stand apart."""
    source, unit = op.vector("src"), element_of(op.number("dst"))
    dtype, lanes = source.kind.dtype, lanes_of(source.kind.dtype)
    masks = op.masks(v, source.kind) if "mask" in op.given else ()
    for offset, first, count in rows_of(v, op, source.kind):
        for low in range(0, count, lanes):
            some = min(lanes, count - low)
            x, attrs = window(v, source.parts, first + low), dict[str, object]()
            mask = (
                mask_window(v, masks, first + low, some, dtype) if masks else v.first(some, dtype)
            )
            if unit.bits < dtype.bits:  # of single elements the low bits
                x, mask = v.vbitcast(x, to=register(unit)), v.pattern(unit, "PAT_VL1")
                attrs["dist"] = f"1PT_B{unit.bits}"
            else:
                x = read_as(v, x, unit)
            at = {"dst": op.number("dst"), "src": x.value, "offset": v.sum(offset, low)}
            v.at_pointer("vsts", {**at, "mask": mask.value}, attrs)
    return []


def rows_of(v: Vectors, op: LogicalOp, kind: LogicalType) -> Iterator[tuple[Quantity, int, int]]:
    """Yield the rows of a vector: their offset in memory, their first lane, and their lanes.

    Without groups rows are blocks, and the stride counts them.
    """
    group, stride = op.attrs.get("group"), as_index(v, op.number("stride"))
    if kind.in_pairs:
        raise Inexpressible("rows of pairs are not documented")
    if isinstance(group, int):
        each = kind.cols // group
    else:
        each = BLOCK // kind.dtype.bits
        stride = v.make.times(stride, each)
    for first in range(0, kind.cols, each):
        step = v.make.times(stride, first // each) if first else 0
        yield v.sum(op.number("offset"), step), first, each


BLOCK = 256  # bits
GATHER = "vgather2"
INDICES = "the indices of registers are as wide as their lanes"


def gathered(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the elements of memory that indices name."""
    (kind,), index = op.results, op.vector("index")
    unit, made = element_of(op.number("src")), list[LaneValue]()
    if kind.dtype.bits != index.kind.dtype.bits:
        raise Inexpressible(INDICES)
    for at, mask in zip(index.parts, op.masks(v, kind), strict=True):
        operands = {"src": op.number("src"), "index": at.value, "mask": mask.value}
        made += [
            read_as(v, x, kind.dtype) for x in v.at_pointer(GATHER, operands, {}, register(unit))
        ]
    return [VectorParts(kind, made)]


def gathered_blocks(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the blocks of memory that indices name."""
    (kind,), index = op.results, op.vector("index")
    if kind.dtype.bits != 32:
        raise Inexpressible("no source says which bits of narrower masks select blocks")
    unit, masks, made = element_of(op.number("src")), op.masks(v, kind), list[LaneValue]()
    for n in range(count_of(kind.cols, kind.dtype)):
        at, mask = window(v, index.parts, 8 * n), mask_window(v, masks, 8 * n, 8, kind.dtype)
        operands = {"src": op.number("src"), "index": at.value, "mask": mask.value}
        found = v.at_pointer("vgatherb", operands, {}, register(unit))
        made += [read_as(v, x, kind.dtype) for x in found]
    return [VectorParts(kind, made)]


def scattered(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Store each lane as the element that its index names."""
    source, index, unit = op.vector("src"), op.vector("index"), element_of(op.number("dst"))
    if source.kind.dtype.bits != index.kind.dtype.bits:
        raise Inexpressible(INDICES)
    masks = op.masks(v, source.kind)
    for x, at, mask in zip(source.parts, index.parts, masks, strict=True):
        operands = {"dst": op.number("dst"), "src": read_as(v, x, unit).value, "index": at.value}
        v.at_pointer("vscatter", {**operands, "mask": mask.value}, {})
    return []
