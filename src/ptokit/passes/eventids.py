"""Allocation of event ids: edges of one pair of pipes that are never set at once share an id.

A pair of pipes has few ids. If there are still too few, two edges become one that orders both, and
waits for more than either.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import TypeAlias

from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.order.footprints import ByteRegions
from ptokit.order.hazards import HazardDetector, lane_of
from ptokit.order.waiting import Await, FlagChannel, PipeQueues, Post
from ptokit.passes.sampleruns import EdgedRun
from ptokit.passes.syncedges import SyncEdge, flag_pages

Events: TypeAlias = "dict[int, list[tuple[int, bool, int]]]"  # by id: position, set, known wait


class _FlagOrder(HazardDetector):
    """The sets and waits of each core's flags, in order.

    Each has the entries of the waiting pipe that the setting pipe knows to be complete.
    """

    def __init__(self, target: Target, cores: int, regions: ByteRegions) -> None:
        super().__init__(target, cores, regions)
        self.events: list[Events] = [{} for _ in range(cores)]

    def _post(self, entry: Post, lane: int, clock: list[int]) -> None:
        super()._post(entry, lane, clock)
        channel = entry.ticket.channel
        if isinstance(channel, FlagChannel) and isinstance(channel.target, Pipe):
            known = clock[lane_of(entry.queue._replace(pipe=channel.target))]
            self._event(channel, (entry.number, True, known))

    def _await(self, entry: Await, lane: int, clock: list[int]) -> None:
        super()._await(entry, lane, clock)
        for channel in (ticket.channel for ticket in entry.tickets):
            if isinstance(channel, FlagChannel):
                self._event(channel, (entry.number, False, self.done[lane]))

    def _event(self, channel: FlagChannel, event: tuple[int, bool, int]) -> None:
        self.events[channel.core].setdefault(channel.event, []).append(event)


def numbered(
    distinct: Mapping[SyncEdge, int],
    runs: Iterable[EdgedRun],
    target: Target,
    taken: Container[tuple[Pipe, Pipe, int]],
) -> dict[SyncEdge, int | None]:
    """Return the edges with their ids; None for an edge without a free id.

    `taken`: pairs of pipes with an id that is not available.
    """
    ids = range(len(flag_pages().ids))
    orders = [events for run in runs for events in _orders(run, target)]
    shared: dict[object, dict[int, list[int]]] = {}
    numbers: dict[SyncEdge, int | None] = {}
    for edge, own in distinct.items():
        free = [n for n in ids if (edge.source, edge.target, n) not in taken]
        users = shared.setdefault(edge.pipes, {number: [] for number in free})
        numbers[edge] = number = 0 if edge.barrier else _free(users, own, orders)
        if not edge.barrier and number is not None:
            users[number].append(own)
    return numbers


def _orders(issued: EdgedRun, target: Target) -> list[Events]:
    order = _FlagOrder(target, len(issued.numbered), issued.run.regions)
    PipeQueues(issued.cores, order).run()
    return order.events


def _free(users: Mapping[int, list[int]], own: int, orders: Iterable[Events]) -> int | None:
    """Return an unused id of the pipes, or else one whose edges are never set along with `own`."""
    shared = (n for n, some in users.items() if all(_exclusive([*some, own], o) for o in orders))
    unused = (number for number, some in users.items() if not some)
    return next(chain(unused, shared), None)


def _exclusive(some: Sequence[int], events: Events) -> bool:
    """Return whether each set of these edges comes after the wait for the set before."""
    merged = sorted(event for one in some for event in events.get(one, ()))
    lowered = 0
    for number, (_, up, known) in enumerate(merged):
        if up is bool(number % 2) or (up and known < lowered):
            return False
        lowered = lowered if up else known
    return True


def widened(numbers: Mapping[SyncEdge, int | None], tried: set[SyncEdge]) -> list[SyncEdge] | None:
    """Return the edges after merging two for each edge without id; None if no two can merge.

    `tried`: earlier results of merges, to which new ones are added.
    """
    edges, found = [*numbers], False
    for lost in [edge for edge, number in numbers.items() if number is None]:
        alike = [edge for edge in edges if edge.pipes == lost.pipes]
        pairs = ((a, b, a.widened(b)) for a, b in combinations(alike, 2))
        made = [(a, b, both) for a, b, both in pairs if both is not None and both not in tried]
        if made:
            a, b, both = min(made, key=lambda one: _delay(*one))
            edges = [both if edge == a else edge for edge in edges if edge != b]
            tried.add(both)
            found = True
    return list(dict.fromkeys(edges)) if found else None


def _delay(a: SyncEdge, b: SyncEdge, both: SyncEdge) -> int:
    """Return by how many ops a common flag is set later, or waited for earlier."""
    later = both.set_at - min(a.set_at, b.set_at)
    return later + max(a.wait_at, b.wait_at) - both.wait_at
