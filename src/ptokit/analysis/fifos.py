"""The FIFOs between the cores of a kernel, and the FIFO that each instruction uses.

docs/machine.md defines FIFOs, slots and pipes. Both ends set a FIFO up. It is identified by an id
in the functions of both kinds, or by a handle in a function for both kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ptokit.analysis.fifoentries import USES, direction_of, entry_of, fact, slots_of
from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.isa.lang.traits import BY_LANE, FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import VECTOR, KernelKind
from ptokit.isa.pages.slots import TO_CUBE, TO_VECTOR, parts

LANES = 2  # vector cores of a block
COUNTERS = 6  # per FIFO: pushed, popped and freed, for each core of an end
ALIGNMENT = 64


@dataclass(frozen=True)
class Fifo:
    """A FIFO in one of its directions.

    Its counters begin at `cell`, its slots at the byte `place`; slots of views begin `offset` bytes
    into their global memory. `extents` are the extents of the entries if all pushes have the same;
    otherwise they are stored next to each slot. Slots are `stride` bytes apart. Both vector cores
    take part in whole entries if `shares` is set.
    """

    name: str
    to_vector: bool
    slots: int
    slot_size: int
    shares: bool
    epilogue: str
    cell: int
    place: int
    offset: int
    extents: tuple[int, int] | None
    flags: tuple[int, ...] = ()  # the signals that the program assigns to the FIFO

    @property
    def stride(self) -> int:
        return -(-self.slot_size // ALIGNMENT) * ALIGNMENT


def lanes_of(funcs: Mapping[KernelKind, Func]) -> int:
    """Return the number of vector cores of a block.

    It is 1 for a kernel of one kind, and for one of both kinds whose entries go to the first vector
    core only and that does not query the number of the core.
    """
    if len(funcs) == 1:
        return 1
    ops = [op for f in funcs.values() for op in f.body.walk() if isinstance(op, Op)]
    fifos = [op for op in ops if op.page.fifo_role in (*USES, FifoRole.OPENS)]
    shared = any(fact(op, "split") or fact(op, "nosplit") for op in fifos)
    asked = any(BY_LANE in op.page.traits for op in ops)
    return LANES if shared or asked or not fifos else 1


Ends = Mapping[Op, Fifo]


@dataclass(frozen=True)
class KernelFifos:
    """The FIFOs of a kernel: the memory that its cores share besides global memory."""

    ends: Mapping[KernelKind, Ends]
    counters: int
    nbytes: int
    lanes: int


def kernel_fifos(funcs: Mapping[KernelKind, Func]) -> KernelFifos:
    """Return the FIFOs of the functions that the cores of a kernel run."""
    opened = {kind: _opened(func) for kind, func in funcs.items()}
    made: dict[tuple[object, int], Fifo] = {}
    pushes = dict(_pushes(funcs, opened))
    views = set(_views_of_both(funcs, opened))
    cell, place = 0, 0
    for fifos in opened.values():
        for key, op in fifos.items():
            for way in _ways(op):
                if (key, way) not in made:
                    extents, shares = pushes.get((key, way)), (key, way) in views
                    made[key, way] = fifo = _fifo(key, op, way, cell, place, extents, shares)
                    cell += COUNTERS + 2 * fifo.slots
                    place += fifo.stride * fifo.slots
    ends = {kind: dict(_ends(kind, funcs[kind], opened[kind], made)) for kind in funcs}
    return KernelFifos(ends, cell, place, lanes_of(funcs))


def _opened(func: Func) -> dict[object, Op]:
    """Return the FIFOs that a function sets up, by id, by flags or by position."""
    found: dict[object, Op] = {}
    for op in func.body.walk():
        if isinstance(op, Op) and op.page.fifo_role is FifoRole.OPENS:
            number, flags = fact(op, "id"), fact(op, "flag_base")
            counted = sum(isinstance(key, str) for key in found)
            named = f"flags {flags}" if flags is not None else f"handle {counted}"
            found.setdefault(named if number is None else number, op)
    return found


def _ways(opened: Op) -> list[int]:
    return [way for way in (TO_VECTOR, TO_CUBE) if fact(opened, "dir_mask") & way]


def _pushes(
    funcs: Mapping[KernelKind, Func], opened: Mapping[KernelKind, Mapping[object, Op]]
) -> Iterator[tuple[tuple[object, int], tuple[int, int] | None]]:
    """Yield the extents of the entries of each FIFO; None if the pushes differ."""
    found: dict[tuple[object, int], set[tuple[int, int] | None]] = {}
    for kind, func in funcs.items():
        for op, key in _keyed(func, opened[kind]):
            if op.page.fifo_role is FifoRole.PUSHES:
                found.setdefault((key, direction_of(op, kind)), set()).add(_extents(op, kind))
    for fifo, extents in found.items():
        yield fifo, next(iter(extents)) if len(extents) == 1 else None


def _extents(op: Op, kind: KernelKind) -> tuple[int, int] | None:
    """Return the rows and columns of the whole entry of a push."""
    entry = entry_of(op)
    valid = entry.type.valid if entry is not None and isinstance(entry.type, TileType) else None
    if valid is None or valid.rows is None or valid.cols is None:
        return None
    whole = parts(fact(op, "split"), 0, valid.rows, valid.cols)[2:]
    return whole if kind is VECTOR else (valid.rows, valid.cols)


def _views_of_both(
    funcs: Mapping[KernelKind, Func], opened: Mapping[KernelKind, Mapping[object, Op]]
) -> set[tuple[object, int]]:
    """Return FIFOs of views that both vector cores use: the cube waits for both."""
    if VECTOR not in funcs:
        return set()
    uses = [
        (op, (key, direction_of(op, VECTOR))) for op, key in _keyed(funcs[VECTOR], opened[VECTOR])
    ]
    chosen = set(map(id, _by_number([funcs[VECTOR].body], set())))
    entries = ((entry_of(op), fifo) for op, fifo in uses)
    views = {fifo for entry, fifo in entries if entry and isinstance(entry.type, GlobalType)}
    return views - {fifo for op, fifo in uses if id(op) in chosen}


def _by_number(
    blocks: Iterable[Block], numbers: set[Value], *, chosen: bool = False
) -> Iterator[AnyOp]:
    """Yield ops that run, or repeat, depending on the number of the vector core.

    `numbers` collects the values that differ between the vector cores.
    """
    for op in (op for block in blocks for op in block.ops):
        used = {v for _, v in op.values()} if isinstance(op, Op) else set(op.uses)
        if used & numbers or (isinstance(op, Op) and BY_LANE in op.page.traits):
            numbers.update(op.results)
        if chosen:
            yield op
        inner = [b for region in op.regions for b in (region, *region.following)]
        yield from _by_number(inner, numbers, chosen=chosen or not numbers.isdisjoint(used))


def _fifo(
    key: object,
    op: Op,
    way: int,
    cell: int,
    place: int,
    extents: tuple[int, int] | None,
    shares: bool,
) -> Fifo:
    slots, size = slots_of(op), fact(op, "slot_size")
    second = way == TO_CUBE and len(_ways(op)) == 2
    base = fact(op, "flag_base")
    flags = () if base is None else (base + 2 * second, base + 2 * second + 1)
    return Fifo(
        f"FIFO {key}",
        way == TO_VECTOR,
        slots,
        size,
        shares or (bool(fact(op, "nosplit")) and way == TO_VECTOR),
        fact(op, "epilogue") or "",
        cell,
        place,
        slots * size if second else 0,
        extents,
        flags,
    )


def _keyed(func: Func, opened: Mapping[object, Op]) -> Iterator[tuple[Op, object]]:
    """Yield the FIFO operations of a function, and the key of the FIFO."""
    handles = {v: key for key, op in opened.items() for v in op.results}
    for op in func.body.walk():
        if isinstance(op, Op) and op.page.fifo_role in USES:
            handle = op.bound("handle")
            yield op, handles.get(handle[0]) if handle else fact(op, "id")


def _ends(
    kind: KernelKind,
    func: Func,
    opened: Mapping[object, Op],
    made: Mapping[tuple[object, int], Fifo],
) -> Iterator[tuple[Op, Fifo]]:
    """Yield the FIFO that each instruction of a core sets up or uses."""
    for key, op in opened.items():
        yield op, made[key, _ways(op)[0]]
    for op, key in _keyed(func, opened):
        if (fifo := made.get((key, direction_of(op, kind)))) is not None:
            yield op, fifo
