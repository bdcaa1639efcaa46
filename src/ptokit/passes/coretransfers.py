"""Assignment of a kernel's instructions to the cube or the vector core, and its transfers.

An instruction belongs to the core in whose memory its tiles lie, and so does a number that it reads
there; all other numbers are computed by both cores. Only a plain move may go from a memory of one
kind of core to one of the other kind: the move becomes a transfer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from ptokit.analysis.aliases import flows
from ptokit.analysis.cores import core_of
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import ALIASES, ALLOCATES, FIFO, FLAGS, SIGNALS, TERMINATOR
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ArrayType, PtrType, StructType, Type
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.values.enumerations import VEC, Loc

KNOWN_TO_BOTH = "compute the value from numbers of the launch, or from global memory"
SENDS = "convert before or after the transfer: a transfer moves a tile unchanged"
MOVE = "to"  # its name in Python kernels
Place: TypeAlias = "tuple[Block, int]"  # an op in a block


def cannot_split(op: AnyOp, seen: str, help: str, *notes: Note) -> PtoError:
    """Return the error of a kernel that cannot be split."""
    message = f"{op.name}: {CATALOGUE['cannot-split'].title}"
    return PtoError(Diagnostic("cannot-split", message, op.span, seen=seen, help=help, notes=notes))


OF_VECTOR = VEC, Loc.REGISTER  # the locations of vector cores


def side_of(kind: Type) -> KernelKind | None:
    """Return the kind of core in whose memory a value of this type lies; None for neither."""
    match kind:
        case TileType():
            return VECTOR if kind.loc in OF_VECTOR else CUBE
        case ConvTileType():
            return CUBE
        case PtrType() if kind.space != "gm":
            return VECTOR if kind.space == VEC.text else CUBE
        case _:
            return None


def crosses(page: type[Instr], types: Iterable[Type | None]) -> bool:
    """Return whether an instruction on these types moves a tile between the kinds of core."""
    sides = {side for kind in types if kind is not None and (side := side_of(kind)) is not None}
    return page.verb == MOVE and len(sides) == 2


class CoreAssignment:
    """The kind of core that alone has each value, and the moves that become transfers."""

    def __init__(self, func: Func) -> None:
        self.numbers: dict[Value, KernelKind] = {}  # numbers known to one kind of core only
        self.known: dict[Value, Span | None] = {}  # the definition of such a number
        self.crossings: dict[Op, KernelKind] = {}  # moves -> the kind of core of the destination
        self.grown = True
        while self.grown:
            self.grown = False
            self._block(func.body)

    def of(self, value: Value) -> KernelKind | None:
        return side_of(value.type) or self.numbers.get(value)

    def where(self, value: Value) -> tuple[Note, ...]:
        """Return a note on the definition of a number that only one kind of core has."""
        return (Note("defined here", self.known[value]),) if value in self.known else ()

    def core_for(self, op: AnyOp) -> KernelKind | None:
        """Return the core for an instruction without regions; None: any."""
        values = op.uses if isinstance(op, OpaqueOp) else [v for _, v in op.values()]
        kinds = {kind for v in (*values, *op.results) if (kind := self.of(v)) is not None}
        if len(kinds) == 1:
            return kinds.pop()
        return core_of(op) if isinstance(op, Op) and not kinds else None

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, OpaqueOp):
                help = "write a section, or a function, for each kind of core"
                raise cannot_split(op, "the core that executes it is unknown", help)
            for region in op.regions:
                self._block(region)
            if op.regions:
                for _, _, pairs in flows(op):
                    for value, name in pairs:
                        self._known_to(name, self.of(value), op)
            elif TERMINATOR not in op.page.traits:
                self._op(op)

    def _op(self, op: Op) -> None:
        if not {FIFO, SIGNALS, FLAGS}.isdisjoint(op.page.uses):
            help = "write a section, or a function, for each kind of core"
            raise cannot_split(op, "the program synchronises its cores or pipes", help)
        kinds = {self.of(value) for _, value in op.values()} - {None}
        if len(kinds) == 2:
            self.crossings[op] = self._crossing(op)
        elif not kinds:
            kinds = {core_of(op)} - {None}
        if len(kinds) == 1:
            local = (v for _, v in op.values() if isinstance(v.type, ArrayType | StructType))
            for value in (*op.results, *local):  # this core alone has the content of local arrays
                self._known_to(value, next(iter(kinds)), op)

    def _known_to(self, value: Value, kind: KernelKind | None, op: AnyOp) -> None:
        """Note that one kind of core has a number; a tile lies where its type says."""
        if kind is None or side_of(value.type) is not None or self.numbers.get(value) is kind:
            return
        if value in self.numbers:
            raise cannot_split(op, f"%{value.name} depends on numbers of both cores", KNOWN_TO_BOTH)
        self.numbers[value], self.known[value], self.grown = kind, op.span, True

    def _crossing(self, op: Op) -> KernelKind:
        """Return the kind of core whose memory a move fills; PtoError if it is no plain move."""
        dst, src = (op.bound(o.name) for o in (op.page.operands[0], op.page.operands[1]))
        given = [op.attrs.get(a.name, a.default) == a.default for a in op.page.attrs]
        plain = op.page.verb == MOVE and len([*op.values()]) == 2 and all(given)
        if not plain or not dst or not src:
            both = sorted({f"%{v.name}" for _, v in op.values() if self.of(v) is not None})
            tiles = any(side_of(v.type) is not None for _, v in op.values())
            help = SENDS if tiles else KNOWN_TO_BOTH
            raise cannot_split(op, f"{', '.join(both)} run on different cores", help)
        one, other = dst[0].type, src[0].type
        if not (isinstance(one, TileType) and isinstance(other, TileType)):
            raise cannot_split(op, f"it moves {other} to {one}", SENDS)
        if one.dtype != other.dtype:
            raise cannot_split(op, f"it converts {other.dtype} to {one.dtype}", SENDS)
        return VECTOR if one.loc is VEC else CUBE


@dataclass
class CoreTransfer:
    """A transfer between cores; the receiver uses the tile `dst` in the move's block up to `last`.

    If `dst` is used elsewhere, too, the popped tile is `copied` into `dst`. `fifo` is the number of
    the FIFO.
    """

    op: Op
    to: KernelKind
    dst: Value
    src: Value
    way: tuple[Place, ...]  # the position of the move, from the outside in
    last: int
    valid: tuple[Value | int, Value | int]
    copied: bool = False
    fifo: int = 0

    def overlaps(self, other: CoreTransfer) -> bool:
        """Return whether one of two transfers is still in use when the other arrives."""
        for depth, (a, b) in enumerate(zip(self.way, other.way, strict=False)):
            if a[0] is not b[0]:
                return False  # two regions of one op never run concurrently
            if a[1] != b[1]:
                first, then = (self, other) if a[1] < b[1] else (other, self)
                ends = first.last if len(first.way) == depth + 1 else first.way[depth][1]
                return then.way[depth][1] <= ends
        return False


@dataclass
class Uses:
    """The position of each op of a function, the users of each value, and allocations."""

    ways: dict[AnyOp, tuple[Place, ...]] = field(default_factory=dict[AnyOp, "tuple[Place, ...]"])
    of: dict[Value, list[AnyOp]] = field(default_factory=dict[Value, "list[AnyOp]"])
    made: dict[Value, Op] = field(default_factory=dict[Value, Op])  # tiles that are allocated

    def add(self, block: Block, way: tuple[Place, ...] = ()) -> Uses:
        """Add all ops of a block."""
        for index, op in enumerate(block.ops):
            here = self.ways[op] = (*way, (block, index))
            for value in op.uses if isinstance(op, OpaqueOp) else [v for _, v in op.values()]:
                self.of.setdefault(value, []).append(op)
            if isinstance(op, Op) and ALLOCATES in op.page.traits:
                self.made |= dict.fromkeys(op.results, op)
            for region in op.regions:
                self.add(region, here)
        return self

    def within(
        self, users: Iterable[AnyOp], block: Block, start: int, stop: int
    ) -> list[int] | None:
        """Return the positions of ops in a block if all lie between start and stop, else None."""
        found: list[int] = []
        for op in users:
            place = self.place(op, block)
            if place is None or not start < place < stop:
                return None
            found.append(place)
        return found

    def place(self, op: AnyOp, block: Block) -> int | None:
        """Return the position in a block of an op, or of the op around it; None if outside."""
        return next((index for b, index in self.ways[op] if b is block), None)

    def filled(self, user: AnyOp, fills: Mapping[AnyOp, Place]) -> AnyOp | None:
        """Return the last fill before a user, if all lie in its block or in one around it."""
        found = [(n, op) for op, (b, n) in fills.items() if n < (self.place(user, b) or 0)]
        blocks = {id(fills[op][0]) for _, op in found}
        return max(found, key=itemgetter(0))[1] if len(blocks) == 1 else None


def transfers(func: Func, assignment: CoreAssignment) -> list[CoreTransfer]:
    """Return the transfers in text order; PtoError for a transfer that no FIFO can do."""
    uses = Uses().add(func.body)
    found = [_transfer(op, to, uses, assignment) for op, to in assignment.crossings.items()]
    return sorted(found, key=lambda a: [index for _, index in a.way])


def _transfer(op: Op, to: KernelKind, uses: Uses, assignment: CoreAssignment) -> CoreTransfer:
    (dst,), (src,) = (op.bound(o.name) for o in op.page.operands[:2])
    _, index = uses.ways[op][-1]
    last = _last_use(op, dst, uses, assignment.crossings)
    copied = last is None
    if copied and to is CUBE:
        help = "move the tile to a separate tile, and use the new tile on that core: t.to(...)"
        raise cannot_split(op, f"%{dst.name} is not used on the core it arrives on", help)
    return CoreTransfer(
        op, to, dst, src, uses.ways[op], last or index, _valid(op, dst, uses), copied
    )


def _last_use(op: Op, dst: Value, uses: Uses, moves: Mapping[Op, KernelKind]) -> int | None:
    """Return the last use of a received value in its block; None if it is used elsewhere, too."""
    block, start = uses.ways[op][-1]
    fills = {o: uses.ways[o][-1] for o in uses.of[dst] if o in moves and _fills(o, dst)}
    if dst not in uses.made or uses.made[dst].bound("addr") or _nested(fills.values(), uses):
        return None
    filled = {user: uses.filled(user, fills) for user in uses.of[dst] if user not in fills}
    if None in filled.values():
        return None
    stop = min((n for b, n in fills.values() if b is block and n > start), default=len(block.ops))
    new, known, last = [dst], {dst}, start
    while new:
        handle = new.pop()
        users = [u for u, by in filled.items() if by is op] if handle is dst else uses.of[handle]
        places = uses.within(users, block, start, stop)
        if places is None or any(map(_passes_on, users)):
            return None
        last = max([last, *places])
        new += (found := {h for user in users for h in _handles(user)} - known)
        known |= found
    return last


def _nested(fills: Iterable[Place], uses: Uses) -> bool:
    """Return whether a tile is filled again inside an op after the first fill."""
    every = [*fills]
    ways = [uses.ways[block.ops[index]] for block, index in every]
    return any(
        other is block and place > index and way[-1][0] is not block
        for block, index in every
        for way in ways
        for other, place in way
    )


def _fills(op: AnyOp, dst: Value) -> bool:
    return isinstance(op, Op) and dst in op.bound(op.page.operands[0].name)


def _passes_on(op: AnyOp) -> bool:
    """Return whether an op gives its operands other names, which are not followed here."""
    return isinstance(op, OpaqueOp) or bool(op.regions) or TERMINATOR in op.page.traits


def _handles(op: AnyOp) -> Iterator[Value]:
    """Yield the values that may name bytes of an op's operands after the op."""
    if isinstance(op, Op) and ALIASES in op.page.traits:
        yield from op.bound(op.page.outs()[0].name)
    yield from (v for v in op.results if side_of(v.type) is not None)


def _valid(op: Op, dst: Value, uses: Uses) -> tuple[Value | int, Value | int]:
    """Return rows and columns of the tile that arrives."""
    assert isinstance(dst.type, TileType)
    stated, made = dst.type.valid, uses.made.get(dst)
    found: list[Value | int] = []
    for extent, name in ((stated.rows, "valid_row"), (stated.cols, "valid_col")):
        given = next(iter(made.bound(name)), None) if made is not None else None
        if extent is not None:
            found.append(extent)
        elif given is not None:
            found.append(given)
        else:
            help = "move the tile to a separate tile with a known valid region"
            raise cannot_split(op, f"the valid region of %{dst.name} is unknown", help)
    return found[0], found[1]
