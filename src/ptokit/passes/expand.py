"""Expansion of tile instructions into vector functions, as `isa/expansions` states them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ptokit.ir.editing import rewritten
from ptokit.ir.module import AnyOp, Binding, Func, Op, Value
from ptokit.isa.expansions.expansionlanguage import (
    Inexpressible,
    TileBytes,
    Vectors,
    pointer_page,
    scope_page,
)
from ptokit.isa.expansions.expansiontable import EXPANSIONS
from ptokit.isa.lang.environment import call
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import PtrType
from ptokit.passes.vectoremission import VectorEmission


def expand(func: Func, target: Target) -> Func:
    """Return the function with vector functions in place of tile instructions.

    An instruction stays if it has no expansion, if the level below tiles does not have its element
    type, or if one of its tiles is a part of another one.
    """
    made = _Expanded(func, target)
    body = rewritten(func.body, made.expanded)
    return made.with_body(body)


class _Expanded(VectorEmission):
    """The expansions of one function."""

    def __init__(self, func: Func, target: Target) -> None:
        super().__init__(func, target)
        ops = [op for op in func.ops if isinstance(op, Op) and ALLOCATES in op.page.traits]
        self.allocations = {op.results[0]: op for op in ops}

    def expanded(self, op: AnyOp) -> Iterable[AnyOp]:
        if not isinstance(op, Op) or op.page not in EXPANSIONS:
            return (op,)
        first, made, numbers, names = [*self.first], dict(self.made), dict(self.numbers), self.names
        self.at, self.ops = op, list[AnyOp]()
        taken, last = set(names.taken), dict(names.last)
        try:
            tiles = dict.fromkeys(value for _, value in op.values())
            bytes_of = {value: self._given(value) for value in tiles}
            given = {name: _mapped(bound, bytes_of) for name, bound in op.operands.items()}
            scope = Op(scope_page(), spans=self._spans())
            region = self.block(scope, lambda: self._expansion(op, given))
        except Inexpressible:
            self.first, self.made, self.numbers = first, made, numbers
            names.taken, names.last = taken, last
            return (op,)
        region = replace(region, ops=region.ops[:-1])  # a scope passes nothing on
        return (*self.ops, replace(scope, regions=[region], comments=op.comments))

    def _expansion(self, op: Op, given: Mapping[str, object]) -> Sequence[Quantity]:
        attrs = {a.name: op.attrs.get(a.name, a.default) for a in op.page.attrs}
        absent = {o.name: o.default for o in op.page.operands}
        call(EXPANSIONS[op.page], {**absent, **attrs, **given, "v": Vectors(self)})
        return ()

    def _given(self, bound: Value) -> object:
        """Return a tile as its bytes, and any other operand as it is."""
        if not isinstance(bound.type, TileType):
            return bound
        made = self.allocations.get(bound)
        if made is None or bound.resized or bound.type.loc.text != "vec":
            raise Inexpressible
        page = pointer_page()
        kind = PtrType(bound.type.dtype, bound.type.loc.text)
        (pointer,) = self.op(page, {page.ins()[0].name: bound}, {}, [kind])
        extents = [
            made.operands.get(name) if extent is None else extent
            for name, extent in zip(("valid_row", "valid_col"), bound.type.valid, strict=True)
        ]
        return TileBytes(pointer, bound.type, *extents)


def _mapped(bound: Binding, now: Mapping[Value, object]) -> object:
    return tuple(now[v] for v in bound) if isinstance(bound, tuple) else now[bound]
