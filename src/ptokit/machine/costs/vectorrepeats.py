"""Vector instructions of A2/A3: intrinsics with head, slope and tail; formulas of instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ptokit.isa.lang.instr import Instr
from ptokit.machine.costs.cost import Cost, Origin, weakest
from ptokit.machine.costs.figures import Table, figures, origin, row_of
from ptokit.machine.costs.sizes import Amount
from ptokit.values.dtypes import DType

F32_BYTES = 4  # the formulas of rows count columns of f32


def intrinsics(page: type[Instr], work: Amount, dtype: DType, file: str) -> Cost | None:
    """Return the cost of a vector instruction by its most accurate figures; None if it has none."""
    tables = figures(file)
    cost = _by_intrinsics(tables, row_of(tables["pages"], page) or (), work, dtype)
    cost = _by_row(tables, page, work, dtype) or cost
    whole = _fitted(tables["fitted"], page, work, dtype)
    if whole is None:
        return cost
    total, known = whole
    edge = Cost(0, known, flop=work.elements) if cost is None else cost
    return replace(edge, cycles=max(1, total - edge.head - edge.tail), source=known)


def _by_intrinsics(tables: Table, names: Sequence[str], work: Amount, dtype: DType) -> Cost | None:
    """Return the cost of intrinsics with barriers between, which wait for the tail of the first."""
    if not names:
        return None
    table, issue, width = tables["intrinsics"], tables["core"]["issue"], tables["core"]["repeat"]
    other = table.get(dtype.name, {})
    parts = [table["table"][name] for name in names]
    slopes = [other.get(name, slope) for name, (_, slope, _) in zip(names, parts, strict=True)]
    cycles = round(sum(slopes) * work.repeats(width))
    if work.line_bytes % width:
        cycles += table["masked"] * sum(name in table["counted"] for name in names)
    cycles += sum(one[2] + issue + two[0] for one, two in pairwise(parts))
    concluded = len(names) > 1 or not other.keys().isdisjoint(names)
    known = Origin.ESTIMATED if concluded else origin(table)
    computing = sum(name not in tables["moving"]["operations"] for name in names)
    return Cost(max(1, cycles), known, parts[0][0], parts[-1][2], flop=computing * work.elements)


def _fitted(
    table: Table, page: type[Instr], work: Amount, dtype: DType
) -> tuple[int, Origin] | None:
    """Return cycles of an instruction by a formula for its element type and number of columns."""
    cols = work.length
    for row in row_of(table, page) or ():
        listed = row.get("least", cols) <= cols <= row.get("most", cols)
        if row["dtype"] == dtype.name and listed:
            return round(row["slope"] * work.elements + row["bias"]), origin(table)
    return None


def _by_row(tables: Table, page: type[Instr], work: Amount, dtype: DType) -> Cost | None:
    """Return the cost of an instruction whose time is known by row.

    Between two listed lengths, cycles of a row and bias are interpolated. A row shorter than the
    first listed length costs as much as that; in a row longer than the last, an element costs as
    much.
    """
    other = row_of(tables["alike"], page)
    points = tables["rows"].get(other) or row_of(tables["rows"], page)
    if points is None:
        return None
    cols = work.line_bytes / F32_BYTES
    listed = [(float(c), slope * c, float(bias)) for c, slope, bias in points]
    each, bias = _interpolated(listed, cols)
    exact = other is None and dtype.name == "f32" and cols in [c for c, _, _ in listed]
    known = weakest(origin(tables["rows"]), Origin.FITTED if exact else Origin.ESTIMATED)
    return Cost(max(1, round(each * work.lines + bias)), known, flop=work.elements)


def _interpolated(listed: Sequence[tuple[float, float, float]], cols: float) -> tuple[float, float]:
    """Return cycles of a row, and bias, from listed (columns, cycles of a row, bias)."""
    (first, *_), (last, last_each, last_bias) = listed[0], listed[-1]
    if cols <= first:
        return listed[0][1:]
    if cols >= last:
        return last_each * cols / last, last_bias
    for (c0, each0, bias0), (c1, each1, bias1) in pairwise(listed):
        if cols <= c1:
            part = (cols - c0) / (c1 - c0)
            return each0 + part * (each1 - each0), bias0 + part * (bias1 - bias0)
    raise AssertionError("lengths are listed in ascending order")
