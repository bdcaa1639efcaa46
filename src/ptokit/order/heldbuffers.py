"""Faults of buffer acquires and releases (A5): each acquire needs a release by the same pipe."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ptokit.isa.model.words import Pipe
from ptokit.order.entries import BufferChannel, QueueEntry


class BufferFault(Enum):
    """Kinds of faulty acquires and releases."""

    NOT_ACQUIRED = "releases"
    ACQUIRED_TWICE = "acquires again"
    NEVER_RELEASED = "keeps"


class BufferMisuse(NamedTuple):
    """A faulty acquire or release; `first` is the earlier acquire."""

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
        """Record that a pipe acquires a buffer."""
        first = self.held.setdefault((entry.queue.pipe, buffer), entry)
        if first is not entry:
            self.wrong.append(BufferMisuse(BufferFault.ACQUIRED_TWICE, entry, buffer, first))

    def released(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """Record that a pipe releases a buffer."""
        if self.held.pop((entry.queue.pipe, buffer), None) is None:
            self.wrong.append(BufferMisuse(BufferFault.NOT_ACQUIRED, entry, buffer))

    def faults(self) -> list[BufferMisuse]:
        """Return all faults; call after the last entry was issued."""
        kept = [BufferMisuse(BufferFault.NEVER_RELEASED, e, b) for (_, b), e in self.held.items()]
        return [*self.wrong, *kept]
