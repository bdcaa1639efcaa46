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
    """An observer of a run, which ignores every event; a subclass overrides some methods.

    A `stepwise` observer sees every op: then the reference runs the program, op by op.
    """

    stepwise: ClassVar[bool] = False
    logs: ClassVar[bool] = False  # `executed` is enough for a compiled program
    between_blocks = False  # `executed_apart` may be enough for concurrent cores
    order: Random | None = None  # the order in which cores continue; None: the fixed order

    def begins(self, done: Callable[[], int]) -> None:
        """Note that a run starts; `done()` counts the finished blocks, from any thread."""

    def launched(self, memories: Iterable[Memory], places: Sequence[CorePlace]) -> Clocks | None:
        """Note a launch of several cores; return clocks for their signals, or None."""

    def prepared(self, core: Core, body: Block) -> None:
        """Note that a core is about to run these ops, its first ones."""

    def warned(self, found: Iterable[Diagnostic]) -> None:
        """Note the warnings of a run, or of one of its cores, that has ended."""

    def interpreted(self, reasons: Iterable[tuple[str, str]]) -> None:
        """Note what the reference executes in a compiled program: mnemonic ("": all) and reason."""

    def executed(self, log: Logged) -> None:
        """Note what one thread of a compiled program executed, if the observer `logs`."""

    def executed_apart(self, logs: Sequence[Logged]) -> bool:
        """Note what concurrent cores executed; return whether the observer needs no more.

        The logs lack FIFOs and signals. If the observer needs them, the reference runs the cores.
        """
        return False

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        """Note that an op is about to run; `env` has handles and numbers of the values so far."""

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        """Note that an op has run."""

    def resumed(self, op: AnyOp, env: Env, core: Core) -> None:
        """Note that an op, which its queue held back while other ops ran, is about to execute."""

    def entered(self, args: Sequence[Value], env: Env, core: Core) -> None:
        """Note that a region starts, with values for its arguments."""


class RunNotes(Observer):
    """The notes of a run: its warnings, one for each place, and what the reference executed."""

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []  # with undefined stores of all cores merged
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
    """Return the key by which two warnings are merged."""
    return one.slug, one.span, one.message if isinstance(one, UndefinedStore) else ""
