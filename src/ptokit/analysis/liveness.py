"""Liveness, and the resulting interference of tiles: pairs that must not share bytes.

Backward data flow over the regions of a function: a value is live if it may be used before its next
definition. `Liveness` defines uses and definitions of handles; its subclasses those of tile
contents. A tile is live while a live handle may name it. Two tiles interfere if one is live at the
definition of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from ptokit.analysis.aliases import NONE, Names, PointsTo, redefined, repeats, union
from ptokit.analysis.known import Facts
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.traits import ALIASES, READDRESSES, RECEIVES
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Kind


class Liveness:
    """The handles live `after` each op; subclasses compute the liveness of other values.

    An op ends the lifetime of the values that it `kills`, before the op and its regions, and starts
    that of the values that it `uses`. `kept` values are live at the end of the function. A region
    with arguments, or of an unknown op, may run again.
    """

    def __init__(self, func: Func) -> None:
        self.after: dict[AnyOp, frozenset[Value]] = {}
        self.exposed: dict[Block, frozenset[Value]] = {}
        self._block(func.body, frozenset(self.kept(func)))

    def uses(self, op: AnyOp) -> Iterable[Value]:
        return used(op)

    def kills(self, op: AnyOp) -> Iterable[Value]:
        return redefined(op)

    def kept(self, func: Func) -> Iterable[Value]:
        """Return the arguments, and for a flat program the results, which are read after a run."""
        return (*func.args, *(v for op in func.body.ops for v in op.results if func.flat))

    def _block(self, block: Block, live: frozenset[Value]) -> frozenset[Value]:
        """Return the values live before the block, given those `live` after it."""
        for op in reversed(block.ops):
            self.after[op] = live  # of ops in a row often one set
            if not live.isdisjoint(killed := [*self.kills(op)]):
                live = live.difference(killed)
            live = self._regions(op, live) if op.regions else live
            if not live.issuperset(read := [*self.uses(op)]):
                live = live.union(read)
        return live - {*block.args}

    def _regions(self, op: AnyOp, live: frozenset[Value]) -> frozenset[Value]:
        again = [region for region in op.regions if repeats(op, region)]
        around = live.union(*(self.needs(region) for region in again))
        ways = [self._block(region, around) for region in op.regions]
        skipped = not ways or len(ways) == 1 or bool(again)
        return NONE.union(*ways, *((live,) if skipped else ()))

    def needs(self, region: Block) -> frozenset[Value]:
        """Return the values that a region uses before it defines them."""
        if region not in self.exposed:
            self.exposed[region] = self._block(region, NONE)
        return self.exposed[region]


@dataclass(eq=False)
class Storage:
    """The bytes of one tile.

    `explicit`: the program gives the address, which is None if not known statically. `beside` are
    the tiles live at its definition, or at the op where it is `fullest` of those that write it.
    `interferes` also has the tiles defined during its lifetime, with which it must not share bytes,
    except those that it `coincides` with at equal addresses. `ops` is the lifetime if it is shorter
    than that of the handles. `outlives`: its content is needed when the next iteration of a loop
    defines it again. `idle`: hardware does not use it.
    """

    value: Value
    kind: TileType | ConvTileType
    address: int | None = None
    explicit: bool = False
    beside: set[Value] = field(default_factory=set[Value])
    interferes: set[Value] = field(default_factory=set[Value])
    coincides: set[Value] = field(default_factory=set[Value])
    fullest: AnyOp | None = None
    ops: frozenset[AnyOp] | None = None
    idle: bool = False

    @property
    def outlives(self) -> bool:
        return self.value in self.beside

    @property
    def space(self) -> str:
        """Return the memory that holds the tile."""
        return SPACES[self.kind.loc]

    @property
    def start(self) -> int:
        """Return the first byte, which must be known."""
        assert self.address is not None
        return self.address

    @property
    def end(self) -> int:
        """Return the first byte after the tile."""
        return self.start + self.kind.nbytes


class Interference(PointsTo):
    """The storage that is live at each definition of other storage, on any target."""

    def __init__(self, func: Func, live: Liveness) -> None:
        self.args = frozenset(func.args)
        self.live = live.after
        self.beside: dict[Value, set[Value]] = {}
        super().__init__(func)

    def defined(self, value: Value, op: Op | None, names: Names) -> None:
        live = self.args if op is None else self.live[op] | {*used(op)}
        others = union(names, (v for v in live if v is not value)) & self.definitions.keys()
        self.beside.setdefault(value, set()).update(others)

    def tiles(self, facts: Facts, *, received: bool = False) -> dict[Value, Storage]:
        """Return the tiles of the function in text order; `received`: with popped tiles."""
        found: dict[Value, Storage] = {}
        for value, op in self.definitions.items():
            kind = facts.type_of(value)
            elsewhere = op is not None and RECEIVES in op.page.traits and not received
            if isinstance(kind, TileType | ConvTileType) and not elsewhere:
                address = op.bound("addr") if op is not None else ()
                known = cast("int | None", facts.numbers.get(address[0]) if address else None)
                derived = op is not None and READDRESSES in op.page.traits
                explicit = bool(address) or derived
                found[value] = Storage(value, kind, known, explicit=explicit)
        busy = found.keys() - _idle(self.func, facts.target)
        for value, tile in found.items():
            tile.idle = value not in busy
            tile.beside = set() if tile.idle else self.beside[value] & busy
            tile.interferes |= tile.beside
            for other in tile.beside:
                found[other].interferes.add(value)
        return found


def scratch_of(op: Op, target: Target) -> list[str]:
    """Return the operands that hardware of a target uses as scratch."""
    spare = _spare(op.page, target)
    return [o.name for o in scratch_operands(op.page) if o.name not in spare]


def _spare(page: type[Instr], target: Target) -> set[str]:
    """Return the scratch operands that hardware of a target does not use."""
    return {o.name for o in scratch_operands(page) if target.follows(o.idle)}


@cache
def scratch_operands(page: type[Instr]) -> tuple[Operand, ...]:
    return tuple(o for o in page.operands if o.role is Role.SCRATCH)


def spoiled(op: Op, facts: Facts) -> list[str]:
    """Return the tiles that are undefined after an op: scratch, and tiles not preserved."""
    target, page = facts.target, op.page
    if not (page.spoiled or scratch_operands(page)):
        return []
    scratch = scratch_of(op, target) if target.is_chip else []
    names = [name for name in scratch if page.operand(name).kind is Kind.TILE]
    others = [s for s in page.spoiled if target.follows(s.targets)]
    env = facts.environment(op) if others else {}
    names += [s.operand.name for s in others if s.condition.eval(env) is True]
    return [name for name in names if op.bound(name)]


def _idle(func: Func, target: Target) -> set[Value]:
    """Return values that are only scratch of instructions that do not use it on the target."""
    idle, busy = set[Value](), {*func.args}
    if not any(_spare(page, target) for page in func.pages):
        return idle
    for op in func.ops:
        if isinstance(op, OpaqueOp):
            busy.update(op.uses)
            continue
        spare = _spare(op.page, target)
        for name, value in op.values():
            (idle if name in spare else busy).add(value)
    return idle - busy


class LiveRanges(Interference):
    """Interference, with the number in text order of the `last` op where a storage is live."""

    def __init__(self, func: Func, live: Liveness) -> None:
        self.number = {op: number for number, op in enumerate(func.ops)}
        self.last: dict[Value, int] = {}
        super().__init__(func, live)

    def passed(self, op: AnyOp, names: Names) -> None:
        number = self.number[op]
        for value in union(names, (*self.live[op], *used(op))):
            self.last[value] = max(self.last.get(value, 0), number)


def used(op: AnyOp) -> Iterator[Value]:
    """Yield the values that an op reads; a handle that becomes a view is not read."""
    if not isinstance(op, Op):
        yield from op.uses
        return
    handle = op.page.outs()[0].name if ALIASES in op.page.traits else ""
    for name, value in op.values():
        if name != handle:
            yield value
