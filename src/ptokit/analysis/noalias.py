"""No-alias checks: operands of one instruction that share bytes although they must not.

Each tile is a part of some storage: of an allocated tile, or of a memory if the program gives the
address. Only overlaps that are certain are reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, islice
from typing import NamedTuple, TypeAlias

from ptokit.analysis.known import Facts
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic
from ptokit.ir.module import Func, Op, Value
from ptokit.isa.lang.instr import SHARED_STORAGE, Instr
from ptokit.isa.lang.operands import Operand, Role
from ptokit.isa.lang.traits import ALIASES, WINDOW
from ptokit.isa.model.targets import SPACES
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import Kind
from ptokit.isa.model.words import V
from ptokit.values.layouts import ND, Shape

HELP = "use separate tiles"


class Stretch(NamedTuple):
    """The bytes of a tile, relative to the memory if the program gives the address.

    They are `lines` of `width` bytes, one each `pitch` bytes from `start` on.
    """

    tile: Value
    memory: str
    start: int
    width: int
    lines: int
    pitch: int

    @property
    def end(self) -> int:
        return self.start + (self.lines - 1) * self.pitch + self.width

    def overlaps(self, other: Stretch, placed: bool) -> bool:
        """Return whether the stretches share bytes; `placed`: compare memory addresses, too."""
        together = placed and self.memory and self.memory == other.memory
        hull = self.start < other.end and other.start < self.end
        return (self.tile is other.tile or bool(together)) and hull and self._meets(other)

    def _meets(self, other: Stretch) -> bool:
        """Return whether a line of one stretch shares bytes with a line of the other stretch."""
        sizes = (self.width, self.lines, self.pitch, other.width, other.lines, other.pitch)
        if not all(sizes):  # a tile without rows or columns is another error
            return False
        for start in range(other.start, other.start + other.lines * other.pitch, other.pitch):
            line = (start + other.width - 1 - self.start) // self.pitch
            last = self.start + min(max(line, 0), self.lines - 1) * self.pitch
            if last < start + other.width and start < last + self.width:
                return True
        return False

    def lies_as(self, other: Stretch) -> bool:
        """Return whether the lines of both stretches begin at the same bytes."""
        pitch = self.pitch == other.pitch or 1 in (self.lines, other.lines)
        return self.start == other.start and pitch

    def trails(self, other: Stretch) -> bool:
        """Return whether each element lies on an element of the other stretch that is not later."""
        return self.start == other.start and self.pitch <= other.pitch and self.width <= other.width


Pieces: TypeAlias = "dict[Value, Stretch]"
Seen: TypeAlias = "tuple[object, ...]"
Bound: TypeAlias = "tuple[Operand, Value]"


def sharing(func: Func, pieces: Pieces, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each instruction with operands that overlap and must not."""
    passed = set[Seen]()
    for op in (op for op in func.ops if isinstance(op, Op) and _has_tiles(op.page)):
        seen = _seen(op, pieces, facts)
        if seen not in passed:
            found = list(islice(_shared(op, pieces, facts), 1))
            yield from found
            if not found:
                passed.add(seen)


@cache
def _has_tiles(page: type[Instr]) -> bool:
    """Return whether a page has tiles that may overlap, and changes one of them."""
    tiles = [o for o in page.operands if o.kind is Kind.TILE]
    several = len(tiles) > 1 or any(o.many for o in tiles)
    return several and any(o.changed for o in tiles)


def _seen(op: Op, pieces: Pieces, facts: Facts) -> Seen:
    """Return what the check of an op depends on, with numbers in the place of tiles."""
    tiles: dict[Value, int] = {}
    parts: list[object] = [facts.case(op)]
    for _, value in (*op.values(), *(("", result) for result in op.results)):
        tile, *where = pieces.get(value) or (value,)
        number = tiles.setdefault(tile, len(tiles))
        parts += number, *where, facts.numbers.get(value)
    return *sorted(op.attrs.items()), *parts


def stretches(func: Func, facts: Facts) -> Pieces:
    """Return the bytes that the handles of a function name, as far as they are known."""
    pieces: Pieces = {}
    for op in (op for op in func.ops if isinstance(op, Op)):
        for result in op.results:
            if (piece := _made(op, result, pieces, facts)) is not None:
                pieces[result] = piece
    return pieces


def _shared(op: Op, pieces: Pieces, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a diagnostic for operands that overlap against the page, or against its body."""
    there = [(o, v) for o in op.page.operands if o.kind is Kind.TILE for v in _bound(op, o.name)]
    found = [(o, v, piece) for o, v in there if (piece := bytes_of(v, pieces, facts)) is not None]
    pairs = [
        (one, two)
        for one, two in combinations(found, 2)
        if (one[0].changed or two[0].changed) and one[2].overlaps(two[2], placed=True)
    ]
    if not pairs:
        return
    env = facts.environment(op) if op.page.apart else {}
    for (a, _, one), (b, _, two) in pairs:
        for apart in op.page.apart:
            named = _among(apart.operands, a, b) and facts.target.follows(apart.targets)
            here = named and apart.condition.eval(env) is True
            if here and one.overlaps(two, apart.placed):
                yield _diagnostic(op, (a, one), (b, two), facts, "")
    for (a, first, one), (b, second, two) in pairs if _on_hardware(op, facts) else ():
        together = any(_among(some, a, b) for some in op.page.lies_over)
        if together or _idle(a, facts) or _idle(b, facts):
            continue
        over = _in_place(op, (a, first), (b, second), facts)
        out, source = (one, two) if a.written else (two, one)
        listed = _is_written_over(op, (a, first), (b, second), facts)
        follows = listed and out.trails(source)
        if not (follows or (over and one.lies_as(two))):
            unless = ", unless they start at the same byte" if over else ""
            yield _diagnostic(op, (a, one), (b, two), facts, unless)


def _on_hardware(op: Op, facts: Facts) -> bool:
    """Return whether the vector unit executes the op, which may write before it reads all."""
    page = op.page
    if not (page.executes and facts.target.is_chip) or page.declared:
        return False
    return ALIASES not in page.traits and page.pipe_of(facts.environment(op)) is V


def _idle(operand: Operand, facts: Facts) -> bool:
    """Return whether the hardware does not use this scratch operand."""
    return operand.role is Role.SCRATCH and facts.target.follows(operand.idle)


def _among(some: Iterable[Operand], *operands: Operand) -> bool:
    """Return whether the page lists all of these operands in one rule; `==` would be a formula."""
    return {o.name for o in operands} <= {o.name for o in some}


def _is_written_over(op: Op, first: Bound, second: Bound, facts: Facts) -> bool:
    """Return whether the page names both operands, and no element of the output is larger."""
    (a, one), (b, two) = first, second
    out, source = map(facts.type_of, (one, two) if a.written else (two, one))
    if not (isinstance(out, TileType) and isinstance(source, TileType)):
        return False
    named = any(_among(some, a, b) for some in op.page.written_over)
    return named and out.dtype.bits <= source.dtype.bits


def _in_place(op: Op, first: Bound, second: Bound, facts: Facts) -> bool:
    """Return whether one operand may be written over the other, from the first byte on."""
    from ptokit.analysis.inplace import pointwise  # rarely needed, needs NumPy

    (_, one), (b, two) = first, second
    if _is_written_over(op, first, second, facts):
        return True
    if one is two:  # as if they were two tiles
        two = Value(f"{two.name} again", facts.type_of(two))
        op = dataclasses.replace(op, operands={**op.operands, b.name: two})
    found = pointwise(op, facts) or pointwise(op, _filled(op, facts))
    return any({out, source} == {one, two} for out, source in found)


def _filled(op: Op, facts: Facts) -> Facts:
    """Return facts with full valid regions where these are not known statically."""
    whole = Facts(facts.target, dict(facts.numbers))
    for value in (*op.results, *(v for _, v in op.values())):
        kind = whole.types[value] = value.type
        if isinstance(kind, TileType):
            rows, cols = kind.valid
            valid = Shape(rows or kind.rows, cols or kind.cols)
            whole.types[value] = dataclasses.replace(kind, valid=valid)
    return whole


def _diagnostic(
    op: Op,
    one: tuple[Operand, Stretch],
    two: tuple[Operand, Stretch],
    facts: Facts,
    unless: str,
) -> Diagnostic:
    (a, first), (b, second) = one, two
    return Diagnostic(
        SHARED_STORAGE,
        f"{op.page.mnemonic()}: {CATALOGUE[SHARED_STORAGE].title}",
        op.spans.get(b.name) or op.span,
        rule=f"{a.name} and {b.name} do not overlap{unless}",
        seen=f"{a.name} is {_said(first)} and {b.name} is {_said(second)}",
        help=HELP,
        targets=(facts.target.name,),
    )


def _bound(op: Op, name: str) -> tuple[Value, ...]:
    results = dict(op.named_results())
    return (results[name],) if name in results else op.bound(name)


def _said(piece: Stretch) -> str:
    where = piece.memory or f"%{piece.tile.name}"
    return f"bytes {piece.start} to {piece.end - 1} of {where}"


def bytes_of(value: Value, pieces: Pieces, facts: Facts) -> Stretch | None:
    """Return the bytes of the valid region of a tile, as far as types give it."""
    kind, piece = facts.type_of(value), _piece(value, pieces, facts)
    if piece is None or not isinstance(kind, TileType) or kind.layout != ND:
        return piece
    rows, cols = kind.valid
    lines = piece.lines if rows is None else min(piece.lines, rows)
    width = piece.width if cols is None else min(piece.width, kind.dtype.nbytes(cols))
    return piece._replace(lines=lines, width=width)


def _piece(value: Value, pieces: Pieces, facts: Facts) -> Stretch | None:
    """Return the bytes of a handle; a tile without known bytes is storage of its own."""
    kind = facts.type_of(value)
    if value in pieces or not isinstance(kind, TileType):
        return pieces.get(value)
    return _whole(value, "", 0, kind)


def _whole(tile: Value, memory: str, start: int, kind: TileType) -> Stretch:
    """Return all bytes of a tile: its rows, or one line for a layout other than nd."""
    if kind.layout == ND:
        return Stretch(tile, memory, start, _pitch(kind), kind.rows, _pitch(kind))
    return Stretch(tile, memory, start, kind.nbytes, 1, kind.nbytes)


def _pitch(kind: TileType) -> int:
    return kind.dtype.nbytes(kind.cols)


def _made(op: Op, result: Value, pieces: Pieces, facts: Facts) -> Stretch | None:
    """Return the bytes of a result that is a handle on an operand's bytes or at an address."""
    kind, traits = facts.type_of(result), op.page.traits
    if not isinstance(kind, TileType):
        return None
    for address in op.bound("addr"):
        start, space = facts.numbers.get(address), SPACES[kind.loc]
        if type(start) is not int:
            return None
        return _whole(result, space, start, kind)
    if {ALIASES, WINDOW}.isdisjoint(traits):
        return None
    source = next(iter(op.bound(op.page.ins()[0].name)), None)
    around = None if source is None else _piece(source, pieces, facts)
    if source is None or around is None:
        return None
    if WINDOW in traits:
        return _window(op, around, source, kind, facts)
    contiguous = _whole(around.tile, around.memory, around.start, kind)
    return contiguous if _pitch_of(source, facts) == around.pitch else None


def _pitch_of(value: Value, facts: Facts) -> int:
    kind = facts.type_of(value)
    return _pitch(kind) if isinstance(kind, TileType) else 0


def _window(op: Op, around: Stretch, source: Value, kind: TileType, facts: Facts) -> Stretch | None:
    """Return the bytes of a window of a row-major tile; all bytes of a tile for a full window."""
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
    return around._replace(start=start, width=kind.dtype.nbytes(kind.cols), lines=kind.rows)
