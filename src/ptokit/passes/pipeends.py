"""Pipes for what crosses between the cores of a kernel, and what sets up their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from ptokit.ir.builder import new_op
from ptokit.ir.module import Binding, Op, Value
from ptokit.isa.index import walk
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import Exchange
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I64, Kind, ScalarType
from ptokit.isa.model.words import CUBE, MAT, VEC, VECTOR, KernelKind
from ptokit.isa.pages.grid import launch_query
from ptokit.isa.pages.slots import MOST_FLAGS, TO_CUBE, TO_VECTOR
from ptokit.passes.coretransfers import CoreTransfer, cannot_split
from ptokit.passes.shared import FreshNames, arithmetic_page
from ptokit.text.read.attributes import Raw

DEPTH = 2  # slots of a pipe: one is filled while the other one is used
WAYS = {VECTOR: TO_VECTOR, CUBE: TO_CUBE}
MEMORY = {VECTOR: VEC, CUBE: MAT}  # where the slots of what a core pops are
CONSUMER = {VECTOR: "c2v_consumer_buf", CUBE: "v2c_consumer_buf"}


@dataclass
class PipePlan:
    """A pipe in one direction, and what goes through it."""

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


def pipes_for(found: Sequence[CoreTransfer]) -> list[PipePlan]:
    """As few pipes as there may be: what was popped of one is free before more of it arrives.

    The number of a transfer's pipe is written into it. PtoError if a core has not so many flags.
    """
    pipes: list[PipePlan] = []
    for transfer in found:
        own = [pipe for pipe in pipes if pipe.to is transfer.to]
        free = (p for p in own if not any(transfer.overlaps(entry) for entry in p.entries))
        pipe = next(free, None)
        if pipe is None:
            label = f"to_{transfer.to.text}{len(own) or ''}"
            pipes.append(pipe := PipePlan(len(pipes), transfer.to, label))
        pipe.entries.append(transfer)
        transfer.pipe = pipe.number
    if 2 * len(pipes) > MOST_FLAGS:
        seen = f"so many tiles are there at once that they need {len(pipes)} pipes"
        help = f"a core has flags for {MOST_FLAGS // 2}: use what arrives before more does"
        raise cannot_split(pipes[-1].entries[0].op, seen, help)
    return pipes


@dataclass
class PipeEnds:
    """The ends of the pipes in the function for one kind of core.

    `number` gives a constant; `slots` is the room in global memory for the slots of all blocks,
    where they lie there.
    """

    kind: KernelKind
    names: FreshNames
    number: Callable[[int, ScalarType], Value]
    slots: Value | None
    places: dict[int, Value] = field(default_factory=dict[int, Value])

    def set_up(self, pipes: Sequence[PipePlan], peer: str) -> Iterator[Op]:
        """All ends; `peer` is the name of the other function."""
        ops = [] if self.slots is None else [*self._placed(self.slots, pipes)]
        for op in ops:
            op.spans = pipes[0].entries[0].op.spans
        yield from ops
        for pipe in pipes:
            for op in self._end(pipe, peer):
                op.spans = pipe.entries[0].op.spans
                yield op

    def _placed(self, slots: Value, pipes: Sequence[PipePlan]) -> Iterator[Op]:
        """Where the slots of this block are in global memory: one pipe's behind another's."""
        query, product, moved = launch_query("block_idx"), arithmetic_page("mul", I64), _moved()
        assert query is not None
        assert product is not None
        block, start = (Value(self.names.name(name), I64) for name in ("block", "start"))
        yield Op(query, results=[block])
        size = self.number(sum(pipe.nbytes for pipe in pipes), I64)
        yield Op(product, _bound(product, block, size), results=[start])
        here, offset = slots, start
        for pipe in pipes:
            place = Value(self.names.name(f"{pipe.label}_slots"), slots.type)
            yield Op(moved, _bound(moved, here, offset), results=[place])
            self.places[pipe.number] = here = place
            if pipe is not pipes[-1]:
                offset = self.number(pipe.nbytes, I64)

    def _end(self, pipe: PipePlan, peer: str) -> Iterator[Op]:
        """The room of its slots, and the pipe itself."""
        room = Value(self.names.name(pipe.label), ScalarType("i32"))
        given: dict[str, object] = {"label": pipe.label}
        if pipe.to is self.kind:
            given |= {"size": pipe.nbytes, "location": MEMORY[self.kind]}
        else:
            given |= {"peer": Raw(peer)}
        role = Exchange.RESERVES if pipe.to is self.kind else Exchange.IMPORTS
        yield Op(pipe_page(role), attrs=given, results=[room])
        shape = {"dir_mask": WAYS[pipe.to], "slot_size": pipe.slot_size, "slot_num": DEPTH}
        operands = {CONSUMER[pipe.to]: [room]}
        if pipe.number in self.places:
            operands["gm_slot_buffer"] = [self.places[pipe.number]]
        number = {"id": pipe.number} if pipe.number else {}
        yield new_op(pipe_page(Exchange.OPENS, self.kind), operands, {**number, **shape})


def _bound(page: type[Instr], *values: Value) -> dict[str, Binding]:
    return {operand.name: v for operand, v in zip(page.ins(), values, strict=True)}


@cache
def pipe_page(role: Exchange, core: KernelKind | None = None) -> type[Instr]:
    """The page that does that with a pipe, which a number names, on a kind of core."""
    return next(page for page in walk() if page.exchange is role and page.core is core)


@cache
def _moved() -> type[Instr]:
    """The page whose result is a pointer some elements further on."""
    wanted = [Kind.PTR, Kind.INDEX]
    pages = (page for page in walk() if [o.kind for o in page.ins()] == wanted)
    return next(page for page in pages if [o.kind for o in page.results()] == wanted[:1])
