"""The invariant of functions after each pass: values are defined once, before their uses."""

from __future__ import annotations

from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value


def verify(func: Func) -> None:
    """Raise AssertionError if a value is used before its definition, or is defined twice.

    The text of an opaque op may define values for its regions: there every use is accepted.
    """
    _block(func.body, set(func.args), set(func.args))


def _block(block: Block, visible: set[Value] | None, defined: set[Value]) -> None:
    """Verify a block whose ops may use `visible` (None inside an opaque op: unknown)."""
    for op in block.ops:
        for value in _uses(op):
            known = visible is None or value in visible
            assert known, f"{value} is used where it is not defined"
        inside = None if isinstance(op, OpaqueOp) else visible
        for region in op.regions:
            _define(region.args, defined)
            _block(region, inside if inside is None else inside | {*region.args}, defined)
        _define(op.results, defined)
        if visible is not None:
            visible |= {*op.results}


def _uses(op: AnyOp) -> list[Value]:
    return [v for _, v in op.values()] if isinstance(op, Op) else []


def _define(values: list[Value], defined: set[Value]) -> None:
    for value in values:
        assert value not in defined, f"{value} is defined twice"
        defined.add(value)
