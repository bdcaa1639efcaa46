"""Vector instructions of A5: each is a function that loops over repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TypeAlias

from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.types import Kind
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.machine.costs.figures import Table, figures, origin, row_of
from ptokit.machine.costs.sizes import Amount
from ptokit.values.dtypes import DTYPES, DType

BYTES = {d.name: d.size for d in DTYPES}
# element types of the first input and of the first output
Ends: TypeAlias = "tuple[DType, DType]"


def functions(
    page: type[Instr], work: Amount, types: Ends, attrs: Mapping[str, str], file: str
) -> Cost:
    """Return the cost of a vector instruction: by its formula, else estimated from operations."""
    tables = figures(file)
    names = row_of(tables["pages"], page) or ["unknown"]
    found = _formula(tables["formulas"], page, types, attrs)
    if found is None:
        cycles, known = estimated(tables, page, names, work, types[0]), Origin.ESTIMATED
    else:
        row, known = found
        cycles = _by_formula(row, work, tables["core"]["repeat"])
    computing = sum(name not in tables["moving"]["operations"] for name in names)
    return Cost(max(1, round(cycles)), known, flop=computing * work.elements)


def _formula(
    table: Table, page: type[Instr], types: Ends, attrs: Mapping[str, str]
) -> tuple[Table, Origin] | None:
    """Return the formula for these element types, or as an estimate one for the same sizes."""
    rows = [r for r in row_of(table, page) or () if r.get("when", {}).items() <= attrs.items()]
    source, target = types
    for row in rows:
        if target.name in row.get("dtypes", BYTES) and source.name in row.get("from", BYTES):
            return row, origin(table)
    for row in rows:
        sizes = [{BYTES[d] for d in row.get(key, BYTES)} for key in ("from", "dtypes")]
        if source.size in sizes[0] and target.size in sizes[1]:
            return row, Origin.ESTIMATED
    return None


def _by_formula(row: Table, work: Amount, width: int) -> float:
    """Return cycles by the formula for contiguous lines, or by the one for blocks of lines."""
    repeats = work.repeats(width)
    slope, bias = row["odd"] if repeats % 2 and "odd" in row else row["line"]
    if work.joined and slope > 0:
        return slope * repeats + bias
    each, line, bias = row["block"]
    return (each * ceil(work.line_bytes / width) + line) * work.lines + bias


def estimated(
    tables: Table, page: type[Instr], names: Sequence[str], work: Amount, dtype: DType
) -> float:
    """Return cycles from latency and interval of each operation, as the data file explains."""
    unit, width = tables["function"], tables["core"]["repeat"]
    rows = unit["table"] | unit.get(dtype.name, {})
    latency = unit["load"] + sum(rows[name][0] for name in names) + unit["store"]
    reads = sum(o.role in (Role.IN, Role.INOUT) and o.kind is Kind.TILE for o in page.operands)
    busy = sum(rows[name][1] for name in names) / unit["issue"]
    each = max(busy, reads / unit["loads"], 1 / unit["stores"])
    return unit["startup"] + latency + unit["drain"] + each * work.repeats(width)
