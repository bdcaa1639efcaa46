"""Placement: an address for every tile to which the program gives none.

Tiles share bytes only if they do not all fit, and then only tiles that are never live together (see
`tileallocator`, `liveness`). If they still do not fit, lifetimes begin at the first use of a tile
(see `firstuse`), then are those of the contents (see `contentliveness`), and finally instructions
write outputs over inputs (see `inplace`).

Tiles at addresses from the program may overlap each other. No placed tile overlaps them: a known
address is kept free for the whole function, and a tile at a run-time address is compared with the
placed tiles when it is made (`Planned.conflict`, in both engines). If there are such tiles, the
others are placed compactly at the end of the memory, because programs count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

from ptokit.analysis.fifoentries import fact
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import Interference, Storage
from ptokit.analysis.tileallocator import (
    Extent,
    PipesOfUse,
    Places,
    TileAllocator,
    in_gaps,
    merged,
    pipes_of_use,
)
from ptokit.analysis.violation import broken
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, Note, PtoError, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.traits import RECEIVES, FifoRole
from ptokit.isa.model.targets import MEMORY_RULES, PLANNED, SPACES, Target
from ptokit.isa.model.tiles import ConvTileType, TileType

if TYPE_CHECKING:
    from ptokit.analysis.firstuse import FirstUses

SPACIOUS = 1 << 62  # larger than any memory
LISTED = 8  # maximum number of tiles in a diagnostic


@dataclass
class Planned:
    """The placed tiles of a function: addresses by value, and tiles by memory.

    `over` are tiles that an instruction may write over another tile, and tiles that hardware does
    not use: their bytes may hold another tile when they are allocated. `behind` is the end of each
    memory that is extended beyond its capacity, for tiles that hardware keeps in FIFO slots.
    """

    addresses: dict[Value, int] = field(default_factory=dict[Value, int])
    tiles: dict[str, list[Storage]] = field(default_factory=dict[str, "list[Storage]"])  # by memory
    over: set[Value] = field(default_factory=set[Value])
    behind: dict[str, int] = field(default_factory=dict[str, int])

    def conflict(
        self, kind: TileType | ConvTileType, address: int, target: Target, value: Value | None
    ) -> Iterator[Diagnostic]:
        """Yield the first placed tile that overlaps a tile at an address from the program."""
        end = address + kind.nbytes
        for other in self.tiles.get(SPACES[kind.loc], ()):
            if address < other.end and other.start < end:
                yield _overlap(value, (address, end), other, target)
                return

    def fits(self, target: Target) -> bool:
        """Return whether each placed tile lies inside its memory."""
        return all(_inside(tile, target) for there in self.tiles.values() for tile in there)

    def ranges(self, kind: TileType | ConvTileType) -> list[Extent]:
        """Return the bytes of placed tiles in the memory of a type, adjacent ranges merged."""
        return merged((o.start, o.end) for o in self.tiles.get(SPACES[kind.loc], ()))


def _inside(tile: Storage, target: Target) -> bool:
    """Return whether the tile is inside its memory; a memory of size 0 is reported elsewhere."""
    capacity = target.capacity[tile.space]
    return not capacity or (tile.start >= 0 and tile.end <= capacity)


class Placement:
    """The addresses of a function's tiles on a target, computed on demand.

    `shorter` gives shorter and shorter lifetimes, for tiles that do not fit with those of the
    handles.
    """

    def __init__(
        self,
        interference: Interference,
        facts: Facts,
        shorter: Sequence[Callable[[], FirstUses]],
    ) -> None:
        self.interference, self.facts, self.shorter = interference, facts, shorter
        self.func, self.target = interference.func, facts.target

    @cached_property
    def _own(self) -> tuple[dict[Value, Storage], Planned]:
        """Return the tiles without those that pops return, and their plan."""
        tiles = self.interference.tiles(self.facts)
        return tiles, self._placed(tiles)

    @cached_property
    def beside_slots(self) -> tuple[dict[Value, Storage], Planned]:
        """Return the tiles and their plan; popped tiles are included if all fit.

        On hardware popped tiles lie in the buffers of their FIFOs.
        """
        made = filter(None, self.interference.definitions.values())
        if any(RECEIVES in op.page.traits for op in made):
            tiles = self.interference.tiles(self.facts, received=True)
            planned = self._placed(tiles)
            slots = _places_of_slots(self.func, tiles.values(), self.target)
            if planned.fits(self.target) and not [*_without_room(slots, self.target)]:
                return tiles, planned
        return self._own

    @cached_property
    def planned(self) -> Planned:
        """Return the address plan of a run: for placed tiles and for popped tiles."""
        tiles, planned = self.beside_slots
        every = self.interference.tiles(self.facts, received=True)
        further = by_memory(tile for value, tile in every.items() if value not in tiles)
        if further:
            own = {space: [*there] for space, there in planned.tiles.items()}
            planned = Planned({**planned.addresses}, own, planned.over)
        for space, there in further.items():
            line, whole = self.target.alignment, [(0, self.target.capacity[space])]
            found = TileAllocator(there, whole, SPACIOUS, line, dict).shortest()
            for tile in there:
                tile.address = planned.addresses[tile.value] = found[tile.value]
            planned.tiles.setdefault(space, []).extend(there)
            planned.behind[space] = max(tile.end for tile in there)
        return planned

    def _placed(self, tiles: Mapping[Value, Storage]) -> Planned:
        """Return addresses for the tiles without one."""
        planned, target = Planned(), self.target
        touched = cache(lambda: pipes_of_use(self.interference, self.facts))
        slots = {s: sum(sizes.values()) for s, sizes in reserved(self.func).items()}
        for space, there in by_memory(tiles.values()).items():
            own = [tile for tile in there if not tile.explicit]
            given = [tile for tile in there if tile.explicit]
            room = max(target.capacity[space] - slots.get(space, 0), 0)
            limit = max(min(target.usable.get(space, SPACIOUS) - slots.get(space, 0), room), 0)
            places = _places(own, given, limit, target, touched)
            for lives in self.shorter:
                if any(at + tiles[v].kind.nbytes > room for v, at in places.items()):
                    lives().shorten(own)
                    places = _places(own, given, limit, target, touched)
            for value, address in places.items():
                tiles[value].address = planned.addresses[value] = address
            planned.over.update(tile.value for tile in own if tile.coincides or tile.idle)
            if own:
                planned.tiles[space] = own
        return planned

    def slots(self) -> dict[Op, int]:
        """Return addresses for the FIFO buffers, free of tiles; PtoError if they do not fit."""
        tiles, _ = self.beside_slots
        places = _places_of_slots(self.func, tiles.values(), self.target)
        if problems := [*_without_room(places, self.target)]:
            raise PtoError(problems)
        return {op: at for op, (_, at, _) in places.items()}

    def faults(self, given: Collection[Value] = ()) -> Iterator[Diagnostic]:
        """Yield faults of the placement: tiles that do not fit or have no fixed address.

        If only the tiles `given` by a caller are too many it is a warning, because the caller
        places them.
        """
        tiles, target = self._own[0], self.target
        for tile in tiles.values():
            yield from memory_errors(tile.kind, target, f"%{tile.value.name}", tile.value.span)
            brought = self.interference.definitions[tile.value]
            computed = brought is not None and brought.page.executes  # an SSA value has no address
            if tile.outlives and not tile.explicit and not computed:
                yield _outlives(tile)
        yield from _received(self.interference, self.facts)
        for there in by_memory(tiles.values()).values():
            yield from _overflowing(there, target, given)
        slots = _places_of_slots(self.func, tiles.values(), target)
        fixed = {t.space for t in tiles.values() if t.explicit or not _inside(t, target)}
        movable = {op: place for op, place in slots.items() if place[0] not in fixed}
        yield from _without_room(movable, target)
        yield from _crowded(tiles.values(), target)


@dataclass(frozen=True)
class LiveSet:
    """The tiles of a memory, in text order, that are live at the definition of one of them."""

    defined: Storage
    live: tuple[Storage, ...]

    @property
    def nbytes(self) -> int:
        """Return the bytes of the live tiles; overlapping tiles at known addresses count once."""
        given = [t for t in self.live if t.explicit and t.address is not None]
        others = sum(t.kind.nbytes for t in self.live if not (t.explicit and t.address is not None))
        return others + sum(end - start for start, end in merged((t.start, t.end) for t in given))


def peak_live_set(there: Iterable[Storage]) -> LiveSet:
    """Return the largest live set of the tiles of one memory; the first of several.

    Tiles become live at their definition, so no larger set exists in between.
    """
    tiles = {tile.value: tile for tile in there}
    order = {value: number for number, value in enumerate(tiles)}

    def live_set(tile: Storage) -> LiveSet:
        live = sorted({tile.value, *(tile.beside & tiles.keys())}, key=order.__getitem__)
        return LiveSet(tile, tuple(tiles[value] for value in live))

    return max(map(live_set, tiles.values()), key=lambda m: m.nbytes)


def by_memory(tiles: Iterable[Storage]) -> dict[str, list[Storage]]:
    """Return the tiles of each memory, in the same order."""
    found: dict[str, list[Storage]] = {}
    for tile in tiles:
        found.setdefault(tile.space, []).append(tile)
    return found


def reserved(func: Func) -> dict[str, dict[Op, int]]:
    """Return the bytes of each FIFO buffer without an address, by memory."""
    found: dict[str, dict[Op, int]] = {}
    some = any(page.fifo_role is FifoRole.RESERVES for page in func.pages)
    for op in func.ops if some else ():
        if isinstance(op, Op) and op.page.fifo_role is FifoRole.RESERVES and _unplaced(op):
            found.setdefault(SPACES[fact(op, "location")], {})[op] = fact(op, "size")
    return found


def _unplaced(op: Op) -> bool:
    return fact(op, "base") is None and fact(op, "location") in SPACES


def _without_room(
    places: Mapping[Op, tuple[str, int, int]], target: Target
) -> Iterator[Diagnostic]:
    """Yield errors for buffers that exceed their memory."""
    for op, (space, at, end) in places.items():
        if end > target.capacity[space] > 0:
            yield Diagnostic(
                "out-of-memory",
                f"{op.name}: not enough memory for the buffer",
                op.span,
                seen=f"tiles leave no {end - at} contiguous bytes of {space}",
                help="use smaller tiles, or fewer slots",
                targets=(target.name,),
            )


def _places_of_slots(
    func: Func, tiles: Iterable[Storage], target: Target
) -> dict[Op, tuple[str, int, int]]:
    """Return the memory, first byte and end of each buffer without an address."""
    places = dict[Op, tuple[str, int, int]]()
    there = by_memory(tile for tile in tiles if tile.address is not None)
    for space, sizes in reserved(func).items():
        used = merged((tile.start, tile.end) for tile in there.get(space, ()))
        found = in_gaps(sizes.values(), used, target.alignment)
        places |= {
            op: (space, at, at + n) for (op, n), at in zip(sizes.items(), found, strict=True)
        }
    return places


def _places(
    own: list[Storage],
    given: list[Storage],
    limit: int,
    target: Target,
    touched: Callable[[], PipesOfUse],
) -> Places:
    """Return addresses for the tiles of one memory, beside tiles at given addresses."""
    if not own:
        return {}
    space, line = own[0].space, target.alignment
    capacity = target.capacity[space]
    used = merged((tile.start, tile.end) for tile in given if tile.address is not None)
    if all(tile.address is not None for tile in given):
        return TileAllocator(own, used, limit, line, touched).best()
    mirrored = [(capacity - end, capacity - start) for start, end in reversed(used)]
    fitting = TileAllocator(own, mirrored, capacity, line, touched)
    return {v: capacity - at - fitting.sizes[v] for v, at in fitting.shortest().items()}


def _overlap(
    value: Value | None, mine: tuple[int, int], other: Storage, target: Target
) -> Diagnostic:
    slug, name = "placed-overlap", f"%{value.name}" if value else "the tile"
    return Diagnostic(
        slug,
        f"{name}: {CATALOGUE[slug].title}",
        value.span if value else None,
        rule="tiles with explicit addresses do not overlap tiles that ptokit placed",
        seen=f"{name} has bytes {mine[0]} to {mine[1] - 1} of {other.space}, "
        f"%{other.value.name} has {other.start} to {other.end - 1}",
        help=f"give %{other.value.name} an address too, or change the address of {name}",
        targets=(target.name,),
        notes=(Note(f"ptokit placed %{other.value.name}", other.value.span),),
    )


def _received(interference: Interference, facts: Facts) -> Iterator[Diagnostic]:
    """Yield errors for popped tiles that are larger than their memory."""
    for value, op in interference.definitions.items():
        kind = facts.type_of(value)
        if op is None or op.page.fifo_role is not FifoRole.POPS or not isinstance(kind, TileType):
            continue
        space = SPACES[kind.loc]
        if kind.nbytes > (capacity := facts.target.capacity[space]) > 0:
            yield Diagnostic(
                "out-of-memory",
                f"%{value.name}: {CATALOGUE['out-of-memory'].title}",
                value.span,
                rule=f"a tile <= {capacity} bytes of {space}",
                seen=f"its type has {kind.nbytes} bytes",
                help="pop smaller entries",
                targets=(facts.target.name,),
            )


def _overflowing(
    there: list[Storage], target: Target, given: Collection[Value]
) -> Iterator[Diagnostic]:
    """Yield an error if the tiles of one memory do not fit, with the tiles at the peak."""
    own, space = [tile for tile in there if not tile.explicit], there[0].space
    if all(_inside(tile, target) for tile in own):
        return
    peak, capacity = peak_live_set(there), target.capacity[space]
    slug, name = "out-of-memory", f"%{peak.defined.value.name}"
    most = max(peak.live, key=lambda tile: tile.kind.nbytes).kind.nbytes
    many = f"{len(peak.live)} tiles need" if len(peak.live) > 1 else "1 tile needs"
    made = sum(tile.kind.nbytes for tile in peak.live if tile.value not in given)
    placed = peak.live[0].value in given if len(peak.live) == 1 else made <= capacity < peak.nbytes
    gap = "" if peak.nbytes > capacity else f", and no {most} contiguous bytes are free"
    yield Diagnostic(
        slug,
        f"{name}: {CATALOGUE[slug].title}",
        peak.defined.value.span,
        severity=Severity.WARNING if placed else Severity.ERROR,
        rule=f"tiles live at the same time <= {capacity} bytes of {space}",
        seen=f"{many} {peak.nbytes} bytes{gap}",
        help="use smaller tiles, or shorten their live ranges",
        targets=(target.name,),
        notes=(*_when(peak), *_who(peak)),
        by=(Judge.HARDWARE,) if not placed and peak.nbytes <= PLANNED.get(space, 0) else (),
    )


def _when(peak: LiveSet) -> Iterator[Note]:
    """Yield a note on the op of the peak, if it is not the definition of the tile."""
    op, made = peak.defined.fullest, peak.defined.value.span
    if op is not None and op.span is not None and made is not None and op.span.line != made.line:
        yield Note(f"the peak is where {op.name} writes %{peak.defined.value.name}", op.span)


def _who(peak: LiveSet) -> Iterator[Note]:
    """Yield notes on the largest tiles that live at the peak, and the count of the others."""
    others = [tile for tile in peak.live if tile is not peak.defined]
    others.sort(key=lambda tile: -tile.kind.nbytes)
    for tile in others[:LISTED]:
        span = tile.value.span
        line = f", line {span.line}" if span else ""
        yield Note(f"live here: %{tile.value.name}, {tile.kind.nbytes} bytes{line}")
    if more := others[LISTED:]:
        nbytes = sum(tile.kind.nbytes for tile in more)
        yield Note(f"and {len(more)} more, {nbytes} bytes in total")


def _crowded(tiles: Iterable[Storage], target: Target) -> Iterator[Diagnostic]:
    """Yield warnings for memories in which tiles use the part reserved by front ends."""
    for space, usable in target.usable.items():
        there = [t for t in tiles if t.space == space and t.address is not None]
        last = max(there, key=lambda tile: tile.end, default=None)
        if last is not None and usable < last.end <= target.capacity[space]:
            slug, name = "near-capacity", f"%{last.value.name}"
            yield Diagnostic(
                slug,
                f"{name}: {CATALOGUE[slug].title}",
                last.value.span,
                severity=Severity.WARNING,
                rule=f"tiles use <= {usable} of {target.capacity[space]} bytes of {space}",
                seen=f"{name} ends at byte {last.end}",
                help="use smaller tiles, or shorten their live ranges",
                targets=(target.name,),
            )


def _outlives(tile: Storage) -> Diagnostic:
    slug, name = "tile-outlives-iteration", f"%{tile.value.name}"
    return Diagnostic(
        slug,
        f"{name}: {CATALOGUE[slug].title}",
        tile.value.span,
        rule="a tile has one address, and each iteration redefines the tile in the same bytes",
        seen=f"a handle from the previous iteration still names {name} and is used later",
        help=f"define {name} before the loop, or copy what is still needed",
    )


def memory_errors(
    kind: TileType | ConvTileType, target: Target, label: str, span: Span | None
) -> Iterator[Diagnostic]:
    """Yield an error (SA-0351) if the target lacks the memory of the location."""
    env = {"tile": kind, "machine": target}
    for rule in MEMORY_RULES:
        if rule.holds(env) is False:
            yield broken(label, rule, env, span)
