"""Placement: an address for every tile that the program does not place itself.

Tiles share bytes only where they do not all fit, and then only those that are never live at the
same time (see `tileallocator`, `liveness`). Where even so they do not fit, lives begin at the first
use of a tile (see `firstuse`); where that is not enough, they are those of what tiles hold (see
`contentliveness`), and at last instructions write their output over an input (see `inplace`).
Addresses that the program gives are its own: tiles there may overlap one
another. No placed tile ever lies there: a known address is kept free for the whole function, and a
tile at an address that only the run knows is compared with the placed tiles when it is made
(`Planned.conflict`, in both engines). Where there are such tiles the others are placed from the end
of the memory, as close as they go, because programs count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from ptokit.analysis.fifoentries import fact
from ptokit.analysis.firstuse import FirstUses
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

SPACIOUS = 1 << 62  # larger than any memory
LISTED = 8  # most tiles that a diagnostic names


@dataclass
class Planned:
    """The placed tiles of a function: addresses by value, and whose bytes are whose.

    `over` are those that an instruction may write over another, and those that hardware does
    without: where such a tile is allocated, its bytes may still hold another. `behind` is where
    each memory ends that must have room behind what the target has: for tiles that lie in slots of
    FIFOs on hardware.
    """

    addresses: dict[Value, int] = field(default_factory=dict[Value, int])
    tiles: dict[str, list[Storage]] = field(default_factory=dict[str, "list[Storage]"])  # by memory
    over: set[Value] = field(default_factory=set[Value])
    behind: dict[str, int] = field(default_factory=dict[str, int])

    def conflict(
        self, kind: TileType | ConvTileType, address: int, target: Target, value: Value | None
    ) -> Iterator[Diagnostic]:
        """A placed tile that has bytes of a tile at an address of the program's own."""
        end = address + kind.nbytes
        for other in self.tiles.get(SPACES[kind.loc], ()):
            if address < other.end and other.start < end:
                yield _overlap(value, (address, end), other, target)
                return

    def fits(self, target: Target) -> bool:
        """Whether each placed tile lies inside its memory."""
        return all(_inside(tile, target) for there in self.tiles.values() for tile in there)

    def ranges(self, kind: TileType | ConvTileType) -> list[Extent]:
        """The bytes of the placed tiles in the memory of a type's location, neighbours joined."""
        return merged((o.start, o.end) for o in self.tiles.get(SPACES[kind.loc], ()))


def _inside(tile: Storage, target: Target) -> bool:
    """Whether it is inside of its memory; of one that the target has not, something else tells."""
    capacity = target.capacity[tile.space]
    return not capacity or (tile.start >= 0 and tile.end <= capacity)


class Placement:
    """Where the tiles of a function lie on a target; each part is worked out when asked for.

    `shorter` gives lives of tiles for where those of their handles are too long, one after another.
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
        """The tiles but for those that FIFOs give."""
        tiles = self.interference.tiles(self.facts)
        return tiles, self._placed(tiles)

    @cached_property
    def beside_slots(self) -> tuple[dict[Value, Storage], Planned]:
        """The tiles at their places; those that FIFOs give are among them if all have room.

        On hardware these lie in the buffers of their FIFOs.
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
        """An address for each tile without one, and for those that FIFOs give: of a run."""
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
        """An address for each of the tiles that has none."""
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
        """A place for each buffer of slots, where no tile ever lies; PtoError if there is none."""
        tiles, _ = self.beside_slots
        places = _places_of_slots(self.func, tiles.values(), self.target)
        if problems := [*_without_room(places, self.target)]:
            raise PtoError(problems)
        return {op: at for op, (_, at, _) in places.items()}

    def faults(self, given: Collection[Value] = ()) -> Iterator[Diagnostic]:
        """The tiles that ptokit places fit together, each at one address.

        Where only the tiles `given` by a caller are too many it is a warning: the caller places
        them.
        """
        tiles, target = self._own[0], self.target
        for tile in tiles.values():
            yield from memory_errors(tile.kind, target, f"%{tile.value.name}", tile.value.span)
            brought = self.interference.definitions[tile.value]
            computed = brought is not None and brought.page.executes  # a value: it has no address
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
    """The tiles of a memory, in text order, that are live where one of them is defined."""

    defined: Storage
    live: tuple[Storage, ...]

    @property
    def nbytes(self) -> int:
        """The bytes of the live tiles; what tiles at known addresses share counts once."""
        given = [t for t in self.live if t.explicit and t.address is not None]
        others = sum(t.kind.nbytes for t in self.live if not (t.explicit and t.address is not None))
        return others + sum(end - start for start, end in merged((t.start, t.end) for t in given))


def peak_live_set(there: Iterable[Storage]) -> LiveSet:
    """The live set of the most bytes, of the tiles of one memory; the first of several.

    Tiles begin to live where they are defined, so there is no larger one between.
    """
    tiles = {tile.value: tile for tile in there}
    order = {value: number for number, value in enumerate(tiles)}

    def live_set(tile: Storage) -> LiveSet:
        live = sorted({tile.value, *(tile.beside & tiles.keys())}, key=order.__getitem__)
        return LiveSet(tile, tuple(tiles[value] for value in live))

    return max(map(live_set, tiles.values()), key=lambda m: m.nbytes)


def by_memory(tiles: Iterable[Storage]) -> dict[str, list[Storage]]:
    """The tiles of each memory, in the same order."""
    found: dict[str, list[Storage]] = {}
    for tile in tiles:
        found.setdefault(tile.space, []).append(tile)
    return found


def reserved(func: Func) -> dict[str, dict[Op, int]]:
    """The bytes of each buffer for slots of FIFOs that the program does not place, by memory."""
    found: dict[str, dict[Op, int]] = {}
    for op in func.ops:
        if isinstance(op, Op) and op.page.fifo_role is FifoRole.RESERVES and _unplaced(op):
            found.setdefault(SPACES[fact(op, "location")], {})[op] = fact(op, "size")
    return found


def _unplaced(op: Op) -> bool:
    return fact(op, "base") is None and fact(op, "location") in SPACES


def _without_room(
    places: Mapping[Op, tuple[str, int, int]], target: Target
) -> Iterator[Diagnostic]:
    """The buffers that end behind their memory."""
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
    """The memory of each of those buffers, and its first byte and the one behind its last."""
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
    """Where the tiles of one memory go that are placed, beside those that the program places."""
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
    """Each tile that a FIFO gives fits its memory, as one of its slots does."""
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
    """The tiles of one memory do not fit: who lives there at the peak."""
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
    """The op of the peak, where that is not the one that makes a tile."""
    op, made = peak.defined.fullest, peak.defined.value.span
    if op is not None and op.span is not None and made is not None and op.span.line != made.line:
        yield Note(f"the peak is where {op.name} writes %{peak.defined.value.name}", op.span)


def _who(peak: LiveSet) -> Iterator[Note]:
    """The largest tiles that live at the peak, and the count of the others."""
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
    """A warning for each memory of which the tiles fill what front ends keep for themselves."""
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
    """SA-0351: the target has the memory of the location."""
    env = {"tile": kind, "machine": target}
    for rule in MEMORY_RULES:
        if rule.holds(env) is False:
            yield broken(label, rule, env, span)
