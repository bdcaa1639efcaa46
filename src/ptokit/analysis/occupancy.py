"""The peak of a memory: the largest set of its tiles that are live together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ptokit.analysis.liveness import Storage
from ptokit.analysis.tileallocator import merged


@dataclass(frozen=True)
class LiveSet:
    """The tiles of a memory, in text order, that are live where one of them is defined."""

    defined: Storage
    live: tuple[Storage, ...]

    @property
    def nbytes(self) -> int:
        """The bytes of the live tiles; what tiles at known addresses share counts once."""
        given = [t for t in self.live if t.explicit and t.address is not None]
        others = sum(t.kind.nbytes for t in self.live if not (t.explicit and t.address is not None))
        return others + sum(end - start for start, end in merged((t.start, t.end) for t in given))


def peak_live_set(there: Iterable[Storage]) -> LiveSet:
    """The live set of the most bytes, of the tiles of one memory; the first of several.

    Tiles begin to live where they are defined, so there is no larger one between.
    """
    tiles = {tile.value: tile for tile in there}
    order = {value: number for number, value in enumerate(tiles)}

    def live_set(tile: Storage) -> LiveSet:
        live = sorted({tile.value, *(tile.beside & tiles.keys())}, key=order.__getitem__)
        return LiveSet(tile, tuple(tiles[value] for value in live))

    return max(map(live_set, tiles.values()), key=lambda m: m.nbytes)
