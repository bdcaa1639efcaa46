"""A trial of one instruction on unwritten memory, to see whether it reads undefined elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ptokit.analysis.known import Facts
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.ir.module import Op, Value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TILE_RULES, ConvTileType, TileType
from ptokit.isa.model.words import GlobalLayout
from ptokit.machine.execute import Core, ReadyOp
from ptokit.machine.memory import Memory
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Tile
from ptokit.values.arrays import Number
from ptokit.values.fixpipe import CPU_READING

LARGEST = 1 << 24  # bytes of a tile or view; larger ones are not tried


class UnknownOperand(Exception):
    """Raised if an operand is not known well enough to try the instruction."""


def first_uninitialised_read(op: Op, unwritten: set[Value], facts: Facts) -> Diagnostic | None:
    """Return the error of the reference if `unwritten` tiles are undefined.

    None if the instruction reads none of them, or if operands are not known statically. Rules are
    not checked.
    """
    try:
        handles = {
            value: _handle(value, value not in unwritten, facts) for value in set(_values(op))
        }
        _run(op, handles, facts)
    except UnknownOperand:
        return None
    except PtoError as problem:
        found = problem.diagnostics[0]
        return found if found.slug == "uninitialised-read" else None
    return None


def _values(op: Op) -> Iterator[Value]:
    yield from (value for _, value in op.values())
    yield from op.results


def _run(op: Op, handles: Mapping[Value, object], facts: Facts) -> None:
    ready, core = ReadyOp(op), Core(facts.target, CPU_READING)
    results = {name: handles[value] for name, value in op.named_results()}
    ready.run(ready.values(handles) | results, core.offer())


def _handle(value: Value, written: bool, facts: Facts) -> Matrix | Number:
    kind = facts.type_of(value)
    if isinstance(kind, TileType):
        if not kind.valid.static or any(r.holds({"tile": kind}) is False for r in TILE_RULES):
            raise UnknownOperand
        handle: Matrix = Tile(kind, _memory(value, kind.nbytes, written), 0)
    elif isinstance(kind, ConvTileType):
        handle = ConvTile(kind, _memory(value, kind.nbytes, written), 0)
    elif isinstance(kind, GlobalType):
        handle = _view(value, kind)
    else:
        number = facts.numbers.get(value)
        if not isinstance(number, int | float):
            raise UnknownOperand
        return number
    handle.label = f"%{value.name}"
    return handle


def _view(value: Value, kind: GlobalType) -> GlobalView:
    """Return a view of written memory, whose elements are all the same element."""
    shape = [n for n in kind.shape if n is not None]
    if len(shape) < kind.rank or not kind.matrix.static:
        raise UnknownOperand
    layout, still = kind.layout or GlobalLayout.ND, (0,) * kind.rank
    one = GlobalType(kind.dtype, tuple(shape), still, layout, kind.partition)
    return GlobalView(one, _memory(value, kind.dtype.nbytes(2), written=True), 0)


def _memory(value: Value, nbytes: int, written: bool) -> Memory:
    if not 0 <= nbytes <= LARGEST:
        raise UnknownOperand
    memory = Memory(f"%{value.name}", np.zeros(nbytes, np.uint8), written=written)
    memory.refuses = True
    return memory
