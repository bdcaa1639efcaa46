"""Address assignment as a pass: each allocated tile gets the address at which it would run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from ptokit.analysis.facts import facts_of
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.editing import FreshNames, constant, refuse, rewritten
from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import I64


def place(func: Func, target: Target) -> Func:
    """Return the function with an address on every tile except arguments, and on FIFO buffers.

    PtoError if the tiles do not fit, or if the program gives a tile an address that is not known
    statically: the run would compare it with placed tiles.
    """
    placement = facts_of(func).on(target).placement
    problems = [p for p in placement.faults() if p.is_error]
    if problems:
        raise PtoError(problems)
    tiles, planned = placement.beside_slots
    for tile in tiles.values():
        if tile.explicit and tile.address is None and planned.tiles.get(tile.space):
            message = f"%{tile.value.name}: its address is not known statically"
            raise refuse(message, tile.value.span, "give every tile of this memory an address")
    for op in func.ops:
        made = isinstance(op, Op) and ALLOCATES in op.page.traits and not op.bound("addr")
        if made and op.results[0] not in tiles:
            message = f"%{op.results[0].name}: its type is not known, so no address can be assigned"
            raise refuse(message, op.span, "write the type of the tile")
    written = _Written(planned.addresses, placement.slots())
    body, names = rewritten(func.body, written.op), FreshNames(func)
    for address, op in written.numbers.items():
        op.results[0].name = names.name(f"at_{address}")
    return replace(func, body=replace(body, ops=[*written.numbers.values(), *body.ops]))


def placed(func: Func) -> bool:
    """Return whether every tile that the function allocates has an address."""
    ops = (op for op in func.ops if isinstance(op, Op) and ALLOCATES in op.page.traits)
    return all(op.bound("addr") for op in ops)


@dataclass
class _Written:
    """The rewriter that adds addresses to tiles and FIFO buffers."""

    addresses: Mapping[Value, int]
    slots: Mapping[Op, int]
    numbers: dict[int, Op] = field(default_factory=dict[int, Op])  # address -> its constant

    def op(self, op: AnyOp) -> Iterator[AnyOp]:
        if isinstance(op, Op) and op in self.slots:
            op = replace(op, attrs={**op.attrs, "auto": False, "base": self.slots[op]})
        elif isinstance(op, Op) and ALLOCATES in op.page.traits and not op.bound("addr"):
            number = self._number(self.addresses[op.results[0]])
            page = op.page if "addr" in _inputs(op.page) else _at_address()
            op = replace(op, page=page, operands={**op.operands, "addr": number})
        yield op

    def _number(self, address: int) -> Value:
        """Return the constant of an address."""
        if address not in self.numbers:
            self.numbers[address] = constant(Value("", I64), address)
        return self.numbers[address].results[0]


def _inputs(page: type[Instr]) -> set[str]:
    return {operand.name for operand in page.operands}


@cache
def _at_address() -> type[Instr]:
    """Return the page whose result is a tile at a required address."""
    pages = (page for page in walk() if ALLOCATES in page.traits and "addr" in _inputs(page))
    return next(page for page in pages if page.operand("addr").required)
