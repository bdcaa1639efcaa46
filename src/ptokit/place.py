"""Placement: an address for every tile that the program does not place itself.

Tiles that are never alive at the same time share bytes. A tile lives from its definition to its
last use, through handles that alias it; one that is used inside a loop it was defined before lives
until the loop ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptokit.catalogue import CATALOGUE
from ptokit.diagnostics import Diagnostic, Note
from ptokit.facts import Facts
from ptokit.ir import Block, Func, Op, Value
from ptokit.isa.targets import SPACES, Target
from ptokit.isa.tiles import ConvTileType, TileType


@dataclass
class Life:
    """One tile's bytes and the span of program positions in which they matter."""

    value: Value
    kind: TileType | ConvTileType
    first: int
    last: int
    address: int | None = None  # explicit, or found by `plan`
    explicit: bool = False

    def overlaps(self, other: Life) -> bool:
        return self.first <= other.last and other.first <= self.last


class Lives:
    """The lives of all tiles of a function, gathered in one walk over its text."""

    def __init__(self, func: Func, facts: Facts) -> None:
        self.facts = facts
        self.lives: dict[Value, Life] = {}
        self.root: dict[Value, Value] = {}  # a handle to the value whose bytes it names
        self.now = 0
        for arg in func.args:
            self._born(arg, None)
        self._block(func.body)
        kept = (*func.args, *(v for op in func.body.ops for v in op.results if func.flat))
        for value in kept:  # arguments and a flat program's results are looked at afterwards
            if value in self.lives:
                self.lives[value].last = self.now

    def _born(self, value: Value, address: int | None, *, explicit: bool = False) -> None:
        kind = self.facts.type_of(value)
        if isinstance(kind, TileType | ConvTileType):
            self.lives[value] = Life(value, kind, self.now, self.now, address, explicit)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self.now += 1
            if isinstance(op, Op):
                self._op(op)

    def _op(self, op: Op) -> None:
        start = self.now
        for _, value in op.values():
            self._use(value)
        for region in op.regions:
            self._block(region)
            self._alias_region(op, region)
        if op.regions:
            self.now += 1
            self._extend_over_loop(start)
        if op.page.aliases:
            self._alias_output(op)
        addresses = op.bound("addr")
        for result in op.results:
            sources = [v for _, v in op.values() if self._root(v) in self.lives]
            if op.page.allocates or addresses:
                address = self.facts.numbers.get(addresses[0]) if addresses else None
                self._born(result, address, explicit=bool(addresses))
            elif op.page.handle and sources:
                self.root[result] = self._root(sources[0])
            elif not op.page.handle:
                self._born(result, None)

    def _alias_output(self, op: Op) -> None:
        """The output's handle names the input's bytes from here on."""
        (output, *_), (source, *_) = op.page.outs(), op.page.ins()
        root = self._root(op.bound(source.name)[0])
        for target in op.bound(output.name):
            if root is not target:
                self.root[target] = root

    def _alias_region(self, op: Op, region: Block) -> None:
        """Block arguments and what a terminator yields name bytes from outside."""
        carried = op.bound("carried")
        for arg, value in zip(
            region.args[-len(carried) :] if carried else (), carried, strict=True
        ):
            self.root[arg] = self._root(value)

    def _root(self, value: Value) -> Value:
        while value in self.root:
            value = self.root[value]
        return value

    def _use(self, value: Value) -> None:
        life = self.lives.get(self._root(value))
        if life is not None:
            life.last = max(life.last, self.now)

    def _extend_over_loop(self, start: int) -> None:
        """What was born before a region op and is used inside lives until its end."""
        for life in self.lives.values():
            if life.first < start <= life.last:
                life.last = self.now


def plan(func: Func, facts: Facts) -> tuple[dict[Value, int], list[Diagnostic]]:
    """An address for each tile without one (first fit, in text order), and what did not fit."""
    lives = list(Lives(func, facts).lives.values())
    placed: dict[Value, int] = {}
    problems: list[Diagnostic] = []
    for life in lives:
        if life.explicit:
            continue
        space = SPACES[life.kind.loc]
        taken = [o for o in lives if o.address is not None and SPACES[o.kind.loc] == space]
        busy = sorted(
            (o.address, o.address + o.kind.nbytes)
            for o in taken
            if o.address is not None and (o.explicit or o.overlaps(life))
        )
        life.address = _first_fit(busy, life.kind.nbytes, facts.target.alignment)
        placed[life.value] = life.address
        if not facts.target.capacity[space]:
            problems += address_errors(life.kind, life.address, facts.target, life.value)
            life.address = None
        elif life.address + life.kind.nbytes > facts.target.capacity[space]:
            problems.append(_overflow(life, [o for o in taken if o.overlaps(life)], facts.target))
            life.address = None
    return placed, problems


def _first_fit(busy: list[tuple[int, int]], size: int, alignment: int) -> int:
    at = 0
    for start, end in busy:
        if at + size <= start:
            break
        at = max(at, -(-end // alignment) * alignment)
    return at


def _overflow(life: Life, others: list[Life], target: Target) -> Diagnostic:
    capacity = target.capacity_of(life.kind.loc)
    need = life.kind.nbytes + sum(o.kind.nbytes for o in others)
    slug = "out-of-memory"
    return Diagnostic(
        slug,
        f"%{life.value.name}: {CATALOGUE[slug].title}",
        life.value.span,
        rule=f"tiles alive together <= {capacity} bytes of {SPACES[life.kind.loc]}",
        seen=f"{len(others) + 1} tiles need {need} bytes",
        help="use smaller tiles, or stop using one before the next is defined",
        targets=(target.name,),
        notes=tuple(
            Note(f"alive here: %{o.value.name}, {o.kind.nbytes} bytes") for o in others[:4]
        ),
    )


def check_addresses(func: Func, facts: Facts) -> Iterator[Diagnostic]:
    """Explicit addresses: aligned and inside their memory. The others: they fit together."""
    for life in Lives(func, facts).lives.values():
        if life.explicit and life.address is not None:
            yield from address_errors(life.kind, life.address, facts.target, life.value)
    yield from plan(func, facts)[1]


def address_errors(
    kind: TileType | ConvTileType, address: int, target: Target, value: Value | None
) -> Iterator[Diagnostic]:
    """SA-0351 to SA-0354 for one tile."""
    capacity, space = target.capacity_of(kind.loc), SPACES[kind.loc]
    end = address + kind.nbytes
    if capacity == 0:
        slug, rule, seen = "memory-missing", f"capacity of {space} > 0", "capacity is 0"
    elif address % target.alignment:
        slug = "address-misaligned"
        rule, seen = f"addr % {target.alignment} == 0", f"addr is {address}"
    elif address < 0 or end > capacity:
        slug = "address-out-of-range"
        rule = f"0 <= addr and addr + bytes <= {capacity} ({space})"
        seen = f"addr + bytes is {end} ({address} + {kind.nbytes})"
    else:
        return
    label = f"%{value.name}" if value else "the tile"
    yield Diagnostic(
        slug,
        f"{label}: {CATALOGUE[slug].title}",
        value.span if value else None,
        rule=rule,
        seen=seen,
        help=f"{space} has {capacity} bytes on {target.name}",
        targets=(target.name,),
    )
