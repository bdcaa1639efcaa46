"""Copies of registers that enter, leave or go around a region.

Each value that a region passes on then has a tile of its own, which nothing else needs when the
tile is written. A first copy of all passed values keeps them apart from those that they replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ptokit.ir.editing import FreshNames, new_op, rewritten
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.traits import MADE, TERMINATOR
from ptokit.isa.model.tiles import RegisterType


def with_register_copies(func: Func) -> Func:
    """Return the function with a copy of each register that a region takes or passes on."""
    return _Copying(func).finished()


class _Copying:
    """The insertion of copies into one function."""

    def __init__(self, func: Func) -> None:
        self.func, self.names = func, FreshNames(func)
        self.page = next(p for p in walk() if MADE in p.traits and p.executes)

    def finished(self) -> Func:
        body = rewritten(self.func.body, self._changed)
        return replace(self.func, body=body)

    def _changed(self, op: AnyOp) -> Iterable[AnyOp]:
        if not isinstance(op, Op) or not op.regions:
            return (op,)
        regions = [self._region(op, region) for region in op.regions]
        carried = next((o.name for o in op.page.operands if o.many), None)
        given = op.bound(carried) if carried is not None else ()
        copies, passed = self._copied(given, 1)
        operands = op.operands if carried is None else {**op.operands, carried: tuple(passed)}
        return (*copies, replace(op, regions=regions, operands=operands))

    def _region(self, op: Op, block: Block) -> Block:
        """Return a region that passes on copies."""
        end = block.terminator
        if end is None or TERMINATOR not in end.page.traits:
            return block
        name = next((o.name for o in end.page.operands if o.many), None)
        if name is None or not any(map(_register, end.bound(name))):
            return block
        copies, passed = self._copied(end.bound(name), 2)
        ended = replace(end, operands={**end.operands, name: tuple(passed)})
        return replace(block, ops=[*block.ops[:-1], *copies, ended])

    def _copied(self, values: Sequence[Value], times: int) -> tuple[list[AnyOp], list[Value]]:
        """Return copies of the registers among `values`, and the values with their copies."""
        ops, passed = list[AnyOp](), [*values]
        for _ in range(times):
            for place, value in enumerate(passed):
                if _register(value):
                    made = Value(self.names.name(value.name), value.type, value.span)
                    source = self.page.ins()[0].name
                    spans = {} if value.span is None else {"": value.span}
                    ops.append(new_op(self.page, {source: [value]}, results=[made], spans=spans))
                    passed[place] = made
        return ops, passed


def _register(value: Value) -> bool:
    return isinstance(value.type, RegisterType)
