"""Records of launches: the calls of each core by number, and the places that called them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from ptokit.machine.coreplace import CorePlace


class CoreRecord(NamedTuple):
    """The calls of one core, in order; `places` are return addresses in the library."""

    place: CorePlace
    calls: array[int]
    places: array[int]


class LaunchRecord(NamedTuple):
    """A launch: its kernel's name, and what each core of each block executed.

    `ended`: no error cut it short; `as_cube`: the cores of an unmixed launch met as cubes.
    """

    name: str
    blocks: int
    mixed: bool
    cores: list[CoreRecord]
    ended: bool = True
    as_cube: bool = False

    def addresses(self) -> Iterator[int]:
        """Yield every place, each once for a core."""
        for core in self.cores:
            yield from {*core.places}
