"""Checks of FIFOs between cores: the agreement of both ends, and the uses of each FIFO.

Pages declare the role of their instructions for a FIFO (`FifoRole`) and their kind of core. The
rules here consider all functions of a module together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptokit.analysis.fifoentries import (
    USES,
    check_conversion,
    check_meant,
    check_parameters,
    check_places,
    check_sizes,
    check_slots,
    check_unconverted,
    direction_of,
    entry_of,
    fact,
    slots_of,
    wrong,
)
from ptokit.diagnostics.diagnostic import Diagnostic, Judge
from ptokit.ir.module import Func, Module, Op
from ptokit.ir.strings import symbol_name
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.words import VECTOR
from ptokit.isa.pages.slots import BOTH, MOST_FLAGS, ODD_COLUMNS, ODD_ROWS, TO_CUBE, TO_VECTOR

SHARED_SLOTS = "give the FIFO slots in global memory, and the buffer of the consumer"
WAYS = {"c2v_consumer_buf": TO_VECTOR, "v2c_consumer_buf": TO_CUBE, "peer_local_addr": TO_CUBE}
AGREED = ("dir_mask", "slot_size", "slot_num", "epilogue")


def check_fifos(module: Module) -> Iterator[Diagnostic]:
    """Yield everything wrong with the FIFOs of a module, on any target."""
    ends = {func: _End(func) for func in module.funcs}
    for end in ends.values():
        if end.every:
            yield from end.check()
            yield from _peers(end, ends, module)
    yield from _of_one_number([*ends.values()])


class _End:
    """The FIFO operations of one function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        ops = (op for op in func.body.walk() if isinstance(op, Op))
        self.every = [op for op in ops if op.page.fifo_role is not None]

    def of(self, *kinds: FifoRole) -> list[Op]:
        return [op for op in self.every if op.page.fifo_role in kinds]

    def opened(self, number: int) -> list[Op]:
        """Return the FIFOs that an id names."""
        return [op for op in self.of(FifoRole.OPENS) if fact(op, "id") == number]

    def using(self, opened: Op) -> list[Op]:
        """Return the operations on a FIFO, which an id or a handle names."""
        number = fact(opened, "id")
        if number is None:
            handle = {*opened.results}
            return [op for op in self.of(*USES) if handle.intersection(op.bound("handle"))]
        return [op for op in self.of(*USES) if fact(op, "id") == number]

    def check(self) -> Iterator[Diagnostic]:
        """Yield broken rules on one function."""
        flags = 0
        for op in self.of(FifoRole.OPENS):
            flags += 4 if fact(op, "dir_mask") == BOTH else 2
            first = next(iter(self.opened(fact(op, "id"))), op)
            if fact(op, "id") is not None and first is not op:
                yield wrong(op, "another FIFO has this id", "give each FIFO its own id", first)
            yield from self._uses(op)
            yield from self._entries(op)
        if flags > MOST_FLAGS:
            last = self.of(FifoRole.OPENS)[-1]
            message = f"the FIFOs use {flags} flags, a core has {MOST_FLAGS}"
            yield wrong(last, message, "each direction of a FIFO uses two flags")
        yield from self._labels()
        yield from self._shared()
        fifos = self.of(FifoRole.OPENS)
        for op in self.of(FifoRole.SETS) if fifos else ():
            yield from check_meant(op, fifos)
        for op in self.of(*USES):
            if fact(op, "id") is not None and not self.opened(fact(op, "id")):
                help = "set the FIFO up in this function, with the same id"
                yield wrong(op, f"no FIFO with id {fact(op, 'id')}", help)

    def _labels(self) -> Iterator[Diagnostic]:
        """Check that each buffer has a unique name, by which peers import it."""
        first: dict[str, Op] = {}
        for op in self.of(FifoRole.RESERVES):
            label = str(fact(op, "label"))
            if first.setdefault(label, op) is not op:
                yield wrong(
                    op,
                    f"buffer {label!r} is reserved twice",
                    "give one of them another name",
                    first[label],
                )

    def _shared(self) -> Iterator[Diagnostic]:
        """Check that a buffer holds the slots of at most one FIFO in each direction."""
        for buffer in self.of(FifoRole.RESERVES, FifoRole.IMPORTS):
            first: dict[int, Op] = {}
            for op in _opened_on(self, buffer):
                for way in _ways(op, buffer):
                    if first.setdefault(way, op) is not op:
                        help = "reserve a separate buffer for each FIFO"
                        yield wrong(op, "another FIFO uses the same buffer", help, first[way])

    def _entries(self, opened: Op) -> Iterator[Diagnostic]:
        """Check that entries match the FIFO."""
        uses = self.using(opened)
        yield from check_slots(opened, uses)
        yield from check_sizes(opened, uses)
        yield from check_places(opened, self.of(FifoRole.RESERVES, FifoRole.IMPORTS))
        yield from check_conversion(opened, uses)
        yield from check_parameters(self.func.body, opened, uses)

    def _uses(self, opened: Op) -> Iterator[Diagnostic]:
        """Check that a FIFO is used in its directions, and with whole entries if it says so."""
        mask, whole = fact(opened, "dir_mask"), fact(opened, "nosplit")
        for op in self.using(opened):
            core = op.page.core  # None: the page declares none
            way = mask if core is None else direction_of(op, core)
            if mask in (TO_VECTOR, TO_CUBE) and way != mask:
                message = f"wrong direction: the FIFO has dir_mask {mask}"
                yield wrong(op, message, f"dir_mask {BOTH} enables both directions", opened)
            yield from _remainder(op, opened, way)
            if whole and fact(op, "split"):
                message = f"split is {fact(op, 'split')}, but the FIFO has nosplit"
                yield wrong(op, message, "use split = 0 for whole entries", opened)
        shared = any(fact(op, "split") for op in self.using(opened))
        if whole is False and self.using(opened) and not shared:
            message = "nosplit is false, but every split is 0"
            yield wrong(opened, message, "leave nosplit out, or split the entries")
        pops = [op for op in self.using(opened) if op.page.fifo_role is FifoRole.POPS]
        consumer = opened.page.core is VECTOR
        if fact(opened, "epilogue") is not None and consumer and not pops:
            yield wrong(opened, "converted entries are never popped", "pop its entries")


def _remainder(op: Op, opened: Op, way: int) -> Iterator[Diagnostic]:
    """Check that splits with a remainder are of tiles with slots in global memory."""
    split, entry = fact(op, "split"), entry_of(op)
    if split not in (ODD_ROWS, ODD_COLUMNS):
        return
    if entry is not None and isinstance(entry.type, GlobalType):
        message = f"split is {split}, but the entry is a view"
        yield wrong(op, message, "views are split in halves: split = 1 or 2", opened)
    elif not _through_memory(opened, way):
        message = f"split is {split}, but the FIFO has no slots in global memory"
        yield wrong(op, message, SHARED_SLOTS, opened)


def _through_memory(opened: Op, way: int) -> bool:
    """Return whether the slots are in global memory, with copies at the consumer."""
    given = {name for name, _ in opened.values()}
    last = way == TO_CUBE and fact(opened, "dir_mask") == BOTH
    copies = ("v2c_consumer_buf" if way == TO_CUBE else "c2v_consumer_buf",)
    handle = ("peer_local_addr" if last else "local_addr",)
    slots = {"gm_slot_buffer", "gm_slot_tensor", "gm_addr"}
    return bool(given & slots) and bool(given & {*copies, *handle})


def _meant(module: Module, func: Func, name: str) -> list[Func]:
    """Return the possible peers of this name: functions of the same module, else visible ones."""
    there = [other for other in module.funcs if other.name == name and not other.declared]
    own = [other for other in there if module.owner(other) is module.owner(func)]
    return own or [other for other in there if other.visibility != "private"]


def _peers(end: _End, ends: dict[Func, _End], module: Module) -> Iterator[Diagnostic]:
    """Check that each imported buffer is reserved by its peer, for the same FIFO."""
    seen: set[tuple[str, str]] = set()
    for op in end.of(FifoRole.IMPORTS):
        label, name = str(fact(op, "label")), symbol_name(str(fact(op, "peer")))
        meant = _meant(module, end.func, name)
        if (label, name) in seen:
            yield wrong(
                op,
                f"buffer {label!r} of @{name} is imported twice",
                "use the first import",
            )
            continue
        seen.add((label, name))
        if len(meant) != 1:
            several = f"several modules define @{name}"
            message = several if meant else f"no function @{name}"
            yield wrong(op, message, "name the function that reserves it")
            continue
        peer = ends[meant[0]]
        if module.owner(peer.func) is not module.owner(end.func) and _calls(peer.func):
            message = f"peer @{name} of another module calls functions"
            found = wrong(op, message, "inline its calls: the assembler copies only the peer")
            yield replace(found, by=(Judge.ASSEMBLER,))
        reserved = [r for r in peer.of(FifoRole.RESERVES) if fact(r, "label") == label]
        if not reserved:
            help = "reserve the buffer there under this name"
            yield wrong(op, f"@{name} reserves no buffer {label!r}", help)
            continue
        others, fifos = _opened_on(peer, reserved[0]), _opened_on(end, op)
        for other in () if fifos else others:
            message = f"@{end.func.name} imports {label!r} but opens no FIFO on it"
            yield wrong(other, message, "open the other end there, on the imported buffer", op)
        for mine in fifos:
            if not others:
                message = f"@{name} opens no FIFO on {label!r}"
                yield wrong(mine, message, "open the other end there, on the reserved buffer")
            for other in others:
                yield from _agree(mine, other)
                yield from _split(end.using(mine), peer.using(other))
                yield from check_unconverted(mine, end.using(mine), peer.using(other))
                yield from _room(reserved[0], other)


def _calls(func: Func) -> bool:
    return any(isinstance(op, Op) and op.calls for op in func.ops)


def _of_one_number(ends: list[_End]) -> Iterator[Diagnostic]:
    """Check that FIFOs with slots in global memory only are split alike at all ends."""
    first: dict[tuple[object, object], tuple[Op, bool]] = {}
    for end in ends:
        for op in end.of(FifoRole.OPENS):
            given = {name for name, _ in op.values()}
            splits = {bool(fact(use, "split")) for use in end.using(op)}
            if fact(op, "id") is None or not given or given & {*WAYS, "local_addr"} or not splits:
                continue
            key = fact(op, "id"), fact(op, "dir_mask")
            other, shared = first.setdefault(key, (op, True in splits))
            if shared not in splits:
                message = f"entries are {'whole' if shared else 'split'} here, not at the other end"
                found = wrong(op, message, "split entries at all ends, or at none", other)
                ends_of_one = other.page.core is not op.page.core
                yield found if ends_of_one else replace(found, by=(Judge.ASSEMBLER,))


def _opened_on(end: _End, buffer: Op) -> list[Op]:
    """Return the FIFOs of a function that have their slots in a buffer."""
    values = {*buffer.results}
    opens = end.of(FifoRole.OPENS)
    return [op for op in opens if not values.isdisjoint(v for _, v in op.values())]


def _ways(opened: Op, buffer: Op) -> Iterator[int]:
    """Yield the directions whose slots a buffer holds."""
    mask = fact(opened, "dir_mask")
    for name, value in opened.values():
        way = WAYS.get(name, TO_VECTOR if mask == BOTH else mask)
        if value in buffer.results and mask in (BOTH, way):
            yield way


def _agree(mine: Op, other: Op) -> Iterator[Diagnostic]:
    """Check that both ends have the same parameters."""
    for name in AGREED:
        slots = name == "slot_num"
        here, there = (slots_of(op) if slots else fact(op, name) for op in (mine, other))
        if here != there:
            message = f"{name} is {here} here and {there} at the other end"
            yield wrong(mine, message, "both ends of a FIFO have the same parameters", other)


def _split(mine: list[Op], others: list[Op]) -> Iterator[Diagnostic]:
    """Check that entries are pushed and popped with the same split."""
    for op in (op for op in mine if op.page.fifo_role in (FifoRole.PUSHES, FifoRole.POPS)):
        wanted = FifoRole.POPS if op.page.fifo_role is FifoRole.PUSHES else FifoRole.PUSHES
        for other in (o for o in others if o.page.fifo_role is wanted):
            if fact(op, "split") != fact(other, "split"):
                message = (
                    f"split is {fact(op, 'split')} here and {fact(other, 'split')} at the other end"
                )
                yield wrong(op, message, "both ends of a FIFO use the same split", other)
                break


def _room(reserved: Op, opened: Op) -> Iterator[Diagnostic]:
    """Check that a buffer holds at least one slot."""
    size, slot = fact(reserved, "size"), fact(opened, "slot_size")
    if isinstance(size, int) and isinstance(slot, int) and size < slot:
        message = f"{size} bytes are too few for a slot of {slot} bytes"
        help = f"reserve {slot * slots_of(opened)} bytes: slot_size times the number of slots"
        yield wrong(reserved, message, help, opened)
