"""Liveness of tile contents by parts; an op that overwrites all of a part kills it.

A tile that each iteration of a loop overwrites before reading is not loop-carried: after its last
read other tiles may use its bytes, though its handle is used again. Parts are sets of bytes that
the instructions of a function do not distinguish. A part that is never read need not be
overwritten, and a tile that is written part by part is killed part by part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ptokit.analysis.aliases import NONE, Names, redefined, union
from ptokit.analysis.effects import ByteRanges, effects
from ptokit.analysis.firstuse import FirstUses, Storages
from ptokit.analysis.inplace import in_place
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import Liveness, Storage, used
from ptokit.ir.module import IN_TURN, AnyOp, Func, Op, Value
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, EXPOSES, HANDLE, WINDOW
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import ConvTileType, TileType

Bytes: TypeAlias = int  # a set of bytes of a tile: bit n is byte n
Content: TypeAlias = "dict[Value, Bytes]"
MOST_BYTES = 1 << 24  # of a tile; larger than any memory
MOST_PARTS = 32  # with more parts a tile is treated as a whole
HANDLES = {ALIASES, ALLOCATES, HANDLE}  # ops on handles read no content


class ContentLiveness(FirstUses):
    """First uses, refined: a tile without a live part needs no bytes.

    Some tiles live as long as their handles, since they may be used in more ways than instructions
    show: tiles that a loop uses in rotation, and tiles that unknown ops or numbers point to.
    """

    def __init__(self, func: Func, live: Liveness, target: Target) -> None:
        self.named: dict[AnyOp, Names] = {}
        super().__init__(func, live)
        self.facts = _known(func, target)
        self.whole = {*self.definitions} | _renamed(func)
        self.whole -= _windows(func, self.whole)
        self.exact = {v for v in self.late if _is_tile(self.facts, v)} - {*self._kept()}
        self.reads = {op: self._read(op) for op in self.named}
        self.writes = {op: self._written(op) for op in self.named}
        self.parts = {value: self._divided(value) for value in self.exact}
        self.of = {part: value for value, parts in self.parts.items() for part in parts}
        self.needed = _PartLiveness(self).after

    def passed(self, op: AnyOp, names: Names) -> None:
        super().passed(op, names)
        before = self.named.get(op, {})
        here = (*used(op), *op.results)
        self.named[op] = {v: before.get(v, NONE) | names.get(v, NONE) for v in here}

    def living(self, op: AnyOp) -> Storages:
        needed = {self.of[part] for part in self.needed[op] if part in self.of}
        return super().living(op) - (self.exact - needed)

    def _kept(self) -> Iterator[Value]:
        for value, op in self.definitions.items():
            if op is not None and IN_TURN in op.attrs:
                yield value
        for op, names in self.named.items():
            if not isinstance(op, Op) or EXPOSES in op.page.traits:
                yield from union(names, names)

    def _read(self, op: AnyOp) -> Content:
        """Return the bytes of each tile that an op may read.

        These are all bytes, unless an instruction reads through a handle on the whole tile.
        """
        if not isinstance(op, Op) or op.regions or HANDLES.intersection(op.page.traits):
            return {}
        known = effects(op, self.facts) if _instruction(op) else None
        found: Content = {}
        for handle, names in self.named[op].items():
            if known is not None and handle not in known.reads:
                continue
            alone = known is not None and handle in self.whole and len(names) == 1
            for value in names & self.exact:
                some = _bits(known.reads[handle]) if known and alone else None
                read = self._all(value) if some is None else some
                found[value] = found.get(value, 0) | read
        return found

    def _written(self, op: AnyOp) -> Content:
        """Return the bytes of each tile that an op overwrites in any case."""
        if not isinstance(op, Op) or not _instruction(op):
            return {}
        found: Content = {}
        for handle, some in effects(op, self.facts).fills.items():
            names = self.named[op].get(handle, NONE)
            if handle in self.whole and len(names) == 1:
                (value,) = names
                found[value] = found.get(value, 0) | (_bits(some) or 0)
        return {value: some for value, some in found.items() if value in self.exact}

    def _all(self, value: Value) -> Bytes:
        kind = self.facts.type_of(value)
        assert isinstance(kind, TileType | ConvTileType)
        return (1 << kind.nbytes) - 1

    def _divided(self, value: Value) -> dict[Value, Bytes]:
        """Return the parts of a tile that are read, each with a value that stands for it."""
        read = {content[value] for content in self.reads.values() if value in content}
        written = {content[value] for content in self.writes.values() if value in content}
        every = _union(read)
        parts = [every] if every else []
        for each in (*read, *written):
            parts = [part for old in parts for part in (old & each, old & ~each) if part]
            if len(parts) > MOST_PARTS:
                parts = [every]
                break
        return {Value(value.name, value.type): part for part in parts}


class _PartLiveness(Liveness):
    """Liveness of parts of tiles."""

    def __init__(self, of: ContentLiveness) -> None:
        self.reads, self.writes, self.parts = of.reads, of.writes, of.parts
        super().__init__(of.func)

    def uses(self, op: AnyOp) -> Iterator[Value]:
        for value, some in self.reads.get(op, {}).items():
            yield from (part for part, own in self.parts[value].items() if own & some)

    def kills(self, op: AnyOp) -> Iterator[Value]:
        for result in op.results:
            yield from self.parts.get(result, ())
        for value, some in self.writes.get(op, {}).items():
            yield from (part for part, own in self.parts[value].items() if not own & ~some)

    def kept(self, func: Func) -> Iterable[Value]:
        return ()


class InPlaceLiveness(ContentLiveness):
    """Content liveness in which an instruction may write a tile over one that it reads last."""

    def __init__(self, func: Func, live: Liveness, target: Target) -> None:
        super().__init__(func, live, target)
        self.over: dict[AnyOp, set[tuple[Value, Value]]] = {}
        self.together: dict[Value, set[Value]] = {}
        for op in self.named:
            if isinstance(op, Op) and (pairs := set(self._pairs(op))):
                self.over[op] = pairs
        for out, source in (pair for pairs in self.over.values() for pair in pairs):
            self.together.setdefault(out, set()).add(source)
            self.together.setdefault(source, set()).add(out)
        for value, others in self.together.items():
            made = self.definitions[value]  # see `Planned.over`
            assert made is not None
            self.over.setdefault(made, set()).update((value, other) for other in others)

    def replaced(self, op: AnyOp, value: Value) -> Storages:
        pairs = (pair for pair in self.over.get(op, ()) if value in pair)
        return NONE.union(*pairs) - {value}

    def swept(self) -> FirstUses:
        super().swept()
        for op, pairs in self.over.items():
            for out, source in pairs if op in self.changed else ():
                if source not in self.found[out].apart:  # the input ends where the output begins
                    self.present[op] -= {source}
                    written = self.found[out]
                    written.at = [(o, w - {source} if o is op else w) for o, w in written.at]
        return self

    def shorten(self, tiles: Iterable[Storage]) -> None:
        known = [(tile, tile.interferes) for tile in tiles]
        super().shorten(tiles)
        for tile, before in known:
            both = self.together.get(tile.value, set()) & before
            tile.coincides = both - tile.interferes
            tile.interferes = tile.interferes | tile.coincides

    def _pairs(self, op: Op) -> Iterator[tuple[Value, Value]]:
        """Yield pairs of an output and an input storage that nothing reads after the op."""
        needed = self.living(op)
        for handles in in_place(op, self.facts):
            names = [self.named[op].get(h, NONE) & self.exact for h in handles if h in self.whole]
            if [len(self.named[op].get(h, NONE)) for h in handles] == [1, 1] == [*map(len, names)]:
                (out,), (source,) = names
                if out is not source and source not in needed:
                    yield out, source


def _known(func: Func, target: Target) -> Facts:
    """Return facts that hold in every iteration and branch; region arguments are unknown."""
    facts = Facts(target)
    for op in func.ops:
        if isinstance(op, Op) and not op.regions:
            facts.learn(op, facts.environment(op))
    return facts


def _instruction(op: Op) -> bool:
    """Return whether the body of the op gives its reads and writes."""
    return op.page.executes and not op.page.declared


def _is_tile(facts: Facts, value: Value) -> bool:
    kind = facts.type_of(value)
    return isinstance(kind, TileType | ConvTileType) and kind.nbytes <= MOST_BYTES


def _renamed(func: Func) -> set[Value]:
    """Return results that are handles on the bytes of other tiles."""
    aliases = (op for op in func.ops if isinstance(op, Op) and ALIASES in op.page.traits)
    return {value for op in aliases for value in op.results}


def _windows(func: Func, whole: set[Value]) -> set[Value]:
    """Return handles that may begin inside the tile that they name.

    These are windows, handles on windows, and handles on values that are not `whole`.
    """
    aliases = [op for op in func.ops if isinstance(op, Op) and ALIASES in op.page.traits]
    found, before = set[Value](), -1
    while len(found) > before:
        before = len(found)
        for op in aliases:
            (source,) = op.bound(op.page.ins()[0].name)
            if WINDOW in op.page.traits or source in found or source not in whole:
                found.update(redefined(op))
    return found


def _bits(some: ByteRanges) -> Bytes | None:
    if some.ranges is None:
        return None
    return _union(((1 << (stop - start)) - 1) << start for start, stop in some.ranges)


def _union(sets: Iterable[Bytes]) -> Bytes:
    every = 0
    for each in sets:
        every |= each
    return every
