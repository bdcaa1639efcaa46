"""Redundant synchronisation: flags and barriers that can go without making any order wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptokit.ir.garbage import gc_disabled
from ptokit.ir.module import AnyOp, Op
from ptokit.isa.lang.instr import CORES
from ptokit.isa.model.targets import Target
from ptokit.order.hazards import OrderFault, first_fault
from ptokit.order.issue import Issue
from ptokit.order.waiting import (
    OF_ONE_CORE,
    Await,
    Drain,
    FifoChannel,
    FlagChannel,
    PipeWork,
    Post,
    QueueEntry,
    Ticket,
)

MOST_ENTRIES = 20_000  # per launch: each pair costs one more analysis
Pair = tuple[AnyOp, ...]  # a barrier, or the sets and waits of one group


@gc_disabled()
def redundant(issues: Sequence[Issue], target: Target) -> list[Pair]:
    """Return the barriers and flag pairs that may be removed singly in all these launches.

    Empty if a launch has a fault, has too many entries, or signals cores outside the launch, which
    need the order before the signal. Sets and waits that belong together in one launch do in all. A
    barrier after all work is for the next kernel and is not listed.
    """
    large = any(sum(map(len, issue.cores)) > MOST_ENTRIES for issue in issues)
    if (
        large
        or any(map(_signals_out, issues))
        or any(issue.ended or _wrong(issue.cores, issue, target) for issue in issues)
    ):
        return []
    return [pair for pair in _pairs(issues, target) if not _needed(pair, issues, target)]


def _signals_out(issue: Issue) -> bool:
    """Return whether a signal of this launch has no receiver in the launch."""
    entries = [entry for core in issue.cores for entry in core]
    met = {ticket for e in entries if isinstance(e, Await) for ticket in e.tickets}
    sent = (e.ticket for e in entries if isinstance(e, Post))
    within = (*OF_ONE_CORE, FifoChannel)
    return any(not isinstance(ticket.channel, within) and ticket not in met for ticket in sent)


def _needed(pair: Pair, issues: Sequence[Issue], target: Target) -> bool:
    """Return whether some launch has a fault without the ops of `pair`."""
    gone = {id(op) for op in pair}
    short = sorted(
        issues, key=lambda issue: sum(map(len, issue.cores))
    )  # short launches show most faults
    has = (i for i in short if any(id(e.op) in gone for entries in i.cores for e in entries))
    return any(_wrong(_without(issue.cores, gone), issue, target) for issue in has)


def _wrong(cores: Sequence[Sequence[QueueEntry]], issue: Issue, target: Target) -> bool:
    return first_fault(cores, target, issue.footprints.regions) is not OrderFault.NONE


def _without(cores: Sequence[Sequence[QueueEntry]], gone: set[int]) -> list[list[QueueEntry]]:
    return [[e for e in entries if id(e.op) not in gone] for entries in cores]


def _pairs(issues: Iterable[Issue], target: Target) -> Iterable[Pair]:
    """Return barriers that precede some work, and groups of ops whose sets and waits meet.

    A barrier of a pipe that completes in order is for other targets and costs nothing here.
    """
    groups: dict[int, dict[int, AnyOp]] = {}
    for cores in (issue.cores for issue in issues):
        posts = {e.ticket: e.op for entries in cores for e in entries if isinstance(e, Post)}
        for entries in cores:
            _group(groups, [e for e in entries if not _idle(e, target)], posts)
    unique = {id(group): group for group in groups.values()}
    return [tuple(group.values()) for group in unique.values()]


def _idle(entry: QueueEntry, target: Target) -> bool:
    return isinstance(entry, Drain) and not entry.every and entry.queue.pipe in target.serial


def _meets(op: AnyOp) -> bool:
    """Return whether the op waits for other blocks, outside this launch, or drains internally."""
    inside = isinstance(op, Op) and (op.page.drains_before or op.page.drains_behind)
    return bool(inside) or (isinstance(op, Op) and not CORES.isdisjoint(op.page.uses))


def _group(
    groups: dict[int, dict[int, AnyOp]], entries: Sequence[QueueEntry], posts: dict[Ticket, AnyOp]
) -> None:
    """Add the barriers and flag operations of one core to the groups."""
    last = max((n for n, e in enumerate(entries) if isinstance(e, PipeWork)), default=0)
    for number, entry in enumerate(entries):
        if isinstance(entry, Drain) and number < last and not _meets(entry.op):
            groups.setdefault(id(entry.op), {id(entry.op): entry.op})
        elif isinstance(entry, Await) and isinstance(entry.tickets[0].channel, FlagChannel):
            _join(groups, entry.op, [posts[t] for t in entry.tickets if t in posts])


def _join(groups: dict[int, dict[int, AnyOp]], op: AnyOp, others: Iterable[AnyOp]) -> None:
    """Merge the groups of these ops."""
    together: dict[int, AnyOp] = {}
    for one in (op, *others):
        together |= groups.get(id(one), {id(one): one})
    for key in together:
        groups[key] = together
