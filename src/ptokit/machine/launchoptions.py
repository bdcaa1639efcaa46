"""The options of a launch, from the command line to the engine, and the limits among them.

The limits are a number of instructions, and a time.
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
    """The limits of one run, and its use of them; both engines count in the same way.

    At most `instructions` are executed, as a report counts them; an iteration of a loop that
    executes no instruction counts as one, so every loop ends. The run takes about `seconds` at
    most. None: no limit.
    """

    more: ClassVar[str] = "raise max-instructions to continue"

    def __init__(self, instructions: int | None = None, seconds: float | None = None) -> None:
        require_limits(instructions, seconds)
        self.seconds = seconds
        self.most = None if instructions is None else min(instructions, MOST_INSTRUCTIONS)
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.ran = 0  # in the reference engine; compiled programs have their own counter
        self.idle = 0  # iterations that executed no instruction

    def before(self, op: AnyOp) -> None:
        """Count an instruction that is about to run; PtoError at a limit."""
        self._room(op)
        self.ran += 1

    def after(self, op: AnyOp, used: int) -> None:
        """Count an iteration that executed nothing since `used`; PtoError at a limit."""
        if self.used == used:
            self._room(op)
            self.idle += 1

    @property
    def used(self) -> int:
        """The number of instructions and idle iterations so far."""
        return self.ran + self.idle

    def _room(self, op: AnyOp) -> None:
        if self.used == self.most:
            raise self.counted(op, self.ran)
        if self.late():
            raise self.timed_out(op, self.ran)

    def late(self) -> bool:
        """Return whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def counted(self, op: AnyOp, ran: int) -> PtoError:
        """Return the error of the instruction limit, reached at `op` after `ran` instructions."""
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
        """Return the error of the time limit, reached at `op` after `ran` instructions."""
        return self._over(op.name, op.span, ran)

    def require_time(self, what: str, span: Span | None) -> None:
        """Raise PtoError if the time is over before the first instruction, while making `what`."""
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
    """Raise TypeError or ValueError unless a user's limits are positive numbers."""
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


NO_LIMITS = RunLimits()  # for code that only asks whether the time is over


MOST_RANKS = 256


@dataclass(frozen=True, eq=False)
class Options:
    """Options chosen before a function has its arguments; `launch.settings` parses users' words."""

    target: Target
    fixpipe: FixPipe = CPU_READING
    blocks: int = 1
    ranks: int = 1
    func: str | None = None  # the function to run, if there are several
    engine: str | None = None
    schedule: str | None = None  # the order of cores: "random:SEED"
    strict: bool = False  # storing undefined elements is an error
    max_instructions: int | None = None
    timeout: float | None = None
    types: tuple[tuple[str, Type], ...] = ()  # omitted types of arguments, by name
    slots: bool = False  # compiled code reads numbers from its frame
    judged: bool = False  # each instruction was checked when it ran eagerly: check none again

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise TypeError or ValueError for numbers that no launch can have."""
        _require_whole("blocks", self.blocks, LARGEST_GRID)
        _require_whole("ranks", self.ranks, MOST_RANKS)
        require_limits(self.max_instructions, self.timeout)

    @property
    def key(self) -> tuple[object, ...]:
        """The options that determine the code and its execution; targets count by identity."""
        how = self.func, self.engine, self.fixpipe, self.blocks, self.types, self.slots
        return id(self.target), *how, self.schedule, self.ranks, self.strict, self.judged


def _require_whole(name: str, number: object, most: int) -> None:
    """Raise TypeError unless `number` is an integer, ValueError unless it is in range."""
    if not isinstance(number, int) and not hasattr(number, "__index__"):
        raise TypeError(f"{name} is {number!r}: expected an integer")
    if not 1 <= number <= most:  # type: ignore[operator] - NumPy's compare, too
        raise ValueError(f"{name} is {number}: expected 1 to {most}")
