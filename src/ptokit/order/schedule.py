"""A scheduler of concurrent cores: each runs until it waits, in a fixed or a random order.

Cores are coroutines of one thread, so the schedule does not depend on the machine's clock and is
the same in both engines. A single core is a plain call: it needs no greenlet, which a Python in a
browser does not have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ptokit.diagnostics.diagnostic import Diagnostic, Note, PtoError
from ptokit.diagnostics.source import Span

if TYPE_CHECKING:
    from greenlet import greenlet

T = TypeVar("T")
MANY = 16  # waiting cores that an error lists singly

WaitingLine: TypeAlias = (
    "tuple[str, Span | None, str]"  # name, place and reason of a waiting instruction
)
Named: TypeAlias = "tuple[str, Callable[[], T]]"  # a program with the name of its core
_OneLine: TypeAlias = "tuple[str, Span | None, str, int]"  # the number tells cores apart


@dataclass(frozen=True)
class Wait:
    """The reason why a core waits: the condition `met`, and `what` it waits for."""

    met: Callable[[], bool]
    what: str
    held: Callable[[], str] | None = None  # describes the current state
    lines: Callable[[], Iterable[WaitingLine]] | None = (
        None  # set if several queues of the core wait
    )

    def __str__(self) -> str:
        return self.what if self.held is None else f"{self.what}, and {self.held()}"


class _Stuck(Exception):
    """Raised in a core that waits and has no coroutine to suspend."""


class _Task(Generic[T]):
    """The program of one core and its current instruction."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.waits: Wait | None = None
        self.at: tuple[str, Span | None] = "", None  # the current instruction
        self.result: T | None = None

    @property
    def ready(self) -> bool:
        return self.waits is None or self.waits.met()

    def lines(self) -> Iterator[tuple[str, str, Span | None, str]]:
        """Yield each waiting instruction of the core."""
        assert self.waits is not None
        one = [(*self.at, str(self.waits))] if self.waits.lines is None else self.waits.lines()
        for line in one:
            yield self.name, *line


class _Coroutine(_Task[T]):
    """A task that is suspended while it waits."""

    def __init__(self, name: str, program: Callable[[], T]) -> None:
        from greenlet import greenlet

        super().__init__(name)
        self.coroutine = greenlet(program)


class Schedule:
    """The order of cores: a random one with `order`, else round robin."""

    def __init__(self, order: Random | None = None) -> None:
        self.order = order
        self._running: _Task[Any] | None = None  # Any: what its program gives
        self._hub: greenlet | None = None

    def run(self, programs: Sequence[Named[T]], more: Iterable[Sequence[Named[T]]] = ()) -> list[T]:
        """Run named programs to completion; PtoError if one fails or all remaining ones wait.

        The next programs of `more` start when all earlier ones have ended or wait.
        """
        if len(programs) == 1 and not more:
            return [self._alone(*programs[0], last=True)]
        try:
            from greenlet import getcurrent
        except ModuleNotFoundError:
            return self._in_turn([*programs, *chain.from_iterable(more)])
        every = [_Coroutine(name, program) for name, program in programs]
        left, self._hub, further = list(every), getcurrent(), iter(more)
        try:
            while True:
                task = self._next(left)
                if task is None:
                    begun = [_Coroutine(name, program) for name, program in next(further, ())]
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
        return [task.result for task in every]  # type: ignore[misc]  # greenlets are untyped

    def _in_turn(self, programs: Sequence[Named[T]]) -> list[T]:
        """Run programs one after another; ImportError if one has to wait for a later one."""
        last = len(programs) - 1
        return [self._alone(*one, last=n == last) for n, one in enumerate(programs)]

    def _alone(self, name: str, program: Callable[[], T], *, last: bool) -> T:
        """Run a program to its end; no other one can run while it waits."""
        task = self._running = _Task[T](name)
        self._hub = None
        try:
            return program()
        except _Stuck:
            if last:
                raise deadlock([*task.lines()]) from None
            raise ImportError(f"{name} waits for a later core: that needs greenlet") from None

    def _next(self, left: Sequence[_Coroutine[T]]) -> _Coroutine[T] | None:
        """Return a program that can run; None if all wait or none is left."""
        ready = (task for task in left if task.ready)
        found = next(ready, None)
        if found is None or self.order is None:
            return found
        return self.order.choice([found, *ready])

    def wait(self, wait: Wait) -> None:
        """Suspend the current core until the condition is met."""
        while not wait.met():
            if self._running is None:
                raise deadlock([("the caller", "a wait", None, wait.what)])
            self._running.waits = wait
            if self._hub is None:
                raise _Stuck(wait.what)
            self._hub.switch()

    def yield_to_others(self) -> None:
        """Let the other cores run first."""
        if self._hub is not None:
            self._hub.switch()

    def at(self, op: str, span: Span | None) -> None:
        """Note the instruction of the current core, which may wait."""
        if self._running is not None:
            self._running.at = op, span

    def pause(self) -> None:
        """In a random order, let other cores run first with probability 1/2."""
        if self.order is not None and self._hub is not None and self.order.random() < 0.5:
            self._hub.switch()


def current_coroutine() -> object:
    """Return the coroutine of the running core; None where greenlet is not installed."""
    try:
        from greenlet import getcurrent
    except ModuleNotFoundError:
        return None
    return getcurrent()


def deadlock(waits: Sequence[tuple[str, str, Span | None, str]]) -> PtoError:
    """Return the deadlock error, with the instruction, place and reason of each core.

    If many cores wait, those at one instruction with one reason share a note.
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
