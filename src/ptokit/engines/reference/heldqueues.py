"""The queues of a core whose pipes wait separately, for flags and for other cores.

The scalar unit goes on until it must wait itself. Other cores run while all remaining entries wait
for them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from functools import partial
from typing import Any, NamedTuple

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Span
from ptokit.machine.state import PIPES, Queue
from ptokit.order.schedule import Schedule, Wait, WaitingLine


class NotYet(Exception):
    """Raised if an entry must wait for another core, before it has any effect; it is retried."""

    def __init__(self, wait: Wait) -> None:
        super().__init__(str(wait))
        self.wait = wait


class HeldEntry(NamedTuple):
    """A queue entry that executes when `ready`; a wait has the `problem` of waiting forever.

    `name` and `span` are those of the instruction. `wait` is set for a wait for another core.
    """

    act: Callable[[], None]
    ready: Callable[[], bool]
    name: str = ""
    span: Span | None = None
    problem: PtoError | None = None
    what: str = ""
    wait: Wait | None = None


class HeldQueues:
    """The queues of a core, by pipe; `schedule` is that of its kernel."""

    def __init__(self, schedule: Schedule | None) -> None:
        self.schedule = schedule
        self.queues = defaultdict[Queue, deque[HeldEntry]](deque)
        self.going = deque[Queue]()  # the active queues, the current one first
        self.at: tuple[str, Span | None] = "", None  # the instruction being issued

    def held(self, queue: Queue) -> bool:
        """Return whether the queue of a pipe waits."""
        return bool(self.queues[queue])

    def put(self, queue: Queue, act: Callable[[], None]) -> None:
        """Execute `act` when the queue comes to it."""
        self.issue(queue, HeldEntry(act, lambda: True, *self.at))

    def issue(self, queue: Queue, entry: HeldEntry) -> None:
        """Append an entry to a queue; if the queue waits for other cores, they run first."""
        self.queues[queue].append(entry)
        if len(self.queues[queue]) == 1:
            self.go_on(queue)
        elif self.schedule is not None and not self.going and self._blocked():
            self.schedule.yield_to_others()
            self._again()

    def go_on(self, queue: Queue) -> None:
        """Execute the queue up to its next wait, then the queues that it released."""
        if queue in self.going:
            return
        self.going.append(queue)
        if len(self.going) > 1:
            return
        try:
            while self.going:
                self._take(self.queues[self.going[0]])
                self.going.popleft()
        finally:
            self.going.clear()

    def _take(self, entries: deque[HeldEntry]) -> None:
        while entries and entries[0].ready():
            entry = entries.popleft()
            try:
                entry.act()
            except NotYet as reason:
                wait = reason.wait
                entries.appendleft(entry._replace(ready=wait.met, what=str(wait), wait=wait))

    @property
    def waiting(self) -> bool:
        """Return whether any queue waits."""
        return any(self.queues.values())

    def settle(self, queues: Sequence[Queue] | None = None) -> None:
        """Wait until these queues, or all, are empty; PtoError if one waits forever."""
        while any(self.queues[queue] for queue in queues or self.queues):
            if not self._blocked():
                heads = (self.queues[queue] for queue in queues or self.queues)
                problems = (e.problem for entries in heads for e in entries)
                raise next(problem for problem in problems if problem is not None)
            self._suspend(None)

    def until(self, wait: Wait) -> None:
        """Wait until the scalar unit may go on; blocked queues go on meanwhile."""
        while not wait.met():
            self._suspend(wait)

    def _suspend(self, wait: Wait | None) -> None:
        """Let other cores run until the scalar unit or a queue can go on."""
        assert self.schedule is not None
        every = ([wait] if wait else []) + [entry.wait for entry in self._blocked() if entry.wait]
        lines, met = partial(self._lines, wait), partial(_any_met, every)
        self.schedule.wait(Wait(met, str(every[0]), None, lines))
        self._again()

    def _again(self) -> None:
        """Retry the queues that wait for other cores."""
        for queue in PIPES:
            if self.queues[queue] and self.queues[queue][0].wait is not None:
                self.go_on(queue)

    def _blocked(self) -> list[HeldEntry]:
        """Return the entries at queue heads that wait for other cores."""
        heads = (self.queues[queue][0] for queue in PIPES if self.queues.get(queue))
        return [entry for entry in heads if entry.wait is not None]

    def _lines(self, wait: Wait | None) -> Iterator[WaitingLine]:
        """Yield all waits on this core: the scalar unit and the heads of queues."""
        if wait is not None:
            yield (*self.at, str(wait))
        for queue in PIPES:
            for entry in [*self.queues[queue]][:1]:
                yield entry.name, entry.span, entry.what


class RetriedSchedule(Schedule):
    """The schedule of a core whose entries are retried; `going` has those that execute now.

    An entry that has to wait raises NotYet; where none executes, the core waits by `until`.
    """

    def __init__(
        self,
        of: Schedule,
        going: MutableSequence[Any],  # Any: queues, or instructions
        until: Callable[[Wait], None],
    ) -> None:
        super().__init__(of.order)
        self.of, self.going, self.until = of, going, until

    def wait(self, wait: Wait) -> None:
        if not self.going:
            self.until(wait)
        elif not wait.met():
            raise NotYet(wait)

    def yield_to_others(self) -> None:
        self.of.yield_to_others()

    def at(self, op: str, span: Span | None) -> None:
        self.of.at(op, span)

    def pause(self) -> None:
        self.of.pause()


def _any_met(waits: Sequence[Wait]) -> bool:
    return any(wait.met() for wait in waits)
