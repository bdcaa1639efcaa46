"""Queue entries: the instructions, signals and waits that a core issues to its pipes.

A run is a list of entries for each core, in issue order. `PipeWork` accesses memory; the other
entries order the queues. A ticket identifies one signal of a channel, such as the third set of a
flag; waits name tickets.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import NamedTuple, TypeAlias

from ptokit.ir.module import AnyOp
from ptokit.isa.model.words import Pipe
from ptokit.order.byteregions import ByteRegion
from ptokit.records import dataclass

IterationVector: TypeAlias = "tuple[tuple[str, int], ...]"  # loops, outermost first
Channel: TypeAlias = Hashable  # a flag, buffer, signal or FIFO counter


class PipeQueue(NamedTuple):
    """The queue of one pipe of one core."""

    core: int
    pipe: Pipe

    def __str__(self) -> str:
        return str(self.pipe)


class Ticket(NamedTuple):
    """The `number`-th signal of a channel, counted from 1."""

    channel: Channel
    number: int


class FlagChannel(NamedTuple):
    """The channel of a flag from one pipe of a core to another."""

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
    """The channel of the unit flags that products set or that the fix-pipe clears."""

    core: int
    of_products: bool


OF_ONE_CORE = FlagChannel, BufferChannel, UnitChannel


@dataclass(slots=True, eq=False)
class QueueEntry:
    """One entry of a queue, with its op and the iteration vector of the enclosing loops."""

    number: int  # in program order of its core
    op: AnyOp
    queue: PipeQueue
    iteration: IterationVector


@dataclass(slots=True, eq=False)
class PipeWork(QueueEntry):
    """An instruction that accesses memory or takes time; its cost depends on `operands`."""

    reads: tuple[ByteRegion, ...] = ()
    writes: tuple[ByteRegion, ...] = ()
    operands: tuple[tuple[str, object], ...] = ()  # (name, type with known extents)
    drains: tuple[bool, bool] = (False, False)  # waits for all pipes before, after
    function: tuple[object, ...] = (0,)  # the execution of a vector function in which it is


@dataclass(slots=True, eq=False)
class Post(QueueEntry):
    """A signal: the ticket is posted when all earlier entries of the queue are complete.

    `slots` are the FIFO slots that this signal frees; the core does not use them afterwards.
    """

    ticket: Ticket = field(kw_only=True)
    slots: tuple[ByteRegion, ...] = ()


@dataclass(slots=True, eq=False)
class Await(QueueEntry):
    """A wait: the queue stalls until all these tickets are posted."""

    tickets: tuple[Ticket, ...] = ()


@dataclass(slots=True, eq=False)
class Drain(QueueEntry):
    """A barrier: waits for the earlier entries of its queue, or of all queues if `every` is set."""

    every: bool = False
