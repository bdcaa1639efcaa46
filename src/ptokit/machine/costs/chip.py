"""Resources that the cores of a chip share: their number, and the memory behind all of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from ptokit.isa.model.targets import Target
from ptokit.machine.costs.cost import Origin
from ptokit.machine.costs.datapaths import GM
from ptokit.machine.costs.figures import figures, file_of, origin


class Direction(StrEnum):
    """A direction of global memory traffic; the two do not slow each other down."""

    READ = "read"
    WRITE = "write"


def direction(path: str) -> Direction | None:
    """Return the direction of a transfer along "gm>vec" or similar; None: not global memory."""
    source, _, target = path.partition(">")
    return Direction.READ if source == GM else Direction.WRITE if target == GM else None


@dataclass(frozen=True)
class Chip:
    """The number of cores of each kind, and the bytes per cycle for all of them together.

    `memory` is the rate of global memory, `cache` that of the L2 cache before it, which holds
    `cached` bytes. A launch without work takes `launch` microseconds.
    """

    cube: int
    vector: int
    memory: dict[Direction, float]
    cache: dict[Direction, float]
    cached: int
    launch: float
    source: Origin


@cache
def chip_of(target: Target) -> Chip:
    """Return the chip with the figures for a target; ValueError if there are none."""
    file = figures(file_of(target))
    table = file["chip"]
    cycle = table["cube"] * table["clock"] / file["core"]["frequency"]

    def rates(name: str) -> dict[Direction, float]:
        return {way: each * cycle for way, each in zip(Direction, table[name], strict=True)}

    cores = table["cube"], table["vector"]
    return Chip(
        *cores, rates("memory"), rates("cache"), table["cached"], table["launch"], origin(table)
    )
