"""FIFOs for the transfers of a split kernel, and the ops that set up their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from ptokit.ir.editing import FreshNames, arithmetic_page, new_op
from ptokit.ir.module import Binding, Op, Raw, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I64, Kind, ScalarType
from ptokit.isa.model.words import CUBE, VECTOR, KernelKind
from ptokit.isa.pages.grid import launch_query
from ptokit.isa.pages.slots import MOST_FLAGS, TO_CUBE, TO_VECTOR
from ptokit.passes.coretransfers import CoreTransfer, cannot_split
from ptokit.values.enumerations import MAT, VEC

DEPTH = 2  # slots of a FIFO: one is filled while the other is used
WAYS = {VECTOR: TO_VECTOR, CUBE: TO_CUBE}
MEMORY = {VECTOR: VEC, CUBE: MAT}  # the location of the slots, by consumer
CONSUMER = {VECTOR: "c2v_consumer_buf", CUBE: "v2c_consumer_buf"}


@dataclass
class FifoPlan:
    """A FIFO in one direction, and its transfers."""

    number: int
    to: KernelKind
    label: str
    entries: list[CoreTransfer] = field(default_factory=list[CoreTransfer])

    @property
    def slot_size(self) -> int:
        """The bytes of the largest tile at either end."""
        types = [v.type for entry in self.entries for v in (entry.dst, entry.src)]
        return max(kind.nbytes for kind in types if isinstance(kind, TileType))

    @property
    def nbytes(self) -> int:
        return self.slot_size * DEPTH


def fifos_for(found: Sequence[CoreTransfer]) -> list[FifoPlan]:
    """Return as few FIFOs as possible: a transfer reuses one whose entries are freed before.

    The number of the FIFO is written into each transfer. PtoError if a core has too few flags.
    """
    fifos: list[FifoPlan] = []
    for transfer in found:
        own = [fifo for fifo in fifos if fifo.to is transfer.to]
        free = (p for p in own if not any(transfer.overlaps(entry) for entry in p.entries))
        fifo = next(free, None)
        if fifo is None:
            label = f"to_{transfer.to.text}{len(own) or ''}"
            fifos.append(fifo := FifoPlan(len(fifos), transfer.to, label))
        fifo.entries.append(transfer)
        transfer.fifo = fifo.number
    if 2 * len(fifos) > MOST_FLAGS:
        seen = f"tiles that cross at the same time need {len(fifos)} FIFOs"
        help = f"a core has flags for {MOST_FLAGS // 2}: use a tile before the next one crosses"
        raise cannot_split(fifos[-1].entries[0].op, seen, help)
    return fifos


@dataclass
class FunctionFifos:
    """The ends of the FIFOs in the function for one kind of core.

    `number` returns a constant; `slots` is the buffer in global memory for the slots of all blocks,
    if slots lie there.
    """

    kind: KernelKind
    names: FreshNames
    number: Callable[[int, ScalarType], Value]
    slots: Value | None
    places: dict[int, Value] = field(default_factory=dict[int, Value])

    def set_up(self, fifos: Sequence[FifoPlan], peer: str) -> Iterator[Op]:
        """Yield the ops for all ends; `peer` is the name of the other function."""
        ops = [] if self.slots is None else [*self._placed(self.slots, fifos)]
        for op in ops:
            op.spans = fifos[0].entries[0].op.spans
        yield from ops
        for fifo in fifos:
            for op in self._end(fifo, peer):
                op.spans = fifo.entries[0].op.spans
                yield op

    def _placed(self, slots: Value, fifos: Sequence[FifoPlan]) -> Iterator[Op]:
        """Yield the ops that compute this block's slots in global memory, FIFO after FIFO."""
        query, product, moved = launch_query("block_idx"), arithmetic_page("mul", I64), _moved()
        assert query is not None
        assert product is not None
        block, start = (Value(self.names.name(name), I64) for name in ("block", "start"))
        yield Op(query, results=[block])
        size = self.number(sum(fifo.nbytes for fifo in fifos), I64)
        yield Op(product, _bound(product, block, size), results=[start])
        here, offset = slots, start
        for fifo in fifos:
            place = Value(self.names.name(f"{fifo.label}_slots"), slots.type)
            yield Op(moved, _bound(moved, here, offset), results=[place])
            self.places[fifo.number] = here = place
            if fifo is not fifos[-1]:
                offset = self.number(fifo.nbytes, I64)

    def _end(self, fifo: FifoPlan, peer: str) -> Iterator[Op]:
        """Yield the op for the buffer of the slots, and the op for the FIFO."""
        room = Value(self.names.name(fifo.label), ScalarType("i32"))
        given: dict[str, object] = {"label": fifo.label}
        if fifo.to is self.kind:
            given |= {"size": fifo.nbytes, "location": MEMORY[self.kind]}
        else:
            given |= {"peer": Raw(peer)}
        role = FifoRole.RESERVES if fifo.to is self.kind else FifoRole.IMPORTS
        yield Op(fifo_page(role), attrs=given, results=[room])
        shape = {"dir_mask": WAYS[fifo.to], "slot_size": fifo.slot_size, "slot_num": DEPTH}
        operands = {CONSUMER[fifo.to]: [room]}
        if fifo.number in self.places:
            operands["gm_slot_buffer"] = [self.places[fifo.number]]
        number = {"id": fifo.number} if fifo.number else {}
        yield new_op(fifo_page(FifoRole.OPENS, self.kind), operands, {**number, **shape})


def _bound(page: type[Instr], *values: Value) -> dict[str, Binding]:
    return {operand.name: v for operand, v in zip(page.ins(), values, strict=True)}


@cache
def fifo_page(role: FifoRole, core: KernelKind | None = None) -> type[Instr]:
    """Return the page for a role of a FIFO, which a number names, on a kind of core."""
    return next(page for page in walk() if page.fifo_role is role and page.core is core)


@cache
def _moved() -> type[Instr]:
    """Return the page whose result is a pointer some elements further on."""
    wanted = [Kind.PTR, Kind.INDEX]
    pages = (p for p in walk() if [o.kind for o in p.ins()] == wanted and not p.outs())
    return next(page for page in pages if [o.kind for o in page.results()] == wanted[:1])
