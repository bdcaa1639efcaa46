"""Leftovers of a launch: signals without waits, FIFO entries without pops, slots not freed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple, TypeAlias

from ptokit.order.entries import Await, Channel, Post, QueueEntry
from ptokit.order.fifoend import FREED, PUSHED, FifoChannel, LaunchedFifo
from ptokit.order.fifoleftovers import LeftoverKind
from ptokit.order.signalboard import SignalChannel
from ptokit.records import dataclass

CoreFifo: TypeAlias = "tuple[int, LaunchedFifo]"  # a core and a FIFO of which it is an end


class Leftover(NamedTuple):
    """The first unconsumed signal or entry; for a slot, the pop that keeps it."""

    what: LeftoverKind
    entry: QueueEntry
    name: str
    given: int
    taken: int

    def __str__(self) -> str:
        return self.what.seen(self.name, self.given, self.taken)


@dataclass
class _HandedOn:
    """The signals that the cores of a launch sent, and the number each core consumed."""

    posts: dict[Channel, list[Post]] = field(default_factory=dict[Channel, "list[Post]"])
    taken: dict[Channel, Counter[int]] = field(default_factory=dict[Channel, "Counter[int]"])
    pops: dict[CoreFifo, list[Await]] = field(default_factory=dict[CoreFifo, "list[Await]"])
    freed: Counter[CoreFifo] = field(default_factory=Counter[CoreFifo])

    def post(self, entry: Post) -> None:
        channel = entry.ticket.channel
        self.posts.setdefault(channel, []).append(entry)
        if isinstance(channel, FifoChannel) and channel.what == FREED:
            self.freed[entry.queue.core, channel.fifo] += 1

    def wait(self, entry: Await) -> None:
        core = entry.queue.core
        for channel, number in entry.tickets:
            by_core = self.taken.setdefault(channel, Counter())
            by_core[core] = max(by_core[core], number)
            if isinstance(channel, FifoChannel) and channel.what == PUSHED:
                pops = self.pops.setdefault((core, channel.fifo), [])
                pops += [entry] * (number - len(pops))

    def left(self) -> Iterator[Leftover]:
        for channel, posts in self.posts.items():
            taken = min(self.taken.get(channel, {0: 0}).values())
            if len(posts) == taken:
                continue
            if isinstance(channel, SignalChannel):
                yield Leftover(LeftoverKind.SIGNAL, posts[taken], str(channel), len(posts), taken)
            elif isinstance(channel, FifoChannel) and channel.what == PUSHED:
                name = channel.fifo.name
                yield Leftover(LeftoverKind.ENTRY, posts[taken], name, len(posts), taken)
        for (core, fifo), pops in self.pops.items():
            if len(pops) > (freed := self.freed[core, fifo]):
                yield Leftover(LeftoverKind.SLOT, pops[freed], fifo.name, len(pops), freed)


def left_over(cores: Iterable[Sequence[QueueEntry]]) -> list[Leftover]:
    """Return the leftovers after all cores of a launch have ended."""
    found = _HandedOn()
    for entry in (entry for entries in cores for entry in entries):
        if isinstance(entry, Post):
            found.post(entry)
        elif isinstance(entry, Await):
            found.wait(entry)
    return [*found.left()]
