"""The turns of buffers (A5, C3.3): each pipe acquires a buffer and gives it on, once each."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ptokit.isa.model.words import Pipe
from ptokit.sim.pipes.entries import BufferChannel, QueueEntry


class TurnFault(Enum):
    """What is wrong with a turn."""

    NOT_BEGUN = "gives on"
    BEGUN_TWICE = "acquires again"
    NOT_ENDED = "keeps"


class WrongTurn(NamedTuple):
    """A turn that is wrong; `begun`: what began the one that goes on."""

    fault: TurnFault
    entry: QueueEntry
    buffer: BufferChannel
    begun: QueueEntry | None = None


class BufferTurns:
    """The turns of one core, in program order: what a mode other than 0 means is not known."""

    def __init__(self) -> None:
        self.held: dict[tuple[Pipe, BufferChannel], QueueEntry] = {}
        self.wrong: list[WrongTurn] = []

    def begins(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """A pipe acquires a buffer."""
        begun = self.held.setdefault((entry.queue.pipe, buffer), entry)
        if begun is not entry:
            self.wrong.append(WrongTurn(TurnFault.BEGUN_TWICE, entry, buffer, begun))

    def ends(self, entry: QueueEntry, buffer: BufferChannel) -> None:
        """A pipe gives a buffer on."""
        if self.held.pop((entry.queue.pipe, buffer), None) is None:
            self.wrong.append(WrongTurn(TurnFault.NOT_BEGUN, entry, buffer))

    def faults(self) -> list[WrongTurn]:
        """What is wrong, when all has been issued."""
        kept = [WrongTurn(TurnFault.NOT_ENDED, e, b) for (_, b), e in self.held.items()]
        return [*self.wrong, *kept]
