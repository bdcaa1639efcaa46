"""Expansion of tile instructions into vector functions, as `isa/expansions` states them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ptokit.ir.editing import FreshNames, rewritten
from ptokit.ir.emission import Emission
from ptokit.ir.module import AnyOp, Binding, Block, Func, Op, Value
from ptokit.isa.expansions.expansionlanguage import (
    Inexpressible,
    TileBytes,
    Vectors,
    pointer_page,
    scope_page,
)
from ptokit.isa.expansions.expansiontable import EXPANSIONS
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.environment import call, environment
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import RegisterType, TileType
from ptokit.isa.model.types import INDEX, PtrType, ScalarType, Type


def expand(func: Func, target: Target) -> Func:
    """Return the function with vector functions in place of tile instructions.

    An instruction stays if it has no expansion, if the level below tiles does not have its element
    type, or if one of its tiles is a part of another one.
    """
    made = _Expanded(func, target)
    body = rewritten(func.body, made.expanded)
    return replace(func, body=replace(body, ops=[*made.first, *body.ops]))


class _Expanded(Emission):
    """The expansions of one function."""

    def __init__(self, func: Func, target: Target) -> None:
        super().__init__(FreshNames(func), INDEX)
        self.target = target
        ops = [op for op in func.ops if isinstance(op, Op) and ALLOCATES in op.page.traits]
        self.allocations = {op.results[0]: op for op in ops}
        self.computed: dict[tuple[str, Quantity, Quantity], Quantity] = {}  # in this block

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

    def called(self, kind: Type) -> str:
        match kind:
            case RegisterType(word="vreg"):
                return "v"
            case RegisterType():
                return kind.word
            case PtrType():
                return "p"
            case _:
                return "n"

    def block(
        self, op: Op, body: Callable[[], Sequence[Quantity]], args: Sequence[Value] = ()
    ) -> Block:
        around, self.computed = self.computed, dict(self.computed)
        made, self.computed = super().block(op, body, args), around
        return made

    def _two(
        self, word: str, one: Quantity, other: Quantity, f: Callable[[int, int], int]
    ) -> Quantity:
        """Return the number that the block has computed already, or compute it."""
        key = word, one, other
        if key not in self.computed:
            self.computed[key] = super()._two(word, one, other, f)
        return self.computed[key]

    def _emit(
        self,
        page: type[Instr],
        operands: Mapping[str, Sequence[Value]],
        attrs: Mapping[str, object],
        results: Sequence[Type],
    ) -> list[Value]:
        """Add an instruction; Inexpressible if its page refuses the types."""
        made = super()._emit(page, operands, attrs, results)
        op = cast(Op, self.ops[-1])
        types = {name: value.type for name, value in (*op.values(), *op.named_results())}
        numbers = {name: UNKNOWN for name, kind in types.items() if isinstance(kind, ScalarType)}
        kinds = {name: types[o.name] for name, o in page.types.items() if o.name in types}
        env = environment(page, {**types, **numbers, **kinds}, op.attrs, self.target)
        if any(rule.holds(env) is False for rule in page.rules_on(self.target) if rule.required):
            raise Inexpressible
        return made


def _mapped(bound: Binding, now: Mapping[Value, object]) -> object:
    return tuple(now[v] for v in bound) if isinstance(bound, tuple) else now[bound]
