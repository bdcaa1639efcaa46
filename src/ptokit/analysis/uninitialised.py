"""Definite initialisation: tiles that are always read before anything is written to them.

A read is suspect if no earlier instruction in the text writes a value that may name the same bytes.
Later writes in a loop do not count, because the first iteration precedes them. A suspect read is
reported if the first iteration of every enclosing loop reaches it on every path, and if the body of
the instruction, run on unwritten memory, reads the tile; scratch operands are not read. The report
is a warning if the trip count of an enclosing loop is not known statically. A read of a partly
written tile is deferred to run time.

The report is an error, except in an excerpt: if a function reads tiles that no instruction in it
fills, the caller has to fill them, and the first read is a warning (dispute X62).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from ptokit.analysis.aliases import AliasClasses
from ptokit.analysis.checker import CheckedRegion
from ptokit.analysis.facts import TargetFacts
from ptokit.analysis.intervalanalysis import GUARDED, UndecidedRule, same_value
from ptokit.analysis.known import Facts
from ptokit.analysis.liveness import spoiled
from ptokit.analysis.noalias import Stretch, bytes_of
from ptokit.analysis.ranges import Fact
from ptokit.analysis.search import Search
from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.diagnostics.printable import counted
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.lang.operands import STORED
from ptokit.isa.lang.traits import ALIASES, ALLOCATES
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import Type

# `Trial` runs an instruction with some unwritten tiles; see `analysis.readtrial`.
ELSEWHERE = "use a separate scratch tile, or use the scratch tile before the other is written"
EXCERPT = "the function reads tiles that it never writes: the caller has to fill them"
TILES = (TileType, ConvTileType)
MOST_BYTES = 1 << 24  # of a tile whose elements are looked at
Trial: TypeAlias = "Callable[[Op, set[Value], Facts], Diagnostic | None]"
UndefinedPart: TypeAlias = "tuple[int, tuple[int, int]]"  # a number of elements, and the first


def uninitialised(of: TargetFacts, trial: Trial) -> tuple[list[Diagnostic], list[UndecidedRule]]:
    """Return the reads of tiles that are never written before, and undecided ones."""
    func, storage, facts = of.func, of.storage, of.proved
    suspects = dict(_suspects(of))
    if not suspects:
        return [], []
    walk = FirstIterations(func, facts, suspects, storage, trial)
    walk.search(func)
    tiles = of.base.classes  # by handle: a write to another tile at the same address does not count
    if {tiles.of(value) for value in walk.read} <= _ever_written(func, tiles):
        return walk.found, walk.left
    return [replace(d, severity=Severity.WARNING, help=EXCERPT) for d in walk.found], walk.left


def _ever_written(func: Func, storage: AliasClasses) -> set[Value]:
    """Return the storage that some instruction of the function fills."""
    ops = (op for op in func.ops if isinstance(op, Op))
    writing = [op for op in ops if op.page.executes and ALIASES not in op.page.traits]
    filled = {(op, storage.of(value)) for op in writing for _, value in _written(op)}
    if not any(op.results or not any(True for _ in _read(op)) for op, _ in filled):
        # without other sources, a tile that is only updated in place comes from the caller
        filled -= {(op, storage.of(value)) for op in writing for _, value in _read(op)}
    return {value for _, value in filled}


def _suspects(of: TargetFacts) -> Iterator[tuple[Op, dict[str, Suspect]]]:
    """Yield instructions with operands that are unwritten, or spoiled by an earlier op."""
    storage, facts = of.storage, of.proved
    written = {storage.of(arg) for arg in of.func.args}
    spoils: dict[Value, _Spoiling] = {}
    for op, path in _living(of.func.body, of.intervals.dead, ()):
        if isinstance(op, OpaqueOp) or op.calls:
            return  # a call may write any tile
        if op.page.executes and ALIASES not in op.page.traits:
            read = {n: (v, storage.of(v)) for n, v in _read(op)}
            found = {n: Suspect(v) for n, (v, root) in read.items() if root not in written}
            for n, (v, root) in read.items() if spoils else ():
                by = spoils.get(root)
                if by and by.ruins(v, path):
                    found[n] = Suspect(v, by.op)
            if found:
                yield op, found
            for _, value in _written(op):
                written.add(storage.of(value))
                spoils.pop(storage.of(value), None)
            for value in (op.bound(name)[0] for name in spoiled(op, facts)):
                piece = partial(bytes_of, pieces=of.pieces, facts=facts)
                spoils[storage.of(value)] = _Spoiling(op, value, path, piece)
        elif op.page.declared:
            outs = op.page.outs()
            written |= {storage.of(value) for o in outs for value in op.bound(o.name)}
            written |= {storage.of(value) for value in op.results}
            spoils = {root: by for root, by in spoils.items() if root not in written}


class Suspect(NamedTuple):
    """A tile that is read unwritten, or after the op `by` used its bytes as scratch."""

    tile: Value
    by: Op | None = None


class _Spoiling(NamedTuple):
    """An instruction that uses a tile as scratch, with its place in the regions."""

    op: Op
    tile: Value
    path: tuple[Block, ...]
    piece: Callable[[Value], Stretch | None]

    def ruins(self, value: Value, path: tuple[Block, ...]) -> bool:
        """Return whether the op runs before the code on `path` and its tile overlaps `value`."""
        before = path[: len(self.path)] == self.path
        one, two = (self.piece(v) for v in (self.tile, value)) if before else (None, None)
        return one is not None and two is not None and one.overlaps(two, placed=True)


def _living(
    block: Block, dead: Container[Block], path: tuple[Block, ...]
) -> Iterator[tuple[AnyOp, tuple[Block, ...]]]:
    """Yield every op that may run, in text order, with the enclosing blocks."""
    path = (*path, block)
    for op in block.ops:
        yield op, path
        for region in op.regions:
            if region not in dead:
                yield from _living(region, dead, path)


def _read(op: Op) -> Iterator[tuple[str, Value]]:
    """Yield the tiles that an instruction may read."""
    for name in _sources(op.page):
        bound = op.operands.get(name, ())
        for value in bound if isinstance(bound, tuple) else (bound,):
            if isinstance(value.type, TILES):
                yield name, value


@cache
def _sources(page: type[Instr]) -> tuple[str, ...]:
    """Return the operands that an instruction reads."""
    return tuple(o.name for o in page.operands if o.role in (Role.IN, Role.INOUT))


def _written(op: Op) -> Iterator[tuple[str, Value]]:
    """Yield the tiles that an instruction writes, in either form."""
    if op.results:
        yield from op.named_results()
    for name in _stored_outs(op.page):
        for value in op.bound(name):
            yield name, value


@cache
def _stored_outs(page: type[Instr]) -> tuple[str, ...]:
    """Return the tiles that an instruction writes."""
    return tuple(o.name for o in page.outs() if o.kind in STORED)


class FirstIterations(Search):
    """A walk through the first iteration of every loop that tries the suspects."""

    def __init__(
        self,
        func: Func,
        facts: Facts,
        suspects: dict[Op, dict[str, Suspect]],
        storage: AliasClasses,
        trial: Trial,
    ) -> None:
        super().__init__(facts.target, {}, func, {op: [] for op in suspects})
        self.suspects, self.storage, self.trial = suspects, storage, trial
        self.said: dict[bool, set[Value]] = {True: set(), False: set()}  # by certainty
        self.loops = 0  # enclosing loops that may have no iteration
        self.read: set[Value] = set()  # the tiles of reported reads

    def op(self, op: AnyOp) -> None:
        super().op(op)
        unwritten = self.suspects.get(op, {}) if isinstance(op, Op) else {}
        if isinstance(op, Op) and unwritten:
            self._try(op, unwritten)

    def _try(self, op: Op, suspects: dict[str, Suspect]) -> None:
        unwritten = {name: suspect.tile for name, suspect in suspects.items()}
        certain = self.exact and not self.loops
        roots = {self.storage.of(value) for value in unwritten.values()} - self.said[certain]
        written = [v for _, v in _written(op) if v not in unwritten.values()]
        env = self.facts.environment(op)
        if not roots or any(self.storage.of(value) in roots for value in written):
            return
        rules = [r for r in op.page.rules_on(self.facts.target) if r.required]
        if not all(r.holds(env) is True or same_value(op, r.formula) for r in rules):
            return
        found = self.trial(op, set(unwritten.values()), self.facts)
        if found is None:
            return
        self.said[False] |= roots
        self.said[certain] |= roots
        self.read |= set(unwritten.values())
        starts = found.message.startswith
        name = next((n for n, v in unwritten.items() if starts(f"%{v.name} ")), "")
        found = replace(found, span=op.span_of(name), targets=(self.facts.target.name,))
        by = suspects[name].by if name else None
        if by is not None:
            message = f"%{unwritten[name].name} is read after {by.name} used its bytes as scratch"
            note = Note("hardware overwrites these bytes here", by.span)
            found = replace(found, message=message, seen=None, help=ELSEWHERE, notes=(note,))
        if certain:
            self.found.append(found)
        elif self.exact:
            message = f"{found.message} in the first iteration of a loop"
            self.found.append(replace(found, message=message, severity=Severity.WARNING))
        else:
            why = f"{found.message}, and {GUARDED}"
            self.left.append(UndecidedRule(found.span, op.name, found.slug, why))

    def loop(
        self, lower: Fact, upper: Fact, step: Fact, carried: tuple[Fact, ...], region: CheckedRegion
    ) -> tuple[Fact, ...]:
        if not (isinstance(lower, int) and isinstance(upper, int) and isinstance(step, int)):
            self.loops += 1
            region(lower, *carried)
            self.loops -= 1
        elif lower < upper:
            region(lower, *carried)
        else:
            return carried
        return tuple(UNKNOWN for _ in carried)


def undefined_stores(of: TargetFacts) -> Iterator[Diagnostic]:
    """Yield warnings for stored elements that no instruction of the function computes.

    Only valid regions of tiles with known extents and a single handle are checked. Other cases are
    detected at run time.
    """
    facts, points_to = of.proved, of.base.interference
    living = [op for op, _ in _living(of.func.body, of.intervals.dead, ())]
    if any(isinstance(op, OpaqueOp) or op.calls for op in living):
        return
    ops = [op for op in living if isinstance(op, Op)]
    shared, writers = of.storage.classes.united(), dict[Value, list[Op]]()
    for op in ops:
        for name in _stored_outs(op.page) if ALIASES not in op.page.traits else ():
            for value in op.bound(name):
                writers.setdefault(value, []).append(op)

    @cache  # a tile may be written and stored thousands of times
    def part(tile: Value) -> UndefinedPart | None:
        made = points_to.definitions.get(tile)
        if made is None or tile in shared or ALLOCATES not in made.page.traits:
            return None
        some = [writer for writer in writers.get(tile, ()) if writer is not made]
        return _undefined(tile, some, facts)

    for store in (op for op in ops if _views_written(op.page)):
        for tile in _stored(store):
            if found := part(tile):
                yield _undefined_store(store, tile, found, facts)


def _stored(op: Op) -> Iterator[Value]:
    """Yield the tile whose valid region an instruction stores to global memory."""
    written = (v for name in _views_written(op.page) for v in op.bound(name))
    if any(isinstance(v.type, GlobalType) for v in written):
        tiles = [value for _, value in _read(op) if isinstance(value.type, TileType)]
        yield from tiles if len(tiles) == 1 else ()


@cache
def _views_written(page: type[Instr]) -> tuple[str, ...]:
    """Return the operands that an instruction on tiles writes and that may be views."""
    views = (o for o in page.operands if o.written and o.kind not in STORED)
    return tuple(o.name for o in views if page.executes)


def _reads_less(kinds: Iterable[Type], kind: Type) -> bool:
    """Return whether one of the tiles read is smaller than the valid region of the one written."""
    if not isinstance(kind, TileType) or not kind.valid.static or not kind.nbytes <= MOST_BYTES:
        return False
    if (kind.valid.rows or 0) > kind.rows or (kind.valid.cols or 0) > kind.cols:
        return False  # reported as another error
    return any(
        (n or 0) < (m or 0)
        for other in kinds
        if isinstance(other, TileType) and other.valid.static
        for n, m in zip(other.valid, kind.valid, strict=True)
    )


def _undefined(tile: Value, writers: list[Op], facts: Facts) -> UndefinedPart | None:
    """Return what no instruction computes of a tile, if one of them reads less than it writes."""
    read = (value for op in writers for _, value in _read(op) if value is not tile)
    kinds = {id(kind): kind for kind in map(facts.type_of, read)}
    if not _reads_less(kinds.values(), facts.type_of(tile)):
        return None
    from ptokit.analysis.definedparts import undefined_part  # imported here: few programs need it

    return undefined_part(tile, writers, facts)


def _undefined_store(op: Op, tile: Value, part: UndefinedPart, facts: Facts) -> Diagnostic:
    count, first = part
    return Diagnostic(
        "undefined-store",
        f"{op.name}: undefined elements of %{tile.name} are stored",
        op.span,
        Severity.WARNING,
        seen=f"{counted(count, 'element')}, first {first}; a run stores 0 instead",
        help="write these elements, pad them, or store only the defined ones",
        targets=(facts.target.name,),
    )
