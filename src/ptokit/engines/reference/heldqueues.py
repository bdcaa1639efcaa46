"""The queues of a core whose pipes wait, each for itself: for flags, and for other cores.

The scalar unit goes on until it must wait itself; other cores run while all that is left waits for
them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.diagnostics.source import Span
from ptokit.machine.state import PIPES, Queue
from ptokit.order.schedule import Schedule, Wait, WaitingLine


class NotYet(Exception):
    """An entry waits for another core; it has done nothing so far, and is begun again."""

    def __init__(self, wait: Wait) -> None:
        super().__init__(str(wait))
        self.wait = wait


class HeldEntry(NamedTuple):
    """What a queue takes when it is `ready`: a wait, if it has a `problem` where it never is.

    `name` and `span` are of the instruction; `wait`: for another core.
    """

    act: Callable[[], None]
    ready: Callable[[], bool]
    name: str = ""
    span: Span | None = None
    problem: PtoError | None = None
    what: str = ""
    wait: Wait | None = None


class HeldQueues:
    """The queues of a core, by their pipes; `schedule`: of its kernel."""

    def __init__(self, schedule: Schedule | None) -> None:
        self.schedule = schedule
        self.queues = defaultdict[Queue, deque[HeldEntry]](deque)
        self.going = deque[Queue]()  # the queues that go on, the first one now
        self.at: tuple[str, Span | None] = "", None  # the instruction that is issued

    def held(self, queue: Queue) -> bool:
        """Whether the queue of a pipe waits."""
        return bool(self.queues[queue])

    def put(self, queue: Queue, act: Callable[[], None]) -> None:
        """Do it when the queue comes to it."""
        self.issue(queue, HeldEntry(act, lambda: True, *self.at))

    def issue(self, queue: Queue, entry: HeldEntry) -> None:
        """An entry for the end of a queue; where that waits for other cores, these go on first."""
        self.queues[queue].append(entry)
        if len(self.queues[queue]) == 1:
            self.go_on(queue)
        elif self.schedule is not None and not self.going and self._blocked():
            self.schedule.yield_to_others()
            self._again()

    def go_on(self, queue: Queue) -> None:
        """Execute what the queue holds up to the next wait, then what that lets go on."""
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
        """Whether any queue waits."""
        return any(self.queues.values())

    def settle(self, queues: Sequence[Queue] | None = None) -> None:
        """Go on when these queues, or all, are empty; PtoError where one waits for ever."""
        while any(self.queues[queue] for queue in queues or self.queues):
            if not self._blocked():
                heads = (self.queues[queue] for queue in queues or self.queues)
                problems = (e.problem for entries in heads for e in entries)
                raise next(problem for problem in problems if problem is not None)
            self._suspend(None)

    def until(self, wait: Wait) -> None:
        """Go on when the scalar unit may; queues that wait for other cores go on meanwhile."""
        while not wait.met():
            self._suspend(wait)

    def _suspend(self, wait: Wait | None) -> None:
        """Other cores go on until something here may."""
        assert self.schedule is not None
        every = ([wait] if wait else []) + [entry.wait for entry in self._blocked() if entry.wait]
        lines, met = partial(self._lines, wait), partial(_any_met, every)
        self.schedule.wait(Wait(met, str(every[0]), None, lines))
        self._again()

    def _again(self) -> None:
        """What waits for other cores looks whether it still does."""
        for queue in PIPES:
            if self.queues[queue] and self.queues[queue][0].wait is not None:
                self.go_on(queue)

    def _blocked(self) -> list[HeldEntry]:
        """The entries that wait for other cores, at the heads of their queues."""
        heads = (self.queues[queue][0] for queue in PIPES if self.queues.get(queue))
        return [entry for entry in heads if entry.wait is not None]

    def _lines(self, wait: Wait | None) -> Iterator[WaitingLine]:
        """All that waits on this core: the scalar unit, the heads of queues."""
        if wait is not None:
            yield (*self.at, str(wait))
        for queue in PIPES:
            for entry in [*self.queues[queue]][:1]:
                yield entry.name, entry.span, entry.what


class InnerSchedule(Schedule):
    """The schedule inside of an instruction that waits in its own way; `of` switches cores."""

    def __init__(self, of: Schedule) -> None:
        super().__init__(of.order)
        self.of = of

    def yield_to_others(self) -> None:
        self.of.yield_to_others()

    def at(self, op: str, span: Span | None) -> None:
        self.of.at(op, span)

    def pause(self) -> None:
        self.of.pause()


class QueuedSchedule(InnerSchedule):
    """The schedule as a core with queues sees it: an entry that waits holds up its queue alone."""

    def __init__(self, of: Schedule, queues: HeldQueues) -> None:
        super().__init__(of)
        self.queues = queues

    def wait(self, wait: Wait) -> None:
        """NotYet in an entry of a queue that has to wait; the scalar unit waits here."""
        if not self.queues.going:
            self.queues.until(wait)
        elif not wait.met():
            raise NotYet(wait)


def _any_met(waits: Sequence[Wait]) -> bool:
    return any(wait.met() for wait in waits)
