"""Checks of the entries of FIFOs: directions, shapes, element types, conversions."""

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
IN_MEMORY = "an entry in global memory is a slot of the tensor given at setup"
OF_BUFFER = "give flag_base, or the address of a buffer that is reserved or imported"


def fact(op: Op, name: str) -> Any:  # Any: a number, an enum member, or None
    """Return an attribute of an op, or its default."""
    attr = next((a for a in op.page.attrs if a.name == name), None)
    return None if attr is None else op.attrs.get(name, None if attr.required else attr.default)


def wrong(op: Op, message: str, help: str, other: Op | None = None) -> Diagnostic:
    """Return a diagnostic for a FIFO op; `other` is its setup, or the other end."""
    notes = () if other is None else (Note("the other end is here", other.span),)
    return Diagnostic("fifo-mismatch", f"{op.name}: {message}", op.span, help=help, notes=notes)


def slots_of(opened: Op) -> int:
    """Return the number of slots in each direction of a FIFO."""
    return fact(opened, "slot_num") or default_slots(fact(opened, "dir_mask"))


def direction_of(op: Op, core: KernelKind) -> int:
    """Return the direction of a FIFO operation on this kind of core."""
    return TO_VECTOR if (op.page.fifo_role in SENDS) is (core is CUBE) else TO_CUBE


def entry_of(op: Op) -> Value | None:
    """Return the value that is pushed, popped, allocated or freed."""
    found = [v for name, v in (*op.named_results(), *op.values()) if name == "entry"]
    return found[0] if found else None


def entry_element(op: Op) -> DType | None:
    """Return the element type of the entry, if it is known."""
    entry = entry_of(op)
    kind = None if entry is None else entry.type
    return kind.dtype if isinstance(kind, TileType | GlobalType) else None


def check_slots(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that entries in global memory match the slot tensor."""
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
    """Check that a slot has the bytes of its tensor, or of two tensors if `halves` are allowed."""
    count, size = times(*slot.shape), fact(opened, "slot_size")
    nbytes = None if count is None else slot.dtype.nbytes(count)
    if nbytes is not None and size != nbytes and not (halves and size == 2 * nbytes):
        message = f"slot_size is {size}, but the slot tensor has {nbytes} bytes"
        yield wrong(opened, message, "make them equal; the tensor may be half of a split slot")


def check_sizes(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that unconverted entries fit into a slot.

    Assemblers do not compare these sizes; a run ends at such a push.
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
    """Check that a FIFO with a handle has a buffer for its slots, or explicit flags.

    The slots of an epilogue always need a buffer, which identifies the other end.
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
    """Return the conversion of the epilogue, if there is one."""
    epilogue = fact(opened, "epilogue")
    return clause_value(epilogue, "quant") if isinstance(epilogue, str) else None


def check_conversion(opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that entries are whole and have the types of the conversion."""
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
    """Check that converted entries fit into a slot."""
    slot = fact(opened, "slot_size")
    for op, entry in ((op, entry_of(op)) for op in pops):
        if entry is not None and isinstance(entry.type, TileType) and entry.type.nbytes > slot:
            message = f"slot_size is {slot}, but the entry has {entry.type.nbytes} bytes"
            yield wrong(op, message, "make slot_size the size of the converted entry", opened)


def _check_layouts(opened: Op, pops: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that entries are popped in the layout of the epilogue, all with one type."""
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
    """Check that entries without a conversion are popped with the pushed type."""
    if mode_of(opened) != NO_CONVERT:
        return
    for op in (op for op in mine if op.page.fifo_role is FifoRole.PUSHES):
        for other in (o for o in others if o.page.fifo_role is FifoRole.POPS):
            if entry_element(op) != entry_element(other):
                message = f"{entry_element(op)} is pushed, but {entry_element(other)} is popped"
                yield wrong(op, message, "pop the pushed type, or convert in the epilogue", other)


def check_meant(setting: Op, fifos: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that a parameter setting names a FIFO that uses such a parameter."""
    number, kind = fact(setting, "number"), _set_by(setting)
    meant = [op for op in fifos if fact(op, "id") in (number, None)]
    modes = [CONVERSIONS.get(mode_of(op) or "") for op in meant]
    if not meant:
        message, help = f"no FIFO with id {number}", "give the id of the FIFO"
        yield wrong(setting, message, help)
    elif not any(mode is not None and mode.scale == kind for mode in modes):
        message = f"the epilogue of the FIFO takes no {kind}"
        yield wrong(setting, message, "set only the parameters that the epilogue uses", meant[0])


def _set_by(op: Op) -> str:
    """Return which numbers of a conversion an op sets: a "vector" in memory, or a "scalar"."""
    return "vector" if op.page.operands[0].in_memory else "scalar"


def check_parameters(block: Block, opened: Op, uses: Sequence[Op]) -> Iterator[Diagnostic]:
    """Check that the parameters of a conversion are set before each push, in its block."""
    conversion = CONVERSIONS.get(mode_of(opened) or "")
    if conversion is None or not conversion.scale:
        return
    found = False
    for op in block.ops:
        role = op.page.fifo_role if isinstance(op, Op) else None
        if isinstance(op, Op) and role is FifoRole.SETS and _set_by(op) == conversion.scale:
            found = found or fact(op, "number") == fact(opened, "id")
        if isinstance(op, Op) and op in uses and role is FifoRole.PUSHES and not found:
            message = f"{mode_of(opened)} needs a {conversion.scale}, which is not set"
            help = f"set it before, in this block, with id = {fact(opened, 'id')}"
            yield wrong(op, message, help, opened)
        for region in op.regions:
            yield from check_parameters(region, opened, uses)
