"""Copies that a compiled program leaves out: tiles on their way from L1 to a product.

A tile of L1 that is only loaded and moved, and a factor that is only moved to and multiplied, may
lie as the product of the host reads them: rows of the left factor, panels of the right one. No
instruction sees how they lie. A factor whose content is that of a tile of L1 becomes a handle on
that tile's bytes, so that nothing is moved. The reference, which may execute any instruction
instead, gets the same handles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ptokit.engines.kernels.matmul import PANEL
from ptokit.engines.kernels.overlap import NO_ALIAS, related
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import ALLOCATES, EXPOSES, PLACES, RECOVERS, RESIZES
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
    cells: Elements
    rows: AxisWindow
    cols: AxisWindow
    block: Block

    def covers(self, read: WindowRead) -> bool:
        """Return whether all elements of a read were copied."""
        pairs = ((self.rows, read.row_span), (self.cols, read.col_span))
        return all(
            known(theirs.start, 0) and theirs.step == 1 and text(theirs.count) == text(mine.count)
            for mine, theirs in pairs
        )


@dataclass
class Forwarding:
    """The tiles of a function without copies: how each lies, and the moves that are left out."""

    # by tile: the factor that it becomes
    sides: dict[Value, Loc | None] = field(default_factory=dict[Value, "Loc | None"])
    moves: dict[AnyOp, Block] = field(default_factory=dict[AnyOp, Block])  # the block of each
    handles: list[Handle] = field(default_factory=list[Handle])  # in the open blocks
    leaves_out: bool = False  # without it, nothing is forwarded

    def lay(self, value: Value, handle: object) -> None:
        """Let a new tile lie as products read it."""
        side = self.sides.get(value)
        if side is None or not isinstance(handle, TracedTile) or handle.dtype.packed:
            return
        rows, cols = handle.type.rows, handle.type.cols
        where = IndexMap(Axis(((rows, cols),)), Axis(((cols, 1),)))
        if side is Loc.RIGHT:
            if cols % PANEL:
                return
            across = (cols // PANEL, rows * PANEL), (PANEL, 1)
            where = IndexMap(Axis(((rows, PANEL),)), Axis(across))
        old = handle.elements
        handle.elements = Elements(old.memory, old.address, old.dtype, where)

    def follow(self, func: Func) -> None:
        """Find the tiles of a function."""
        if self.leaves_out and not any(func.has(trait) for trait in (PLACES, EXPOSES, RECOVERS)):
            uses: dict[Value, list[Use]] = {}
            for use, value in _uses(func.body, ()):
                uses.setdefault(value, []).append(use)
            for tile in (v for op in func.ops if isinstance(op, Op) for v in _made(op)):
                if _loc(tile) is Loc.MAT:
                    self._follow(tile, uses)

    def _follow(self, tile: Value, uses: dict[Value, list[Use]]) -> None:
        """Add a tile of L1 and the factors that are moved from it."""
        loads, moves = list[Use](), list[tuple[Use, Value]]()
        for use in uses.get(tile, []):
            factor = _moved_to(use)
            if factor is not None:
                moves.append((use, factor))
            elif _loads(use):
                loads.append(use)
            elif not _resizes(use):
                return
        sides = {_loc(factor) for _, factor in moves}
        alone = all(_multiplied(factor, move, uses[factor]) for move, factor in moves)
        if len(sides) != 1 or len(loads) != 1 or not alone:
            return
        self.sides |= dict.fromkeys((tile, *(factor for _, factor in moves)), *sides)
        for move, _ in moves:
            if move.blocks == loads[0].blocks and _after(move, loads[0].op):
                self.moves[move.op] = move.blocks[-1]

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
        handle = Handle(tile, tile.elements, read.cells, store.rows, store.cols, self.moves[op])
        whole = WindowRead(store.cells, store.rows, store.cols)
        if not (plain and handle.covers(read) and handle.covers(whole)):
            return False
        self.handles.append(handle)
        tile.elements = read.cells
        return True

    def _require_kept(self, recording: Recording) -> None:
        """Require that an instruction keeps the bytes of handles, and reads what was copied."""
        for handle in self.handles:
            for store in recording.stores:
                guards: list[Truth] = []
                if related(store.cells, handle.cells, guards) is not NO_ALIAS or guards:
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


def _multiplied(factor: Value, move: Use, uses: Sequence[Use]) -> bool:
    """Return whether a factor is written by this move only, and read behind it in its block."""
    readers = [use for use in uses if not _resizes(use) and use.op is not move.op]
    return all(_multiplies(use) and _after(use, move.op, move.blocks) for use in readers)


def _after(use: Use, op: AnyOp, blocks: tuple[Block, ...] = ()) -> bool:
    """Return whether a use is behind an op in its block, perhaps in a region there."""
    blocks = blocks or use.blocks
    depth = len(blocks)
    if use.blocks[:depth] != blocks:
        return False
    inner = use.blocks[depth] if len(use.blocks) > depth else None
    for other in reversed(blocks[-1].ops):
        if other is op:
            return False
        if other is use.op or (isinstance(other, Op) and inner in other.regions):
            return True
    return False


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
    return isinstance(use.op, Op) and RESIZES in use.op.page.traits


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
