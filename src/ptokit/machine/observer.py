"""Observers of a run: traces, breakpoints, progress bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, ClassVar

from ptokit.ir.module import AnyOp, Block, Value
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.undefinedstore import UndefinedStore

if TYPE_CHECKING:
    from ptokit.diagnostics.diagnostic import Diagnostic
    from ptokit.machine.coreplace import Clocks, CorePlace
    from ptokit.machine.executionlog import Logged
    from ptokit.machine.memory import Memory


class Observer:
    """Does nothing at any event of a run; a subclass does at some.

    One that is `stepwise` sees every op: then the reference runs the program, op by op.
    """

    stepwise: ClassVar[bool] = False
    logs: ClassVar[bool] = False  # `executed` is enough where a program is compiled
    between_blocks = False  # `executed_apart` may be enough for cores that run at once
    order: Random | None = None  # in which cores go on; None: the fixed one

    def begins(self, done: Callable[[], int]) -> None:
        """A run begins; `done` tells, at any time and any thread, how many blocks have ended."""

    def launched(self, memories: Iterable[Memory], places: Sequence[CorePlace]) -> Clocks | None:
        """A kernel of several cores begins; what is told of their signals, if it wants to be."""

    def prepared(self, core: Core, body: Block) -> None:
        """A core is about to run these ops, and nothing was executed on it yet."""

    def warned(self, found: Iterable[Diagnostic]) -> None:
        """Of what a run warns, when it or one of its cores has ended."""

    def interpreted(self, reasons: Iterable[tuple[str, str]]) -> None:
        """What the reference executes of a compiled program: mnemonics, "" of all, and why."""

    def executed(self, log: Logged) -> None:
        """A compiled program has run: what one thread of it executed, if the observer `logs`."""

    def executed_apart(self, logs: Sequence[Logged]) -> bool:
        """Cores that run at once have executed this; whether it is all the observer needs.

        The logs have no FIFOs and signals. If they are needed the reference runs the cores.
        """
        return False

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        """An op is about to run; `env` has the handles and numbers of values defined so far."""

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """An op has run."""

    def resumed(self, op: AnyOp, env: Env, core: Core) -> None:
        """An op that was held up in its queue is about to be executed: other ops ran since."""

    def entered(self, args: Sequence[Value], env: Env, core: Core) -> None:
        """A region begins, with values for its arguments."""


class RunNotes(Observer):
    """Notes of a run: its warnings, of each place once, and what the reference executed."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []  # with what all cores stored undefined
        self.reasons: set[tuple[str, str]] = set()

    def interpreted(self, reasons: Iterable[tuple[str, str]]) -> None:
        self.reasons.update(reasons)

    def warned(self, found: Iterable[Diagnostic]) -> None:
        told = {_place(one): n for n, one in enumerate(self.found)}
        for one in found:
            number = told.setdefault(_place(one), len(self.found))
            if number == len(self.found):
                self.found.append(one)
            elif isinstance(one, UndefinedStore):
                same = self.found[number]
                assert isinstance(same, UndefinedStore)
                self.found[number] = same.merged(one)


def _place(one: Diagnostic) -> object:
    """Return what two warnings have in common of which one is enough."""
    return one.slug, one.span, one.message if isinstance(one, UndefinedStore) else ""
