"""Runs that have shown that they read no undefined lane: runs with the same numbers track none.

Sizes that only the run knows leave lanes unproven, so the first run with given numbers follows
which lanes are defined. If the numbers alone decide that (`machine.record.dataflow`) and no
instruction asked the reference, a run with the same numbers executes code that follows no lane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from ptokit.engines.native.session import Session

Numbers: TypeAlias = tuple[int, ...]  # the arguments that are numbers
MOST_SEEN = 1 << 12


class Tracking(Enum):
    """Which elements compiled code takes for defined."""

    CAREFUL = auto()  # of two values that data select from, the elements that both define
    EXACT = auto()
    NONE = auto()  # all: nothing is tracked


class Coding(NamedTuple):
    """The way that a run is compiled: with an execution log or not, and with which tracking."""

    logged: bool = False
    tracking: Tracking = Tracking.EXACT


PLAIN = Coding()


@dataclass
class SeenRuns:
    """The numbers of earlier runs: those without an undefined element, and doubtful ones."""

    found: dict[Numbers, Tracking] = field(default_factory=dict[Numbers, Tracking])

    def tracking(self, numbers: Numbers) -> Tracking:
        """Return what a run with these numbers tracks."""
        return self.found.get(numbers, Tracking.CAREFUL)

    def ended(self, numbers: Numbers, session: Session) -> None:
        """Note a run that ended without an error."""
        if session.plan.repeatable and not any(worker.asked for worker in session.crew):
            self._note(numbers, Tracking.NONE)

    def doubted(self, numbers: Numbers) -> None:
        """Note a run that careful code gave up."""
        self._note(numbers, Tracking.EXACT)

    def _note(self, numbers: Numbers, tracking: Tracking) -> None:
        if len(self.found) >= MOST_SEEN:
            self.found.clear()
        self.found[numbers] = tracking
