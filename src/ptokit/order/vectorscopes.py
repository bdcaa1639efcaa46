"""The time of vector functions: instructions start in order and are executed when they can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ptokit.ir.module import Op
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import RegisterType, TileType
from ptokit.isa.model.words import V
from ptokit.machine.costs.cost import Cost
from ptokit.machine.costs.figures import figures, file_of, origin
from ptokit.machine.costs.lanecosts import COMPUTE, LOAD, STORE, Ports, PortUse, registers_of, slots
from ptokit.order.byteregions import ByteRegion
from ptokit.order.entries import PipeWork, QueueEntry


def vector_costs(cores: Iterable[Sequence[QueueEntry]], target: Target) -> dict[PipeWork, Cost]:
    """Return the cost of each instruction of a vector function: its part of the function's time.

    The first one has the start of the function, the last one its end. Nothing for a target without
    figures of such instructions.
    """
    if "lanes" not in figures(file_of(target)):
        return {}
    found = dict[PipeWork, Cost]()
    for core in cores:
        works = (e for e in core if isinstance(e, PipeWork) and e.queue.pipe is V)
        for function, entries in groupby(works, lambda work: work.function):
            if function[0]:
                found |= _costs([*entries], file_of(target))
    return found


def _costs(entries: Sequence[PipeWork], file: str) -> Iterator[tuple[PipeWork, Cost]]:
    """Yield the costs of the instructions of one vector function."""
    tables = figures(file)
    unit, lanes = tables["function"], tables["lanes"]
    ports, known = Ports(file), dict[ByteRegion, int]()
    done = 0  # cycles until all instructions so far are complete
    last = entries[-1]
    starts = _dispatched(entries, lanes["dispatch"], lanes["outer"])
    for number, (entry, dispatched) in enumerate(zip(entries, starts, strict=True)):
        taken = _slot(entry, file)
        ready = max([dispatched, *(known.get(region, 0) for region in entry.reads)])
        start = ports.take(taken.port, ready, taken.interval)
        known |= dict.fromkeys(entry.writes, start + taken.known)
        before, done = done, max(done, start + taken.latency)
        cycles = done - before + (unit["startup"] if number == 0 else 0)
        cycles += unit["drain"] if entry is last else 0
        yield entry, Cost(cycles, origin(lanes), flop=_elements(entry) if taken.computes else 0)


def _dispatched(entries: Sequence[PipeWork], width: int, outer: int) -> Iterator[int]:
    """Yield the cycle at which each instruction is dispatched.

    `width` are dispatched in a cycle; iterations of a loop around another one begin `outer` cycles
    apart.
    """
    number = begun = 0
    around = entries[0].iteration[:-1]
    for entry in entries:
        if entry.iteration[:-1] != around and len(entry.iteration) > 1:
            around = entry.iteration[:-1]
            number = begun = max(number, begun + outer * width)
        yield number // width
        number += 1


def _slot(entry: PipeWork, file: str) -> PortUse:
    """Return the slot of an instruction: one that reads or writes the buffer loads or stores."""
    op = entry.op
    assert isinstance(op, Op), "an op that is not known is not executed"
    kinds = [kind for _, kind in entry.operands if isinstance(kind, TileType)]
    registers = [kind for kind in kinds if isinstance(kind, RegisterType)]
    of_masks = bool(registers) and all(kind.word == "mask" for kind in registers)
    port = COMPUTE
    if any(not _in_registers(region) for region in (*entry.reads, *entry.writes)):
        port = STORE if any(not _in_registers(region) for region in entry.writes) else LOAD
    dtype, count = (registers or kinds)[0].dtype, registers_of(registers)
    return slots(op.page, port, dtype, of_masks, file, count)


def _in_registers(region: ByteRegion) -> bool:
    return region.space.name == "VF"


def _elements(entry: PipeWork) -> int:
    return max(kind.cols for _, kind in entry.operands if isinstance(kind, TileType))
