"""Instructions on registers executed at once, as Python runs a vector function on real tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import cast

from ptokit.analysis.violation import violation
from ptokit.api import eager
from ptokit.api.hostarrays import OWN, LaneRegister, Tile
from ptokit.diagnostics.callsite import caller
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.environment import environment
from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.localmemory import Inside, LocalPointer, Quantity
from ptokit.isa.lang.traits import WINDOW
from ptokit.isa.model.tiles import RegisterType, TileType
from ptokit.isa.model.types import Kind, Type
from ptokit.launch.settings import current_core
from ptokit.machine import tile as handles
from ptokit.machine.memory import Memory


def new_register(kind: RegisterType) -> LaneRegister:
    """Return a register with undefined lanes."""
    return LaneRegister(handles.Tile(kind, Memory.blank(OWN, kind.nbytes), 0))


class Executing:
    """An executor: it performs at once what the hook `lowered` of a page asks for."""

    def argument(self, operand: Operand, given: object) -> Quantity:
        """Return an argument of the user as the hook takes it."""
        if operand.kind is Kind.PTR:
            return LocalPointer(Inside(given, 0), cast(Tile, given).type.dtype)
        return given

    def sum(self, one: Quantity, other: Quantity) -> Quantity:
        if isinstance(one, Inside):
            return Inside(one.tile, self.sum(one.offset, other))
        return _number(one) + _number(other)

    def times(self, one: Quantity, other: Quantity) -> Quantity:
        return _number(one) * _number(other)

    def less(self, one: Quantity, other: Quantity) -> Quantity:
        return _number(one) - _number(other)

    def over(self, one: Quantity, number: int) -> Quantity:
        if isinstance(one, Inside):
            what = "indices into a tile without an address"
            raise TypeError(f"{what}: load its lanes with a distribution")
        return _number(one) // number

    def left_after(self, one: Quantity, number: int) -> Quantity:
        return max(_number(one) - number, 0)

    def known(self, term: Quantity) -> int | None:
        return term if isinstance(term, int) else None

    def address(self, tile: object) -> Quantity:
        return Inside(tile, 0)

    def window(self, kind: TileType, address: Quantity, cols: Quantity = None) -> Tile:
        """Return the bytes of a tile from an offset on; PtoError if they lie outside it."""
        assert isinstance(address, Inside)
        page, handle, core = _inside(), cast(Tile, address.tile).handle, current_core()
        tile, offset = (o.name for o in page.ins())
        given = {page.results()[0].name: kind, tile: handle, offset: address.offset}
        env = environment(page, given, {}, core.target)
        problems = [
            violation(page, rule, env, caller())
            for rule in page.rules_on(core.target)
            if rule.holds(env) is False
        ]
        if problems:
            raise PtoError(problems)
        return Tile(handle.row_at(kind, _number(address.offset)))

    def op(
        self,
        page: type[Instr],
        operands: Mapping[str, Quantity],
        attrs: Mapping[str, object] | None = None,
        results: Sequence[Type] = (),
    ) -> list[Quantity]:
        outs = [o.name for o in page.outs() if o.fresh and o.kind is Kind.REGISTER]
        kinds = [kind for kind in results if isinstance(kind, RegisterType)]
        made = {n: new_register(kind) for n, kind in zip(outs, kinds, strict=True)}
        chosen = {a.name: (attrs or {}).get(a.name, a.default) for a in page.attrs}
        eager.execute(page, {**made, **operands, **chosen})
        return [*made.values()]

    def repeat(self, count: Quantity, body: Callable[[Quantity], None]) -> None:
        for number in range(_number(count)):
            body(number)

    def fold(
        self,
        count: Quantity,
        starts: Sequence[Quantity],
        body: Callable[[Quantity, Sequence[Quantity]], Sequence[Quantity]],
    ) -> Sequence[Quantity]:
        for number in range(_number(count)):
            starts = body(number, starts)
        return starts


def _number(term: Quantity) -> int:
    return cast(int, term)


@cache
def _inside() -> type[Instr]:
    """Return the page whose result is the bytes of a tile from an offset on."""
    return next(p for p in pages() if p.below and WINDOW in p.traits)
