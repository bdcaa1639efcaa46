"""Operands of one instruction that share bytes although hardware wants them apart.

Each tile is a piece of some storage: of a tile that is allocated, or of a memory where the program
gives the address. What is not known to overlap is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple, TypeAlias

from ptokit.analysis.known import Facts
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.instr import SHARED_STORAGE
from ptokit.isa.lang.operands import Apart
from ptokit.isa.lang.traits import ALIASES, READDRESSES, WINDOW
from ptokit.isa.model.layouts import ND
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import TileType

HELP = "give each of them a tile of its own"


class Stretch(NamedTuple):
    """Bytes of a tile, counted in the memory that the program places it in, if it does.

    `pitch` is from line to line.
    """

    tile: Value
    memory: str
    start: int
    end: int
    pitch: int

    def overlaps(self, other: Stretch, placed: bool) -> bool:
        """Whether they share bytes; with `placed` as two tiles of one memory, too."""
        together = placed and self.memory and self.memory == other.memory
        same = self.tile is other.tile or together
        return bool(same) and self.start < other.end and other.start < self.end


Pieces: TypeAlias = "dict[Value, Stretch]"


def sharing(func: Func, facts: Facts) -> Iterator[Diagnostic]:
    """The instructions of a function with operands that share bytes and may not."""
    pieces: Pieces = {}
    for op in func.body.walk():
        if not isinstance(op, Op):
            continue
        for apart in op.page.apart:
            if facts.target.follows(apart.targets):
                yield from _shared(op, apart, pieces, facts)
        for result in op.results:
            piece = _made(op, result, pieces, facts)
            if piece is not None:
                pieces[result] = piece


def _shared(op: Op, apart: Apart, pieces: Pieces, facts: Facts) -> Iterator[Diagnostic]:
    there = [(o, v) for o in apart.operands for v in _bound(op, o.name)]
    for (a, first), (b, second) in combinations(there, 2):
        one, two = (_piece(value, pieces, facts) for value in (first, second))
        if one is None or two is None or not one.overlaps(two, apart.placed):
            continue
        yield Diagnostic(
            SHARED_STORAGE,
            f"{op.page.mnemonic()}: {CATALOGUE[SHARED_STORAGE].title}",
            op.spans.get(b.name) or op.span,
            rule=f"{a.name} and {b.name} share no byte",
            seen=f"{a.name} is {_said(one)} and {b.name} is {_said(two)}",
            help=HELP,
            targets=(facts.target.name,),
        )
        return


def _bound(op: Op, name: str) -> tuple[Value, ...]:
    results = dict(op.named_results())
    return (results[name],) if name in results else op.bound(name)


def _said(piece: Stretch) -> str:
    where = piece.memory or f"%{piece.tile.name}"
    return f"bytes {piece.start} to {piece.end - 1} of {where}"


def _piece(value: Value, pieces: Pieces, facts: Facts) -> Stretch | None:
    """What a handle names; a tile that nothing is known of is storage of its own."""
    kind = facts.type_of(value)
    if value in pieces or not isinstance(kind, TileType):
        return pieces.get(value)
    return Stretch(value, "", 0, kind.nbytes, _pitch(kind))


def _pitch(kind: TileType) -> int:
    return kind.dtype.nbytes(kind.cols)


def _made(op: Op, result: Value, pieces: Pieces, facts: Facts) -> Stretch | None:
    """The bytes of a result that is a handle on those of an operand, or at an address."""
    kind, traits = facts.type_of(result), op.page.traits
    if not isinstance(kind, TileType):
        return None
    for address in op.bound("addr"):
        start, space = facts.numbers.get(address), SPACES[kind.loc]
        if type(start) is not int:
            return None
        return Stretch(result, space, start, start + kind.nbytes, _pitch(kind))
    if not {ALIASES, WINDOW}.intersection(traits) or READDRESSES in traits:
        return None
    source = next(iter(op.bound(op.page.ins()[0].name)), None)
    around = None if source is None else _piece(source, pieces, facts)
    if source is None or around is None:
        return None
    if WINDOW in traits:
        return _window(op, around, source, kind, facts)
    contiguous = around._replace(end=around.start + kind.nbytes, pitch=_pitch(kind))
    return contiguous if _pitch_of(source, facts) == around.pitch else None


def _pitch_of(value: Value, facts: Facts) -> int:
    kind = facts.type_of(value)
    return _pitch(kind) if isinstance(kind, TileType) else 0


def _window(op: Op, around: Stretch, source: Value, kind: TileType, facts: Facts) -> Stretch | None:
    """From the first to the last byte of a window of a row-major tile, or all of another."""
    whole = facts.type_of(source)
    corner = [facts.numbers.get(v) for name in ("row", "col") for v in op.bound(name)]
    if not isinstance(whole, TileType) or len(corner) != 2:
        return None
    row, col = corner
    if type(row) is not int or type(col) is not int:
        return None
    if (row, col, kind.rows, kind.cols) == (0, 0, whole.rows, whole.cols):
        return around
    if whole.layout != ND:
        return None
    start = around.start + row * around.pitch + whole.dtype.nbytes(col)
    return around._replace(
        start=start, end=start + (kind.rows - 1) * around.pitch + kind.dtype.nbytes(kind.cols)
    )
