"""Buffers of A5 that pipes have acquired: each acquire needs a release by the same pipe."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ptokit.isa.model.words import Pipe
from ptokit.order.entries import BufferChannel, QueueEntry


class BufferFault(Enum):
    """What is wrong with an acquire or a release."""

    NOT_ACQUIRED = "releases"
    ACQUIRED_TWICE = "acquires again"
    NEVER_RELEASED = "keeps"


class BufferMisuse(NamedTuple):
    """An acquire or a release that is wrong; `first`: the acquire before it."""

    fault: BufferFault
    entry: QueueEntry
    buffer: BufferChannel
    first: QueueEntry | None = None


class HeldBuffers:
    """The acquires and releases of one core, in program order."""

    def __init__(self) -> None:
        self.held: dict[tuple[Pipe, BufferChannel], QueueEntry] = {}
        self.wrong: list[BufferMisuse] = []

    def acquired(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """A pipe acquires a buffer."""
        first = self.held.setdefault((entry.queue.pipe, buffer), entry)
        if first is not entry:
            self.wrong.append(BufferMisuse(BufferFault.ACQUIRED_TWICE, entry, buffer, first))

    def released(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """A pipe releases a buffer."""
        if self.held.pop((entry.queue.pipe, buffer), None) is None:
            self.wrong.append(BufferMisuse(BufferFault.NOT_ACQUIRED, entry, buffer))

    def faults(self) -> list[BufferMisuse]:
        """What is wrong, when all has been issued."""
        kept = [BufferMisuse(BufferFault.NEVER_RELEASED, e, b) for (_, b), e in self.held.items()]
        return [*self.wrong, *kept]
