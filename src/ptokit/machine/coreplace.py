"""The id of a core in a launch, and the vector clocks that observers keep of cores."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol

from ptokit.isa.model.words import VECTOR, KernelKind


class CorePlace(NamedTuple):
    """The id of a core in a launch; `rank` is None in a job of one rank."""

    block: int
    kind: KernelKind
    lane: int
    rank: int | None = None

    def __str__(self) -> str:
        return f"the {self.kind.text} core{self._number} of block {self.block}{self._rank_suffix}"

    @property
    def short(self) -> str:
        """The number of the block, and the core in it: `0 vector 1`."""
        return f"{self.block} {self.kind.text}{self._number}{self._rank_suffix}"

    @property
    def _number(self) -> str:
        return f" {self.lane}" if self.kind is VECTOR else ""

    @property
    def _rank_suffix(self) -> str:
        return "" if self.rank is None else f" of rank {self.rank}"


class Clocks(Protocol):
    """The vector clocks of the cores of a launch, for an observer that looks for races.

    `of_issue`: the observer is called when an instruction is issued, not when it is executed.
    """

    of_issue: bool

    def release(self, core: int, keys: Sequence[Hashable]) -> None:
        """Note that the core signals each of the keys once more."""
        ...

    def acquire(self, core: int, key: Hashable, times: int | None) -> None:
        """Note that the core waited until the key was signalled `times` times; None: every time."""
        ...

    def later(self, core: int, do: Callable[[], None]) -> Callable[[], None]:
        """Return `do` for an instruction that is issued now: its queue calls it later."""
        ...
