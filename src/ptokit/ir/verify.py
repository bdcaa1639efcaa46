"""What holds of a function, whichever pass made it: values are defined once, before their uses."""

from __future__ import annotations

from ptokit.ir.module import AnyOp, Block, Func, Op, Value


def verify(func: Func) -> None:
    """AssertionError where a value is used before it is defined, or is defined twice."""
    _block(func.body, set(func.args), set(func.args))


def _block(block: Block, visible: set[Value], defined: set[Value]) -> None:
    for op in block.ops:
        for value in _uses(op):
            assert value in visible, f"{value} is used where it is not defined"
        for region in op.regions:
            _define(region.args, defined)
            _block(region, visible | {*region.args}, defined)
        _define(op.results, defined)
        visible |= {*op.results}


def _uses(op: AnyOp) -> list[Value]:
    return [v for _, v in op.values()] if isinstance(op, Op) else []  # an unknown op may define


def _define(values: list[Value], defined: set[Value]) -> None:
    for value in values:
        assert value not in defined, f"{value} is defined twice"
        defined.add(value)
