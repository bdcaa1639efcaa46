"""The warning about undefined elements that an instruction stores in an array of the host."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ptokit.diagnostics.callsite import depth
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Value
from ptokit.machine.partlydefined import DOCUMENTED, LostElements
from ptokit.machine.tile import ConvTile, Matrix, Tile

SLUG = "undefined-store"
HELP = "write these elements, pad them, or store only the valid region"
STRICT = "--strict, in Python strict=True, makes this an error"
Place = tuple[int, int]  # a block, and the vector core in it


class UnwrittenWarning(UserWarning):
    """Undefined elements were read by the host, or stored in an array of the host."""


@dataclass(frozen=True)
class UndefinedStore(Diagnostic):
    """The undefined elements that one instruction stored in one array, over all cores."""

    count: int = 0
    first: tuple[int, int] = (0, 0)  # row and column in the view
    place: Place = (0, 0)
    view: str = ""

    @classmethod
    def of(
        cls, name: str, span: Span | None, view: Matrix, lost: LostElements, place: Place
    ) -> UndefinedStore:
        """Return the warning for one execution of the instruction `name`."""
        array = view.memory.name
        through = view.label if view.label and view.label != array else ""
        message = f"{name}: {array} receives undefined elements"
        made = cls(SLUG, message, span, Severity.WARNING, help=f"{HELP}; {STRICT}")
        return replace(made, count=lost.number, first=lost.first, place=place, view=through)._told()

    @classmethod
    def of_result(cls, tile: Matrix, count: int, first: Sequence[int]) -> UndefinedStore:
        """Return the warning for a tile that is an output."""
        message = f"{tile.label} is an output with undefined elements"
        made = cls(SLUG, message, None, Severity.WARNING, help=f"{HELP}; {STRICT}")
        row, col = map(int, first)
        return replace(made, count=count, first=(row, col))._told()

    def merged(self, other: UndefinedStore) -> UndefinedStore:
        """Return one warning for both; the first element is that of the first block."""
        earlier = other if other.place < self.place else self
        return replace(earlier, count=self.count + other.count)._told()

    def _told(self) -> UndefinedStore:
        """Return the warning with its numbers as text."""
        of = f" of {self.view}" if self.view else ""
        what = "element" if self.count == 1 else "elements"
        first = f"first ({self.first[0]}, {self.first[1]}){of}"
        first += f" in block {self.place[0]}" if self.place[0] else ""
        seen = f"{self.count} {what}, {first}; {DOCUMENTED} is stored instead"
        return replace(self, seen=seen)


def lost_in(handle: Matrix) -> Iterator[LostElements]:
    """Take the undefined elements that were stored through a handle."""
    if handle.lost:
        yield from (*handle.lost,)
        handle.lost.clear()


def undefined_results(
    env: Mapping[Value, object], tiles: Iterable[Value]
) -> Iterator[UndefinedStore]:
    """Yield a warning for each output tile with undefined elements."""
    for handle in (h for tile in tiles if isinstance(h := env.get(tile), Tile | ConvTile)):
        missing = np.argwhere(~handle.has_value())
        if missing.size:
            yield UndefinedStore.of_result(handle, len(missing), missing[0])


def told(found: Iterable[Diagnostic]) -> None:
    """Issue Python warnings for stores of undefined elements."""
    for one in (one for one in found if isinstance(one, UndefinedStore)):
        warnings.warn(one.render(), UnwrittenWarning, stacklevel=depth())


def require_defined(found: Iterable[Diagnostic]) -> None:
    """Raise PtoError if a run stored undefined elements."""
    undefined = [one for one in found if isinstance(one, UndefinedStore)]
    if undefined:
        raise PtoError([replace(one, severity=Severity.ERROR, help=HELP) for one in undefined])
