"""Flags that a program sets again before it waits for the last set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ptokit.order.entries import Await, FlagChannel, Post, QueueEntry


def sets_without_wait(cores: Sequence[Sequence[QueueEntry]]) -> set[int]:
    """Return the ids of the ops that set a flag which is up in program order.

    A set behind the wait for the last one is right, though the wait may not be complete: see
    dispute X112.
    """
    found: set[int] = set()
    up = Counter[FlagChannel]()
    for entry in (entry for entries in cores for entry in entries):
        if isinstance(entry, Post) and isinstance(entry.ticket.channel, FlagChannel):
            if up[entry.ticket.channel] > 0:
                found.add(id(entry.op))
            up[entry.ticket.channel] += 1
        elif isinstance(entry, Await):
            up.subtract(t.channel for t in entry.tickets if isinstance(t.channel, FlagChannel))
    return found
