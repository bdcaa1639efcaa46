"""Values that nobody knows before a program runs, and what hangs on them."""

from __future__ import annotations

from collections.abc import Iterator

from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.traits import BY_LANE, CORE
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.sim.execute import moves

SELECT = "select"  # the shape of what is one of two values


def block_queries(func: Func) -> Iterator[Value]:
    """What a function asks of its block in the launch."""
    for op in func.walk():
        if isinstance(op, Op) and CORE in op.page.uses and BY_LANE not in op.page.traits:
            yield from op.results


def from_memory(op: Op) -> bool:
    return moves(op) and any(r.kind is Kind.SCALAR for r in op.page.results())


def picking(op: Op) -> Iterator[Value]:
    """The condition of what is one of two tiles or views: which bytes are meant hangs on it."""
    if op.page.asm.shape == SELECT and not isinstance(op.results[0].type, ScalarType):
        yield next(value for _, value in op.values())


def computed_alike(func: Func) -> dict[str, frozenset[str]]:
    """The names of the values that are equal to each, by the numbering of values."""
    numbers, keys = dict[Value, int](), dict[object, int]()
    alike: dict[int, set[str]] = {}
    for op in func.body.walk():
        if not isinstance(op, Op) or op.regions or moves(op) or len(op.results) != 1:
            continue
        inputs = tuple(numbers.get(value, id(value)) for _, value in op.values())
        number = keys.setdefault((op.page, inputs, repr(sorted(op.attrs.items()))), len(keys))
        numbers[op.results[0]] = number
        alike.setdefault(number, set()).add(op.results[0].name)
    return {name: frozenset(names) for names in alike.values() for name in names}


def undecided(func: Func) -> frozenset[Value]:
    """What only arguments, memory or the place in the launch decide.

    What counts iterations takes its values in turn: buffers that are picked by it rotate.
    """
    free = {arg for arg in func.args if isinstance(arg.type, ScalarType)} | {*block_queries(func)}
    turning = set[Value]()
    for op in func.body.walk():
        inputs = [value for _, value in op.values()] if isinstance(op, Op) else []
        if (isinstance(op, Op) and from_memory(op)) or turning.isdisjoint(inputs):
            free.update(op.results)
        else:
            turning.update(op.results)
        turning.update(arg for region in op.regions for arg in region.args)
    return frozenset(free)


def depends(func: Func, unknown: frozenset[Value]) -> frozenset[Value]:
    """The values that may depend on these, or on what is in memory."""
    found = set(unknown)
    before = -1
    while len(found) > before:  # until nothing is added: loops carry values back
        before = len(found)
        _depends(func.body, found)
    return frozenset(found)


def _depends(block: Block, found: set[Value]) -> None:
    for op in block.ops:
        inputs = [v for _, v in op.values()] if isinstance(op, Op) else []
        if isinstance(op, Op) and from_memory(op):
            found.update(op.results)
        for region in op.regions:
            if not found.isdisjoint(inputs):
                found.update(region.args)
            _depends(region, found)
            if not found.isdisjoint(region.outcome):
                found.update((*region.args, *op.results))
        if not found.isdisjoint(inputs):
            found.update(op.results)
