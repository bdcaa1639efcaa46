"""Over-synchronisation: flags and barriers without which every order of the pipes stays right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from ptokit.ir.module import AnyOp
from ptokit.isa.model.targets import Target
from ptokit.sim.pipes.entries import Await, Drain, FlagChannel, PipeWork, Post, QueueEntry
from ptokit.sim.pipes.hazards import clean
from ptokit.sim.pipes.issuing import Issue

MOST_ENTRIES = 20_000  # of a launch: each pair is left out once
Pair = tuple[AnyOp, ...]  # a barrier, or the sets and the waits that belong together


def redundant(issues: Sequence[Issue], target: Target) -> list[Pair]:
    """What may be removed, each for itself, in every one of these launches.

    Empty where the launches are not right as they are. A barrier after all work is for what runs
    next, and no matter here.
    """
    found = [_of_launch(issue, target) for issue in issues]
    if not found:
        return []
    alike: list[dict[frozenset[int], Pair]] = [
        {frozenset(map(id, pair)): pair for pair in pairs} for pairs in found
    ]
    always = reduce(lambda a, b: a & b, (pairs.keys() for pairs in alike))
    return [pair for key, pair in alike[0].items() if key in always]


def _of_launch(issue: Issue, target: Target) -> list[Pair]:
    cores = issue.cores
    if sum(map(len, cores)) > MOST_ENTRIES or _wrong(cores, issue, target):
        return []
    return [p for p in _pairs(cores) if not _wrong(_without(cores, p), issue, target)]


def _wrong(cores: Sequence[Sequence[QueueEntry]], issue: Issue, target: Target) -> bool:
    return not clean(cores, target, issue.footprints.regions)


def _without(cores: Sequence[Sequence[QueueEntry]], pair: Pair) -> list[list[QueueEntry]]:
    gone = {id(op) for op in pair}
    return [[e for e in entries if id(e.op) not in gone] for entries in cores]


def _pairs(cores: Sequence[Sequence[QueueEntry]]) -> Iterable[Pair]:
    """Barriers before some work, and ops whose sets and waits meet on some ticket."""
    posts = {e.ticket: e.op for entries in cores for e in entries if isinstance(e, Post)}
    groups: dict[int, dict[int, AnyOp]] = {}
    for entries in cores:
        last = max((n for n, e in enumerate(entries) if isinstance(e, PipeWork)), default=0)
        for number, entry in enumerate(entries):
            if isinstance(entry, Drain) and number < last:
                groups.setdefault(id(entry.op), {id(entry.op): entry.op})
            elif isinstance(entry, Await) and isinstance(entry.tickets[0].channel, FlagChannel):
                _join(groups, entry.op, [posts[t] for t in entry.tickets if t in posts])
    unique = {id(group): group for group in groups.values()}
    return [tuple(group.values()) for group in unique.values()]


def _join(groups: dict[int, dict[int, AnyOp]], op: AnyOp, others: Iterable[AnyOp]) -> None:
    """These ops belong together, with all that belongs to one of them."""
    together: dict[int, AnyOp] = {}
    for one in (op, *others):
        together |= groups.get(id(one), {id(one): one})
    for key in together:
        groups[key] = together
