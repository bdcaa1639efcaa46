"""What goes through a FIFO between cores: which way, shapes, element types, conversions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity
from ptokit.ir.module import Block, Op, Value
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.epilogues import CONVERSIONS, LAYOUTS, NO_CONVERT, EpilogueMode, clause_value
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.words import CUBE, KernelKind
from ptokit.isa.pages.slots import TO_CUBE, TO_VECTOR, default_slots
from ptokit.values.dtypes import DType
from ptokit.values.enumerations import VEC
from ptokit.values.layouts import times

SENDS = (FifoRole.PUSHES, FifoRole.ALLOCATES)
USES = (*SENDS, FifoRole.POPS, FifoRole.FREES)
SETS = {FifoRole.SETS_SCALAR: "scalar", FifoRole.SETS_VECTOR: "vector"}
IN_MEMORY = "an entry in global memory is a slot of the tensor given at setup"
OF_BUFFER = "give flag_base, or the address of a buffer that is reserved or imported"


def fact(op: Op, name: str) -> Any:  # Any: a number, a word, or None where it is not given
    """An attribute of an op, or what its page says without it."""
    attr = next((a for a in op.page.attrs if a.name == name), None)
    return None if attr is None else op.attrs.get(name, None if attr.required else attr.default)


def wrong(op: Op, message: str, help: str, other: Op | None = None) -> Diagnostic:
    """What is wrong with an op of a FIFO; `other` is where that is set up, or its other end."""
    notes = () if other is None else (Note("the other end is here", other.span),)
    return Diagnostic("fifo-mismatch", f"{op.name}: {message}", op.span, help=help, notes=notes)


def slots_of(opened: Op) -> int:
    """The slots in each direction of a pipe."""
    return fact(opened, "slot_num") or default_slots(fact(opened, "dir_mask"))


def direction_of(op: Op, core: KernelKind) -> int:
    """The direction that a use of a FIFO is about, on this kind of core."""
    return TO_VECTOR if (op.page.fifo_role in SENDS) is (core is CUBE) else TO_CUBE


def entry_of(op: Op) -> Value | None:
    """What is pushed, popped, allocated or freed."""
    found = [v for name, v in (*op.named_results(), *op.values()) if name == "entry"]
    return found[0] if found else None


def entry_element(op: Op) -> DType | None:
    """Its element type, where it is known."""
    entry = entry_of(op)
    kind = None if entry is None else entry.type
    return kind.dtype if isinstance(kind, TileType | GlobalType) else None


def check_slots(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Entries in global memory are as the tensor of slots says."""
    given = [v.type for name in ("gm_slot_tensor", "gm_addr") for v in opened.bound(name)]
    slot = next((kind for kind in given if isinstance(kind, GlobalType)), None)
    entries = ((op, entry_of(op)) for op in uses)
    views = [(op, e.type) for op, e in entries if e and isinstance(e.type, GlobalType)]
    if slot is not None and (views or opened.bound("gm_slot_tensor")):
        halves = not views or any(fact(op, "split") for op, _ in views)
        yield from _sized(opened, slot, halves)
    for op, kind in views:
        if slot is None:
            yield wrong(op, "the FIFO has no slots in global memory", IN_MEMORY, opened)
        elif kind.dtype != slot.dtype or not _agree(kind.shape, slot.shape):
            message = f"the entry is {kind}, but a slot is {slot}"
            yield wrong(op, message, IN_MEMORY, opened)


def _sized(opened: Op, slot: GlobalType, halves: bool) -> Iterator[Diagnostic]:
    """A slot has the bytes of its tensor, or of two: of both `halves`."""
    count, size = times(*slot.shape), fact(opened, "slot_size")
    nbytes = None if count is None else slot.dtype.nbytes(count)
    if nbytes is not None and size != nbytes and not (halves and size == 2 * nbytes):
        message = f"slot_size is {size}, but the slot tensor has {nbytes} bytes"
        yield wrong(opened, message, "make them equal; the tensor may be half of a split slot")


def check_sizes(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """A slot has room for what is pushed and popped, where nothing converts it.

    Assemblers do not compare these: a run ends at such a push.
    """
    slot = fact(opened, "slot_size")
    moves = (op for op in uses if op.page.fifo_role in (FifoRole.PUSHES, FifoRole.POPS))
    for op, entry in ((op, entry_of(op)) for op in moves if fact(opened, "epilogue") is None):
        kind = None if entry is None else entry.type
        if not isinstance(kind, TileType) or not kind.valid.static:
            continue
        count = times(kind.valid.rows, kind.valid.cols) or 0
        if (nbytes := kind.dtype.nbytes(count)) > slot:
            message = f"the entry has {nbytes} bytes, but a slot has {slot}"
            found = wrong(op, message, "slot_size is the size of a whole entry, in bytes", opened)
            yield replace(found, severity=Severity.WARNING)


def _agree(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    known = all(None in (a, b) or a == b for a, b in zip(one, other, strict=False))
    return len(one) == len(other) and known


def check_places(opened: Op, buffers: Sequence[Op]) -> Iterator[Diagnostic]:
    """The slots of a FIFO with a handle have a buffer, or its flags are given.

    Those that an epilogue writes always have one: its other end is known by it.
    """
    places = [v for name in ("local_addr", "peer_local_addr") for v in opened.bound(name)]
    reserved = {v for op in buffers for v in op.results}
    filled = {*opened.bound("c2v_consumer_buf")}
    if fact(opened, "epilogue") is not None and not reserved.issuperset(filled):
        message = "the slots of the epilogue are in no reserved buffer"
        yield wrong(opened, message, "reserve a buffer, or import it from the peer")
    if fact(opened, "flag_base") is None and not reserved.issuperset(places):
        yield wrong(opened, "the FIFO has neither a reserved buffer nor flags", OF_BUFFER)


def mode_of(opened: Op) -> str | None:
    """The conversion of its epilogue, where it has one."""
    epilogue = fact(opened, "epilogue")
    return clause_value(epilogue, "quant") if isinstance(epilogue, str) else None


def check_conversion(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Entries have the types that the conversion takes and makes, and are whole."""
    mode = mode_of(opened)
    if (conversion := CONVERSIONS.get(mode or "")) is None:
        return
    for op in uses:
        types = _types(op, conversion)
        dtype = entry_element(op)
        if types and dtype is not None and dtype not in types:
            way = "takes" if op.page.fifo_role is FifoRole.PUSHES else "gives"
            message = f"the entry is {dtype}, but {mode} {way} {' or '.join(map(str, types))}"
            yield wrong(op, message, "the epilogue of the FIFO selects the conversion", opened)
    yield from _check_room(opened, [op for op in uses if op.page.fifo_role is FifoRole.POPS])
    yield from _check_layouts(opened, [op for op in uses if op.page.fifo_role is FifoRole.POPS])


def _check_room(opened: Op, pops: Sequence[Op]) -> Iterator[Diagnostic]:
    """A slot has room for what the epilogue makes."""
    slot = fact(opened, "slot_size")
    for op, entry in ((op, entry_of(op)) for op in pops):
        if entry is not None and isinstance(entry.type, TileType) and entry.type.nbytes > slot:
            message = f"slot_size is {slot}, but the entry has {entry.type.nbytes} bytes"
            yield wrong(op, message, "make slot_size the size of the converted entry", opened)


def _check_layouts(opened: Op, pops: Sequence[Op]) -> Iterator[Diagnostic]:
    """What is popped is stored as the epilogue says, always in one type."""
    layout = LAYOUTS.get(clause_value(str(fact(opened, "epilogue")), "layout") or "")
    kinds = [(op, entry.type) for op in pops for entry in (entry_of(op),) if entry is not None]
    for op, kind in kinds:
        if layout and isinstance(kind, TileType) and (kind.loc, kind.layout) != (VEC, layout):
            message = (
                f"the entry is {kind}, but the epilogue of the FIFO gives vec tiles in {layout}"
            )
            yield wrong(
                op,
                message,
                "pop this layout, or change the epilogue",
                opened,
            )
        elif kind != kinds[0][1]:
            message = f"the entry is {kind}, but another one is {kinds[0][1]}"
            yield wrong(op, message, "pop all entries with one type", kinds[0][0])


def _types(op: Op, conversion: EpilogueMode) -> tuple[DType, ...]:
    match op.page.fifo_role:
        case FifoRole.PUSHES:
            return conversion.taken
        case FifoRole.POPS:
            return conversion.made
        case _:
            return ()


def check_unconverted(opened: Op, mine: Sequence[Op], others: Sequence[Op]) -> Iterator[Diagnostic]:
    """Without a conversion what is pushed at one end is popped with the same type at the other."""
    if mode_of(opened) != NO_CONVERT:
        return
    for op in (op for op in mine if op.page.fifo_role is FifoRole.PUSHES):
        for other in (o for o in others if o.page.fifo_role is FifoRole.POPS):
            if entry_element(op) != entry_element(other):
                message = f"{entry_element(op)} is pushed, but {entry_element(other)} is popped"
                yield wrong(op, message, "pop the pushed type, or convert in the epilogue", other)


def check_meant(setting: Op, fifos: Sequence[Op]) -> Iterator[Diagnostic]:
    """What sets parameters names one of the function's FIFOs, which multiplies by such."""
    number, role = fact(setting, "number"), setting.page.fifo_role
    kind = SETS[role] if role is not None else ""
    meant = [op for op in fifos if fact(op, "id") in (number, None)]
    modes = [CONVERSIONS.get(mode_of(op) or "") for op in meant]
    if not meant:
        message, help = f"no FIFO with id {number}", "give the id of the FIFO"
        yield wrong(setting, message, help)
    elif not any(mode is not None and mode.scale == kind for mode in modes):
        message = f"the epilogue of the FIFO takes no {kind}"
        yield wrong(setting, message, "set only the parameters that the epilogue uses", meant[0])


def check_parameters(block: Block, opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """What a conversion multiplies by is set before each push, in the same block."""
    conversion = CONVERSIONS.get(mode_of(opened) or "")
    if conversion is None or not conversion.scale:
        return
    found = False
    for op in block.ops:
        role = op.page.fifo_role if isinstance(op, Op) else None
        if isinstance(op, Op) and role is not None and SETS.get(role) == conversion.scale:
            found = found or fact(op, "number") == fact(opened, "id")
        if isinstance(op, Op) and op in uses and role is FifoRole.PUSHES and not found:
            message = f"{mode_of(opened)} needs a {conversion.scale}, which is not set"
            help = f"set it before, in this block, with id = {fact(opened, 'id')}"
            yield wrong(op, message, help, opened)
        for region in op.regions:
            yield from check_parameters(region, opened, uses)
