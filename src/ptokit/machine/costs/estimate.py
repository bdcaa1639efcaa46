"""The cost of one instruction on a target, and the peak rates of that target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.globaltypes import DataType, GlobalType
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, RegisterType, TileType
from ptokit.isa.model.words import M, Pipe, S, V
from ptokit.machine.costs.cost import Cost, Origin
from ptokit.machine.costs.datapaths import GIB, bandwidth, moved, product
from ptokit.machine.costs.figures import figures, file_of, origin, row_of
from ptokit.machine.costs.lanecosts import COMPUTE, registers_of, slots
from ptokit.machine.costs.sizes import Operands, elements, ends, vector_work
from ptokit.machine.costs.vectorfunctions import functions
from ptokit.machine.costs.vectorrepeats import intrinsics
from ptokit.values.dtypes import DType

Attrs: TypeAlias = "tuple[tuple[str, str], ...]"
DATA = (TileType, GlobalType, ConvTileType)
REMEMBERED = 1 << 14
# Costs by identity of the types: hashing a type takes longer than the rest. The types are kept with
# the cost, so that no other object gets the identity of one of them.
_answered: dict[tuple[object, ...], tuple[Cost, Operands]] = {}


def cost(
    page: type[Instr],
    attrs: Mapping[str, object],
    operands: Mapping[str, object],
    pipe: Pipe,
    target: Target,
) -> Cost:
    """Return the cost of one instruction for `pipe` on `target`; costs are cached.

    `operands` are the types of its tiles and views by name, with the valid regions and extents of
    this execution; numbers and handles among them are ignored. ValueError if the target has no
    figures.
    """
    file = file_of(target)
    given = tuple((a, str(attrs[a])) for a in _attributes_of_formulas(page, file) if a in attrs)
    kinds = {n: k for n, k in operands.items() if isinstance(k, DATA)}
    key = (page, given, pipe, file, *kinds, *map(id, kinds.values()))
    found = _answered.get(key)
    if found is None:
        if len(_answered) >= REMEMBERED:
            _answered.clear()
        found = _cost(page, given, tuple(kinds.items()), pipe, file), kinds
        _answered[key] = found
    return found[0]


@lru_cache(maxsize=REMEMBERED)
def _cost(
    page: type[Instr], attrs: Attrs, kinds: tuple[tuple[str, DataType], ...], pipe: Pipe, file: str
) -> Cost:
    operands = dict(kinds)
    if page.below and "lanes" in figures(file):
        found = _in_registers(page, operands, file)
    elif pipe is M:
        found = product(operands, file)
    elif pipe is V and not page.paths and not any(isinstance(k, GlobalType) for _, k in kinds):
        found = _vector(page, dict(attrs), operands, file)
    else:
        found = None if pipe in (S, Pipe.ALL) else moved(page, operands, file)
    return found or _fallback(operands, pipe, file)


def _vector(
    page: type[Instr], attrs: Mapping[str, str], operands: Operands, file: str
) -> Cost | None:
    """Return the cost of an instruction that computes in UB, for either kind of vector unit."""
    work = vector_work(page, operands, row_of(figures(file)["over"], page))
    source, target = ends(page, operands)
    first = target or source
    if work is None or first is None:
        return None
    types = ((source or first).dtype, first.dtype)
    if "function" in figures(file):
        return functions(page, work, types, attrs, file)
    return intrinsics(page, work, types[0], file)


def _in_registers(page: type[Instr], operands: Operands, file: str) -> Cost | None:
    """Return the interval of an instruction of a vector function."""
    registers = [kind for kind in operands.values() if isinstance(kind, RegisterType)]
    if not registers or page.run is None:
        return None
    of_masks = all(kind.word == "mask" for kind in registers)
    found = slots(page, COMPUTE, registers[0].dtype, of_masks, file, registers_of(registers))
    return Cost(max(1, found.interval), origin(figures(file)["lanes"]))


def _fallback(operands: Operands, pipe: Pipe, file: str) -> Cost:
    """Return the estimate for a pipe, from the elements of the largest operand."""
    table = figures(file)["fallback"]
    count = max(map(elements, operands.values()), default=0)
    start, each = table[(S if pipe is Pipe.ALL else pipe).name]
    return Cost(max(1, round(start + each * count)), origin(table))


@cache
def _attributes_of_formulas(page: type[Instr], file: str) -> tuple[str, ...]:
    """Return the attributes on which the formulas of a page depend."""
    rows = row_of(figures(file).get("formulas", {}), page) or ()
    return tuple(sorted({name for row in rows for name in row.get("when", {})}))


def issue_cycles(target: Target) -> int:
    """Return the cycles of setting a flag or a register, without the tail that it waits for."""
    return figures(file_of(target))["core"]["issue"]


def barrier_cycles(target: Target) -> int:
    """Return the cycles of a barrier, without the tails that it waits for."""
    return figures(file_of(target))["barrier"]["cycles"]


def microseconds(cycles: float, target: Target) -> float:
    """Return the duration of `cycles` at the clock of the target's cores."""
    return cycles / figures(file_of(target))["core"]["frequency"]


@dataclass(frozen=True)
class Peak:
    """The peak of a unit per cycle, in bytes or operations, and the origin of that figure."""

    per_cycle: float
    source: Origin


def path_peak(target: Target, path: str) -> Peak | None:
    """Return the bytes per cycle that no transfer along a path exceeds; None if unknown."""
    file = file_of(target)
    figure = bandwidth(file, path)
    if figure is None:
        return None
    return Peak(figure.peak * GIB / figures(file)["core"]["frequency"] / 1e6, figure.origin)


def cube_peak(target: Target, dtype: DType) -> Peak:
    """Return the FLOP per cycle of products of `dtype`, for extents that are whole steps."""
    table = figures(file_of(target))["cube"]
    depth = table["depth"] * 8 // dtype.bits
    step = table["slow"].get(dtype.name, table["step"])
    return Peak(2 * table["rows"] * depth * table["cols"] / step, origin(table))


def vector_peak(target: Target, dtype: DType) -> Peak:
    """Return the FLOP per cycle of the fastest vector operations, counting one per element."""
    tables = figures(file_of(target))
    lanes = tables["core"]["repeat"] / dtype.size
    if "function" in tables:
        return Peak(lanes * tables["function"]["stores"], origin(tables["function"]))
    table = tables["intrinsics"]
    fastest = min(slope for _, slope, _ in table["table"].values() if slope)
    return Peak(lanes / fastest, origin(table))
