"""Lowerings of accesses to the vector buffer: rows, and elements by index."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.isa.expansions.expansionlanguage import Inexpressible, LaneValue, Vectors, lanes_of
from ptokit.isa.expansions.logicalregisters import (
    LogicalOp,
    Lowered,
    VectorParts,
    count_of,
    moved,
    numbers,
    placed,
    read_as,
)
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.tiles import LogicalType, register
from ptokit.isa.model.types import INDEX, PtrType
from ptokit.values.dtypes import DType


def element_of(pointer: Quantity) -> DType:
    """Return the element type of a pointer."""
    kind = getattr(pointer, "type", None)
    if not isinstance(kind, PtrType):
        raise Inexpressible
    return kind.dtype


def load(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the registers of elements behind one another, or of one element."""
    (kind,), mode = op.results, op.attrs.get("dist_mode") or "continuous"
    dtype, made = kind.dtype, list[LaneValue]()
    dist = {"continuous": "NORM", "brc": f"BRC_B{dtype.bits}"}.get(str(mode))
    if dist is None or kind.in_pairs:
        raise Inexpressible
    for n in range(count_of(kind.cols, dtype)):
        step = 0 if mode == "brc" else n * lanes_of(dtype)
        at = {"src": op.number("src"), "offset": v.sum(op.number("offset"), step)}
        found = v.at_pointer("vlds", at, {"dist": dist}, register(element_of(op.number("src"))))
        made.append(read_as(v, found[0], dtype))
    return [VectorParts(kind, made)]


def store(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Store the registers behind one another."""
    source = op.vector("src")
    dtype = source.kind.dtype
    if source.kind.in_pairs:
        raise Inexpressible
    for n, mask in enumerate(op.masks(v, source.kind)):
        offset = v.sum(op.number("offset"), n * lanes_of(dtype))
        x = read_as(v, source.parts[n], element_of(op.number("dst")))
        at = {"dst": op.number("dst"), "src": x.value, "offset": offset}
        v.at_pointer("vsts", {**at, "mask": mask.value}, {})
    return []


def load_rows(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the registers of rows that stand apart."""
    (kind,), made = op.results, list[LaneValue]()
    for offset, first, count in rows_of(v, op, kind):
        found: LaneValue | None = None
        for number in range(-(-count // lanes_of(kind.dtype))):
            step = v.sum(offset, number * lanes_of(kind.dtype))
            at = {"src": op.number("src"), "offset": step}
            found = v.at_pointer("vlds", at, {}, register(element_of(op.number("src"))))[0]
            found = read_as(v, found, kind.dtype)
            if first % lanes_of(kind.dtype) == 0:
                made.append(found)
            else:
                made[-1] = placed(v, made[-1], found, first % lanes_of(kind.dtype), count)
    return [VectorParts(kind, made)]


def store_rows(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Store the registers of a vector to rows that stand apart."""
    source = op.vector("src")
    dtype, unit = source.kind.dtype, element_of(op.number("dst"))
    lanes = lanes_of(dtype)
    if "mask" in op.given:
        raise Inexpressible
    for offset, first, count in rows_of(v, op, source.kind):
        for number in range(-(-count // lanes)):
            place, start = divmod(first + number * lanes, lanes)
            x = read_as(v, source.parts[place], unit)
            x = v.vselr(x, moved(v, numbers(v, dtype), start)) if start else x
            step, mask = v.sum(offset, number * lanes), v.first(min(count, lanes), dtype)
            at = {"dst": op.number("dst"), "src": x.value, "offset": step, "mask": mask.value}
            v.at_pointer("vsts", at, {})
    return []


def rows_of(v: Vectors, op: LogicalOp, kind: LogicalType) -> Iterator[tuple[Quantity, int, int]]:
    """Yield the rows of a vector: their offset in memory, their first lane, and their lanes."""
    lanes, group, stride = lanes_of(kind.dtype), op.attrs.get("group"), op.number("stride")
    count_of(kind.cols, kind.dtype)
    if not isinstance(group, int) or kind.in_pairs:
        raise Inexpressible
    each = kind.cols // group
    if (each % lanes and lanes % each) or getattr(stride, "type", INDEX) != INDEX:
        raise Inexpressible
    for number in range(group):
        step = v.make.times(stride, number) if number else 0
        yield v.sum(op.number("offset"), step), number * each, each


GATHER = "vgather2"


def gathered(v: Vectors, op: LogicalOp) -> list[Lowered]:
    """Return the elements of memory that indices name."""
    (kind,), index = op.results, op.vector("index")
    unit, made = element_of(op.number("src")), list[LaneValue]()
    if kind.dtype.bits != index.kind.dtype.bits:
        raise Inexpressible
    for at, mask in zip(index.parts, op.masks(v, kind), strict=True):
        operands = {"src": op.number("src"), "index": at.value, "mask": mask.value}
        made += [
            read_as(v, x, kind.dtype) for x in v.at_pointer(GATHER, operands, {}, register(unit))
        ]
    return [VectorParts(kind, made)]
