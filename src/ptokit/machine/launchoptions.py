"""The options of a launch: one value from the command line to the engine.

Among them are its limits: a number of instructions, or a time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.diagnostics.source import Span
from ptokit.ir.module import AnyOp
from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Type
from ptokit.isa.pages.grid import LARGEST_GRID
from ptokit.values.fixpipe import CPU_READING, FixPipe

LONGEST = 1e12  # seconds
MOST_INSTRUCTIONS = 2**63 - 1  # compiled programs count in 64 bits


class RunLimits:
    """What one run may use, from now on, and what it has used: both engines count alike.

    `instructions` may be executed, as a report counts them; an iteration of a loop that executes
    none counts as one, so every loop ends. The run may take about `seconds`. None: no limit.
    """

    more: ClassVar[str] = "raise max-instructions to continue"

    def __init__(self, instructions: int | None = None, seconds: float | None = None) -> None:
        require_limits(instructions, seconds)
        self.seconds = seconds
        self.most = None if instructions is None else min(instructions, MOST_INSTRUCTIONS)
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.ran = 0  # in the reference; compiled programs have counters of their own
        self.idle = 0  # iterations that executed no instruction

    def before(self, op: AnyOp) -> None:
        """An instruction is about to run."""
        self._room(op)
        self.ran += 1

    def after(self, op: AnyOp, used: int) -> None:
        """An iteration of a loop ends that began when so much was used."""
        if self.used == used:
            self._room(op)
            self.idle += 1

    @property
    def used(self) -> int:
        """What counts."""
        return self.ran + self.idle

    def _room(self, op: AnyOp) -> None:
        if self.used == self.most:
            raise self.counted(op, self.ran)
        if self.late():
            raise self.timed_out(op, self.ran)

    def late(self) -> bool:
        """The time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def counted(self, op: AnyOp, ran: int) -> PtoError:
        """The limit is reached before `op`, after `ran` instructions and idle iterations."""
        assert self.most is not None
        idle = f" and {self.most - ran} iterations without any" if self.most > ran else ""
        return PtoError(
            Diagnostic(
                "instruction-limit",
                f"{op.name}: instruction limit of {self.most} reached",
                op.span,
                seen=f"{ran} instructions ran{idle}",
                help=self.more,
            )
        )

    def timed_out(self, op: AnyOp, ran: int) -> PtoError:
        """The time is over at `op`, after `ran` instructions."""
        return self._over(op.name, op.span, ran)

    def require_time(self, what: str, span: Span | None) -> None:
        """PtoError if the time is over before the first instruction, while `what` is made."""
        if self.late():
            raise self._over(what, span, 0)

    def _over(self, what: str, span: Span | None, ran: int) -> PtoError:
        return PtoError(
            Diagnostic(
                "time-limit",
                f"{what}: time limit of {self.seconds:g} seconds reached",
                span,
                seen=f"{ran} instructions ran",
                help="raise timeout to continue; a loop that never ends needs another bound",
            )
        )


def require_limits(instructions: object, seconds: object) -> None:
    """A user's limits are numbers that something can run within."""
    if instructions is None and seconds is None:
        return
    if not isinstance(instructions, int | None):
        raise TypeError(f"max_instructions is {instructions!r}: expected an integer")
    if instructions is not None and instructions < 1:
        raise ValueError(f"max_instructions is {instructions}: expected at least 1")
    if not isinstance(seconds, int | float | None):
        raise TypeError(f"timeout is {seconds!r}: expected a number of seconds")
    if seconds is not None and not 0 < seconds < LONGEST:
        raise ValueError(f"timeout is {seconds}: expected a positive number of seconds")


NO_LIMITS = RunLimits()  # for what only asks how late it is


MOST_RANKS = 256


@dataclass(frozen=True, eq=False)
class Options:
    """What is chosen before a function sees its arguments; `launch.settings` reads users' words."""

    target: Target
    fixpipe: FixPipe = CPU_READING
    blocks: int = 1
    ranks: int = 1
    func: str | None = None  # of several
    engine: str | None = None
    schedule: str | None = None  # of cores: "random:SEED"
    strict: bool = False  # elements that nothing computed are not stored: an error
    max_instructions: int | None = None
    timeout: float | None = None
    types: tuple[tuple[str, Type], ...] = ()  # of arguments, where the program omits them
    slots: bool = False  # numbers are no part of the code
    judged: bool = False  # each instruction was judged when it ran: none is judged again

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """TypeError or ValueError for numbers that no launch can have."""
        _require_whole("blocks", self.blocks, LARGEST_GRID)
        _require_whole("ranks", self.ranks, MOST_RANKS)
        require_limits(self.max_instructions, self.timeout)

    @property
    def key(self) -> tuple[object, ...]:
        """What decides the code, and how it runs: a target is known by its identity."""
        how = self.func, self.engine, self.fixpipe, self.blocks, self.types, self.slots
        return id(self.target), *how, self.schedule, self.ranks, self.strict, self.judged


def _require_whole(name: str, number: object, most: int) -> None:
    """TypeError unless it is an integer, of Python or NumPy; ValueError unless in range."""
    if not isinstance(number, int) and not hasattr(number, "__index__"):
        raise TypeError(f"{name} is {number!r}: expected an integer")
    if not 1 <= number <= most:  # type: ignore[operator] - NumPy's compare, too
        raise ValueError(f"{name} is {number}: expected 1 to {most}")
