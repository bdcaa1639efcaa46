"""Emission of vector instructions on registers, none of which its page refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from ptokit.ir.emission import FuncEmission
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.expansions.expansionlanguage import Inexpressible
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import RegisterType
from ptokit.isa.model.types import INDEX, PtrType, ScalarType, Type


class VectorEmission(FuncEmission):
    """The vector instructions that take the place of others in a function."""

    def __init__(self, func: Func, target: Target) -> None:
        super().__init__(func, INDEX)
        self.target = target
        self.computed: dict[tuple[str, Quantity, Quantity], Quantity] = {}  # in this block

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
            raise Inexpressible(f"{page.mnemonic()} takes no such registers")
        return made
