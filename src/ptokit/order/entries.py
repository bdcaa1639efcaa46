"""Entries: what the scalar unit of a core issues into the queues of its pipes.

A kernel on hardware is a list of entries for each core, in the order in which they are issued. Work
reads and writes memory; the others order the queues. A ticket is the one set of a flag, or the one
signal, that a wait waits for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ptokit.ir.module import AnyOp
from ptokit.isa.model.words import Pipe
from ptokit.order.byteregions import ByteRegion

IterationVector: TypeAlias = "tuple[tuple[str, int], ...]"  # loops, outermost first
Channel: TypeAlias = Hashable  # what a set and its wait name: a flag, buffer, signal, FIFO counter


class PipeQueue(NamedTuple):
    """The queue of one pipe of one core."""

    core: int
    pipe: Pipe

    def __str__(self) -> str:
        return str(self.pipe)


class Ticket(NamedTuple):
    """The `number`-th time that a channel is posted."""

    channel: Channel
    number: int


class FlagChannel(NamedTuple):
    """The channel of a flag from one pipe of a core to another one."""

    core: int
    source: Pipe | str
    target: Pipe | str
    event: int

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}, id {self.event}"


class BufferChannel(NamedTuple):
    """The channel of a buffer that pipes acquire and release (A5)."""

    core: int
    number: int

    def __str__(self) -> str:
        return f"buffer {self.number}"


class UnitChannel(NamedTuple):
    """The channel of the unit flags that products set, or that the fix-pipe clears."""

    core: int
    of_products: bool


OF_ONE_CORE = FlagChannel, BufferChannel, UnitChannel


@dataclass(slots=True, eq=False)
class QueueEntry:
    """One entry of a queue: the op that it comes from, and the iteration of the loops around it."""

    number: int  # in program order of its core
    op: AnyOp
    queue: PipeQueue
    iteration: IterationVector


@dataclass(slots=True, eq=False)
class PipeWork(QueueEntry):
    """An instruction that touches memory, or takes time; `operands`: what its cost depends on."""

    reads: tuple[ByteRegion, ...] = ()
    writes: tuple[ByteRegion, ...] = ()
    operands: tuple[tuple[str, object], ...] = ()  # types with extents known, by name
    drains: tuple[bool, bool] = (False, False)  # every pipe, before it and behind it


@dataclass(slots=True, eq=False)
class Post(QueueEntry):
    """When all that the queue had before is complete, the ticket is there.

    `slots` are given back by it: nobody of its core uses them any more.
    """

    ticket: Ticket = field(kw_only=True)
    slots: tuple[ByteRegion, ...] = ()


@dataclass(slots=True, eq=False)
class Await(QueueEntry):
    """The queue goes on when these tickets are there."""

    tickets: tuple[Ticket, ...] = ()


@dataclass(slots=True, eq=False)
class Drain(QueueEntry):
    """A barrier: what its queue had before is complete; of ALL in the queue of the scalar unit."""

    every: bool = False
