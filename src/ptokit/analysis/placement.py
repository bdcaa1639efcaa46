"""Placement: an address for every tile that the program does not place itself.

Tiles that are never live at the same time share bytes (see `liveness`). Addresses that the program
gives are its own affair: tiles there may overlap one another. No placed tile ever lies there: a
known address is kept free for the whole function, and a tile at an address that only the run knows
is compared with the placed tiles when it is made (`Planned.conflict`, in both engines). Where there
are such tiles the others are placed from the end of the memory, because programs count from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import Interference, Storage
from ptokit.analysis.violation import broken
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Value
from ptokit.isa.model.targets import MEMORY_RULES, SPACES, Target
from ptokit.isa.model.tiles import ConvTileType, TileType


@dataclass
class Planned:
    """The placed tiles of a function: addresses by value, and whose bytes are whose."""

    addresses: dict[Value, int] = field(default_factory=dict[Value, int])
    tiles: dict[str, list[Storage]] = field(default_factory=dict[str, "list[Storage]"])  # by memory

    def conflict(
        self, kind: TileType | ConvTileType, address: int, target: Target, value: Value | None
    ) -> Iterator[Diagnostic]:
        """A placed tile that has bytes of a tile at an address of the program's own."""
        end = address + kind.nbytes
        for other in self.tiles.get(SPACES[kind.loc], ()):
            if address < _end(other) and _start(other) < end:
                yield _overlap(value, (address, end), other, target)
                return

    def ranges(self, kind: TileType | ConvTileType) -> list[tuple[int, int]]:
        """The bytes of the placed tiles in the memory of a type's location, neighbours joined."""
        joined: list[tuple[int, int]] = []
        for start, end in sorted(
            (_start(o), _end(o)) for o in self.tiles.get(SPACES[kind.loc], ())
        ):
            if joined and start <= joined[-1][1]:
                start, end = joined[-1][0], max(end, joined.pop()[1])
            joined.append((start, end))
        return joined


def _start(tile: Storage) -> int:
    assert tile.address is not None
    return tile.address


def _end(tile: Storage) -> int:
    return _start(tile) + tile.kind.nbytes


def plan(interference: Interference, facts: Facts, *, received: bool = False) -> Planned:
    """An address for each tile without one; with `received` also for those that pipes give."""
    return _plan(interference.tiles(facts, received=received), facts.target)[0]


def _plan(tiles: Mapping[Value, Storage], target: Target) -> tuple[Planned, list[Diagnostic]]:
    """First fit, in text order, and what did not fit."""
    planned, problems = Planned(), list[Diagnostic]()
    order = {value: number for number, value in enumerate(tiles)}
    given = [value for value, tile in tiles.items() if tile.explicit]
    for tile in tiles.values():
        if tile.explicit:
            continue
        space = SPACES[tile.kind.loc]
        beside = sorted({*given, *tile.interferes} & order.keys(), key=order.__getitem__)
        near = [o for o in (tiles[v] for v in beside) if SPACES[o.kind.loc] == space]
        tile.address = address = _fit(tile, near, target)
        planned.addresses[tile.value] = address
        planned.tiles.setdefault(space, []).append(tile)
        capacity = target.capacity[space]
        if capacity and (address < 0 or _end(tile) > capacity):
            live = [o for o in near if o.address is not None and not o.explicit]
            problems.append(_overflow(tile, live, target))
    return planned, problems


def _fit(tile: Storage, near: Iterable[Storage], target: Target) -> int:
    """The first place that is free, from the end where some address is not known."""
    capacity, size = target.capacity_of(tile.kind.loc), tile.kind.nbytes
    busy = sorted((_start(o), _end(o)) for o in near if o.address is not None)
    if all(o.address is not None for o in near if o.explicit):
        return _first_fit(busy, size, target.alignment)
    size = -(-size // target.alignment) * target.alignment
    mirrored = sorted((capacity - end, capacity - start) for start, end in busy)
    return capacity - size - _first_fit(mirrored, size, target.alignment)


def _first_fit(busy: Iterable[tuple[int, int]], size: int, alignment: int) -> int:
    at = 0
    for start, end in busy:
        if at + size <= start:
            break
        at = max(at, -(-end // alignment) * alignment)
    return at


def _overlap(
    value: Value | None, mine: tuple[int, int], other: Storage, target: Target
) -> Diagnostic:
    slug, name = "placed-overlap", f"%{value.name}" if value else "the tile"
    memory = SPACES[other.kind.loc]
    return Diagnostic(
        slug,
        f"{name}: {CATALOGUE[slug].title}",
        value.span if value else None,
        rule="an address that the program gives, and a tile that ptokit places, share no byte",
        seen=f"{name} has bytes {mine[0]} to {mine[1] - 1} of {memory}, "
        f"%{other.value.name} has {_start(other)} to {_end(other) - 1}",
        help=f"give %{other.value.name} an address too, or use another one for {name}",
        targets=(target.name,),
        notes=(Note(f"%{other.value.name} was placed by ptokit", other.value.span),),
    )


def _overflow(life: Storage, others: list[Storage], target: Target) -> Diagnostic:
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


def check_addresses(interference: Interference, facts: Facts) -> Iterator[Diagnostic]:
    """The tiles that ptokit places fit together, each at one address."""
    tiles = interference.tiles(facts)
    for tile in tiles.values():
        yield from memory_errors(tile.kind, facts.target, f"%{tile.value.name}", tile.value.span)
        brought = interference.definitions[tile.value]
        computed = brought is not None and brought.page.executes  # a value: it has no address
        if tile.outlives and not tile.explicit and not computed:
            yield _outlives(tile)
    yield from _plan(tiles, facts.target)[1]
    yield from _crowded(tiles.values(), facts.target)


def _crowded(tiles: Iterable[Storage], target: Target) -> Iterator[Diagnostic]:
    """A warning for each memory of which the tiles fill what front ends keep for themselves."""
    for space, usable in target.usable.items():
        there = [t for t in tiles if SPACES[t.kind.loc] == space and t.address is not None]
        last = max(there, key=_end, default=None)
        if last is not None and usable < _end(last) <= target.capacity[space]:
            slug, name = "near-capacity", f"%{last.value.name}"
            yield Diagnostic(
                slug,
                f"{name}: {CATALOGUE[slug].title}",
                last.value.span,
                severity=Severity.WARNING,
                rule=f"tiles end within {usable} of the {target.capacity[space]} bytes of {space}",
                seen=f"{name} ends at byte {_end(last)}",
                help="use smaller tiles, or stop using one before the next is defined",
                targets=(target.name,),
            )


def _outlives(tile: Storage) -> Diagnostic:
    slug, name = "tile-outlives-iteration", f"%{tile.value.name}"
    return Diagnostic(
        slug,
        f"{name}: {CATALOGUE[slug].title}",
        tile.value.span,
        rule="a tile has one address: each iteration defines it again in the same bytes",
        seen=f"a handle of the iteration before still names {name} and is used later",
        help=f"define {name} before the loop, or copy what is still needed to another tile",
    )


def memory_errors(
    kind: TileType | ConvTileType, target: Target, label: str, span: Span | None
) -> Iterator[Diagnostic]:
    """SA-0351: the target has the memory of the location."""
    env = {"tile": kind, "machine": target}
    for rule in MEMORY_RULES:
        if rule.holds(env) is False:
            yield broken(label, rule, env, span)
