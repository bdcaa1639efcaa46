"""Handles that DPS text names as results: `%u = pto.treshape %t : T -> U`.

Compilers print aliases so between instructions that write their operands. Other passes see the
instruction's own form: an allocated tile that becomes the handle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ptokit.ir.editing import allocation, constant, new_op, rewritten
from ptokit.ir.module import NO_COMMENTS, AnyOp, Func, Op, Value, once
from ptokit.isa.lang.traits import ALIASES, ALLOCATES
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import INDEX, Kind, Type


@once
def names_handles(func: Func) -> bool:
    """Return whether outputs are operands, and only handles on tiles' bytes are results."""
    ops = [op for op in func.ops if isinstance(op, Op)]
    results = [op for op in ops if op.ssa and not op.of_registers]
    if not results:
        return True
    return any(op.dps for op in ops) and all(ALIASES in op.page.traits for op in results)


def with_tiles(func: Func) -> Func:
    """Return the function with a tile allocated for each handle that is a result.

    A dynamic valid region is that of the source's allocation if both tiles have one shape, else the
    whole tile: the text has no more information.
    """
    ops = (op for op in func.ops if isinstance(op, Op))
    makers = {op.results[0]: op for op in ops if ALLOCATES in op.page.traits}

    def lowered(op: AnyOp) -> Iterable[AnyOp]:
        if isinstance(op, Op) and op.ssa and not op.of_registers:
            return _lowered(op, makers)
        return (op,)

    body, *blocks = (rewritten(block, lowered) for block in (func.body, *func.blocks))
    return replace(func, body=body, blocks=blocks)


def _lowered(op: Op, makers: dict[Value, Op]) -> Iterator[AnyOp]:
    """Yield the allocation of a handle's tile, and the op that makes it a handle."""
    (out,), (handle,) = op.page.outs(), op.results
    source = op.bound(op.page.ins()[0].name)[0]
    spans = {"": op.span} if op.span else {}
    allocated = new_op(allocation(), {}, results=[handle], spans=spans)
    allocated.comments = op.comments
    for name, number in _open(handle.type):
        given = makers[source].operands.get(name) if _alike(source, handle, makers) else None
        if given is None:
            made = _number(number, handle)
            given = made.results[0]
            yield made
        allocated.operands[name] = given
    yield allocated
    yield replace(op, operands=op.operands | {out.name: handle}, results=[], comments=NO_COMMENTS)


def _open(kind: Type) -> Iterator[tuple[str, int]]:
    """Yield the operand for each dynamic valid extent of a type, with the tile's extent."""
    if isinstance(kind, TileType):
        names = (o.name for o in allocation().operands if o.kind is Kind.INDEX)
        for name, valid, whole in zip(names, kind.valid, (kind.rows, kind.cols), strict=True):
            if valid is None:
                yield name, whole


def _alike(source: Value, handle: Value, makers: dict[Value, Op]) -> bool:
    """Return whether both tiles have one shape, and the first is allocated here."""
    one, other = source.type, handle.type
    if not (isinstance(one, TileType) and isinstance(other, TileType) and source in makers):
        return False
    return (one.rows, one.cols) == (other.rows, other.cols)


def _number(number: int, handle: Value) -> Op:
    value = Value(f"{handle.name}_{number}", INDEX, handle.span)
    spans = {"": handle.span} if handle.span else {}
    return constant(value, number, spans)
