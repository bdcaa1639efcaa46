"""Diagnostics of order faults: place, the two instructions, their bytes and the missing edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ptokit.diagnostics.diagnostic import Diagnostic, Note, Severity, titled
from ptokit.ir.module import Op
from ptokit.isa.lang.traits import FifoRole
from ptokit.isa.model.targets import Target
from ptokit.isa.model.words import Pipe
from ptokit.order.coreissue import BufferMisuse
from ptokit.order.fifoend import SLOTS_OF
from ptokit.order.hazards import Findings, Hazard, find
from ptokit.order.issue import Issue
from ptokit.order.programorder import (
    Leftover,
    clashes,
    left_over,
    sets_without_wait,
    signal_clashes,
)
from ptokit.order.waiting import Await, Post, QueueEntry

FLAG_TEXTS = {  # rule, help
    "flag-set-twice": (
        "each set is followed by one wait before the next set",
        "wait for the flag before setting it again, or use another id",
    ),
    "flag-left": (
        "each set is followed by one wait, in the same kernel",
        "wait for the flag before the kernel ends",
    ),
}


@dataclass(frozen=True)
class RaceReport:
    """The findings of one launch, with the names of its cores."""

    issue: Issue
    target: Target
    found: Findings

    def diagnostics(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each finding, errors first."""
        cores, misuses = self.issue.cores, self.issue.buffer_misuses
        yield from map(self._hazard, self.found.hazards)
        yield from map(self._buffer_misuse, misuses)
        if self.found.stuck and not misuses:  # a deadlock would repeat the misuse of the buffer
            yield self._deadlock(self.found.stuck)
        twice = sets_without_wait(cores)
        for post in (post for post in self.found.posted_twice if id(post.op) in twice):
            yield self._flag("flag-set-twice", post)
        for work, post in clashes(cores, self.target):
            yield self._clash(work, post, f"{post.ticket.channel}")
        for inside, post, channel in signal_clashes(cores):
            yield self._clash(inside, post, f"{channel}")
        left = dict[int, Post]()
        for post in self.found.left:
            left.setdefault(id(post.op), post)
        yield from (self._flag("flag-left", post) for post in left.values())
        if not self.found.stuck and not self.issue.chosen:
            yield from map(self._left_over, left_over(cores))

    def _told(self, slug: str, entry: QueueEntry, **fields: Any) -> Diagnostic:  # Any: of each
        """Return the diagnostic of a slug at the instruction of an entry."""
        return titled(slug, entry.op.name, entry.op.span, targets=(self.target.name,), **fields)

    def _hazard(self, hazard: Hazard) -> Diagnostic:
        first, second = hazard.first, hazard.second
        pipes = f"{first.queue.pipe} -> {second.queue.pipe}"
        lenient = first.queue == second.queue and second.queue.pipe is not Pipe.V
        lenient |= hazard.shared and bool(
            self.issue.given
        )  # shared addresses are chosen by the caller
        space, low, high = hazard.bytes
        does, did = (f"{word}s" for word in hazard.kind.value.split(" after "))
        times = f", {hazard.times} times" if hazard.times > 1 else ""
        here, there = self._place(second), self._place(first)
        how = "may execute last" if hazard.inverted else "may not be complete"
        before = f"{first.op.name} {did} them first{there}, and {how}"
        return self._told(
            "hazard",
            second,
            severity=Severity.WARNING if lenient else Severity.ERROR,
            rule=f"{hazard.kind.value}, {pipes}: the first is complete before the second starts",
            seen=f"it {does} bytes {low} to {high - 1} of {space}{here}{times}",
            help=self._edge(hazard),
            edge=_pipes_to_order(hazard),
            notes=(Note(before, first.op.span),),
        )

    def _edge(self, hazard: Hazard) -> str:
        """Return the synchronisation that would order the two accesses."""
        first, second = hazard.first, hazard.second
        after, before = _line(first, "the first"), _line(second, "the second")
        later = " of a later iteration" if first.op is second.op or _back(hazard) else ""
        source, target = first.queue, second.queue
        if hazard.bytes[0].startswith(SLOTS_OF):
            return self._free(second if _pushes(first) else first)
        if source.core != target.core:
            return f"make {self._name(target.core)} wait for a signal of {self._name(source.core)}"
        if source == target:
            return f"a barrier of {source.pipe} after {after}, before {before}{later}"
        pair = f"{source.pipe} -> {target.pipe}"
        return f"a flag {pair}: set after {after}, waited for before {before}{later}"

    def _free(self, user: QueueEntry) -> str:
        """Return when the slot that is used here may be freed."""
        after, pipe = _line(user, "that"), user.queue.pipe
        tiles = self.issue.of(user.queue.core).tiles.tiles
        popped = next((tile.pipe for tile in tiles), pipe)
        if popped is pipe:
            return f"free the slot after {after}"
        return f"a flag {pipe} -> {popped}: set after {after}, waited for before the slot is freed"

    def _buffer_misuse(self, wrong: BufferMisuse) -> Diagnostic:
        entry, first, (seen, help) = wrong.entry, wrong.first, wrong.fault.value
        return self._told(
            "acquire-release",
            entry,
            rule="a pipe acquires and releases a buffer alternately, and releases it at the end",
            seen=f"{entry.queue.pipe} {seen.format(wrong.buffer)}{self._place(entry)}",
            help=help,
            notes=() if first is None else (Note("acquired here", first.op.span),),
        )

    def _deadlock(self, stuck: Sequence[QueueEntry]) -> Diagnostic:
        """Return the diagnostic of all waiting heads and of the missing sets."""
        seen, *others = [(self._waiting(head), head.op.span) for head in stuck]
        return self._told(
            "pipe-deadlock",
            stuck[0],
            rule="each wait follows an executed set of the same pipes and id",
            seen=seen[0],
            help="set the flag before the loop, or wait for the flag later",
            notes=tuple(Note(*other) for other in others),
        )

    def _waiting(self, head: QueueEntry) -> str:
        queue = f"{head.queue.pipe}{self._place(head)}"
        if not isinstance(head, Await):
            return f"{queue} waits until all pipes are idle"
        missing, every = head.tickets[0], (e for entries in self.issue.cores for e in entries)
        post = next((e for e in every if isinstance(e, Post) and e.ticket == missing), None)
        if post is None:
            return f"{queue} waits for {missing.channel}, which is never set"
        where = f"{post.queue.pipe} sets it at {_line(post, 'its place')}"
        return f"{queue} waits for {missing.channel}: {where}"

    def _clash(self, work: QueueEntry, post: Post, name: str) -> Diagnostic:
        return self._told(
            "flag-clash",
            post,
            severity=Severity.WARNING,
            rule="flags and signals that an instruction uses internally are clear before it",
            seen=f"{name}{self._place(post)}",
            help="use another id",
            notes=(Note(f"{work.op.name} uses it{self._place(work)}", work.op.span),),
        )

    def _left_over(self, left: Leftover) -> Diagnostic:
        seen = f"{left}{self._place(left.entry)}"
        return left.what.told(left.entry.op, seen, self.target)

    def _flag(self, slug: str, post: Post) -> Diagnostic:
        rule, help = FLAG_TEXTS[slug]
        seen = f"{post.ticket.channel}{self._place(post)}"
        return self._told(slug, post, severity=Severity.WARNING, rule=rule, seen=seen, help=help)

    def _name(self, core: int) -> str:
        return self.issue.names[core]

    def _place(self, entry: QueueEntry) -> str:
        """Return the iteration of an entry, and its core if there are several."""
        iteration = ", ".join(f"%{name} = {number}" for name, number in entry.iteration)
        core = f" on {self._name(entry.queue.core)}" if len(self.issue.cores) > 1 else ""
        return (f" with {iteration}" if iteration else "") + core


def _pipes_to_order(hazard: Hazard) -> tuple[str, str] | None:
    """Return the pipes that a flag would order, where it stands between the two in the text."""
    first, second = hazard.first, hazard.second
    apart = first.queue.core != second.queue.core or hazard.bytes[0].startswith(SLOTS_OF)
    if apart or first.op is second.op or _back(hazard):
        return None
    return str(first.queue.pipe), str(second.queue.pipe)


def _pushes(entry: QueueEntry) -> bool:
    return isinstance(entry.op, Op) and entry.op.page.fifo_role is FifoRole.PUSHES


def _line(entry: QueueEntry, otherwise: str) -> str:
    return otherwise if entry.op.span is None else f"line {entry.op.span.line}"


def _back(hazard: Hazard) -> bool:
    """Return whether the second access precedes the first in the text, by way of a loop."""
    first, second = hazard.first.op.span, hazard.second.op.span
    return first is not None and second is not None and second.start < first.start


def _with_numbers(found: Diagnostic, given: Sequence[str]) -> Diagnostic:
    """Return a finding with the numbers of its run; other numbers may avoid the fault."""
    if not given:
        return replace(found)
    severity = found.severity if found.slug == "hazard" else Severity.WARNING
    notes = (*found.notes, Note("with " + ", ".join(given)))
    return replace(found, severity=severity, notes=notes)


def _between_blocks(issue: Issue, hazards: Iterable[Hazard]) -> Iterator[Hazard]:
    """Yield the hazards between two blocks that do not depend on sampled numbers."""
    for one in hazards:
        certain = issue.certain is None or issue.certain(one.first.op, one.second.op)
        if certain and issue.other_blocks(one.first, one.second):
            yield one


def races(
    issues: Iterable[Issue], target: Target, *, blocks_only: bool = False
) -> list[Diagnostic]:
    """Return the order faults of these launches; each pair of places once.

    `blocks_only`: report only hazards between blocks and deadlocks.
    """
    together: dict[tuple[object, ...], Diagnostic] = {}
    for issue in issues:
        if issue.proven(blocks_only=blocks_only):
            continue
        found = find(issue.cores, target, issue.footprints.regions)
        if blocks_only or issue.certain:
            found = Findings([*_between_blocks(issue, found.hazards)])
        for one in (*issue.ended, *RaceReport(issue, target, found).diagnostics()):
            if issue.certain and one.slug != "hazard":
                continue  # reported by the runs of each block
            notes = tuple(note.span for note in one.notes)
            key = one.slug, one.span, notes if one.slug == "hazard" else (), bool(issue.certain)
            together.setdefault(key, _with_numbers(one, issue.given))
    return sorted(together.values(), key=lambda d: not d.is_error)
