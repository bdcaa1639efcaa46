"""The options of a launch: one value from the command line to the engine."""

from __future__ import annotations

from dataclasses import dataclass

from ptokit.isa.model.targets import Target
from ptokit.isa.model.types import Type
from ptokit.isa.pages.grid import LARGEST_GRID
from ptokit.machine.limits import require_limits
from ptokit.values.fixpipe import CPU_READING, FixPipe

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
