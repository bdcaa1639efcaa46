"""Instructions on registers executed at once, as Python runs a vector function on real tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

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
    """An executor: it performs at once what the hook `lowered` of a page asks for.

    Any: numbers, handles and addresses, as the hook passes them on.
    """

    def argument(self, operand: Operand, given: Any) -> Any:
        """Return an argument of the user as the hook takes it."""
        if operand.kind is Kind.PTR:
            return LocalPointer(Inside(given, 0), given.type.dtype)
        return given

    def sum(self, one: Any, other: Any) -> Any:
        return Inside(one.tile, one.offset + other) if isinstance(one, Inside) else one + other

    def times(self, one: Any, other: Any) -> Any:
        return one * other

    def less(self, one: Any, other: Any) -> Any:
        return one - other

    def over(self, one: Any, number: int) -> Any:
        if isinstance(one, Inside):
            what = "indices into a tile without an address"
            raise TypeError(f"{what}: load its lanes with a distribution")
        return one // number

    def rest(self, one: Any, number: int) -> Any:
        return max(one - number, 0)

    def known(self, term: Quantity) -> int | None:
        return term if isinstance(term, int) else None

    def address(self, tile: Any) -> Quantity:
        return Inside(tile, 0)

    def window(self, kind: TileType, address: Any, cols: Quantity = None) -> Tile:
        """Return the bytes of a tile from an offset on; PtoError if they lie outside it."""
        page, handle, core = _inside(), address.tile.handle, current_core()
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
        return Tile(handle.row_at(kind, address.offset))

    def op(
        self,
        page: Any,
        operands: Mapping[str, Any],
        attrs: Mapping[str, object] | None = None,
        results: Sequence[Type] = (),
    ) -> list[Any]:
        outs = [o.name for o in page.outs() if o.fresh and o.kind is Kind.REGISTER]
        kinds = [kind for kind in results if isinstance(kind, RegisterType)]
        made = {n: new_register(kind) for n, kind in zip(outs, kinds, strict=True)}
        chosen = {a.name: (attrs or {}).get(a.name, a.default) for a in page.attrs}
        eager.execute(page, {**made, **operands, **chosen})
        return [*made.values()]

    def repeat(self, count: Any, body: Callable[[Any], None]) -> None:
        for number in range(count):
            body(number)

    def fold(
        self, count: Any, starts: Sequence[Any], body: Callable[[Any, Sequence[Any]], Sequence[Any]]
    ) -> Sequence[Any]:
        for number in range(count):
            starts = body(number, starts)
        return starts


@cache
def _inside() -> type[Instr]:
    """Return the page whose result is the bytes of a tile from an offset on."""
    return next(p for p in pages() if p.below and WINDOW in p.traits)
