"""Conflicts of a program's flags and signals with those that instructions use internally."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ptokit.ir.module import AnyOp, Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import INNER_PAIRS, MEETING_SIGNALS, Pipe
from ptokit.order.signalcounters import OF_SECOND
from ptokit.order.waiting import (
    Await,
    Channel,
    FifoChannel,
    FlagChannel,
    Meeting,
    PipeWork,
    Post,
    QueueEntry,
    SignalChannel,
)

INNER_EVENT = 0  # the id that instructions use


def clashes(cores: Sequence[Sequence[QueueEntry]], target: Target) -> list[tuple[PipeWork, Post]]:
    """Return pairs of a vector instruction and a flag set that is up while it runs.

    A flag is up in program order from its set to its wait. Which pair of pipes an instruction uses
    internally is not published, so all pairs count. Each pair of ops is listed once.
    """
    found: dict[tuple[int, int], tuple[PipeWork, Post]] = {}
    for entries in cores:
        up: dict[FlagChannel, list[Post]] = {}
        for entry in entries:
            if isinstance(entry, PipeWork):
                if entry.queue.pipe is Pipe.V and any(up.values()) and uses_inner(entry.op, target):
                    for post in (post for posts in up.values() for post in posts):
                        found.setdefault((id(entry.op), id(post.op)), (entry, post))
            elif isinstance(entry, Post) and watched(entry.ticket.channel):
                assert isinstance(entry.ticket.channel, FlagChannel)
                up.setdefault(entry.ticket.channel, []).append(entry)
            elif isinstance(entry, Await):
                for channel in (t.channel for t in entry.tickets):
                    if isinstance(channel, FlagChannel) and up.get(channel):
                        up[channel].pop(0)
    return list(found.values())


def signal_clashes(
    cores: Sequence[Sequence[QueueEntry]],
) -> list[tuple[QueueEntry, Post, SignalChannel]]:
    """Return the signals that the program sends although an instruction uses the number."""
    used, sent = dict[int, QueueEntry](), dict[int, tuple[Post, SignalChannel]]()
    for entry in (e for entries in cores for e in entries if isinstance(e, Post)):
        channel = entry.ticket.channel
        if isinstance(channel, SignalChannel):
            sent.setdefault(channel.number % OF_SECOND, (entry, channel))
        for number in _signals_of(channel, entry.op):
            used.setdefault(number, entry)
    return [(used[number], *found) for number, found in sent.items() if number in used]


def _signals_of(channel: Channel, op: AnyOp) -> tuple[int, ...]:
    if isinstance(channel, FifoChannel):
        return channel.fifo.flags
    by_memory = isinstance(op, Op) and any(True for _ in op.values())
    if isinstance(channel, Meeting) and not by_memory:
        return MEETING_SIGNALS[channel.kinds]
    return ()


def watched(channel: object) -> bool:
    """Return whether instructions may use this flag internally."""
    ends = isinstance(channel, FlagChannel) and (channel.source, channel.target)
    return ends in INNER_PAIRS and getattr(channel, "event", None) == INNER_EVENT


def uses_inner(op: AnyOp, target: Target) -> bool:
    """Return whether an op is an instruction that uses flags internally on the target."""
    return isinstance(op, Op) and has_inner_flags(op.page, target)


@cache
def has_inner_flags(page: type[Instr], target: Target) -> bool:
    """Return whether the instruction uses flags internally on the target."""
    return target.follows(page.inner_flags)
