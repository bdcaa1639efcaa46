"""Copies that a compiled program leaves out: tiles on their way from L1 to a product.

A tile of L1 that is only loaded and moved, and a factor that is only moved to and multiplied, may
lie as the product of the host reads them: rows of the left factor, panels of the right one. No
instruction sees how they lie. A factor whose content is that of a tile of L1 becomes a handle on
that tile's bytes, so that nothing is moved. The reference, which may execute any instruction
instead, gets the same handles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from ptokit.engines.kernels.matmul import PANEL
from ptokit.engines.kernels.overlap import NO_ALIAS, related
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import ALLOCATES, EXPOSES, MADE, RECOVERS
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import TileType
from ptokit.machine.arguments import Env
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import Truth, text
from ptokit.machine.record.expressions import AxisWindow, Recording, WindowRead, WindowStore
from ptokit.machine.record.trace import TracedTile
from ptokit.values.enumerations import Loc
from ptokit.values.layouts import Axis, IndexMap, known

FACTORS = (Loc.LEFT, Loc.RIGHT)
MEMORIES = frozenset(SPACES[loc] for loc in (Loc.MAT, *FACTORS))


class Refused(Exception):
    """Raised if the program must be compiled with every copy."""


class Use(NamedTuple):
    """An operand of an instruction, and the blocks around it, outermost first."""

    op: AnyOp
    operand: str
    blocks: tuple[Block, ...]


@dataclass
class Handle:
    """A factor that is a handle on another tile's bytes, until its block ends."""

    tile: TracedTile
    own: Elements  # of the factor itself
    source: Elements  # of the other tile
    cells: Elements  # the part of the other tile that was copied
    rows: AxisWindow
    cols: AxisWindow
    block: Block

    def covers(self, read: WindowRead) -> bool:
        """Return whether a read is of all elements that were copied."""
        spans = read.row_span, read.col_span
        begins = all(known(span.start, 0) and span.step == 1 for span in spans)
        return begins and self.counts(read)

    def counts(self, read: WindowRead) -> bool:
        """Return whether a read has as many rows and columns as were copied."""
        pairs = ((self.rows, read.row_span), (self.cols, read.col_span))
        return all(text(mine.count) == text(theirs.count) for mine, theirs in pairs)


@dataclass
class Forwarding:
    """The tiles of a function without copies: how each lies, and the moves that are left out."""

    # by tile: the factor that it becomes
    sides: dict[Value, Loc | None] = field(default_factory=dict[Value, "Loc | None"])
    moves: dict[AnyOp, Block] = field(default_factory=dict[AnyOp, Block])  # the block of each
    handles: list[Handle] = field(default_factory=list[Handle])  # in the open blocks
    own: dict[Value, Elements] = field(default_factory=dict[Value, Elements])  # of factors
    leaves_out: bool = False  # without it, nothing is forwarded

    def lay(self, value: Value, handle: object) -> None:
        """Let a new tile lie as products read it."""
        side = self.sides.get(value)
        if side is None or not isinstance(handle, TracedTile):
            return
        self.own[value] = handle.elements
        if handle.dtype.packed:
            return
        rows, cols = handle.type.rows, handle.type.cols
        where = IndexMap(Axis(((rows, cols),)), Axis(((cols, 1),)))
        if side is Loc.RIGHT:
            if cols % PANEL:
                return
            across = (cols // PANEL, rows * PANEL), (PANEL, 1)
            where = IndexMap(Axis(((rows, PANEL),)), Axis(across))
        old = handle.elements
        self.own[value] = handle.elements = Elements(old.memory, old.address, old.dtype, where)

    def follow(self, func: Func) -> None:
        """Find the tiles of a function."""
        placed = func.has(MADE, ALLOCATES) or func.has(EXPOSES) or func.has(RECOVERS)
        tiles = [v for op in func.ops if isinstance(op, Op) for v in _made(op)]
        if self.leaves_out and not placed and any(_loc(tile) is Loc.MAT for tile in tiles):
            uses: dict[Value, list[Use]] = {}
            for use, value in _uses(func.body, ()):
                uses.setdefault(value, []).append(use)
            made = {tile: uses.get(tile, []) for tile in tiles}
            routes = {tile: route for tile in made if (route := _route(tile, made))}
            while wrong := {t for t, r in routes.items() if not _alone(r, routes, uses)}:
                routes = {tile: route for tile, route in routes.items() if tile not in wrong}
            for tile, route in routes.items():
                factors = [factor for _, factor in route.moves]
                self.sides |= dict.fromkeys((tile, *factors), route.side)
                self._choose(route, uses)

    def _choose(self, route: Route, uses: dict[Value, list[Use]]) -> None:
        """Add the moves that may be left out: what they copy stays as it is for all readers."""
        for move, factor in route.moves:
            writers = [use for use in uses[factor] if _moves(use)]
            readers = [use for use in uses[factor] if _multiplies(use)]
            places = _place(route.load, route.load.blocks), _place(move, route.load.blocks)
            behind = None not in places and cast(int, places[0]) < cast(int, places[1])
            if behind and all(any(_last(w, r, writers) for w in writers) for r in readers):
                self.moves[move.op] = move.blocks[-1]

    def begin(self, op: Op, env: Env) -> None:
        """Let the output of a move be its own bytes again."""
        if op in self.moves:
            factor = op.bound(op.page.outs()[0].name)[0]
            if factor in self.own:
                env[factor].elements = self.own[factor]

    def forwards(self, op: Op, env: Env, recording: Recording, *, certain: bool) -> bool:
        """Make the output of a plain copy a handle on the bytes of its input, if it may be one.

        `certain`: the instruction executes whenever the program gets there.
        """
        self._require_kept(recording)
        if op not in self.moves or not certain or len(recording.stores) != 1:
            return False
        (store,), tile = recording.stores, env[op.bound(op.page.outs()[0].name)[0]]
        read = store.value
        if type(store) is not WindowStore or not isinstance(read, WindowRead):
            return False
        plain = store.definite and store.cells.dtype == read.cells.dtype
        part = _part(read)
        if part is None or not plain:
            return False
        places = tile.elements, read.cells, part
        handle = Handle(tile, *places, store.rows, store.cols, self.moves[op])
        whole = WindowRead(store.cells, store.rows, store.cols)
        if not (handle.counts(read) and handle.covers(whole)):
            return False
        self.handles.append(handle)
        tile.elements = part
        return True

    def copies(self, op: Op) -> bool:
        """Return whether an instruction surely does what its body says: nothing is left out."""
        return op not in self.moves and not self.handles

    def copied(self, recording: Recording) -> Recording:
        """Return what an instruction does as if every factor had been copied."""
        own = {id(handle.cells): handle.own for handle in self.handles}
        if all(id(r.cells) not in own for r in recording.reads):
            return recording
        reads = [
            WindowRead(own.get(id(r.cells), r.cells), r.row_span, r.col_span)
            for r in recording.reads
        ]
        return replace(recording, reads=reads)

    def _require_kept(self, recording: Recording) -> None:
        """Require that an instruction keeps the bytes of handles, and reads what was copied."""
        for handle in self.handles:
            for store in recording.stores:
                guards: list[Truth] = []
                if related(store.cells, handle.source, guards) is not NO_ALIAS or guards:
                    raise Refused
            reads = (r for r in recording.reads if r.cells is handle.cells)
            if not all(map(handle.covers, reads)):
                raise Refused

    def require_closed(self) -> None:
        """Require that no factor is a handle on another tile: anything may be written."""
        if self.handles:
            raise Refused

    def require_proven(self, tracked: set[str]) -> None:
        """Require that reads of L1 and of factors are proven: shadows lie as the types say."""
        if self.leaves_out and not MEMORIES.isdisjoint(tracked):
            raise Refused

    def leave(self, block: Block) -> None:
        """End the handles of a block."""
        for handle in self.handles:
            if handle.block is block:
                handle.tile.elements = handle.own
        self.handles = [h for h in self.handles if h.block is not block]


class Route(NamedTuple):
    """A tile of L1 on its way: its load, and its moves, each with the factor that it writes."""

    load: Use
    moves: tuple[tuple[Use, Value], ...]
    side: Loc | None


def _route(tile: Value, made: dict[Value, list[Use]]) -> Route | None:
    """Return the route of a tile of L1 that is loaded once and moved to factors of one side.

    `made`: the uses of the tiles that the function allocates.
    """
    if _loc(tile) is not Loc.MAT:
        return None
    uses = made[tile]
    moves = tuple((use, factor) for use in uses if (factor := _moved_to(use)) is not None)
    loads = [use for use in uses if _loads(use)]
    sides = {_loc(factor) for _, factor in moves}
    others = len(uses) - len(moves) - len(loads) - sum(map(_resizes, uses))
    ours = all(factor in made for _, factor in moves)
    if others or not ours or len(loads) != 1 or len(sides) != 1:
        return None
    return Route(loads[0], moves, *sides)


def _alone(route: Route, routes: dict[Value, Route], uses: dict[Value, list[Use]]) -> bool:
    """Return whether factors are only moved from such tiles, and only multiplied."""
    known_moves = {id(move.op) for other in routes.values() for move, _ in other.moves}
    return all(
        _multiplies(use) or _resizes(use) or (_moves(use) and id(use.op) in known_moves)
        for _, factor in route.moves
        for use in uses[factor]
    )


def _moves(use: Use) -> bool:
    """Return whether an instruction writes the factor."""
    return isinstance(use.op, Op) and not _resizes(use) and use.operand in _written(use.op)


def _place(use: Use, blocks: tuple[Block, ...]) -> int | None:
    """Return the place of an op in a block, or of the op there whose regions contain it."""
    if use.blocks[: len(blocks)] != blocks:
        return None
    inner = use.blocks[len(blocks) :]
    return next(
        number
        for number, op in enumerate(blocks[-1].ops)
        if op is use.op or (inner and isinstance(op, Op) and any(r is inner[0] for r in op.regions))
    )


def _last(writer: Use, reader: Use, writers: Sequence[Use]) -> bool:
    """Return whether a factor, when it is read, always has what this writer of its block wrote."""
    first, last = (_place(use, writer.blocks) for use in (writer, reader))
    if first is None or last is None or first >= last:
        return False
    others = (_place(use, writer.blocks) for use in writers if use is not writer)
    return not any(place is not None and first < place <= last for place in others)


def _part(read: WindowRead) -> Elements | None:
    """Return the elements of a window, from its first one on; None if they lie otherwise."""
    cells, (row, col) = read.cells, (read.row_span, read.col_span)
    down, across = cells.map.rows.digits, cells.map.cols.digits
    if len(down) != 1 or row.step != 1 or col.step != 1:
        return None
    width = across[1][0] if len(across) == 2 else 1
    if len(across) > 2 or not known(col.start % width, 0):
        return None
    step = across[0][1] if len(across) == 2 else 1
    more = row.start * down[0][1] + (col.start // width) * step
    origin = cast(int, cells.origin + more)
    return Elements(cells.memory, cells.address, cells.dtype, cells.map, origin)


def _uses(block: Block, around: tuple[Block, ...]) -> Iterator[tuple[Use, Value]]:
    """Yield every use of a value in a block and its regions."""
    blocks = (*around, block)
    for op in block.ops:
        if not isinstance(op, Op):
            yield from ((Use(op, "", blocks), value) for value in op.uses)
            continue
        yield from ((Use(op, name, blocks), value) for name, value in op.values())
        for region in op.regions:
            yield from _uses(region, blocks)


def _made(op: Op) -> list[Value]:
    """Return the tiles that an op allocates at addresses that the text does not give."""
    places = ALLOCATES in op.page.traits and not op.bound("addr")
    return [v for v in op.results if places and isinstance(v.type, TileType)]


def _loc(value: Value) -> Loc | None:
    return value.type.loc if isinstance(value.type, TileType) else None


def _resizes(use: Use) -> bool:
    return isinstance(use.op, Op) and bool(use.op.page.resizes)


def _tiles(op: AnyOp) -> dict[str, Loc | None]:
    """Return the locations of the tiles of an instruction on data; none if it needs their bytes."""
    if not isinstance(op, Op) or op.results or op.regions or not op.page.executes:
        return {}
    if any(o.storage for o in op.page.operands):
        return {}
    return {name: loc for name, value in op.values() if (loc := _loc(value)) is not None}


def _loads(use: Use) -> bool:
    """Return whether an instruction fills the tile from global memory."""
    return isinstance(use.op, Op) and list(_tiles(use.op)) == _written(use.op) == [use.operand]


def _moved_to(use: Use) -> Value | None:
    """Return the factor to which an instruction moves the tile, and nothing else."""
    tiles = _tiles(use.op)
    if not isinstance(use.op, Op) or len(tiles) != 2 or use.operand in _written(use.op):
        return None
    (other,) = (name for name in tiles if name != use.operand)
    factor = use.op.bound(other)[0]
    return factor if tiles[other] in FACTORS and other in _written(use.op) else None


def _multiplies(use: Use) -> bool:
    """Return whether an instruction reads the factor, and writes the accumulator only."""
    tiles = _tiles(use.op)
    if not isinstance(use.op, Op) or use.operand in _written(use.op):
        return False
    return bool(tiles) and all(tiles.get(name) is Loc.ACC for name in _written(use.op))


def _written(op: Op) -> list[str]:
    return [o.name for o in op.page.outs() if op.bound(o.name)]
