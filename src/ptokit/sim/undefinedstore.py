"""The warning for elements without a value that an instruction stores in an array of the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.diagnostics.source import Span
from ptokit.sim.partlydefined import DOCUMENTED, Lost
from ptokit.sim.tile import Matrix

SLUG = "undefined-store"
HELP = "compute them, pad them, or store the valid region alone; --strict makes this an error"
Place = tuple[int, int]  # a block, and the vector core in it


@dataclass(frozen=True)
class UndefinedStore(Diagnostic):
    """What one instruction stored in one array, by all cores and iterations together."""

    count: int = 0
    first: tuple[int, int] = (0, 0)  # row and column in the view
    place: Place = (0, 0)
    view: str = ""

    @classmethod
    def of(cls, name: str, span: Span | None, view: Matrix, lost: Lost, place: Place) -> Diagnostic:
        """Make the warning for one execution of the instruction `name`."""
        array = view.memory.name
        through = view.label if view.label and view.label != array else ""
        message = f"{name}: {array} receives elements that nothing computed"
        made = cls(SLUG, message, span, Severity.WARNING, help=HELP)
        return replace(made, count=lost.count, first=lost.first, place=place, view=through)._told()

    def merged(self, other: UndefinedStore) -> UndefinedStore:
        """Return the warning for the executions of both; the first block's element comes first."""
        earlier = other if other.place < self.place else self
        return replace(earlier, count=self.count + other.count)._told()

    def _told(self) -> UndefinedStore:
        """Return the same warning with its numbers in words."""
        of = f" of {self.view}" if self.view else ""
        what = "element" if self.count == 1 else "elements"
        first = f"first ({self.first[0]}, {self.first[1]}){of}"
        first += f" in block {self.place[0]}" if self.place[0] else ""
        seen = f"{self.count} {what}, {first}; {DOCUMENTED} is stored instead"
        return replace(self, seen=seen)


def lost_in(handle: Any) -> Iterator[Lost]:  # Any: a handle or a number
    """Take what a handle was to store without a value."""
    lost = handle.lost if isinstance(handle, Matrix) else ()
    if lost:
        yield from (*lost,)
        handle.lost.clear()
