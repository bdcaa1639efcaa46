"""Cores that run at once: each until it waits, in a fixed order or in a random one.

They are coroutines of one thread, so nothing here depends on the machine's clock: the same program
is scheduled alike in both engines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeAlias, TypeVar

from greenlet import getcurrent, greenlet

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError
from ptokit.diagnostics.source import Span

T = TypeVar("T")
MANY = 16  # waiting cores that an error tells one by one

WaitingLine: TypeAlias = "tuple[str, Span | None, str]"  # an instruction, and what it waits for
Named: TypeAlias = "tuple[str, Callable[[], T]]"  # a program with the name of its core
_OneLine: TypeAlias = "tuple[str, Span | None, str, int]"  # the number tells cores apart


@dataclass(frozen=True)
class Wait:
    """Why a core does not go on: `what` it waits for, at the instruction that it executes."""

    met: Callable[[], bool]
    what: str
    held: Callable[[], str] | None = None  # what there is instead
    lines: Callable[[], Iterable[WaitingLine]] | None = None  # where several of its queues wait

    def __str__(self) -> str:
        return self.what if self.held is None else f"{self.what}, and {self.held()}"


class _Task(Generic[T]):
    """The program of one core, and the instruction that it has reached."""

    def __init__(self, name: str, program: Callable[[], T]) -> None:
        self.name = name
        self.coroutine = greenlet(program)
        self.waits: Wait | None = None
        self.at: tuple[str, Span | None] = "", None  # the instruction that is executed
        self.result: T | None = None

    @property
    def ready(self) -> bool:
        return self.waits is None or self.waits.met()

    def lines(self) -> Iterator[tuple[str, str, Span | None, str]]:
        """Each instruction of the core that waits."""
        assert self.waits is not None
        one = [(*self.at, str(self.waits))] if self.waits.lines is None else self.waits.lines()
        for line in one:
            yield self.name, *line


class Schedule:
    """Which core goes on: with `order` any that can, else the first one after the last."""

    def __init__(self, order: Random | None = None) -> None:
        self.order = order
        self._running: _Task[Any] | None = None  # Any: what its program gives
        self._hub: greenlet | None = None

    def run(self, programs: Sequence[Named[T]], more: Iterable[Sequence[Named[T]]] = ()) -> list[T]:
        """Run named programs to their ends; PtoError if one fails or all that are left wait.

        The next of `more` begin where all programs so far have ended or wait.
        """
        every = [_Task(name, program) for name, program in programs]
        left, self._hub, further = list(every), getcurrent(), iter(more)
        try:
            while True:
                task = self._next(left)
                if task is None:
                    begun = [_Task(name, program) for name, program in next(further, ())]
                    if not (begun or left):
                        break
                    if not begun:
                        raise deadlock([line for t in left if t.waits for line in t.lines()])
                    every, left = every + begun, left + begun
                    continue
                self._running = task
                task.waits = None
                result = task.coroutine.switch()
                if task.coroutine.dead:
                    left.remove(task)
                    task.result = result
                else:
                    left.append(left.pop(left.index(task)))
        finally:
            for task in left:
                if task.coroutine and not task.coroutine.dead:
                    task.coroutine.throw()
        return [task.result for task in every]  # type: ignore[misc]

    def _next(self, left: Sequence[_Task[T]]) -> _Task[T] | None:
        """Return a program that can go on; None where all wait, or none is left."""
        ready = (task for task in left if task.ready)
        found = next(ready, None)
        if found is None or self.order is None:
            return found
        return self.order.choice([found, *ready])

    def wait(self, wait: Wait) -> None:
        """The core that runs goes on when the condition is met."""
        while not wait.met():
            if self._running is None or self._hub is None:
                raise deadlock([("the caller", "a wait", None, wait.what)])
            self._running.waits = wait
            self._hub.switch()

    def yield_to_others(self) -> None:
        """Other cores go on before this one, if there are any."""
        if self._hub is not None:
            self._hub.switch()

    def at(self, op: str, span: Span | None) -> None:
        """The core that runs begins an instruction that may wait."""
        if self._running is not None:
            self._running.at = op, span

    def pause(self) -> None:
        """In a random order other cores may go on before this one."""
        if self.order is not None and self._hub is not None and self.order.random() < 0.5:
            self._hub.switch()


def deadlock(waits: Sequence[tuple[str, str, Span | None, str]]) -> PtoError:
    """The error that all cores left are waiting: each with its instruction, place and reason.

    Where many wait, those of one instruction that wait for the same are told together.
    """
    name, op, span, what = waits[0]
    few = len(waits) <= MANY
    together: defaultdict[_OneLine, list[str]] = defaultdict(list)
    for number, (other, there, place, wanted) in enumerate(waits[1:]):
        together[there, place, wanted, number if few else 0].append(other)
    notes = tuple(
        Note(f"{_some(others)} here, {there}, for {wanted}", place)
        for (there, place, wanted, _), others in together.items()
    )
    return PtoError(
        Diagnostic(
            "deadlock",
            f"{op}: {name} waits forever",
            span,
            rule="every wait of a core is satisfied by another core",
            seen=f"it waits for {what}",
            help="push and pop, or notify and wait, equally often; one end must send first",
            notes=notes,
        )
    )


def _some(names: Sequence[str]) -> str:
    first, *more = names
    return f"{first} and {len(more)} more wait" if more else f"{first} waits"
